"""Being told to stop: Ctrl-C, the signal by which systems and batch queues end a program, and a closed terminal."""

import contextlib
import math
import signal
import threading
from collections.abc import Iterator
from time import monotonic
from types import FrameType

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK")
SIGNALS = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]  # Windows has Ctrl-Break and no SIGHUP
"""By which somebody, or the system, ends a program."""

SECONDS_OF_ECHO = 1.0
"""``timeout``, batch queues and closing terminals send a signal to the process and to its group."""

_last = [-math.inf]
"""When a signal came last: some that end a program send it to the process and to its group."""


class Interrupted(KeyboardInterrupt):
    """Raised where a signal arrives, unlike a ``KeyboardInterrupt`` that an agent raises.

    Attributes
    ----------
    number : int
        The signal.
    """

    def __init__(self, number: int = signal.SIGINT) -> None:
        super().__init__(number)
        self.number = number

    def __str__(self) -> str:
        """Return the name of the signal."""
        return signal.Signals(self.number).name


def signal_of(error: KeyboardInterrupt) -> int:
    """Return the signal that raised this: SIGINT where it does not say."""
    number: int = next(filter(None, error.args), signal.SIGINT)
    return number


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP raise :class:`Interrupted`; in other threads than the main one nothing changes.

    A signal that this process ignores stays ignored, as SIGHUP is under ``nohup``.
    """
    before = {}
    if threading.current_thread() is threading.main_thread():
        if signal.getsignal(signal.SIGINT) is not _raise:  # outermost: what ended something before has no echo here
            _last[0] = -math.inf
        for number in SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, _raise)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise(number: int, frame: FrameType | None) -> None:
    before, _last[0] = _last[0], monotonic()
    if _last[0] - before > SECONDS_OF_ECHO:
        raise Interrupted(number)
