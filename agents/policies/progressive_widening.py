"""Progressive widening: only the best-advised actions of a node are looked at, more of them with every visit.

R. Coulom, "Computing Elo Ratings of Move Patterns in the Game of Go" (2007); G. Chaslot et al., "Progressive Strategies
for Monte-Carlo Tree Search" (2008), where it is called progressive unpruning. Their schedules grow with the logarithm
of the visits; here it is the power of A. Couetoux et al., "Continuous Upper Confidence Trees" (2011): ``N ** 0.5``
actions, rounded up, after N visits of the actions that are legal now.
"""

import math

from agents.policies.signatures import SELECT, Options, policy
from agents.policies.ucb1 import best_bound, total_visits
from mcts_envs.core.kernel import kernel
from mcts_envs.core.rng import below
from mcts_envs.core.typing import Bytes

EXPONENT = 0.5


@kernel()
def best_advised(options: Options, stream: Bytes) -> int:
    """Return the untried action that is advised most, a random one among equals; -1 if there is none."""
    best, greatest, equals = -1, -math.inf, 0
    for i in range(options.k):
        if options.visits[i] > 0 or options.prior[i] < greatest:
            continue
        equals = equals + 1 if options.prior[i] == greatest else 1
        if equals == 1 or below(stream, equals) == 0:
            best = i
        greatest = options.prior[i]
    return best


@policy(SELECT, prior=True)
def progressive_widening(options: Options, stream: Bytes) -> int:
    """Try the best-advised untried action while fewer than ``N ** 0.5`` are tried; else UCB1 among those tried.

    First-play urgency has no part in it.
    """
    tried = 0
    for i in range(options.k):
        tried += options.visits[i] > 0
    total = total_visits(options.k, options.visits)
    if tried == 0 or (tried < options.k and tried < total**EXPONENT):
        return best_advised(options, stream)
    factor = options.c * math.sqrt(math.log(total))
    return best_bound(options.k, options.visits, options.sums, -math.inf, factor)
