"""Episodes of environments of others: of one player after the other, or of two who meet."""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium
import numpy as np

import agents
from papers.outsiders import Chooser, chooser

MOST = 1000
"""Moves of an episode."""

Made = Callable[[], Any]


@contextmanager
def _quiet() -> Iterator[None]:
    """Let environments complain of nothing meanwhile."""
    before = gymnasium.logger.min_level
    gymnasium.logger.min_level = gymnasium.logger.ERROR
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="gymnasium|pygame|pkg_resources")
            yield
    finally:
        gymnasium.logger.min_level = before


class Timed:
    """A player, and how long its moves took."""

    def __init__(self, player: Chooser) -> None:
        self.player = player
        self._seconds: list[float] = []

    def act(self, env: Any) -> Any:
        """Return the player's action."""
        started = time.perf_counter()
        action = self.player.act(env)
        self._seconds.append(time.perf_counter() - started)
        return action

    @property
    def milliseconds(self) -> float:
        """Of a move, the median."""
        return round(1000 * float(np.median(self._seconds)), 1) if self._seconds else 0.0


@_quiet()
def alone(make: Made, names: tuple[str, str], seconds: float, seed: int) -> dict[str, Any]:
    """Return what two players have, each alone, in the same episode.

    Returns
    -------
    dict
        ``scores``, the return of each; ``ms``, the median of its moves.
    """
    scores, players = [], [Timed(chooser(name, seconds, seed)) for name in names]
    for player in players:
        env = player.player.wrap(make())
        env.reset(seed=seed)
        paid = 0.0
        for _ in range(MOST):
            _, reward, terminated, truncated, _ = env.step(player.act(env))
            paid += float(reward)
            if terminated or truncated:
                break
        env.close()
        scores.append(round(paid, 6))
    return {"scores": scores, "ms": [player.milliseconds for player in players]}


@_quiet()
def met(make: Made, names: tuple[str, str], seconds: float, seed: int, stakes: bool) -> dict[str, Any]:
    """Return what the first of two players has against the second, in two games with the same chance.

    Parameters
    ----------
    make : callable
        Makes an AEC environment of two agents.
    names : tuple of str
    seconds : float
        A move.
    seed : int
    stakes : bool
        Whether what is paid counts, or who has more.

    Returns
    -------
    dict
        ``scores``, the mean of both games for each; ``ms``.
    """
    totals, spent = np.zeros(2), np.zeros(2)
    for seat in range(2):
        players = [Timed(chooser(name, seconds, 2 * seed + seat)) for name in names]
        paid = _game(make, players if seat == 0 else players[::-1], seed)
        own = paid if seat == 0 else paid[::-1]
        totals += own if stakes else np.array([0.5 + 0.5 * np.sign(own[i] - own[1 - i]) for i in range(2)])
        spent += [player.milliseconds for player in players]
    return {"scores": [float(x) for x in totals / 2], "ms": [round(float(x), 1) for x in spent / 2]}


def _game(make: Made, players: list[Timed], seed: int) -> Any:
    """Return what was paid to each seat."""
    env = agents.remember(make())
    env.reset(seed=seed)
    seats = list(env.possible_agents)
    paid = np.zeros(len(seats))
    for agent in env.agent_iter(MOST):
        if env.terminations[agent] or env.truncations[agent]:
            break
        env.step(players[seats.index(agent)].act(env))
        paid += [env.rewards[each] for each in seats]
    env.close()
    return paid
