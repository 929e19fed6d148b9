"""Bomber grid: Pommerman, rule for rule."""
