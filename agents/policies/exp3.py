"""Exp3: exponential weights, for players who choose at the same time.

P. Auer, N. Cesa-Bianchi, Y. Freund, R. Schapire, "The Nonstochastic Multiarmed Bandit Problem" (2002), section 3: an
action is drawn with probability ``p = (1 - gamma) w / sum(w) + gamma / k``, where ``w = exp(gamma G / k)`` and G is the
sum of ``x / p`` over the times that it was drawn and found x, in [0, 1]. Between two players who each follow it the
shares of the actions drawn near an equilibrium: M. Lanctot, V. Lisy, M. Winands, "Monte Carlo Tree Search in
Simultaneous Move Games with Applications to Goofspiel" (2013). So the move to play is drawn by visits,
``recommend="mixed"``; what UCB1 plays most may be none of it.

x is a return, counted in the range of those seen so far: sums are kept in returns, and scaled when they are used. An
action without a visit is tried first, which counts for nothing.
"""

import math
from typing import Any

from agents.policies.parameters import Parameter, parameter_record
from agents.policies.signatures import BACKUP, LEAF, SELECT, Candidates, nth, policy
from agents.policies.ucb1 import untried
from agents.search.records import Path, Settings, Store, Work, step_of_path
from agents.search.tree import Tree
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import kernel, row
from mcts_envs.core.rng import uniform
from mcts_envs.core.typing import Bytes

PARAMETERS = {"gamma": Parameter(0.1, 1e-3, 1.0, "Share of uniform choice.")}
MIXED = parameter_record(PARAMETERS)

CHANCE, GAINS, SHARES, RETURNS, DRAWN, LAST = range(6)
"""What is kept for an edge: the probability p with which it was drawn last; the sums of x / p, of 1 / p and of x; how
often it was drawn, and in which simulation last. For the whole tree simulations are counted, dropped ones too."""


def _begun(game: Game) -> int:
    return 1


@kernel(LEAF)
def count_begun(game: Any, work: Work, store: Store) -> None:
    """Count the simulation, whether it is backed up or dropped."""
    store.per_tree[0] += 1.0


@kernel(BACKUP)
def add_gains(tree: Tree, how: Settings, work: Work, path: Path, depth: int, length: int) -> None:
    """Add what was found to the sums of the actions that this simulation drew: a model, or a first try, has no p."""
    for t in range(depth):
        for player in range(len(path.via)):
            step = step_of_path(path, t, player)
            if step.edge and tree.select.per_edge[step.edge, LAST] == tree.select.per_tree[0]:
                chance = tree.select.per_edge[step.edge, CHANCE]
                tree.select.per_edge[step.edge, GAINS] += step.value / chance
                tree.select.per_edge[step.edge, SHARES] += 1.0 / chance
                tree.select.per_edge[step.edge, RETURNS] += step.value
                tree.select.per_edge[step.edge, DRAWN] += 1.0


@kernel()
def drawn(candidates: Candidates, store: Store, i: int, chance: float) -> int:
    """Note with which probability an action is drawn, and return it."""
    edge = nth(candidates, i).edge
    store.per_edge[edge, CHANCE] = chance
    store.per_edge[edge, LAST] = store.per_tree[0] + 1.0
    return i


@kernel()
def gain(candidates: Candidates, store: Store, i: int) -> float:
    """Return the sum of x / p of an action, x in [0, 1]."""
    edge, scale = nth(candidates, i).edge, candidates.high - candidates.low
    if edge == 0 or scale <= 0.0:
        return 0.0
    return float((store.per_edge[edge, GAINS] - candidates.low * store.per_edge[edge, SHARES]) / scale)


DRAWING: dict[str, Any] = {"edge": 6, "tree": _begun, "update": add_gains, "leaf": count_begun}
"""What a selection needs that asks :func:`gain`, and notes what is :func:`drawn`."""


@policy(SELECT, parameters=PARAMETERS, **DRAWING)
def exp3(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Try untried actions first, then draw one by exponential weights."""
    first = untried(candidates, math.nan, stream)
    if first >= 0:
        return first
    k, gamma, most, total = candidates.k, row(store.parameters, 0, MIXED).gamma, -math.inf, 0.0
    for i in range(k):
        most = max(most, gain(candidates, store, i))
    for i in range(k):
        total += math.exp(gamma * (gain(candidates, store, i) - most) / k)
    point, chosen, chance = uniform(stream), k - 1, 1.0
    for i in range(k):
        chance = (1.0 - gamma) * math.exp(gamma * (gain(candidates, store, i) - most) / k) / total + gamma / k
        point -= chance
        if point < 0.0:
            chosen = i
            break
    return drawn(candidates, store, chosen, chance)
