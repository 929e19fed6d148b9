"""Programs in processes of their own."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).parents[2]


def python(code, **environment):
    """Run a program in a process of its own; return what it printed."""
    kept = {key: os.environ[key] for key in ("PATH", "MCTS_ENVS_CACHE_DIR", "HOME") if key in os.environ}
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)]
    whole = {**kept, "PYTHONPATH": str(ROOT), **environment}
    options = {} if os.name == "nt" else {"preexec_fn": _heed_interrupts}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=whole, **options).stdout.strip()


def _heed_interrupts():
    """Let SIGINT do what it does at first: a shell makes what it starts in the background ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
