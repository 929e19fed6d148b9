"""Processes that begin: Ctrl-C that comes meanwhile would end each with a traceback of its imports."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker


@contextmanager
def beginning() -> Iterator[None]:
    """Keep Ctrl-C from processes that are begun here, for good, and from this one until they are."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # as it begins it lets Ctrl-C through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
