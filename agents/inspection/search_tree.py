"""A search tree to look at: walked node by node, as text, as plain data, or drawn by Graphviz.

A tree has two kinds of places, as in a game tree with chance: a :class:`Node` is a situation in which players choose,
an :class:`Edge` an action of one of them with what came of it. What follows an edge are its *outcomes*: one node in an
open loop, one for every state that came out in a closed loop. Where several players choose at once, each has edges of
its own, and outcomes belong to what they did together (:class:`JointAction`).
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.inspection.columns import Source
from agents.inspection.drawing import as_dot, as_text, counted
from agents.inspection.tree_data import by_players, mean_of, node_data
from agents.search.tree import EDGE, ROOT, Kept, Tree, new_tree
from mcts_envs.core import errors
from mcts_envs.core.contract import Game
from mcts_envs.core.showing import name_of

if TYPE_CHECKING:
    from mcts_envs.core.render import Canvas

MAX_DEPTH = 100
"""Deepest that a tree is written out, in decisions."""


@dataclass(frozen=True, repr=False)
class Node:
    """A situation in which players choose, or where the tree ends; a view, made when it is asked for.

    Simulations that end here visit the node but none of its actions: the first to come, and those for which the game
    or the tree is over.
    """

    _source: Source
    id: int

    @property
    def visits(self) -> int:
        """Simulations that came through."""
        return int(self._source.column("nodes", "visits")[self.id])

    @property
    def parent(self) -> "Node | None":
        """The situation before; None at the root."""
        parent = int(self._source.column("nodes", "parent")[self.id])
        return Node(self._source, parent) if parent else None

    @property
    def action(self) -> int | tuple[int, ...] | None:
        """What led here from the parent: an action, a tuple of those who chose at once.

        None at the root, and where only those chose whose choices tell no nodes apart: drawn or mixed opponents, and
        others whose choices the searching player cannot tell apart.
        """
        actions = [int(self._source.column("edges", "action")[edge]) for edge in self._source.via(self.id)]
        return tuple(actions) if len(actions) > 1 else actions[0] if actions else None

    @property
    def players(self) -> tuple[int, ...]:
        """Who chose here, at once or, after different outcomes in an open loop, one or the other; empty at a leaf."""
        return self._source.chose(self.id)

    @property
    def edges(self) -> "tuple[Edge, ...]":
        """The actions tried here: by player, then visits (of equals, the greater value, then the lower action)."""
        source = self._source
        of_edge: dict[int, list[Node]] = {}
        for child in source.children(self.id):
            for edge in source.via(child):
                of_edge.setdefault(edge, []).append(Node(source, child))
        edges = (
            Edge(source, edge, player, tuple(of_edge.get(edge, ())))
            for player in self.players
            for edge in source.edges(self.id, player)
        )
        return tuple(sorted(edges, key=_rank))

    @property
    def joint_actions(self) -> "tuple[JointAction, ...]":
        """What several players did here at once: by those who chose, then visits, then actions."""
        return self.joint_of(self.edges)

    def joint_of(self, edges: "Sequence[Edge]") -> "tuple[JointAction, ...]":
        """Return :attr:`joint_actions`, to who has all ``edges`` of this node already."""
        source, groups = self._source, dict[tuple[int, ...], list[Node]]()
        for child in source.children(self.id):
            via = source.via(child)
            if len(via) > 1:
                groups.setdefault(via, []).append(Node(source, child))
        by_id = {edge.id: edge for edge in edges}
        joint = (JointAction(tuple(by_id[e] for e in via), tuple(nodes)) for via, nodes in groups.items())
        return tuple(sorted(joint, key=lambda each: (each.players, -each.visits, each.action)))

    @property
    def children(self) -> "tuple[Node, ...]":
        """All outcomes of all that was done here, most visited first."""
        return tuple(Node(self._source, child) for child in self._source.children(self.id))

    @property
    def values(self) -> dict[int, float]:
        """Mean return from here on of each player who chose here, over the simulations in which it did."""
        return {players[0]: mean_of(edges) for players, edges in by_players(self.edges).items()}

    def __repr__(self) -> str:
        who = f", player {', '.join(map(str, self.players))} to choose" if self.players else ""
        return f"Node({counted(self.visits, 'visit')}{who}, {counted(len(self.edges), 'edge')})"


@dataclass(frozen=True, repr=False)
class Edge:
    """An action of one player at a node; a view.

    Attributes
    ----------
    player : int
    children : tuple of Node
        Its outcomes, most visited first; where several choose at once, those of all joint actions with it. Choices of
        mixed opponents, and those that the searching player cannot tell apart, have none: they tell no nodes apart.
    """

    _source: Source
    id: int
    player: int
    children: tuple[Node, ...] = field(compare=False)

    @property
    def players(self) -> tuple[int]:
        """The player, as in a joint action."""
        return (self.player,)

    @property
    def action(self) -> int:
        """The action."""
        return int(self._source.column("edges", "action")[self.id])

    @property
    def name(self) -> str:
        """What the game calls it."""
        return name_of(self._source.game, self.action, self.player)

    @property
    def visits(self) -> int:
        """How often it was chosen."""
        return int(self._source.column("edges", "visits")[self.id])

    @property
    def value(self) -> float:
        """Mean return of the player from here on, in units of reward; NaN without a visit."""
        visits = self.visits
        return float(self._source.column("edges", "sums")[self.id]) / visits if visits else math.nan

    @property
    def outcomes(self) -> tuple[Node, ...]:
        """The outcomes of this action alone: no player chose at the same time."""
        return tuple(child for child in self.children if len(self._source.via(child.id)) == 1)

    def __repr__(self) -> str:
        visits = counted(self.visits, "visit")
        return f"Edge(player {self.player}, action {self.action}: {self.name}, {visits}, {self.value:.4g})"


@dataclass(frozen=True)
class JointAction:
    """What several players did at once at a node.

    Attributes
    ----------
    edges : tuple of Edge
        One of each player who chose.
    outcomes : tuple of Node
        What came of it, most visited first.
    """

    edges: tuple[Edge, ...]
    outcomes: tuple[Node, ...]

    @property
    def players(self) -> tuple[int, ...]:
        """Who chose."""
        return tuple(edge.player for edge in self.edges)

    @property
    def action(self) -> tuple[int, ...]:
        """The players' actions."""
        return tuple(edge.action for edge in self.edges)

    @property
    def name(self) -> str:
        """What the game calls the actions."""
        return " + ".join(edge.name for edge in self.edges)

    @property
    def visits(self) -> int:
        """How often it was done."""
        return sum(node.visits for node in self.outcomes)


class Trees(list[Tree]):
    """The trees of a search, one a thread, as long as somebody looks at them: a search that goes on grows others."""

    __slots__ = ("__weakref__",)


class SearchTree:
    """The tree of a search, to look at.

    The trees of several threads are added up when they are first looked at.

    Parameters
    ----------
    trees : sequence of Tree
        One a thread, all with the same root.
    game : Game

    Examples
    --------
    ``print(result.tree.to_text(depth=2, min_visits=10))``, ``result.tree.root.edges[0].children``.
    """

    def __init__(self, trees: Sequence[Tree], game: Game) -> None:
        self.trees, self.game = trees, game
        self._seen: tuple[Any, Source] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"game": self.game, "trees": self.trees, "_seen": None}  # a game that cannot be pickled says so first

    @property
    def root(self) -> Node:
        """The situation that was searched from."""
        alone = len(self.trees) == 1
        state = None if alone else [(int(tree.count.simulations), int(tree.count.nodes)) for tree in self.trees]
        if self._seen is None or self._seen[0] != state:
            self._seen = state, Source(self.trees if alone else [_merged(self.trees)], self.game)
        return Node(self._seen[1], ROOT)

    def __len__(self) -> int:
        """Return how many nodes the tree has."""
        return int(self.root._source.tree.count.nodes) - ROOT

    def __repr__(self) -> str:
        visits, nodes = counted(self.root.visits, "visit"), counted(len(self), "node")
        return f"SearchTree({self.game.name}: {visits}, {nodes})"

    def visits_of_rank(self, rank: int) -> int:
        """Return how often the action was chosen that has this rank by visits, from 1, among all in the tree; or 0."""
        tree = self.root._source.tree
        edges: Any = tree.edges[: int(tree.count.edges)] if tree.plain else tree.edges
        given = [edge.visits for edge in edges] if tree.plain else edges.view(EDGE)["visits"]
        visits = np.asarray(given, np.int64)
        return int(np.partition(visits, -rank)[-rank]) if rank <= len(visits) else 0

    def to_text(self, depth: int = 2, min_visits: int = 1, width: int | None = None, breadth: int | None = None) -> str:
        """Return the tree as an indented table, the most visited first.

        Every action has a line: its visits, who chose it, and that player's mean return. The right half of the line
        describes the situation after it: who chooses next, the mean returns of those players, and how many actions were
        tried there. Where chance made several outcomes of an action, they have lines of their own.

        Parameters
        ----------
        depth : int
            How many decisions deep, 1 to 100: 1 lists the actions at the root, 2 their outcomes and the actions there.
        min_visits : int
            Leave out what has fewer visits.
        width : int, optional
            Make lines no longer than so many characters: cut labels, then leave out columns.
        breadth : int, optional
            List at most so many actions of a player, and outcomes of an action.

        Raises
        ------
        TypeError, ValueError
            If a limit is no integer, or out of bounds.
        """
        width = None if width is None else errors.integer("width", width, 20, 10_000)
        data = self.to_json(depth, min_visits, breadth)
        return as_text(self.game, data, depth, width)

    def to_json(self, depth: int = 3, min_visits: int = 1, breadth: int | None = None) -> dict[str, Any]:
        """Return the tree as nested dictionaries, which ``json.dumps`` takes.

        A node has ``visits`` and ``choices``: one for each player, and one for those who choose at once. A choice has
        ``players``, ``visits``, ``value`` (the player's mean return; None for several), ``tried`` (how many actions
        were) and ``actions``. Of these each has ``action``, ``name``, ``visits``, ``value`` and ``outcomes``, which are
        nodes. ``omitted`` says of a choice how many actions, and of an action how many outcomes, are left out.

        The limits are those of :meth:`to_text`.
        """
        if breadth is not None:
            breadth = errors.integer("breadth", breadth, 1, 2**62)
        depth = errors.integer("depth", depth, 1, MAX_DEPTH)
        return node_data(self.root, depth, errors.integer("min_visits", min_visits, 0, 2**62), breadth)

    def to_dot(self, depth: int = 2, min_visits: int | None = None, breadth: int | None = 5) -> str:
        """Return the tree as a drawing in the language of Graphviz, for ``dot -Tsvg``.

        Ellipses are situations; arrows are actions, the thicker the more visited. A point is where chance decides. Of
        players who choose at once, each has boxes of its own, and arrows are what they did together.

        The limits are those of :meth:`to_text`; without ``min_visits``, what has less than a hundredth of the root's
        visits is left out.
        """
        if min_visits is None:
            min_visits = max(1, self.root.visits // 100)
        data = self.to_json(depth, min_visits, breadth)
        return as_dot(data)

    def to_picture(self, depth: int = 2, min_visits: int | None = None, breadth: int | None = 5) -> "Canvas":
        """Return the tree as a picture, which ``to_svg()`` and ``to_rgb(cell)`` turn into SVG and pixels.

        The limits are those of :meth:`to_dot`.
        """
        from agents.inspection.tree_picture import as_picture

        if min_visits is None:
            min_visits = max(1, self.root.visits // 100)
        return as_picture(self.to_json(depth, min_visits, breadth))

    def _repr_svg_(self) -> str:
        return self.to_picture().to_svg()

    def principal_variation(self, first: Mapping[int, int] | None = None) -> list[int | tuple[int, ...]]:
        """Return the most visited line: actions, or tuples of the actions of those who choose at once.

        It begins with the actions in ``first``, by player, if they were visited. It follows the most visited action of
        each player (of equals, the greater value, then the lower action) to the most visited outcome of just these,
        down to where no action was visited or they were never done together.
        """
        joint = [tuple(edge.action for edge in step) for step in self.best_line(first)]
        return [actions if len(actions) > 1 else actions[0] for actions in joint]

    def best_line(self, first: Mapping[int, int] | None = None) -> list[tuple[Edge, ...]]:
        """Return the principal variation as edges: in each step one of each player who chose."""
        line: list[tuple[Edge, ...]] = []
        node: Node | None = self.root
        given = set((first or {}).items())
        begun = {edge.player: edge for edge in self.root.edges if edge.visits and (edge.player, edge.action) in given}
        while node is not None:
            best = {player: edges[0] for (player,), edges in by_players(node.edges).items() if edges[0].visits}
            best |= {} if line else begun
            if not best:
                break
            chosen = tuple(best[player] for player in _who_chose(node, best))
            if not chosen:  # only others, whose choices tell no nodes apart
                break
            line.append(chosen)
            via = tuple(edge.id for edge in chosen)
            node = next((child for child in chosen[0].children if node._source.via(child.id) == via), None)
        return line


def _merged(trees: Sequence[Tree]) -> Tree:
    """Return a new tree with the statistics of all."""
    from agents.search.graft import graft

    first = trees[0]
    room = sum(max(int(tree.count.nodes), int(tree.count.edges)) for tree in trees)
    merged = new_tree(
        first.players,
        room,
        edges_each=int(first.count.edges_each),
        kept={kind: Kept(s.per_edge.shape[1], len(s.per_tree), s.parameters) for kind, s in first.stores.items()},
        plain=first.plain,
    )
    for tree in trees:
        graft(tree, ROOT, merged)
    return merged


def _rank(edge: Edge) -> tuple[int, int, float, int]:
    visits = edge.visits
    return edge.player, -visits, -edge.value if visits else math.inf, edge.action


def _who_chose(node: Node, best: dict[int, Edge]) -> tuple[int, ...]:
    """Return the players who most often chose at once at a node: all of them unless chance decides whose turn it is."""
    owner = {edge.id: edge.player for edge in node.edges}
    times: Counter[tuple[int, ...]] = Counter()
    for child in node.children:
        times[tuple(owner[edge] for edge in node._source.via(child.id))] += child.visits
    if times:
        return max(times, key=lambda players: times[players])
    return tuple(best) if node._source.game.simultaneous else (max(best, key=lambda player: best[player].visits),)
