"""Tables and pictures of comparisons: what they show, that they fit, and what is marked."""

import io
import math
import os
import re
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path

import pytest
from rich import box
from rich.console import Console

import agents.arena.comparison
from agents.arena import Plan, compare, parse_agents, parse_budget
from agents.arena.faults import in_words
from agents.arena.page import page
from agents.arena.report.cells import Fitting, new_table, plain, short_names
from agents.arena.report.plot import drawing, plot, require_drawable
from agents.arena.report.report import Report, report
from agents.arena.report.table import remarks, render, write_markdown
from agents.arena.rows import Row, Seat, blank_row
from agents.arena.running.runner import Crew
from agents.arena.statistics.estimates import Estimate
from agents.arena.storage import EPISODES
from tests.arena.reports import printed
from tests.arena.single import TWO, fakes

ID = "LaneDefense3x3-v0"
FIGURES = ("40.0 [26.3,55.4]", "-165 [-205,-106.25]", "12.7", "0.808", "235")


@pytest.mark.parametrize("packages", ["/usr/lib/python3/dist-packages", "/opt/venv/lib/python3.11/site-packages"])
def test_the_line_of_ones_own_code_is_told_once(packages: str) -> None:
    told = {"type": "ValueError", "message": "none (bot.py, line 9)"}
    trace = f'  File "/home/me/bot.py", line 9, in act\n  File "{packages}/torch/nn.py", line 4, in forward'
    assert in_words({**told, "traceback": trace}) == "ValueError: none (bot.py, line 9)"
    assert in_words({**told, "message": "none", "traceback": trace}) == "ValueError: none (bot.py, line 9)"


def test_the_budget_is_shown_for_those_who_take_it(tmp_path: Path) -> None:
    for text, expected in [
        ("random,mcts,mcts:simulations=7,flat_mc:c=2", "budget simulations=100 for mcts, flat_mc:c=2;"),
        ("random,mcts:simulations=7", "no agent here takes the budget simulations=100;"),
    ]:
        limits = parse_budget("simulations=100")
        plan = Plan(ID, parse_agents(text, limits), budget=limits)
        assert expected in remarks(report(plan, tmp_path, {}, 1, 1, 1.0))[0]
    assert "each agent's own budget;" in remarks(report(fakes(*TWO), tmp_path, {}, 1, 1, 1.0))[0]


@pytest.mark.parametrize(
    ("estimate", "expected"),
    [
        (Estimate(1e200, -1e200, 3e200), "+1e+200 [-1e+200,+3e+200]"),
        (Estimate(12345678.0, 1.0, 2e7), "+1.235e+07 [+1,+2e+07]"),
        (Estimate(math.inf, math.nan, math.nan), "+inf"),
        (Estimate(123456.0, 1.0, 2e5), "+123456 [+1,+200000]"),
        (Estimate(0.123, 0.0, 0.246), "+0.12 [+0.00,+0.25]"),
        (Estimate(0.0123, 0.00456, 0.02), "+0.0123 [+0.00456,+0.02]"),
        (Estimate(-1.5e-7, -2e-7, -1e-7), "-1.5e-07 [-2e-07,-1e-07]"),
        (Estimate(0.0, 0.0, 0.0), "+0.00 [+0.00,+0.00]"),
    ],
)
def test_huge_means_are_short_and_tiny_ones_are_not_nought(estimate: Estimate, expected: str) -> None:
    assert plain(estimate, "+").plain == expected


def test_views_take_little_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, views = 0.0, 0

    def clock() -> float:
        return now

    def watch(found: Report) -> None:
        nonlocal now, views
        now, views = now + 2.0, views + 1

    def playing(crew: Crew, jobs: object) -> Iterator[object]:
        nonlocal now
        for played in play(crew, jobs):  # type: ignore[arg-type]
            now += 1.0
            yield played

    monkeypatch.setattr(agents.arena.comparison, "monotonic", clock)
    play = Crew.play
    monkeypatch.setattr(Crew, "play", playing)
    compare(fakes(*TWO), 50, folder=tmp_path, watch=watch)
    assert 4 <= views <= 6


def test_the_best_agent_is_compared_with_all(tmp_path: Path) -> None:
    rows = {}
    for label, points in (("a", 0.0), ("b", 1.0), ("c", 0.5)):
        for episode in range(4):
            row = Row(episode, 0, [Seat(label, 0, points, discounted_return=10 * points)])
            rows[row.key] = row
    plan = fakes("a", "b", "c")
    found = report(plan, tmp_path, rows, 4, 1, 1.0)
    assert [s.win_rate.value for s in found.summaries] == [0.0, 1.0, 0.5]
    assert [(d.agent, d.reference, d.win_rate.value) for d in found.differences] == [
        ("b", "a", 1.0),
        ("c", "a", 0.5),
        ("c", "b", -0.5),
    ]
    empty = report(plan, tmp_path, {}, 4, 1, 1.0)
    assert not empty.finished
    assert math.isnan(empty.summaries[0].win_rate.value)


def test_who_has_no_return_is_not_the_best_of_those_who_never_won(tmp_path: Path) -> None:
    rows = {}
    for label, paid in (("a", -9.0), ("b", -9.0), ("c", -5.0)):
        row = rows[(label,), 0] = Row(0, 0, [Seat(label, 0, 0.0, discounted_return=paid)])
        if label == "a":
            row.last_asked, row.forfeit = 0, {"reason": "crash", "type": "RuntimeError", "message": "lost"}
    found = report(fakes("a", "b", "c"), tmp_path, rows, 1, 1, 1.0)
    assert [(d.agent, d.reference) for d in found.differences] == [("b", "a"), ("c", "a"), ("b", "c")]


@pytest.mark.parametrize("width", [80, 100, 200])
def test_a_table_fits_the_terminal(tmp_path: Path, width: int) -> None:
    found = compare(fakes("random:base=random", "scripted_with_a_long_name:base=scripted"), 10, folder=tmp_path)
    console = Console(width=width, file=io.StringIO())
    console.print(render(found))
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    text = " ".join(map(str.strip, lines))
    for part in ("random", "scripted", "discounted by 0.95", "minus", "episodes of seed 0"):
        assert part in text


def test_long_names_are_short_and_stay_apart() -> None:
    labels = ["mcts", "sb3:some/folder/far/away/a.zip", "mcts:simulations=100:c=0.5", "mcts:simulations=900:c=0.5"]
    assert list(short_names(labels[:3]).values()) == ["mcts", "sb3:away/a.zip", "mcts:sim…0:c=0.5"]
    assert list(short_names(["/home/me/bots/b.py:Bot"]).values()) == ["bots/b.py:Bot"]
    assert list(short_names(labels).values())[2:] == labels[2:]


def test_an_overrun_budget_is_marked(tmp_path: Path) -> None:
    limits = {"time_limit": 0.05}
    plan = Plan(ID, parse_agents("random,mcts,flat_mc", limits), budget=limits)
    seconds = {"random": 0.3, "mcts": 0.059, "flat_mc": 0.0723}
    rows = {((name,), 0): Row(0, 0, [Seat(name, 0, decisions=1, seconds=taken)]) for name, taken in seconds.items()}
    found = report(plan, tmp_path, rows, 1, 1, 1.0)
    assert found.overruns == {"flat_mc": (pytest.approx(72.3), 50.0)}
    console = Console(width=200, file=io.StringIO())
    console.print(render(found))
    text = console.file.getvalue()
    assert " 72.3! " in text
    assert " 59.0 " in text
    assert "! flat_mc took 72.3 ms a move, 45% over its limit of 50" in text


def test_a_machine_that_others_use_is_told(tmp_path: Path) -> None:
    limits = {"time_limit": 0.05}
    players = [*parse_agents("random,mcts,flat_mc", limits), *parse_agents("halving", {"simulations": 100})]
    plan = Plan(ID, players, budget=limits)
    had = {"random": 0.001, "mcts": 0.0499, "flat_mc": 0.02, "halving": 0.02}
    rows = {
        ((name,), game): Row(game, 0, [Seat(name, 0, decisions=1, seconds=0.5, cpu=10 * cpu)])
        for name, cpu in had.items()
        for game in range(2)
    }
    found = report(plan, tmp_path, rows, 2, 1, 1.0)
    assert found.starved == {"flat_mc": pytest.approx(0.4)}
    assert "had this much of a core: flat_mc 40%; planners suffer differently" in printed(found)
    for row in rows.values():
        row.seats[0].cpu = 0.0  # as an earlier release wrote it
    assert report(plan, tmp_path, rows, 2, 1, 1.0).starved == {}


def test_what_a_preset_limits_by_time_is_watched_too(tmp_path: Path) -> None:
    plan = Plan("Football1-v0", parse_agents("best,quick=best:simulations=10,tactical"))
    seats = [Seat(spec.label, 0, decisions=1, seconds=1.0, cpu=0.5) for spec in plan.agents]
    rows = {((seat.agent,), 0): Row(0, 0, [seat]) for seat in seats}
    assert Report(plan, tmp_path, 1, 1, 1.0, [], [], [], 0, rows=rows).starved == {"best": 0.5}


def test_the_picture_says_who_played_whom_and_holds_all_its_words(tmp_path: Path) -> None:
    limits = parse_budget("time=0.1,simulations=1000")
    plan = Plan(
        ID, parse_agents("random,sb3:some/very/long/folder/of/mine/policy.zip,mcts:c=0.5", limits), budget=limits
    )
    seats = [Seat(spec.label, 0, outcome=1.0, decisions=1, seconds=0.01) for spec in plan.agents]
    rows = {((seat.agent,), 0): Row(0, 0, [seat]) for seat in seats}
    figure = drawing(report(plan, tmp_path, rows, 1, 1, 1.0))
    figure.draw_without_rendering()
    width, height = figure.bbox.size
    (axes,) = figure.axes
    texts = [*figure.texts, *axes.texts, *axes.get_yticklabels()]
    for text in texts:
        box = text.get_window_extent()
        assert -1 <= box.x0 <= box.x1 <= width + 1, text.get_text()
        assert -1 <= box.y0 <= box.y1 <= height + 1, text.get_text()
    words = " ".join(" ".join(text.get_text().split()) for text in texts)
    for part in ("time_limit=0.1 simulations=1000 for mcts:c=0.5", "mcts:c=0.5 10.0 ms a move", "at least 1 episodes"):
        assert part in words


def test_a_plot_is_drawn_or_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = compare(fakes(*TWO), 4, folder=tmp_path)
    plot(found, tmp_path / "pictures" / "win.png")
    assert (tmp_path / "pictures" / "win.png").read_bytes().startswith(b"\x89PNG")
    require_drawable(tmp_path / "new" / "folder" / "win.svg")
    assert not (tmp_path / "new").exists()
    for file, message in [
        (tmp_path / "win.pgn", "unknown format '.pgn'; did you mean '.png'"),
        (tmp_path / "win", "unknown format ''"),
        (tmp_path / EPISODES / "win.png", "cannot be written"),
    ]:
        with pytest.raises((ValueError, OSError), match=message):
            require_drawable(file)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for call in (lambda: plot(found, tmp_path / "win.png"), lambda: require_drawable(tmp_path / "win.png")):
        with pytest.raises(ImportError, match="pip install"):
            call()


def test_a_plot_that_has_no_room_is_named_and_leaves_the_one_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, file = compare(fakes(*TWO), 1, folder=tmp_path), tmp_path / "win.png"
    file.write_text("before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*win\.png'"):
        plot(found, file)
    assert file.read_text() == "before"


@pytest.mark.parametrize("width", [30, 45, 60, 75, 200])
def test_no_number_is_cut_where_a_terminal_is_narrow(width: int, tmp_path: Path) -> None:
    plan = Plan("WallSurvival-v0", parse_agents("new=random,old=uniform"), {"board_size": 3})
    found = report(plan, tmp_path, {job.key: blank_row(job, 0) for job in plan.jobs(123)}, 123, 1, 1.0)
    ranking = printed(found, width).partition("against")[0]
    heads = next(line.split() for line in ranking.splitlines() if "agent" in line)
    assert heads[:3] == ["#", "agent", "games"]
    for head in ("won", "tied", "lost", "length", "ms", "steps"):
        assert (head in heads) != bool(re.search(rf"no room for .*{head}", ranking, re.DOTALL)), head
    for line in ranking.splitlines():
        if re.match(" [12] ", line):
            assert line.split()[2] == "246"
            assert all(part in ("123", "246", "0", "0.0", "-") for part in line.split()[5:])


def test_names_and_intervals_make_room_for_the_last_number() -> None:
    table = new_table(box.SIMPLE_HEAD, "agent", "games", "win rate %", "return", "length", "ms", "steps")
    table.add_row("mcts:sim…ions=30", "40", *FIGURES)
    for width in range(30, 90):
        console = Console(width=width, file=io.StringIO())
        console.print(Fitting(table))
        text = console.file.getvalue()  # type: ignore[attr-defined]
        missing = text.partition("no room for")[2]
        for head, figure in zip(("win rate", "return", "length", "ms", "steps"), FIGURES, strict=True):
            assert (head in missing.replace("\n", " ")) != all(part in text.split() for part in figure.split()), width


@pytest.mark.parametrize(
    ("id", "players", "settings"),
    [
        (ID, "a=random,b=uniform", {}),
        ("WallSurvival-v0", "a=random,b=uniform", {"board_size": 3}),
        ("Bomber-v0", "a=random,b=uniform,c=rule_based,d=random_safe", {}),
    ],
)
def test_truncated_games_have_a_column_where_there_are_any(
    id: str, players: str, settings: dict[str, int], tmp_path: Path
) -> None:
    plan = Plan(id, parse_agents(players), settings)
    rows = {job.key: blank_row(job, 0) for job in plan.jobs(3)}
    assert "truncated" not in printed(report(plan, tmp_path, rows, 3, 1, 1.0))
    late = [row for row in rows.values() if row.seats[0].agent == "a"]
    for row in late:
        row.truncated = "no end within 1 s (--episode-limit)"
    found = report(plan, tmp_path, rows, 3, 1, 1.0)
    of_b = len(late) if len(late[0].seats) > 1 else 0
    assert [summary.truncated for summary in found.summaries[:2]] == [len(late), of_b]
    write_markdown(found, tmp_path / "report.md")
    (tmp_path / EPISODES).write_text('{"configuration": {}}\n')
    for text in (printed(found), (tmp_path / "report.md").read_text(), page(found)):
        assert re.search(r"truncated *(\||\n|</th>)", text)


def test_a_full_disk_leaves_the_tables_that_were_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, file = Plan(ID, parse_agents("random,uniform")), tmp_path / "report.md"
    rows = {job.key: blank_row(job, 0) for job in plan.jobs(3)}
    found = report(plan, tmp_path, rows, 3, 1, 1.0)
    write_markdown(found, file)
    before = file.read_text()

    def full(*_: object, **__: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Console, "print", full)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="disk full"):
        write_markdown(found, file)
    assert file.read_text() == before
    assert [path.name for path in tmp_path.iterdir()] == ["report.md"]


def test_a_report_shows_itself_as_its_tables(tmp_path: Path) -> None:
    result = compare(Plan(ID, parse_agents("random,uniform")), 3, folder=tmp_path)
    assert repr(result) == f"Report(mcts_envs/{ID}: random, uniform; 6 matches)"
    assert "win rate" in str(result)
    assert "\x1b" not in str(result)
    tables, notes = result._repr_html_().split("</pre><pre")
    assert tables.startswith("<pre")
    assert "win rate" in tables
    assert "win rate" not in notes
    assert "\n".join(map(escape, remarks(result))) in notes  # whole: it is for the notebook to break lines
    written = io.StringIO()
    Console(file=written, width=110).print(result)
    assert written.getvalue().rstrip() == str(result).rstrip()
