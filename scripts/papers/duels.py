"""Matches between two players, as rows of a table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.arena import AgentSpec, Plan, compare
from agents.arena.figures import Pairing, Summary
from papers.tables import Settings, percent


@dataclass(frozen=True)
class Player:
    """An agent under a label, by its name and settings for ``agents.make``."""

    label: str
    agent: str
    settings: Settings = field(default_factory=dict)

    @property
    def spec(self) -> AgentSpec:
        """The player as the arena wants it."""
        return AgentSpec(self.label, self.agent, self.settings)


@dataclass(frozen=True)
class Duel:
    """Two players who meet on so many boards, each from both seats, and what is known about it.

    Attributes
    ----------
    player, opponent : Player
    boards : int
    environment : str
        Id without ``mcts_envs/``.
    settings : dict
        Of the environment.
    claim : str
        What was published about it, or is wished for.
    """

    player: Player
    opponent: Player
    boards: int
    environment: str
    settings: dict[str, Any] = field(default_factory=dict)
    claim: str = ""

    @property
    def group(self) -> tuple[Any, ...]:
        """Duels of one group are one comparison: everybody plays against the same opponent on the same boards."""
        return self.opponent.label, self.environment, tuple(sorted(self.settings.items())), self.boards


Result = tuple[Pairing, Summary, Summary]
"""Points, and what a move cost the player and the opponent."""


def play(duels: Sequence[Duel], folder: Path, workers: int, say: Callable[[str], None]) -> list[Result]:
    """Play all duels; what is in the folder already is not played again.

    Raises
    ------
    KeyboardInterrupt
        If the playing was interrupted; the same call goes on from there.
    """
    results: dict[tuple[Any, ...], Result] = {}
    for group in dict.fromkeys(duel.group for duel in duels):
        members = [duel for duel in duels if duel.group == group]
        first = members[0]
        players = [duel.player for duel in members]
        specs = tuple(player.spec for player in (*players, first.opponent))
        plan = Plan(first.environment, specs, first.settings, against=first.opponent.label)
        parts = first.environment, first.opponent.label, *(f"{k}={v}" for k, v in first.settings.items())
        name = "-".join([*parts, str(first.boards)]).replace(" ", "_").replace("/", "_")
        say(f"{name}: {', '.join(player.label for player in players)}")
        report = compare(plan, first.boards, workers=workers, folder=folder / name)
        if not report.finished:
            raise KeyboardInterrupt
        costs = {summary.agent: summary for summary in report.summaries}
        for found in report.pairings:
            results[group, found.agent] = found, costs[found.agent], costs[found.opponent]
    return [results[duel.group, duel.player.label] for duel in duels]


def table(duels: Sequence[Duel], results: Sequence[Result], named: str) -> list[str]:
    """Return a Markdown table: points in percent with 95 % intervals over the boards, and the setting ``named``."""
    columns = [named, "player", "against", "points %", "games", "wins", "ties", "losses", "ms a move", "plies", "claim"]
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for duel, (found, ours, theirs) in zip(duels, results, strict=True):
        games = [str(n) for n in (2 * found.boards, found.wins, found.ties, found.losses)]
        who = str(duel.settings.get(named, "")), duel.player.label, duel.opponent.label
        speed, plies = f"{ours.milliseconds:.1f}, {theirs.milliseconds:.1f}", f"{2 * ours.length:.0f}"
        lines.append(f"| {' | '.join([*who, percent(found.points), *games, speed, plies, duel.claim])} |")
    return lines
