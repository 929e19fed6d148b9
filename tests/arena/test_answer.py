"""The study of planning against learning: measures that take their time, rows that travel, and what it sums up to."""

import gzip
import json
import shutil
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
import reproduce
from papers.answer import BOTH, BUDGETS, CONTESTS, PLANNER, POLICY, SCHOOLS, STUDY, Answer, cells_of, conclusion
from papers.arms import ARMS, FOUND, MINUTES, SEEDS, School, learned
from papers.measures import Means, Wins, mean, percent
from papers.page import UNPLAYED, write
from papers.playing import _entry, companies, folder_of, pack, unpack
from papers.record import Entry, Record
from papers.study import Cell, Entrant, Study, Table, plan_of

from agents.arena.running.runner import Crew
from agents.arena.storage import EPISODES, read_rows

LANE = "LaneDefense3x3-v0"
DATA = Path(__file__).resolve().parents[2] / "docs" / "results" / "data"
ALONE, MET = CONTESTS[0], CONTESTS[1]


def waited(number, minutes):
    """A measure that is told how long it may take."""
    return number + minutes


def small():
    """A study of a game and of a measure that takes its time, whose rows travel."""
    measured = [
        Cell((name,), (Entrant(name, name),), LANE, 4, measure=waited, minutes=6.0) for name in ("first", "second")
    ]
    game = Cell(("random",), (Entrant("random", "random"),), LANE, 12)
    return Study(
        "small",
        "A small study",
        "Of nothing.",
        lambda: [
            Table("Alone", ("player",), Wins(), (game,)),
            Table("Measured", ("what",), Means({"mean": mean}, "numbers"), tuple(measured)),
        ],
        rows=True,
    )


def played(tmp_path, scale, workers):
    study, record = small(), Record.read(tmp_path / "data" / "small.jsonl")
    reproduce.play(study, study.tables, record, tmp_path / "out", scale, workers, False, tmp_path / "data" / "small")
    return record


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_measure_is_given_its_share_of_the_time(tmp_path, workers):
    record = played(tmp_path, 0.5, workers)
    (game, *found) = record.entries.values()
    assert game.boards == 6
    assert [entry.tally for entry in found] == [[[3.0, 1], [4.0, 1]]] * 2


def test_rows_travel_with_the_pages(tmp_path, monkeypatch):
    before = played(tmp_path, 1.0, 1).entries
    shutil.rmtree(tmp_path / "out")
    packed = {file: file.read_bytes() for file in (tmp_path / "data" / "small").glob("*.jsonl.gz")}
    assert len(packed) == 2
    asked = []

    def stop(self, jobs):
        asked.extend(jobs)
        if jobs:
            raise KeyboardInterrupt
        yield from ()

    monkeypatch.setattr(Crew, "play", stop)
    assert played(tmp_path, 1.0, 1).entries == before
    assert asked == []
    assert packed == {file: file.read_bytes() for file in packed}
    shutil.rmtree(tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        played(tmp_path, 1.5, 1)
    assert len(asked) == 6  # of 18, 12 are there


def of_old(content):
    """Rows as if other code had played them."""
    header, *rows = content.splitlines(keepends=True)
    changed = json.loads(header)
    changed["configuration"]["code"] = "of old"
    return b"".join([json.dumps(changed).encode() + b"\n", *rows])


@pytest.mark.slow
@pytest.mark.parametrize("end", [b"", b'{"error": null, "se'])
def test_games_of_old_in_the_folder_do_not_take_the_place_of_those_beside_the_page(tmp_path, end):
    played(tmp_path, 1.0, 1)
    there = {file: file.read_bytes() for file in (tmp_path / "data" / "small").glob("*.jsonl.gz")}
    for file in (tmp_path / "out").rglob(EPISODES):
        file.write_bytes(of_old(file.read_bytes()) + end)
    with pytest.raises(ValueError, match="the code of mcts_envs or agents has changed since"):
        played(tmp_path, 1.0, 1)
    assert there == {file: file.read_bytes() for file in there}


@pytest.mark.slow
def test_rows_of_other_code_are_not_mixed_with_those_of_now(tmp_path, capsys):
    before = played(tmp_path, 1.0, 1).entries
    packed = list((tmp_path / "data" / "small").glob("*.jsonl.gz"))
    for file in packed:
        file.write_bytes(gzip.compress(of_old(gzip.decompress(file.read_bytes()))))
    there = {file: file.read_bytes() for file in packed}
    shutil.rmtree(tmp_path / "out")
    assert played(tmp_path, 0.5, 1).entries == before
    assert "was played by other code or settings; this begins anew" in capsys.readouterr().err
    games = next(file for file in packed if file.name.endswith("-12.jsonl.gz"))
    assert games.read_bytes() == there[games]  # of twelve games, and these are six
    played(tmp_path, 1.0, 1)
    assert b"of old" not in gzip.decompress(games.read_bytes())


def test_a_company_has_one_folder_in_whatever_order_it_is_found():
    cells = next(cells for table in STUDY.tables for cells in companies(table.cells) if len(cells) == 3)
    assert folder_of(cells, 1.0) == folder_of(cells[::-1], 1.0)
    assert len({folder_of(cells[at:], 1.0) for at in range(3)}) == 3


def test_games_that_ended_in_an_error_do_not_count_as_more(tmp_path):
    file, packed = tmp_path / "rows", tmp_path / "rows.gz"
    for errors, stays in (((None, None), False), (("x", "x", None), True), ((None, None, "x"), False)):
        file.write_text("{}\n" + "".join(json.dumps({"error": error}) + "\n" for error in errors))
        before = packed.read_bytes() if packed.exists() else b""
        pack(file, packed)
        assert (packed.read_bytes() == before) is stays


def test_every_figure_has_its_games_beside_the_page(tmp_path):
    record, given, used = Record.read(DATA / "answer.jsonl"), {}, set()
    for packed in (DATA / "answer").iterdir():
        unpack(packed, tmp_path / packed.name / EPISODES)
        given[packed.name] = list(read_rows(tmp_path / packed.name).values())
    for table in STUDY.tables:
        for cell in table.cells:
            entry, run = record.entries[cell.key], record.runs[record.entries[cell.key].run]
            company = next(cells for cells in companies(table.cells) if cell in cells)
            teams = ((0,),) if cell.measure else plan_of(company).teams
            own = {cell.players[0].label} | ({cell.against.label} if cell.against else set())
            found = {
                name: [row for row in rows if own <= {*row.agents}]
                for name, rows in given.items()
                if name in _names(company, run.scale)
            }
            same = [name for name, rows in found.items() if rows and _entry(table, cell, rows, teams, run) == entry]
            assert same, (table.title, cell.words)
            used |= {*same}
    assert used == given.keys()


def _names(company, scale):
    """The names of all files that may hold rows of a company, or of a part of it."""
    parts = [part for size in range(1, len(company) + 1) for part in combinations(company, size)]
    return {f"{folder_of(part, scale)}.jsonl.gz" for part in parts}


@pytest.mark.parametrize(
    "damage", [lambda it: it[:-9], lambda it: it[:10] + b"x" + it[11:], lambda it: b"version", lambda it: b""]
)
def test_a_damaged_file_beside_the_page_is_named(tmp_path, damage):
    packed = tmp_path / "found.jsonl.gz"
    packed.write_bytes(damage(gzip.compress(b"{}" * 99)))
    with pytest.raises(ValueError, match=r"found\.jsonl\.gz is damaged \(.*; restore it, or delete it"):
        unpack(packed, tmp_path / "out" / "rows")
    assert not (tmp_path / "out" / "rows").exists()


# What it sums up to


def entry(cell, results):
    return Entry(cell.key, "run", [[result, 1] for result in results], {})


def record_of(tmp_path, *entries):
    return Record(tmp_path / "none", entries={each.cell: each for each in entries})


def test_alone_the_summary_is_what_was_won(tmp_path):
    planner, policy, both = list(cells_of(ALONE, 0))[:3]
    record = record_of(tmp_path, entry(planner, [1.0, 0.0]), entry(policy, [0.0, 0.0]), entry(both, [1.0, 1.0]))
    ten = Answer().shares(ALONE, record)
    assert [share and share.value for share in ten] == [0.5, 0.0, 1.0, None, 0.0, None]  # a policy takes no time
    assert Answer().lines(record) == [[ALONE.title, *map(percent, ten[:3])]]
    assert Answer().heads(record) == ("game", "planner, 10 ms", "policy, 10 ms", "both, 10 ms")


@pytest.mark.parametrize(
    ("won", "said"),
    [
        ((0, 0, 20), f"in {ALONE.title} {BOTH} is best"),
        ((20, 0, 19), f"in {ALONE.title} {PLANNER} and {BOTH} are not told apart"),
        ((20, 20, 20), f"in {ALONE.title} {PLANNER}, {POLICY} and {BOTH} are not told apart"),
    ],
)
def test_the_conclusion_says_who_is_best_as_far_as_intervals_tell(won, said, tmp_path):
    cells = list(cells_of(ALONE, 0))[:3]
    found = [entry(cell, [1.0] * wins + [0.0] * (20 - wins)) for cell, wins in zip(cells, won, strict=True)]
    assert conclusion(record_of(tmp_path, *found)) == f"At 10 ms, by their intervals: {said}."
    assert conclusion(record_of(tmp_path, *found[:2])) == ""


def test_in_pairs_the_summary_is_the_mean_against_the_other_two(tmp_path):
    cells = list(cells_of(MET, 1))[:3]
    assert [cell.words for cell in cells] == [(PLANNER, POLICY), (BOTH, POLICY), (BOTH, PLANNER)]
    boards = [[1.0, 1.0], [1.0, 0.5]], [[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 0.0]]
    record = record_of(tmp_path, *(entry(cell, found) for cell, found in zip(cells, boards, strict=True)))
    values = [share and share.value for share in Answer().shares(MET, record)]
    assert values[:3] == [None] * 3
    assert values[3:] == pytest.approx([(0.875 + 0.75) / 2, (0.125 + 0.5) / 2, (0.5 + 0.25) / 2])


def test_both_opponents_count_alike_however_many_games_they_played(tmp_path):
    pairs = list(cells_of(MET, 1))[:3]
    counts = 100, 25, 30  # boards; the planner has half of the points against the policy, and none against both
    boards = [0.5, 0.5], [1.0, 1.0], [1.0, 1.0]
    found = [Entry(cell.key, "run", [[b, n]], {}) for cell, b, n in zip(pairs, boards, counts, strict=True)]
    planner, policy, both = Answer().shares(MET, record_of(tmp_path, *found), [1])
    assert [planner.value, policy.value, both.value] == pytest.approx([0.25, 0.25, 1.0])
    fewer = [replace(each, tally=[[each.tally[0][0], 25]]) for each in found]
    assert Answer().shares(MET, record_of(tmp_path, *fewer), [1])[0].low < planner.low < planner.value < planner.high


def test_the_picture_stands_once_something_is_played(tmp_path):
    pytest.importorskip("matplotlib")
    assert Answer().draw(record_of(tmp_path)) is None
    planner = next(cells_of(ALONE, 0))
    picture = Answer().draw(record_of(tmp_path, entry(planner, [1.0, 0.0])))
    assert len(np.unique(np.asarray(picture))) > 10


def test_the_page_begins_with_the_summary(tmp_path):
    record = record_of(tmp_path)
    page = write(STUDY, record)
    assert UNPLAYED in page
    assert page.index("## Lane") < page.index("## What was played before") < page.index("## How it was played")
    assert Answer().heads(record) == ("game",)


# What is going to be played


def test_every_game_has_its_contest_and_its_arms():
    assert [contest.title for contest in CONTESTS] == [school.title for school in SCHOOLS]
    ladders = sum(not contest.alone for contest in CONTESTS)
    assert len(STUDY.tables) == len(CONTESTS) * len(BUDGETS) + len(SCHOOLS) + ladders
    assert len(CONTESTS) * SEEDS * len(ARMS) * MINUTES / 60 <= 6.0  # hours, on one core


@pytest.mark.slow
@pytest.mark.parametrize("arm", ARMS.values())
def test_an_arm_is_trained_and_measured(arm):
    rival = Entrant("greedy", "greedy")
    school = School("", "WallSurvival-v0", {"agent": "greedy"}, rival, {"board_size": 4})
    found = learned(school, arm, 0, 0.1)
    assert 0.0 <= found["alone"] <= 1.0
    assert found["searching"] > 0.3
    assert found["steps"] > 0
    assert 0.1 <= found["minutes"] < 2.0
    assert set(FOUND.lines(None, type("Found", (), {"results": [found]}))[0]) == {*FOUND.columns}
