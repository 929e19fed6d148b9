"""The agent `auto` against others at equal time, in environments of others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from foreign.catalogue import Entry

from agents.arena.lineups import Teams
from agents.arena.rows import Row
from agents.arena.statistics.estimates import Estimate, paired_difference, paired_rates
from papers.measures import Found, Line, Measure
from papers.meeting import alone, met
from papers.outsiders import CHOOSERS
from papers.record import Record
from papers.study import Cell, Entrant, Study, Summary, Table

AUTO = "auto"


@dataclass(frozen=True)
class Ground:
    """An environment, and whom `auto` meets there.

    Attributes
    ----------
    title : str
    entry : Entry
    games : int
        Episodes of each pair; for two players, pairs of games.
    milliseconds : float
        A move.
    several : bool
        Whether it is a game for two.
    rivals : tuple of str
    stakes : bool
        Whether returns are compared, else points: for two, who has more; for one, reaching the goal or not.
    settings : dict
        Of the environment.
    note : str
        Why somebody is not met.
    """

    title: str
    entry: Entry
    games: int
    milliseconds: float = 20
    several: bool = False
    rivals: tuple[str, ...] = ("mcts", "gymcts", "rhea")
    stakes: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""

    def make(self) -> Any:
        """Return the environment, not yet reset."""
        return self.entry.make(**self.settings)


_TWO = "mcts", "rhea"
_SPIEL = "mcts", "OpenSpiel", "rhea"
_SHORT = {"max_episode_steps": 200}


def _toy(title: str, name: str, games: int, **given: Any) -> Ground:
    return Ground(title, Entry("toy text", name), games, **given)


def _control(name: str) -> Ground:
    return Ground(name, Entry("classic control", name), 40)


def _grid(name: str, **given: Any) -> Ground:
    return Ground(name, Entry("MiniGrid", name, ("minigrid",)), 40, settings={"max_episode_steps": 100}, **given)


def _classic(name: str, games: int, *needs: str, **given: Any) -> Ground:
    title = f"{name} of PettingZoo"
    return Ground(title, Entry("PettingZoo classic", name, needs), games, several=True, rivals=_TWO, **given)


def _spiel(name: str, games: int, **given: Any) -> Ground:
    entry = Entry("OpenSpiel, through Shimmy", name, ("pyspiel", "shimmy"))
    return Ground(f"{name} of OpenSpiel", entry, games, several=True, rivals=_SPIEL, **given)


GROUNDS = (
    _toy("FrozenLake-v1, slippery", "FrozenLake-v1", 100, stakes=False),
    _toy("FrozenLake-v1, not slippery", "FrozenLake-v1", 40, stakes=False, settings={"is_slippery": False}),
    _toy("FrozenLake8x8-v1, slippery", "FrozenLake8x8-v1", 60, stakes=False),
    _toy("CliffWalking-v1", "CliffWalking-v1", 40, settings=_SHORT),
    _toy("Taxi-v4", "Taxi-v4", 40, rivals=_TWO, note="gymcts copies its table of transitions: half a second a move."),
    _toy("Blackjack-v1", "Blackjack-v1", 1000),
    _control("CartPole-v1"),
    _control("Acrobot-v1"),
    _control("MountainCar-v0"),
    Ground(
        "LunarLander-v3",
        Entry("Box2D", "LunarLander-v3", ("Box2D",)),
        20,
        50,
        rivals=_TWO,
        note="gymcts cannot copy it.",
    ),
    _grid("MiniGrid-DoorKey-5x5-v0"),
    _grid("MiniGrid-LavaGapS5-v0"),
    _grid("MiniGrid-Dynamic-Obstacles-5x5-v0"),
    _grid("MiniGrid-FourRooms-v0", milliseconds=50),
    _grid("MiniGrid-KeyCorridorS3R1-v0", milliseconds=50),
    _classic("tictactoe_v3", 40, "pygame", stakes=False),
    _classic("connect_four_v3", 40, "pygame", stakes=False),
    _classic("leduc_holdem_v4", 400, "rlcard", "pygame"),
    _classic("rps_v2", 40, "pygame", stakes=False),
    _spiel("breakthrough", 20, milliseconds=50, stakes=False),
    _spiel("pig", 40, stakes=False),
    _spiel("leduc_poker", 400),
)


def played(at: int, rival: str, number: int) -> dict[str, Any]:
    """Return what `auto` and a rival have in an episode, or against each other."""
    ground = GROUNDS[at]
    given = ground.make, (AUTO, rival), ground.milliseconds / 1000, number
    return met(*given, ground.stakes) if ground.several else alone(*given)


def cells_of(at: int) -> Iterator[Cell]:
    """Yield the rivals in an environment."""
    ground = GROUNDS[at]
    for rival in ground.rivals:
        yield Cell(
            (rival,),
            (Entrant(AUTO, AUTO),),
            ground.title,
            ground.games,
            {"milliseconds": ground.milliseconds},
            measure=partial(played, at, rival),
            needs=(*ground.entry.needs, *CHOOSERS[rival][0]),
            apart=True,
        )


class Difference(Measure):
    """What `auto` has, what its rival has, and the difference on the same seeds.

    Parameters
    ----------
    stakes : bool
        Whether returns are compared, else points from 0 to 1.
    """

    columns = "auto", "its rival", "difference", "verdict", "episodes", "ms a move", "its rival's"
    ours = "auto"

    def __init__(self, stakes: bool) -> None:
        self._stakes = stakes

    def result(self, cell: Cell, rows: Sequence[Row], teams: Teams) -> Any:
        """Return what the cell's own measure said."""
        ((value),) = (row.kept["value"] for row in rows if row.kept)
        return value

    def estimate(self, results: Sequence[Any]) -> Estimate:
        """Return the mean of the difference, with its interval."""
        own, other = zip(*(each["scores"] for each in results), strict=True)
        return (paired_difference if self._stakes else paired_rates)(own, other)

    def lines(self, cell: Cell, found: Found) -> list[Line]:
        """Return both means, the difference, and whether it is one."""
        own, other = np.mean([each["scores"] for each in found.results], axis=0)
        times = np.median([each["ms"] for each in found.results], axis=0)
        difference = self.estimate(found.results)
        digits = 2 if max(abs(own), abs(other)) < 100 else 1
        low, high = (f"{value:+.{digits}f}" for value in difference[1:])
        return [
            {
                "auto": f"{own:.{digits}f}",
                "its rival": f"{other:.{digits}f}",
                "difference": f"{difference.value:+.{digits}f} [{low}, {high}]",
                "verdict": verdict(difference),
                "episodes": f"{len(found.results):,}",
                "ms a move": f"{times[0]:.0f}",
                "its rival's": f"{times[1]:.0f}",
            }
        ]


BETTER, WORSE, LEVEL = "better", "worse", "not told apart"


def verdict(difference: Estimate) -> str:
    """Say on which side of 0 an interval lies."""
    return BETTER if difference.low > 0 else WORSE if difference.high < 0 else LEVEL


def _measure(ground: Ground) -> Difference:
    return Difference(ground.stakes)


def _tables() -> list[Table]:
    tables = []
    for at, ground in enumerate(GROUNDS):
        what = "Returns" if ground.stakes else "Points" if ground.several else "Share of goals reached"
        seats = ", the mean of both seats" if ground.several else ""
        note = f"{what}{seats}; {ground.milliseconds:g} ms a move. {ground.note}"
        tables.append(Table(ground.title, ("against",), _measure(ground), (*cells_of(at),), note))
    return tables


def verdicts(at: int, record: Record) -> dict[str, str]:
    """Return what was found against each rival that was met."""
    entries = {cell.words[0]: record.entries.get(cell.key) for cell in cells_of(at)}
    measure = _measure(GROUNDS[at])
    return {
        rival: verdict(measure.estimate(entry.found.results)) for rival, entry in entries.items() if entry is not None
    }


class Verdicts(Summary):
    """Every rival in every environment."""

    note = """Whether `auto` is better than its rival, or worse, or not told apart, by the interval of the difference.
    Empty: not to be met there."""

    def heads(self, record: Record) -> tuple[str, ...]:
        """Return the heads of its columns."""
        return ("environment", *CHOOSERS)

    def lines(self, record: Record) -> list[list[str]]:
        """Return a line for each environment."""
        lines = []
        for at, ground in enumerate(GROUNDS):
            found = verdicts(at, record)
            lines.append([ground.title, *(found.get(rival, _unmet(ground, rival)) for rival in CHOOSERS)])
        return lines


def _unmet(ground: Ground, rival: str) -> str:
    return "not yet played" if rival in ground.rivals else ""


def conclusion(record: Record) -> str:
    """Return on how many of the environments `auto` is not shown to be worse than anybody, and on how many better."""
    found = [set(verdicts(at, record).values()) for at in range(len(GROUNDS))]
    known = [each for each in found if each]
    sound = [each for each in known if WORSE not in each]
    better = sum(BETTER in each for each in sound)
    best = sum(each == {BETTER} for each in sound)
    return (
        f"Of {len(GROUNDS)} environments {len(known)} were played. In {len(sound)} no interval, wide where games are "
        f"few, shows `auto` to be worse than one of those it met; in {better} of these it is better than at least one "
        f"of them, and in {best} better than all."
    )


STUDY = Study(
    "auto",
    "The agent that looks for itself",
    """`agents.make("auto")` in environments of others, against UCT as `mcts` has it by default, rolling horizon
    evolution (`rhea`), gymcts, and OpenSpiel's own search in Python where the game is OpenSpiel's, at equal time a
    move. Games of one player begin with the same seeds of `reset`, games for two are played from both seats. All know
    the same: chance to come is drawn anew in every copy, those of gymcts too. ms a move: the median; `auto` begins an
    episode with a look at the environment besides, of up to a second.""",
    _tables,
    Verdicts(),
    conclusion=conclusion,
)
