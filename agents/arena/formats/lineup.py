"""Games for more than two: line-ups play every start board in several orders of seats."""

from collections.abc import Mapping
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING, Any, ClassVar

from rich import box
from rich.table import Table
from rich.text import Text

from agents.arena.formats import lineup_figures
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
from agents.arena.formats.lineup_figures import side_name
from agents.arena.lineups import all_seatings
from agents.arena.report.cells import (
    NONE,
    cost,
    fault_cells,
    fault_columns,
    new_table,
    number,
    percent,
    plain,
    shown_names,
)
from agents.arena.report.figures import Standing
from agents.arena.rows import Rows
from agents.spec import AgentSpec, require_distinct

if TYPE_CHECKING:
    from agents.arena.plan import Plan
    from agents.arena.report.report import Report


OTHERS = "others"
"""Label of an agent as it is shipped, in the seats around one that is tuned."""


class Lineups(Format):
    """Sides of players or teams; a board counts if all games of a line-up on it ended without an error."""

    left_out: ClassVar[str] = "left out, with all games of the line-up on that board"

    def check(self, plan: "Plan") -> None:
        """Check that agents can be told apart, and fill the game.

        Raises
        ------
        ValueError
            If not.
        """
        several = plan.against is None  # a line-up may have an agent several times
        require_distinct(tuple(dict.fromkeys(plan.agents)) if several else plan.agents)
        require_meeting(plan, _cure(plan))

    def configuration(self, plan: "Plan") -> dict[str, Any]:
        """Return who meets, since that depends on the order of the agents."""
        met = [[[spec.label for spec in side] for side in lineup] for lineup in plan.lineups]
        return {**super().configuration(plan), "lineups": met}

    def contest(self, plan: "Plan") -> tuple[str, str]:
        """Return the two whom a sequential test compares, as in other formats, where each has a side of its own.

        Raises
        ------
        ValueError
            If they are not two, or one plays beside another.
        """
        first, second = super().contest(plan)
        names = {side_name(spec.label for spec in side) for lineup in plan.lineups for side in lineup}
        if not {first, second} <= names:
            mates = min(names - {first, second})
            raise ValueError(
                f"a sequential test is of two agents with a team of their own each, and here {mates} are mates; give "
                f"{first},{second}"
            )
        return first, second

    def rivals(self, shipped: AgentSpec, against: AgentSpec | None) -> tuple[AgentSpec | None, AgentSpec | None]:
        """Return the same others for all."""
        others = against or replace(shipped, label=OTHERS)
        return others, others

    def figures(self, plan: "Plan", rows: Rows, episodes: int, resamples: int) -> Figures:
        """Sum up sides, and each agent over all of its seats."""
        boards = lineup_figures.whole_boards(plan, rows, range(episodes))
        labels = dict.fromkeys(spec.label for spec in plan.agents)
        summaries = [lineup_figures.summary(plan, rows, boards, label) for label in labels]
        differences = [
            lineup_figures.difference(plan, boards, *pair)
            for pair in compared([s for s in summaries if s.agent not in plan.opponents])
            if plan.against
        ]
        rated, doubts = lineup_figures.ratings(plan, boards, resamples)
        return Figures(
            summaries,
            differences,
            standings=lineup_figures.standings(plan, boards),
            ratings=rated,
            doubts=doubts,
        )

    def score(self, plan: "Plan", rows: Rows, episode: int) -> float | None:
        """Return half the lead in mean points: in the same games, or against the same others."""
        boards = lineup_figures.whole_boards(plan, rows, [episode])
        points = lineup_figures.points_on(plan, boards, self.contest(plan), episode)
        return None if points is None else lead(*points)

    def tables(self, report: "Report", lines: box.Box) -> list[Table]:
        """Return how sides stand, what the agents' games were like, and the differences."""
        points = {"points": lambda d: percent(d.win_rate, "+")}
        differences = differences_tables(report, lines, "boards", points)
        rated = ratings_table(report, lines, _names(report, lines))
        return [_standings_table(report, lines), _agents_table(report, lines), *differences, *rated]

    def played(self, report: "Report") -> str:
        """Say which boards, who meets, and in which orders of seats."""
        return f"{self.counted(report.episodes)} of seed {report.plan.seed}, the same for all; {_meeting(report.plan)}"

    def legend(self, report: "Report") -> str:
        """Say how to read the figures."""
        minus = "minus: on the same boards, against the same others; " if report.differences else ""
        rewards = "by rewards, then " * (report.plan.discount is None)
        ranked = f"rank: 1 the best, then {rewards}by the end of one's own game, equals share; "
        alone = "" if _in_teams(report) else ranked
        how = f"{alone}{minus}{ratings_legend(report)}"
        return f"points: as the game gives them; {how}{INTERVALS} over the boards; {COSTS}"

    def quantity(self, plan: "Plan") -> str:
        """Name the figure that is drawn."""
        return "win rate"

    def marks(self, report: "Report", names: Mapping[str, str]) -> list[Mark]:
        """Return a mark for each side, best first."""
        return [Mark(names.get(s.name, s.name), s.games, s.wins) for _, s in ranked_sides(report)]


def _cure(plan: "Plan") -> str:
    """Say what to write where agents cannot fill the game."""
    labels, teams = [spec.label for spec in plan.agents], len(plan.teams)
    whole = f", or {teams} that play a team each" if teams < plan.seats else ""
    return (
        f"{plan.id} is a game for {plan.seats}; {', '.join(labels)} cannot fill it: give {plan.seats} agents (the same "
        f"one several times if you like){whole}, or --against with who plays the other seats{by_setting(plan)}"
    )


def ranked_sides(report: "Report") -> list[tuple[str, Standing]]:
    """Return place and figures of all sides, by points, best first; those whom all others meet come last, unplaced."""
    met = {side_name(spec.label for spec in side) for lineup in report.plan.lineups for side in lineup[1:]}
    hosts = met if report.plan.against else set()
    order = sorted(report.standings, key=lambda s: (s.name in hosts, isnan(s.points.value), -s.points.value))
    return [(NONE if s.name in hosts else str(place), s) for place, s in enumerate(order, 1)]


def _standings_table(report: "Report", lines: box.Box) -> Table:
    """Return the table with a row for each side, best first."""
    side = "team" if _in_teams(report) else "agent"
    table = new_table(lines, "#", side, "games", "win rate %", "tie rate %", "loss rate %", "points %")
    names = _names(report, lines)
    for place, s in ranked_sides(report):
        shares = [percent(share) for share in (s.wins, s.ties, s.losses, s.points)]
        table.add_row(place, Text(names[s.name]), str(s.games), *shares)
    return table


def _agents_table(report: "Report", lines: box.Box) -> Table:
    """Return the table with what each agent's games were like: its rank, unless in a team, and what moves cost."""
    rank = {} if _in_teams(report) else {s.name: plain(s.rank) for s in report.standings}
    faults, late = fault_columns(report.summaries), report.overruns
    table = new_table(lines, "agent", *(["rank"] if rank else []), "length", "ms", "steps", *faults)
    names = shown_names([s.agent for s in report.summaries], lines)
    for s in report.summaries:
        own = [rank[s.agent]] if rank else []
        costs = number(s.length, ".1f"), *cost(s, s.agent in late)
        table.add_row(Text(names[s.agent]), *own, *costs, *fault_cells(s, faults))
    return table


def _names(report: "Report", lines: box.Box) -> dict[str, str]:
    """Return how each side is written."""
    own = shown_names([s.agent for s in report.summaries], lines)
    return {s.name: " + ".join(own[mate] for mate in s.name.split(" + ")) for s in report.standings}


def _in_teams(report: "Report") -> bool:
    return len(report.plan.teams) < report.plan.seats


def _meeting(plan: "Plan") -> str:
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
