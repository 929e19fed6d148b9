"""What an expert iteration does, in numbers."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcts_envs.core import errors

_MOST = 10**9
_LAST_RATE = 0.1


@dataclass(frozen=True)
class Plan:
    """What an expert iteration does; the same plan, the same result, if it is not ended by time.

    Attributes
    ----------
    iterations : int
        After iteration 0, in which another player is imitated; 0: behaviour cloning.
    games : int
        Played in each.
    search : dict
        Who plays all seats, with the policy: an agent of ``agents.make`` with settings, that takes ``policy=``.
    imitate : dict, optional
        Who plays in iteration 0: any agent with its settings. None: the search does, with the policy as it is.
    imitate_games : int, optional
        Games of iteration 0; by default as many as in the others.
    openings : int
        Each game begins with up to so many random moves, from which nothing is learned: where a game knows no chance,
        the same games would come again.
    window : int
        Iterations to learn from, at most: it grows from 4, by one every second iteration.
    epochs : int
        How often a new position is learned from in its iteration, on the average over the window.
    batch : int
        Positions in a step of the optimizer.
    learning_rate : float
        At first; it falls evenly to a tenth.
    trust : float
        What a position is worth is for this part what the search found, for the rest how the game ended.
    match_games : int
        After each iteration the search with the new policy plays so many against that with the last; a game for one it
        plays alone. Nothing depends on it. 0: none.

    Raises
    ------
    ValueError, TypeError
        If a number is out of its bounds, or an agent is not described.
    """

    iterations: int = 20
    games: int = 256
    search: Mapping[str, Any] = dataclasses.field(default_factory=lambda: {"agent": "gumbel", "simulations": 32})
    imitate: Mapping[str, Any] | None = dataclasses.field(default_factory=lambda: {"agent": "best"})
    imitate_games: int | None = None
    openings: int = 0
    window: int = 20
    epochs: int = 4
    batch: int = 512
    learning_rate: float = 1e-3
    trust: float = 0.5
    match_games: int = 16

    def __post_init__(self) -> None:
        for name, least in (("iterations", 0), ("games", 1), ("openings", 0), ("match_games", 0)):
            errors.integer(name, getattr(self, name), least, _MOST)
        for name in ("window", "epochs", "batch"):
            errors.integer(name, getattr(self, name), 1, _MOST)
        if self.imitate_games is not None:
            errors.integer("imitate_games", self.imitate_games, 1, _MOST)
        errors.number("learning_rate", self.learning_rate, 1e-9, 10.0)
        errors.number("trust", self.trust, 0.0, 1.0)
        for name in ("search", "imitate"):
            given = getattr(self, name)
            if not (given is None and name == "imitate") and not (isinstance(given, Mapping) and "agent" in given):
                raise TypeError(f"{name} {given!r} is no agent; give its name and settings, as {{'agent': 'gumbel'}}")
        if "policy" in self.search:
            raise ValueError(
                f"search has policy {self.search['policy']!r}, and it consults the one that learns; leave it out, or "
                "begin with that one (start)"
            )

    def games_in(self, iteration: int) -> int:
        """Return how many games an iteration plays."""
        first = self.imitate_games if iteration == 0 and self.imitate is not None else None
        return self.games if first is None else first

    def first_kept(self, iteration: int) -> int:
        """Return the first iteration whose games are still learned from in another one."""
        return max(0, iteration + 1 - min(self.window, 4 + iteration // 2))

    def rate(self, iteration: int) -> float:
        """Return the learning rate of an iteration."""
        return self.learning_rate * (1 - (1 - _LAST_RATE) * iteration / max(1, self.iterations))
