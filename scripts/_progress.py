"""What is seen of a comparison while it is played: in a terminal a bar and a table, else a line now and then."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from math import isnan
from threading import Event, Thread
from time import monotonic

from rich import box
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from agents.arena import Report
from agents.arena.report.cells import Fitting, percent, plain, short_names

SECONDS_BETWEEN_LINES = 30.0
_SECONDS_BETWEEN_VIEWS = 0.5
_MOST_NAMED = 6


class Progress:
    """How many games have been played, of how many, how long the others will take, and who stands how.

    Parameters
    ----------
    live : bool
        Whether it is shown in a terminal, and not now and then in a line.
    """

    def __init__(self, live: bool = False) -> None:
        self._live = live
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

    def standing(self) -> str:
        """Return the figures so far in words, the best first; an empty text before there are any."""
        if self._report is None:
            return ""
        marks = self._report.plan.format.marks(self._report, short_names(s.agent for s in self._report.summaries))
        known = sorted((mark for mark in marks if not isnan(mark.figure.value)), key=lambda mark: -mark.figure.value)
        write = percent if self._report.plan.scored else plain
        said = [f"{mark.name} {write(mark.figure).plain}" for mark in known[:_MOST_NAMED]]
        said += self._trial(self._report)
        lost, failed = len(self._report.forfeited), len(self._report.failed)
        return "; ".join([*said, *([f"{lost} forfeits"] if lost else []), *([f"{failed} errors"] if failed else [])])

    def watch(self, report: Report) -> None:
        """Take the figures so far."""
        self._report = report

    def view(self) -> RenderableType:
        """Return a bar over the first table so far, and below it what went wrong last."""
        if not self._total:  # what is compiled says so here
            return Text()
        bar = Table.grid(padding=(0, 1))
        bar.add_row(ProgressBar(max(self._total, 1), self._done, width=30), self.line())
        if self._report is None:
            return bar
        table, *_ = self._report.plan.format.tables(self._report, box.SIMPLE_HEAD)
        return Group(bar, Fitting(table), *map(Text, [*self._trial(self._report), *self._faults(self._report)]))

    def _trial(self, report: Report) -> list[str]:
        """Return how far a sequential test is from its end."""
        if (trial := report.trial) is None:
            return []
        low, high = trial.sprt.bounds
        return [f"LLR {trial.llr:.2f} of ({low:.2f}, {high:.2f}) after {trial.counted:,}"]

    def _faults(self, report: Report) -> list[str]:
        """Return how many games ended otherwise than by the rules, and how the last of them did."""
        said = []
        for what, rows in (("lost by forfeit", report.forfeited), ("ended in an error", report.failed)):
            fault = max(rows, key=lambda row: row.episode).fault if rows else None
            said += [f"{len(rows)} {what}, such as {fault['type']}: {fault['message'][:80]}"] if fault else []
        return said

    @property
    def every(self) -> float:
        """Seconds between reports, as :func:`agents.arena.compare` takes it."""
        return _SECONDS_BETWEEN_VIEWS if self._live else SECONDS_BETWEEN_LINES / 2

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
            now = f"{datetime.now():%H:%M:%S} "
            print(now + "; ".join(filter(None, (self.line(), self.standing()))), file=sys.stderr, flush=True)
