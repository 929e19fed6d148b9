"""Games for one: agents play the same episodes, each alone or against players inside the environment."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from rich import box
from rich.table import Table
from rich.text import Text

from agents.arena.formats.base import COSTS, INTERVALS, Figures, Format, Mark, compared, differences_tables, lead
from agents.arena.report.cells import cost, fault_cells, fault_columns, new_table, number, percent, plain, shown_names
from agents.arena.report.doubts import few_boards, unpaid
from agents.arena.report.figures import Difference, Summary, costs, endings
from agents.arena.rows import Key, Row, Rows, Seat
from agents.arena.statistics.estimates import LEVEL, paired_difference, paired_rates, student_mean, wilson
from agents.spec import AgentSpec, require_distinct

if TYPE_CHECKING:
    from agents.arena.plan import Plan
    from agents.arena.report.report import Report

_Seats: TypeAlias = Mapping[Key, Seat]
"""Of episodes that count, by agent and number."""


class Solo(Format):
    """Each agent in the same episodes; only returns count where an environment does not say who has won."""

    unit: ClassVar[str] = "episodes"
    episode: ClassVar[str] = "episode"
    rated: ClassVar[bool] = False
    truncated: ClassVar[str] = "not won, with the return they had"

    def check(self, plan: "Plan") -> None:
        """Check that agents can be told apart, and are to meet nobody.

        Raises
        ------
        ValueError
            If not.
        """
        require_distinct(plan.agents)
        if plan.against is not None:
            raise ValueError(f"against {plan.against!r}: agents meet no other in {plan.id} as it is set up here")

    def configuration(self, plan: "Plan") -> dict[str, Any]:
        """Return nothing: agents and episodes say it all."""
        return {}

    def rivals(self, shipped: AgentSpec, against: AgentSpec | None) -> tuple[AgentSpec | None, AgentSpec | None]:
        """Return that nobody is met."""
        return None, None

    def name(self, row: Row) -> str:
        """Say who played what."""
        return f"{row.seats[0].agent}, episode {row.episode}"

    def figures(self, plan: "Plan", rows: Rows, episodes: int, resamples: int) -> Figures:
        """Sum up each agent's episodes without an error, and compare those that two agents share.

        One that was lost by forfeit has no return.
        """
        counted = {row.key: row.seats[0] for row in rows.values() if row.error is None}
        played = {row.key: row.seats[0] for row in rows.values() if row.fault is None}
        counted = counted if plan.scored else played
        summaries = [_summary(spec.label, rows, counted, played) for spec in plan.agents]
        differences = [_difference(*pair, counted, played) for pair in compared(summaries)]
        doubts = few_boards(min((s.games for s in summaries if s.games), default=0), "episodes")
        return Figures(summaries, differences, doubts=doubts + unpaid(summaries))

    def score(self, plan: "Plan", rows: Rows, episode: int) -> float | None:
        """Return half the lead in points; where there are none, 1, 1/2 or 0 for a greater, an equal, a lower return."""
        found = [rows.get(((label,), episode)) for label in self.contest(plan)]
        good = [row.seats[0] for row in found if row is not None and row.error is None]
        if len(good) < 2:
            return None
        ours, theirs = good
        if ours.outcome is not None and theirs.outcome is not None:
            return lead(ours.outcome, theirs.outcome)
        mine, other = (-inf if row is None or row.fault else row.seats[0].discounted_return for row in found)
        return lead(mine > other, other > mine)

    def tables(self, report: "Report", lines: box.Box) -> list[Table]:
        """Return a row for each agent, and the differences."""
        wins = {"win rate": lambda d: percent(d.win_rate, "+")} if report.plan.scored else {}
        columns = {**wins, "return": lambda d: plain(d.mean_return, "+")}
        return [_agents_table(report, lines), *differences_tables(report, lines, "pairs", columns)]

    def played(self, report: "Report") -> str:
        """Say which episodes."""
        return f"{self.counted(report.episodes)} of seed {report.plan.seed}, the same for all"

    def legend(self, report: "Report") -> str:
        """Say how to read the figures."""
        return f"{INTERVALS}; minus: in the same episodes; return: discounted by {report.discount:g}; {COSTS}"

    def quantity(self, plan: "Plan") -> str:
        """Name the figure that is drawn."""
        return "win rate" if plan.scored else "return"

    def marks(self, report: "Report", names: Mapping[str, str]) -> list[Mark]:
        """Return a mark for each agent, in their order."""
        scored = report.plan.scored
        return [Mark(names[s.agent], s.games, s.win_rate if scored else s.mean_return) for s in report.summaries]


def _agents_table(report: "Report", lines: box.Box) -> Table:
    """Return the table with a row for each agent."""
    faults, late, scored = fault_columns(report.summaries), report.overruns, report.plan.scored
    wins = ("win rate %",) if scored else ()
    table = new_table(lines, "agent", "games", *wins, "return", "length", "ms", "steps", *faults)
    names = shown_names([s.agent for s in report.summaries], lines)
    for s in report.summaries:
        rates = [percent(s.win_rate)] if scored else []
        figures = plain(s.mean_return), number(s.length, ".1f"), *cost(s, s.agent in late)
        table.add_row(Text(names[s.agent]), str(s.games), *rates, *figures, *fault_cells(s, faults))
    return table


def _summary(label: str, rows: Rows, counted: _Seats, played: _Seats) -> Summary:
    outcomes = _outcomes(_of(label, counted))
    seats = _of(label, played)
    return Summary(
        agent=label,
        games=len(_of(label, counted)),
        win_rate=wilson(sum(outcomes), len(outcomes), LEVEL),
        mean_return=student_mean([seat.discounted_return for seat in seats], LEVEL),
        **costs(seats),
        **endings(rows, label),
    )


def _of(label: str, seats: _Seats) -> list[Seat]:
    return [seat for (agents, _), seat in seats.items() if agents == (label,)]


def _outcomes(seats: Sequence[Seat]) -> list[float]:
    """Return the points of episodes; none of an environment that gives none."""
    return [seat.outcome for seat in seats if seat.outcome is not None]


def _difference(label: str, reference: str, counted: _Seats, played: _Seats) -> Difference:
    ours, theirs = _shared(label, reference, counted)
    rates = paired_rates(_outcomes(ours), _outcomes(theirs), LEVEL)
    pairs = len(ours)
    ours, theirs = _shared(label, reference, played)
    our_returns, their_returns = ([seat.discounted_return for seat in seats] for seats in (ours, theirs))
    return Difference(label, reference, pairs, rates, paired_difference(our_returns, their_returns, LEVEL))


def _shared(label: str, reference: str, seats: _Seats) -> tuple[list[Seat], list[Seat]]:
    """Return the seats of two agents in the episodes that both have."""
    both = [number for agents, number in seats if agents == (label,) and ((reference,), number) in seats]
    return [seats[(label,), number] for number in both], [seats[(reference,), number] for number in both]
