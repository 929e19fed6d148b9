"""Move-average sampling: rollouts that prefer the actions which have gone well anywhere in this search.

H. Finnsson, Y. Bjornsson, "Simulation-Based Approach to General Game Playing" (2008), in the epsilon-greedy form of
M. Tak, M. Winands, Y. Bjornsson, "N-Grams and the Last-Good-Reply Policy Applied in General Game Playing" (2012).
"""

from typing import Any

from agents.policies.parameters import Parameter, parameter_record
from agents.policies.signatures import BACKUP, SIMULATE, policy
from agents.search.records import Path, Settings, Store, Work
from agents.search.tree import Tree
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import kernel, row
from mcts_envs.core.rng import below, coin

PARAMETERS = {"epsilon": Parameter(0.4, 0.0, 1.0, "How often an action is drawn uniformly instead.")}
MAST = parameter_record(PARAMETERS)


def _averages(game: Game) -> int:
    """Visits and returns for every player and action: [P, A, 2]."""
    return 2 * game.players * game.actions


@kernel(BACKUP)
def update_averages(tree: Tree, how: Settings, work: Work, path: Path, depth: int, length: int) -> None:
    """Credit every action of the simulation with its player's return from the root."""
    averages = tree.simulate.per_tree
    for t in range(length):
        for player in range(len(work.values)):
            if work.played[t, player] >= 0:
                entry = 2 * (player * len(work.legal) + work.played[t, player])
                averages[entry] += 1.0
                averages[entry + 1] += work.values[player]


@kernel()
def _best(work: Work, store: Store, player: int, k: int) -> int:
    """Return the legal action with the best average; a random one of those that were never played comes first."""
    best, greatest, untried = work.legal[0], 0.0, 0
    for i in range(k):
        entry = 2 * (player * len(work.legal) + work.legal[i])
        if store.per_tree[entry] == 0.0:
            untried += 1
            if below(work.stream, untried) == 0:
                best = work.legal[i]
        elif untried == 0:
            average = store.per_tree[entry + 1] / store.per_tree[entry]
            if i == 0 or average > greatest:
                best, greatest = work.legal[i], average
    return int(best)


@policy(SIMULATE, parameters=PARAMETERS, tree=_averages, update=update_averages)
def mast(game: Any, how: Settings, work: Work, store: Store, player: int, k: int) -> int:
    """Let everybody choose what has the best average so far, or, with probability ``epsilon``, uniformly."""
    if coin(work.stream, row(store.parameters, 0, MAST).epsilon):
        return int(work.legal[below(work.stream, k)])
    return _best(work, store, player, k)
