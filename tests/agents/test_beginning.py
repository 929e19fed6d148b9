"""Ctrl-C and a closing terminal are kept from processes that begin, which end with the process that began them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="it has neither groups nor SIGKILL")

_BEGUN = """
import os, signal, sys, time
from agents.arena import Plan, parse_agents
from agents.arena.running import worker
from agents.learning.jobs import local

def pool():
    future = local(2).submit(abs, -3)
    return lambda: future.result(60)

def plays():
    one = worker.Worker(Plan("LaneDefense3x3-v0", parse_agents("random")))
    return lambda: (one.connection.recv(), one.kill())[0]

if __name__ == "__main__":
    number = int(sys.argv[1])
    signal.signal(number, signal.default_int_handler)
    for begun in (pool, plays):
        answer = begun()
        try:
            os.killpg(0, number)
            time.sleep(60)
        except KeyboardInterrupt:
            print(answer())
"""

_LEFT = """
import os, signal
from agents.learning.jobs import local
from compile import compile_package

def modules():
    yield "mcts_envs.core.cores"
    print("killed", flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    pool = local(2)
    pool.submit(abs, -3).result()
    compile_package(modules(), lambda: None)
"""


@pytest.mark.parametrize("name", [pytest.param("SIGINT", marks=pytest.mark.slow), "SIGHUP"])
def test_what_a_terminal_sends_is_not_for_processes_that_begin(tmp_path, name):
    script, home = tmp_path / "begun.py", Path(__file__).resolve().parents[2]
    script.write_text(_BEGUN)
    done = subprocess.run(
        [sys.executable, str(script), str(getattr(signal, name).value)],
        env={**os.environ, "PYTHONPATH": str(home)},
        capture_output=True,
        text=True,
        start_new_session=True,
    )
    assert (done.stdout, done.stderr) == ("3\nready\n", "")


def test_processes_end_with_a_parent_that_is_killed(tmp_path):
    script, home = tmp_path / "left.py", Path(__file__).resolve().parents[2]
    script.write_text(_LEFT)
    done = subprocess.run(  # it waits for the end of all that hold its output
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": f"{home}{os.pathsep}{home / 'scripts'}"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "killed\n")
