"""UCB1: mean plus ``c sqrt(ln N / n)``, for n of the N visits of a node.

P. Auer, N. Cesa-Bianchi, P. Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem" (2002); in trees:
L. Kocsis, C. Szepesvari, "Bandit Based Monte-Carlo Planning" (2006). Auer's bound for rewards in [0, 1] is
``c = sqrt(2)``.
"""

import math

from agents.policies.signatures import SELECT, Options, policy
from mcts_envs.core.kernel import kernel
from mcts_envs.core.rng import below
from mcts_envs.core.typing import Bytes, Floats, Ints


@kernel()
def untried(k: int, visits: Ints, fpu: float, stream: Bytes) -> int:
    """Return a random action without a visit; -1 if there is none, or if first-play urgency judges them."""
    if not math.isnan(fpu):
        return -1
    count, picked = 0, -1
    for i in range(k):
        if visits[i] == 0:
            count += 1
            picked = i
    if count <= 1:
        return picked
    skip = below(stream, count)
    for i in range(k):
        if visits[i] == 0:
            if skip == 0:
                return i
            skip -= 1
    return picked


@kernel()
def total_visits(k: int, visits: Ints) -> int:
    """Return the visits of k actions together, at least 1."""
    total = 0
    for i in range(k):
        total += visits[i]
    return max(1, total)


@kernel()
def best_bound(k: int, visits: Ints, sums: Floats, fpu: float, factor: float) -> int:
    """Return the action with the greatest mean + factor / sqrt(visits), the first of equals.

    An action without a visit counts ``fpu``, its first-play urgency (S. Gelly, Y. Wang 2006, "Exploration exploitation
    in Go: UCT for Monte-Carlo Go").
    """
    best, greatest = 0, -math.inf
    for i in range(k):
        bound = fpu
        if visits[i] > 0:
            share = 1.0 / visits[i]
            bound = sums[i] * share + factor * math.sqrt(share)
        if bound > greatest:
            best, greatest = i, bound
    return best


@kernel()
def upper_bound(options: Options, factor: float, stream: Bytes) -> int:
    """Try untried actions first, in random order, then take the greatest ``mean + factor c sqrt(ln N / n)``."""
    k, visits = options.k, options.visits
    first = untried(k, visits, options.fpu, stream)
    if first >= 0:
        return first
    spread = math.sqrt(math.log(total_visits(k, visits)))
    return best_bound(k, visits, options.sums, options.fpu, factor * options.c * spread)


@policy(SELECT)
def ucb1(options: Options, stream: Bytes) -> int:
    """Try untried actions first, in random order, then take the greatest ``mean + c sqrt(ln N / n)``."""
    return upper_bound(options, 1.0, stream)
