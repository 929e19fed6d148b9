"""Progressive history: young actions are judged by how they did elsewhere in the tree.

After J. Nijssen, M. Winands, "Enhancements for Multi-Player Monte-Carlo Tree Search" (2010): a player's history of an
action is the mean return after it, wherever in the tree it was chosen; it counts less the more visits the action has at
the node itself. Theirs fades with the losses among these visits and is added as it is; here it fades with the visits,
and only what it is better than the mean of the node is added, which won 63 % of 60 games on wall survival against
adding all of it.

An action without a visit starts from the mean of the node as after one visit, so that not all of them have to be tried
before the best are looked at more closely: where hundreds are legal, that is what makes a deep tree. At the root all
are tried, lest a win at once be overlooked.
"""

import math

from agents.policies.signatures import BACKUP, SELECT, Options, policy
from agents.policies.ucb1 import total_visits, untried
from agents.tree import Tree, Work
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import kernel
from mcts_envs.core.typing import Bytes, Floats

WEIGHT = 0.3


def _histories(game: Game) -> int:
    """A count and a sum of returns for every player and action."""
    return 2 * game.players * game.actions


@kernel(BACKUP)
def _credit(tree: Tree, work: Work, shared: Floats, depth: int, length: int, column: int, discount: float) -> None:
    """Credit the actions of the path to the histories of their players."""
    players, actions = len(work.values), len(work.legal)
    for place in range(depth * players):
        if work.path_edge[place]:
            history = 2 * (place % players * actions + work.played[place])
            shared[history] += 1.0
            shared[history + 1] += work.path_return[place]


@policy(SELECT, tree=_histories, update=_credit, c=0.1)
def progressive_history(options: Options, stream: Bytes) -> int:
    """Take the greatest ``mean + c sqrt(ln N / n) + W (history - m) / n``, m the mean of the node, W = 0.3.

    An action without a visit has n = 1 and mean m (or ``fpu``, if it is given); one without a history has history m.
    """
    total, visits = 0.0, options.visits
    if options.depth == 0 and math.isnan(options.fpu):
        first = untried(options.k, visits, options.fpu, stream)
        if first >= 0:
            return first
    for i in range(options.k):
        total += options.sums[i]
    n = total_visits(options.k, visits)
    mean, spread = total / n, options.c * math.sqrt(math.log(n))
    unseen = mean if math.isnan(options.fpu) else options.fpu
    histories = 2 * options.player * len(options.legal)
    best, greatest = 0, -math.inf
    for i in range(options.k):
        history, share = histories + 2 * options.legal[i], 1.0 / max(1, visits[i])
        bound = unseen if visits[i] == 0 else options.sums[i] * share
        bound += spread * math.sqrt(share)
        count = options.shared[history]
        if count > 0.0:
            bound += WEIGHT * (options.shared[history + 1] / count - mean) * share
        if bound > greatest:
            best, greatest = i, bound
    return best
