"""Other systems: what this one has and they have not is missing here for a while."""

import errno
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import pytest

import agents
from agents.arena import Plan, parse_agents
from agents.arena.running import worker
from agents.arena.running.runner import Crew
from agents.arena.running.worker import Worker
from agents.learning import jobs
from agents.learning.jobs import local
from agents.learning.saved.shipped import FOLDER
from agents.waiting import as_completed
from mcts_envs.core import writing
from mcts_envs.core.compiling.sources import closure_digest, closure_of
from mcts_envs.core.cores import cores
from mcts_envs.core.loading import load


def test_as_many_cores_as_one_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {1, 5, 7}, raising=False)
    assert cores() == 3
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)  # not on macOS and Windows
    monkeypatch.setattr(os, "cpu_count", lambda: 128)
    assert cores() == 128
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


def test_windows_waits_for_no_more_than_63_things(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Plan("LaneDefense3x3-v0", parse_agents("random"))
    Crew(plan, 64)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(96)), raising=False)
    assert cores() == 60
    for refused in (lambda: Crew(plan, 64), lambda: local(64)):
        with pytest.raises(ValueError, match=r"workers 64 .*60"):
            refused()


def test_windows_puts_a_file_in_place_as_soon_as_nobody_reads_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, tries, replace = tmp_path / "report.html", [0], os.replace

    def read_by_others(source: Path, target: Path) -> None:
        tries[0] += 1
        if tries[0] < 4:
            raise PermissionError(13, "The process cannot access the file because it is being used", str(target))
        replace(source, target)

    monkeypatch.setattr(writing.os, "replace", read_by_others)
    monkeypatch.setattr(writing, "sleep", lambda seconds: None)
    with pytest.raises(PermissionError):
        writing.write_whole(file, b"elsewhere it is a matter of rights")
    assert not list(tmp_path.iterdir())
    tries[0] = 0
    monkeypatch.setattr(sys, "platform", "win32")
    writing.write_whole(file, b"new")
    assert (file.read_bytes(), tries) == (b"new", [4])
    assert list(tmp_path.iterdir()) == [file]


def test_what_is_no_file_keeps_its_place_among_files_that_belong_together(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    file, device = tmp_path / "file", tmp_path / "device"
    file.write_bytes(b"old")
    with pytest.raises(OSError, match="folder"):
        writing.write_together({file: b"new", tmp_path / "folder": b"new"})
    assert file.read_bytes() == b"old"
    try:
        device.symlink_to(os.devnull)
    except OSError:
        pytest.skip("links are for administrators here")
    writing.write_together({file: b"new", device: b"new"})
    assert (file.read_bytes(), device.is_symlink()) == (b"new", True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["device", "file", "folder"]


def test_a_file_is_known_by_its_name_where_a_link_leads_to_it(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "linked_to_here.py").write_text("", encoding="utf-8")
    try:
        (tmp_path / "link").symlink_to("real")  # as /tmp on macOS
    except OSError:
        pytest.skip("links are for administrators here")
    code = "import sys; from mcts_envs.core.loading import load; print(load(sys.argv[1]).__name__)"
    line = [sys.executable, "-c", code, str(tmp_path / "link" / "linked_to_here.py")]
    path = os.pathsep.join([str(Path(__file__).parents[2]), str(tmp_path / "link")])
    done = subprocess.run(line, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.stdout == "linked_to_here\n", done.stderr


def test_sources_are_the_same_however_their_lines_end(tmp_path: Path) -> None:
    digests = set()
    for name, end in (("a", b"\n"), ("b", b"\r\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "my_bot.py").write_bytes(b"import beside" + end + b"SIZE = 3" + end)
        (tmp_path / name / "beside.py").write_bytes(b"HERE = 1" + end)
        digests.add(closure_digest(tmp_path / name / "my_bot.py"))
    assert len(digests) == 1


def test_an_import_is_seen_behind_the_mark_with_which_windows_begins_a_file(tmp_path: Path) -> None:
    (tmp_path / "my_bot.py").write_text("import beside\n", encoding="utf-8-sig")
    (tmp_path / "beside.py").write_text("SIZE = 3\n", encoding="utf-8")
    assert len(closure_of(tmp_path / "my_bot.py")) == 2


def test_what_is_known_by_its_hash_has_the_same_bytes_in_every_checkout() -> None:
    named = [file for file in FOLDER.rglob("*") if file.suffix in (".json", ".csv", ".yml")]
    assert named
    assert [file.name for file in named if b"\r\n" in file.read_bytes()] == []  # see .gitattributes


def test_a_training_is_told_to_stop_without_ending_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    came: list[int] = []

    def note(number: int, frame: object) -> None:
        came.append(number)
        jobs._Told.working = False

    before = signal.signal(signal.SIGTERM, note)
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("ends the process on Windows"))
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(jobs._Told, "working", True)
    monkeypatch.setattr(jobs._Told, "stop", False)
    try:
        jobs._save()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert came == [signal.SIGTERM]


def test_no_wait_for_others_is_without_end_since_nothing_interrupts_that_on_windows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over: list[bool] = []
    result = Future.result

    def noted(self: "Future[Any]", timeout: float | None = None) -> Any:
        over.append(self.done())
        return result(self, timeout)

    env = gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(seed=1)
    monkeypatch.setattr(Future, "result", noted)
    agents.make("mcts", time_limit=0.05, threads=2).act(env)
    with ThreadPoolExecutor(2) as crew:
        ended = [each.result() for each in as_completed(crew.submit(time.sleep, 0.05 * i) for i in range(3))]
    assert ended == [None] * 3
    assert over
    assert all(over)


def test_a_worker_begins_where_there_is_no_output(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_there(*_: int) -> None:
        raise OSError(errno.EBADF, "Bad file descriptor")  # under pythonw, as of IDLE

    monkeypatch.setattr(worker, "os", SimpleNamespace(dup2=none_there, environ={}))
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(worker.signal, "signal", lambda *_: None)
    worker._settle()


def test_a_worker_that_ended_with_its_console_is_not_the_fault_of_an_agent() -> None:
    assert 0xC000013A in worker._FROM_OUTSIDE
    assert -signal.SIGTERM in worker._FROM_OUTSIDE


def test_a_process_is_ended_without_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    playing = Worker(Plan("LaneDefense3x3-v0", parse_agents("random")))
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delattr(os, "killpg", raising=False)
    playing.kill()
    assert playing.ended
    assert playing.killed


def test_sources_are_read_as_utf_8_whatever_the_system_is_set_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, read = [], Path.read_text

    def noted(self: Path, encoding: str | None = None, errors: str | None = None) -> str:
        asked.append(encoding)
        return read(self, encoding, errors)

    (tmp_path / "beside_me.py").write_text("SIZE = 3\n", encoding="utf-8")
    (tmp_path / "named_so.py").write_text("import beside_me  # größer\n", encoding="utf-8")
    monkeypatch.setattr(Path, "read_text", noted)
    assert load(str(tmp_path / "named_so.py")).beside_me.SIZE == 3
    assert set(asked) <= {"utf-8"}


def test_a_file_in_no_folder_is_named_and_not_what_is_written_first(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as refused:
        writing.write_whole(tmp_path / "nowhere" / "game.json", b"")
    assert refused.value.filename == str(tmp_path / "nowhere" / "game.json")
