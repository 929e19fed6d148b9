"""Decisive moves: rollouts that win at once where they can.

F. Teytaud, O. Teytaud, "On the Huge Benefit of Decisive Moves in Monte-Carlo Tree Search Algorithms" (2010). Before an
action is drawn, each legal one is tried on a copy; the first that ends the game as a win is played. Their anti-decisive
moves, which keep the other from doing so, are of games where taking the other's move prevents it, and are left out. The
copy has chance of its own, so that no die is foreseen.
"""

from typing import Any

import numpy as np

from agents.policies.signatures import SIMULATE, policy
from agents.search.records import Settings, Store, Work, several
from mcts_envs.core.compiling.table import active_of, determinize_of, outcome_of, step_of
from mcts_envs.core.contract import EVERYTHING, Game
from mcts_envs.core.kernel import copy
from mcts_envs.core.rng import below, draw


def _size(game: Game) -> int:
    """Room for a state, in numbers of 8 bytes.

    Raises
    ------
    ValueError
        If states are no bytes, as in environments of others.
    """
    if game.plain_lists:
        raise ValueError(f"simulate='decisive' is for games of ours, whose states are bytes; {game.name} is not one")
    return len(game.template) // 8


@policy(SIMULATE, tree=_size, lasting=False)
def decisive(game: Any, how: Settings, work: Work, store: Store, player: int, k: int) -> int:
    """Let everybody win at once where it can, and else choose uniformly; so too where several choose at once."""
    if not several(active_of(game)(work.state)):
        spare = store.per_tree.view(np.uint8)
        for i in range(k):
            copy(spare, work.state)
            determinize_of(game)(spare, EVERYTHING, draw(work.stream))
            work.actions[player] = work.legal[i]
            step_of(game)(spare, work.actions, work.rewards)
            if active_of(game)(spare) == 0:
                outcome_of(game)(spare, work.rewards)
                if work.rewards[player] >= 1.0:
                    return int(work.legal[i])
    return int(work.legal[below(work.stream, k)])
