"""Signals that come while code is compiled or loaded: what Python does on them is put off.

Ctrl-C raises an exception wherever Python is. Numba and LLVM do not expect one: between two of their lines code belongs
to two owners, and when both have freed it the process crashes; or half of the types are registered, and nothing can be
compiled any more.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_handlers: dict[int, Callable[..., Any]] = {}
_came: list[tuple[Callable[..., Any], int, FrameType | None]] = []


@contextmanager
def put_off() -> Iterator[None]:
    """Keep what Python does on signals for the end, or for :func:`heed`.

    Signals interrupt the main thread alone, so in others nothing changes; nor does it within another ``put_off``.
    """
    if threading.current_thread() is not threading.main_thread() or _handlers:
        yield
        return
    try:
        for number in sorted(signal.valid_signals()):
            handler = signal.getsignal(number)
            if callable(handler):
                _handlers[number] = handler
                signal.signal(number, _note)
        yield
    finally:
        try:
            _give_back(sorted(_handlers))
        finally:
            _handlers.clear()
        heed()


def heed() -> None:
    """Do what is to be done on the signals that came: to be called where an exception does no harm."""
    while _came and threading.current_thread() is threading.main_thread():
        handler, number, frame = _came.pop(0)
        handler(number, frame)


def _note(number: int, frame: FrameType | None) -> None:
    _came.append((_handlers[number], number, frame))


def _give_back(numbers: list[int]) -> None:
    """Put handlers back, Ctrl-C's last; each of them may be called, and raise, as soon as it is there."""
    try:
        if numbers:
            signal.signal(numbers[-1], _handlers[numbers[-1]])
    finally:
        if numbers:
            _give_back(numbers[:-1])
