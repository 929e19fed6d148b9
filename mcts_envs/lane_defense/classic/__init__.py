"""The game of A. Zhang, "Monte Carlo Tree Search Applied to Plants vs. Zombies": one plant, two zombies, no sun."""
