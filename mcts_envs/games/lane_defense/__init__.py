"""Lane defense: zombies walk down lanes towards the house, plants shoot them.

``classic`` is the simplified game of Zhang's paper (3x3 and 10x10); ``roster`` is the richer 5x9 game with several
kinds of plants and zombies.
"""
