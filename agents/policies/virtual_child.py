"""The wall game report's selection: all untried actions of a node compete together, as one virtual child.

M. Shahrade, M. Katz, "Colosseum Survival!" (COMP 424, McGill): an action with n of the N visits of its node counts
``mean + c sqrt(log10 N / n) - 0.05 w / n``, where w is what speaks against it, and the virtual child 1 (so their
program; the text says no more than that this is the value of a node without a visit). When that wins, an untried action
is drawn: by its weight where the searching player is to move, uniformly where another one is. What the model advises
says both: w is the whole part, the weight is the fraction.
"""

import math

from agents.policies.signatures import SELECT, Options, policy
from agents.policies.ucb1 import total_visits
from mcts_envs.core.kernel import kernel
from mcts_envs.core.rng import uniform
from mcts_envs.core.typing import Bytes

BIAS = 0.05


@kernel()
def _weight(options: Options, i: int) -> float:
    """Return the weight with which an action is drawn: 0 if it was tried."""
    if options.visits[i] > 0:
        return 0.0
    return float(options.prior[i] - math.floor(options.prior[i])) if options.player == options.searcher else 1.0


@kernel()
def _draw(options: Options, stream: Bytes) -> int:
    """Return an untried action by weight; -1 if all were tried."""
    total, last = 0.0, -1
    for i in range(options.k):
        total += _weight(options, i)
    left = uniform(stream) * total
    for i in range(options.k):
        if options.visits[i] == 0:
            last = i
            left -= _weight(options, i)
            if left < 0.0:
                return i
    return last


@policy(SELECT, prior=True, c=2.0, normalize=False)
def virtual_child(options: Options, stream: Bytes) -> int:
    """Take the greatest value; if that is the virtual child's (``fpu``, by default 1), draw an untried action."""
    spread = options.c * math.sqrt(math.log10(total_visits(options.k, options.visits)))
    best, greatest, untried = -1, -math.inf, False
    for i in range(options.k):
        n = options.visits[i]
        if n == 0:
            untried = True
            continue
        value = (options.sums[i] - BIAS * math.floor(options.prior[i])) / n + spread / math.sqrt(n)
        if value > greatest:
            best, greatest = i, value
    if untried and greatest < (1.0 if math.isnan(options.fpu) else options.fpu):
        return _draw(options, stream)
    return best
