"""The page of exact values, and the data that it is made from."""

import gzip
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any

from _pages import damaged, unpacked

from agents.spec import AgentSpec
from exact import lane
from exact.judging import Question, heard, judge, on_lanes, on_walls
from exact.solving import Solver, state_of
from exact.wall import boards, game_of, position
from mcts_envs.core.contract import Game
from mcts_envs.core.writing import write_whole

_EVERY = 50
_SECONDS_BETWEEN_WRITES = 10.0
_LANE = "lane"
_HEAD = """# Exact values

What small games are worth to the best player, and how often players play a best move. Written by `python
scripts/solve.py`; do not edit. Nothing here depends on the machine, but where settings name a time.
"""
_WALLS = """## Wall survival on small boards

Solved by alpha-beta to the end of the game. Start boards that rotations and reflections turn into each other count as
one; shares are of all start boards, which are equally likely. A board that was not solved within the steps of the model
that were allowed is left open, and shares are then at least what is said.
"""
_LANES = """## Lane defense 3x3

Solved by value iteration over all boards and steps. The best player wins {:.2%} of all games, and {:.2%} where a coin
decides about the first plant too: nobody can win more in the long run.
"""
_RULER = """## Players beside them

Positions in which a wrong move costs, one from each of as many games; a best move keeps what the position is worth, to
a thousandth of a point. Regret is what moves lose, in points: on walls half a point from a win to a tie, or from a tie
to a loss, in random games; in lane defense the chance to win, in games of the best player, who errs in one move of
five. There a position is taken if its worst move costs a hundredth at least. Intervals are of 95 %.
"""


class Page:
    """What was found, in ``exact.md`` and, as data, in ``data/exact.json.gz`` of a folder."""

    def __init__(self, folder: Path) -> None:
        self._page, self._data = folder / "exact.md", folder / "data" / "exact.json.gz"
        self._kept: dict[str, Any] = {"boards": {}, "questions": {}, "judged": {}}
        if self._data.is_file():
            self._kept = _found_before(self._data)

    def solve(self, size: int, steps: int, say: Callable[[str], None]) -> None:
        """Solve the start boards of a size that are not solved yet."""
        solver, solved = Solver(game_of(size), steps), self._kept["boards"].setdefault(str(size), {})
        left = []
        for board, count in boards(size).items():
            at = position(board, size)
            name = f"{at['walls']} {at['p0'][0]},{at['p0'][1]}"
            known = solved.get(name)
            if known is None or (known["value"] is None and known["steps"] < steps):
                left.append((name, at, count))
        written = monotonic()
        try:
            for number, (name, at, count) in enumerate(left, 1):
                solved[name] = {**asdict(solver.worth(state_of(solver.game, at))), "stands_for": count}
                if number % _EVERY == 0:
                    say(f"{size} x {size}: {number} of {len(left)} boards")
                if monotonic() - written > _SECONDS_BETWEEN_WRITES:
                    self._write()
                    written = monotonic()
        finally:
            self._write()

    def solve_lanes(self) -> None:
        """Solve 3x3 lane defense, if it is not solved yet."""
        if _LANE not in self._kept:
            survival = lane.Survival(lane.game_of())
            self._kept[_LANE] = {"first_plant": survival.start(), "by_coin": survival.start(False)}
            self._write()

    def judge(
        self, size: int, specs: Sequence[AgentSpec], wanted: int, seed: int, steps: int, say: Callable[[str], None]
    ) -> None:
        """Judge agents by positions of walls of a size, which are made first if they are not there."""
        made = on_walls(size, wanted, seed, steps)
        self._judge(f"{size}, {wanted} of seed {seed}", game_of(size), heard(made, wanted, "made", say), specs, say)

    def judge_lanes(self, specs: Sequence[AgentSpec], wanted: int, seed: int, say: Callable[[str], None]) -> None:
        """Judge agents by positions of 3x3 lane defense."""
        made = heard(on_lanes(wanted, seed), wanted, "made", say)
        self._judge(f"{_LANE}, {wanted} of seed {seed}", lane.game_of(), made, specs, say)

    def _judge(
        self,
        name: str,
        game: Game,
        made: Iterable[Question],
        specs: Sequence[AgentSpec],
        say: Callable[[str], None],
    ) -> None:
        if not specs:
            return
        if name not in self._kept["questions"]:
            self._kept["questions"][name] = [asdict(question) for question in made]
            self._write()
        asked = [
            Question(kept["at"], {int(move): worth for move, worth in kept["moves"].items()}, kept.get("illegal"))
            for kept in self._kept["questions"][name]
        ]
        there = self._kept["judged"].setdefault(name, {})
        for judged in judge(game, asked, specs, say):
            there[judged.label] = asdict(judged)
            self._write()

    def _write(self) -> None:
        """Write data and page, with what another process has written since they were read."""
        if self._data.is_file():
            _take(self._kept, _found_before(self._data))
        self._data.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self._kept, separators=(",", ":"), sort_keys=True)
        write_whole(self._data, gzip.compress(text.encode(), mtime=0))
        write_whole(self._page, self.text().encode())

    def text(self) -> str:
        """Return the page."""
        lines = [_HEAD]
        if self._kept["boards"]:
            lines += [_WALLS, f"| {' | '.join(_COLUMNS)} |", "| --- |" + " ---: |" * (len(_COLUMNS) - 1)]
            lines += [_line(size, [*solved.values()]) for size, solved in sorted(self._kept["boards"].items())]
            lines.append("")
        if found := self._kept.get(_LANE):
            lines.append(_LANES.format(found["first_plant"], found["by_coin"]))
        if self._kept["judged"]:
            lines.append(_RULER)
        for name, judged in sorted(self._kept["judged"].items()):
            what, count = name.partition(",")[0], len(self._kept["questions"][name])
            title = "Lane defense 3x3" if what == _LANE else f"Wall survival {what}x{what}"
            lines += [f"### {title}, {count:,} positions", "", "| player | settings | best moves % | regret |"]
            lines.append("| --- | --- | ---: | ---: |")
            lines += [_judged(4 if what == _LANE else 3, **each) for _, each in sorted(judged.items())]
            lines.append("")
        return "\n".join(lines).rstrip() + "\n"


_COLUMNS = (
    "board",
    "boards",
    "up to symmetry",
    "solved",
    "first player wins",
    "ties",
    "loses",
    "longest forced win",
)


def _found_before(data: Path) -> dict[str, Any]:
    """Return what the data say; raise ``ValueError`` with the cure if they are damaged."""
    try:
        kept = json.loads(unpacked(data))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise damaged(data, error) from error
    parts = "boards", "questions", "judged"
    if not isinstance(kept, dict) or not all(isinstance(kept.get(part), dict) for part in parts):
        raise damaged(data, f"it has no {', '.join(parts)}")
    return kept


def _take(ours: dict[str, Any], theirs: Mapping[str, Any]) -> None:
    """Add what is not there; a board that is solved goes before one that is not."""
    for part in ("boards", "judged"):
        for name, found in theirs[part].items():
            there = ours[part].setdefault(name, {})
            for key, value in found.items():
                mine = there.setdefault(key, value)
                if mine.get("value", 0) is None and (value["value"] is not None or value["steps"] > mine["steps"]):
                    there[key] = value
    ours["questions"] = {**theirs["questions"], **ours["questions"]}
    ours |= {_LANE: theirs[_LANE]} if _LANE in theirs else {}


def _line(size: str, solved: Sequence[dict[str, Any]]) -> str:
    known = [each for each in solved if each["value"] is not None]
    total = sum(each["stands_for"] for each in solved)
    shares = [sum(each["stands_for"] for each in known if each["value"] == value) for value in (1, 0, -1)]
    least = "" if len(known) == len(solved) else "at least "
    longest = max((each["plies"] or 0 for each in known), default=0)
    cells = [
        f"{size} x {size}",
        f"{total:,}",
        f"{len(solved):,}",
        f"{len(known):,}",
        *(f"{least}{100 * share / total:.1f} %" for share in shares),
        f"{least}{longest} plies",
    ]
    return f"| {' | '.join(cells)} |"


def _judged(digits: int, label: str, settings: str, best: Sequence[float], regret: Sequence[float]) -> str:
    def shown(of: Sequence[float], scale: float, digits: int) -> str:
        value, low, high = (f"{scale * number:.{digits}f}" for number in of)
        return value if low == high else f"{value} [{low}, {high}]"

    return f"| {label} | {settings} | {shown(best, 100, 1)} | {shown(regret, 1, digits)} |"
