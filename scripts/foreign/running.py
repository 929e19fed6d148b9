"""Trials in processes of their own."""

import contextlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

from foreign.catalogue import Entry

_SCRIPTS = Path(__file__).resolve().parents[1]
_MOST_BYTES = 2**24
RAN, MISSING = "ran", "not installed here"


def tried(entry: Entry, trajectories: int, seconds: float, limit: float, memory: float) -> dict[str, Any]:
    """Return what a trial found.

    Parameters
    ----------
    entry : Entry
    trajectories, seconds : int, float
        Of trajectories that are compared, at most.
    limit, memory : float
        Seconds and GiB of the whole trial.

    Returns
    -------
    dict
        ``end``: ``"ran"``, or how it ended; the lines that the trial printed, by their first word (``acted`` and
        ``raised`` in lists).
    """
    missing = [name for name in entry.needs if importlib.util.find_spec(name) is None]
    if missing:
        return {"end": MISSING, "missing": missing}
    command = [sys.executable, str(_SCRIPTS / "foreign" / "trial.py"), entry.name, str(trajectories), str(seconds)]
    path = os.pathsep.join(filter(None, [str(_SCRIPTS), str(_SCRIPTS.parent), os.environ.get("PYTHONPATH")]))
    quiet = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:  # pipes, a child of its own may hold
        with subprocess.Popen(
            [*_limited(memory), *command],
            env={**os.environ, "PYTHONPATH": path, **quiet},
            stdin=subprocess.PIPE,  # which closes when this process ends, however that is
            stdout=out,
            stderr=errors,
            start_new_session=True,
        ) as process:
            try:
                code = process.wait(limit)
                end = RAN if code == 0 else _ended(code, _read(errors))
            except subprocess.TimeoutExpired:
                end = f"stopped after {limit:.0f} s"
            finally:
                _kill(process)
        return {"end": end, **_gathered(_read(out))}


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End a trial and the processes that it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # all have ended
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _read(file: IO[bytes]) -> str:
    """Return what a trial has written, the last of it if that is a great deal."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - _MOST_BYTES))
    return file.read().decode(errors="replace")


def _limited(memory: float) -> list[str]:
    """Return what is put before a command so that its memory is bounded, where the system can."""
    if os.name != "posix":
        return []
    return ["sh", "-c", f'ulimit -d {int(memory * 2**20)} 2>/dev/null; exec "$0" "$@"']


def _ended(code: int, errors: str) -> str:
    last = errors.strip().splitlines()[-1:] or [""]
    how = f"killed by signal {-code}" if code < 0 else f"ended with {code}"
    return f"{how}: {last[0]}"[:200]


def _gathered(out: str) -> dict[str, Any]:
    """Return the lines of a trial, the last of which may be cut off."""
    found: dict[str, Any] = {"acted": [], "raised": []}
    for line in out.splitlines():
        try:
            given = json.loads(line)
        except ValueError:
            continue
        if isinstance(given, dict):
            for name, value in given.items():
                found[name] = [*found[name], value] if name in ("acted", "raised") else value
    return found
