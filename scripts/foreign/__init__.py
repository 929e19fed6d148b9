"""What ``scripts/environments.py`` tries, each in a process of its own."""
