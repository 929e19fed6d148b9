"""Strength against time: planners at 10, 30, 100 and 300 ms a move."""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from PIL import Image

from papers.measures import Points, Wins, percent
from papers.record import Record
from papers.study import Cell, Entrant, Study, Summary, Table

TIMES = 10, 30, 100, 300
"""Milliseconds a move."""


@dataclass(frozen=True)
class Course:
    """A game, its planners, and whom all of them meet.

    Attributes
    ----------
    title, environment : str
    games : int
        Of each planner at each time.
    planners : dict
        By name: agent and settings.
    against : Entrant, optional
        In games for two: at the same strength against all.
    settings : dict
        Of the environment.
    """

    title: str
    environment: str
    games: int
    planners: Mapping[str, Mapping[str, Any]]
    against: Entrant | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


_BEST, _UCT = {"agent": "best"}, {"agent": "mcts"}
_CONNECT_FOUR = "examples/connect_four_cells.py:ConnectFourCells-v0"
COURSES = (
    Course(
        "Lane defense 5x9",
        "LaneDefense5x9-v0",
        60,
        {"best": _BEST, "advised UCT, rollouts by the script": {"agent": "mcts", "simulate": "advised"}, "UCT": _UCT},
    ),
    Course(
        "Wall survival 6x6",
        "WallSurvival-v0",
        100,
        {"best, alpha-beta": _BEST, "MCTS, Voronoi": {"agent": "mcts_voronoi"}, "UCT": _UCT},
        Entrant("alpha-beta", "best", {"max_steps": 10_000}),
        {"board_size": 6},
    ),
    Course(
        "Connect four",
        _CONNECT_FOUR,
        100,
        {"UCT": _UCT, "alpha-beta": {"agent": "alpha_beta"}, "sequential halving": {"agent": "halving"}},
        Entrant("mcts", "mcts", {"simulations": 5_000}),
        {"opening": 4},
    ),
    Course(
        "Bomber, one against one",
        "BomberDuel-v0",
        40,
        {"best": _BEST, "UCT, 20 steps ahead": {"agent": "mcts", "horizon": 20}},
        Entrant("rule_based", "rule_based"),
    ),
    Course(
        "Football with three a side",
        "Football3-v0",
        40,
        {"best": _BEST, "MCTS, widening": {"agent": "mcts_widening"}},
        Entrant("scripted", "scripted"),
    ),
)


def cells_of(course: Course) -> Iterator[Cell]:
    """Yield the games of each planner at each time."""
    for name, given in course.planners.items():
        settings = {**given}
        agent = settings.pop("agent")
        for milliseconds in TIMES:
            label = f"{name.split(',')[0].replace(' ', '-')}-{milliseconds}"
            player = Entrant(label, agent, {**settings, "time_limit": milliseconds / 1000})
            words = name, str(milliseconds)
            yield Cell(words, (player,), course.environment, course.games, course.settings, course.against)


def games_of(course: Course, name: str, record: Record) -> str:
    """Return how many games a planner has played at each time: the fewest and the most."""
    cells = [cell for cell in cells_of(course) if cell.words[0] == name and cell.key in record.entries]
    games = [record.entries[cell.key].costs[cell.players[0].label].games for cell in cells]
    return " to ".join(f"{n:,}" for n in sorted({min(games), max(games)})) if games else ""


def _tables() -> list[Table]:
    tables = []
    for course in COURSES:
        measure = Wins() if course.against is None else Points()
        limits = {} if course.against is None else course.against.settings
        spent = "".join(f", {name}={value:,}" for name, value in limits.items())
        note = "" if course.against is None else f"Against `{course.against.agent}`{spent}."
        tables.append(Table(course.title, ("planner", "ms"), measure, (*cells_of(course),), note))
    return tables


class Strength(Summary):
    """Every planner at every time."""

    note = """Percent of games won alone, or of points against the same opponent, whose strength does not change. Games
    are those at each time; where they are few, believe what the intervals hold apart, and no more."""

    def heads(self, record: Record) -> tuple[str, ...]:
        """Return the heads of its columns."""
        return ("game", "planner", "games", *(f"{milliseconds} ms" for milliseconds in TIMES))

    def lines(self, record: Record) -> list[list[str]]:
        """Return a line for each planner."""
        lines = []
        for course in COURSES:
            shares = [(cell.words[0], record.share(cell)) for cell in cells_of(course)]
            for name in course.planners:
                found = [share for planner, share in shares if planner == name]
                played = [percent(share) if share else "not yet played" for share in found]
                lines.append([course.title, name, games_of(course, name, record), *played])
        return lines

    def draw(self, record: Record) -> Image.Image | None:
        """Draw a line for each planner, a panel for each game of which anything has been played."""
        from matplotlib.figure import Figure

        panels = [(c, [(cell, record.share(cell)) for cell in cells_of(c)]) for c in COURSES]
        panels = [(course, shares) for course, shares in panels if any(share for _, share in shares)]
        if not panels:
            return None
        figure: Any = Figure(figsize=(3.0 * len(panels), 3.6), layout="constrained")
        for axes, (course, shares) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            for at, name in enumerate(course.planners):
                known = [(int(cell.words[1]), share) for cell, share in shares if cell.words[0] == name and share]
                errors = [[100 * (s.value - s.low) for _, s in known], [100 * (s.high - s.value) for _, s in known]]
                heights = [100 * share.value for _, share in known]
                apart = [ms * 1.07**at for ms, _ in known]  # so that bars do not hide each other
                axes.errorbar(apart, heights, errors, marker="o", markersize=3, capsize=2, label=name)
            axes.set(title=course.title, xscale="log", ylim=(0, 103), xlabel="ms a move")
            axes.set_xticks(TIMES, [str(ms) for ms in TIMES])
            axes.minorticks_off()
            axes.title.set_fontsize(9)
            axes.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.2))
        figure.axes[0].set_ylabel("games won, or points, %")
        file = io.BytesIO()
        figure.savefig(file, dpi=120)
        return Image.open(file)


STUDY = Study(
    "strength",
    "Strength against time",
    """What more time a move gives to the planners of each game, on one core: at 10, 30, 100 and 300 ms, alone, or
    against an opponent who has the same budget throughout.""",
    _tables,
    Strength(),
)
