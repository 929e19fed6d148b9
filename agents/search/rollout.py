"""The rollout: from a leaf on everybody follows a policy, to the end or to a limit, where the state is evaluated."""

from collections.abc import Callable
from typing import Any

from numba import types

from agents.evaluator.consult import waiting
from agents.search.records import SETTINGS, STORE, WORK, Settings, Store, Work, chooses
from mcts_envs.core.compiling.table import TABLE, active_of, evaluate_of, legal_of, status_of, step_of
from mcts_envs.core.contract import RUNNING
from mcts_envs.core.kernel import kernel

ROLLOUT = types.int64(TABLE, SETTINGS, WORK, STORE, types.int64, types.int64)


@kernel()
def clear_values(work: Work) -> None:
    """Set the returns to 0."""
    for player in range(len(work.values)):
        work.values[player] = 0.0


@kernel()
def add_evaluation(game: Any, work: Work, weight: float) -> None:
    """Add what an unfinished state is worth, times a weight, to the ``work.values`` of those who are still in the game.

    Others have been paid for the end of theirs.
    """
    if active_of(game)(work.state):
        evaluate_of(game)(work.state, work.rewards)
        for player in range(len(work.values)):
            if status_of(game)(work.state, player) == RUNNING:
                work.values[player] += weight * (work.rewards[player] - work.base[player])


def rollout_with(choose: Any) -> Callable[..., int]:
    """Return the rollout, a kernel, in which everybody chooses by a policy ``(game, how, work, store, player, k)``.

    It returns the steps made; -1 at once if the policy returns what is no action of the game.
    """

    def rollout(game: Any, how: Settings, work: Work, store: Store, depth: int, limit: int) -> int:
        weight = 1.0
        for t in range(depth, depth + limit):
            to_move = active_of(game)(work.state)
            if to_move == 0:
                return t - depth
            for player in range(len(work.actions)):
                work.actions[player] = 0
                work.played[t, player] = -1
                if chooses(to_move, player):
                    k = legal_of(game)(work.state, player, work.legal)
                    action = choose(game, how, work, store, player, k)
                    if action < 0 or action >= len(work.legal):
                        return -1
                    work.actions[player] = work.played[t, player] = action
            if how.waits and waiting(how.waits):
                return t - depth  # what comes after a choice that is not known would be asked in vain
            step_of(game)(work.state, work.actions, work.rewards)
            for player in range(len(work.values)):
                work.values[player] += weight * work.rewards[player]
            weight *= how.discount
        add_evaluation(game, work, weight)
        return limit

    for said in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(rollout, said, getattr(choose, said))
    return kernel(ROLLOUT)(rollout)
