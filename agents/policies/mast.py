"""Move-average sampling: rollouts that prefer the actions which have gone well anywhere in this search.

H. Finnsson, Y. Bjornsson, "Simulation-Based Approach to General Game Playing" (2008), in the epsilon-greedy form of
M. Tak, M. Winands, Y. Bjornsson, "N-Grams and the Last-Good-Reply Policy Applied in General Game Playing" (2012).
"""

from typing import Any

from agents.policies.rollout import advance, begin, evaluate_end, offer, take
from agents.policies.signatures import BACKUP, SIMULATE, policy
from agents.tree import Tree, Work
from mcts_envs.core.contract import Game, active_of
from mcts_envs.core.kernel import kernel
from mcts_envs.core.rng import below, coin
from mcts_envs.core.typing import Bytes, Floats

EPSILON = 0.4
"""How often an action is drawn uniformly instead."""


def _table(game: Game) -> int:
    """Visits and returns for every player and action: [P, A, 2]."""
    return 2 * game.players * game.actions


@kernel(BACKUP)
def update_averages(
    tree: Tree, work: Work, shared: Floats, depth: int, length: int, column: int, discount: float
) -> None:
    """Credit every action of the simulation with its player's return from the root."""
    players, actions = len(work.values), len(work.legal)
    for place in range(length * players):
        if work.played[place] >= 0:
            player = place % players
            entry = 2 * (player * actions + work.played[place])
            shared[entry] += 1.0
            shared[entry + 1] += work.values[player]


@kernel()
def _best(work: Work, shared: Floats, player: int, count: int, stream: Bytes) -> int:
    """Return the legal action with the best average; a random one of those that were never played comes first."""
    actions = len(work.legal)
    best, greatest, untried = work.legal[0], 0.0, 0
    for i in range(count):
        entry = 2 * (player * actions + work.legal[i])
        if shared[entry] == 0.0:
            untried += 1
            if below(stream, untried) == 0:
                best = work.legal[i]
        elif untried == 0:
            average = shared[entry + 1] / shared[entry]
            if i == 0 or average > greatest:
                best, greatest = work.legal[i], average
    return int(best)


@policy(SIMULATE, tree=_table, update=update_averages)
def mast(functions: Any, work: Work, shared: Floats, depth: int, limit: int, discount: float, stream: Bytes) -> int:
    """Let everybody choose what has the best average so far, or, with probability 0.4, uniformly."""
    begin(work)
    weight = 1.0
    for step in range(depth, depth + limit):
        bits = active_of(functions)(work.state)
        if bits == 0:
            return step - depth
        for player in range(len(work.values)):
            count = offer(functions, work, step, player, bits)
            if count == 0:
                continue
            if coin(stream, EPSILON):
                take(work, step, player, work.legal[below(stream, count)])
            else:
                take(work, step, player, _best(work, shared, player, count, stream))
        advance(functions, work, weight)
        weight *= discount
    evaluate_end(functions, work, weight)
    return limit
