"""Rapid action value estimation (RAVE): all moves as first.

S. Gelly, D. Silver, "Combining Online and Offline Knowledge in UCT" (2007). An action that was tried at a node is also
credited with the simulations in which its player took it later on, in the tree or in the rollout. This estimate is
biased, but there at once: it counts with weight ``sqrt(K / (3 N + K))`` after N visits of the node, and so fades as the
node's own statistics grow.
"""

import math

from agents.policies.parameters import Parameter, exploration, parameter_record
from agents.policies.signatures import BACKUP, SELECT, Candidates, nth, policy
from agents.policies.ucb1 import in_returns, total_visits, untried
from agents.search.records import Path, Settings, Store, Work, step_of_path
from agents.search.tree import EDGE, Tree, seat_of
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import kernel, row
from mcts_envs.core.typing import Bytes

PARAMETERS = {
    **exploration(),
    "equivalence": Parameter(
        1000.0, 0.0, 1e9, "K: the borrowed estimate weighs one half after K visits of a node; 0: no weight at all."
    ),
}
RAVE = parameter_record(PARAMETERS)

CREDITED, RETURNS = range(2)
"""What is kept for an edge: by how many simulations it was credited, and with which sum of returns."""


def _marks(game: Game) -> int:
    """A count of simulations; for every player and action the last simulation in which it was played."""
    return 1 + game.players * game.actions


@kernel(BACKUP)
def credit_all_moves(tree: Tree, how: Settings, work: Work, path: Path, depth: int, length: int) -> None:
    """Walk the simulation backwards; credit the edges at each node whose action its player took from there on."""
    marks, credit = tree.select.per_tree, tree.select.per_edge
    marks[0] += 1.0
    for t in range(length - 1, -1, -1):
        for player in range(len(work.values) - 1, -1, -1):
            first = 1 + player * len(work.legal)
            if work.played[t, player] >= 0:
                marks[first + work.played[t, player]] = marks[0]
            if t >= depth or not step_of_path(path, t, player).edge:
                continue
            edge = seat_of(tree, path.nodes[t], player).head
            while edge:
                found = row(tree.edges, edge, EDGE)
                if found.visits > 0 and marks[first + found.action] == marks[0]:
                    credit[edge, CREDITED] += 1.0
                    credit[edge, RETURNS] += step_of_path(path, t, player).value
                edge = found.next


@policy(SELECT, parameters=PARAMETERS, edge=2, tree=_marks, update=credit_all_moves)
def rave(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Try untried actions first, then the greatest ``(1 - b) mean + b mean as first + c sqrt(ln N / n)``."""
    given = row(store.parameters, 0, RAVE)
    c, fpu = in_returns(candidates, store)
    first = untried(candidates, fpu, stream)
    if first >= 0:
        return first
    total = total_visits(candidates)
    weight = math.sqrt(given.equivalence / (3.0 * total + given.equivalence))
    spread = c * math.sqrt(math.log(total))
    best, greatest = 0, -math.inf
    for i in range(candidates.k):
        bound = fpu
        if nth(candidates, i).visits > 0:
            edge = nth(candidates, i).edge
            mean, credited = nth(candidates, i).sums / nth(candidates, i).visits, store.per_edge[edge, CREDITED]
            if credited > 0.0:
                mean += weight * (store.per_edge[edge, RETURNS] / credited - mean)
            bound = mean + spread * math.sqrt(1.0 / nth(candidates, i).visits)
        if bound > greatest:
            best, greatest = i, bound
    return best
