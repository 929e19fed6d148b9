"""Adding the statistics of one tree to those of another: to go on from a move, and to merge the trees of threads."""

from typing import Any

import numpy as np
from numba import types

from agents.search.records import FloatGrid, Int32s, compiled
from agents.search.tree import (
    COUNT,
    EDGE,
    NODE,
    RANGE,
    ROOT,
    TREE,
    Tree,
    find_edge,
    find_or_add_child,
    new_edge,
    seat_of,
)
from mcts_envs.core.kernel import interpreted, kernel, row
from mcts_envs.core.rng import combine
from mcts_envs.core.typing import Floats

_I4 = types.int32[::1]


@kernel()
def _add_row(target: FloatGrid, onto: int, source: FloatGrid, given: int) -> None:
    for i in range(source.shape[1]):
        target[onto, i] += source[given, i]


@kernel()
def _add(target: Floats, source: Floats) -> None:
    for i in range(len(source)):
        target[i] += source[i]


@kernel()
def _graft_edges(source: Tree, node: int, target: Tree, onto: int, edge_map: Int32s) -> None:
    for player in range(row(source.counters, 0, COUNT).players):
        edge = seat_of(source, node, player).head
        while edge:
            given = row(source.edges, edge, EDGE)
            if edge >= len(edge_map):  # new since
                edge = given.next
                continue
            same = find_edge(target, onto, player, given.action)
            if same == 0:
                same = new_edge(target, onto, player, given.action)
            edge_map[edge] = same
            if same:
                taken = row(target.edges, same, EDGE)
                taken.visits += given.visits
                taken.sums += given.sums
                _add_row(target.select.per_edge, same, source.select.per_edge, edge)
                _add_row(target.simulate.per_edge, same, source.simulate.per_edge, edge)
                _add_row(target.backup.per_edge, same, source.backup.per_edge, edge)
            edge = given.next


def graft(source: Tree, start: int, target: Tree) -> None:
    """Add the statistics of a tree, from one of its nodes on, to those of another, from its root on.

    Onto an empty tree it moves the root down, for the next move; onto the tree of another thread it merges the two.
    What finds no room in the target is left out, and so is what a search that is under way adds meanwhile.
    """
    sizes = int(source.count.nodes), int(source.count.edges), source.players
    if source.plain:
        maps: Any = [[0] * size for size in sizes]
        interpreted(_graft, (combine,))(source, start, target, *maps)
    else:
        _graft(compiled(source), start, compiled(target), *(np.zeros(size, np.int32) for size in sizes))


@kernel(types.void(TREE, types.int64, TREE, _I4, _I4, _I4))
def _graft(source: Tree, start: int, target: Tree, node_map: Int32s, edge_map: Int32s, via: Int32s) -> None:
    """Graft with work arrays for the ids in the target of all nodes and edges, and for one edge of each player."""
    count, grown = row(source.counters, 0, COUNT), row(target.counters, 0, COUNT)
    node_map[start], grown.viewer = ROOT, count.viewer
    for node in range(start, min(count.nodes, len(node_map))):
        given = row(source.nodes, node, NODE)
        if node > start and node_map[given.parent]:
            known = True
            for player in range(len(via)):
                edge = seat_of(source, node, player).via
                via[player] = edge_map[edge] if edge < len(edge_map) else 0
                if edge and not via[player]:
                    known = False
            if known:
                node_map[node] = find_or_add_child(target, int(node_map[given.parent]), via, given.key)
        if node_map[node]:
            row(target.nodes, node_map[node], NODE).visits += given.visits
            _graft_edges(source, node, target, node_map[node], edge_map)
    _add(target.select.per_tree, source.select.per_tree)
    _add(target.simulate.per_tree, source.simulate.per_tree)
    _add(target.backup.per_tree, source.backup.per_tree)
    for player in range(len(via)):
        seen, added = row(target.ranges, player, RANGE), row(source.ranges, player, RANGE)
        seen.low, seen.high = min(seen.low, added.low), max(seen.high, added.high)
    grown.simulations += count.simulations
    grown.steps += count.steps
