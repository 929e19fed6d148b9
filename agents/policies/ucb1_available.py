"""UCB1 that counts how often an action could be taken: for trees over information sets.

P. Cowling, E. Powley, D. Whitehouse, "Information Set Monte Carlo Tree Search" (2012): where what others hold is drawn
anew in every simulation, or an open loop meets other dice, not every action of a node is legal each time. N of the
bound ``mean + c sqrt(ln N / n)`` is then the action's own: the selections at which it was legal, from its first visit
on. An action that is seldom legal is not tried each time that it is.
"""

import math

from agents.policies.signatures import SELECT, Candidates, nth, policy
from agents.policies.ucb1 import PARAMETERS, in_returns, untried
from agents.search.records import Store
from mcts_envs.core.typing import Bytes

AVAILABLE = 0
"""What is kept for an edge: the selections after its first visit at which it was legal."""


@policy(SELECT, parameters=PARAMETERS, edge=1)
def ucb1_available(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Try untried actions first, in random order, then take the greatest ``mean + c sqrt(ln N / n)``, N its own."""
    c, fpu = in_returns(candidates, store)
    first = untried(candidates, fpu, stream)
    best, greatest = 0, -math.inf
    for i in range(candidates.k):
        it, bound = nth(candidates, i), fpu
        if it.visits > 0:
            available = 1.0 + store.per_edge[it.edge, AVAILABLE]
            store.per_edge[it.edge, AVAILABLE] = available
            bound = it.sums / it.visits + c * math.sqrt(math.log(available) / it.visits)
        if bound > greatest:
            best, greatest = i, bound
    return best if first < 0 else first
