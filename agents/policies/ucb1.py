"""UCB1: mean plus ``c sqrt(ln N / n)``, for n of the N visits of a node.

P. Auer, N. Cesa-Bianchi, P. Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem" (2002); in trees:
L. Kocsis, C. Szepesvari, "Bandit Based Monte-Carlo Planning" (2006). Auer's bound for rewards in [0, 1] is
``c = sqrt(2)``.
"""

import math

from agents.policies.parameters import exploration, parameter_record
from agents.policies.signatures import SELECT, Candidates, nth, policy
from agents.search.records import Store
from mcts_envs.core.kernel import kernel, row
from mcts_envs.core.rng import below
from mcts_envs.core.typing import Bytes

PARAMETERS = exploration()
EXPLORATION = parameter_record(PARAMETERS)
_SCALE = parameter_record({name: PARAMETERS[name] for name in ("c", "normalize")})


@kernel()
def unit(candidates: Candidates, store: Store) -> float:
    """Return the unit in which parameters, ``c`` and ``normalize`` first, are given: with it, the range of returns."""
    given = row(store.parameters, 0, _SCALE)
    return candidates.high - candidates.low if given.normalize and candidates.high > candidates.low else 1.0


@kernel()
def in_returns(candidates: Candidates, store: Store) -> tuple[float, float]:
    """Return ``c`` and ``fpu`` in units of return, for a policy whose parameters begin with those of exploration."""
    given, scale = row(store.parameters, 0, EXPLORATION), unit(candidates, store)
    normalized = given.normalize and candidates.high > candidates.low
    return given.c * scale, candidates.low + given.fpu * scale if normalized else given.fpu


@kernel()
def untried(candidates: Candidates, fpu: float, stream: Bytes) -> int:
    """Return a random action without a visit; -1 if there is none, or if first-play urgency judges them."""
    if not math.isnan(fpu):
        return -1
    count, picked = 0, -1
    for i in range(candidates.k):
        if nth(candidates, i).visits == 0:
            count += 1
            picked = i
    if count <= 1:
        return picked
    skip = below(stream, count)
    for i in range(candidates.k):
        if nth(candidates, i).visits == 0:
            if skip == 0:
                return i
            skip -= 1
    return picked


@kernel()
def total_visits(candidates: Candidates) -> int:
    """Return the visits of all k actions together, at least 1."""
    total = 0
    for i in range(candidates.k):
        total += nth(candidates, i).visits
    return max(1, total)


@kernel()
def best_bound(candidates: Candidates, fpu: float, factor: float) -> int:
    """Return the action with the greatest mean + factor / sqrt(visits), the first of equals.

    An action without a visit counts ``fpu``, its first-play urgency (S. Gelly, Y. Wang 2006, "Exploration exploitation
    in Go: UCT for Monte-Carlo Go").
    """
    best, greatest = 0, -math.inf
    for i in range(candidates.k):
        it, bound = nth(candidates, i), fpu
        if it.visits > 0:
            share = 1.0 / it.visits
            bound = it.sums * share + factor * math.sqrt(share)
        if bound > greatest:
            best, greatest = i, bound
    return best


@kernel()
def upper_bound(candidates: Candidates, store: Store, factor: float, stream: Bytes) -> int:
    """Try untried actions first, in random order, then take the greatest ``mean + factor c sqrt(ln N / n)``."""
    c, fpu = in_returns(candidates, store)
    first = untried(candidates, fpu, stream)
    if first >= 0:
        return first
    spread = math.sqrt(math.log(total_visits(candidates)))
    return best_bound(candidates, fpu, factor * c * spread)


@policy(SELECT, parameters=PARAMETERS)
def ucb1(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Try untried actions first, in random order, then take the greatest ``mean + c sqrt(ln N / n)``."""
    return upper_bound(candidates, store, 1.0, stream)
