"""How cells are measured: what is kept of a start board, and how a line of a table reads."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from agents.arena.formats.duel_figures import score
from agents.arena.formats.lineup_figures import reached, side_name
from agents.arena.lineups import Teams
from agents.arena.rows import Row
from agents.arena.statistics.estimates import Estimate, mean_points, student_mean, wilson
from papers.study import Cell

Line = dict[str, str]
"""What stands in a line, by the head of the column."""


class Rate(NamedTuple):
    """A published rate in percent, of so many games; of none where the source gives no number."""

    percent: float
    games: int = 0

    @property
    def estimate(self) -> Estimate:
        """It with its interval; without one where the number of games is unknown."""
        share = self.percent / 100
        return wilson(share * self.games, self.games) if self.games else Estimate(share, share, share)

    def __str__(self) -> str:
        return f"{percent(self.estimate)} of {self.games}" if self.games else f"{self.percent:g}"


@dataclass(frozen=True)
class Cost:
    """What the moves of an agent cost, over all of its games."""

    games: int = 0
    moves: int = 0
    decisions: int = 0
    seconds: float = 0.0

    @property
    def milliseconds(self) -> str:
        """Of a move at which there was a choice."""
        if not self.decisions:
            return ""
        value = 1000 * self.seconds / self.decisions
        return f"{value:.3f}" if value < 1 else f"{value:.1f}"


class Found(NamedTuple):
    """What has been measured of a cell: its result on each board, and costs by agent."""

    results: list[Any]
    costs: Mapping[str, Cost]


class Measure(ABC):
    """What is kept of a start board of a cell, and the columns that it makes.

    Attributes
    ----------
    columns : tuple of str
        Heads, without the first columns that name the cell.
    ours : str
        The column that says so where a cell has not been played.
    keep : tuple of str
        Entries of the last position that it needs.
    """

    columns: tuple[str, ...]
    ours: str
    keep: tuple[str, ...] = ()

    @abstractmethod
    def result(self, cell: Cell, rows: Sequence[Row], teams: Teams) -> Any:
        """Return what is kept, JSON-able, of all matches on a board."""

    @abstractmethod
    def lines(self, cell: Cell, found: Found) -> list[Line]:
        """Return the lines of a cell that has been played."""

    def known(self, cell: Cell) -> list[Line]:
        """Return the lines of a cell that has not been played: what was published."""
        return [{"published %": str(cell.published)} if isinstance(cell.published, Rate) else {}]


def percent(estimate: Estimate) -> str:
    """Write a rate with its interval."""
    return f"{100 * estimate.value:.1f} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def verdict(ours: Estimate, theirs: Estimate) -> str:
    """Say whether two intervals meet, and if not, on which side ours lies."""
    if theirs.low <= ours.high and ours.low <= theirs.high:
        return "consistent"
    return "better" if ours.value > theirs.value else "below"


class Wins(Measure):
    """Games for one: won or not."""

    columns = "published %", "ours %", "games", "verdict", "ms a move"
    ours = "ours %"

    def result(self, cell: Cell, rows: Sequence[Row], teams: Teams) -> float:
        """Return the outcome."""
        ((seat,),) = (row.seats for row in rows)
        return float(seat.outcome or 0.0)

    def lines(self, cell: Cell, found: Found) -> list[Line]:
        """Return the win rate, with Wilson's interval."""
        rate = wilson(sum(found.results), len(found.results))
        line = {"ours %": percent(rate), "games": f"{len(found.results):,}"}
        line["ms a move"] = found.costs[cell.players[0].label].milliseconds
        if cell.published is not None:
            line |= {"published %": str(cell.published), "verdict": verdict(rate, cell.published.estimate)}
        return [line]


class Points(Measure):
    """Games for two on each board, one from each seat; a tie is half a point.

    Parameters
    ----------
    theirs : str
        Head of the column of what is published, or wanted.
    """

    ours = "points %"

    def __init__(self, theirs: str = "published %") -> None:
        self._theirs = theirs
        self.columns = (
            *(theirs, "points %", "games", "won", "tied", "lost", "verdict"),
            *("ms a move", "its opponent's", "moves a game"),
        )

    def result(self, cell: Cell, rows: Sequence[Row], teams: Teams) -> list[float]:
        """Return the points of the player from each seat."""
        seats = (sorted(row.seats, key=lambda seat: seat.agent != cell.players[0].label) for row in rows)
        return [score(own, other) for own, other in seats]

    def lines(self, cell: Cell, found: Found) -> list[Line]:
        """Return the points, with an interval over the boards."""
        games = [points for board in found.results for points in board]
        points = mean_points([float(np.mean(board)) for board in found.results])
        counts = [sum(test) for test in zip(*((s > 0.5, s == 0.5, s < 0.5) for s in games), strict=True)]
        assert cell.against is not None
        own, other = found.costs[cell.players[0].label], found.costs[cell.against.label]
        line = {"points %": percent(points), "games": f"{len(games):,}"}
        line |= dict(zip(("won", "tied", "lost"), map(str, counts), strict=True))
        line |= {"ms a move": own.milliseconds, "its opponent's": other.milliseconds}
        line["moves a game"] = f"{2 * own.moves / own.games:.0f}"
        if cell.published is not None:
            line |= {self._theirs: str(cell.published), "verdict": verdict(points, cell.published.estimate)}
        return [line]

    def known(self, cell: Cell) -> list[Line]:
        """Return what is published, or wanted."""
        return [{self._theirs: str(cell.published)} if cell.published is not None else {}]


Triple = tuple[float, float, float]
"""Games won, tied and lost, in percent."""


class Shares(NamedTuple):
    """Published shares by side, of so many games; a side of two different players is ``"a + b"``."""

    sides: Mapping[str, Triple]
    games: int


class Standings(Measure):
    """Games of several players or of two teams: shares won, tied and lost by each side."""

    columns = "side", "published: won / tied / lost %", "won %", "tied %", "lost %", "games", "verdict"
    ours = "won %"

    def result(self, cell: Cell, rows: Sequence[Row], teams: Teams) -> dict[str, list[float]]:
        """Return by side how many games were won, tied and lost on the board, over all seats that it had."""
        sides: dict[str, list[float]] = {}
        for row in rows:
            for team, got in zip(teams, reached(row, teams), strict=True):
                sums = sides.setdefault(side_name(row.seats[seat].agent for seat in team), [0, 0, 0])
                for at, share in enumerate((got.won, got.tied, got.lost)):
                    sums[at] += int(share)
        return sides

    def lines(self, cell: Cell, found: Found) -> list[Line]:
        """Return a line for each side that was published, or, if none was, that the others do not all meet."""
        lines = []
        for side in self._sides(cell, found.results[0]):
            counts = np.array([board[side] for board in found.results], float)
            columns = (counts / counts.sum(1, keepdims=True)).T
            shares = [mean_points(column) for column in columns]
            line = {"side": side, "games": f"{int(counts.sum()):,}"}
            line |= dict(zip(("won %", "tied %", "lost %"), map(percent, shares), strict=True))
            if cell.published is not None:
                line |= self._published(cell, side)
                line["verdict"] = shares_verdict(cell.published.sides[side], cell.published.games, shares)
            lines.append(line)
        return lines

    def known(self, cell: Cell) -> list[Line]:
        """Return the lines of the sides that were published."""
        if cell.published is not None:
            return [self._published(cell, side) for side in cell.published.sides]
        return [{"side": " against ".join(player.label for player in cell.players)}]

    @staticmethod
    def _published(cell: Cell, side: str) -> Line:
        shares = " / ".join(f"{share:g}" for share in cell.published.sides[side])
        return {"side": side, "published: won / tied / lost %": f"{shares} of {cell.published.games}"}

    @staticmethod
    def _sides(cell: Cell, board: Mapping[str, Any]) -> list[str]:
        if cell.published is not None:
            return list(cell.published.sides)
        return [side for side in board if cell.against is None or side != cell.against.label]


_MORE = {1: "more", -1: "fewer"}


def shares_verdict(theirs: Triple, games: int, ours: Sequence[Estimate]) -> str:
    """Say which shares have intervals that do not meet those of the published ones, and on which side that puts us.

    More wins or fewer losses are better; where these speak against each other, or ties alone differ, it is "different".
    """
    found = {}
    for name, share, own in zip(("wins", "ties", "losses"), theirs, ours, strict=True):
        known = wilson(share * games / 100, games)
        if own.low > known.high or own.high < known.low:
            found[name] = 1 if own.low > known.high else -1
    if not found:
        return "consistent"
    sense: set[int] = {found.get("wins", 0), -found.get("losses", 0)} - {0}
    word = {1: "better", -1: "below"}[sense.pop()] if len(sense) == 1 else "different"
    return f"{word}: {', '.join(f'{_MORE[way]} {name}' for name, way in found.items())}"


class Means(Measure):
    """Figures of games or positions, each the mean of its column with an interval, or a count.

    Parameters
    ----------
    columns : dict
        Heads, and what makes their figure of all results [n].
    """

    def __init__(self, columns: Mapping[str, Any], unit: str = "games") -> None:
        self._figures, self._unit = columns, unit
        self.columns = *columns, unit
        self.ours = next(iter(columns))

    def result(self, cell: Cell, rows: Sequence[Row], teams: Teams) -> Any:
        """Return what the cell's own measure said."""
        ((value),) = (row.kept["value"] for row in rows if row.kept)
        return value

    def lines(self, cell: Cell, found: Found) -> list[Line]:
        """Return the figures."""
        line = {head: figure(found.results) for head, figure in self._figures.items()}
        return [{**line, self._unit: f"{len(found.results):,}"}]

    def known(self, cell: Cell) -> list[Line]:
        """Return a line with nothing in it."""
        return [{}]


def mean(counts: Sequence[float]) -> str:
    """Write the mean of numbers that are never negative, with its interval."""
    found = student_mean(counts)
    return f"{found.value:.0f} [{max(found.low, 0.0):.0f}, {found.high:.0f}]"
