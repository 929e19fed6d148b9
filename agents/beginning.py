"""Processes that begin, where Ctrl-C would end each with a traceback of its imports, and that end with their parent."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import wait


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


def end_with_parent(first: Callable[[], None] = lambda: None) -> None:
    """End this process when the one that began it has ended, however that was, and do what comes first."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def follow() -> None:
        wait([parent.sentinel])
        first()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()
