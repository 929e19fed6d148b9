"""PUCT: mean plus ``c P sqrt(N) / (1 + n)``, for n of the N visits of a node and a prior probability P.

C. Rosin, "Multi-armed bandits with episode context" (2011), in the form of D. Silver et al., "Mastering the game of Go
with deep neural networks and tree search" (2016). The prior is what the game advises.
"""

import math

from agents.policies.parameters import exploration
from agents.policies.signatures import SELECT, Candidates, nth, policy
from agents.policies.ucb1 import in_returns, total_visits
from agents.records import Store
from mcts_envs.core.typing import Bytes


@policy(SELECT, prior=True, parameters=exploration(c=1.25))
def puct(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Take the greatest bound; an action without a visit counts the mean of the node, or ``fpu`` if it is given."""
    c, fpu = in_returns(candidates, store)
    total, weights = 0.0, 0.0
    for i in range(candidates.k):
        total += nth(candidates, i).sums
        weights += nth(candidates, i).prior
    visits = total_visits(candidates)
    unseen = total / visits if math.isnan(fpu) else fpu
    share = c * math.sqrt(visits) / (weights if weights > 0.0 else float(candidates.k))
    best, greatest = 0, -math.inf
    for i in range(candidates.k):
        n = nth(candidates, i).visits
        value = nth(candidates, i).sums / n if n > 0 else unseen
        bound = value + share * (nth(candidates, i).prior if weights > 0.0 else 1.0) / (1 + n)
        if bound > greatest:
            best, greatest = i, bound
    return best
