"""What a study of published results is made of: tables, each a list of cells that are played and measured alike."""

import hashlib
import importlib.util
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agents.arena import AgentSpec, Plan

if TYPE_CHECKING:
    from PIL.Image import Image

    from papers.measures import Measure
    from papers.record import Record

FEWEST = 2
"""Start boards of a cell, however small the scale: one alone has no interval."""


@dataclass(frozen=True)
class Entrant:
    """An agent under a label, by its name and settings for ``agents.make``."""

    label: str
    agent: str
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @property
    def spec(self) -> AgentSpec:
        """The player as the arena wants it."""
        return AgentSpec(self.label, self.agent, dict(self.settings))


@dataclass(frozen=True)
class Cell:
    """Games of the same kind, and what was published about them.

    Attributes
    ----------
    words : tuple of str
        What stands in the first columns of its line.
    players : tuple of Entrant
        One in a game for one, or against ``against``; else all who meet.
    environment : str
        Id without ``mcts_envs/``.
    games : int
        At scale 1: as many as were published, or more. Whole boards are played, each from all seats.
    settings : dict
        Of the environment.
    against : Entrant, optional
        Who plays all other seats.
    published
        In the terms of the measure of its table.
    measure : callable, optional
        ``measure(number) -> value``, JSON-able, in place of a game: a position, or a game of another kind.
    minutes : float
        What a measure takes at scale 1, if it takes as long as it is given: ``measure(number, minutes)``. It is a
        function of a module then, and cells of such measures are taken together, by as many processes as play.
    apart : bool
        Whether ``measure(number)`` is a function of a module too, so that several processes take measures.
    needs : tuple of str
        Modules without which it is left out.
    """

    words: tuple[str, ...]
    players: tuple[Entrant, ...]
    environment: str
    games: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    against: Entrant | None = None
    published: Any = None
    measure: Callable[..., Any] | None = None
    minutes: float = 0.0
    apart: bool = False
    needs: tuple[str, ...] = ()

    @property
    def spread(self) -> bool:
        """Whether its measures are taken by several processes."""
        return self.apart or self.minutes > 0

    @property
    def missing(self) -> list[str]:
        """What it needs and is not here: modules, and the file of its game, which lies in a checkout."""
        file = self.environment.rpartition(":")[0]
        lacks_game = file.endswith(".py") and not Path(file).is_file()
        return [name for name in self.needs if importlib.util.find_spec(name) is None] + [file] * lacks_game

    @property
    def company(self) -> tuple[Any, ...]:
        """Cells of the same company are played in one comparison, on the same boards: an agent each, against the same.

        Others are alone.
        """
        alone = (self.words, self.players) if len(self.players) > 1 or (self.measure and not self.minutes) else ()
        return self.environment, json.dumps(dict(self.settings), sort_keys=True), self.against, self.games, alone

    @property
    def key(self) -> str:
        """What tells it from all others: who plays what, and what is measured."""
        seated = [*self.players, *([self.against] if self.against else [])]
        players = [(player.label, player.agent, dict(player.settings)) for player in seated]
        what: list[Any] = [
            self.words if self.measure else (),
            players,
            self.environment,
            dict(self.settings),
            bool(self.against),
        ]
        what += [self.minutes] if self.minutes else []
        return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()[:12]


def plan_of(cells: Sequence[Cell], keep: tuple[str, ...] = ()) -> Plan:
    """Return the comparison of cells of the same company."""
    first = cells[0]
    players = dict.fromkeys(player.spec for cell in cells for player in cell.players)
    specs = tuple(players) if first.against or len(cells) > 1 else tuple(player.spec for player in first.players)
    against = first.against and first.against.spec
    agents = (*specs, against) if against else specs
    return Plan(first.environment, agents, dict(first.settings), keep=keep, against=against.label if against else None)


def boards_of(cell: Cell, plan: Plan, scale: float) -> int:
    """Return how many start boards of a cell are played at a scale."""
    orders = len(plan.board(plan.lineups[0], 0))
    return max(FEWEST, -(-round(cell.games * scale) // orders))


@dataclass(frozen=True)
class Table:
    """Cells that are measured alike.

    Attributes
    ----------
    title : str
    words : tuple of str
        Heads of the first columns.
    measure : Measure
    cells : tuple of Cell
    note : str
        Stands above it.
    draw : callable, optional
        ``draw(results) -> picture`` of the first cell, to stand below it; None where there is nothing to draw.
    """

    title: str
    words: tuple[str, ...]
    measure: "Measure"
    cells: tuple[Cell, ...]
    note: str = ""
    draw: "Callable[[Sequence[Any]], Image | None] | None" = None


class Summary(ABC):
    """What several tables come to together."""

    note: str

    @abstractmethod
    def heads(self, record: "Record") -> tuple[str, ...]:
        """Return the heads of its columns."""

    @abstractmethod
    def lines(self, record: "Record") -> list[list[str]]:
        """Return its lines, as far as the cells have been played."""

    def draw(self, record: "Record") -> "Image | None":
        """Return it as a picture, None where there is nothing to draw."""
        return None


@dataclass(frozen=True)
class Study:
    """A source document, or several about one game, and all that is reproduced of it.

    Attributes
    ----------
    name : str
        On the command line.
    title, source : str
        Head of its page, and a paragraph on what is reproduced of which document.
    make : callable
        Returns its tables; called when the study is played or written, since it may look at games.
    summary : Summary, optional
        Stands above the tables.
    rows : bool
        Keep the games beside the page too, compressed, so that playing goes on on another machine.
    conclusion : callable, optional
        ``conclusion(record) -> text``, which stands above the tables.
    earlier : str
        What was played before and is not in the tables any more, in paragraphs.
    """

    name: str
    title: str
    source: str
    make: Callable[[], Sequence[Table]]
    summary: "Summary | None" = None
    rows: bool = False
    conclusion: "Callable[[Record], str] | None" = None
    earlier: str = ""

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """Its tables, in the order of the page."""
        return tuple(self.make())
