"""What agents of one's own set for a whole process, kept apart: others play as they do without them."""

import os
import random
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, ClassVar

import numpy as np

_own: dict[str, dict[str, Any]] = {}
"""What the code of a file has set otherwise than it was, by the file."""

_running: ContextVar[str | None] = ContextVar("_running", default=None)
"""The file whose code runs now, in this thread."""


@contextmanager
def apart(file: str, *, read: bool = False) -> Iterator[None]:
    """Run code of a file with the folder, filters of warnings and handling of NumPy's errors that it has set before.

    They are put away at the end, and a timer that it has started (``signal.alarm``) is stopped: it would ring while
    somebody else thinks. Where the file is ``read`` itself, its name holds in the folder outside. Within code of the
    same file it does nothing: that has its settings already.
    """
    if _running.get() == file:
        yield
        return
    outside, rings, before = _settings(), _timer(), _own.get(file, {})
    _set({} if read else before)
    token = _running.set(file)
    try:
        yield
    finally:
        _running.reset(token)
        if sys.platform != "win32" and not rings and _timer():
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        changed = {name: value for name, value in _settings().items() if value != outside[name]}
        _own[file] = {**before, **changed} if read else changed
        _set({name: outside[name] for name in changed})


class Streams:
    """The global streams of ``random``, ``numpy.random`` and PyTorch, as one agent has left them."""

    _flowing: ClassVar["Streams | None"] = None
    _kept: Any = None

    def flow(self) -> None:
        """Let code draw from them, from where it stopped, until others flow."""
        if (before := Streams._flowing) is self:
            return
        torch = sys.modules.get("torch")
        if before is not None:
            before._kept = random.getstate(), np.random.get_state(), torch and torch.get_rng_state()  # noqa: NPY002
        if self._kept is not None:
            drawn, of_numpy, of_torch = self._kept
            random.setstate(drawn)
            np.random.set_state(of_numpy)  # noqa: NPY002
            if of_torch is not None and torch is not None:
                torch.set_rng_state(of_torch)
        Streams._flowing = self


def _settings() -> dict[str, Any]:
    folder = ""  # one that is gone
    with suppress(OSError):
        folder = os.getcwd()
    return {"folder": folder, "filters": list(warnings.filters), "errors": np.geterr()}


def _set(settings: dict[str, Any]) -> None:
    for name, value in settings.items():
        if name == "errors":
            np.seterr(**value)
        elif name == "filters":
            warnings.filters = list(value)
            with warnings.catch_warnings():  # which has what was warned of before looked at again
                pass
        else:
            with suppress(OSError):
                os.chdir(value)


def _timer() -> float:
    if sys.platform == "win32":
        return 0.0
    return signal.getitimer(signal.ITIMER_REAL)[0]
