"""Rapid action value estimation (RAVE): all moves as first.

S. Gelly, D. Silver, "Combining Online and Offline Knowledge in UCT" (2007). An action that was tried at a node is also
credited with the simulations in which its player took it later on, in the tree or in the rollout. This estimate is
biased, but there at once: it counts with weight ``sqrt(K / (3 N + K))`` after N visits of the node, and so fades as the
node's own statistics grow.
"""

import math

from agents.policies.signatures import BACKUP, SELECT, Options, policy
from agents.policies.ucb1 import total_visits, untried
from agents.tree import EDGE, WIDTH, Tree, Work
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import kernel, row
from mcts_envs.core.typing import Bytes, Floats

EQUIVALENCE = 1000.0
"""K: the visits of a node at which the borrowed estimate weighs one half."""


def _marks(game: Game) -> int:
    """A count of simulations; for every player and action the last simulation in which it was played."""
    return 1 + game.players * game.actions


@kernel(BACKUP)
def credit_all_moves(
    tree: Tree, work: Work, shared: Floats, depth: int, length: int, column: int, discount: float
) -> None:
    """Walk the simulation backwards, and credit every edge beside the path whose action was played from there on."""
    players, actions, width = len(work.values), len(work.legal), tree.counters[WIDTH]
    shared[0] += 1.0
    for place in range(length * players - 1, -1, -1):
        first = 1 + place % players * actions
        if work.played[place] >= 0:
            shared[first + work.played[place]] = shared[0]
        if place >= depth * players or not work.path_edge[place]:
            continue
        edge = tree.head[work.path_node[place // players] * players + place % players]
        while edge:
            found = row(tree.edges, edge, EDGE)
            if shared[first + found.action] == shared[0]:
                tree.own[edge * width + column] += 1.0
                tree.own[edge * width + column + 1] += work.path_return[place]
            edge = found.next


@policy(SELECT, edge=2, tree=_marks, update=credit_all_moves)
def rave(options: Options, stream: Bytes) -> int:
    """Try untried actions first, then the greatest ``(1 - b) mean + b mean as first + c sqrt(ln N / n)``."""
    k, visits = options.k, options.visits
    first = untried(k, visits, options.fpu, stream)
    if first >= 0:
        return first
    total = total_visits(k, visits)
    weight = math.sqrt(EQUIVALENCE / (3.0 * total + EQUIVALENCE))
    spread = options.c * math.sqrt(math.log(total))
    best, greatest = 0, -math.inf
    for i in range(k):
        bound = options.fpu
        if visits[i] > 0:
            mean, credited = options.sums[i] / visits[i], options.own[2 * i]
            if credited > 0.0:
                mean += weight * (options.own[2 * i + 1] / credited - mean)
            bound = mean + spread * math.sqrt(1.0 / visits[i])
        if bound > greatest:
            best, greatest = i, bound
    return best
