"""Mean backup: the value of an action is the mean of the returns after it."""

from agents.policies.signatures import BACKUP, policy
from agents.search.records import Path, Settings, Work, step_of_path
from agents.search.tree import EDGE, RANGE, Tree
from mcts_envs.core.kernel import kernel, row


@kernel()
def add_returns(tree: Tree, path: Path, depth: int) -> None:
    """Add each player's return to every edge of the path (C. Browne et al. 2012, algorithm 2)."""
    for t in range(depth):
        for player in range(len(path.via)):
            step = step_of_path(path, t, player)
            if step.edge:
                edge = row(tree.edges, step.edge, EDGE)
                edge.visits += 1
                edge.sums += step.value
                seen = row(tree.ranges, player, RANGE)
                seen.low, seen.high = min(seen.low, step.value), max(seen.high, step.value)


@policy(BACKUP)
def mean(tree: Tree, how: Settings, work: Work, path: Path, depth: int, length: int) -> None:
    """Take every action for the mean of the returns after it."""
    add_returns(tree, path, depth)
