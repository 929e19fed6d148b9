"""The state of wall survival as one record, and what its numbers mean."""

from mcts_envs.core.contract import state_dtype

MIN_SIZE, MAX_SIZE = 3, 12
WORDS = 3
UP, RIGHT, DOWN, LEFT, NO_WALL = range(5)
ONGOING, SEPARATED, OUT_OF_TIME = range(3)
NOWHERE = 255
POSTS = 160

STATE = state_dtype(
    [
        ("board_size", "i4"),
        ("first_reach", "i4"),
        ("generator", "i4"),
        ("optional_wall", "i4"),
        ("max_steps", "i4"),
        ("t", "i4"),
        ("reach", "u1"),
        ("turn", "u1"),
        ("end", "u1"),
        ("stands", "u1", 2),
        ("area", "u1", 2),
        ("came_from", "u1"),
        ("last_side", "u1"),
        ("right", "u8", WORDS),
        ("down", "u8", WORDS),
        ("near", "u8", WORDS),
        ("joined", "u1", POSTS),
    ]
)
"""The state. The first five fields are settings; ``t`` counts steps only where ``max_steps`` limits them.

Cell (row, column) has the index ``row * board_size + column``, which is also its bit in the boards of bits:

- ``right``, ``down``: cells whose side to the right, or below, is open. The border is never open.
- ``near``: cells that the player to move can reach in this turn.

``stands`` are the players' cells; ``area`` is the size of their parts of the board after the end. The last move came
from the cell ``came_from`` and put a wall on side ``last_side``; both are NOWHERE at the start.

``joined`` says which *posts* are joined by walls: equal numbers, joined. A post is a corner of a cell and has the index
of the cell to its lower right; the number is the lowest index of a joined post, 0 for all that hang together with the
border. The left and the right border fall into one by that index, which does no harm: both are border. A new wall
between two posts that are joined already closes a ring, so the cells on its two sides fall apart; between two that are
not, they stay connected some other way (planar duality: the bridges of the open graph are the edges whose dual edge
would close a ring of walls).
"""
