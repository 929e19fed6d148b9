"""Standing still costs nobody a game: a stopped process, a container that is paused, a machine that sleeps."""

import os
import signal
import time
from pathlib import Path

import pytest

from agents.arena.running.clock import Clock
from agents.arena.storage import read_rows
from tests.arena.test_command import ID, _children, command

BOT = """
import time

class Bot:
    moves = 0

    def act(self, env):
        self.moves += 1
        if self.moves == 3:  # the first is the check
            open("asked", "w").close()
        time.sleep(0.3)
        return int(env.unwrapped.action_masks().argmax())
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_comparison_that_is_stopped_for_longer_than_its_limits_goes_on(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    line = [ID, "--agents", "bot.py:Bot", "--episodes", "1", "--out", "out"]
    with command(tmp_path, *line, "--move-limit", "2", "--episode-limit", "3.5", "--workers", "1") as process:
        while not (tmp_path / "asked").exists():
            assert process.poll() is None
            time.sleep(0.02)
        everybody = [*_children(process.pid), process.pid]
        for each in everybody:
            os.kill(each, signal.SIGSTOP)
        time.sleep(4.0)
        for each in everybody:  # those who play go on first
            os.kill(each, signal.SIGCONT)
        output, complaints = process.communicate(timeout=60)
    (row,) = read_rows(tmp_path / "out").values()
    assert (process.returncode, row.forfeit, row.truncated) == (0, None, None), output + complaints
    assert row.seats[0].slowest < 2.0


def test_a_clock_counts_work_and_short_waits_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    now, used = 10.0, 0.0
    monkeypatch.setattr("agents.arena.running.clock.perf_counter", lambda: now)
    monkeypatch.setattr("agents.arena.running.clock.process_time", lambda: used)
    clock, counted = Clock(), []
    for seconds, work in [(0.5, 0.0), (60.0, 0.1), (60.0, 55.0), (0.5, 0.5)]:  # the second is a standstill
        now, used = now + seconds, used + work
        counted.append(clock.now())
    assert counted == [10.5, 10.5, 70.5, 71.0]
