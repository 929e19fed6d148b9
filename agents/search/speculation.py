"""Looking ahead while one tree waits for a network: the leaves that it will probably ask for go into the same batch.

The simulation that waits is taken to have lost, and others are begun, which therefore turn elsewhere (virtual loss:
G. Chaslot, M. Winands, H. J. van den Herik 2008, "Parallel Monte-Carlo Tree Search"). Then all is undone, and when the
answers are there the simulations are made again one after another: so the tree is that of a search which waits for each
answer, and all that virtual losses cost is answers that nobody needs.
"""

from agents.evaluator.consult import QUESTIONS, TRAIL
from agents.search.records import Path, step_of_path
from agents.search.tree import EDGE, RANGE, Tree
from mcts_envs.core.kernel import kernel, row


@kernel()
def lose(questions: int, tree: Tree, path: Path, depth: int) -> bool:
    """Count a lost simulation in the edges of a path; False if there is no room to note what they were."""
    asked, players = row(questions, 0, QUESTIONS), len(path.via)
    if asked.trail + depth * players > asked.trail_room:
        return False
    for t in range(depth):
        for player in range(players):
            edge = step_of_path(path, t, player).edge
            if edge:
                known, was = row(tree.edges, edge, EDGE), row(asked.trail_at, asked.trail, TRAIL)
                was.edge, was.visits, was.sums = edge, known.visits, known.sums
                asked.trail += 1
                seen = row(tree.ranges, player, RANGE)
                known.visits += 1
                known.sums += seen.low if seen.low <= seen.high else 0.0
    return True


@kernel()
def undo(questions: int, tree: Tree) -> None:
    """Take all losses back."""
    asked = row(questions, 0, QUESTIONS)
    while asked.trail > 0:
        asked.trail -= 1
        was = row(asked.trail_at, asked.trail, TRAIL)
        known = row(tree.edges, was.edge, EDGE)
        known.visits, known.sums = was.visits, was.sums
