"""Turned and mirrored boards: which number of an observation stands where, and what each action is there."""

from functools import lru_cache

import numpy as np

from mcts_envs.core.typing import Ints

FLAT = 4, 1, 1, 1
PLANES = *FLAT, 1, 1
DISTANCES = *FLAT, *(1,) * 6, *(4,) * 4
"""The boards of each observation in their order: four together, of the sides up, right, down and left, or one."""


@lru_cache
def symmetries(size: int, boards: tuple[int, ...], numbers: int, optional_wall: bool) -> tuple[tuple[Ints, Ints], ...]:
    """Return the seven boards that turns by quarters and a mirror make of one, as a game wants them.

    Parameters
    ----------
    size : int
        M, of a board of M x M cells.
    boards : tuple of int
        Of the observation: one of those above.
    numbers : int
        How many follow the boards.
    optional_wall : bool
        Whether there are actions without a wall.
    """
    sides, cells = np.arange(4), np.arange(size * size)
    found = []
    for turn in range(1, 8):
        mirrored, quarters = divmod(turn, 4)
        board = cells.reshape(size, size)[:, :: -1 if mirrored else 1]
        came = np.rot90(board, quarters).ravel()  # the cell that comes to each place, and the side that comes to each
        side_came = (sides + quarters) * (-1 if mirrored else 1) % 4
        order, first = [], 0
        for together in boards:
            order.extend(first + side * cells.size + came for side in (side_came if together == 4 else (0,)))
            first += together * cells.size
        order.append(first + np.arange(numbers))
        to, side_to = np.argsort(came), np.argsort(side_came)
        actions = [(4 * to[:, None] + side_to).ravel(), *([4 * cells.size + to] if optional_wall else [])]
        found.append((np.concatenate(order), np.concatenate(actions)))
    return tuple(found)
