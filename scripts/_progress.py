"""What is seen of a comparison while it is played: tables and a bar in a terminal, else a line now and then."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Event, Thread
from time import monotonic

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from agents.arena import Report
from agents.arena.table import render

SECONDS_BETWEEN_LINES = 30.0


class Progress:
    """How many games have been played, of how many, and how long the others will take."""

    def __init__(self) -> None:
        self._there = self._first = self._done = self._total = 0
        self._begun = monotonic()
        self._report: Report | None = None

    def tell(self, done: int, total: int) -> None:
        """Take the number of games that are there, and of all; the first call says what was there before."""
        if not self._total:
            self._there = done
        elif self._done == self._there:  # the clock starts with the first game: before it there was much to load
            self._first, self._begun = done, monotonic()
        self._done, self._total = done, total

    def line(self) -> str:
        """Return it in words."""
        if not self._total:
            return "starting"
        text, left = f"{self._done:,} of {self._total:,} games", self._total - self._done
        if self._done == self._there and left:
            return f"{text}, the first are being played"
        played = self._done - self._first
        if not played or not left:
            return text
        return f"{text}, {timedelta(seconds=round((monotonic() - self._begun) / played * left))} left"

    def watch(self, report: Report) -> None:
        """Take the figures so far."""
        self._report = report

    def view(self) -> RenderableType:
        """Return a bar over the tables so far."""
        bar = Table.grid(padding=(0, 1))
        bar.add_row(ProgressBar(max(self._total, 1), self._done, width=30), self.line())
        return Group(bar, render(self._report)) if self._report else bar

    @contextmanager
    def shown(self, console: Console) -> Iterator[None]:
        """Show it for as long as this lasts."""
        if console.is_terminal:
            with Live(get_renderable=self.view, console=console, refresh_per_second=2, transient=True):
                yield
            return
        over = Event()
        lines = Thread(target=self._say, args=(over,), daemon=True)
        lines.start()
        try:
            yield
        finally:
            over.set()
            lines.join()

    def _say(self, over: Event) -> None:
        while not over.wait(SECONDS_BETWEEN_LINES):
            print(self.line(), file=sys.stderr, flush=True)
