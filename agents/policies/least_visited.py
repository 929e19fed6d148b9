"""Flat Monte Carlo: share the trials equally between the actions."""

from agents.policies.signatures import SELECT
from mcts_envs.core.kernel import kernel
from mcts_envs.core.typing import Bytes, Floats, Ints


@kernel(SELECT)
def least_visited(k: int, visits: Ints, sums: Floats, squares: Floats, prior: Floats, c: float, stream: Bytes) -> int:
    """Take the action with the fewest visits, the first of equals."""
    least = 0
    for i in range(1, k):
        if visits[i] < visits[least]:
            least = i
    return least
