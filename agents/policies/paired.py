"""Paired differences: how far every first action is ahead of a control action that met the same chance.

Where several actions are simulated with common random numbers, their returns move together, and the difference between
two of them varies far less than either (A. Law, "Simulation Modeling and Analysis", chapter 11).
"""

from agents.policies.mean import add_returns
from agents.policies.signatures import BACKUP, policy
from agents.tree import WIDTH, Tree, Work
from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Floats

PLAYER, CONTROL, RETURN = range(3)
"""Places in ``shared``: who searches, the control action (both set before the search), its return in this pass."""


def _shared(game: Game) -> int:
    return 3


@policy(BACKUP, edge=3, tree=_shared)
def paired(tree: Tree, work: Work, shared: Floats, depth: int, length: int, column: int, discount: float) -> None:
    """Take the mean of returns, and keep number, sum and sum of squares of each first action's differences.

    The control action has to come first in every pass.
    """
    add_returns(tree, work, depth)
    player = int(shared[PLAYER])
    if depth == 0 or not work.path_edge[player]:
        return
    if work.played[player] == shared[CONTROL]:
        shared[RETURN] = work.path_return[player]
    else:
        difference = work.path_return[player] - shared[RETURN]
        place = work.path_edge[player] * tree.counters[WIDTH] + column
        tree.own[place] += 1.0
        tree.own[place + 1] += difference
        tree.own[place + 2] += difference * difference
