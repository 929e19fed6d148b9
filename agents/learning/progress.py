"""How far a training is: a bar in a terminal, else a line now and then."""

import sys
import time
from contextlib import ExitStack

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from stable_baselines3.common.callbacks import BaseCallback

_BETWEEN_LINES = 30.0
_BETWEEN_VIEWS = 0.2
"""Seconds."""


class ProgressReport(BaseCallback):
    """Show steps done, of how many, and the time left to the nearer limit, steps or minutes, on stderr.

    Parameters
    ----------
    total : int
        Steps of the training in all, those before a resume included.
    minutes : float, optional
        Its time limit.
    """

    def __init__(self, total: int, minutes: float | None) -> None:
        super().__init__()
        self._total = total
        self._seconds = None if minutes is None else 60 * minutes
        self._open = ExitStack()
        self._bar: Progress | None = None
        self._task = TaskID(0)
        self._first, self._start, self._due = 0, 0.0, 0.0

    def fraction(self, elapsed: float) -> float:
        """Return the part of the training that is over after some seconds, by the limit that is nearer."""
        steps = (self.num_timesteps - self._first) / max(self._total - self._first, 1)
        return min(max(steps, elapsed / self._seconds if self._seconds else 0.0), 1.0)

    def text(self, elapsed: float) -> str:
        """Return steps, speed and time left; the time is not known before the first step is over."""
        done, fraction = self.num_timesteps, self.fraction(elapsed)
        left = clock(elapsed / fraction - elapsed) if fraction else "-:--"
        speed = (done - self._first) / max(elapsed, 1e-9)
        return f"{done:,} of {self._total:,} steps, {speed:,.0f}/s, {left} left"

    def _on_training_start(self) -> None:
        self._first, self._start = self.model.num_timesteps, time.monotonic()
        if sys.stderr.isatty():
            self._bar = Progress(BarColumn(), TextColumn("{task.description}"), console=Console(stderr=True))
            self._task = self._open.enter_context(self._bar).add_task("", total=1.0)
        else:
            self._due = _BETWEEN_LINES

    def _on_step(self) -> bool:
        elapsed = time.monotonic() - self._start
        if elapsed >= self._due:
            self._due = elapsed + (_BETWEEN_LINES if self._bar is None else _BETWEEN_VIEWS)
            self._show(elapsed)
        return True

    def _show(self, elapsed: float) -> None:
        if self._bar is None:
            print(self.text(elapsed), file=sys.stderr, flush=True)
        else:
            self._bar.update(self._task, completed=self.fraction(elapsed), description=self.text(elapsed))

    def close(self) -> None:
        """Leave the terminal as it was; also after an exception."""
        if self._bar is not None:
            self._show(time.monotonic() - self._start)
        self._open.close()


class Lines:
    """Print what is said to it on stderr, one line in 30 seconds at most."""

    def __init__(self) -> None:
        self._due = time.monotonic() + _BETWEEN_LINES

    def __call__(self, text: str) -> None:
        """Print a line, if it is time for one."""
        if time.monotonic() >= self._due:
            self._due = time.monotonic() + _BETWEEN_LINES
            print(text, file=sys.stderr, flush=True)


def clock(seconds: float) -> str:
    """Write a duration as minutes and seconds, from an hour on with hours."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"
