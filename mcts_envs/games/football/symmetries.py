"""Pitches mirrored along their length: what each number of an observation and each action is there.

Formations are not mirrored: who sets up puts the same players in the same places. Of equally safe ways of one length
the first from the own side is taken, so that a way on the mirrored pitch may fail at another square.
"""

import numpy as np

from mcts_envs.core.typing import Symmetries

PUSHES = 13
"""The first of the eight actions that push; they come row by row, from up left to down right."""
_PUSHED = 5, 6, 7, 3, 4, 0, 1, 2


def symmetries(width: int, height: int, planes: int, numbers: int, actions: int) -> Symmetries:
    """Return the one pitch that a mirror makes of another, as a game wants it.

    Parameters
    ----------
    width, height : int
        Of the pitch, in squares.
    planes, numbers : int
        Of the observation.
    actions : int
        Of the game, those at squares last.
    """
    cells = np.arange(width * height).reshape(height, width)[::-1].ravel()
    order = [*(plane * cells.size + cells for plane in range(planes)), planes * cells.size + np.arange(numbers)]
    to = np.arange(actions)
    to[PUSHES : PUSHES + 8] = PUSHES + np.array(_PUSHED)
    for first in (actions - 2 * cells.size, actions - cells.size):
        to[first : first + cells.size] = first + cells
    return ((np.concatenate(order), to),)
