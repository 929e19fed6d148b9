"""Waiting for what others do, so that Ctrl-C is heard: on Windows nothing interrupts a wait that has no end."""

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

_SECONDS_BETWEEN_LOOKS = 0.2


def as_completed(futures: Iterable["Future[Any]"]) -> Iterator["Future[Any]"]:
    """Yield futures as they end, like the function of that name in ``concurrent.futures``."""
    left = set(futures)
    while left:
        done, left = wait(left, _SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
        yield from done
