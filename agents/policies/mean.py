"""Mean backup: the value of an action is the mean of the returns after it."""

from agents.policies.signatures import BACKUP, policy
from agents.tree import EDGE, Tree, Work
from mcts_envs.core.kernel import kernel, row
from mcts_envs.core.typing import Floats


@kernel()
def add_returns(tree: Tree, work: Work, depth: int) -> None:
    """Add each player's return to every edge of the path (C. Browne et al. 2012, algorithm 2)."""
    players = len(work.values)
    for place in range(depth * players):
        if work.path_edge[place]:
            edge, value = row(tree.edges, work.path_edge[place], EDGE), work.path_return[place]
            edge.visits += 1
            edge.sums += value
            edge.squares += value * value
            player = place % players
            tree.bounds[2 * player] = min(tree.bounds[2 * player], value)
            tree.bounds[2 * player + 1] = max(tree.bounds[2 * player + 1], value)


@policy(BACKUP)
def mean(tree: Tree, work: Work, shared: Floats, depth: int, length: int, column: int, discount: float) -> None:
    """Take every action for the mean of the returns after it; the search has this one built in."""
    add_returns(tree, work, depth)
