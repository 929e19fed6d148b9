"""Agents other than the tree search: one file for each."""
