"""The search tutorial of botbowl (N. Justesen et al.), its eight rows; our planners; home and away.

The tutorial's search plays path moves against a player who draws a type of action first, 10 games as home and 10 as
away at 5 seconds a decision; here it has the iterations that it managed in that time. For size 7, which the tutorial
leaves out, both searches get the geometric mean of their iterations on sizes 5 and 11.
"""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

from agents.arena import Plan, compare
from agents.arena.statistics import Estimate, bootstrap_mean, wilson
from agents.arena.storage import read_rows
from papers.duels import Player
from papers.tables import percent

SIZES = (1, 3, 5, 7, 11)

_TYPES = Player("random_types", "random_types")
_RANDOM, _ACTIVE, _SCRIPTED = (Player(name, name) for name in ("random", "random_active", "scripted"))


class Published(NamedTuple):
    """A row of the tutorial: wins of 10 games as home and of 10 as away, touchdowns a game, iterations a decision."""

    home: int
    away: int
    touchdowns: float
    iterations: int


_EACH = 10

TUTORIAL: dict[tuple[bool, int], Published | None] = {
    (True, 1): Published(9, 10, 3.8, 1592),
    (False, 1): Published(10, 8, 4.9, 2038),
    (True, 3): Published(9, 8, 1.0, 688),
    (False, 3): Published(10, 9, 2.2, 1735),
    (True, 5): Published(6, 0, 0.35, 555),
    (False, 5): Published(10, 5, 1.4, 1299),
    (True, 7): None,
    (False, 7): None,
    (True, 11): Published(2, 0, 0.1, 361),
    (False, 11): Published(7, 0, 0.6, 951),
}
"""By rollouts or none, and size."""

BUDGETS = {1: (400, 400), 3: (100, 200), 5: (25, 200), 7: (16, 130), 11: (16, 105)}
"""Simulations a decision of ``best`` by size, against random players and against the scripted one: chosen to take at
most about 0.05 seconds on one quiet core."""

WISHES = {1: 7.3, 3: 5.3, 5: 4.7}
"""Touchdowns a game against random of the policies that botbowl's authors trained (A2C), by size."""


@dataclass(frozen=True)
class Meeting:
    """Two players who meet on so many start boards of a size, the first of them as home and as away on each."""

    size: int
    player: Player
    opponent: Player
    boards: int
    settings: dict[str, Any] = field(default_factory=dict)


class Game(NamedTuple):
    """Touchdowns of a game."""

    own: int
    others: int


class Played(NamedTuple):
    """The games of a meeting, and milliseconds a decision of the first player."""

    home: list[Game]
    away: list[Game]
    milliseconds: float

    @property
    def games(self) -> list[Game]:
        """All of them."""
        return self.home + self.away


def play(meeting: Meeting, folder: Path, workers: int, say: Callable[[str], None]) -> Played:
    """Play a meeting; what is in the folder already is not played again.

    Raises
    ------
    KeyboardInterrupt
        If the playing was interrupted; the same call goes on from there.
    """
    first, second = meeting.player.spec, meeting.opponent.spec
    plan = Plan(f"Football{meeting.size}-v0", (first, second), meeting.settings, keep=("score",))
    parts = meeting.size, first.label, second.label, *meeting.settings.values(), meeting.boards
    name = "-".join(map(str, parts)).replace(" ", "_").replace(",", "")
    say(name)
    report = compare(plan, meeting.boards, workers=workers, folder=folder / name)
    if not report.finished:
        raise KeyboardInterrupt
    games: tuple[list[Game], list[Game]] = ([], [])
    for row in read_rows(folder / name).values():
        assert row.kept is not None, row.name
        seat = row.agents.index(first.label)
        score = row.kept["score"]
        if row.episode < meeting.boards:
            games[seat].append(Game(score[seat], score[1 - seat]))
    return Played(*games, report.summaries[0].milliseconds)


def _won(games: Iterable[Game]) -> int:
    return sum(game.own > game.others for game in games)


def _points(games: list[Game]) -> Estimate:
    """Return the mean points, a draw being half a point."""
    return wilson(_won(games) + 0.5 * sum(game.own == game.others for game in games), len(games))


def _touchdowns(games: list[Game]) -> Estimate:
    """Return touchdowns a game; where all games have as many, with the interval of a Poisson variable."""
    found = bootstrap_mean([game.own for game in games])
    return found if found.low < found.high else _counted(found.value, len(games))


def _rate(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def _counted(rate: float, games: int) -> Estimate:
    """Return a published number of events a game with the interval of a Poisson variable."""
    from scipy import stats

    count = round(rate * games)
    low = stats.chi2.ppf(0.025, 2 * count) / 2 if count else 0.0
    return Estimate(rate, low / games, stats.chi2.ppf(0.975, 2 * count + 2) / 2 / games)


def _verdict(ours: Estimate, theirs: Estimate) -> str:
    if theirs.low <= ours.high and ours.low <= theirs.high:
        return "agrees"
    return "above" if ours.value > theirs.value else "below"


def _gap(played: Played) -> Estimate:
    """Return how much more often games are won as home than as away, with an adjusted Wald interval.

    A. Agresti, B. Caffo (2000), "Simple and effective confidence intervals for proportions and differences of
    proportions result from adding two successes and two failures".
    """
    home, away = ((_won(games) + 1) / (len(games) + 2) for games in (played.home, played.away))
    n = len(played.home) + 2
    half = 1.96 * sqrt((home * (1 - home) + away * (1 - away)) / n)
    value = _won(played.home) / len(played.home) - _won(played.away) / len(played.away)
    return Estimate(value, home - away - half, home - away + half)


def _sides(played: Played) -> str:
    """Write wins of games as home and as away."""
    return " | ".join(f"{_won(games)}/{len(games)}" for games in (played.home, played.away))


_VIEWS = {
    "As in the tutorial: absolute view, actions tried in list order": (
        {"movement": "path", "orientation": "absolute"},
        {},
    ),
    "Mirrored view, actions tried in random order": (
        {"movement": "path", "orientation": "mirrored"},
        {"select": "ucb1_tutorial", "c": 0.707},
    ),
}


def _tutorial(folder: Path, boards: int, workers: int, say: Callable[[str], None]) -> list[str]:
    """Play the tutorial's rows in both views."""
    lines: list[str] = []
    columns = "rollouts | size | iterations | home theirs | home | away theirs | away | won % theirs | won % | |"
    columns += " touchdowns theirs | touchdowns | | home less away, % | ms a decision"
    for (title, (settings, change)), number in zip(_VIEWS.items(), itertools.count(1), strict=False):
        lines += [f"## {title}", "", f"| {columns} |", "|---" * (columns.count("|") + 1) + "|"]
        for (rollouts, size), published in TUTORIAL.items():
            name = "mcts_tutorial_turn" if rollouts else "mcts_tutorial"
            budget = {} if published is None else {"simulations": published.iterations}
            player = Player(name, name, {**budget, **change})
            played = play(Meeting(size, player, _TYPES, boards, settings), folder / f"view-{number}", workers, say)
            lines.append(_tutorial_row(rollouts, size, published, played))
        lines.append("")
    return lines


def _tutorial_row(rollouts: bool, size: int, published: Published | None, played: Played) -> str:
    won, touchdowns, gap = wilson(_won(played.games), len(played.games)), _touchdowns(played.games), _gap(played)
    home, away = _sides(played).split(" | ")
    iterations, theirs = "as interpolated", [""] * 6
    if published is not None:
        iterations = str(published.iterations)
        wins = wilson(published.home + published.away, 2 * _EACH)
        scored = _counted(published.touchdowns, 2 * _EACH)
        theirs = [f"{published.home}/{_EACH}", f"{published.away}/{_EACH}", percent(wins), _verdict(won, wins)]
        theirs += [_rate(scored), _verdict(touchdowns, scored)]
    cells = ["yes" if rollouts else "no", str(size), iterations, theirs[0], home, theirs[1], away, theirs[2]]
    cells += [percent(won), theirs[3], theirs[4], _rate(touchdowns), theirs[5], percent(gap)]
    return f"| {' | '.join([*cells, f'{played.milliseconds:.1f}'])} |"


def _planners(folder: Path, scale: float, workers: int, say: Callable[[str], None]) -> list[str]:
    """Let our planners play against the random players and the scripted one."""
    columns = "player | size | against | simulations | home won | away won | home points % | away points % | points %"
    columns += " | touchdowns | A2C | theirs | ms a decision"
    lines = ["## Our planners", "", f"| {columns} |", "|---" * (columns.count("|") + 1) + "|"]
    rows = [("best", size, _RANDOM, BUDGETS[size][0], 100) for size in SIZES]
    rows += [("best", size, _ACTIVE, BUDGETS[size][0], 20) for size in SIZES]
    rows += [("best", size, _SCRIPTED, BUDGETS[size][1], 20) for size in SIZES]
    rows += [("best", size, _SCRIPTED, 10 * BUDGETS[size][1], 20) for size in (3, 11)]
    rows += [("mcts_widening", size, _SCRIPTED, 3000, 20) for size in (3, 5, 11)]
    for name, size, opponent, simulations, boards in rows:
        player = Player(name, name, {"simulations": simulations})
        meeting = Meeting(size, player, opponent, _scaled(boards, scale))
        played = play(meeting, folder / f"planners-{simulations}", workers, say)
        wish = str(WISHES.get(size, "")) if opponent is _RANDOM else ""
        points = [percent(_points(games)) for games in (played.home, played.away, played.games)]
        theirs = f"{bootstrap_mean([game.others for game in played.games]).value:.2f}"
        cells = [name, str(size), opponent.label, str(simulations), _sides(played), *points]
        cells += [_rate(_touchdowns(played.games)), wish, theirs, f"{played.milliseconds:.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return [*lines, ""]


def _symmetry(folder: Path, boards: int, workers: int, say: Callable[[str], None]) -> list[str]:
    """Let the scripted player meet itself; it draws nothing, so both seatings of a board are one game."""
    columns = "size | games | home won | drawn | away won | home points % | touchdowns home | touchdowns away"
    lines = ["## The scripted player against itself", "", f"| {columns} |", "|---" * (columns.count("|") + 1) + "|"]
    for size in SIZES:
        played = play(Meeting(size, _SCRIPTED, Player("itself", "scripted"), boards), folder / "itself", workers, say)
        games = played.home
        lost = _won(Game(game.others, game.own) for game in games)
        counts = [size, len(games), _won(games), len(games) - _won(games) - lost, lost]
        cells = [*map(str, counts), percent(_points(games)), _rate(_touchdowns(games))]
        lines.append(f"| {' | '.join([*cells, _rate(bootstrap_mean([game.others for game in games]))])} |")
    return [*lines, ""]


def _scaled(boards: int, scale: float) -> int:
    return max(1, round(boards * scale))


def reproduce(folder: Path, scale: float, workers: int, say: Callable[[str], None]) -> str:
    """Play everything and return the report as Markdown.

    Parameters
    ----------
    folder : Path
    scale : float
        Share of the games to play.
    workers : int
    say : callable
        Is told what is being played.
    """
    text = ["# The search tutorial of botbowl", "", str(__doc__).partition("\n\n")[2]]
    text += ["Intervals are of 95 %; of published touchdowns those of a Poisson variable.", ""]
    text += _tutorial(folder, _scaled(20, scale), workers, say)
    text += _planners(folder, scale, workers, say)
    text += _symmetry(folder, _scaled(1000, scale), workers, say)
    return "\n".join(text)
