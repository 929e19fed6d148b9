"""What is told by the report of a comparison, and by the folder of its results."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from agents.arena.report.report import Report
from agents.arena.report.table import render
from agents.arena.storage import EPISODES


def figures(result: Report) -> list[str]:
    """Everything in a report that does not depend on the clock."""
    summaries = (replace(summary, milliseconds=0.0) for summary in result.summaries)
    return [*map(repr, (*summaries, *result.differences, *result.pairings, *result.standings))]


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """The rows as they stand in the file."""
    return [json.loads(line) for line in (folder / EPISODES).read_text(encoding="utf-8").splitlines()[1:]]


def timeless_rows(folder: Path) -> list[dict[str, Any]]:
    """The rows as they stand in the file, without what a clock measured."""
    rows = rows_of(folder)
    for row in rows:
        row.pop("took")
        for seat in row["seats"]:
            for clock in ("seconds", "cpu", "p99", "slowest"):
                seat.pop(clock)
    return rows


def printed(result: Report, width: int = 200) -> str:
    """The tables as text."""
    console = Console(width=width, file=io.StringIO())
    console.print(render(result))
    return console.file.getvalue()  # type: ignore[attr-defined]
