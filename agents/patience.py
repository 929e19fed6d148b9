"""Rollouts in environments of others that come to no end in a useful time: noticed, and cut."""

from collections.abc import Callable
from typing import Any

MOST, LEAST = 1000, 60
"""Bounds of what a rollout may take, in steps."""


def patient(simulate: Callable[..., int], game: Any) -> Callable[..., int]:
    """Return a rollout that is cut off where it would be in vain.

    The first of a search may take 1,000 steps. If it comes to an end by then, so may all others, and nothing is
    changed. If not, it would tell little of the action that it began with, and cost as much as many that tell more:
    then others are tried from the same state, each for half as long, until one comes to an end, 60 steps at least. All
    rollouts of the search take as long as that one was allowed to, twice over: they can be compared only if they are
    equally long. What is cut off is evaluated as at any horizon.

    Parameters
    ----------
    simulate : callable
        The rollout, in plain Python.
    game : Game
        In which it plays; its states keep the steps allowed in ``patience``, 0 before the first rollout. Where they
        keep none, rollouts are as they were.
    """

    def rollout(table: Any, how: Any, work: Any, store: Any, depth: int, limit: int) -> int:
        state = work.state
        allowed = getattr(state, "patience", limit)
        if allowed:
            return simulate(table, how, work, store, depth, min(limit, allowed))
        kept, state.patience = state.copy(), MOST
        steps = simulate(table, how, work, store, depth, min(limit, MOST))
        while game.active(state) and 0 <= steps >= state.patience > LEAST:
            state.patience = max(LEAST, state.patience // 2)
            state[:] = kept
            work.values[:] = [0.0] * len(work.values)
            steps = simulate(table, how, work, store, depth, min(limit, state.patience))
        if not game.active(state):
            state.patience = min(MOST, 2 * state.patience)
        return steps

    return rollout
