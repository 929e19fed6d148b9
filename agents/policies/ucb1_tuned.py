"""UCB1-Tuned: UCB1 whose exploration follows the variance of the returns seen.

P. Auer, N. Cesa-Bianchi, P. Fischer, "Finite-time Analysis of the Multiarmed Bandit Problem" (2002), section 4: the
bound of an action with n of the N visits is ``mean + c sqrt(ln N / n min(1/4, V))``, where ``V`` is the variance of its
returns plus ``sqrt(2 ln N / n)``, and 1/4 is the greatest variance that returns in [0, 1] can have. Here both count in
squares of the range of the returns seen, and c = 1 is theirs.
"""

import math

from agents.policies.parameters import exploration
from agents.policies.signatures import BACKUP, SELECT, Candidates, nth, policy
from agents.policies.ucb1 import in_returns, total_visits, unit, untried
from agents.search.records import Path, Settings, Store, Work, step_of_path
from agents.search.tree import Tree
from mcts_envs.core.kernel import kernel
from mcts_envs.core.typing import Bytes

SUM, SQUARES = range(2)
"""What is kept for an edge: the sum of its returns, which noise does not vary, and that of their squares."""


@kernel(BACKUP)
def add_squares(tree: Tree, how: Settings, work: Work, path: Path, depth: int, length: int) -> None:
    """Add the returns and their squares to the edges of the path."""
    for t in range(depth):
        for player in range(len(path.via)):
            step = step_of_path(path, t, player)
            if step.edge:
                tree.select.per_edge[step.edge, SUM] += step.value
                tree.select.per_edge[step.edge, SQUARES] += step.value * step.value


@policy(SELECT, parameters=exploration(c=1.0), edge=2, update=add_squares)
def ucb1_tuned(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Try untried actions first, then take the greatest ``mean + c sqrt(ln N / n min(1/4, V))``."""
    c, fpu = in_returns(candidates, store)
    first = untried(candidates, fpu, stream)
    if first >= 0:
        return first
    squared = unit(candidates, store) ** 2
    log, best, greatest = math.log(total_visits(candidates)), 0, -math.inf
    for i in range(candidates.k):
        it, bound = nth(candidates, i), fpu
        if it.visits > 0:
            mean = store.per_edge[it.edge, SUM] / it.visits
            variance = max(0.0, store.per_edge[it.edge, SQUARES] / it.visits - mean * mean)  # rounding may go below 0
            spread = min(0.25, variance / squared + math.sqrt(2.0 * log / it.visits))
            bound = it.sums / it.visits + c * math.sqrt(log / it.visits * spread)
        if bound > greatest:
            best, greatest = i, bound
    return best
