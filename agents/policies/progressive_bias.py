"""Progressive bias: what is known beforehand counts less with every visit.

G. Chaslot et al., "Progressive Strategies for Monte-Carlo Tree Search" (2008): ``h / (1 + n)`` is added to the bound of
an action with n visits, where h says how good the game takes it to be.
"""

import math

from agents.policies.parameters import Parameter, exploration, parameter_record
from agents.policies.signatures import SELECT, Candidates, nth, policy
from agents.policies.ucb1 import in_returns, total_visits, unit, untried
from agents.search.records import Store
from mcts_envs.core.kernel import row
from mcts_envs.core.typing import Bytes

PARAMETERS = {
    **exploration(c=math.sqrt(2.0), normalize=False),
    "bias": Parameter(1.0, -1e9, 1e9, "Weight of h, in ranges of the returns seen with normalize."),
}
BIAS = parameter_record(PARAMETERS)


@policy(SELECT, prior=True, parameters=PARAMETERS)
def progressive_bias(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Try untried actions first, then the greatest ``mean + c sqrt(ln N / n) + h / (1 + n)``, c = sqrt(2).

    h is ``bias`` times what the game advises. Where it advises nothing (1 for every action), that is the bomber
    report's ``bias / (1 + n)``.
    """
    given = row(store.parameters, 0, BIAS)
    c, fpu = in_returns(candidates, store)
    first = untried(candidates, fpu, stream)
    if first >= 0:
        return first
    bias = given.bias * unit(candidates, store)
    spread = c * math.sqrt(math.log(total_visits(candidates)))
    best, greatest = 0, -math.inf
    for i in range(candidates.k):
        bound = fpu
        if nth(candidates, i).visits > 0:
            share = 1.0 / nth(candidates, i).visits
            bound = nth(candidates, i).sums * share + spread * math.sqrt(share)
        bound += bias * nth(candidates, i).prior / (1.0 + nth(candidates, i).visits)
        if bound > greatest:
            best, greatest = i, bound
    return best
