"""The search tree: flat arrays, grown between calls of a kernel, indexed by node and edge ids from 1 on (0: none)."""

import math
from collections.abc import Mapping
from copy import copy
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numba import types

from agents.search.records import Rows, Store, compiled, numba_type, objects, record_type, rows
from mcts_envs.core.contract import FLOATS, INTS
from mcts_envs.core.kernel import interpreted, kernel, row
from mcts_envs.core.rng import combine
from mcts_envs.core.typing import Bytes, Floats, Ints

ROOT = 1

FIRST_ROOM = 256
"""Nodes that a tree which grows has room for at first."""

NODE = record_type(visits="i4", parent="i4", first="i4", sibling="i4", key="u8")
"""A situation in which players choose: ``first`` child and next ``sibling`` (to be walked by those who look at the
tree), ``key`` of the state (0 in an open loop). One without visits is new, but for the root."""

EDGE = record_type(action="i4", next="i4", visits="i4", child="i4", sums="f8")
"""An action of one player at a node: ``next`` edge there, first outcome (``child``), sum of returns."""

SEAT = record_type(head="i4", via="i4")
"""What a node is for one player: its first edge there, and the edge by which the node is reached."""

RANGE = record_type(low="f8", high="f8")
"""The least and the greatest return of a player so far; ``low > high`` before the first."""

SLOT = record_type(outcome="u8", node="i4")
"""An entry of the table that finds the outcomes of edges beyond the first."""

COUNT = record_type(
    nodes="i8",  # in use, plus 1: the next id
    edges="i8",  # likewise
    slots="i8",  # in use
    simulations="i8",  # made
    steps="i8",  # of the model, made
    faults="i8",  # which policies returned what is out of range, or whether the game listed it, as bits
    listed="i8",  # an action out of range that the game listed
    node_room="i8",  # the id at which nodes are full
    edge_room="i8",
    reserve="i8",  # edges kept free for the root beyond
    max_nodes="i8",  # that the tree may grow to
    edges_each="i8",  # that a simulation may add
    players="i8",
    viewer="i8",  # who alone tells outcomes apart, over information sets; -1: all do, by what each of them chose
)
"""What a tree counts, and its bounds."""


class Tree(NamedTuple):
    """A search tree for P players with room for N nodes and E edges; :func:`enlarge` makes more.

    Where several players choose at once, each has edges of its own (decoupled statistics). An outcome is reached by one
    edge of every active player, but for those whose choices are taken for chance, and, in a closed loop, told apart by
    the key of the state that came out. Over information sets the others' choices count as far as the key shows them:
    what several of them led to alike is reached by none. The first outcome of a single player's edge, over information
    sets of the searching player's edge, is its ``child``; all others are found in an open-addressing table.

    Attributes
    ----------
    nodes : N records of :data:`NODE`
    edges : E records of :data:`EDGE`
    seats : N * P records of :data:`SEAT`
    slots : records of :data:`SLOT`, as bytes
    ranges : P records of :data:`RANGE`
    counters : a record of :data:`COUNT`
    select, noise, simulate, backup : Store
        What the policies keep.
    """

    nodes: Rows
    edges: Rows
    seats: Rows
    slots: Bytes
    ranges: Rows
    counters: Rows
    select: Store
    noise: Store
    simulate: Store
    backup: Store

    @property
    def count(self) -> Any:
        """The record of :data:`COUNT`."""
        return self.counters[0] if self.plain else _Counts(self.counters)

    @property
    def players(self) -> int:
        """P."""
        return int(self.count.players)

    @property
    def plain(self) -> bool:
        """Whether nodes and edges are lists of Python objects, for an interpreted search."""
        return isinstance(self.nodes, list)

    @property
    def stores(self) -> dict[str, Store]:
        """What the policies keep, by their kind."""
        return {kind: getattr(self, kind) for kind in STORES}


class _Counts:
    """The record of :data:`COUNT` for Python: many times as fast as a NumPy record."""

    __slots__ = ("numbers",)

    def __init__(self, counters: Any) -> None:
        self.numbers = counters.view(np.int64)


def _number(place: int) -> property:
    return property(
        lambda counts: int(counts.numbers[place]), lambda counts, number: counts.numbers.__setitem__(place, number)
    )


for _place, _name in enumerate(COUNT.names):
    setattr(_Counts, _name, _number(_place))

STORES = ("select", "noise", "simulate", "backup")
TREE = numba_type(Tree)
_SLOT_BYTES = SLOT.itemsize
_NONE = np.uint64(0)


class Kept(NamedTuple):
    """What a policy wants to keep: so many statistics for an edge and for the tree, and its parameters, as bytes."""

    edge: int = 0
    tree: int = 0
    parameters: Any = np.zeros(0, np.uint8)


def new_tree(
    players: int,
    nodes: int,
    *,
    room: int | None = None,
    reserve: int = 0,
    edges_each: int = 1,
    kept: Mapping[str, Kept] = MappingProxyType(dict.fromkeys(STORES, Kept())),
    plain: bool = False,
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
    edges_each : int
        Edges that a simulation may add: where several players choose at once, one for each of them.
    kept : mapping
        What ``select``, ``noise``, ``simulate`` and ``backup`` keep.
    plain : bool
        Whether nodes and edges are lists of Python objects, for an interpreted search.
    """
    first = nodes if room is None else min(room, nodes)
    stores = {kind: Store(np.zeros((0, k.edge)), np.zeros(k.tree), k.parameters.copy()) for kind, k in kept.items()}
    count = dict.fromkeys(COUNT.names, 0)
    count |= {"nodes": ROOT + 1, "edges": 1, "players": players, "reserve": reserve, "max_nodes": nodes}
    count |= {"edges_each": edges_each, "viewer": -1}
    tree = Tree(
        nodes=rows(NODE, [], plain),
        edges=rows(EDGE, [], plain),
        seats=rows(SEAT, [], plain),
        slots=_empty_slots(_slots_for(first + 2), plain),
        ranges=rows(RANGE, [(math.inf, -math.inf)] * players, plain),
        counters=rows(COUNT, [tuple(count.values())], plain),
        **stores,
    )
    return _with_room(tree, first)


def copy_of(tree: Tree) -> Tree:
    """Return a copy of a tree."""
    whole: Any = tree[: -len(STORES)]
    arrays: Any = [type(each)(map(copy, each)) if tree.plain else each.copy() for each in whole]
    stores = (
        Store(store.per_edge.copy(), store.per_tree.copy(), store.parameters.copy()) for store in tree.stores.values()
    )
    return Tree(*arrays, *stores)


def enlarge(tree: Tree, simulations: int) -> Tree:
    """Return a tree with room for what these simulations may add, within its limit.

    The tree itself if it has the room, or else one with at least twice as much, to which its rows are copied; what
    policies keep for the whole tree and ``ranges`` are those of the tree. Whatever interrupts this leaves the tree as
    it was.
    """
    count = tree.count
    present, limit, slots = count.node_room - 2, count.max_nodes, tree.slots.shape[0] // SLOT.itemsize
    if present >= limit and slots >= _slots_for(limit + 2):
        return tree  # in short: a search that waits for a network asks at every leaf
    each = count.edges_each
    edges = count.edges - 1 + simulations * each
    wanted = min(max(count.nodes - 2 + simulations, -(-edges // each)), limit)
    if wanted > present:
        tree = _with_room(tree, min(max(wanted, 2 * present), limit))
    needed = _slots_for(min(count.slots + simulations, limit + 2))
    if needed > slots:
        used = tree.slots
        tree = tree._replace(slots=_empty_slots(needed, tree.plain))
        run_on(_refill, tree, used)
    return tree


def run_on(function: Any, tree: Tree, *arguments: Any) -> None:
    """Call a kernel on a tree, or its Python form if the tree consists of objects."""
    if tree.plain:
        interpreted(function)(tree, *arguments)
    else:
        function(compiled(tree), *arguments)


def _slots_for(outcomes: int) -> int:
    """Return how many slots keep the table for so many outcomes at most half full: a power of 2."""
    return 1 << max(4, (2 * outcomes - 1).bit_length())


class _SlotObjects(list[Any]):
    """Slots as Python objects, which have the shape of those in bytes."""

    @property
    def shape(self) -> tuple[int]:
        return (len(self) * SLOT.itemsize,)


def _empty_slots(slots: int, plain: bool) -> Any:
    return _SlotObjects(objects(SLOT, slots)) if plain else np.zeros(slots * SLOT.itemsize, np.uint8)


def _with_room(tree: Tree, nodes: int) -> Tree:
    """Return a tree with the same rows and room for so many nodes; lists of objects grow in place."""
    count = tree.count
    n, last = nodes + 2, (nodes + 1) * count.edges_each + 1
    e = last + count.reserve
    for kind, store in tree.stores.items():
        if store.per_edge.shape[1]:
            longer_store: Any = {kind: store._replace(per_edge=_longer(store.per_edge, e))}
            tree = tree._replace(**longer_store)
    wanted: Any = {"nodes": (NODE, n), "edges": (EDGE, e), "seats": (SEAT, n * tree.players)}
    if tree.plain:
        for name, (kind, size) in wanted.items():
            listed = getattr(tree, name)
            listed.extend(objects(kind, size - len(listed)))
    else:
        longer = {name: _longer(getattr(tree, name), size * kind.itemsize) for name, (kind, size) in wanted.items()}
        tree = tree._replace(counters=tree.counters.copy(), **longer)
    count = tree.count
    count.node_room, count.edge_room = n, last  # last: kernels write wherever these allow
    return tree


def _longer(array: Any, size: int) -> Any:
    longer = np.zeros((size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


@kernel()
def seat_of(tree: Tree, node: int, player: int) -> Any:
    """Return what a node is for one player."""
    return row(tree.seats, node * row(tree.counters, 0, COUNT).players + player, SEAT)


@kernel()
def find_edge(tree: Tree, node: int, player: int, action: int) -> int:
    """Return a player's edge for an action at a node; 0 if there is none."""
    edge = int(seat_of(tree, node, player).head)
    while edge and row(tree.edges, edge, EDGE).action != action:
        edge = int(row(tree.edges, edge, EDGE).next)
    return edge


@kernel()
def new_edge(tree: Tree, node: int, player: int, action: int) -> int:
    """Add an edge for an action that has none, and return it; 0 if the tree is full."""
    count = row(tree.counters, 0, COUNT)
    edge = int(count.edges)
    if edge >= count.edge_room + (count.reserve if node == ROOT else 0):
        return 0
    count.edges += 1
    added = row(tree.edges, edge, EDGE)
    seat = seat_of(tree, node, player)
    added.action, added.next = action, seat.head
    seat.head = edge
    return edge


@kernel()
def is_leaf(tree: Tree, node: int) -> bool:
    """Return whether a node is not in the tree, or was not visited before."""
    return node == 0 or (node != ROOT and row(tree.nodes, node, NODE).visits == 0)


@kernel()
def _slot(tree: Tree, outcome: np.uint64) -> int:
    """Return where an outcome is in the table, or where it would go."""
    last = tree.slots.shape[0] // _SLOT_BYTES - 1
    slot = np.int64((outcome ^ (outcome >> np.uint64(32))) & np.uint64(last))
    while row(tree.slots, slot, SLOT).node and row(tree.slots, slot, SLOT).outcome != outcome:
        slot = (slot + 1) & last
    return int(slot)


@kernel(types.void(TREE, types.uint8[::1]))
def _refill(tree: Tree, used: Bytes) -> None:
    """Put the entries of another table into the empty one of a tree."""
    for i in range(used.shape[0] // _SLOT_BYTES):
        entry = row(used, i, SLOT)
        if entry.node:
            slot = _slot(tree, entry.outcome)
            row(tree.slots, slot, SLOT).outcome = entry.outcome
            row(tree.slots, slot, SLOT).node = entry.node


@kernel()
def _keep_common(tree: Tree, node: int, via: Any) -> None:
    """Let a node be reached only by those edges by which it is reached now too."""
    for player in range(len(via)):
        if seat_of(tree, node, player).via != via[player]:
            seat_of(tree, node, player).via = 0


@kernel()
def find_or_add_child(tree: Tree, node: int, via: Any, key: np.uint64) -> int:
    """Return the node that edges of the active players lead to, added if it is new; 0 if the tree is full.

    Parameters
    ----------
    tree : Tree
    node : int
    via : int32 array [P]
        The edge of each player; 0 for those who did not choose.
    key : uint64
        Key of the state that came out; 0 in an open loop.
    """
    choosing, edge, viewer = 0, 0, row(tree.counters, 0, COUNT).viewer
    for player in range(len(via)):
        if via[player]:
            choosing += 1
            edge = via[player]
    own = int(via[viewer]) if viewer >= 0 else 0
    if own:
        edge = own
    chosen, of_one = row(tree.edges, edge, EDGE), choosing == 1 or own > 0
    if of_one and chosen.child and row(tree.nodes, chosen.child, NODE).key == key:
        if choosing > 1:
            _keep_common(tree, int(chosen.child), via)
        return int(chosen.child)
    first = edge if of_one and not chosen.child else 0
    slot, outcome = -1, _NONE
    if first == 0 or (viewer >= 0 and own == 0):
        outcome = combine(np.uint64(node), key)
        for player in range(len(via)):
            outcome = combine(outcome, np.uint64(via[player] if viewer < 0 or player == viewer else 0))
        slot = _slot(tree, outcome)
        found = int(row(tree.slots, slot, SLOT).node)
        if found:
            _keep_common(tree, found, via)
            if first:
                row(tree.edges, first, EDGE).child = found
            return found
    return _new_node(tree, node, via, key, first, slot, outcome)


@kernel()
def _new_node(tree: Tree, node: int, via: Any, key: np.uint64, first: int, slot: int, outcome: np.uint64) -> int:
    """Add an outcome to a node, found as the ``first`` of an edge, by a slot of the table, or by both."""
    count = row(tree.counters, 0, COUNT)
    child = int(count.nodes)
    if child >= count.node_room or 2 * count.slots > tree.slots.shape[0] // _SLOT_BYTES:
        return 0
    count.nodes += 1
    if first:
        row(tree.edges, first, EDGE).child = child
    if slot >= 0:
        row(tree.slots, slot, SLOT).outcome = outcome
        row(tree.slots, slot, SLOT).node = child
        count.slots += 1
    parent, added = row(tree.nodes, node, NODE), row(tree.nodes, child, NODE)
    added.parent, added.key, added.sibling = node, key, parent.first
    parent.first = child
    for player in range(len(via)):
        seat_of(tree, child, player).via = via[player]
    return child


def find_node(tree: Tree, key: int) -> int:
    """Return the most visited node with this key; 0 if there is none."""
    count = int(tree.count.nodes)
    if tree.plain:
        rows: Any = tree.nodes
        found = [i for i in range(ROOT, count) if rows[i].key == key]
        return max(found, key=lambda i: rows[i].visits, default=0)
    used = tree.nodes.view(NODE)[:count]
    same = np.flatnonzero(used["key"] == np.uint64(key))
    return int(same[used["visits"][same].argmax()]) if len(same) else 0


def root_edge(tree: Tree, player: int, action: int) -> int:
    """Return a player's edge for an action at the root; 0 if there is none."""
    return interpreted(find_edge)(tree, ROOT, player, action)


def add_root_statistics(tree: Tree, player: int, visits: Ints, sums: Floats) -> None:
    """Add visits [A] and sums of returns [A] of a player's actions at the root to those of other trees."""
    run_on(_add_root_statistics, tree, player, visits, sums)


@kernel(types.void(TREE, types.int64, INTS, FLOATS))
def _add_root_statistics(tree: Tree, player: int, visits: Ints, sums: Floats) -> None:
    edge = int(seat_of(tree, ROOT, player).head)
    while edge:
        found = row(tree.edges, edge, EDGE)
        visits[found.action] += found.visits
        sums[found.action] += found.sums
        edge = found.next
