"""Lanes in the order from bottom to top: the same game, since no lane knows of another."""

from collections.abc import Sequence

import numpy as np

from mcts_envs.core.typing import Symmetries


def symmetries(rows: int, columns: int, parts: Sequence[int], kinds: int) -> Symmetries:
    """Return the one board that a mirror makes of another, as a game wants it.

    Parameters
    ----------
    rows, columns : int
    parts : sequence of int
        How many numbers each part of the observation has for a lane, in their order: ``columns`` for a board, 1 for one
        number of each lane, 0 for a number that is of no lane.
    kinds : int
        Of plants, each of which may go to any cell; the last action waits.
    """
    order, first = [], 0
    for wide in parts:
        part = np.arange(rows * wide) if wide else np.zeros(1, np.int64)
        order.append(first + (part.reshape(rows, wide)[::-1].ravel() if wide else part))
        first += len(part)
    cells = np.arange(rows * columns).reshape(rows, columns)[::-1].ravel()
    actions = [*(kind * cells.size + cells for kind in range(kinds)), [kinds * cells.size]]
    return ((np.concatenate(order), np.concatenate(actions)),)
