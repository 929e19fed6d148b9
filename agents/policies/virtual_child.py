"""The wall game report's selection: all untried actions of a node compete together, as one virtual child.

M. Shahrade, M. Katz, "Colosseum Survival!" (COMP 424, McGill): an action with n of the N visits of its node counts
``mean + c sqrt(log10 N / n) - 0.05 w / n``, where w is what speaks against it, and the virtual child 1 (so their
program; the text says no more than that this is the value of a node without a visit). When that wins, an untried action
is drawn: by its weight where the searching player is to move, uniformly where another one is. What the model advises
says both: w is the whole part, the weight is the fraction.
"""

import math

from agents.policies.parameters import Parameter, exploration, parameter_record
from agents.policies.signatures import SELECT, Candidates, nth, policy
from agents.policies.ucb1 import in_returns, total_visits
from agents.search.records import Store
from mcts_envs.core.kernel import kernel, row
from mcts_envs.core.rng import uniform
from mcts_envs.core.typing import Bytes

PARAMETERS = {
    **exploration(c=2.0, normalize=False),
    "objection": Parameter(0.05, -1e9, 1e9, "Weight of w, what speaks against an action."),
}
VIRTUAL_CHILD = parameter_record(PARAMETERS)


@kernel()
def _weight(candidates: Candidates, i: int) -> float:
    """Return the weight with which an action is drawn: 0 if it was tried."""
    if nth(candidates, i).visits > 0:
        return 0.0
    return float(nth(candidates, i).prior - math.floor(nth(candidates, i).prior)) if candidates.searching else 1.0


@kernel()
def _draw(candidates: Candidates, stream: Bytes) -> int:
    """Return an untried action by weight; -1 if all were tried."""
    total, last = 0.0, -1
    for i in range(candidates.k):
        total += _weight(candidates, i)
    left = uniform(stream) * total
    for i in range(candidates.k):
        if nth(candidates, i).visits == 0:
            last = i
            left -= _weight(candidates, i)
            if left < 0.0:
                return i
    return last


@policy(SELECT, prior=True, parameters=PARAMETERS)
def virtual_child(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Take the greatest value; if that is the virtual child's (``fpu``, by default 1), draw an untried action."""
    given = row(store.parameters, 0, VIRTUAL_CHILD)
    c, fpu = in_returns(candidates, store)
    spread = c * math.sqrt(math.log10(total_visits(candidates)))
    best, greatest, untried = -1, -math.inf, False
    for i in range(candidates.k):
        n = nth(candidates, i).visits
        if n == 0:
            untried = True
            continue
        value = (
            nth(candidates, i).sums - given.objection * math.floor(nth(candidates, i).prior)
        ) / n + spread / math.sqrt(n)
        if value > greatest:
            best, greatest = i, value
    if untried and greatest < (1.0 if math.isnan(fpu) else fpu):
        return _draw(candidates, stream)
    return best
