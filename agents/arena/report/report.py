"""What a comparison found: figures with intervals for each agent, and of each pair of agents."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import agents
from agents.arena.plan import Plan
from agents.arena.report.doubts import cut_short, paid_alike
from agents.arena.report.figures import Difference, Pairing, Rating, Standing, Summary, Trial
from agents.arena.rows import Row, Rows
from agents.arena.statistics.rating import RESAMPLES
from agents.budget import LIMITS
from agents.spec import AgentSpec
from mcts_envs.registry import ENTRIES, full_id

if TYPE_CHECKING:
    from rich.console import RenderableType

_WIDTH = 110
_OVERRUN = 1.2
_SECONDS = 1.0
"""Of thinking, from which on the share of a core is told: some systems count it in ticks of 16 ms."""

_STARVED = 0.85
"""Share of a processor below which a limit of time was hardly the agent's own."""


@dataclass(frozen=True)
class Report:
    """A comparison, finished or not; printed, and at the end of a notebook's cell, its tables.

    Attributes
    ----------
    plan : Plan
    folder : Path
        Where the results are.
    episodes : int
        How many each agent is to play; in games for several, on how many start boards each line-up.
    workers : int
        Processes.
    discount : float
        Of the returns.
    summaries : list of Summary
        In the order of the agents.
    differences : list of Difference
        Of all others against the first agent, then against the best one, each pair once: in games for one, and in games
        for several of the agents that play against the same others.
    failed : list of Row
        Those that ended in an error.
    missing : int
        How many are still to be played.
    pairings : sequence of Pairing
        In games for two: each pair that meets, once.
    standings : sequence of Standing
        In games for more: each side once.
    ratings : sequence of Rating
        In games for several: each agent, or each side, once, in their order.
    doubts : sequence of str
        Why figures may mislead.
    trial : Trial, optional
        Where the sequential test stands, if there is one.
    reused : int
        How many had been played before.
    rows : mapping
        Those of all matches that have been played, by their keys.
    signal : int, optional
        What ended the playing early: ``SIGINT`` (Ctrl-C), ``SIGTERM`` or ``SIGHUP``.
    forfeited : sequence of Row
        Those that an agent has lost by forfeit: by time, a crash, an illegal move, or memory.
    """

    plan: Plan
    folder: Path
    episodes: int
    workers: int
    discount: float
    summaries: list[Summary]
    differences: list[Difference]
    failed: list[Row]
    missing: int
    pairings: Sequence[Pairing] = ()
    standings: Sequence[Standing] = ()
    ratings: Sequence[Rating] = ()
    doubts: Sequence[str] = ()
    trial: Trial | None = None
    reused: int = 0
    signal: int | None = None
    rows: Rows = field(default_factory=dict)
    forfeited: Sequence[Row] = ()

    def __repr__(self) -> str:
        played = f"{len(self.rows)} matches" + (f", {self.missing} to come" if self.missing else "")
        return f"Report({self.plan.id}: {', '.join(spec.label for spec in self.plan.agents)}; {played})"

    def __rich__(self) -> "RenderableType":
        from agents.arena.report.table import render

        return render(self)

    def __str__(self) -> str:
        return _printed(self)

    def _repr_html_(self) -> str:
        from rich.text import Text

        from agents.arena.report.table import render

        parts = render(self).renderables
        tables = _printed(*(part for part in parts if not isinstance(part, Text)))
        notes = "\n".join(part.plain for part in parts if isinstance(part, Text))
        return (
            f'<pre style="overflow-x:auto;white-space:pre">{escape(tables)}</pre>'
            f'<pre style="white-space:pre-wrap;word-break:normal">{escape(notes)}</pre>'
        )

    @property
    def unrecorded(self) -> list[Row]:
        """Those without the replay that the plan wants: they were played before it was wanted."""
        return [row for row in self.rows.values() if self.plan.replays and row.replay is None]

    @property
    def truncated(self) -> list[Row]:
        """Those that were longer than the plan's limit of an episode."""
        return [row for row in self.rows.values() if row.cut_short]

    @property
    def finished(self) -> bool:
        """Whether everything has been played."""
        return self.missing == 0

    @property
    def overruns(self) -> dict[str, tuple[float, float]]:
        """Milliseconds a move and the time limit, by label, of agents that took over 20 % more than they have."""
        limits = {spec.label: 1000.0 * spec.settings["time_limit"] for spec in self.plan.agents if _timed(spec)}
        taken = {s.agent: s.milliseconds for s in self.summaries}
        return {label: (taken[label], limit) for label, limit in limits.items() if taken[label] > _OVERRUN * limit}

    @property
    def starved(self) -> dict[str, float]:
        """Share of a core that planners of ours with a time limit had, by label, where others used the machine."""
        found = {}
        for label in (spec.label for spec in self.plan.agents if _by_the_clock(spec, self.plan.id)):
            seats = [seat for row in self.rows.values() for seat in row.seats if seat.agent == label and seat.decisions]
            seconds = sum(seat.seconds for seat in seats)
            if seconds >= _SECONDS and all(seat.cpu for seat in seats):
                found[label] = sum(seat.cpu for seat in seats) / seconds
        return {label: share for label, share in found.items() if share < _STARVED}


def report(
    plan: Plan,
    folder: Path,
    rows: Rows,
    episodes: int,
    workers: int,
    discount: float,
    resamples: int = RESAMPLES,
) -> Report:
    """Sum up the first ``episodes`` episodes of the plan.

    Parameters
    ----------
    plan, folder, episodes, workers, discount
        See :class:`Report`.
    rows : mapping
        ``key -> row``, as :class:`agents.arena.storage.Results` has them.
    resamples : int
        Those of the ratings' bootstrap.
    """
    keys = {match.key for match in plan.jobs(episodes)}
    played = {key: row for key, row in sorted(rows.items()) if key in keys}
    failed = [row for row in played.values() if row.error is not None]
    found = Report(plan, folder, episodes, workers, discount, [], [], failed, len(keys) - len(played), rows=played)
    found = replace(found, forfeited=[row for row in played.values() if row.forfeit is not None])
    found = replace(found, **plan.format.figures(plan, played, episodes, resamples)._asdict())
    alike = paid_alike(played) if plan.format.rated and plan.discount is None else []
    return replace(found, doubts=[*alike, *found.doubts, *cut_short(found.summaries)])


def _by_the_clock(spec: AgentSpec, id: str) -> bool:
    """Say whether this is a planner of ours with a time limit, its own or that of its preset in an environment."""
    if spec.name not in agents.names():
        return False
    if not spec.settings.keys().isdisjoint(LIMITS):
        return _timed(spec)
    entry = ENTRIES.get(full_id(id))
    return entry is not None and "time_limit" in entry.presets.get(spec.name, {})


def _timed(spec: AgentSpec) -> bool:
    limit = spec.settings.get("time_limit")
    return isinstance(limit, (int, float)) and limit > 0


def _printed(*parts: "RenderableType") -> str:
    """Return what is printed where there is no terminal."""
    from rich.console import Console

    written = StringIO()
    Console(file=written, width=_WIDTH, force_jupyter=False, force_terminal=False).print(*parts, sep="\n")
    return written.getvalue().rstrip("\n")
