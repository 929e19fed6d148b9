"""What every command does first: to be imported before all else of ours.

It ends, with a line that says why, where ``agents`` is another package than ours or something is not installed, and
shows warnings as a line. What an output cannot encode is written as ``?``. What is written to an output or a terminal
that is closed goes nowhere.
"""

import errno
import io
import os
import sys
import warnings
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

import agents  # noqa: E402
from mcts_envs.core.errors import require_own_agents  # noqa: E402


class _Terminal(io.FileIO):
    """A terminal; once it is closed, what a command that outlives it writes is lost, and nothing else."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            return memoryview(data).nbytes


def _line(message: object, *_: object, **__: object) -> str:
    return f"warning: {' '.join(str(message).split())}\n"


warnings.formatwarning = _line
for name in ("stdout", "stderr"):  # neither a narrow code page nor a closed terminal shall cost a night's results
    stream = getattr(sys, name)
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="replace")
        if stream.isatty() and sys.platform != "win32":
            raw = io.BufferedWriter(_Terminal(stream.fileno(), "w", closefd=False))
            setattr(sys, name, io.TextIOWrapper(raw, stream.encoding, "replace", line_buffering=True))
try:
    require_own_agents(agents)
except ImportError as error:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(2)
