"""The search tree: flat arrays, allocated once, indexed by node and edge ids that start at 1 (0: none)."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from mcts_envs.core.contract import BYTES, FLOATS, INTS, Game
from mcts_envs.core.typing import Bytes, Floats, Ints

Int32s = npt.NDArray[np.int32]
ROOT = 1
NODES, EDGES, SIMULATIONS, STEPS = range(4)
"""Places in ``Tree.counters``: nodes and edges in use plus 1, simulations and model steps made."""


class Tree(NamedTuple):
    """A search tree for P players with room for N nodes and E edges.

    A node is a situation in which players choose; an edge is one action of one player there. Where several players
    choose at once, each has edges of its own (decoupled statistics). The outcomes of an edge, or of a combination of
    edges, are found in one open-addressing table keyed by the node, the edges and, in a closed loop, the key of the
    state that came out.
    """

    head: Int32s  # [N, P] first edge of each player
    node_visits: Int32s  # [N]
    parent: Int32s  # [N]
    first: Int32s  # [N] first child
    sibling: Int32s  # [N] next child of the same parent
    action: Int32s  # [E]
    next: Int32s  # [E] next edge of the same node and player
    visits: Int32s  # [E]
    sums: Floats  # [E] sum of returns
    squares: Floats  # [E] sum of squared returns
    slot_key: npt.NDArray[np.uint64]  # [H]
    slot_node: Int32s  # [H]
    bounds: Floats  # [P, 2] least and greatest return seen
    counters: Ints  # [4]


class Work(NamedTuple):
    """Work arrays of one simulation, for A actions, P players and paths of up to D steps."""

    state: Bytes  # [size]
    legal: Ints  # [A]
    edge: Int32s  # [A] edge of an action at the present node
    visits: Ints  # [A] statistics of the k legal actions, gathered
    sums: Floats  # [A]
    squares: Floats  # [A]
    prior: Floats  # [A] zero: for policies with prior knowledge
    weights: Floats  # [A] preferences in rollouts
    actions: Ints  # [P]
    rewards: Floats  # [P]
    values: Floats  # [P]
    path_node: Int32s  # [D + 1]
    path_edge: Int32s  # [D + 1, P]
    path_reward: Floats  # [D + 1, P]


_I4 = types.int32[::1]
_I4_ROWS = types.int32[:, ::1]
_F8_ROWS = types.float64[:, ::1]
TREE = types.NamedTuple(
    (_I4_ROWS, _I4, _I4, _I4, _I4, _I4, _I4, _I4, FLOATS, FLOATS, types.uint64[::1], _I4, _F8_ROWS, INTS), Tree
)
WORK = types.NamedTuple(
    (BYTES, INTS, _I4, INTS, FLOATS, FLOATS, FLOATS, FLOATS, INTS, FLOATS, FLOATS, _I4, _I4_ROWS, _F8_ROWS), Work
)


def new_tree(players: int, nodes: int) -> Tree:
    """Return an empty tree with a root and room for ``nodes`` more nodes, 110 to 120 bytes each for one player."""
    n, e, h = nodes + 2, nodes * players + players + 1, 1 << max(4, (2 * nodes + 3).bit_length())
    bounds = np.tile([np.inf, -np.inf], (players, 1))
    counters = np.array([ROOT + 1, 1, 0, 0])
    return Tree(
        head=np.zeros((n, players), np.int32),
        node_visits=np.zeros(n, np.int32),
        parent=np.zeros(n, np.int32),
        first=np.zeros(n, np.int32),
        sibling=np.zeros(n, np.int32),
        action=np.zeros(e, np.int32),
        next=np.zeros(e, np.int32),
        visits=np.zeros(e, np.int32),
        sums=np.zeros(e),
        squares=np.zeros(e),
        slot_key=np.zeros(h, np.uint64),
        slot_node=np.zeros(h, np.int32),
        bounds=bounds,
        counters=counters,
    )


def new_work(game: Game, depth: int) -> Work:
    """Return work arrays for a game and paths of up to ``depth`` steps."""
    a, p = game.actions, game.players
    return Work(
        state=game.new_state(),
        legal=np.zeros(a, np.int64),
        edge=np.zeros(a, np.int32),
        visits=np.zeros(a, np.int64),
        sums=np.zeros(a),
        squares=np.zeros(a),
        prior=np.zeros(a),
        weights=np.zeros(a),
        actions=np.zeros(p, np.int64),
        rewards=np.zeros(p),
        values=np.zeros(p),
        path_node=np.zeros(depth + 1, np.int32),
        path_edge=np.zeros((depth + 1, p), np.int32),
        path_reward=np.zeros((depth + 1, p)),
    )


def root_statistics(tree: Tree, player: int, actions: int) -> tuple[Ints, Floats]:
    """Return visits [A] and mean returns [A] of a player's actions at the root; NaN where there was no visit."""
    visits, values = np.zeros(actions, np.int64), np.full(actions, np.nan)
    edge = int(tree.head[ROOT, player])
    while edge:
        action = tree.action[edge]
        visits[action] = tree.visits[edge]
        values[action] = tree.sums[edge] / tree.visits[edge] if tree.visits[edge] else np.nan
        edge = int(tree.next[edge])
    return visits, values
