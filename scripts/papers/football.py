"""The search tutorial of botbowl (N. Justesen et al.), its eight rows; our planners; home and away."""

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Any, NamedTuple

from agents.arena.lineups import Teams
from agents.arena.rows import Row
from agents.arena.statistics.estimates import Estimate, student_mean, wilson
from papers.measures import Found, Line, Measure, percent, verdict
from papers.study import Cell, Entrant, Study, Table

SIZES = (1, 3, 5, 7, 11)

_TYPES, _RANDOM, _ACTIVE, _SCRIPTED, _TACTICAL = (
    Entrant(name, name) for name in ("random_types", "random", "random_active", "scripted", "tactical")
)


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

FEW = {1: 400, 3: 100, 5: 25, 7: 16, 11: 16}
"""Simulations a decision of ``best`` by size against random players: fewer than it has time for."""

OPTIONS = {
    "option": "follow",
    "option_steps": 40,
    "loop": "open",
    "model": "tactical",
    "simulate": "advised",
    "horizon": 40,
    "c": 0.5,
}
"""A tree whose choices last: what follows each, to the end of the turn at most, is what the tactical player does."""

WISHES = {1: 7.3, 3: 5.3, 5: 4.7}
"""Touchdowns a game against random of the policies that botbowl's authors trained (A2C), by size."""


class Game(NamedTuple):
    """Touchdowns of a game."""

    own: int
    others: int


class Sides(NamedTuple):
    """The games of a player, as home and as away."""

    home: list[Game]
    away: list[Game]

    @property
    def games(self) -> list[Game]:
        """All of them."""
        return self.home + self.away


def sides(found: Found) -> Sides:
    """Return the games of a player, from what was kept of each board."""
    home, away = ([Game(*board[seat]) for board in found.results] for seat in range(2))
    return Sides(home, away)


def won(games: Iterable[Game]) -> int:
    """Count the games that are won."""
    return sum(game.own > game.others for game in games)


def points(games: list[Game]) -> Estimate:
    """Return the mean points, a draw being half a point."""
    return wilson(won(games) + 0.5 * sum(game.own == game.others for game in games), len(games))


def touchdowns(games: list[Game]) -> Estimate:
    """Return touchdowns a game; where all games have as many, with the interval of a Poisson variable."""
    found = student_mean([game.own for game in games])
    return found._replace(low=max(found.low, 0.0)) if found.low < found.high else counted(found.value, len(games))


def counted(rate: float, games: int) -> Estimate:
    """Return a number of events a game with the interval of a Poisson variable."""
    from scipy import stats

    count = round(rate * games)
    low = stats.chi2.ppf(0.025, 2 * count) / 2 if count else 0.0
    return Estimate(rate, low / games, stats.chi2.ppf(0.975, 2 * count + 2) / 2 / games)


def gap(played: Sides) -> Estimate:
    """Return how much more often games are won as home than as away, with an adjusted Wald interval.

    A. Agresti, B. Caffo (2000), "Simple and effective confidence intervals for proportions and differences of
    proportions result from adding two successes and two failures".
    """
    home, away = ((won(games) + 1) / (len(games) + 2) for games in (played.home, played.away))
    n = len(played.home) + 2
    half = 1.96 * sqrt((home * (1 - home) + away * (1 - away)) / n)
    value = won(played.home) / len(played.home) - won(played.away) / len(played.away)
    return Estimate(value, max(home - away - half, -1.0), min(home - away + half, 1.0))


def _rate(estimate: Estimate) -> str:
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"


def _of(games: list[Game]) -> str:
    return f"{won(games)} of {len(games)}"


class Touchdowns(Measure):
    """Games of two teams, each start board from both sides."""

    keep = ("score",)

    def result(self, cell: Cell, rows: Sequence[Row], teams: Teams) -> list[list[int]]:
        """Return own and the other's touchdowns, as home and as away."""
        board = [[0, 0], [0, 0]]
        for row in rows:
            assert row.kept is not None, row
            seat, score = row.agents.index(cell.players[0].label), row.kept["score"]
            board[seat] = [score[seat], score[1 - seat]]
        return board


class Tutorial(Touchdowns):
    """A row of the tutorial beside ours."""

    columns = (
        *("published won %", "won %", "verdict", "published touchdowns", "touchdowns", "verdict on touchdowns"),
        *("published home, away", "home", "away", "home less away, %", "ms a decision"),
    )
    ours = "won %"

    def lines(self, cell: Cell, found: Found) -> list[Line]:
        """Return wins, touchdowns, and home against away."""
        played = sides(found)
        wins, scored = wilson(won(played.games), len(played.games)), touchdowns(played.games)
        line = {"won %": percent(wins), "touchdowns": _rate(scored)}
        line |= {"home": _of(played.home), "away": _of(played.away), "home less away, %": percent(gap(played))}
        line["ms a decision"] = found.costs[cell.players[0].label].milliseconds
        if cell.published is not None:
            line["verdict"] = verdict(wins, self._wins(cell.published))
            line["verdict on touchdowns"] = verdict(scored, counted(cell.published.touchdowns, 2 * _EACH))
        return [self.known(cell)[0] | line]

    def known(self, cell: Cell) -> list[Line]:
        """Return the tutorial's row, if it has one."""
        row: Published | None = cell.published
        if row is None:
            return [{}]
        scored = _rate(counted(row.touchdowns, 2 * _EACH))
        line = {"published won %": percent(self._wins(row)), "published touchdowns": scored}
        return [line | {"published home, away": f"{row.home}, {row.away} of {_EACH} each"}]

    @staticmethod
    def _wins(row: Published) -> Estimate:
        return wilson(row.home + row.away, 2 * _EACH)


class Planners(Touchdowns):
    """Our planners; published are touchdowns of policies that were trained, without a number of games."""

    columns = (
        *("points %", "home won", "away won", "games", "published touchdowns", "touchdowns"),
        *("verdict on touchdowns", "the other's touchdowns", "ms a decision"),
    )
    ours = "points %"

    def lines(self, cell: Cell, found: Found) -> list[Line]:
        """Return points and touchdowns."""
        played = sides(found)
        scored = touchdowns(played.games)
        line = {"points %": percent(points(played.games)), "games": f"{len(played.games):,}"}
        line |= {"home won": _of(played.home), "away won": _of(played.away), "touchdowns": _rate(scored)}
        line["the other's touchdowns"] = f"{sum(game.others for game in played.games) / len(played.games):.2f}"
        line["ms a decision"] = found.costs[cell.players[0].label].milliseconds
        if cell.published is not None:
            line["verdict on touchdowns"] = verdict(scored, Estimate(*(cell.published,) * 3))
        return [self.known(cell)[0] | line]

    def known(self, cell: Cell) -> list[Line]:
        """Return what the trained policies scored."""
        return [{"published touchdowns": f"{cell.published:g}"} if cell.published is not None else {}]


class Symmetry(Touchdowns):
    """A player that draws nothing against itself: both seatings of a board are one game."""

    columns = "home points %", "home won", "drawn", "away won", "games", "touchdowns home", "touchdowns away"
    ours = "home points %"

    def lines(self, cell: Cell, found: Found) -> list[Line]:
        """Return home against away."""
        games = sides(found).home
        away = [Game(game.others, game.own) for game in games]
        line = {"home points %": percent(points(games)), "home won": f"{won(games):,}", "away won": f"{won(away):,}"}
        line |= {"drawn": f"{len(games) - won(games) - won(away):,}", "games": f"{len(games):,}"}
        return [line | {"touchdowns home": _rate(touchdowns(games)), "touchdowns away": _rate(touchdowns(away))}]


_VIEWS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "The tutorial, in its own view: absolute, actions tried in list order": (
        {"movement": "path", "orientation": "absolute"},
        {},
    ),
    "The tutorial, mirrored: home and away see the same, actions tried in random order": (
        {"movement": "path", "orientation": "mirrored"},
        {"select": "ucb1_tutorial", "c": 0.707},
    ),
}


def _meet(words: tuple[str, ...], size: int, player: Entrant, opponent: Entrant, boards: int, **more: Any) -> Cell:
    """Return a meeting on so many start boards, each from both sides."""
    return Cell((f"{size}", *words), (player,), f"Football{size}-v0", 2 * boards, against=opponent, **more)


def _tutorial(settings: dict[str, Any], change: dict[str, Any]) -> list[Cell]:
    cells = []
    for (rollouts, size), published in TUTORIAL.items():
        name = "mcts_tutorial_turn" if rollouts else "mcts_tutorial"
        budget = {} if published is None else {"simulations": published.iterations}
        words = "yes" if rollouts else "no", "as interpolated" if published is None else f"{published.iterations:,}"
        player = Entrant(name, name, {**budget, **change})
        cells.append(_meet(words, size, player, _TYPES, 20, settings=settings, published=published))
    return cells


def _at(name: str, milliseconds: int, label: str = "", **settings: Any) -> Entrant:
    """Return a planner that has so much time for a decision."""
    return Entrant(f"{label or name}, {milliseconds} ms", name, {"time_limit": milliseconds / 1000, **settings})


def _planners() -> list[Cell]:
    few = {size: Entrant(f"best, {FEW[size]:,} simulations", "best", {"simulations": FEW[size]}) for size in SIZES}
    best, widening = _at("best", 50), _at("mcts_widening", 50)
    options = _at("mcts", 50, "tree of options", **OPTIONS)
    rows = [(few[size], size, _RANDOM, 100) for size in SIZES] + [(few[size], size, _ACTIVE, 20) for size in SIZES]
    rows += [(best, size, _SCRIPTED, 20) for size in SIZES]
    rows += [(widening, size, _SCRIPTED, 20) for size in (3, 5, 11)]
    rows += [(options, size, _SCRIPTED, 20) for size in (1, 3, 5)]
    rows += [(_TACTICAL, size, _SCRIPTED, 500) for size in SIZES]
    rows += [(best, size, _TACTICAL, 20) for size in SIZES]
    rows += [(options, size, best, 20) for size in (1, 3, 5)]
    return [
        _meet(
            (player.label, opponent.label),
            size,
            player,
            opponent,
            boards,
            published=WISHES.get(size) if opponent is _RANDOM else None,
        )
        for player, size, opponent, boards in rows
    ]


def _tables() -> list[Table]:
    itself = Entrant("itself", "scripted")
    mirrors = [_meet((), size, _SCRIPTED, itself, 1000) for size in SIZES]
    return [
        *(
            Table(title, ("size", "rollouts", "iterations"), Tutorial(), (*_tutorial(settings, change),))
            for title, (settings, change) in _VIEWS.items()
        ),
        Table(
            "Our planners",
            ("size", "player", "against"),
            Planners(),
            (*_planners(),),
            "Published: touchdowns a game of the policies that botbowl's authors trained (A2C) against random.",
        ),
        Table("The scripted player against itself", ("size",), Symmetry(), (*mirrors,)),
    ]


STUDY = Study(
    "football",
    "The search tutorial of botbowl",
    """N. Justesen et al.'s tutorial. Its search plays path moves against a player who draws a type of action first, 10
    games as home and 10 as away at 5 seconds a decision; here it has the iterations that it managed in that time. For
    size 7, which the tutorial leaves out, both searches get the geometric mean of their iterations on sizes 5 and 11. A
    draw is half a point; intervals are over games, two of which begin alike; those of published touchdowns are those of
    a Poisson variable.""",
    _tables,
)
