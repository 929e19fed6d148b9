"""Stacked observations, as Stable-Baselines3's ``VecFrameStack`` makes them."""

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from agents.learning.notices import notice
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

    The stack of a game begins with the first frame that is shown of it, and looking at the same state again adds none.
    A view that does not say to which game it belongs (an opponent inside an environment, an environment of others that
    nothing remembers) has no earlier frames.

    Parameters
    ----------
    count : int
        Frames in a stack.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._games: WeakKeyDictionary[Any, dict[int, tuple[Any, Singles]]] = WeakKeyDictionary()

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
        episode: Any = view.episode
        if episode is None:  # in environments of PettingZoo, the history alone tells episodes apart
            episode = getattr(view.state, "history", None)
        players = {} if episode is None else self._games.setdefault(episode, {})
        if episode is None:
            notice(
                "frame_stack: earlier frames are zeros where nothing tells episodes apart, as for an opponent inside "
                "an environment; agents.remember(env) does in environments of others"
            )
        now, width = _moment(view.state), frame.shape[axis]
        before, stack = players.get(view.player, (b"", None))
        if stack is None:
            stack = np.zeros(stacked_shape(frame.shape, self.count, axis), np.float32)
        if before != now:
            kept = np.take(stack, range(width, self.count * width), axis)
            stack = np.concatenate([kept, frame], axis)
        players[view.player] = now, stack
        return stack


def _moment(state: Any) -> bytes | int | None:
    """Return what tells a state of a game from the next: its bytes, or the steps of an environment of others."""
    if isinstance(state, np.ndarray):
        return state.tobytes()
    history = getattr(state, "history", None)
    if history is not None:
        return len(history.actions)
    steps: int | None = state.elapsed() if hasattr(state, "elapsed") else None
    return steps
