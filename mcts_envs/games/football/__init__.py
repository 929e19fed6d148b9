"""Football-lite: a turn-based ball game of dice."""
