"""What ``scripts/benchmark.py`` measures, each figure beside a yardstick."""
