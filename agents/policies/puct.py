"""PUCT: mean plus ``c P sqrt(N) / (1 + n)``, for n of the N visits of a node and a prior probability P.

C. Rosin, "Multi-armed bandits with episode context" (2011), in the form of D. Silver et al., "Mastering the game of Go
with deep neural networks and tree search" (2016). The prior is what the game advises.

With ``c_base`` it is AlphaZero's (D. Silver et al., "A general reinforcement learning algorithm that masters chess,
shogi, and Go through self-play", 2018, and its pseudocode): c grows with the visits, as ``c + log((1 + N + c_base) /
c_base)`` (c = 1.25, c_base = 19652), and N counts the visit that made the node too. ``dirichlet_alpha`` adds its noise
to the prior at the root, for self-play; an untried action counts 0 there, which is ``fpu=0`` with ``normalize=False``.
"""

import math

import numpy as np

from agents.policies.parameters import Parameter, exploration, parameter_record
from agents.policies.signatures import SELECT, Candidates, nth, policy
from agents.policies.ucb1 import in_returns, unit
from agents.search.records import Store
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import kernel, record, row
from mcts_envs.core.rng import CHANCE, combine, seed_stream, uniform
from mcts_envs.core.typing import Bytes

PARAMETERS = {
    **exploration(c=1.25),
    "c_base": Parameter(None, 1.0, 1e9, "Visits by which c grows, AlphaZero's 19652; None: c is constant."),
    "dirichlet_alpha": Parameter(
        None, 0.01, 1e6, "Concentration of the Dirichlet noise in the prior of the root; None: no noise."
    ),
    "dirichlet_fraction": Parameter(0.25, 0.0, 1.0, "Share of that noise in the prior."),
}
_GIVEN = parameter_record(PARAMETERS)
_NOISE = np.uint64(0xD1C4)
_LEAST = 1e-300


@kernel()
def _gamma(stream: Bytes, alpha: float) -> float:
    """Return a number from the gamma distribution of this shape and scale 1.

    G. Marsaglia, W. Tsang, "A Simple Method for Generating Gamma Variables" (2000); normal numbers by Box and Muller.
    """
    d = (alpha if alpha >= 1.0 else alpha + 1.0) - 1.0 / 3.0
    while True:
        radius = math.sqrt(-2.0 * math.log(1.0 - uniform(stream)))
        x = radius * math.cos(2.0 * math.pi * uniform(stream))
        t = 1.0 + x / math.sqrt(9.0 * d)
        v = t * t * t
        if v > 0.0 and math.log(1.0 - uniform(stream)) < 0.5 * x * x + d - d * v + d * math.log(v):
            break
    boost = 1.0 if alpha >= 1.0 else (1.0 - uniform(stream)) ** (1.0 / alpha)
    return max(d * v * boost, _LEAST)


@kernel()
def _add_noise(candidates: Candidates, store: Store, stream: Bytes, weights: float) -> None:
    """Mix Dirichlet noise, which a tree draws once for an action, into the prior of the root.

    It has chance of its own, so that a search that has to wait for a network and begins anew goes on as if it had not.
    """
    given, drawn, total = row(store.parameters, 0, _GIVEN), store.per_tree, 0.0
    chance = record(stream, CHANCE)
    before = np.uint64(chance.stream)
    seed_stream(stream, combine(before, _NOISE))
    for i in range(candidates.k):
        action = nth(candidates, i).action
        if drawn[action] == 0.0:
            drawn[action] = _gamma(stream, given.dirichlet_alpha)
        total += drawn[action]
    chance.stream = before
    fraction = given.dirichlet_fraction
    for i in range(candidates.k):
        known = nth(candidates, i)
        prior = known.prior / weights if weights > 0.0 else 1.0 / candidates.k
        known.prior = (1.0 - fraction) * prior + fraction * drawn[known.action] / total


def _actions(game: Game) -> int:
    return game.actions


@policy(SELECT, prior=True, parameters=PARAMETERS, tree=_actions, lasting=False)
def puct(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Take the greatest bound; an action without a visit counts the mean of the node, or ``fpu`` if it is given."""
    c, fpu = in_returns(candidates, store)
    given = row(store.parameters, 0, _GIVEN)
    total, weights, seen = 0.0, 0.0, 0
    for i in range(candidates.k):
        seen += nth(candidates, i).visits
        total += nth(candidates, i).sums
        weights += nth(candidates, i).prior
    if not math.isnan(given.dirichlet_alpha) and candidates.searching and candidates.depth == 0:
        _add_noise(candidates, store, stream, weights)
        weights = 1.0
    visits = max(1, seen)
    unseen = total / visits if math.isnan(fpu) else fpu
    if not math.isnan(given.c_base):
        visits = seen + 1
        c += math.log((1.0 + visits + given.c_base) / given.c_base) * unit(candidates, store)
    share = c * math.sqrt(visits) / (weights if weights > 0.0 else float(candidates.k))
    best, greatest = 0, -math.inf
    for i in range(candidates.k):
        n = nth(candidates, i).visits
        value = nth(candidates, i).sums / n if n > 0 else unseen
        bound = value + share * (nth(candidates, i).prior if weights > 0.0 else 1.0) / (1 + n)
        if bound > greatest:
            best, greatest = i, bound
    return best
