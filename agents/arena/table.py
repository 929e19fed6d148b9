"""A report as tables, for a terminal or as Markdown."""

import os
from math import isnan, nan
from pathlib import Path
from typing import Literal

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from agents.arena.plan import Plan
from agents.arena.report import Report
from agents.arena.statistics import LEVEL, Estimate

_NONE = "-"
_LEAST_WIDTHS = {"agent": 8, "against": 8, "win rate": 11, "return": 11}


def render(report: Report, markdown: bool = False) -> RenderableType:
    """Return the tables and remarks of a report, for ``rich.console.Console.print``."""
    lines = box.MARKDOWN if markdown else box.SIMPLE_HEAD
    parts: list[RenderableType] = [agents_table(report, lines)]
    if report.differences:
        parts.append(differences_table(report, lines))
    parts += [Text(remark) for remark in remarks(report)]
    return Group(*parts)


def write_markdown(report: Report, file: Path) -> None:
    """Write a report as Markdown."""
    with file.open("w", encoding="utf-8") as stream:
        stream.write(f"# {report.plan.id}\n")
        Console(file=stream, width=250).print(render(report, markdown=True))


def agents_table(report: Report, lines: box.Box) -> Table:
    """Return the table with a row for each agent."""
    table = _table(lines, "agent", "games", "win rate", "return", "length", "ms", "steps", "errors")
    for s in report.summaries:
        costs = _number(s.milliseconds, ".3f" if s.milliseconds < 1 else ".1f"), _number(s.model_steps or nan, ",.0f")
        figures = _percent(s.win_rate), _plain(s.mean_return), _number(s.length, ".1f")
        table.add_row(Text(s.agent), str(s.games), *figures, *costs, Text(str(s.errors), "red" if s.errors else ""))
    return table


def differences_table(report: Report, lines: box.Box) -> Table:
    """Return the table with a row for each pair of agents; an interval without 0 is bold."""
    table = _table(lines, "agent", "against", "pairs", "win rate", "return")
    for d in report.differences:
        figures = _percent(d.win_rate, "+"), _plain(d.mean_return, "+")
        table.add_row(Text(d.agent), Text(d.reference), str(d.pairs), *figures)
    return table


def remarks(report: Report) -> list[str]:
    """Return the lines below the tables: what was played and how to read it."""
    plan = report.plan
    settings = "".join(f", {name}={value}" for name, value in plan.settings.items())
    machine = f"{report.workers} process{'es' if report.workers > 1 else ''} on {os.cpu_count()} cores"
    result = [
        f"{plan.id}{settings}; {report.episodes} episodes of seed {plan.seed}, the same for all; "
        f"{_budget(plan)}; {machine}",
        f"[low,high]: {LEVEL:.0%} intervals; return: discounted by {report.discount:g}; "
        "ms, steps (of the model): for a move where there was a choice",
    ]
    if report.reused:
        result.append(f"{report.reused} episodes were there from before; --fresh plays all of them anew")
    if report.failed:
        first = report.failed[0]
        kind, message = (first.error["type"], first.error["message"]) if first.error else ("", "")
        result.append(
            f"{len(report.failed)} episodes ended in an error and are left out; the first: {first.agent}, "
            f"episode {first.episode}: {kind}: {message}"
        )
    return result


def _budget(plan: Plan) -> str:
    """Say who got the budget of the plan; agents that take none, or have one of their own, did not."""
    takers = [spec.label for spec in plan.agents if plan.budget.items() <= spec.settings.items()]
    if not plan.budget:
        return "each agent's own budget"
    budget = " ".join(f"{name}={value}" for name, value in plan.budget.items())
    return f"budget {budget} for {', '.join(takers)}" if takers else f"no agent here takes the budget {budget}"


def _table(lines: box.Box, *columns: str) -> Table:
    """Return a table in which intervals and long names go on below where a terminal is narrow."""
    table = Table(box=lines, pad_edge=lines is box.MARKDOWN, padding=(0, 1) if lines is box.MARKDOWN else (0, 1, 0, 0))
    for column in columns:
        side: Literal["left", "right"] = "left" if column in ("agent", "against") else "right"
        width = _LEAST_WIDTHS.get(column)
        table.add_column(column, justify=side, overflow="fold", no_wrap=width is None, min_width=width)
    return table


def _percent(estimate: Estimate, sign: str = "") -> Text:
    """Write a rate in percent, a difference (with ``sign="+"``) in percentage points."""
    value, low, high = (100.0 * part for part in estimate)
    return _interval(Estimate(value, low, high), f"{sign}.1f", "" if sign else " %")


def _plain(estimate: Estimate, sign: str = "") -> Text:
    scale = max(abs(part) for part in estimate if not isnan(part)) if not isnan(estimate.value) else 0.0
    return _interval(estimate, f"{sign}.{(scale < 100) + (scale < 10)}f", "")


def _interval(estimate: Estimate, form: str, unit: str) -> Text:
    if isnan(estimate.value):
        return Text(_NONE)
    text = Text(f"{estimate.value:{form}}{unit}")
    if not isnan(estimate.low):
        text.append(f" [{estimate.low:{form}},{estimate.high:{form}}]")
    if form.startswith("+") and (estimate.low > 0 or estimate.high < 0):
        text.stylize("bold")
    return text


def _number(value: float, form: str) -> str:
    return _NONE if isnan(value) else f"{value:{form}}"
