"""UCB1: mean plus ``c sqrt(ln N / n)``.

P. Auer, N. Cesa-Bianchi, P. Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem" (2002); in trees:
L. Kocsis, C. Szepesvari, "Bandit Based Monte-Carlo Planning" (2006). Auer's bound for rewards in [0, 1] is
``c = sqrt(2)``.
"""

import math

from agents.policies.signatures import SELECT
from mcts_envs.core.kernel import kernel
from mcts_envs.core.rng import below
from mcts_envs.core.typing import Bytes, Floats, Ints


@kernel()
def _untried(k: int, visits: Ints) -> int:
    count = 0
    for i in range(k):
        if visits[i] == 0:
            count += 1
    return count


@kernel()
def _best(k: int, visits: Ints, sums: Floats, c: float) -> int:
    total = 0
    for i in range(k):
        total += visits[i]
    log_total = math.log(total)
    best, greatest = 0, -math.inf
    for i in range(k):
        bound = sums[i] / visits[i] + c * math.sqrt(log_total / visits[i])
        if bound > greatest:
            best, greatest = i, bound
    return best


@kernel(SELECT)
def ucb1(k: int, visits: Ints, sums: Floats, squares: Floats, prior: Floats, c: float, stream: Bytes) -> int:
    """Try untried actions first, in random order, then the greatest upper bound."""
    untried = _untried(k, visits)
    if untried == 0:
        return _best(k, visits, sums, c)
    skip = below(stream, untried)
    for i in range(k):
        if visits[i] == 0:
            if skip == 0:
                return i
            skip -= 1
    return 0


@kernel(SELECT)
def ucb1_in_order(k: int, visits: Ints, sums: Floats, squares: Floats, prior: Floats, c: float, stream: Bytes) -> int:
    """Try untried actions first, in the order in which the game lists them, then the greatest upper bound."""
    for i in range(k):
        if visits[i] == 0:
            return i
    return _best(k, visits, sums, c)
