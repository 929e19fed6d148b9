"""What every command does first: to be imported before all else of ours.

It ends, with a line that says why, where ``agents`` is another package than ours or something is not installed, and
shows warnings as a line. What an output cannot encode is written as ``?``. What is written to an output or a terminal
that is closed, to a pipe that nobody reads any more, or to a log whose disk is full, goes nowhere; of the latter the
end warns, where it can.
"""

import atexit
import errno
import io
import os
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

# Before all other imports: what is opened next, a library or a pipe, here or in a worker, has the number otherwise.
for number in range(3):
    try:
        os.fstat(number)
    except OSError:
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
for name in ("stdin", "stdout", "stderr"):
    if getattr(sys, name) is None:
        setattr(sys, name, Path(os.devnull).open("r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115


def _ended(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """End a script that lacks a module as its command ends."""
    if not isinstance(error, ModuleNotFoundError):
        sys.__excepthook__(kind, error, trace)
        return
    from _commands import missing

    name = Path(sys.argv[0]).stem.replace("_", "-")
    print(f"error: {missing(name, error.name or '')}", file=sys.stderr)
    raise SystemExit(2)


sys.excepthook = _ended

from _commands import FULL  # noqa: E402

import agents  # noqa: E402
from mcts_envs.core.errors import require_own_agents  # noqa: E402


class _Output(io.FileIO):
    """An output; once its terminal or pipe is closed or its disk full, what is written is lost, and nothing else."""

    lost = 0

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if error.errno not in (errno.EIO, errno.EPIPE, *FULL):
                raise
            self.lost += memoryview(data).nbytes if error.errno in FULL else 0
            return memoryview(data).nbytes


def _told(outputs: dict[str, _Output]) -> None:
    """Say at the end what a full disk lost."""
    for name, output in outputs.items():
        with suppress(ValueError):  # of what is closed
            getattr(sys, name).flush()
            if output.lost:
                lost = f"{output.lost:,} bytes of what it was told are lost"
                sys.stderr.write(f"warning: {name} is on a full disk; {lost}\n")


def _line(message: object, *_: object, **__: object) -> str:
    return f"warning: {' '.join(str(message).split())}\n"


warnings.formatwarning = _line
outputs = {}
for name in ("stdout", "stderr"):  # neither a narrow code page, a closed terminal nor a full log shall cost a night
    stream = getattr(sys, name)
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")
        if stream is getattr(sys, f"__{name}__") and sys.platform != "win32":
            outputs[name] = _Output(stream.fileno(), "w", closefd=False)
            at_once = stream.line_buffering or stream.write_through
            raw = io.BufferedWriter(outputs[name])
            setattr(sys, name, io.TextIOWrapper(raw, stream.encoding, "replace", line_buffering=at_once))
atexit.register(_told, outputs)
try:
    require_own_agents(agents)
except ImportError as error:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(2)
