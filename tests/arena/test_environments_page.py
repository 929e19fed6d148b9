"""The page of environments of others: what it is written from, and trials in processes of their own."""

import contextlib
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import environments
import pytest
import typer
from foreign import running
from foreign.catalogue import CATALOGUE, Entry
from foreign.page import Kept, write
from foreign.running import MISSING, RAN, tried
from papers.record import this_run
from typer.testing import CliRunner

from agents.arena import interrupt

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"


def test_the_page_is_what_its_data_say():
    assert (RESULTS / "environments.md").read_text(encoding="utf-8") == write(
        Kept.read(RESULTS / "data" / "environments.jsonl")
    )


def test_all_environments_have_names_of_their_own():
    assert len({entry.name for entry in CATALOGUE}) == len(CATALOGUE) >= 40


def test_what_is_missing_is_said_and_takes_nothing_back(tmp_path):
    found = tried(Entry("toy text", "Taxi-v4", ("no_such_module",)), 1, 1.0, 10.0, 4.0)
    assert found == {"end": MISSING, "missing": ["no_such_module"]}
    kept = Kept.read(tmp_path / "data.jsonl")
    kept.add("Taxi-v4", found, this_run("environments", 1.0))
    assert not kept.stands("Taxi-v4")
    assert "not installed here: no_such_module" in write(kept)
    kept.add("Taxi-v4", {"end": RAN, "acted": [], "raised": [], "laws": []}, this_run("environments", 1.0))
    kept.add("Taxi-v4", found, this_run("environments", 1.0))
    assert Kept.read(tmp_path / "data.jsonl").stands("Taxi-v4")
    assert "| CartPole-v1    | not yet tried" in write(kept)


def test_two_that_try_at_once_keep_what_the_other_found(tmp_path):
    one, other = (Kept.read(tmp_path / "data.jsonl") for _ in range(2))
    for kept, name in ((one, "Taxi-v4"), (other, "CartPole-v1"), (one, "Acrobot-v1")):
        kept.add(name, {"end": RAN, "acted": [], "raised": [], "laws": []}, this_run("environments", 1.0))
    assert {*Kept.read(tmp_path / "data.jsonl").found} == {"Taxi-v4", "CartPole-v1", "Acrobot-v1"}
    assert [file.name for file in tmp_path.iterdir()] == ["data.jsonl"]


def test_a_run_that_is_terminated_ends_what_it_tries_and_says_how_to_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(interrupt, "_last", [-math.inf])
    monkeypatch.setattr(running, "tried", lambda *_: signal.raise_signal(signal.SIGTERM))
    app = typer.Typer()
    app.command()(environments.main)
    ended = CliRunner().invoke(app, ["--pages", str(tmp_path)])
    assert ended.exit_code == 143
    assert "interrupted; the same command goes on from here" in ended.stderr
    written = CliRunner().invoke(app, ["--report-only", "--pages", str(tmp_path / "new")])
    assert written.exit_code == 0
    assert (tmp_path / "new" / "environments.md").is_file()


def test_a_crash_is_a_row():
    found = tried(Entry("toy text", "NoSuchThing-v0"), 1, 1.0, 60.0, 4.0)
    assert found["end"].startswith("ended with 1")


def test_a_line_that_is_cut_off_is_named(tmp_path):
    (tmp_path / "data.jsonl").write_text('{"name": "Taxi')
    with pytest.raises(ValueError, match=r"line 1, is not what scripts/environments.py writes"):
        Kept.read(tmp_path / "data.jsonl")


@pytest.mark.skipif(os.name != "posix", reason="a child of the trial is found by its group")
@pytest.mark.parametrize(("then", "end"), [("pass", RAN), ("time.sleep(60)", "stopped after 2 s")])
def test_what_an_environment_leaves_running_holds_nobody_up(tmp_path, monkeypatch, then, end):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "trial.py").write_text(
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"print('{{\"left\": ' + str(child.pid) + '}}', flush=True)\n{then}\n"
    )
    monkeypatch.setattr(running, "_SCRIPTS", tmp_path)
    began = time.monotonic()
    found = tried(Entry("toy text", "Taxi-v4"), 1, 1.0, 2.0, 4.0)
    assert found["end"] == end
    assert time.monotonic() - began < 20.0
    while time.monotonic() - began < 20.0 and _runs(found["left"]):
        time.sleep(0.01)
    assert not _runs(found["left"])


@pytest.mark.skipif(os.name != "posix", reason="Windows has no signal that cannot be caught")
def test_a_trial_does_not_outlive_a_run_that_was_killed():
    told = "class Told(subprocess.Popen):\n def __init__(self, *a, **k):\n"
    told += "  super().__init__(*a, **k)\n  print(self.pid, flush=True)"
    code = f"import subprocess\n{told}\nsubprocess.Popen = Told\nfrom foreign import running, catalogue\n"
    code += "running.tried(catalogue.Entry('toy text', 'CartPole-v1'), 10**9, 300.0, 300.0, 4.0)"
    path = os.pathsep.join([str(running._SCRIPTS), str(running._SCRIPTS.parent)])
    environment = {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE) as run:
        pid = int(run.stdout.readline())
        run.kill()
    try:
        given_up = time.monotonic() + 100.0
        while time.monotonic() < given_up and _runs(pid):
            time.sleep(0.1)
        assert not _runs(pid)
    finally:
        with contextlib.suppress(OSError):
            os.killpg(pid, signal.SIGKILL)


def test_an_environment_that_asks_for_input_is_given_none():
    code = "from foreign import trial\ntrial.end_with_input()\nprint([*open(0)])"
    path = os.pathsep.join([str(running._SCRIPTS), str(running._SCRIPTS.parent)])
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, "-W", "ignore", "-c", code]
    with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as asks:
        try:
            asks.wait(100.0)
        finally:
            asks.kill()
        assert asks.stdout.read() == b"[]\n"


def _runs(pid):
    """Return whether a process is there, and has not ended."""
    try:
        os.kill(pid, 0)
        return sys.platform != "linux" or Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


@pytest.mark.slow
def test_an_environment_is_tried_in_a_process_of_its_own():
    found = tried(next(entry for entry in CATALOGUE if entry.name == "FrozenLake-v1"), 20, 10.0, 120.0, 4.0)
    assert found["end"] == RAN
    assert found["raised"] == []
    assert [each["moves"] for each in found["acted"]] == [5, 5]
    assert found["compared"]["trajectories"] == 20
    assert found["compared"]["differences"] == 0
