"""Games of several players or of two teams, as rows of a table: published shares beside ours."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.arena import Plan, compare
from agents.arena.figures import Standing
from agents.arena.lineups import all_seatings
from agents.arena.statistics import Estimate, wilson
from papers.duels import Player
from papers.tables import percent

Shares = tuple[float, float, float]
"""Games won, tied and lost, in percent."""


@dataclass(frozen=True)
class Meeting:
    """Players who meet in all orders of seats, and what was published about it.

    Attributes
    ----------
    title : str
        Where it was published, or what it is about.
    players : tuple of Player
        Each alone or with a team of its own; or one for each seat.
    environment : str
        Id without ``mcts_envs/``.
    games : int
        At least so many are played: whole boards, each in all orders of seats.
    settings : dict
        Of the environment.
    against : str
        Label of the player in all other seats, or none.
    published : dict
        Shares by side; a side of two different players is ``"a + b"``.
    of : int
        How many games these are of.
    note : str
        How the source is read.
    """

    title: str
    players: tuple[Player, ...]
    environment: str
    games: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    against: str = ""
    published: Mapping[str, Shares] = field(default_factory=dict)
    of: int = 0
    note: str = ""

    @property
    def plan(self) -> Plan:
        """The meeting as the arena wants it."""
        specs = tuple(player.spec for player in self.players)
        return Plan(self.environment, specs, dict(self.settings), against=self.against or None)

    def boards(self, games: int) -> int:
        """Return on how many boards so many games are played; at least two."""
        plan = self.plan
        orders = len(all_seatings(plan.lineups[0], plan.teams)) or plan.seats
        return max(2, -(-games // orders))

    @property
    def name(self) -> str:
        """Name of a folder."""
        parts = self.title, self.note, *(player.label for player in self.players)
        return "-".join(filter(None, parts)).translate(str.maketrans(" /=.", "____", ",:()+%'"))


Result = tuple[Meeting, list[Standing]]


def play(
    meetings: Sequence[Meeting], scale: float, folder: Path, workers: int, say: Callable[[str], None]
) -> list[Result]:
    """Play meetings with a share of their games; with more games than named, tell of the first ones apart, too.

    What is in the folder already is not played again.

    Raises
    ------
    KeyboardInterrupt
        If the playing was interrupted; the same call goes on from there.
    """
    results: list[Result] = []
    for meeting in meetings:
        for games in sorted({meeting.games, round(meeting.games * scale)} if scale > 1 else {meeting.games * scale}):
            say(f"{meeting.name}: {games:.0f} games")
            boards = meeting.boards(round(games))
            report = compare(meeting.plan, boards, workers=workers, folder=folder / meeting.name)
            if not report.finished:
                raise KeyboardInterrupt
            results.append((meeting, report.standings))
    return results


def table(results: Sequence[Result]) -> list[str]:
    """Return a Markdown table: a line for each side that was published, or, if none was, that all others do not meet.

    Shares are percent with 95 % intervals, ours over the boards.
    """
    columns = "", "reading", "side", "published", "won", "tied", "lost", "games", "agrees"
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    for meeting, standings in results:
        for standing in standings:
            theirs = meeting.published.get(standing.name)
            if theirs is None and (meeting.published or standing.name == meeting.against):
                continue
            shares = standing.wins, standing.ties, standing.losses
            published = " / ".join(f"{share:g}" for share in theirs) if theirs else ""
            verdict = ", ".join(differences(theirs, meeting.of, shares)) or "yes" if theirs else ""
            ours = " | ".join(percent(share) for share in shares)
            head = f"{meeting.title} | {meeting.note} | {standing.name} | {published}"
            lines.append(f"| {head} | {ours} | {standing.games} | {verdict} |")
    return lines


def differences(theirs: Shares, of: int, ours: Sequence[Estimate]) -> Iterator[str]:
    """Say which shares have intervals that do not meet those of the published ones."""
    for name, share, own in zip(("wins", "ties", "losses"), theirs, ours, strict=True):
        known = wilson(share * of / 100, of)
        if own.low > known.high:
            yield f"more {name}"
        elif own.high < known.low:
            yield f"fewer {name}"
