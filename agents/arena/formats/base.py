"""What a format of a comparison is: how agents meet, and how what came of it is summed up, shown and drawn."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from agents.arena.lineups import Lineup, lineups, seatings
from agents.arena.report.cells import elo, new_table, shown_names
from agents.arena.report.figures import Difference, Pairing, Rating, Standing, Summary
from agents.arena.rows import Match, Row, Rows
from agents.arena.statistics.estimates import LEVEL, Estimate
from agents.inspection.drawing import counted
from agents.spec import AgentSpec
from mcts_envs.core import errors

if TYPE_CHECKING:
    from agents.arena.plan import Plan
    from agents.arena.report.report import Report

INTERVALS = f"[low,high]: {LEVEL:.0%} intervals"
COSTS = "ms, steps (of the model): for a move where there was a choice"


class Figures(NamedTuple):
    """What rows are summed up to; see :class:`agents.arena.report.report.Report`."""

    summaries: list[Summary]
    differences: list[Difference]
    pairings: Sequence[Pairing] = ()
    standings: Sequence[Standing] = ()
    ratings: Sequence[Rating] = ()
    doubts: Sequence[str] = ()


class Mark(NamedTuple):
    """A row of a picture: a name, on how many games its figure stands, and the figure."""

    name: str
    games: int
    figure: Estimate


class Format(ABC):
    """How agents meet, and how what came of it is summed up, shown and drawn.

    All that depends on how many agents play in a match is here, each format a class of its own.

    Attributes
    ----------
    unit, episode : str
        What is played, and what its number is the number of.
    rated : bool
        Whether agents meet, so that they can be rated.
    truncated : str
        What becomes of those of ours that were longer than the plan allows.
    left_out : str
        What does not count where a game ended in an error.
    """

    unit: ClassVar[str] = "games"
    episode: ClassVar[str] = "board"
    rated: ClassVar[bool] = True
    left_out: ClassVar[str] = "left out"
    truncated: ClassVar[str] = "shared by those who were still in the game"

    @abstractmethod
    def check(self, plan: "Plan") -> None:
        """Check that agents can be told apart, and that there is somebody to meet.

        Raises
        ------
        ValueError
            If not, with the cure.
        """

    def lineups(self, plan: "Plan") -> list[Lineup]:
        """Return who meets: each agent alone, or pairs, or all the sides of a game for more."""
        return lineups(plan.agents, plan.teams, plan.opponents)

    def counted(self, episodes: int) -> str:
        """Return so many boards, or episodes, in words."""
        return counted(episodes, self.episode)

    def board(self, plan: "Plan", lineup: Lineup, episode: int) -> list[Match]:
        """Return all matches of a line-up on a start board."""
        return [Match(seats, episode) for seats in seatings(lineup, plan.teams, (plan.seed, episode))]

    def jobs(self, plan: "Plan", episodes: int) -> list[Match]:
        """Return all there is to play, board by board, so that what is unfinished can be compared too."""
        met = self.lineups(plan)
        return [match for episode in range(episodes) for lineup in met for match in self.board(plan, lineup, episode)]

    def configuration(self, plan: "Plan") -> dict[str, Any]:
        """Return what else must be equal for matches to belong to the same results."""
        return {"matches": {"seats": plan.seats, "against": plan.against}}

    def contest(self, plan: "Plan") -> tuple[str, str]:
        """Return the two whom a sequential test compares: all agents but those that all others play against.

        Raises
        ------
        ValueError
            If they are not two.
        """
        tested = list(dict.fromkeys(spec.label for spec in plan.agents if spec.label not in plan.opponents))
        if len(tested) != 2:
            raise ValueError(
                f"a sequential test is of two agents, and these are {len(tested)}: {', '.join(tested)}; give two, and "
                "test others in a comparison of their own"
            )
        return tested[0], tested[1]

    def rivals(self, shipped: AgentSpec, against: AgentSpec | None) -> tuple[AgentSpec | None, AgentSpec | None]:
        """Return whom an agent that is tuned plays against in trials, and in the test against what is shipped.

        None where it meets nobody else: it plays alone, or in the test against what is shipped itself.
        """
        return against or shipped, against

    def of_truncated(self, plan: "Plan") -> str:
        """Say what becomes of games that were longer than a plan allows."""
        return "decided by the rewards so far" if self.rated and plan.discount is None else self.truncated

    def games(self, plan: "Plan") -> int:
        """Return how many games an agent plays on a board."""
        return len(self.board(plan, self.lineups(plan)[0], 0))

    @abstractmethod
    def score(self, plan: "Plan", rows: Rows, episode: int) -> float | None:
        """Return the points in [0, 1] on a board of the first of the two of :meth:`contest` against the second.

        None if a game on it is missing or ended in an error.
        """

    def name(self, row: Row) -> str:
        """Say who played what, for people."""
        asked = "" if row.last_asked is None else f", {row.seats[row.last_asked].agent} to move"
        return f"{' - '.join(row.agents)}, board {row.episode}{asked}"

    @abstractmethod
    def figures(self, plan: "Plan", rows: Rows, episodes: int, resamples: int) -> Figures:
        """Sum up the rows of the first ``episodes`` episodes, with so many resamples of the ratings' bootstrap."""

    @abstractmethod
    def tables(self, report: "Report", lines: box.Box) -> list[Table]:
        """Return the tables of a report."""

    @abstractmethod
    def played(self, report: "Report") -> str:
        """Say what was played."""

    @abstractmethod
    def legend(self, report: "Report") -> str:
        """Say how to read the figures."""

    @abstractmethod
    def quantity(self, plan: "Plan") -> str:
        """Name the figure that is drawn."""

    @abstractmethod
    def marks(self, report: "Report", names: Mapping[str, str]) -> list[Mark]:
        """Return what is drawn, from top to bottom, given how each agent is to be called."""


def lead(points: float, others: float) -> float:
    """Return by how much one is ahead, from 0 to 1: 1/2 where both have as many points in [0, 1]."""
    return (1.0 + points - others) / 2.0


def require_meeting(plan: "Plan", alone: str) -> None:
    """Check that agents of a game for several meet somebody.

    Raises
    ------
    ValueError
        If not; ``alone`` says what to write then.
    """
    if len(plan.teams) == 1:
        raise ValueError(
            f"all {plan.seats} players of {plan.id} are one team, and meet nobody; compare agents that play all of "
            "them, --cooperative, or in one seat: give the setting opponent=NAME for who plays the others, such as "
            "opponent=agents:mcts"
        )
    labels = [spec.label for spec in plan.agents]
    for label in plan.opponents:
        if label not in labels:
            raise ValueError(errors.unknown("against", label, labels))
    try:
        met = plan.lineups
    except ValueError as error:
        raise ValueError(f"against {', '.join(plan.opponents)}: {error}") from None
    if not met or len(set(labels)) < len(labels) != plan.seats:
        raise ValueError(alone)


def by_setting(plan: "Plan") -> str:
    """Say that a game of ours fills its other seats by a setting; nothing of others, which know none."""
    said = ", or the setting opponent=NAME for a player of the environment, such as opponent=random"
    return "" if plan.discount is None else said


def ratings_table(report: "Report", lines: box.Box, names: Mapping[str, str]) -> list[Table]:
    """Return the table with how strong each is, strongest first; an interval without 0 is bold."""
    rated = [r for r in report.ratings if not np.isnan(r.elo.value)]
    if len(rated) < 2:
        return []
    often = ("any time",) if any(not np.isnan(r.anytime.value) for r in rated) else ()
    table = new_table(lines, "agent", "Elo", *often)
    for r in sorted(rated, key=lambda r: -r.elo.value):
        first = r is report.ratings[0]
        table.add_row(
            Text(names[r.agent]), "0" if first else elo(r.elo), *(Text() if first else elo(r.anytime) for _ in often)
        )
    return [table]


def ratings_legend(report: "Report") -> str:
    """Say how to read the ratings."""
    rated = [r for r in report.ratings if not np.isnan(r.elo.value)]
    if len(rated) < 2:
        return ""
    often = any(not np.isnan(r.anytime.value) for r in rated)
    own = "; any time: in their own games, and true however often you look" if often else ""
    return f"Elo: more than {rated[0].agent}{own}; "


def compared(summaries: Sequence[Summary]) -> list[tuple[str, str]]:
    """Return who is compared with whom: all others with the first agent, then with the best one, each pair once."""
    if not summaries:
        return []
    best = max(summaries, key=_how_good).agent
    first, *others = [s.agent for s in summaries]
    return [(label, first) for label in others] + [(label, best) for label in others if best not in (label, first)]


def _how_good(summary: Summary) -> tuple[float, ...]:
    """Return what the best agent has most of; one without a return, as where it lost all by forfeit, comes last."""
    rate, value = summary.win_rate.value, summary.mean_return.value
    return summary.games > 0, np.nan_to_num(rate), np.nan_to_num(value, nan=-np.inf)


def differences_tables(
    report: "Report", lines: box.Box, unit: str, columns: Mapping[str, Callable[[Difference], RenderableType]]
) -> list[Table]:
    """Return the table with how much better agents did than others in the same games, if any were compared.

    An interval without 0 is bold.
    """
    if not report.differences:
        return []
    table = new_table(lines, "agent", "minus", unit, *columns)
    names = shown_names([s.agent for s in report.summaries], lines)
    for d in report.differences:
        shown = [column(d) for column in columns.values()]
        table.add_row(Text(names[d.agent]), Text(names[d.reference]), str(d.pairs), *shown)
    return [table]
