"""A measured figure, and how it is taken."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A measured time beside its yardstick."""

    what: str
    value: float
    unit: str
    yardstick: str
    reference: float
    verdict: str


def least(rounds: int, *candidates: Callable[[], int | tuple[int, float]]) -> list[float]:
    """Return the least microseconds a unit of work of each candidate.

    Candidates return how many units they did, and the seconds that do not count, if any.
    """
    best = [float("inf")] * len(candidates)
    for _ in range(rounds + 1):
        for i, candidate in enumerate(candidates):
            started = time.perf_counter()
            done = candidate()
            seconds = time.perf_counter() - started
            units, idle = done if isinstance(done, tuple) else (done, 0.0)
            best[i] = min(best[i], (seconds - idle) / units * 1e6)
    return best
