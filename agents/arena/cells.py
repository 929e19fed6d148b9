"""Tables and what stands in their cells."""

from math import isnan, nan
from typing import Literal

from rich import box
from rich.table import Table
from rich.text import Text

from agents.arena.figures import Summary
from agents.arena.statistics import Estimate

NONE = "-"
_LEFT = ("agent", "team", "against")
_INTERVALS = ("win rate", "tie rate", "loss rate", "points", "rank", "return")
_LEAST_WIDTHS = dict.fromkeys(_LEFT, 8) | dict.fromkeys(_INTERVALS, 11)


def new_table(lines: box.Box, *columns: str) -> Table:
    """Return a table in which intervals and long names go on below where a terminal is narrow."""
    result = Table(box=lines, pad_edge=lines is box.MARKDOWN, padding=(0, 1) if lines is box.MARKDOWN else (0, 1, 0, 0))
    for column in columns:
        side: Literal["left", "right"] = "left" if column in _LEFT else "right"
        width = _LEAST_WIDTHS.get(column)
        result.add_column(column, justify=side, overflow="fold", no_wrap=width is None, min_width=width)
    return result


def percent(estimate: Estimate, sign: str = "") -> Text:
    """Write a rate in percent, a difference (with ``sign="+"``) in percentage points."""
    value, low, high = (100.0 * part for part in estimate)
    return _interval(Estimate(value, low, high), f"{sign}.1f", "" if sign else " %")


def plain(estimate: Estimate, sign: str = "") -> Text:
    """Write a mean with three significant digits; a difference with ``sign="+"``."""
    scale = max(abs(part) for part in estimate if not isnan(part)) if not isnan(estimate.value) else 0.0
    return _interval(estimate, f"{sign}.{(scale < 100) + (scale < 10)}f", "")


def _interval(estimate: Estimate, form: str, unit: str) -> Text:
    if isnan(estimate.value):
        return Text(NONE)
    text = Text(f"{estimate.value:{form}}{unit}")
    if not isnan(estimate.low):
        text.append(f" [{estimate.low:{form}},{estimate.high:{form}}]")
    if form.startswith("+") and (estimate.low > 0 or estimate.high < 0):
        text.stylize("bold")
    return text


def number(value: float, form: str) -> str:
    """Write a number, a dash where there is none."""
    return NONE if isnan(value) else f"{value:{form}}"


def cost(summary: Summary) -> tuple[str, str]:
    """Write the milliseconds and the model steps of a move."""
    milliseconds = number(summary.milliseconds, ".3f" if summary.milliseconds < 1 else ".1f")
    return milliseconds, number(summary.model_steps or nan, ",.0f")


def error_count(errors: int) -> Text:
    """Write a number of errors, which should be 0."""
    return Text(str(errors), "red" if errors else "")
