"""Signals are put off while code is compiled, and nothing of them is lost."""

import os
import signal
import threading

import pytest

from mcts_envs.core.compiling.signals import heed, put_off

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
