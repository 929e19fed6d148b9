"""Tests in rooms: the core, the search, agents, the bridge, comparisons, learning, and each game beside its data."""
