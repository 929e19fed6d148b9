"""Estimates with intervals, ratings, and tests that stop as soon as they can tell."""
