"""UCB1 as the papers write it that this project reproduces, each with its own constant, on returns as they are.

Where :func:`agents.policies.ucb1.ucb1` has ``c sqrt(ln N / n)``, they have other factors; one of them prints another
formula altogether.
"""

import math

from agents.policies.signatures import SELECT, Options, policy
from agents.policies.ucb1 import total_visits, untried, upper_bound
from mcts_envs.core.typing import Bytes


@policy(SELECT, c=10.0, normalize=False)
def ucb1_in_order(options: Options, stream: Bytes) -> int:
    """The lane paper's: ``mean + c sqrt(ln N / n)``, c = 10; untried actions first, in the order of the game's list."""
    if math.isnan(options.fpu):
        for i in range(options.k):
            if options.visits[i] == 0:
                return i
    return upper_bound(options, 1.0, stream)


@policy(SELECT, c=0.707, normalize=False)
def ucb1_tutorial(options: Options, stream: Bytes) -> int:
    """The football tutorial's, after Kocsis and Szepesvari: ``mean + 2 c sqrt(2 ln N / n)``, c = 0.707."""
    return upper_bound(options, 2.0 * math.sqrt(2.0), stream)


@policy(SELECT, c=1.0, normalize=False)
def ucb1_lecture(options: Options, stream: Bytes) -> int:
    """The lecture's, Auer's bound: ``mean + c sqrt(2 ln N / n)``, c = 1."""
    return upper_bound(options, math.sqrt(2.0), stream)


@policy(SELECT, c=2.0, normalize=False)
def ucb1_log10(options: Options, stream: Bytes) -> int:
    """The wall game report's: ``mean + c sqrt(log10 N / n)``, c = 2."""
    return upper_bound(options, math.sqrt(1.0 / math.log(10.0)), stream)


@policy(SELECT, c=math.sqrt(2.0), normalize=False)
def ucb1_sqrt2(options: Options, stream: Bytes) -> int:
    """The bomber report's: ``mean + c sqrt(ln N / n)``, c = sqrt(2)."""
    return upper_bound(options, 1.0, stream)


@policy(SELECT, c=math.sqrt(2.0), normalize=False)
def ucb_linear(options: Options, stream: Bytes) -> int:
    """The bomber report's as it is printed: ``mean + c sqrt(N) / n``, c = sqrt(2)."""
    k, visits, sums = options.k, options.visits, options.sums
    first = untried(k, visits, options.fpu, stream)
    if first >= 0:
        return first
    spread = options.c * math.sqrt(total_visits(k, visits))
    best, greatest = 0, -math.inf
    for i in range(k):
        bound = (sums[i] + spread) / visits[i] if visits[i] > 0 else options.fpu
        if bound > greatest:
            best, greatest = i, bound
    return best
