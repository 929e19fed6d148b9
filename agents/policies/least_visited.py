"""Flat Monte Carlo: share the trials equally between the actions."""

from agents.policies.signatures import SELECT, Options, policy
from mcts_envs.core.typing import Bytes


@policy(SELECT)
def least_visited(options: Options, stream: Bytes) -> int:
    """Take the action with the fewest visits, the first of equals."""
    least = 0
    for i in range(1, options.k):
        if options.visits[i] < options.visits[least]:
            least = i
    return least
