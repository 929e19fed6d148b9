"""What happens in the richer game."""
