"""Adding the statistics of one tree to those of another: to go on from a move, and to merge the trees of threads."""

import numpy as np
from numba import types

from agents.tree import (
    EDGE,
    EDGES,
    NODE,
    NODES,
    PLAYERS,
    ROOT,
    SIMULATIONS,
    STEPS,
    TREE,
    WIDTH,
    Int32s,
    Tree,
    find_edge,
    new_edge,
    outcome_of,
)
from mcts_envs.core.kernel import interpreted, kernel, row
from mcts_envs.core.rng import combine

_I4 = types.int32[::1]


@kernel()
def _graft_edges(source: Tree, node: int, target: Tree, onto: int, players: int, edge_map: Int32s) -> None:
    width = target.counters[WIDTH]
    for player in range(players):
        edge = source.head[node * players + player]
        while edge:
            given = row(source.edges, edge, EDGE)
            same = find_edge(target, onto, player, players, given.action)
            if same == 0:
                same = new_edge(target, onto, player, players, given.action)
            edge_map[edge] = same
            if same:
                taken = row(target.edges, same, EDGE)
                taken.visits += given.visits
                taken.sums += given.sums
                taken.squares += given.squares
                for i in range(width):
                    target.own[same * width + i] += source.own[edge * width + i]
            edge = given.next


def graft(source: Tree, start: int, target: Tree) -> None:
    """Add the statistics of a tree, from one of its nodes on, to those of another, from its root on.

    Onto an empty tree it moves the root down, for the next move; onto the tree of another thread it merges the two.
    What finds no room in the target is left out.
    """
    sizes = source.counters[NODES], source.counters[EDGES], source.counters[PLAYERS]
    if isinstance(source.nodes, list):
        interpreted(_graft, (combine,))(source, start, target, *([0] * size for size in sizes))
    else:
        _graft(source, start, target, *(np.zeros(size, np.int32) for size in sizes))


@kernel(types.void(TREE, types.int64, TREE, _I4, _I4, _I4))
def _graft(source: Tree, start: int, target: Tree, node_map: Int32s, edge_map: Int32s, via: Int32s) -> None:
    """Graft with work arrays for the ids in the target of all nodes and edges, and for one edge of each player."""
    players = target.counters[PLAYERS]
    node_map[start] = ROOT
    for node in range(start, source.counters[NODES]):
        given = row(source.nodes, node, NODE)
        if node > start and node_map[given.parent]:
            known = True
            for player in range(players):
                edge = source.via[node * players + player]
                via[player] = edge_map[edge]
                if edge and not via[player]:
                    known = False
            if known:
                node_map[node] = outcome_of(target, int(node_map[given.parent]), via, 0, players, given.key)
        if node_map[node]:
            row(target.nodes, node_map[node], NODE).visits += given.visits
            _graft_edges(source, node, target, node_map[node], players, edge_map)
    for i in range(len(target.shared)):
        target.shared[i] += source.shared[i]
    for player in range(players):
        target.bounds[2 * player] = min(target.bounds[2 * player], source.bounds[2 * player])
        target.bounds[2 * player + 1] = max(target.bounds[2 * player + 1], source.bounds[2 * player + 1])
    target.counters[SIMULATIONS] += source.counters[SIMULATIONS]
    target.counters[STEPS] += source.counters[STEPS]
