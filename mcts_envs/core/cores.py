"""How many processes this machine has room for."""

import os
import sys


def most_processes() -> int:
    """Return how many processes one may have at work: on Windows nobody can wait for more than 63 things at once."""
    return 60 if sys.platform == "win32" else 1024


def cores() -> int:
    """Return how many processor cores this process may use: those it was given, where they are fewer than there are.

    ``taskset``, batch queues and containers give some of them.
    """
    given = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(given, most_processes())
