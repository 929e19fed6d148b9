"""Double progressive widening: few actions of a node and few outcomes of an action, more of both with every visit.

A. Couetoux, J.-B. Hoock, N. Sokolovska, O. Teytaud, N. Bonnard, "Continuous Upper Confidence Trees" (2011). Actions
widen as in ``progressive_widening``; with ``exponent=1`` all of them are tried, as by UCB1. What chance makes of an
action that was chosen n times is drawn anew while fewer than ``outcomes * n ** outcome_exponent`` nodes came of it;
after that a draw of before is made once more, and the descent goes on in the node that it led to. All draws are alike:
an outcome comes again in proportion to how often it came by chance. Theirs takes each in proportion to all of its
visits, so that what came first comes ever more often.

A node of a closed loop is a state without the chance to come, and a state draws chance from a stream that lies within
it. So a draw is the seed of that stream, and no state is stored: the i-th draw after an action is a hash of i, the key
of the node, what all players do, and a secret of the tree. Beside an edge stand only how many draws there were and how
many nodes came of them. After the step the state goes on with the stream that the simulation began with, so that what
comes later is not repeated with it, and nothing is foreseen.

It is for games of ours and of the contract, whose default loop with it is ``"closed"``; in an open loop an action has
one outcome, and over information sets a draw would tell what is hidden: there only actions widen. Where several choose
at once, outcomes are counted beside the edge of the first of them. Those who follow a model are drawn for anew.
"""

import numpy as np

from agents.policies.parameters import Parameter, parameter_record
from agents.policies.progressive_widening import PARAMETERS as OF_ACTIONS
from agents.policies.progressive_widening import progressive_widening
from agents.policies.signatures import BACKUP, REDRAW, SELECT, Candidates, policy
from agents.search.records import Path, Settings, Store, Work, step_of_path
from agents.search.tree import EDGE, NODE, Tree
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import kernel, row, word
from mcts_envs.core.rng import below, combine, seed_stream
from mcts_envs.core.typing import Bytes

PARAMETERS = {
    **OF_ACTIONS,
    "outcomes": Parameter(1.0, 0.0, 1e9, "After n visits, an action has outcomes * n ** outcome_exponent outcomes."),
    "outcome_exponent": Parameter(0.5, 0.0, 1.0, "How fast outcomes become more."),
}
WIDENING = parameter_record(PARAMETERS)
DRAWS, OUTCOMES = range(2)
"""What is kept for an edge: how often chance was drawn anew after it, and the nodes that came of it."""


def _secret(game: Game) -> int:
    """What is kept for the tree: a number from which its draws are made, so that two trees draw differently.

    Raises
    ------
    ValueError
        If states are no bytes, as in environments of others.
    """
    if game.plain_lists:
        raise ValueError(
            "select='double_progressive_widening' is for games of ours, whose chance lies in their states; "
            f"{game.name} is not one: take 'progressive_widening'"
        )
    return 1


@kernel()
def _is_due(store: Store, edge: int, visits: int) -> bool:
    """Return whether chance is drawn anew after an edge with so many visits."""
    given, known = row(store.parameters, 0, WIDENING), store.per_edge
    most = given.outcomes * float(visits) ** given.outcome_exponent
    return bool(known[edge, DRAWS] == 0.0 or known[edge, OUTCOMES] < most)


@kernel(REDRAW)
def draw_again(tree: Tree, work: Work, path: Path, depth: int) -> None:
    """Seed the chance of a step for a new draw, or for one of those of before."""
    store, edge = tree.select, 0
    for player in range(len(path.via) - 1, -1, -1):
        edge = path.via[player] if path.via[player] else edge
    if edge == 0:
        return
    if store.per_tree[0] == 0.0:
        store.per_tree[0] = 1.0 + float(word(work.stream, 0) >> np.uint64(12))  # looked at, not drawn: may be undone
    draws = int(store.per_edge[edge, DRAWS])
    if not _is_due(store, edge, row(tree.edges, edge, EDGE).visits):
        draws = below(work.stream, draws)
    seed = combine(np.uint64(store.per_tree[0]), row(tree.nodes, path.nodes[depth], NODE).key)
    for player in range(len(work.actions)):
        seed = combine(seed, np.uint64(work.actions[player]))
    seed_stream(work.state, combine(seed, np.uint64(draws)))


@kernel(BACKUP)
def count_outcomes(tree: Tree, how: Settings, work: Work, path: Path, depth: int, length: int) -> None:
    """Count the new draws of a path, and the node at its end if it is new."""
    for t in range(depth if how.redraws else 0):
        edge = 0
        for player in range(len(path.via) - 1, -1, -1):
            chosen = step_of_path(path, t, player).edge
            edge = chosen if chosen else edge
        if edge == 0:
            continue
        if _is_due(tree.select, edge, row(tree.edges, edge, EDGE).visits - 1):
            tree.select.per_edge[edge, DRAWS] += 1.0
        end = t + 1
        while end < depth and path.nodes[end] == 0:
            end += 1  # within an option
        if path.nodes[end] and row(tree.nodes, path.nodes[end], NODE).visits == 1:
            tree.select.per_edge[edge, OUTCOMES] += 1.0


@policy(SELECT, prior=True, parameters=PARAMETERS, edge=2, tree=_secret, update=count_outcomes, redraw=draw_again)
def double_progressive_widening(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Select as ``progressive_widening`` does; in a closed loop, outcomes of chance widen too."""
    return progressive_widening(candidates, store, stream)
