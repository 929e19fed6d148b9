"""MCTS-Solver: wins and losses that are proved are no longer estimated.

M. Winands, Y. Bjornsson, J.-T. Saito, "Monte-Carlo Tree Search Solver" (2008). The return after an action is known when
the game ends there. It is known of a node when one of its actions is proved to win, or when all are proved: then it is
that of the best, and so is that of the action that led there. An action proved to win is always selected, one proved
to lose only where all others are too; the mean of a proved action is what was proved. After T. Cazenave, A. Saffidine,
"Score Bounded Monte-Carlo Tree Search" (2010), any return is proved, a tie too. ``recommend="proved"`` plays by it.

For games without chance, in which nothing is hidden: one outcome of chance proves nothing, and is not told from the
only one, so other games are refused. Nothing is proved where players choose at once, or others follow a fixed policy.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import types

from agents.policies.opponents import IN_TREE
from agents.policies.parameters import Parameter, exploration, parameter_record
from agents.policies.signatures import BACKUP, LEAF, SELECT, Candidates, needs_of, nth, policy
from agents.policies.ucb1 import in_returns, total_visits, untried
from agents.search.records import Path, Settings, Store, Work, step_of_path
from agents.search.tree import EDGE, ROOT, TREE, Tree, run_on, seat_of
from mcts_envs.core.compiling.table import active_of
from mcts_envs.core.contract import FLOATS, Game
from mcts_envs.core.kernel import kernel, row
from mcts_envs.core.typing import Bytes, Floats

if TYPE_CHECKING:
    from agents.search.running import Search

WIN = {"win": Parameter(1.0, -1e9, 1e9, "The return of a win: nothing better is looked for; a loss has minus that.")}
PARAMETERS = {**exploration(), **WIN}
SOLVER = parameter_record(PARAMETERS)

PROVED, RETURN = range(2)
"""What is kept for an edge: whether its return is proved, and then the return of every player."""

_DEPTHS = 1000
"""Steps of a path at most; for each is kept, until the simulation is backed up, 1 and how many actions of its node
were not proved when one was selected; 0 where none was. Behind them is kept whether the game was over at its end."""

_RETURNS = _DEPTHS + 1
"""Where the returns of a node that is proved are kept on the way back."""


def _returns(game: Game) -> int:
    return RETURN + game.players


def _notes(game: Game) -> int:
    """The notes of a path, and a return of every player."""
    return _RETURNS + game.players


@kernel(LEAF)
def note_end(game: Any, work: Work, store: Store) -> None:
    """Note whether a path ended with the game."""
    store.per_tree[_DEPTHS] = 0.0 if active_of(game)(work.state) else 1.0


@kernel()
def _mover(work: Work, path: Path, t: int) -> int:
    """Return who alone chose in a step of a path, by an edge; -1 if nobody did, or several."""
    mover, choosing = -1, 0
    for player in range(len(work.values)):
        if work.played[t, player] >= 0:
            choosing += 1
            mover = player
    return mover if choosing == 1 and step_of_path(path, t, mover).edge else -1


@kernel()
def _best_proved(tree: Tree, node: int, player: int) -> int:
    """Return the edge with the greatest proved return of a player at a node; 0 if there is none."""
    best, edge = 0, int(seat_of(tree, node, player).head)
    kept = tree.select.per_edge
    while edge:
        if kept[edge, PROVED] > 0.0 and (best == 0 or kept[edge, RETURN + player] > kept[best, RETURN + player]):
            best = edge
        edge = int(row(tree.edges, edge, EDGE).next)
    return best


@kernel(BACKUP)
def prove(tree: Tree, how: Settings, work: Work, path: Path, depth: int, length: int) -> None:
    """Walk the path backwards, and prove each action after which the return is known."""
    kept, notes = tree.select.per_edge, tree.select.per_tree
    win = row(tree.select.parameters, 0, SOLVER).win
    known = how.opponents == IN_TREE and notes[_DEPTHS] > 0.0
    for player in range(len(work.values)):
        notes[_RETURNS + player] = 0.0
    for t in range(depth - 1, -1, -1):
        mover, left = _mover(work, path, t), notes[t]
        notes[t] = 0.0
        edge = step_of_path(path, t, mover).edge if mover >= 0 else 0
        proved = edge > 0 and kept[edge, PROVED] > 0.0
        if edge and known and not proved:
            for player in range(len(work.values)):
                kept[edge, RETURN + player] = (
                    step_of_path(path, t, player).reward + how.discount * notes[_RETURNS + player]
                )
            kept[edge, PROVED] = 1.0
            left -= 1.0
            proved = True
        known = False
        if proved:
            taken = row(tree.edges, edge, EDGE)
            taken.sums = taken.visits * kept[edge, RETURN + mover]
            best = edge if kept[edge, RETURN + mover] >= win else 0
            if best == 0 and left == 1.0:
                best = _best_proved(tree, path.nodes[t], mover)
            known = best > 0
            for player in range(len(work.values)):
                notes[_RETURNS + player] = kept[best, RETURN + player]


@kernel()
def lost(candidates: Candidates, store: Store, i: int) -> bool:
    """Return whether an action is proved to lose."""
    edge = nth(candidates, i).edge
    if edge == 0 or store.per_edge[edge, PROVED] == 0.0:
        return False
    return bool(store.per_edge[edge, RETURN + candidates.player] <= -row(store.parameters, 0, SOLVER).win)


@kernel()
def settled(candidates: Candidates, store: Store) -> int:
    """Return the action to take if proofs decide: one that wins, or the best where all are proved; else -1.

    Selections ask it first: it notes what :func:`prove` has to know.
    """
    win, best, left = row(store.parameters, 0, SOLVER).win, -1, 0
    for i in range(candidates.k):
        edge = nth(candidates, i).edge
        if edge == 0 or store.per_edge[edge, PROVED] == 0.0:
            left += 1
        elif best < 0 or (
            store.per_edge[edge, RETURN + candidates.player]
            > store.per_edge[nth(candidates, best).edge, RETURN + candidates.player]
        ):
            best = i
    store.per_tree[candidates.depth] = 1.0 + left
    if best >= 0 and (left == 0 or store.per_edge[nth(candidates, best).edge, RETURN + candidates.player] >= win):
        return best
    return -1


PROVING: dict[str, Any] = {"edge": _returns, "tree": _notes, "update": prove, "leaf": note_end, "certain": True}
"""What a selection needs that asks :func:`settled` and :func:`lost`; it has the parameters of SOLVER first."""


@policy(SELECT, parameters=PARAMETERS, **PROVING)
def mcts_solver(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Take an action that is proved to win, or the best of those all proved; else UCB1 without the proved losses."""
    decided = settled(candidates, store)
    if decided >= 0:
        return decided
    c, fpu = in_returns(candidates, store)
    first = untried(candidates, fpu, stream)
    if first >= 0:
        return first
    spread, best, greatest = c * math.sqrt(math.log(total_visits(candidates))), -1, -math.inf
    for i in range(candidates.k):
        it, bound = nth(candidates, i), fpu
        if lost(candidates, store, i):
            continue
        if it.visits > 0:
            bound = it.sums / it.visits + spread * math.sqrt(1.0 / it.visits)
        if best < 0 or bound > greatest:
            best, greatest = i, bound
    return best


@kernel(types.void(TREE, types.int64, FLOATS))
def _read(tree: Tree, player: int, returns: Floats) -> None:
    """Fill in what is proved of the actions of a player at the root."""
    edge = int(seat_of(tree, ROOT, player).head)
    while edge:
        known = row(tree.edges, edge, EDGE)
        if tree.select.per_edge[edge, PROVED] > 0.0:
            returns[known.action] = tree.select.per_edge[edge, RETURN + player]
        edge = int(known.next)


def proofs(search: "Search") -> tuple[float, Floats]:
    """Return the return of a win, and that of each action at the root [A] as far as it is proved, else NaN.

    Raises
    ------
    ValueError
        If it selects by another policy.
    """
    if needs_of(search.plan.policies["select"]).update is not prove:
        raise ValueError(
            "recommend='proved' plays by what select='mcts_solver' or 'puct_solver' proves; this search has another"
        )
    returns = np.full(search.plan.model.actions, np.nan)
    for tree in search.trees:
        run_on(_read, tree, search.player, returns)
    return float(search.plan.parameters["win"]), returns
