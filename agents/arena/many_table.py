"""The tables of games for more than two: how sides stand, and what the agents' games were like."""

from math import isnan

from rich import box
from rich.table import Table
from rich.text import Text

from agents.arena.cells import (
    NONE,
    cost,
    error_columns,
    error_count,
    new_table,
    number,
    percent,
    plain,
    shown_names,
)
from agents.arena.figures import Standing
from agents.arena.lineups import all_seatings
from agents.arena.many import side_name
from agents.arena.plan import Plan
from agents.arena.report import Report, overruns


def ranked_sides(report: Report) -> list[tuple[str, Standing]]:
    """Return place and figures of all sides, by points, best first; those whom all others meet come last, unplaced."""
    met = {side_name(spec.label for spec in side) for lineup in report.plan.lineups for side in lineup[1:]}
    hosts = met if report.plan.against else set()
    order = sorted(report.standings, key=lambda s: (s.name in hosts, isnan(s.points.value), -s.points.value))
    return [(NONE if s.name in hosts else str(place), s) for place, s in enumerate(order, 1)]


def standings_table(report: Report, lines: box.Box) -> Table:
    """Return the table with a row for each side, best first."""
    side = "team" if _in_teams(report) else "agent"
    table = new_table(lines, "#", side, "games", "win rate %", "tie rate %", "loss rate %", "points %")
    names = _names(report, lines)
    for place, s in ranked_sides(report):
        shares = [percent(share) for share in (s.wins, s.ties, s.losses, s.points)]
        table.add_row(place, Text(names[s.name]), str(s.games), *shares)
    return table


def agents_table(report: Report, lines: box.Box) -> Table:
    """Return the table with what each agent's games were like: its rank, unless in a team, and what moves cost."""
    rank = {} if _in_teams(report) else {s.name: plain(s.rank) for s in report.standings}
    errors, late = error_columns(s.errors for s in report.summaries), overruns(report)
    table = new_table(lines, "agent", *(["rank"] if rank else []), "length", "ms", "steps", *errors)
    names = shown_names([s.agent for s in report.summaries], lines)
    for s in report.summaries:
        own = [rank[s.agent]] if rank else []
        costs = number(s.length, ".1f"), *cost(s, s.agent in late)
        table.add_row(Text(names[s.agent]), *own, *costs, *(error_count(s.errors) for _ in errors))
    return table


def _names(report: Report, lines: box.Box) -> dict[str, str]:
    """Return how each side is written."""
    own = shown_names([s.agent for s in report.summaries], lines)
    return {s.name: " + ".join(own[mate] for mate in s.name.split(" + ")) for s in report.standings}


def _in_teams(report: Report) -> bool:
    return len(report.plan.teams) < report.plan.seats


def meeting(plan: Plan) -> str:
    """Say who meets, and in which orders of seats."""
    met, seatings = plan.lineups, all_seatings(plan.lineups[0], plan.teams)
    if plan.against:
        who = f"each against {', '.join(plan.opponents)} in all other seats"
    elif len(met) == 1:
        names = [side_name(spec.label for spec in side) for side in met[0]]
        who = " against ".join(names) if len(names) < plan.seats else f"line-up {', '.join(names)}"
    else:
        who = f"{len(met)} line-ups of {len(plan.teams)}"
    orders = f"all orders ({len(seatings)})" if seatings else f"{plan.seats} orders, everyone in each seat once"
    return f"{who}; seats on each board: {orders}"
