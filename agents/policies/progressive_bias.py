"""Progressive bias: what is known beforehand counts less with every visit.

G. Chaslot et al., "Progressive Strategies for Monte-Carlo Tree Search" (2008): ``h / (1 + n)`` is added to the bound of
an action with n visits, where h says how good the game takes it to be.
"""

import math

from agents.policies.signatures import SELECT, Options, policy
from agents.policies.ucb1 import total_visits, untried
from mcts_envs.core.typing import Bytes


@policy(SELECT, prior=True, c=math.sqrt(2.0), normalize=False, bias=1.0)
def progressive_bias(options: Options, stream: Bytes) -> int:
    """Try untried actions first, then the greatest ``mean + c sqrt(ln N / n) + h / (1 + n)``, c = sqrt(2).

    h is ``bias`` times what the game advises. Where it advises nothing (1 for every action), that is the bomber
    report's ``bias / (1 + n)``.
    """
    k, visits = options.k, options.visits
    first = untried(k, visits, options.fpu, stream)
    if first >= 0:
        return first
    spread = options.c * math.sqrt(math.log(total_visits(k, visits)))
    best, greatest = 0, -math.inf
    for i in range(k):
        bound = options.fpu
        if visits[i] > 0:
            share = 1.0 / visits[i]
            bound = options.sums[i] * share + spread * math.sqrt(share)
        bound += options.bias * options.prior[i] / (1.0 + visits[i])
        if bound > greatest:
            best, greatest = i, bound
    return best
