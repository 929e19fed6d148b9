"""Flat Monte Carlo: share the trials equally between the actions."""

from agents.policies.signatures import SELECT, Candidates, nth, policy
from agents.search.records import Store
from mcts_envs.core.rng import below
from mcts_envs.core.typing import Bytes


@policy(SELECT)
def least_visited(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Take the action with the fewest visits: the first of equals for the player who searches, any for the others.

    Were these to take the first too, players who choose at the same time would go through their actions in step.
    """
    least, equals = 0, 1
    for i in range(1, candidates.k):
        if nth(candidates, i).visits < nth(candidates, least).visits:
            least, equals = i, 1
        elif nth(candidates, i).visits == nth(candidates, least).visits:
            equals += 1
            if not candidates.searching and below(stream, equals) == 0:
                least = i
    return least
