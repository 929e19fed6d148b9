"""PUCT: mean plus ``c P sqrt(N) / (1 + n)``, for n of the N visits of a node and a prior probability P.

C. Rosin, "Multi-armed bandits with episode context" (2011), in the form of D. Silver et al., "Mastering the game of Go
with deep neural networks and tree search" (2016). The prior is what the game advises.
"""

import math

from agents.policies.signatures import SELECT, Options, policy
from agents.policies.ucb1 import total_visits
from mcts_envs.core.typing import Bytes


@policy(SELECT, prior=True, c=1.25)
def puct(options: Options, stream: Bytes) -> int:
    """Take the greatest bound; an action without a visit counts the mean of the node, or ``fpu`` if it is given."""
    total, weights = 0.0, 0.0
    for i in range(options.k):
        total += options.sums[i]
        weights += options.prior[i]
    visits = total_visits(options.k, options.visits)
    unseen = total / visits if math.isnan(options.fpu) else options.fpu
    share = options.c * math.sqrt(visits) / (weights if weights > 0.0 else float(options.k))
    best, greatest = 0, -math.inf
    for i in range(options.k):
        n = options.visits[i]
        value = options.sums[i] / n if n > 0 else unseen
        bound = value + share * (options.prior[i] if weights > 0.0 else 1.0) / (1 + n)
        if bound > greatest:
            best, greatest = i, bound
    return best
