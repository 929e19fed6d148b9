"""Published figures beside ours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.arena import AgentSpec, Plan, compare
from agents.arena.figures import Summary
from agents.arena.statistics import Estimate, wilson

Settings = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """An agent in an environment, and what was published about it.

    Attributes
    ----------
    label : str
    environment : str
        Id without ``mcts_envs/``.
    agent : str
        Name for ``agents.make``.
    games : int
    settings, env_settings : dict
        Of the agent and of the environment.
    wins, of : int, optional
        Published wins, of so many games.
    """

    label: str
    environment: str
    agent: str
    games: int
    settings: Settings = field(default_factory=dict)
    env_settings: Settings = field(default_factory=dict)
    wins: float | None = None
    of: int = 0

    @property
    def group(self) -> tuple[Any, ...]:
        """Rows of one group are played on the same episodes."""
        return self.environment, tuple(sorted(self.env_settings.items())), self.games


def play(rows: Sequence[Row], folder: Path, workers: int, say: Callable[[str], None]) -> list[Summary]:
    """Play all rows, group by group, and return their figures; what is in the folder already is not played again.

    Raises
    ------
    KeyboardInterrupt
        If the playing was interrupted; the same call goes on from there.
    """
    results: dict[tuple[Any, ...], Summary] = {}
    for group in dict.fromkeys(row.group for row in rows):
        members = [row for row in rows if row.group == group]
        first = members[0]
        specs = tuple(AgentSpec(row.label, row.agent, row.settings) for row in members)
        plan = Plan(first.environment, specs, first.env_settings)
        name = "-".join([first.environment, *(f"{k}={v}" for k, v in first.env_settings.items()), str(first.games)])
        say(f"{name}: {', '.join(row.label for row in members)}")
        report = compare(plan, first.games, workers=workers, folder=folder / name)
        if not report.finished:
            raise KeyboardInterrupt
        results |= {(group, summary.agent): summary for summary in report.summaries}
    return [results[row.group, row.label] for row in rows]


def percent(estimate: Estimate) -> str:
    """Write a rate with its interval."""
    return f"{100 * estimate.value:.1f} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def table(rows: Sequence[Row], results: Sequence[Summary]) -> list[str]:
    """Return a Markdown table: published and our win rates in percent with 95 % intervals."""
    lines = ["| | published % | games | ours % | games | ms a move | |", "|---|---|---|---|---|---|---|"]
    for row, ours in zip(rows, results, strict=True):
        published, verdict = "", ""
        if row.wins is not None:
            theirs = wilson(row.wins, row.of)
            apart = theirs.low > ours.win_rate.high or theirs.high < ours.win_rate.low
            verdict = ("above" if ours.win_rate.value > theirs.value else "below") if apart else "agrees"
            published = percent(theirs)
        cells = [row.label, published, str(row.of or ""), percent(ours.win_rate), str(ours.games)]
        lines.append(f"| {' | '.join([*cells, f'{ours.milliseconds:.2f}', verdict])} |")
    return lines
