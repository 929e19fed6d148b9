"""Games for two: every pair of agents plays every start board from both seats."""

from collections.abc import Mapping
from math import isnan
from typing import TYPE_CHECKING, ClassVar

from rich import box
from rich.table import Table
from rich.text import Text

from agents.arena.formats import duel_figures
from agents.arena.formats.base import (
    COSTS,
    INTERVALS,
    Figures,
    Format,
    Mark,
    by_setting,
    compared,
    differences_tables,
    lead,
    ratings_legend,
    ratings_table,
    require_meeting,
)
from agents.arena.report.cells import NONE, cost, fault_cells, fault_columns, new_table, number, percent, shown_names
from agents.arena.report.figures import Pairing, Summary
from agents.arena.rows import Rows
from agents.arena.statistics.estimates import Estimate
from agents.spec import require_distinct

if TYPE_CHECKING:
    from agents.arena.plan import Plan
    from agents.arena.report.report import Report

_RANK = "#"


class Duel(Format):
    """Pairs of agents; a tie is half a point, and a board counts if both of its games ended without an error."""

    left_out: ClassVar[str] = "left out, with the other game of the pair on that board"

    def check(self, plan: "Plan") -> None:
        """Check that agents can be told apart, and meet another one.

        Raises
        ------
        ValueError
            If not.
        """
        require_distinct(plan.agents)
        require_meeting(
            plan,
            f"{plan.agents[0].label!r} is alone in a game for 2; give another agent to play against{by_setting(plan)}",
        )

    def figures(self, plan: "Plan", rows: Rows, episodes: int, resamples: int) -> Figures:
        """Sum up pairings, and each agent over all of its own."""
        met = [(first.label, second.label) for (first,), (second,) in plan.lineups]
        opponents = {
            spec.label: [pair[pair[0] == spec.label] for pair in met if spec.label in pair] for spec in plan.agents
        }
        boards = duel_figures.boards_of(rows, met, episodes)
        summaries = [duel_figures.summary(rows, boards, label, others) for label, others in opponents.items()]
        differences = [
            duel_figures.difference(boards, *pair, host)
            for host in plan.opponents
            for pair in compared([s for s in summaries if s.agent != host])
        ]
        labels = [spec.label for spec in plan.agents]
        return Figures(
            summaries,
            differences,
            [duel_figures.pairing(boards, *pair) for pair in met],
            ratings=duel_figures.ratings(rows, boards, labels, episodes, resamples),
            doubts=duel_figures.doubts(boards, met),
        )

    def score(self, plan: "Plan", rows: Rows, episode: int) -> float | None:
        """Return the mean points of both games, or half the lead over the other against the same one."""
        agent, other = self.contest(plan)
        if not plan.opponents:
            board = duel_figures.board_of(rows, agent, other, episode)
            return None if board is None else duel_figures.points_of(board)
        ours, theirs = (duel_figures.board_of(rows, label, plan.opponents[0], episode) for label in (agent, other))
        if ours is None or theirs is None:
            return None
        return lead(duel_figures.points_of(ours), duel_figures.points_of(theirs))

    def tables(self, report: "Report", lines: box.Box) -> list[Table]:
        """Return the ranking, the pairings, the differences, and all against all where they are."""
        points = {"points": lambda d: percent(d.win_rate, "+")}
        result = [_ranking_table(report, lines), _pairings_table(report, lines)]
        result += differences_tables(report, lines, "boards", points)
        return [
            *result,
            *([_crosstable(report, lines)] if len(report.pairings) > 1 and not report.plan.against else []),
            *ratings_table(report, lines, _names(report, lines)),
        ]

    def played(self, report: "Report") -> str:
        """Say which boards."""
        boards = f"{self.counted(report.episodes)} of seed {report.plan.seed}"
        return f"{boards}, the same for all pairings, each from both seats"

    def legend(self, report: "Report") -> str:
        """Say how to read the figures."""
        minus = "minus: on the same boards, against the same others; " if report.differences else ""
        rated = ratings_legend(report)
        return f"points: a tie is half a point; {minus}{rated}{INTERVALS} over the boards; {COSTS}"

    def quantity(self, plan: "Plan") -> str:
        """Name the figure that is drawn."""
        return "points"

    def marks(self, report: "Report", names: Mapping[str, str]) -> list[Mark]:
        """Return a mark for each agent, best first."""
        return [Mark(names[s.agent], s.games, s.win_rate) for s in ranked(report)]


def ranked(report: "Report") -> list[Summary]:
    """Return the figures of the agents by points, best first; the one that all others play against comes last."""
    return sorted(
        report.summaries, key=lambda s: (s.agent in report.plan.opponents, isnan(s.win_rate.value), -s.win_rate.value)
    )


def _ranking_table(report: "Report", lines: box.Box) -> Table:
    """Return the table with a row for each agent, best first."""
    faults, late = fault_columns(report.summaries), report.overruns
    columns = "games", "points %", "won", "tied", "lost", "length", "ms", "steps", *faults
    table, names = new_table(lines, _RANK, "agent", *columns), _names(report, lines)
    for rank, s in enumerate(ranked(report), 1):
        place = NONE if s.agent in report.plan.opponents else str(rank)
        counts = [str(count) for count in (s.wins, s.ties, s.losses)]
        costs: list[str | Text] = [number(s.length, ".1f"), *cost(s, s.agent in late)]
        costs += fault_cells(s, faults)
        table.add_row(place, Text(names[s.agent]), str(s.games), percent(s.win_rate), *counts, *costs)
    return table


def _pairings_table(report: "Report", lines: box.Box) -> Table:
    """Return the table with a row for each pair of agents; an interval without 50 % is bold."""
    columns = "boards", "points %", "won", "tied", "lost", "1st", "2nd"
    table, names = new_table(lines, "agent", "against", *columns), _names(report, lines)
    for p in report.pairings:
        points, counts = percent(p.points), [str(count) for count in (p.wins, p.ties, p.losses)]
        points.stylize(_weight(p.points))
        seats = [number(100.0 * share, ".0f") for share in p.by_seat]
        table.add_row(Text(names[p.agent]), Text(names[p.opponent]), str(p.boards), points, *counts, *seats)
    return table


def _crosstable(report: "Report", lines: box.Box) -> Table:
    """Return the points in percent of each agent (row) against each other one (column, by rank)."""
    found = {pair: cell for p in report.pairings for pair, cell in _both(p)}
    order, names = [s.agent for s in ranked(report)], _names(report, lines)
    table = new_table(lines, _RANK, "agent", *(str(rank) for rank in range(1, len(order) + 1)))
    for rank, agent in enumerate(order, 1):
        table.add_row(str(rank), Text(names[agent]), *(found.get((agent, other), Text()) for other in order))
    return table


def _names(report: "Report", lines: box.Box) -> dict[str, str]:
    return shown_names([s.agent for s in report.summaries], lines)


def _both(p: Pairing) -> list[tuple[tuple[str, str], Text]]:
    """Return a pairing as either of the two sees it."""
    value, weight = 100.0 * p.points.value, _weight(p.points)
    shares = ((p.agent, p.opponent), value), ((p.opponent, p.agent), 100.0 - value)
    return [(pair, Text(number(share, ".1f"), weight)) for pair, share in shares]


def _weight(points: Estimate) -> str:
    """Return the style of points: bold where the interval leaves no doubt who is better."""
    return "bold" if points.low > 0.5 or points.high < 0.5 else ""
