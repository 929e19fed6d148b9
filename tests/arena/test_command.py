"""The command `compare`: what it prints, the mistakes it names, progress, help, lists, and how it is ended."""

import errno
import importlib
import io
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gymnasium
import pytest
import typer
import typer.testing
from rich.console import Console

from agents import names
from agents.arena import Plan, compare, parse_agents
from agents.arena.replays import REPLAYS
from agents.arena.storage import EPISODES, TRANSITIONS, default_folder, read_rows
from agents.locking import LOCK
from mcts_envs.registry import ENTRIES
from tests.arena.single import TWO, fakes

ROOT = Path(__file__).resolve().parents[2]
ID = "LaneDefense3x3-v0"


@contextmanager
def command(folder: Path, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    line = [sys.executable, str(ROOT / "scripts" / "compare.py"), *arguments]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(line, cwd=folder, env=environment, start_new_session=True, **streams) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


def test_the_command_compares(tmp_path: Path) -> None:
    line = [ID, "--agents", "random,scripted", "--episodes", "12", "--set", "night=5", "--record", "--plot", "win.png"]
    line += ["--report", "report.html", "--replays"]
    with command(tmp_path, *line, "--workers", "2") as process:
        output, complaints = process.communicate(timeout=300)
    assert process.returncode == 0, complaints
    (folder,) = (tmp_path / "results").iterdir()
    for text in ("random", "scripted", "win rate", "night=5", "12 episodes of seed 0", "2 processes", folder.name):
        assert text in output
    assert {file.name for file in folder.iterdir()} == {EPISODES, TRANSITIONS, "report.md", LOCK, REPLAYS}
    assert (tmp_path / "win.png").exists()
    assert f"python scripts/compare.py {ID} --agents random,scripted" in (tmp_path / "report.html").read_text()
    plan = Plan(ID, parse_agents("random,scripted"), {"night": 5}, record=True)
    assert default_folder(plan.configuration()).name == folder.name
    assert compare(plan, 12, folder=folder).reused == 24


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agents", "random,mtcs"], "did you mean 'mcts'"),
        (["--agents", "random,mcts:reuse=true:loop=open"], "reuse=true needs loop=closed or 'information_set'"),
        (["--agents", "random", "--plot", "win.pgn"], "did you mean '.png'"),
        (["--agents", "random", "--plot", "results/"], "unknown format"),
        (["--agents", "random", "--plot", f"{__file__}/win.png"], "cannot be written"),
        (["--agents", "random", "--report", "page.pdf"], "it is a page; name it page.html"),
        (["--agents", "random", "--report", f"{__file__}/page.html"], "cannot be written"),
        (["--agents", "random", "--out", __file__], "is a file; give a folder"),
        (["--agents", "random", "--out", f"{__file__}/below"], "is a file; give a folder"),
    ],
)
def test_the_command_names_mistakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    app = typer.Typer()
    app.command()(importlib.import_module("compare").main)
    result = typer.testing.CliRunner().invoke(app, [ID, *arguments])
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_named_with_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").write_text("")
    with pytest.raises(OSError, match=r"out results/.* cannot be written: .*results is a file; give a folder of yours"):
        compare(Plan(ID, parse_agents("random")), 1)


def test_an_error_of_a_library_that_does_not_speak_for_itself_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "lacks_a_key.py").write_text("import string\n\ndef fill():\n    string.Template('$x').substitute()\n")
    with pytest.raises(KeyError) as raised:
        importlib.import_module("lacks_a_key").fill()
    importlib.import_module("_words").refusal(raised.value)
    assert capsys.readouterr().err == f"error: KeyError: 'x' ({tmp_path / 'lacks_a_key.py'}, line 4)\n"


def test_cures_are_what_one_writes_on_a_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    said = importlib.import_module("_words").said
    assert said(ValueError("take loop='closed' or 'open'")) == "take loop=closed or 'open'"
    assert said(ValueError("leave out deterministic=False, give c=1.5")) == "leave out deterministic=false, give c=1.5"
    cure = ValueError("name its algorithm, as in algorithm='ppo'")
    assert said(cure) == "name its algorithm, as in algorithm=ppo"
    assert said(cure, {"algorithm": "--algo"}) == "name its algorithm, as in --algo ppo"
    other = ValueError("train one: scripts/train.py, or python scripts/train_all.py")
    assert said(other) == str(other)
    monkeypatch.setattr(sys, "argv", ["mcts-envs compare", "ID"])
    assert said(other) == "train one: mcts-envs train, or mcts-envs train-all"
    full = OSError(errno.ENOSPC, "No space left on device", "exact.md")
    assert said(full).endswith("left on device: 'exact.md'; make room, then give the same command again")
    monkeypatch.setattr(sys, "argv", ["mcts-envs tune", "ID", "--fresh"])
    assert said(full).endswith("make room, then give the same command without --fresh again")
    limited, cure = OSError(errno.EFBIG, "File too large", "a.zip"), "raise the limit on the size of files (ulimit -f)"
    assert said(limited).endswith(f"; {cure}, then give the same command without --fresh again")
    assert said(OSError(errno.EFBIG, f"File too large: {cure}, and go on")).endswith(f"{cure}, and go on")
    assert said(OSError(errno.EACCES, "Permission denied", "exact.md")).endswith("'exact.md'")


def test_without_a_terminal_a_line_now_and_then_says_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    module = importlib.import_module("_progress")
    monkeypatch.setattr(module, "SECONDS_BETWEEN_LINES", 0.02)
    progress = module.Progress()
    with progress.shown(Console(file=io.StringIO())):
        plan = fakes("random:base=random:pause=0.01")
        compare(plan, 20, folder=tmp_path, tell=progress.tell, watch=progress.watch, every=progress.every)
    line = r"^\d\d:\d\d:\d\d \d+ of 20 games, 0:00:0\d left; ran.*=0\.01 \d+\.\d \[\d+\.\d,\d+\.\d\]$"
    assert re.search(line, capsys.readouterr().err, re.MULTILINE)
    assert progress.line() == "20 of 20 games"


def test_in_a_terminal_a_bar_stands_over_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    progress = importlib.import_module("_progress").Progress()
    compare(fakes(*TWO), 2, folder=tmp_path, watch=progress.watch, tell=progress.tell)
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    console.print(progress.view())
    with progress.shown(console):
        pass
    first, *others = console.file.getvalue().splitlines()
    assert "4 of 4 games" in first
    assert any("win rate %" in line for line in others)


@pytest.mark.parametrize("script", ["compare", "reproduce", "benchmark"])
def test_help_loads_no_game_and_no_compiler(script: str) -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'scripts')!r}); import {script}; print('numba' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert run.stdout.strip() == "False"


def test_the_list_has_every_environment_and_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    app = typer.Typer()
    app.command()(importlib.import_module("compare").main)
    result = typer.testing.CliRunner().invoke(app, ["--list"])
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    for name in [*names(), *(id.removeprefix("mcts_envs/") for id in ENTRIES if id.startswith("mcts_envs/"))]:
        assert re.search(rf"^ *{name} ", result.stdout, re.MULTILINE), name
    listed = importlib.import_module("_listing").GAMES
    env = gymnasium.make("mcts_envs/LaneDefense10x10-v0")
    assert listed["LaneDefense10x10-v0"][0] == env.action_space.n


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("SIGINT", 130),
        pytest.param("SIGTERM", 143, marks=pytest.mark.slow),
        pytest.param("SIGHUP", 129, marks=pytest.mark.slow),
        ("SIGKILL", -9),
    ],
)
def test_the_command_can_be_ended_and_goes_on(tmp_path: Path, name: str, status: int) -> None:
    line = [ID, "--agents", "scripted,flat_mc:simulations=3000", "--out", "out"]
    file = tmp_path / "out" / EPISODES
    with command(tmp_path, *line, "--episodes", "5000", "--workers", "2") as process:
        deadline = time.monotonic() + 300
        while not file.exists() or file.read_bytes().count(b"\n") < 4:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        workers = _children(process.pid)
        assert len(workers) >= 2
        os.kill(process.pid, getattr(signal, name))
        output, complaints = process.communicate(timeout=20)
        assert process.returncode == status, complaints
    _wait_until_gone(workers)
    if name != "SIGKILL":
        assert f"interrupted ({name}); the same command goes on from here" in output
        assert "Traceback" not in complaints
    kept = file.read_bytes()
    kept = kept[: kept.rfind(b"\n") + 1]
    assert compare(Plan(ID, parse_agents(line[2])), 3, folder=tmp_path / "out").finished
    assert file.read_bytes().startswith(kept)


def _children(parent: int) -> list[int]:
    """Return the processes that a process has started."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    return [int(pid) for pid, above in map(str.split, listed.splitlines()) if int(above) == parent]


def _wait_until_gone(processes: list[int]) -> None:
    """Wait for processes to end."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        listed = subprocess.run(["ps", "-eo", "pid=,stat="], capture_output=True, text=True, check=True).stdout
        left = {int(pid) for pid, state in map(str.split, listed.splitlines()) if not state.startswith("Z")}
        if left.isdisjoint(processes):
            return
        time.sleep(0.05)
    raise AssertionError("workers outlive the command")


@pytest.mark.slow
def test_what_an_output_cannot_encode_costs_no_results(tmp_path: Path) -> None:
    command = [
        "compare",
        "LaneDefense3x3-v0",
        "--agents",
        "größe=random,b=uniform",
        "--episodes",
        "2",
        "--workers",
        "1",
    ]
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts"), *command, "--out", str(tmp_path), "--report", str(tmp_path / "r.html")],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        encoding="ascii",
    )
    assert done.returncode == 0, done.stderr
    assert " gr??e " in done.stdout
    assert "größe" in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "größe" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
@pytest.mark.parametrize("without", [pytest.param(">&-", marks=pytest.mark.slow), "<&- >&-"])
def test_a_closed_output_costs_no_results(tmp_path: Path, without: str) -> None:
    line = [sys.executable, str(ROOT / "scripts"), "compare", ID, "--agents", "random,scripted", "--episodes", "2"]
    line += ["--workers", "1", "--out", str(tmp_path)]
    with (tmp_path / "log").open("w") as log:
        closed = ["sh", "-c", f'exec "$@" {without}', "sh", *line]
        done = subprocess.run(closed, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=log)
    assert done.returncode == 0, (tmp_path / "log").read_text()
    assert [row.error for row in read_rows(tmp_path).values()] == [None] * 4


@pytest.mark.slow
def test_a_reader_that_goes_away_costs_no_report(tmp_path: Path) -> None:
    line = [sys.executable, str(ROOT / "scripts"), "compare", ID, "--agents", "random,scripted", "--episodes", "2"]
    line += ["--workers", "1", "--out", str(tmp_path), "--report", str(tmp_path / "page.html")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        assert running.stdout is not None
        running.stdout.readline()
        running.stdout.close()
    assert running.returncode == 0
    assert (tmp_path / "report.md").is_file()
    assert (tmp_path / "page.html").is_file()


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_what_is_closed_is_empty_and_goes_nowhere() -> None:
    code = "import _own, sys; print('lost', file=sys.stderr); print(sys.stdin.read() == '', sys.stderr.isatty())"
    line = ["sh", "-c", 'exec "$@" <&- 2>&-', "sh", sys.executable, "-c", code]
    path = f"{ROOT}{os.pathsep}{ROOT / 'scripts'}"
    done = subprocess.run(line, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True)
    assert (done.returncode, done.stdout) == (0, "True False\n")


@pytest.mark.skipif(os.name != "posix", reason="needs a terminal")
def test_a_terminal_that_goes_away_costs_nothing() -> None:
    code = "import _own, sys; print('seen'); sys.stdin.read(); print('lost'); sys.stderr.write('lost'); sys.exit(5)"
    path = f"{ROOT}{os.pathsep}{ROOT / 'scripts'}"
    screen, terminal = os.openpty()
    line = [sys.executable, "-c", code]
    environment = {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(line, env=environment, stdin=subprocess.PIPE, stdout=terminal, stderr=terminal) as running:
        os.close(terminal)
        assert os.read(screen, 100) == b"seen\r\n"
        os.close(screen)
    assert running.returncode == 5


@pytest.mark.skipif(os.name != "posix", reason="needs pipes that are closed")
def test_an_agent_loses_nothing_by_what_it_tells_nobody(tmp_path: Path) -> None:
    acting = "print('hm', flush=True); return int(env.unwrapped.legal_actions()[0])"
    (tmp_path / "bot.py").write_text(f"class Bot:\n    def act(self, env):\n        {acting}\n")
    words = "compare LaneDefense3x3-v0 --agents bot.py:Bot --episodes 3 --workers 1 --out r"
    line = [sys.executable, str(ROOT / "scripts"), *words.split()]
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    with subprocess.Popen(line, env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=tmp_path, **pipes) as running:
        running.stderr.close()
        assert running.wait() == 0
    assert "forfeit" not in (tmp_path / "r" / "report.md").read_text()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_log_on_a_full_disk_costs_nothing_but_itself() -> None:
    code = "import _own, sys; print('lost'); sys.stdout.flush(); print('seen', file=sys.stderr); sys.exit(5)"
    path = f"{ROOT}{os.pathsep}{ROOT / 'scripts'}"
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": ""}
    lines = ["-c", code], [str(ROOT / "scripts"), "--help"]
    with Path("/dev/full").open("w") as full:
        both = subprocess.run([sys.executable, *lines[0]], env=environment, stdout=full, stderr=full)
        one, printed = (
            subprocess.run([sys.executable, *line], env=environment, stdout=full, stderr=subprocess.PIPE, text=True)
            for line in lines
        )
    assert [run.returncode for run in (both, one, printed)] == [5, 5, 2]
    closed = [sys.executable, "-c", "import _own, sys; sys.stdout.close(); sys.exit(5)"]
    done = subprocess.run(closed, env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (5, "")
    assert one.stderr == "seen\nwarning: stdout is on a full disk; 5 bytes of what it was told are lost\n"
    assert printed.stderr == "error: No space left on device: what is printed cannot be written; make room\n"


def test_names_and_words_of_others_are_neither_markup_nor_commands_of_the_terminal(tmp_path: Path) -> None:
    folder = tmp_path / "x[" / "b] :fire:"
    folder.mkdir(parents=True)
    bots = folder / "rude.py"
    bots.write_text("def rude(env):\n    raise ValueError('\\x1b[2J\\x07 [/red] \\udcff <b>')\n", encoding="utf-8")
    words = "compare LaneDefense3x3-v0 --agents random,rude.py:rude --episodes 2 --workers 1 --replays --report r.html"
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts"), *words.split(), "--out", "res[old]"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    assert f"in {folder}: " in done.stdout
    assert "results: res[old]\n" in done.stdout
    assert "watch 'res[old]' --live\n" in done.stdout
    for text in (
        done.stdout,
        *((folder / name).read_text(encoding="utf-8") for name in ("res[old]/report.md", "r.html")),
    ):
        assert "[/red] ?" in text
        assert not {"\x1b", "\x07"} & set(text)
