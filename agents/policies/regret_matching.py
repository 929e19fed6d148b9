"""Regret matching, for players who choose at the same time.

S. Hart, A. Mas-Colell, "A Simple Adaptive Procedure Leading to Correlated Equilibrium" (2000): an action is drawn in
proportion to its regret, how much more it would have found than what was drawn did, if that is more than 0. What it
would have found is estimated from the times that it was drawn, ``x / p``, as Exp3 does; in trees: M. Lanctot, V. Lisy,
M. Winands, "Monte Carlo Tree Search in Simultaneous Move Games with Applications to Goofspiel" (2013). As there, a
share ``gamma`` of the choices is uniform, and the move to play is drawn by visits, ``recommend="mixed"``.
"""

import math

from agents.policies.exp3 import DRAWING, DRAWN, MIXED, PARAMETERS, RETURNS, drawn, gain
from agents.policies.signatures import SELECT, Candidates, nth, policy
from agents.policies.ucb1 import untried
from agents.search.records import Store
from mcts_envs.core.kernel import kernel, row
from mcts_envs.core.rng import uniform
from mcts_envs.core.typing import Bytes


@kernel()
def _found(candidates: Candidates, store: Store) -> float:
    """Return the sum of what was found, each in [0, 1]."""
    scale, total = candidates.high - candidates.low, 0.0
    for i in range(candidates.k):
        edge = nth(candidates, i).edge
        if edge != 0 and scale > 0.0:
            total += (store.per_edge[edge, RETURNS] - candidates.low * store.per_edge[edge, DRAWN]) / scale
    return total


@policy(SELECT, parameters=PARAMETERS, **DRAWING)
def regret_matching(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Try untried actions first, then draw one in proportion to its regret; uniformly where there is none."""
    first = untried(candidates, math.nan, stream)
    if first >= 0:
        return first
    k, gamma, found, total = candidates.k, row(store.parameters, 0, MIXED).gamma, _found(candidates, store), 0.0
    for i in range(k):
        total += max(0.0, gain(candidates, store, i) - found)
    point, chosen, chance = uniform(stream), k - 1, 1.0
    for i in range(k):
        share = max(0.0, gain(candidates, store, i) - found) / total if total > 0.0 else 1.0 / k
        chance = (1.0 - gamma) * share + gamma / k
        point -= chance
        if point < 0.0:
            chosen = i
            break
    return drawn(candidates, store, chosen, chance)
