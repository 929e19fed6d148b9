"""What nodes and edges of a search tree keep, number by number: in columns, since a record takes Python far longer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from agents.search.tree import EDGE, NODE, SEAT, Tree
from mcts_envs.core.contract import Game

_KINDS = {"nodes": NODE, "edges": EDGE, "seats": SEAT}


class _OfObjects:
    """One number of each of the objects in a list, which may grow."""

    def __init__(self, rows: list[Any], name: str) -> None:
        self._rows, self._name = rows, name

    def __getitem__(self, index: int) -> Any:
        return getattr(self._rows[index], self._name)


@dataclass(frozen=True, eq=False)
class Source:
    """The tree that nodes and edges are views of, the first of a list; compared by identity."""

    trees: Sequence[Tree]
    game: Game
    _columns: dict[tuple[str, str], tuple[Any, Any]] = field(default_factory=dict, init=False, repr=False)

    def __reduce__(self) -> Any:
        return Source, (self.trees, self.game)

    @property
    def tree(self) -> Tree:
        """The tree, which a search that goes on replaces by a larger one."""
        return self.trees[0]

    @cached_property
    def players(self) -> int:
        """How many there are."""
        return self.tree.players

    def column(self, rows: str, name: str) -> Any:
        """Return one number of all ``nodes``, ``edges`` or ``seats`` (of each node, player by player), by index."""
        held, column = self._columns.get((rows, name), (None, None))
        present = getattr(self.tree, rows)
        if held is not present:
            plain = isinstance(present, list)
            column = _OfObjects(present, name) if plain else memoryview(present.view(_KINDS[rows])[name])
            self._columns[rows, name] = present, column
        return column

    def via(self, node: int) -> tuple[int, ...]:
        """Return the edges by which a node is reached, without those who did not choose."""
        column, first = self.column("seats", "via"), node * self.players
        return tuple(edge for seat in range(first, first + self.players) if (edge := column[seat]))

    def chose(self, node: int) -> tuple[int, ...]:
        """Return the players who have edges at a node."""
        column, first = self.column("seats", "head"), node * self.players
        return tuple(player for player in range(self.players) if column[first + player])

    def children(self, node: int) -> list[int]:
        """Return all outcomes of what is done at a node, most visited first, then oldest."""
        found, child = [], self.column("nodes", "first")[node]
        visits, sibling = self.column("nodes", "visits"), self.column("nodes", "sibling")
        while child:
            found.append((-visits[child], child))
            child = sibling[child]
        return [child for _, child in sorted(found)]

    def edges(self, node: int, player: int) -> list[int]:
        """Return a player's edges at a node, newest first."""
        found, edge = [], self.column("seats", "head")[node * self.players + player]
        following = self.column("edges", "next")
        while edge:
            found.append(edge)
            edge = following[edge]
        return found
