"""Tables and what stands in their cells."""

import re
from collections.abc import Iterable, Sequence
from copy import copy
from math import isnan, nan
from typing import Literal

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from agents.arena.report.figures import Summary
from agents.arena.statistics.estimates import Estimate
from agents.inspection.drawing import HUGE
from mcts_envs.core.loading import COLON

NONE = "-"
OVERRUN = "!"
LONGEST = 16
"""Characters of a name in a table or a picture."""

_LEAST_COLUMNS, _ANY_WIDTH = 2, 10_000
_SMALL = 0.1
"""Below which two decimals would leave one digit, or none."""
_LEFT = ("agent", "team", "against", "minus")
_INTERVALS = (
    "win rate %",
    "tie rate %",
    "loss rate %",
    "points %",
    "rank",
    "return",
    "win rate",
    "points",
    "Elo",
    "any time",
)
_LEAST_WIDTHS = dict.fromkeys(_LEFT, 7) | dict.fromkeys(_INTERVALS, 12)


def new_table(lines: box.Box, *columns: str) -> Table:
    """Return a table in which intervals and long names go on below where a terminal is narrow."""
    result = Table(box=lines, pad_edge=lines is box.MARKDOWN, padding=(0, 1) if lines is box.MARKDOWN else (0, 1, 0, 0))
    for column in columns:
        side: Literal["left", "right"] = "left" if column in _LEFT else "right"
        width = _LEAST_WIDTHS.get(column)
        result.add_column(column, justify=side, overflow="fold", no_wrap=width is None, min_width=width)
    return result


class Fitting:
    """A table without its last columns where they have no room, which is said: half a number would be another one."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the table, and which columns are missing."""
        shown, missing = copy(self.table), list[str]()
        anywhere = options.update(width=_ANY_WIDTH)
        while len(shown.columns) > _LEAST_COLUMNS and _least(shown, console, anywhere) > options.max_width:
            *shown.columns, last = shown.columns
            missing.insert(0, str(last.header))
        fits = console.measure(shown, options=anywhere).maximum <= options.max_width
        yield shown if fits else _narrow(shown, options.max_width - _least(shown, console, anywhere))
        if missing:
            yield Text(f"no room for {', '.join(missing)}", "dim")


def _least(table: Table, console: Console, anywhere: ConsoleOptions) -> int:
    """Return how wide a table is whose names and intervals go on below."""
    return console.measure(_narrow(table, 0), options=anywhere).maximum


def _narrow(table: Table, room: int) -> Table:
    """Return a table whose intervals go on below, and names where they are longer than this room, shared, lets them.

    Rich would take as much from intervals as from names, and then cut the last numbers.
    """
    narrow = copy(table)
    narrow.columns = [copy(column) for column in table.columns]
    names = sum(column.header in _LEFT for column in narrow.columns)
    for column in narrow.columns:
        if column.header in _LEFT:
            column.max_width = (column.min_width or 0) + max(room, 0) // names
        elif not column.no_wrap:
            words = (word for cell in (column.header, *column.cells) for word in str(cell).split())
            column.max_width = column.min_width = max(column.min_width or 0, *map(len, words))
    return narrow


def percent(estimate: Estimate, sign: str = "") -> Text:
    """Write a rate in percent, a difference (with ``sign="+"``) in percentage points."""
    value, low, high = (100.0 * part for part in estimate)
    return _interval(Estimate(value, low, high), f"{sign}.1f")


def plain(estimate: Estimate, sign: str = "") -> Text:
    """Write a mean with three significant digits, a huge one as a power of ten; a difference with ``sign="+"``."""
    scale = max(abs(part) for part in estimate if not isnan(part)) if not isnan(estimate.value) else 0.0
    form = f".{(scale < 100) + (scale < 10)}f" if scale < HUGE else ".4g"
    form = ".3g" if 0 < scale < _SMALL else form
    return _interval(estimate, f"{sign}{form}")


def elo(estimate: Estimate) -> Text:
    """Write a difference in Elo."""
    return _interval(estimate, "+z.0f")


def _interval(estimate: Estimate, form: str) -> Text:
    if isnan(estimate.value):
        return Text(NONE)
    text = Text(f"{estimate.value:{form}}")
    if not isnan(estimate.low):
        text.append(f" [{estimate.low:{form}},{estimate.high:{form}}]")
    if form.startswith("+") and (estimate.low > 0 or estimate.high < 0):
        text.stylize("bold")
    return text


def number(value: float, form: str) -> str:
    """Write a number, a dash where there is none."""
    return NONE if isnan(value) else f"{value:{form}}"


def cost(summary: Summary, overrun: bool = False) -> tuple[Text, str]:
    """Write the milliseconds of a move, marked where they overran the time limit, and its model steps."""
    text = number(summary.milliseconds, ".3f" if summary.milliseconds < 1 else ".1f")
    steps, thousands = summary.model_steps or nan, summary.model_steps >= 100_000
    milliseconds = Text(f"{text}{OVERRUN}", "red") if overrun else Text(text)
    return milliseconds, f"{steps / 1000:,.0f}k" if thousands else number(steps, ".0f")


def fault_columns(summaries: Sequence[Summary]) -> tuple[str, ...]:
    """Return the columns for games lost by forfeit, truncated games, and errors, of which there should be none."""
    names = "forfeits", "truncated", "errors"
    return tuple(name for name in names if any(getattr(s, name) for s in summaries))


def fault_cells(summary: Summary, columns: Iterable[str]) -> list[Text]:
    """Write how many games an agent lost by forfeit, by reason, how many were truncated, and ended in an error."""
    forfeits = ", ".join(f"{count} {reason}" for reason, count in sorted(summary.forfeits.items())) or "0"
    cells = {"forfeits": forfeits, "truncated": str(summary.truncated), "errors": str(summary.errors)}
    return [Text(cells[name], "" if cells[name] == "0" else "red") for name in columns]


def shown_names(labels: Iterable[str], lines: box.Box) -> dict[str, str]:
    """Return how each label is written: in a file in full, in a terminal short."""
    return {label: label for label in labels} if lines is box.MARKDOWN else short_names(labels)


def short_names(labels: Iterable[str], longest: int = LONGEST) -> dict[str, str]:
    """Return each label as short as tables want it: paths by their last two parts, the middle of what is long left out.

    No two become the same: those that would stay as they are.
    """
    whole = list(dict.fromkeys(labels))
    names = [_shortened(label, longest) for label in whole]
    return {a: b if names.count(b) == 1 else a for a, b in zip(whole, names, strict=True)}


def _shortened(label: str, longest: int) -> str:
    if len(label) > longest:
        label = ":".join("/".join(re.split(r"[\\/]", part)[-2:]) for part in COLON.split(label))
    if len(label) <= longest:
        return label
    return f"{label[: longest // 2]}…{label[len(label) + 1 - (longest - longest // 2) :]}"
