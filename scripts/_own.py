"""What every command does first: to be imported before all else of ours.

It ends, with a line that says why, where ``agents`` is another package than ours, and shows warnings as a line. What
an output cannot encode is written as ``?``. An output that is closed goes nowhere.
"""

import io
import os
import sys
import warnings
from pathlib import Path

# Before all other imports: what is opened next, a library or a pipe, here or in a worker, has the number otherwise.
for number in range(3):
    try:
        os.fstat(number)
    except OSError:
        os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
for name in ("stdin", "stdout", "stderr"):
    if getattr(sys, name) is None:
        setattr(sys, name, Path(os.devnull).open("r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115

import agents  # noqa: E402
from mcts_envs.core.errors import require_own_agents  # noqa: E402


def _line(message: object, *_: object, **__: object) -> str:
    return f"warning: {' '.join(str(message).split())}\n"


warnings.formatwarning = _line
for stream in (sys.stdout, sys.stderr):
    if isinstance(stream, io.TextIOWrapper):  # a log in a narrow code page shall not cost a night's results
        stream.reconfigure(errors="replace")
try:
    require_own_agents(agents)
except ImportError as error:
    print(f"error: {error}", file=sys.stderr)
    sys.exit(2)
