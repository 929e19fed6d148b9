"""The studies of published results: what they play, what they keep of it, and the pages that they write."""

import importlib
import math
import re
import signal
import subprocess
import sys
import time
from itertools import chain
from pathlib import Path

import pytest
import reproduce
import typer
import typer.testing
from papers import playing
from papers.measures import Means, Points, Rate, Shares, Standings, Wins, mean, shares_verdict, verdict
from papers.page import UNPLAYED, markdown, write
from papers.playing import _entry, companies
from papers.record import Entry, Record, tallied, this_run
from papers.study import Cell, Entrant, Study, Table, boards_of, plan_of

import agents
from agents.arena import compare, interrupt
from agents.arena.faults import CRASH, forfeit
from agents.arena.formats.lineup_figures import side_name
from agents.arena.report.report import Report
from agents.arena.rows import blank_row
from agents.arena.running.runner import Crew
from agents.arena.statistics.estimates import Estimate, wilson
from agents.arena.storage import EPISODES

ROOT = Path(__file__).resolve().parents[2]
LANE, WALL, BOMBER = "LaneDefense3x3-v0", "WallSurvival-v0", "BomberDuel-v0"
STUDIES = {name: importlib.import_module(f"papers.{name}").STUDY for name in reproduce.PAPERS}
CELLS = {name: [cell for table in study.tables for cell in table.cells] for name, study in STUDIES.items()}
RANDOM, SCRIPTED, UNIFORM = (Entrant(name, name) for name in ("random", "scripted", "uniform"))


measured = []


def squared(number):
    """A measure that is no game."""
    measured.append(number)
    return number * number


def small(published=11):
    """A study of four tables that takes a second."""
    published = Rate(published, 100)
    alone = [Cell((p.label,), (p,), LANE, 40, published=published) for p in (RANDOM, SCRIPTED)]
    duel = Cell(("random",), (RANDOM,), WALL, 8, {"board_size": 3}, UNIFORM, Rate(50))
    side = Cell(("duel",), (RANDOM, UNIFORM), BOMBER, 4, published=Shares({"random": (40, 20, 40)}, 50))
    count = Cell(("squares",), (Entrant("squares", "squares"),), LANE, 5, measure=squared)
    mean_of = Means({"mean": mean}, "numbers")
    return Study(
        "small",
        "A small study",
        "Of nothing.",
        lambda: [
            Table("Alone", ("player",), Wins(), tuple(alone)),
            Table("Two", ("player",), Points(), (duel,)),
            Table("Sides", ("game",), Standings(), (side,)),
            Table("Counted", ("what",), mean_of, (count,), "Of the first numbers."),
        ],
    )


@pytest.fixture
def here(monkeypatch):
    """Games are played in this process; `test_a_run_goes_on_after_kill_9` is with others, as the command plays them."""
    monkeypatch.setattr(playing, "compare", lambda *given, workers, **more: compare(*given, **more))


def played(study, tmp_path, scale=1.0, tables=None, fresh=False):
    record = Record.read(tmp_path / "data" / "small.jsonl")
    reproduce.play(study, study.tables if tables is None else tables, record, tmp_path / "out", scale, 1, fresh)
    return record


def test_games_on_a_machine_that_others_use_are_not_to_be_believed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(Report, "starved", {"random": 0.4})
    study = small()
    played(study, tmp_path, 0.1, study.tables[1:2])
    assert "Two: random had 40% of a core while it thought" in capsys.readouterr().err
    record = Record.read(tmp_path / "data" / "small.jsonl")
    said = " Other work ran beside, and who thought had a part of a core: random (random 40 %)."
    assert said in write(study, record).replace("\n", " ")


# What is going to be played


@pytest.mark.parametrize("name", STUDIES)
def test_tables_and_cells_are_told_apart(name):
    tables = STUDIES[name].tables
    assert STUDIES[name].name == name
    assert len({table.title for table in tables}) == len(tables)
    assert len({cell.key for cell in CELLS[name]}) == len(CELLS[name])
    for table in tables:
        assert len({cell.words for cell in table.cells}) == len(table.cells) or name == "bomber"
        assert all(len(cell.words) == len(table.words) for cell in table.cells)
        assert table.measure.ours in table.measure.columns


@pytest.mark.parametrize("name", STUDIES)
def test_every_comparison_can_be_set_up(name):
    for table in STUDIES[name].tables:
        for cells in companies(table.cells):
            assert len({cell.games for cell in cells}) == 1
            alike = all(cell.measure is None for cell in cells) or all(cell.minutes for cell in cells)
            assert len(cells) == 1 or (alike and all(len(cell.players) == 1 for cell in cells))
            if cells[0].measure is None:
                plan = plan_of(cells, table.measure.keep)
                plan.format.check(plan)
                assert len(plan.lineups) == len(cells)
                assert boards_of(cells[0], plan, 1e-6) == 2
                matches = boards_of(cells[0], plan, 1.0) * len(plan.board(plan.lineups[0], 0))
                assert cells[0].games <= matches < cells[0].games + 8


@pytest.mark.parametrize("name", STUDIES)
def test_every_agent_of_the_papers_can_be_made(name):
    cells = [cell for cell in CELLS[name] if cell.measure is None]
    players = chain.from_iterable([*cell.players, *([cell.against] if cell.against else [])] for cell in cells)
    for spec in {player.spec for player in players}:
        agents.make(spec.name, **spec.settings)


def test_published_shares_are_of_sides_that_meet_and_add_up():
    for cell in (cell for cell in CELLS["bomber"] if isinstance(cell.published, Shares)):
        sides = {side_name(spec.label for spec in side) for lineup in plan_of([cell]).lineups for side in lineup}
        assert cell.published.sides.keys() <= sides
        assert all(sum(shares) == pytest.approx(100) for shares in cell.published.sides.values())


# Verdicts


def test_a_verdict_is_of_intervals():
    ours = [Estimate(value, value - 0.1, value + 0.1) for value in (0.2, 0.5, 0.9)]
    assert [verdict(one, ours[1]) for one in ours] == ["below", "consistent", "better"]
    assert verdict(ours[0], Estimate(0.3, 0.3, 0.3)) == "consistent"
    assert verdict(ours[0], Rate(31).estimate) == "below"


def test_a_share_differs_only_where_the_intervals_do_not_meet():
    ours = wilson(50, 100), wilson(0, 100), wilson(50, 100)
    assert shares_verdict((50, 0, 50), 50, ours) == "consistent"
    assert shares_verdict((90, 0, 10), 50, ours) == "below: fewer wins, more losses"
    assert shares_verdict((10, 0, 90), 50, ours) == "better: more wins, fewer losses"
    assert shares_verdict((20, 60, 20), 50, ours) == "different: more wins, fewer ties, more losses"


# Playing, and going on


@pytest.mark.usefixtures("here")
def test_a_study_is_played_kept_and_written_once(tmp_path, monkeypatch):
    study = small()
    record = played(study, tmp_path)
    page = write(study, record)
    again = Record.read(tmp_path / "data" / "small.jsonl")
    assert write(study, again) == page
    assert UNPLAYED not in page
    assert {entry.boards for entry in again.entries.values()} == {40, 4, 5} | {2}
    assert " 6 [" in page  # the mean of the squares of 0 to 4
    assert "| random   | 11.0 [6.3, 18.6] of 100 |" in page
    assert page.count("Played at scale 1.") == 4
    asked = []
    play = Crew.play
    monkeypatch.setattr(Crew, "play", lambda self, jobs: asked.extend(jobs) or play(self, []))
    measured.clear()
    assert played(study, tmp_path).entries == record.entries
    assert asked == measured == []


def test_a_forfeit_is_lost_and_an_error_does_not_count():
    cell = Cell(("random",), (RANDOM,), WALL, 6, {"board_size": 3}, UNIFORM)
    plan = plan_of([cell])
    rows = [blank_row(job, 0) for job in plan.jobs(3)]
    for row in rows:
        row.seats[row.agents.index("random")].outcome = 1.0
    crashed = next(row for row in rows if row.episode == 1)
    crashed.last_asked = crashed.agents.index("random")
    told = {"type": "ValueError", "message": "", "traceback": ""}
    forfeit(crashed, plan.teams, CRASH, told)
    next(row for row in rows if row.episode == 2).error = told
    entry = _entry(Table("Two", ("player",), Points(), (cell,)), cell, rows, plan.teams, this_run("reproduce", 1.0))
    assert sorted(map(sorted, entry.found.results)) == [[0.0, 1.0], [1.0, 1.0]]
    assert entry.errors == 1


@pytest.mark.usefixtures("here")
def test_two_runs_of_other_tables_keep_what_each_other_found(tmp_path):
    study = small()
    one, other = study.tables[:1], study.tables[3:]
    late = Record.read(tmp_path / "data" / "small.jsonl")
    whole = played(study, tmp_path, tables=one)
    reproduce.play(study, other, late, tmp_path / "out", 1.0, 1, False)
    cells = [cell.key for table in (*one, *other) for cell in table.cells]
    assert {*Record.read(tmp_path / "data" / "small.jsonl").entries} == {*whole.entries, *cells}


@pytest.mark.slow
def test_a_run_goes_on_after_kill_9(tmp_path):
    command = [sys.executable, "scripts/reproduce.py", "lane", "--only", "5", "--scale", "0.01", "--workers", "1"]
    command += ["--out", str(tmp_path / "out"), "--pages", str(tmp_path / "pages")]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    rows, deadline = [], time.monotonic() + 120
    while not rows and time.monotonic() < deadline:
        time.sleep(0.05)
        rows = [line for file in tmp_path.rglob(EPISODES) for line in file.read_text(encoding="utf-8").splitlines()[1:]]
    process.kill()
    process.wait()
    kept = {file: file.read_bytes() for file in tmp_path.rglob(EPISODES)}
    assert any(content.count(b"\n") > 1 for content in kept.values())
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for file, content in kept.items():
        whole = content[: content.rfind(b"\n") + 1]
        assert file.read_bytes().startswith(whole)
    page = (tmp_path / "pages" / "lane.md").read_text(encoding="utf-8")
    assert "Played at scale 0.01." in page


@pytest.mark.usefixtures("here")
@pytest.mark.slow
def test_a_longer_run_stays(tmp_path, capsys):
    study = small()
    played(study, tmp_path, tables=study.tables[:1])
    longer = (tmp_path / "data" / "small.jsonl").read_text(encoding="utf-8")
    played(study, tmp_path, 0.1, study.tables[:1])
    assert (tmp_path / "data" / "small.jsonl").read_text(encoding="utf-8") == longer
    assert "Alone: 2 figures stand on more games than these, and stay" in capsys.readouterr().err
    record = played(study, tmp_path, 2.0, study.tables[:1])
    assert {entry.boards for entry in record.entries.values()} == {80}


@pytest.mark.usefixtures("here")
def test_figures_of_games_that_are_thrown_away_go_with_them(tmp_path, capsys):
    study = small()
    played(study, tmp_path, tables=study.tables[:1])
    played(study, tmp_path, 0.1, study.tables[:1], fresh=True)
    record = Record.read(tmp_path / "data" / "small.jsonl")
    assert {entry.boards for entry in record.entries.values()} == {4}
    assert "stand on more games" not in capsys.readouterr().err


def test_a_cell_whose_games_all_failed_has_no_share(tmp_path):
    study, record = small(), Record(tmp_path / "small.jsonl")
    cell, run = study.tables[0].cells[0], this_run("reproduce", 1.0)
    record.add(Entry(cell.key, run.id, [], {}, errors=4), run, fresh=True)
    assert record.share(cell) is None


@pytest.mark.usefixtures("here")
@pytest.mark.slow
def test_what_has_not_been_played_comes_first(tmp_path, monkeypatch):
    study = small()
    (table,) = study.tables[:1]
    record, order = Record.read(tmp_path / "small.jsonl"), []
    record.entries[table.cells[0].key] = played(study, tmp_path, tables=[table]).entries[table.cells[0].key]
    monkeypatch.setattr(record, "write", lambda keys: None)
    monkeypatch.setattr(record, "add", lambda entry, *_: order.append(entry.cell) or True)
    reproduce.play(study, [table], record, tmp_path / "anew", 1.0, 1, False)
    assert order == [cell.key for cell in reversed(table.cells)]


@pytest.mark.usefixtures("here")
def test_a_cell_that_changed_is_not_played_yet(tmp_path):
    study = small()
    record = played(study, tmp_path, tables=study.tables[:1])
    other = Study("small", "", "", lambda: [Table("Alone", ("player",), Wins(), (Cell(("x",), (UNIFORM,), LANE, 9),))])
    assert UNPLAYED in write(other, record)
    assert write(small(12), record) != write(study, record)  # what was published is not of the record


def test_results_are_counted_in_an_order_of_their_own():
    assert tallied([{"b": 1, "a": 2}, 1.0, {"a": 2, "b": 1}]) == [[1.0, 1], [{"a": 2, "b": 1}, 2]]


@pytest.mark.parametrize("line", ["{", "[]", '{"cell": "x"}', '{"command": "x", "scale": 1}'])
def test_damaged_data_are_refused(tmp_path, line):
    file = tmp_path / "lane.jsonl"
    file.write_text(f"{line}\n")
    with pytest.raises(ValueError, match=r"line 1, is not what scripts/reproduce\.py writes"):
        Record.read(file)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("fresh", "on"),
    [
        pytest.param([], "the same command", marks=pytest.mark.slow),
        (["--fresh"], "the same command without --fresh"),
    ],
)
def test_an_interrupted_run_has_a_page_of_what_there_is(tmp_path, monkeypatch, fresh, on):
    monkeypatch.setattr(interrupt, "_last", [-math.inf])
    monkeypatch.setattr(importlib.import_module("papers.lane"), "STUDY", small())
    monkeypatch.setattr(playing, "_measure", lambda *_: signal.raise_signal(signal.SIGTERM))
    result = invoked("lane", "--workers", 1, "--out", tmp_path / "out", "--pages", tmp_path, *fresh)
    assert result.exit_code == 143
    assert f"interrupted; {on} goes on from here" in result.stderr
    page = (tmp_path / "small.md").read_text(encoding="utf-8")
    assert page == write(small(), Record.read(tmp_path / "data" / "lane.jsonl"))
    assert (page.count("Played at scale 1."), page.count("Not yet played.")) == (3, 1)


# Pages


@pytest.mark.parametrize("name", STUDIES)
def test_a_page_says_what_has_not_been_played(name, tmp_path):
    page = write(STUDIES[name], Record(tmp_path / "none"))
    assert "Nothing has been played yet." in page
    assert page.count("Not yet played.") == len(STUDIES[name].tables)
    assert page.count(UNPLAYED) >= len(CELLS[name])


@pytest.mark.parametrize("name", STUDIES)
def test_the_pages_are_what_their_data_say(name):
    record = Record.read(ROOT / "docs" / "results" / "data" / f"{name}.jsonl")
    picture = (ROOT / "docs" / "results" / f"{name}.png").exists()
    assert (ROOT / "docs" / "results" / f"{name}.md").read_text(encoding="utf-8") == write(
        STUDIES[name], record, picture
    )
    assert {entry.run for entry in record.entries.values()} == set(record.runs)


def test_figures_in_the_guides_are_those_of_the_pages():
    cards = (ROOT / "agents" / "learning" / "policies").glob("*/README.md")
    pages = " ".join(_prose(page) for page in [*(ROOT / "docs" / "results").glob("*.md"), *cards])
    guides = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    figure = re.compile(r"[\d.]+ \[[\d.]+, [\d.]+\]")
    quoted = [(guide.name, found) for guide in guides for found in figure.findall(_prose(guide))]
    assert len(quoted) > 30
    assert [each for each in quoted if each[1] not in pages] == []


def _prose(page):
    """Return a page without code, in one line, its figures written alike."""
    text = re.sub(r"(?ms)^```.*?^```$|^    .*?$", "", page.read_text(encoding="utf-8"))
    return re.sub(r"\b100\b(?!\.)", "100.0", " ".join(text.split()).replace(" % [", " ["))


def test_tables_are_aligned():
    text = markdown(["player", "%"], [["a", "100"], ["long name", "5"]], ["player"])
    assert text.splitlines() == [
        "| player    |   % |",
        "| --------- | --: |",
        "| a         | 100 |",
        "| long name |   5 |",
    ]


# The command


def invoked(*words):
    app = typer.Typer()
    app.command()(reproduce.main)
    return typer.testing.CliRunner().invoke(app, [*map(str, words)])


@pytest.mark.parametrize("out", ["there", "there/below", "."])
def test_where_nothing_can_be_written_is_said_before_hours_are_played(out, tmp_path, monkeypatch):
    (tmp_path / "there").write_text("")
    (tmp_path / "pages" / "lane.md").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    result = invoked("lane", "--out", out, "--pages", "pages")
    assert result.exit_code == 2
    assert "cannot be written" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_table_that_is_not_there_is_told_with_those_that_are(tmp_path):
    result = invoked("lane", "--only", "table iii", "--out", tmp_path, "--pages", tmp_path)
    assert result.exit_code == 2
    assert (
        "only 'table iii': no table has this in its title; there are: 1 Table I: win rates on 3x3; 2" in result.stderr
    )


def test_tables_are_named_by_words_or_number():
    study = STUDIES["lane"]
    assert [table.title for table in reproduce.chosen(study, ["8", "table i:"])] == [
        study.tables[0].title,
        study.tables[7].title,
    ]
    assert reproduce.chosen(study, ["3"]) == [study.tables[2]]  # not every table of 3x3
    assert reproduce.chosen(study, []) == list(study.tables)


def test_nothing_is_played_for_the_page_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(Crew, "play", None)
    result = invoked("wall", "--report-only", "--out", tmp_path / "out", "--pages", tmp_path)
    assert result.exit_code == 0, result.stderr
    assert UNPLAYED in (tmp_path / "wall.md").read_text(encoding="utf-8")
    assert result.stdout.startswith("# Colosseum Survival!")


def test_commands_are_told_without_folders(monkeypatch):
    given = [
        "reproduce.py",
        "lane",
        "--out",
        "/home/me/runs",
        "--scale",
        "0.5",
        "--pages=/home/me/pages",
        "--workers",
        "1",
    ]
    monkeypatch.setattr(sys, "argv", given)
    assert this_run("reproduce", 0.5).command == "python scripts/reproduce.py lane --scale 0.5 --workers 1"


def test_games_that_lie_in_a_checkout_are_left_out_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = []
    for table in [table for table in STUDIES["answer"].tables if table.title == "Connect four, 10 ms a move"]:
        assert not list(playing.play_table(table, this_run("reproduce", 0.01), tmp_path, 1, False, said.append))
    assert said
    assert all(line.endswith(" is left out: not here: examples/connect_four_cells.py") for line in said)
