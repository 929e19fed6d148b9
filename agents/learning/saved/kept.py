"""What a policy keeps of each game for each player, from one state that it is shown to the next."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from agents.learning.saved.notices import notice
from mcts_envs.core.view import View

T = TypeVar("T")


class Kept(Generic[T]):
    """It begins with the first state of a game that is shown, and looking at the same state again changes nothing.

    A step that leaves a state of our games as it was, to the byte, is taken for another look.

    A view that does not say to which game it belongs (an opponent inside an environment, an environment of others that
    nothing remembers) begins anew each time.

    Parameters
    ----------
    forgetful : str
        What that means for the policy, said once in a warning.
    """

    def __init__(self, forgetful: str) -> None:
        self._forgetful = forgetful
        self._games: WeakKeyDictionary[Any, dict[int, tuple[Any, T]]] = WeakKeyDictionary()

    def after(self, view: View, advance: Callable[[T | None], T]) -> T:
        """Return what is kept after what a view shows; ``advance`` makes it of what was kept before, if anything."""
        episode: Any = view.episode
        if episode is None:  # in environments of PettingZoo, the history alone tells episodes apart
            episode = getattr(view.state, "history", None)
        if episode is None:
            notice(
                f"{self._forgetful} where nothing tells episodes apart, as for an opponent inside an environment; "
                "agents.remember(env) does in environments of others"
            )
            return advance(None)
        players, now = self._games.setdefault(episode, {}), _moment(view.state)
        before, kept = players.get(view.player, (None, None))
        if kept is None or now is None or before != now:
            kept = advance(kept)
            players[view.player] = now, kept
        return kept


def _moment(state: Any) -> bytes | int | None:
    """Return what tells a state of a game from the next: its bytes, or the steps of an environment of others."""
    if isinstance(state, np.ndarray):
        return state.tobytes()
    history = getattr(state, "history", None)
    if history is not None:
        return len(history.actions)
    steps: int | None = state.elapsed() if hasattr(state, "elapsed") else None
    return steps
