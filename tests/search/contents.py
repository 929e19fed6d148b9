"""What a tree knows of its nodes and edges, and games whose trees are lists of objects."""

from dataclasses import fields

import numpy as np

from agents.tree import EDGE, NODE, PLAYERS, ROOT, WIDTH
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import row


def contents(tree, start=ROOT):
    """Return what a tree knows of its nodes and edges by the way there: what was done, and what came of it."""
    players, width = int(tree.counters[PLAYERS]), int(tree.counters[WIDTH])
    found = {}

    def look(node, path):
        assert path not in found, "two nodes for one way"
        found[path] = (int(row(tree.nodes, node, NODE).visits),)
        for player in range(players):
            edge = tree.head[node * players + player]
            while edge:
                e = row(tree.edges, edge, EDGE)
                own = tree.own[edge * width : (edge + 1) * width]
                found[path, player, int(e.action)] = (int(e.visits), float(e.sums), float(e.squares), *map(float, own))
                edge = e.next
        child = row(tree.nodes, node, NODE).first
        while child:
            via = [tree.via[child * players + player] for player in range(players)]
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
