"""Trees for tests: built by hand, and searched in the toys."""

import numpy as np
import pytest

from agents.inspection.search_tree import SearchTree
from agents.mcts import MCTS
from agents.search.tree import EDGE, NODE, ROOT, find_or_add_child, new_edge, new_tree
from mcts_envs.core.kernel import interpreted, row
from mcts_envs.core.rng import combine
from tests.toys import Stakes, TicTacToe, Tron, stakes, tic_tac_toe, tron

add_edge, add_outcome = interpreted(new_edge), interpreted(find_or_add_child, (combine,))
BOTH_KINDS = pytest.mark.parametrize("objects", [False, True], ids=["bytes", "objects"])


class Builder:
    """Builds trees by hand."""

    def __init__(self, players, visits, objects=False, simultaneous=False):
        self.players = players
        self.tree = new_tree(players, 50, edges_each=players if simultaneous else 1, plain=objects)
        row(self.tree.nodes, ROOT, NODE).visits = visits

    def edge(self, node, player, action, visits, value):
        edge = add_edge(self.tree, node, player, action)
        record = row(self.tree.edges, edge, EDGE)
        record.visits, record.sums = visits, visits * value
        return edge

    def outcome(self, node, edges, visits, key=0):
        """Add what the edges of these players, a dictionary, led to."""
        via = [edges.get(player, 0) for player in range(self.players)]
        child = add_outcome(self.tree, node, via if self.tree.plain else np.array(via, np.int32), np.uint64(key))
        row(self.tree.nodes, child, NODE).visits = visits
        return child


def in_turns(objects=False):
    """Player 0 has three actions; the best one has two outcomes, the next one an outcome, the last one none."""
    build = Builder(2, 20, objects)
    build.edge(ROOT, 0, 8, 1, -1.0)
    second, best = build.edge(ROOT, 0, 0, 7, 0.25), build.edge(ROOT, 0, 4, 12, 0.5)
    lesser, greater = build.outcome(ROOT, {0: best}, 4, key=5), build.outcome(ROOT, {0: best}, 8, key=6)
    reply = build.outcome(ROOT, {0: second}, 7, key=7)
    build.outcome(greater, {1: build.edge(greater, 1, 2, 4, -0.75)}, 4, key=8)
    build.outcome(greater, {1: build.edge(greater, 1, 1, 3, -0.0)}, 3, key=9)
    build.outcome(lesser, {1: build.edge(lesser, 1, 3, 3, 1 / 3)}, 3, key=9)
    build.outcome(reply, {1: build.edge(reply, 1, 5, 6, -0.125)}, 6, key=10)
    return SearchTree([build.tree], tic_tac_toe())


def at_once(objects=False):
    """Two players choose at once: the best of each were done together 3 times, with two outcomes."""
    build = Builder(2, 6, objects, simultaneous=True)
    mine = {action: build.edge(ROOT, 0, action, visits, 0.5) for action, visits in ((0, 2), (1, 4))}
    theirs = {action: build.edge(ROOT, 1, action, visits, -0.5) for action, visits in ((2, 5), (3, 1))}
    build.outcome(ROOT, {0: mine[0], 1: theirs[2]}, 2, key=1)
    build.outcome(ROOT, {0: mine[1], 1: theirs[2]}, 1, key=2)
    again = build.outcome(ROOT, {0: mine[1], 1: theirs[2]}, 2, key=3)
    build.outcome(ROOT, {0: mine[1], 1: theirs[3]}, 1, key=4)
    build.edge(again, 0, 0, 1, 1.0)
    build.edge(again, 1, 3, 1, -1.0)
    return SearchTree([build.tree], tron())


def whoever_is_next(objects=False):
    """In an open loop, chance decides who chooses after the first action: player 2 does more often."""
    build = Builder(3, 9, objects)
    after = build.outcome(ROOT, {0: build.edge(ROOT, 0, 2, 9, 0.0)}, 9)
    build.outcome(after, {1: build.edge(after, 1, 0, 3, 0.5)}, 3)
    build.outcome(after, {2: build.edge(after, 2, 1, 5, 0.25)}, 5)
    return SearchTree([build.tree], stakes())


SEARCHES = [
    pytest.param(make, loop, id=f"{make.__name__}-{loop}")
    for make in (TicTacToe, Tron, Stakes)
    for loop in ("open", "closed")
]


def searched(make, loop, seed=0, **settings):
    env = make()
    env.reset(seed=seed)
    return MCTS(simulations=400, loop=loop, seed=seed, **settings).search(env)


def walk(node):
    yield node
    for child in node.children:
        yield from walk(child)
