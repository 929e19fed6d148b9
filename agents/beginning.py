"""Processes that begin, where Ctrl-C would end each with a traceback of its imports, and that end with their parent.

A terminal that closes sends SIGHUP to all of them, as Ctrl-C is sent: their parent hears it, and ends them in order.

Python begins them as it does ``python -c``, which looks for modules in the present folder first: a ``signal.py`` there
would stand in for Python's own.
"""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import wait

from mcts_envs.core.outputs import make_lasting

_SAFE_PATH, _OURS = "PYTHONSAFEPATH", "mcts_envs"  # any word sets it; by this one it is known as ours


@contextmanager
def beginning() -> Iterator[None]:
    """Keep Ctrl-C and SIGHUP from processes that are begun here, for good, and from this one until they are.

    They find the modules of Python before those of the present folder.
    """
    os.environ.setdefault(_SAFE_PATH, _OURS)
    try:
        with _uninterrupted():
            yield
    finally:
        _forget_safe_path()


def _forget_safe_path() -> None:
    """Let processes begin again as they do: those of an agent may want what is beside it."""
    if os.environ.get(_SAFE_PATH) == _OURS:
        del os.environ[_SAFE_PATH]


@contextmanager
def _uninterrupted() -> Iterator[None]:
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        resource_tracker.ensure_running()  # as it begins it lets Ctrl-C through
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent(first: Callable[[], None] = lambda: None) -> None:
    """End this process when the one that began it has ended, however that was, and do what comes first.

    Its output outlives who reads it, as that of a command does.
    """
    _forget_safe_path()
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    make_lasting()
    end_after(lambda: wait([parent.sentinel]), first)


def end_after(waits: Callable[[], object], first: Callable[[], None]) -> None:
    """End this process, whatever it does, when a call in a thread of its own has returned, and do what comes first."""

    def follow() -> None:
        waits()
        first()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
