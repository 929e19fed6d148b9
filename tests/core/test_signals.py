"""Signals are put off while code is compiled or processes begin, and nothing of them is lost."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from mcts_envs.core.signals import heed, put_off

pytestmark = pytest.mark.skipif(os.name == "nt", reason="it has none of these signals")


@pytest.fixture
def noted():
    """Return what handlers of two signals note; the second one raises."""
    found = []

    def note(number, frame):
        found.append(number)
        if number == signal.SIGUSR2:
            raise TimeoutError

    before = {number: signal.signal(number, note) for number in (signal.SIGUSR1, signal.SIGUSR2)}
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    yield found
    assert {number: signal.getsignal(number) for number in signal.valid_signals()} == handlers
    for number, handler in before.items():
        signal.signal(number, handler)


def come(*numbers, then=lambda: None):
    with put_off():
        for number in numbers:
            signal.raise_signal(number)
        then()


def test_at_the_end(noted):
    with put_off():
        signal.raise_signal(signal.SIGUSR1)
        with put_off():
            signal.raise_signal(signal.SIGUSR1)
        assert noted == []
    assert noted == [signal.SIGUSR1] * 2


def test_where_they_are_heeded(noted):
    with put_off():
        signal.raise_signal(signal.SIGUSR1)
        heed()
        assert noted == [signal.SIGUSR1]
        heed()
    assert noted == [signal.SIGUSR1]


def test_an_exception_of_theirs(noted):
    with pytest.raises(TimeoutError):
        come(signal.SIGUSR2, signal.SIGUSR1)
    with put_off():  # what came after the exception
        pass
    assert noted == [signal.SIGUSR2, signal.SIGUSR1]


def test_an_exception_of_ours(noted):
    with pytest.raises(ZeroDivisionError):
        come(signal.SIGUSR1, then=lambda: 1 // 0)
    assert noted == [signal.SIGUSR1]


def test_ctrl_c_as_the_handlers_come_back(noted, monkeypatch):
    real = signal.signal

    def restored(number, handler):
        before = real(number, handler)
        if number == signal.SIGUSR2:
            signal.raise_signal(signal.SIGUSR2)
        return before

    with pytest.raises(TimeoutError), put_off():
        monkeypatch.setattr(signal, "signal", restored)
    assert noted == [signal.SIGUSR2]


def test_another_thread_changes_nothing(noted):
    def work():
        with put_off():
            handlers.append(signal.getsignal(signal.SIGUSR1))

    handlers = [signal.getsignal(signal.SIGUSR1)]
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers[0] is handlers[1]


_BEGUN = """
import os, signal, time
from agents.arena import Plan, parse_agents, worker
from agents.learning.jobs import local

def pool():
    future = local(2).submit(abs, -3)
    return lambda: future.result(60)

def plays():
    one = worker.Worker(Plan("LaneDefense3x3-v0", parse_agents("random")))
    return lambda: (one.connection.recv(), one.kill())[0]

if __name__ == "__main__":
    for begun in (pool, plays):
        answer = begun()
        try:
            os.killpg(0, signal.SIGINT)
            time.sleep(60)
        except KeyboardInterrupt:
            print(answer())
"""


def test_ctrl_c_is_not_for_processes_that_begin(tmp_path):
    script, home = tmp_path / "begun.py", Path(__file__).resolve().parents[2]
    script.write_text(_BEGUN)
    # A process that ignores Ctrl-C, as all that a shell starts in the background do, hands that down.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = subprocess.run(
            [sys.executable, str(script)],
            env={**os.environ, "PYTHONPATH": str(home)},
            capture_output=True,
            text=True,
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert (done.stdout, done.stderr) == ("3\nready\n", "")
