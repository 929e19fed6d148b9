"""The tables of games for two: ranking, pairings and crosstable."""

from math import isnan

from rich import box
from rich.table import Table
from rich.text import Text

from agents.arena.cells import NONE, cost, error_columns, error_count, new_table, number, percent, shown_names
from agents.arena.figures import Pairing, Summary
from agents.arena.report import Report, overruns
from agents.arena.statistics import Estimate

_RANK = "#"


def ranked(report: Report) -> list[Summary]:
    """Return the figures of the agents by points, best first; the one that all others play against comes last."""
    return sorted(
        report.summaries, key=lambda s: (s.agent in report.plan.opponents, isnan(s.win_rate.value), -s.win_rate.value)
    )


def ranking_table(report: Report, lines: box.Box) -> Table:
    """Return the table with a row for each agent, best first."""
    errors, late = error_columns(s.errors for s in report.summaries), overruns(report)
    columns = "games", "points %", "won", "tied", "lost", "length", "ms", "steps", *errors
    table, names = new_table(lines, _RANK, "agent", *columns), _names(report, lines)
    for rank, s in enumerate(ranked(report), 1):
        place = NONE if s.agent in report.plan.opponents else str(rank)
        counts = [str(count) for count in (s.wins, s.ties, s.losses)]
        costs: list[str | Text] = [number(s.length, ".1f"), *cost(s, s.agent in late)]
        costs += [error_count(s.errors) for _ in errors]
        table.add_row(place, Text(names[s.agent]), str(s.games), percent(s.win_rate), *counts, *costs)
    return table


def pairings_table(report: Report, lines: box.Box) -> Table:
    """Return the table with a row for each pair of agents; an interval without 50 % is bold."""
    columns = "boards", "points %", "won", "tied", "lost", "1st", "2nd"
    table, names = new_table(lines, "agent", "against", *columns), _names(report, lines)
    for p in report.pairings:
        points, counts = percent(p.points), [str(count) for count in (p.wins, p.ties, p.losses)]
        points.stylize(_weight(p.points))
        seats = [number(100.0 * share, ".0f") for share in p.by_seat]
        table.add_row(Text(names[p.agent]), Text(names[p.opponent]), str(p.boards), points, *counts, *seats)
    return table


def crosstable(report: Report, lines: box.Box) -> Table:
    """Return the points in percent of each agent (row) against each other one (column, by rank)."""
    found = {pair: cell for p in report.pairings for pair, cell in _both(p)}
    order, names = [s.agent for s in ranked(report)], _names(report, lines)
    table = new_table(lines, _RANK, "agent", *(str(rank) for rank in range(1, len(order) + 1)))
    for rank, agent in enumerate(order, 1):
        table.add_row(str(rank), Text(names[agent]), *(found.get((agent, other), Text()) for other in order))
    return table


def _names(report: Report, lines: box.Box) -> dict[str, str]:
    return shown_names([s.agent for s in report.summaries], lines)


def _both(p: Pairing) -> list[tuple[tuple[str, str], Text]]:
    """Return a pairing as either of the two sees it."""
    value, weight = 100.0 * p.points.value, _weight(p.points)
    shares = ((p.agent, p.opponent), value), ((p.opponent, p.agent), 100.0 - value)
    return [(pair, Text(number(share, ".1f"), weight)) for pair, share in shares]


def _weight(points: Estimate) -> str:
    """Return the style of points: bold where the interval leaves no doubt who is better."""
    return "bold" if points.low > 0.5 or points.high < 0.5 else ""
