"""A clock that stands still while its process does: stopped, or frozen with its container or its machine."""

import math
import threading
from time import monotonic, perf_counter, process_time, sleep

_SECONDS_BETWEEN_LOOKS = 0.1
_STANDSTILL = 1.0
"""Seconds in which nobody has looked, that are a standstill if no work was done either."""
_WORK = 0.2
"""Of a core: whoever uses less while nobody can look, stands still."""


class Clock:
    """Seconds in which this process was not standing still, as far as somebody looks at it all the time.

    Attributes
    ----------
    resumed : float
        When the last standstill was over, as ``time.monotonic`` counts.
    """

    def __init__(self) -> None:
        self.resumed = -math.inf
        self._looked, self._used, self._still = perf_counter(), process_time(), 0.0
        self._one = threading.Lock()

    def now(self) -> float:
        """Look at the clock."""
        with self._one:
            now, used = perf_counter(), process_time()
            passed = now - self._looked
            if passed > _STANDSTILL and used - self._used < _WORK * passed:
                self._still += passed
                self.resumed = monotonic()
            self._looked, self._used = now, used
            return now - self._still

    def follow(self) -> None:
        """Look at the clock for ever."""
        while True:
            sleep(_SECONDS_BETWEEN_LOOKS)
            self.now()


_kept: list[Clock] = []


def keep() -> None:
    """Look all the time at the clock of this process, in a thread."""
    _kept.append(Clock())
    threading.Thread(target=_kept[0].follow, daemon=True).start()


def seconds() -> float:
    """Return seconds as ``time.perf_counter`` does, without standstills in a process that keeps its clock."""
    return _kept[0].now() if _kept else perf_counter()
