"""What every command does first: to be imported before all else of ours.

It ends, with a line that says why, where ``agents`` is another package than ours, something is not installed or the
present folder was deleted, and shows warnings as a line. What an output cannot encode is written as ``?``. What is
written to an output or a terminal that is closed, to a pipe that nobody reads any more, or to a log whose disk is full,
goes nowhere; of the latter the end warns, where it can.
"""

import atexit
import os
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from types import TracebackType

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
    """End a script that lacks a module, or a part of one, as its command ends."""
    if isinstance(error, ModuleNotFoundError):
        from _commands import missing

        said = missing(Path(sys.argv[0]).stem.replace("_", "-"), error.name or "")
    elif isinstance(error, EOFError):
        from _commands import cut_short

        said = cut_short(error)
    else:
        sys.__excepthook__(kind, error, trace)
        return
    print(f"error: {said}", file=sys.stderr)
    raise SystemExit(2)


sys.excepthook = _ended

from _commands import require_folder  # noqa: E402

require_folder()

import agents  # noqa: E402
from mcts_envs.core.errors import require_own_agents  # noqa: E402
from mcts_envs.core.outputs import Output, make_lasting  # noqa: E402


def _told(outputs: dict[str, Output]) -> None:
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
outputs = make_lasting()  # neither a narrow code page, a closed terminal nor a full log shall cost a night
atexit.register(_told, outputs)
try:
    require_own_agents(agents)
except ImportError as error:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(2)
