"""Bomber grid: Pommerman's rules on boards of bits."""
