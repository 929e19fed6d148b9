"""Sequential tests in the course of a comparison: they stop it, whatever the order in which games finish."""

import importlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
import typer.testing

from agents.arena import Plan, Report, Sprt, compare, parse_meeting
from agents.arena.course import Course
from agents.arena.formats.base import Format
from agents.arena.report.table import outlook, remarks
from agents.arena.rows import Match, Played
from agents.arena.running.runner import Crew
from agents.arena.statistics.estimates import paired_rates
from agents.arena.statistics.gsprt import score_of
from agents.arena.statistics.sprt import POWER, difference_found
from tests.arena import pairs, single
from tests.arena.quitters import quit_plan
from tests.arena.reports import printed, rows_of

ROOT = Path(__file__).resolve().parents[2]
TEST = Sprt(0, 150)
DUEL = pairs.fakes("low:lowest=true", "random")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return compare(DUEL, 200, folder=tmp_path_factory.mktemp("whole"), sprt=TEST)


def test_a_test_stops_the_comparison_and_the_report_is_of_what_it_looked_at(whole: Report) -> None:
    trial = whole.trial
    assert trial is not None
    assert trial.verdict is not None
    assert (trial.agent, trial.reference) == ("low:lowest=true", "random")
    assert 3 < trial.boards == trial.counted == whole.episodes == whole.pairings[0].boards < 200
    assert whole.finished
    scores = [
        DUEL.format.score(DUEL, {row.key: row for row in rows}, number) for number, rows in boards_of(whole.folder)
    ][: trial.boards]
    assert trial.llr == TEST.llr(scores)  # type: ignore[arg-type]
    assert TEST.verdict(TEST.llr(scores[:-1])) is None  # type: ignore[arg-type]
    assert f"SPRT {TEST}: LLR {trial.llr:.2f} of (-2.94, 2.94) after {trial.boards} boards, H" in printed(whole)


def boards_of(folder: Path) -> Iterator[tuple[int, list[Any]]]:
    from agents.arena.storage import read_rows

    rows = read_rows(folder).values()
    for number in sorted({row.episode for row in rows}):
        yield number, [row for row in rows if row.episode == number]


def test_where_it_stops_depends_on_neither_the_order_nor_interruptions(
    tmp_path: Path, whole: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = Crew.play

    def backwards(self: Crew, jobs: Iterable[Match]) -> Iterator[Played]:
        todo = list(jobs)
        for start in range(0, len(todo), 7):
            yield from play(self, reversed(todo[start : start + 7]))

    monkeypatch.setattr(Crew, "play", backwards)
    shuffled = compare(DUEL, 200, folder=tmp_path / "shuffled", sprt=TEST)
    assert shuffled.trial == whole.trial
    monkeypatch.setattr(Crew, "play", lambda self, jobs: cut(play(self, jobs)))
    for _ in range(100):
        found = compare(DUEL, 200, folder=tmp_path / "cut", sprt=TEST)
        if found.signal is None:
            break
    assert found.trial == whole.trial
    assert 0 < found.reused <= 2 * found.episodes
    keys = [(*(seat["agent"] for seat in row["seats"]), row["episode"]) for row in rows_of(tmp_path / "cut")]
    assert len(keys) == len(set(keys))
    before = (tmp_path / "cut" / "episodes.jsonl").read_bytes()
    again = compare(DUEL, 200, folder=tmp_path / "cut", sprt=TEST)
    assert again.trial == whole.trial
    assert (tmp_path / "cut" / "episodes.jsonl").read_bytes() == before


def cut(playing: Iterator[Played]) -> Iterator[Played]:
    for number, played in enumerate(playing):
        if number == 5:
            raise KeyboardInterrupt
        yield played


def test_what_is_not_decided_says_so(tmp_path: Path) -> None:
    found = compare(DUEL, 2, folder=tmp_path, sprt=Sprt(0, 5))
    assert found.trial is not None
    assert (found.trial.verdict, found.trial.boards, found.episodes) == (None, 2, 2)
    assert remarks(found)[-2].endswith("after 2 boards, undecided")


def test_boards_with_an_error_do_not_count_and_those_that_are_missing_are_waited_for() -> None:
    plan = pairs.fakes("a", "b")
    rows = pairs.by_hand({("a", "b"): [1, 1, 0, 1], ("b", "a"): [0, 0, 1, 0]}, broken=("a", "b", 1))
    course = Course(plan, Sprt(0, 5), 4, [match for match in plan.jobs(4) if match.episode == 3])
    assert not course.follow(rows)
    assert (course.trial.boards, course.trial.counted) == (3, 2)
    assert course.trial.llr == Sprt(0, 5).llr([1.0, 0.0])
    course.finish(3)
    course.finish(3)
    assert not course.follow(rows)
    assert (course.trial.boards, course.trial.counted) == (4, 3)


@pytest.mark.parametrize(
    ("plan", "pair", "games", "better"),
    [
        (single.fakes(*single.TWO[::-1]), ("scripted:base=scripted", "random:base=random"), 1, True),
        (pairs.fakes("low:lowest=true", "a", "host", against="host"), ("low:lowest=true", "a"), 2, None),
        (quit_plan("stay:at=0,x:at=1,stay:at=0,x:at=1"), ("stay:at=0", "x:at=1"), 6, True),
        (quit_plan("stay:at=0,x:at=1", "y:at=0"), ("stay:at=0", "x:at=1"), 4, True),
    ],
)
def test_two_agents_of_any_game_are_tested_in_blocks(
    tmp_path: Path, plan: Plan, pair: tuple[str, str], games: int, better: bool | None
) -> None:
    shape: Format = plan.format
    assert shape.contest(plan) == pair
    assert shape.games(plan) == games
    found = compare(plan, 60, folder=tmp_path, sprt=Sprt(0, 100))
    assert found.trial is not None
    if better is not None:
        assert found.trial.verdict == "H1"
        assert found.trial.boards < 60
    assert shape.episode in outlook(plan, 60, Sprt(0, 200))


@pytest.mark.parametrize("scores", [[0.5, float("nan")], [-0.5, 0.5], [1.5]])
def test_points_that_are_none_are_refused(scores: list[float]) -> None:
    with pytest.raises(ValueError, match=r"outside \[0, 1\]; give mean points"):
        TEST.llr(scores)


def test_more_than_two_are_refused_before_anything_is_played(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a sequential test is of two agents, and these are 3: a, b, c; give two"):
        compare(pairs.fakes("a", "b", "c"), 5, folder=tmp_path / "none", sprt=TEST)
    mixed = Plan("BomberTeam-v0", parse_meeting("random,random,uniform,uniform", None)[0])
    with pytest.raises(ValueError, match=r"and here random \+ uniform are mates; give random,uniform"):
        compare(mixed, 5, folder=tmp_path / "none", sprt=TEST)
    with pytest.raises(ValueError, match="sprt looks at all boards in their order, not at part 1/2; leave one out"):
        compare(DUEL, 5, folder=tmp_path / "none", sprt=TEST, part=(1, 2))
    assert not (tmp_path / "none").exists()


def test_the_command_says_what_it_will_take_and_what_it_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    app = typer.Typer()
    app.command()(importlib.import_module("compare").main)
    line = ["LaneDefense3x3-v0", "--agents", "scripted,random", "--episodes", "40", "--workers", "1"]
    result = typer.testing.CliRunner().invoke(app, [*line, "--sprt", "elo0=0,elo1=200"])
    said = " ".join(result.stdout.split())
    assert result.exit_code == 0
    assert "SPRT elo0=0,elo1=200,alpha=0.05,beta=0.05: about 19 episodes where one of its Elo holds" in said
    assert "is nearer to +200 Elo than to +0" in said
    wrong = typer.testing.CliRunner().invoke(app, [*line, "--sprt", "elo0=9,elo1=0"])
    assert wrong.exit_code == 2
    assert "sprt elo0=9 is not less than elo1=0; give for example" in wrong.stderr


def test_before_a_run_it_is_said_what_it_can_find() -> None:
    assert outlook(DUEL, 100).startswith(
        "100 boards find a difference of 69 Elo 80% of the time, and 20 Elo take 1,186,"
    )
    assert outlook(DUEL, 1).startswith("1 board is too few to find any difference, and 20 Elo take 1,186,")
    assert outlook(DUEL, 2).startswith("2 boards find a difference of 1317 Elo 80% of the time")
    assert outlook(single.fakes(*single.TWO), 100) == ""
    beside = outlook(pairs.fakes("low:lowest=true", "a", "host", against="host"), 200)
    assert beside.startswith("200 boards find a difference of 69 Elo 80% of the time, and 20 Elo take 2,372,")
    assert outlook(pairs.fakes("a", "host", against="host"), 100) == outlook(DUEL, 100)


def test_it_finds_as_much_of_two_who_play_against_the_same_others() -> None:
    boards, rng = 100, np.random.default_rng(0)
    points = score_of(difference_found(boards, 1))
    ours, theirs = (rng.binomial(2, share, (1000, boards)) / 2 for share in (points, 0.5))
    found = [paired_rates(*both).low > 0 for both in zip(ours, theirs, strict=True)]
    assert np.mean(found) == pytest.approx(POWER, abs=0.04)
