"""Stacked observations, as Stable-Baselines3's ``VecFrameStack`` makes them."""

import numpy as np

from agents.learning.saved.kept import Kept
from mcts_envs.core.typing import Singles
from mcts_envs.core.view import View

Shape = tuple[int, ...]

AXES = (-1, 0)
"""Where frames are stacked: on the last axis by default, or with ``channels_order="first"`` on the first."""


def stacked_shape(shape: Shape, count: int, axis: int) -> Shape:
    """Return the shape of so many frames stacked along an axis."""
    sizes = [*shape]
    sizes[axis] *= count
    return tuple(sizes)


def axis_of(shape: Shape, count: int, whole: Shape) -> int | None:
    """Return the axis along which frames of a shape make up the whole; None if they do not."""
    return next((axis for axis in AXES if shape and stacked_shape(shape, count, axis) == whole), None)


class Frames:
    """The last frames that each player was shown of each game; zeros where a game has not had as many.

    Parameters
    ----------
    count : int
        Frames in a stack.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._stacks: Kept[Singles] = Kept("frame_stack: earlier frames are zeros")

    def stacked(self, view: View, frame: Singles, axis: int) -> Singles:
        """Add what a view shows and return the stack, the latest frame last.

        Parameters
        ----------
        view : View
        frame : float32 array
            The observation, normalised if the policy's frames are.
        axis : int
            From :func:`axis_of`.
        """
        width = frame.shape[axis]

        def with_frame(stack: Singles | None) -> Singles:
            if stack is None:
                stack = np.zeros(stacked_shape(frame.shape, self.count, axis), np.float32)
            kept = np.take(stack, range(width, self.count * width), axis)
            return np.concatenate([kept, frame], axis)

        return self._stacks.after(view, with_frame)
