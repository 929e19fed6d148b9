"""Paired differences: how far every first action is ahead of a control action that met the same chance.

Where several actions are simulated with common random numbers, their returns move together, and the difference between
two of them varies far less than either (A. Law, "Simulation Modeling and Analysis", chapter 11).
"""

from agents.policies.mean import add_returns
from agents.policies.parameters import Parameter, parameter_record
from agents.policies.signatures import BACKUP, policy
from agents.search.records import Path, Settings, Work, step_of_path
from agents.search.tree import Tree
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import row

PARAMETERS = {"control": Parameter(-1.0, -1, 1e9, "The action that all others are compared with; -1: none.")}
PAIRED = parameter_record(PARAMETERS)

COUNT, SUM, SQUARES = range(3)
"""What is kept for a first action: how many differences, their sum, and the sum of their squares."""


def _return(game: Game) -> int:
    """The return of the control action in this pass."""
    return 1


@policy(BACKUP, parameters=PARAMETERS, edge=3, tree=_return)
def paired(tree: Tree, how: Settings, work: Work, path: Path, depth: int, length: int) -> None:
    """Take the mean of returns, and keep the differences of each first action from the control.

    The control action has to come first in every pass.
    """
    add_returns(tree, path, depth)
    control, store = row(tree.backup.parameters, 0, PAIRED).control, tree.backup
    if depth == 0:
        return
    first = step_of_path(path, 0, how.player)
    if not first.edge:
        return
    if work.played[0, how.player] == control:
        store.per_tree[0] = first.value
    else:
        difference = first.value - store.per_tree[0]
        store.per_edge[first.edge, COUNT] += 1.0
        store.per_edge[first.edge, SUM] += difference
        store.per_edge[first.edge, SQUARES] += difference * difference
