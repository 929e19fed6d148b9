"""Who plays: scripted players, models of the world, values, orderings of actions."""
