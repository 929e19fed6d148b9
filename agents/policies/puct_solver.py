"""PUCT that proves: wins and losses found on the way are no longer estimated.

The proofs are those of :mod:`agents.policies.mcts_solver`, the bound of what is not proved that of
:mod:`agents.policies.puct`.
"""

import math

from agents.policies.mcts_solver import PROVING, WIN, lost, settled
from agents.policies.parameters import exploration
from agents.policies.signatures import SELECT, Candidates, nth, policy
from agents.policies.ucb1 import in_returns
from agents.search.records import Store
from mcts_envs.core.typing import Bytes

PARAMETERS = {**exploration(c=1.25), **WIN}


@policy(SELECT, prior=True, parameters=PARAMETERS, **PROVING)
def puct_solver(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Take an action that is proved to win, or the best of those all proved; else PUCT without the proved losses."""
    decided = settled(candidates, store)
    if decided >= 0:
        return decided
    c, fpu = in_returns(candidates, store)
    total, weights, seen = 0.0, 0.0, 0
    for i in range(candidates.k):
        if not lost(candidates, store, i):
            seen += nth(candidates, i).visits
            total += nth(candidates, i).sums
            weights += nth(candidates, i).prior
    unseen = total / max(1, seen) if math.isnan(fpu) else fpu
    share = c * math.sqrt(max(1, seen)) / (weights if weights > 0.0 else float(candidates.k))
    best, greatest = -1, -math.inf
    for i in range(candidates.k):
        if lost(candidates, store, i):
            continue
        it = nth(candidates, i)
        value = it.sums / it.visits if it.visits > 0 else unseen
        bound = value + share * (it.prior if weights > 0.0 else 1.0) / (1 + it.visits)
        if best < 0 or bound > greatest:
            best, greatest = i, bound
    return best
