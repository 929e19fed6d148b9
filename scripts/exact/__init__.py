"""Exact values of small games, and how often planners play what they call for."""
