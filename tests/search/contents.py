"""What a tree knows of its nodes and edges, and games whose trees are lists of objects."""

from dataclasses import fields

import numpy as np

from agents.search.tree import EDGE, NODE, ROOT, seat_of
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import interpreted, row

seat = interpreted(seat_of)


def contents(tree, start=ROOT):
    """Return what a tree knows of its nodes and edges by the way there: what was done, and what came of it."""
    found = {}

    def look(node, path):
        assert path not in found, "two nodes for one way"
        found[path] = (int(row(tree.nodes, node, NODE).visits),)
        for player in range(tree.players):
            edge = seat(tree, node, player).head
            while edge:
                e = row(tree.edges, edge, EDGE)
                kept = [store.per_edge[edge : edge + 1] for store in tree.stores.values()]
                own = [number for rows in kept for number in rows.ravel().tolist()]
                found[path, player, int(e.action)] = (int(e.visits), float(e.sums), *own)
                edge = e.next
        child = row(tree.nodes, node, NODE).first
        while child:
            via = [seat(tree, child, player).via for player in range(tree.players)]
            done = tuple(int(row(tree.edges, edge, EDGE).action) if edge else -1 for edge in via)
            c = row(tree.nodes, child, NODE)
            look(int(child), (*path, (done, int(c.key))))
            child = c.sibling

    look(start, ())
    return found


class Lists(Game):
    """A game whose trees are lists of objects."""

    plain_lists = True


def as_lists(game):
    plain = game.interpreted()

    def step(state, actions, rewards):
        paid = np.zeros(len(rewards))
        plain.step(state, np.array(actions), paid)
        rewards[:] = paid.tolist()

    return Lists(**{**{f.name: getattr(plain, f.name) for f in fields(Game)}, "step": step})
