"""The search tree: flat arrays, grown between calls of a kernel, indexed by node and edge ids from 1 on (0: none)."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from mcts_envs.core.contract import BYTES, FLOATS, INTS, Game
from mcts_envs.core.kernel import interpreted, kernel, row
from mcts_envs.core.rng import CHANCE_BYTES, combine
from mcts_envs.core.typing import Bytes, Floats, Ints

Int32s = npt.NDArray[np.int32]
ROOT = 1
NODES, EDGES, SIMULATIONS, STEPS, MAX_NODES, MAX_EDGES, RESERVE, PLAYERS, WIDTH, FAULTS, LIMIT, EACH, FILLED = range(13)
"""Places in ``Tree.counters``: nodes and edges in use plus 1; simulations and model steps made; the ids at which nodes
and edges are full, and edges kept free for the root beyond; players; how many statistics policies keep for an edge; how
often ``select`` returned no index of an action; how many nodes the tree may grow to; how many edges a simulation may
add; and how many slots are in use."""

FIRST_ROOM = 256
"""Nodes that a tree which grows has room for at first."""


def _record_type(*layout: tuple[str, str]) -> Any:
    return np.dtype((np.record, np.dtype(list(layout), align=True)))


NODE = _record_type(("visits", "i4"), ("parent", "i4"), ("first", "i4"), ("sibling", "i4"), ("key", "u8"))
"""A situation in which players choose: ``first`` child, next ``sibling``, ``key`` of the state (0 in an open loop)."""

EDGE = _record_type(
    ("action", "i4"), ("next", "i4"), ("visits", "i4"), ("child", "i4"), ("sums", "f8"), ("squares", "f8")
)
"""An action of one player at a node; ``next`` edge there, first outcome (``child``), sums of returns and squares."""

SLOT = _record_type(("outcome", "u8"), ("node", "i4"))
"""An entry of the table that finds the outcomes of edges beyond the first."""


class Tree(NamedTuple):
    """A search tree for P players with room for N nodes and E edges; :func:`enlarge` makes more.

    Where several players choose at once, each has edges of its own (decoupled statistics). An outcome is reached by one
    edge of every active player and, in a closed loop, told apart by the key of the state that came out. The first
    outcome of a single player's edge is its ``child``; all others are found in an open-addressing table.

    Attributes
    ----------
    nodes : N records of :data:`NODE`, as bytes
    edges : E records of :data:`EDGE`, as bytes
    head : int32 array [N * P]
        First edge of each player at a node.
    via : int32 array [N * P]
        The edges by which a node is reached.
    slots : records of :data:`SLOT`, as bytes
    own : float64 array [E * W]
        Statistics that policies keep for an edge.
    shared : float64 array
        Statistics that policies keep for the whole tree.
    bounds : float64 array [P * 2]
        Least and greatest return seen.
    counters : int64 array [13]
        See :data:`NODES` and what follows it.
    """

    nodes: Bytes
    edges: Bytes
    head: Int32s
    via: Int32s
    slots: Bytes
    own: Floats
    shared: Floats
    bounds: Floats
    counters: Ints


class Work(NamedTuple):
    """Work arrays of one simulation, for A actions, P players, paths of up to D steps and simulations of up to L."""

    state: Bytes  # [size]
    luck: Bytes  # [32] the chance of rollouts, where several simulations are to share it
    searcher: Ints  # [1] the player who searches
    legal: Ints  # [A]
    edge: Int32s  # [A] edge of an action at the present node
    visits: Ints  # [A] statistics of the k legal actions, gathered
    sums: Floats  # [A]
    squares: Floats  # [A]
    prior: Floats  # [A] what the game advises, for policies that ask for it
    own: Floats  # [A * W] statistics of the policy's own
    weights: Floats  # [A] preferences
    actions: Ints  # [P]
    rewards: Floats  # [P]
    values: Floats  # [P] returns from the end of the path on
    base: Floats  # [P] what evaluate is counted from: its values at the root, or 0
    path_node: Int32s  # [D + 1]
    path_edge: Int32s  # [(D + 1) * P]
    path_reward: Floats  # [(D + 1) * P]
    path_return: Floats  # [(D + 1) * P] return of each player from this step on
    played: Int32s  # [L * P] action of each player, in the tree and after it; -1: not asked
    select_shared: Floats  # what select keeps for the whole tree: a part of ``Tree.shared``
    simulate_shared: Floats  # what simulate keeps
    backup_shared: Floats  # what backup keeps


_I4 = types.int32[::1]
TREE = types.NamedTuple((BYTES, BYTES, _I4, _I4, BYTES, FLOATS, FLOATS, FLOATS, INTS), Tree)
WORK = types.NamedTuple(
    (
        *(BYTES, BYTES, INTS, INTS, _I4, INTS, FLOATS, FLOATS, FLOATS, FLOATS, FLOATS, INTS, FLOATS, FLOATS, FLOATS),
        *(_I4, _I4, FLOATS, FLOATS, _I4, FLOATS, FLOATS, FLOATS),
    ),
    Work,
)

_SLOT_BYTES = SLOT.itemsize
_NONE = np.uint64(0)


class _Record:
    """A row of the tree as an object: what an interpreted search works with, many times as fast as views of bytes."""

    __slots__ = ("action", "child", "first", "key", "next", "parent", "sibling", "squares", "sums", "visits")

    def __init__(self) -> None:
        self.visits = self.parent = self.first = self.sibling = self.key = 0
        self.action = self.next = self.child = 0
        self.sums = self.squares = 0.0


def new_tree(
    players: int,
    nodes: int,
    *,
    room: int | None = None,
    reserve: int = 0,
    simultaneous: bool = False,
    width: int = 0,
    shared: int = 0,
    objects: bool = False,
) -> Tree:
    """Return an empty tree with a root, which may grow to ``nodes`` more nodes.

    It takes 100 to 150 bytes a node for one player.

    Parameters
    ----------
    players : int
    nodes : int
    room : int, optional
        Nodes that it has room for at first; by default all.
    reserve : int
        Edges kept free for the root, so that a full tree still tries all actions there.
    simultaneous : bool
        Whether several players may choose at once: one new edge for each of them in a simulation.
    width, shared : int
        Statistics of their own that policies keep for an edge, and for the tree.
    objects : bool
        Whether nodes and edges are lists of Python objects, for an interpreted search.
    """
    first = nodes if room is None else min(room, nodes)
    each = players if simultaneous else 1
    counters: Any = [ROOT + 1, 1, 0, 0, 0, 0, reserve, players, width, 0, nodes, each, 0]
    bounds: Any = [np.inf, -np.inf] * players
    slots = np.zeros(_slots_for(first + 2) * _SLOT_BYTES, np.uint8)
    rows: Any = ([], [], [], [], slots, [], np.zeros(shared), bounds, counters)
    if not objects:
        empty = [np.zeros(0, kind) for kind in (np.uint8, np.uint8, np.int32, np.int32)]
        rows = (*empty, slots, np.zeros(0), np.zeros(shared), np.array(bounds), np.array(counters))
    return _with_room(Tree(*rows), first)


def enlarge(tree: Tree, simulations: int) -> Tree:
    """Return a tree with room for what these simulations may add, within its limit.

    The tree itself if it has the room, or else one with at least twice as much, to which its rows are copied;
    ``shared`` and ``bounds`` are those of the tree. Whatever interrupts this leaves the tree as it was.
    """
    counters = tree.counters
    present, each = int(counters[MAX_NODES]) - 2, int(counters[EACH])
    edges = int(counters[EDGES]) - 1 + simulations * each
    wanted = min(max(int(counters[NODES]) - 2 + simulations, -(-edges // each)), int(counters[LIMIT]))
    if wanted > present:
        tree = _with_room(tree, min(max(wanted, 2 * present), int(counters[LIMIT])))
    slots = _slots_for(min(int(counters[FILLED]) + simulations, int(counters[LIMIT]) + 2))
    if slots > len(tree.slots) // _SLOT_BYTES:
        used = tree.slots
        tree = tree._replace(slots=np.zeros(slots * _SLOT_BYTES, np.uint8))
        (interpreted(_refill) if isinstance(tree.nodes, list) else _refill)(used, tree)
    return tree


def _slots_for(outcomes: int) -> int:
    """Return how many slots keep the table for so many outcomes at most half full: a power of 2."""
    return 1 << max(4, (2 * outcomes - 1).bit_length())


def _with_room(tree: Tree, nodes: int) -> Tree:
    """Return a tree with the same rows and room for so many nodes; a tree of objects grows in place."""
    players, width, each, reserve = (int(tree.counters[i]) for i in (PLAYERS, WIDTH, EACH, RESERVE))
    n, last = nodes + 2, (nodes + 1) * each + 1
    e = last + reserve
    if isinstance(tree.nodes, list):
        tree.nodes.extend(_Record() for _ in range(n - len(tree.nodes)))
        tree.edges.extend(_Record() for _ in range(e - len(tree.edges)))
        plain: Any = ((tree.head, n * players), (tree.via, n * players), (tree.own, e * width))
        for numbers, size in plain:
            numbers.extend([0] * (size - len(numbers)))
        tree.counters[MAX_NODES], tree.counters[MAX_EDGES] = n, last  # last: kernels write wherever these allow
        return tree
    counters = tree.counters.copy()
    counters[MAX_NODES], counters[MAX_EDGES] = n, last
    return tree._replace(
        nodes=_longer(tree.nodes, n * NODE.itemsize),
        edges=_longer(tree.edges, e * EDGE.itemsize),
        head=_longer(tree.head, n * players),
        via=_longer(tree.via, n * players),
        own=_longer(tree.own, e * width),
        counters=counters,
    )


def _longer(array: Any, size: int) -> Any:
    longer = np.zeros(size, array.dtype)
    longer[: len(array)] = array
    return longer


def new_work(game: Game, tree: Tree, depth: int, length: int, select: int = 0, simulate: int = 0) -> Work:
    """Return work arrays for a tree, paths of up to ``depth`` steps and simulations of up to ``length``.

    Of the statistics kept for the whole tree the first belong to ``select``, so many, the next to ``simulate``, and the
    rest to ``backup``.
    """
    a, p, d = game.actions, game.players, depth + 1
    work = Work(
        state=game.new_state(),
        luck=np.zeros(CHANCE_BYTES, np.uint8),
        searcher=np.zeros(1, np.int64),
        legal=np.zeros(a, np.int64),
        edge=np.zeros(a, np.int32),
        visits=np.zeros(a, np.int64),
        sums=np.zeros(a),
        squares=np.zeros(a),
        prior=np.zeros(a),
        own=np.zeros(a * int(tree.counters[WIDTH])),
        weights=np.zeros(a),
        actions=np.zeros(p, np.int64),
        rewards=np.zeros(p),
        values=np.zeros(p),
        base=np.zeros(p),
        path_node=np.zeros(d, np.int32),
        path_edge=np.zeros(d * p, np.int32),
        path_reward=np.zeros(d * p),
        path_return=np.zeros(d * p),
        played=np.zeros((length + 1) * p, np.int32),
        select_shared=tree.shared[:select],
        simulate_shared=tree.shared[select : select + simulate],
        backup_shared=tree.shared[select + simulate :],
    )
    if isinstance(tree.nodes, list):
        kept = ("state", "luck", "select_shared", "simulate_shared", "backup_shared")
        lists: Any = {name: array.tolist() for name, array in work._asdict().items() if name not in kept}
        return work._replace(**lists)
    return work


@kernel()
def find_edge(tree: Tree, node: int, player: int, players: int, action: int) -> int:
    """Return a player's edge for an action at a node; 0 if there is none."""
    edge = tree.head[node * players + player]
    while edge and row(tree.edges, edge, EDGE).action != action:
        edge = row(tree.edges, edge, EDGE).next
    return int(edge)


@kernel()
def new_edge(tree: Tree, node: int, player: int, players: int, action: int) -> int:
    """Add an edge for an action that has none, and return it; 0 if the tree is full."""
    edge = tree.counters[EDGES]
    if edge >= tree.counters[MAX_EDGES] + (tree.counters[RESERVE] if node == ROOT else 0):
        return 0
    tree.counters[EDGES] += 1
    added = row(tree.edges, edge, EDGE)
    added.action = action
    added.next = tree.head[node * players + player]
    tree.head[node * players + player] = edge
    return int(edge)


@kernel()
def _slot(tree: Tree, outcome: np.uint64) -> int:
    """Return where an outcome is in the table, or where it would go."""
    last = tree.slots.shape[0] // _SLOT_BYTES - 1
    slot = np.int64((outcome ^ (outcome >> np.uint64(32))) & np.uint64(last))
    while row(tree.slots, slot, SLOT).node and row(tree.slots, slot, SLOT).outcome != outcome:
        slot = (slot + 1) & last
    return int(slot)


@kernel(types.void(BYTES, TREE))
def _refill(used: Bytes, tree: Tree) -> None:
    """Put the entries of another table into the empty one of a tree."""
    for i in range(used.shape[0] // _SLOT_BYTES):
        entry = row(used, i, SLOT)
        if entry.node:
            slot = _slot(tree, entry.outcome)
            row(tree.slots, slot, SLOT).outcome = entry.outcome
            row(tree.slots, slot, SLOT).node = entry.node


@kernel()
def outcome_of(tree: Tree, node: int, edges: Int32s, offset: int, players: int, key: np.uint64) -> int:
    """Return the node that edges of the active players lead to, added if it is new; 0 if the tree is full.

    Parameters
    ----------
    tree : Tree
    node : int
    edges : int32 array
        The edge of each player from ``offset`` on; 0 for those who did not choose.
    offset, players : int
    key : uint64
        Key of the state that came out; 0 in an open loop.
    """
    choosing, edge = 0, 0
    for player in range(players):
        if edges[offset + player]:
            choosing += 1
            edge = edges[offset + player]
    chosen = row(tree.edges, edge, EDGE)
    if choosing == 1 and chosen.child and row(tree.nodes, chosen.child, NODE).key == key:
        return int(chosen.child)
    slot, outcome = -1, _NONE
    if choosing != 1 or chosen.child:
        outcome = combine(np.uint64(node), key)
        for player in range(players):
            outcome = combine(outcome, np.uint64(edges[offset + player]))
        slot = _slot(tree, outcome)
        found = row(tree.slots, slot, SLOT).node
        if found:
            return int(found)
    child = tree.counters[NODES]
    if child >= tree.counters[MAX_NODES] or 2 * tree.counters[FILLED] > tree.slots.shape[0] // _SLOT_BYTES:
        return 0
    tree.counters[NODES] += 1
    if slot < 0:
        chosen.child = child
    else:
        row(tree.slots, slot, SLOT).outcome = outcome
        row(tree.slots, slot, SLOT).node = child
        tree.counters[FILLED] += 1
    parent, added = row(tree.nodes, node, NODE), row(tree.nodes, child, NODE)
    added.parent, added.key, added.sibling = node, key, parent.first
    parent.first = child
    for player in range(players):
        tree.via[child * players + player] = edges[offset + player]
    return int(child)


def find_node(tree: Tree, key: int) -> int:
    """Return the most visited node with this key; 0 if there is none."""
    count = int(tree.counters[NODES])
    if isinstance(tree.nodes, list):
        found = [i for i in range(ROOT, count) if tree.nodes[i].key == key]
        return max(found, key=lambda i: tree.nodes[i].visits, default=0)
    used = tree.nodes.view(NODE)[:count]
    same = np.flatnonzero(used["key"] == np.uint64(key))
    return int(same[used["visits"][same].argmax()]) if len(same) else 0


def root_edge(tree: Tree, player: int, action: int) -> int:
    """Return a player's edge for an action at the root; 0 if there is none."""
    edge = int(tree.head[ROOT * tree.counters[PLAYERS] + player])
    while edge and row(tree.edges, edge, EDGE).action != action:
        edge = int(row(tree.edges, edge, EDGE).next)
    return edge


def add_root_statistics(tree: Tree, player: int, visits: Ints, sums: Floats) -> None:
    """Add visits [A] and sums of returns [A] of a player's actions at the root to those of other trees."""
    add = interpreted(_add_root_statistics) if isinstance(tree.nodes, list) else _add_root_statistics
    add(tree, player, visits, sums)


@kernel(types.void(TREE, types.int64, INTS, FLOATS))
def _add_root_statistics(tree: Tree, player: int, visits: Ints, sums: Floats) -> None:
    edge = tree.head[ROOT * tree.counters[PLAYERS] + player]
    while edge:
        found = row(tree.edges, edge, EDGE)
        visits[found.action] += found.visits
        sums[found.action] += found.sums
        edge = found.next
