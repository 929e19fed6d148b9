"""Trials in processes of their own."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from foreign.catalogue import Entry

_SCRIPTS = Path(__file__).resolve().parents[1]
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
    path = os.pathsep.join([str(_SCRIPTS), str(_SCRIPTS.parent), os.environ.get("PYTHONPATH", "")])
    quiet = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "PYGAME_HIDE_SUPPORT_PROMPT": "1"}
    with subprocess.Popen(
        [*_limited(memory), *command],
        env={**os.environ, "PYTHONPATH": path, **quiet},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            out, errors = process.communicate(timeout=limit)
            end = RAN if process.returncode == 0 else _ended(process.returncode, errors)
        except subprocess.TimeoutExpired:
            process.kill()
            out, errors = process.communicate()
            end = f"stopped after {limit:.0f} s"
        except BaseException:
            process.kill()
            raise
    return {"end": end, **_gathered(out)}


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
