"""UCB1 as the papers write it that this project reproduces, each with its own constant, on returns as they are.

Where :func:`agents.policies.ucb1.ucb1` has ``c sqrt(ln N / n)``, they have other factors; one of them prints another
formula altogether.
"""

import math

from agents.policies.parameters import exploration
from agents.policies.signatures import SELECT, Candidates, nth, policy
from agents.policies.ucb1 import EXPLORATION, in_returns, total_visits, untried, upper_bound
from agents.search.records import Store
from mcts_envs.core.kernel import row
from mcts_envs.core.typing import Bytes


@policy(SELECT, parameters=exploration(c=10.0, normalize=False))
def ucb1_in_order(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """The lane paper's: ``mean + c sqrt(ln N / n)``, c = 10; untried actions first, in the order of the game's list."""
    if math.isnan(row(store.parameters, 0, EXPLORATION).fpu):
        for i in range(candidates.k):
            if nth(candidates, i).visits == 0:
                return i
    return upper_bound(candidates, store, 1.0, stream)


@policy(SELECT, parameters=exploration(c=0.707, normalize=False))
def ucb1_tutorial(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """The football tutorial's, after Kocsis and Szepesvari: ``mean + 2 c sqrt(2 ln N / n)``, c = 0.707."""
    return upper_bound(candidates, store, 2.0 * math.sqrt(2.0), stream)


@policy(SELECT, parameters=exploration(c=1.0, normalize=False))
def ucb1_lecture(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """The lecture's, Auer's bound: ``mean + c sqrt(2 ln N / n)``, c = 1."""
    return upper_bound(candidates, store, math.sqrt(2.0), stream)


@policy(SELECT, parameters=exploration(c=2.0, normalize=False))
def ucb1_log10(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """The wall game report's: ``mean + c sqrt(log10 N / n)``, c = 2."""
    return upper_bound(candidates, store, math.sqrt(1.0 / math.log(10.0)), stream)


@policy(SELECT, parameters=exploration(c=math.sqrt(2.0), normalize=False))
def ucb1_sqrt2(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """The bomber report's: ``mean + c sqrt(ln N / n)``, c = sqrt(2)."""
    return upper_bound(candidates, store, 1.0, stream)


@policy(SELECT, parameters=exploration(c=math.sqrt(2.0), normalize=False))
def ucb_linear(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """The bomber report's as it is printed: ``mean + c sqrt(N) / n``, c = sqrt(2)."""
    c, fpu = in_returns(candidates, store)
    first = untried(candidates, fpu, stream)
    if first >= 0:
        return first
    spread = c * math.sqrt(total_visits(candidates))
    best, greatest = 0, -math.inf
    for i in range(candidates.k):
        n = nth(candidates, i).visits
        bound = (nth(candidates, i).sums + spread) / n if n > 0 else fpu
        if bound > greatest:
            best, greatest = i, bound
    return best
