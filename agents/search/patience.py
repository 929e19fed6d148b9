"""Time in environments of others: rollouts that come to no end are cut, and what is too slow for its limit is told."""

import math
import time
from collections.abc import Callable
from typing import Any

from agents.budget import Clock
from mcts_envs.core.own_code import warn
from mcts_envs.core.typing import Bytes
from mcts_envs.core.view import View

MOST, LEAST = 1000, 60
"""Bounds of what a rollout may take, in steps."""

_PROBE, _TRIED, _TIMES = 10, 16, 4
"""Steps that tell what a step costs, the fewest of any rollout; actions that there is to be time for, at most; how
often each of them is to be tried."""


def patient(simulate: Callable[..., int], game: Any) -> Callable[..., int]:
    """Return a rollout that is cut off where it would be in vain.

    The first of a search may take 1,000 steps. If it comes to an end by then, so may all others, and nothing is
    changed. If not, it would tell little of the action that it began with, and cost as much as many that tell more:
    then others are tried from the same state, each for half as long, until one comes to an end, 60 steps at least. All
    rollouts of the search take as long as that one was allowed to, twice over: they can be compared only if they are
    equally long. What is cut off is evaluated as at any horizon.

    With a time limit, rollouts are no longer than leaves time to try each action four times, or 16 of them.

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
        kept, most = state.copy(), MOST
        found: list[int] = []

        def run(most: int) -> tuple[int, float]:
            began = time.perf_counter()
            return simulate(table, how, work, store, depth, min(limit, most)), time.perf_counter() - began

        def go_back() -> None:
            state[:] = kept
            work.values[:] = [0.0] * len(work.values)

        seconds = state.hidden.time_limit / (_TIMES * min(game.actions, _TRIED))
        while seconds < math.inf and len(found) < 2:  # the first may load code
            made, taken = run(_PROBE)
            found.append(int(max(1, made) * seconds / taken))
            go_back()
            most = min(MOST, max(_PROBE, *found))
        state.patience = most
        steps, _ = run(most)
        while game.active(state) and 0 <= steps >= state.patience > LEAST:
            state.patience = max(LEAST, state.patience // 2)
            go_back()
            steps, _ = run(state.patience)
        if not game.active(state):
            state.patience = min(most, 2 * state.patience)
        return steps

    return rollout


def hurry(view: View, clock: Clock, stream: Bytes) -> None:
    """Tell the live environment of others how long a search of it may take, and by what to draw what it hides."""
    live: Any = view.state
    if hasattr(live, "time_limit"):
        live.time_limit, live.luck = clock.budget.time_limit, int.from_bytes(stream.tobytes(), "little")


_TWICE, _SHORTEST = 2.0, 0.01
"""Searches that take so many time limits, and so many seconds more, are told of."""

_LATE = 2
"""So many late searches in a row are told of."""

_COUNTED = 4
"""So many simulations at most may be those that are made however short the time."""


def warn_if_late(view: View, result: Any, limit: float) -> None:
    """Say once of an environment of others that its few simulations, with copies, took more than twice the time limit.

    The first search, which finds out how to copy it, does not count. One of the others may be late because the machine
    was busy, or Python collected its garbage, as it does now and then: so it takes two in a row.
    """
    if not hasattr(view.state, "time_limit"):
        return
    game: Any = view.game
    notes, simulations = game.notes, getattr(result, "simulations", 0)
    late = 0 < simulations <= _COUNTED and result.seconds > _TWICE * limit + _SHORTEST
    notes["late"] = notes.get("late", 0) + 1 if late and notes.get("searched") else 0
    if notes["late"] == _LATE and not notes.get("told late"):
        notes["told late"] = True
        copies = getattr(result, "copies", None)
        how = f"; copies are made by {copies.means}; what is hidden: {copies.hidden}" if copies else ""
        warn(
            f"{game.name}: {simulations} simulation{'s' * (simulations > 1)} took {result.seconds:.2g} s, more than "
            f"the time limit of {limit:g} s, which cannot be kept{how}; give more time, or a shorter horizon",
        )
    notes["searched"] = True
