"""Generalized rapid action value estimation (GRAVE): all moves as first, of the closest ancestor that knows enough.

T. Cazenave, "Generalized Rapid Action Value Estimation" (2015). RAVE credits an action with the simulations of its own
node in which it came later on; where a node has few visits, that is little. GRAVE borrows the credit of the closest
ancestor of the same player with more than ``reference`` visits, the node itself included. An action with n visits and
m credited simulations counts ``(1 - b) mean + b mean as first``, ``b = m / (m + n + credit_bias m n)``; one without a
visit counts its mean as first, and one without either comes before all. There is no exploration term (c = 0).

An ancestor knows the actions that were tried there; of one that was not legal there it knows nothing.
"""

import math
from typing import Any

from agents.policies.parameters import Parameter, exploration, parameter_record
from agents.policies.rave import CREDITED, RETURNS, credit_all_moves
from agents.policies.signatures import LEAF, SELECT, Candidates, nth, policy
from agents.policies.ucb1 import in_returns, total_visits
from agents.search.records import Store, Work
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import kernel, row
from mcts_envs.core.rng import below
from mcts_envs.core.typing import Bytes

PARAMETERS = {
    **exploration(c=0.0),
    "reference": Parameter(50.0, 0.0, 1e9, "Visits that an ancestor needs more than, to lend its credit."),
    "credit_bias": Parameter(1e-10, 0.0, 1.0, "How fast credit counts less than visits do."),
}
GRAVE = parameter_record(PARAMETERS)

MET, CREDIT = range(2)
"""What is kept for a player: whether its reference was met on this way down; then, for every action, by how many
simulations it was credited there, and with which sum of returns. Before the players of all come the marks of RAVE."""


def _references(game: Game) -> int:
    """The marks of RAVE, and the reference of every player."""
    return 1 + game.players * game.actions + game.players * (CREDIT + 2 * game.actions)


@kernel()
def _place(actions: int, players: int, player: int) -> int:
    """Return where the reference of a player begins."""
    return 1 + players * actions + player * (CREDIT + 2 * actions)


@kernel(LEAF)
def forget(game: Any, work: Work, store: Store) -> None:
    """Forget all references at the end of a way down: none is another simulation's, though this one is dropped."""
    players = len(work.values)
    for player in range(players):
        store.per_tree[_place(len(work.legal), players, player) + MET] = 0.0


@kernel()
def _refer(candidates: Candidates, store: Store, place: int) -> None:
    """Take the node for the reference of its player."""
    store.per_tree[place + MET] = 1.0
    for i in range(2 * candidates.actions):
        store.per_tree[place + CREDIT + i] = 0.0
    for i in range(candidates.k):
        edge = nth(candidates, i).edge
        if edge:
            known = place + CREDIT + 2 * nth(candidates, i).action
            store.per_tree[known] = store.per_edge[edge, CREDITED]
            store.per_tree[known + 1] = store.per_edge[edge, RETURNS]


@kernel()
def _unknown(candidates: Candidates, store: Store, place: int, stream: Bytes) -> int:
    """Return a random action with neither a visit nor credit; -1 if there is none."""
    found, count = -1, 0
    for i in range(candidates.k):
        known = nth(candidates, i)
        if known.visits == 0 and store.per_tree[place + CREDIT + 2 * known.action] == 0.0:
            count += 1
            if below(stream, count) == 0:
                found = i
    return found


@policy(SELECT, parameters=PARAMETERS, edge=2, tree=_references, update=credit_all_moves, leaf=forget)
def grave(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Try what has neither a visit nor credit first, then the greatest ``(1 - b) mean + b mean as first``.

    With ``c`` above 0, ``c sqrt(ln N / n)`` is added for n of N visits; with ``fpu``, an action without a visit counts
    that.
    """
    given = row(store.parameters, 0, GRAVE)
    c, fpu = in_returns(candidates, store)
    players = (len(store.per_tree) - 1) // (CREDIT + 3 * candidates.actions)
    place, total = _place(candidates.actions, players, candidates.player), total_visits(candidates)
    if total > given.reference or store.per_tree[place + MET] == 0.0:
        _refer(candidates, store, place)
    first = _unknown(candidates, store, place, stream) if math.isnan(fpu) else -1
    if first >= 0:
        return first
    spread, best, greatest = c * math.sqrt(math.log(total)), 0, -math.inf
    for i in range(candidates.k):
        known = nth(candidates, i)
        credit = place + CREDIT + 2 * known.action
        m, n, bound = store.per_tree[credit], known.visits, fpu
        if n > 0 or (math.isnan(fpu) and m > 0.0):
            weight = m / (m + n + given.credit_bias * m * n)
            bound = weight * store.per_tree[credit + 1] / m if m > 0.0 else 0.0
            bound += ((1.0 - weight) * known.sums / n + spread * math.sqrt(1.0 / n)) if n > 0 else 0.0
        if bound > greatest:
            best, greatest = i, bound
    return best
