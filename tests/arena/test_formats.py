"""Rows and formats of comparisons: one row for all games, rows of earlier releases, one class for a format."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from rich import box
from rich.table import Table

import agents.arena.running.runner
from agents.arena import Plan, compare, parse_agents
from agents.arena.formats import Duel, Format, Lineups, Mark, Solo, format_of
from agents.arena.lineups import Lineup
from agents.arena.report.report import Report, report
from agents.arena.report.table import render
from agents.arena.rows import Row, Seat, row_of
from agents.arena.statistics.estimates import Estimate
from agents.arena.storage import EPISODES, Results, read_rows, read_transitions

ID = "LaneDefense3x3-v0"
TWO = parse_agents("random,scripted")


def flat(line: str) -> str:
    """Return a row of a game for one as releases up to 0.4.0 wrote it."""
    row = json.loads(line)
    (seat,) = row.pop("seats")
    del row["last_asked"], seat["ended"]
    return json.dumps({"agent": seat.pop("agent"), **row, **seat})


def test_a_game_for_one_is_a_match_of_one_seat(tmp_path: Path) -> None:
    compare(Plan(ID, TWO), 2, folder=tmp_path)
    for key, row in read_rows(tmp_path).items():
        (seat,) = row.seats
        assert key == row.key == ((seat.agent,), row.episode)
        assert (seat.outcome, seat.is_success) in ((0.0, False), (1.0, True))
        assert row_of(json.loads(json.dumps(asdict(row)))) == row


def test_rows_of_earlier_releases_are_read(tmp_path: Path) -> None:
    plan = Plan(ID, TWO, record=True)
    whole = compare(plan, 3, folder=tmp_path)
    before, moves = read_rows(tmp_path), list(read_transitions(tmp_path, 3))
    header, *lines = (tmp_path / EPISODES).read_text().splitlines()
    (tmp_path / EPISODES).write_text("\n".join([header, *map(flat, lines)]) + "\n")
    found = read_rows(tmp_path)
    for row in before.values():
        row.last_asked = None
    assert found == before
    assert repr(report(plan, tmp_path, found, 3, 1, whole.discount).summaries) == repr(whole.summaries)
    assert list(read_transitions(tmp_path, 3)) == moves
    assert compare(plan, 4, folder=tmp_path).reused == 6


@pytest.mark.parametrize("change", [{"agent": None}, {"outcome": 2.0}, {"length": -1}, {"moves": 3}, {"seats": 5}])
def test_damaged_rows_of_earlier_releases_are_refused(tmp_path: Path, change: Mapping[str, Any]) -> None:
    plan = Plan(ID, TWO)
    compare(plan, 1, folder=tmp_path)
    header, line, _ = (tmp_path / EPISODES).read_text().splitlines()
    given = {**json.loads(flat(line)), **change}
    (tmp_path / EPISODES).write_text(f"{header}\n{json.dumps(given)}\n")
    with pytest.raises(ValueError, match=r"line 2, is not what a comparison writes .* --fresh"):
        Results(tmp_path, plan.configuration())


def test_returns_of_several_seats_are_discounted_by_their_own_moves() -> None:
    plan = Plan("BomberDuel-v0", parse_agents("random_safe,random"))
    factor = plan.make_env().game.discount
    found = next(iter(agents.arena.running.runner.Crew(plan).play(plan.jobs(1)))).row
    for seat in found.seats:  # nothing is paid but at the end
        own = seat.episode_return * factor ** (seat.length - 1)
        assert seat.discounted_return == pytest.approx(own)
        assert seat.is_success == (seat.outcome == 1.0)


@pytest.mark.parametrize(("seats", "kind"), [(1, Solo), (2, Duel), (3, Lineups), (22, Lineups)])
def test_the_number_of_seats_says_the_format(seats: int, kind: type[Format]) -> None:
    assert type(format_of(seats)) is kind


def test_nothing_else_asks_for_the_number_of_seats() -> None:
    asks = re.compile(r"\bseats\b *(==|>|<|!=)")
    folder = Path(agents.arena.__file__).parent
    found = [f"{file.name}: {line.strip()}" for file in folder.glob("*.py") for line in file.read_text().splitlines()]
    assert [line for line in found if asks.search(line)] == []


class Longest(Solo):
    """A format of one's own: who lasts longest."""

    def tables(self, report: Report, lines: box.Box) -> list[Table]:
        table = Table("agent", "moves")
        for s in report.summaries:
            table.add_row(s.agent, f"{s.length:.2f}")
        return [table]

    def quantity(self, plan: Plan) -> str:
        return "moves"

    def marks(self, report: Report, names: Mapping[str, str]) -> list[Mark]:
        return [Mark(names[s.agent], s.games, Estimate(s.length, s.length, s.length)) for s in report.summaries]


class Ladder(Duel):
    """Each agent meets the next one alone."""

    def lineups(self, plan: Plan) -> list[Lineup]:
        return [((one,), (other,)) for one, other in pairwise(plan.agents)]


class LongestPlan(Plan):
    format = Longest()


class LadderPlan(Plan):
    format = Ladder()


def test_a_format_says_who_meets(tmp_path: Path) -> None:
    plan = LadderPlan("WallSurvival-v0", parse_agents("uniform,random_walk,greedy"), {"board_size": 3})
    result = compare(plan, 2, folder=tmp_path)
    assert [(p.agent, p.opponent) for p in result.pairings] == [("uniform", "random_walk"), ("random_walk", "greedy")]
    assert len(read_rows(tmp_path)) == 8
    assert [s.games for s in result.summaries] == [4, 8, 4]


def test_one_more_format_is_one_more_class(tmp_path: Path) -> None:
    result = compare(LongestPlan(ID, TWO), 3, folder=tmp_path)
    table = render(result).renderables[0].table  # type: ignore[attr-defined]
    assert [column.header for column in table.columns] == ["agent", "moves"]
    assert list(table.columns[1].cells) == [f"{s.length:.2f}" for s in result.summaries]
    row = Row(4, 0, [Seat("a", 0)])
    assert result.plan.format.name(row) == "a, episode 4"
