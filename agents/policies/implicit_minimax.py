"""Implicit minimax backups: a heuristic value, backed up by minimax, beside the mean of the returns.

M. Lanctot, M. Winands, T. Pepels, N. Sturtevant, "Monte Carlo Tree Search with Heuristic Evaluations using Implicit
Minimax Backups" (2014): every action has a mean of returns, and v, what the game's ``evaluate`` says of the state at
the end of the path, backed up by the best reply; it counts ``(1 - alpha) mean + alpha v``. Rollouts stay as they are.

v of a node is that of the best action there for whoever chooses, with what it means to all others (max^n); theirs adds
all actions of a node at once, here it is the best of those that were tried. Players who choose at the same time each
count on their best. v of an action is what came of it last: where chance decides, that is one of its outcomes.
"""

import math
from typing import Any

from agents.policies.parameters import Parameter, exploration, parameter_record
from agents.policies.signatures import BACKUP, LEAF, SELECT, Candidates, nth, policy
from agents.policies.ucb1 import in_returns, total_visits, untried
from agents.search.records import Path, Settings, Store, Work, step_of_path
from agents.search.tree import EDGE, Tree, seat_of
from mcts_envs.core.compiling.table import active_of, evaluate_of, status_of
from mcts_envs.core.contract import RUNNING, Game
from mcts_envs.core.kernel import kernel, row
from mcts_envs.core.typing import Bytes

PARAMETERS = {**exploration(), "alpha": Parameter(0.4, 0.0, 1.0, "Weight of the value that is backed up by minimax.")}
IMPLICIT = parameter_record(PARAMETERS)


def _values(game: Game) -> int:
    """What is kept for an edge, and at a path's end: v for every player."""
    return game.players


@kernel(LEAF)
def value_leaf(game: Any, work: Work, store: Store) -> None:
    """Note what the state at the end of a path is worth to each player; 0 to those whose game is over."""
    worth = store.per_tree
    for player in range(len(worth)):
        worth[player] = 0.0
    if active_of(game)(work.state):
        evaluate_of(game)(work.state, work.rewards)
        for player in range(len(worth)):
            if status_of(game)(work.state, player) == RUNNING:
                worth[player] = work.rewards[player] - work.base[player]


@kernel()
def _best(tree: Tree, node: int, player: int) -> int:
    """Return the edge with the greatest v for its player at a node."""
    best, edge = 0, int(seat_of(tree, node, player).head)
    while edge:
        known = row(tree.edges, edge, EDGE)
        if known.visits > 0 and (best == 0 or tree.select.per_edge[edge, player] > tree.select.per_edge[best, player]):
            best = edge
        edge = int(known.next)
    return best


@kernel(BACKUP)
def back_up_values(tree: Tree, how: Settings, work: Work, path: Path, depth: int, length: int) -> None:
    """Walk the path backwards with the value of its end: each action has what came of it, each node its best."""
    kept, worth = tree.select.per_edge, tree.select.per_tree
    for t in range(depth - 1, -1, -1):
        choosing, alone = 0, 0
        for player in range(len(worth)):
            worth[player] = step_of_path(path, t, player).reward + how.discount * worth[player]
        for player in range(len(worth)):
            edge = step_of_path(path, t, player).edge
            if edge:
                choosing += 1
                alone = player
                for other in range(len(worth)):
                    kept[edge, other] = worth[other]
        if choosing == 1:
            best = _best(tree, path.nodes[t], alone)
            for player in range(len(worth)):
                worth[player] = kept[best, player]
        elif choosing > 1:
            for player in range(len(worth)):
                if step_of_path(path, t, player).edge:
                    worth[player] = kept[_best(tree, path.nodes[t], player), player]


@policy(SELECT, parameters=PARAMETERS, edge=_values, tree=_values, update=back_up_values, leaf=value_leaf)
def implicit_minimax(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Try untried actions first, then take the greatest ``(1 - alpha) mean + alpha v + c sqrt(ln N / n)``."""
    alpha = row(store.parameters, 0, IMPLICIT).alpha
    c, fpu = in_returns(candidates, store)
    first = untried(candidates, fpu, stream)
    if first >= 0:
        return first
    spread, best, greatest = c * math.sqrt(math.log(total_visits(candidates))), 0, -math.inf
    for i in range(candidates.k):
        it, bound = nth(candidates, i), fpu
        if it.visits > 0:
            bound = (1.0 - alpha) * it.sums / it.visits + alpha * store.per_edge[it.edge, candidates.player]
            bound += spread * math.sqrt(1.0 / it.visits)
        if bound > greatest:
            best, greatest = i, bound
    return best
