"""The policy that Gumbel AlphaZero improves by searching, followed inside the tree without chance.

I. Danihelka, A. Guez, J. Schrittwieser, D. Silver, "Policy improvement by planning with Gumbel" (2022). The prior is
what the game advises, the value of a state what its ``evaluate`` says. At the root :class:`agents.planners.gumbel`
draws and drops actions by the same scores.
"""

import math

from numba import types

from agents.policies.parameters import Parameter, parameter_record
from agents.policies.signatures import CANDIDATES, SELECT, Candidates, nth, policy
from agents.search.records import STORE, Store
from mcts_envs.core.kernel import kernel, row
from mcts_envs.core.typing import Bytes

PARAMETERS = {
    "visit_scale": Parameter(50.0, 0.0, 1e6, "Visits that are added to the greatest number, to weigh values by."),
    "value_scale": Parameter(0.1, 0.0, 1e6, "By what that is multiplied."),
    "rescale": Parameter(True, 0, 1, "Let the values of a node count from 0, its least, to 1 at most."),
}
_GIVEN = parameter_record(PARAMETERS)
_LEAST = 1e-30


@kernel()
def _mixed_value(candidates: Candidates) -> float:
    """Return what untried actions count: the state's worth mixed with the values found (equation 33).

    ``(v + N sum(p q) / sum(p)) / (1 + N)``, the sums over the actions that were tried, N visits in all.
    """
    visits, share, weighted = 0, 0.0, 0.0
    for i in range(candidates.k):
        n = nth(candidates, i).visits
        if n > 0:
            prior = max(nth(candidates, i).prior, _LEAST)
            visits += n
            share += prior
            weighted += prior * nth(candidates, i).sums / n
    return (candidates.worth + visits * weighted / share) / (1 + visits) if visits > 0 else candidates.worth


@kernel(types.void(CANDIDATES, STORE))
def improve(candidates: Candidates, store: Store) -> None:
    """Replace every prior p by the logit of the improved policy, ``log p + (visit_scale + max n) value_scale q``.

    q is an action's completed value (equation 10): its mean, or the mixed value where it has no visit. Rescaled, it is
    told from the least by the spread of the node's values, and beyond ``visit_scale`` visits by the share ``1 -
    visit_scale / max n`` of the spread of all returns, if that is more. As published it is the node's own for ever:
    then actions that are worth nearly the same seem to be far apart, and a long search, which weighs values the more,
    takes whichever a network or a few dice have overrated.
    """
    given, mixed = row(store.parameters, 0, _GIVEN), _mixed_value(candidates)
    low, high, most, total = math.inf, -math.inf, 0, 0.0
    for i in range(candidates.k):
        n = nth(candidates, i).visits
        value = nth(candidates, i).sums / n if n > 0 else mixed
        low, high, most = min(low, value), max(high, value), max(most, n)
        total += nth(candidates, i).prior
    weight = (given.visit_scale + most) * given.value_scale
    spread = max(high - low, 1e-8)
    if most > given.visit_scale:
        spread = max(spread, (1.0 - given.visit_scale / most) * (candidates.high - candidates.low))
    for i in range(candidates.k):
        known = nth(candidates, i)
        value = known.sums / known.visits if known.visits > 0 else mixed
        if given.rescale:
            value = (value - low) / spread
        prior = known.prior / total if total > 0.0 else 1.0 / candidates.k
        known.prior = math.log(max(prior, _LEAST)) + weight * value


@policy(SELECT, prior=True, worth=True, parameters=PARAMETERS)
def gumbel(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Take the action whose share of the visits is furthest below its improved probability (equation 14)."""
    improve(candidates, store)
    greatest, total, visits = -math.inf, 0.0, 0
    for i in range(candidates.k):
        greatest = max(greatest, nth(candidates, i).prior)
        visits += nth(candidates, i).visits
    for i in range(candidates.k):
        total += math.exp(nth(candidates, i).prior - greatest)
    best, furthest = 0, -math.inf
    for i in range(candidates.k):
        probability = math.exp(nth(candidates, i).prior - greatest) / total
        lag = probability - nth(candidates, i).visits / (1 + visits)
        if lag > furthest:
            best, furthest = i, lag
    return best
