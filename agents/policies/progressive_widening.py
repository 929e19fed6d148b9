"""Progressive widening: only the best-advised actions of a node are looked at, more of them with every visit.

R. Coulom, "Computing Elo Ratings of Move Patterns in the Game of Go" (2007); G. Chaslot et al., "Progressive Strategies
for Monte-Carlo Tree Search" (2008), where it is called progressive unpruning. Their schedules grow with the logarithm
of the visits; here it is the power of A. Couetoux et al., "Continuous Upper Confidence Trees" (2011): ``N ** 0.5``
actions, rounded up, after N visits of the actions that are legal now.
"""

import math

from agents.policies.parameters import Parameter, exploration, parameter_record
from agents.policies.signatures import SELECT, Candidates, nth, policy
from agents.policies.ucb1 import best_bound, total_visits, unit
from agents.search.records import Store
from mcts_envs.core.kernel import kernel, row
from mcts_envs.core.rng import below
from mcts_envs.core.typing import Bytes

PARAMETERS = {
    **{name: parameter for name, parameter in exploration().items() if name != "fpu"},
    "exponent": Parameter(0.5, 0.0, 1.0, "After N visits of a node, N ** exponent of its actions are looked at."),
}
WIDENING = parameter_record(PARAMETERS)


@kernel()
def best_advised(candidates: Candidates, stream: Bytes) -> int:
    """Return the untried action that is advised most, a random one among equals; -1 if there is none."""
    best, greatest, equals = -1, -math.inf, 0
    for i in range(candidates.k):
        if nth(candidates, i).visits > 0 or nth(candidates, i).prior < greatest:
            continue
        equals = equals + 1 if nth(candidates, i).prior == greatest else 1
        if equals == 1 or below(stream, equals) == 0:
            best = i
        greatest = nth(candidates, i).prior
    return best


@policy(SELECT, prior=True, parameters=PARAMETERS)
def progressive_widening(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Try the best-advised untried action while fewer than ``N ** exponent`` are tried; else UCB1 among those tried."""
    given, tried = row(store.parameters, 0, WIDENING), 0
    for i in range(candidates.k):
        tried += nth(candidates, i).visits > 0
    total = total_visits(candidates)
    if tried == 0 or (tried < candidates.k and tried < total**given.exponent):
        return best_advised(candidates, stream)
    factor = given.c * unit(candidates, store) * math.sqrt(math.log(total))
    return best_bound(candidates, -math.inf, factor)
