"""A report as tables, for a terminal or as Markdown."""

import os
from pathlib import Path

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from agents.arena import many_table
from agents.arena.cells import OVERRUN, cost, error_columns, error_count, new_table, number, percent, plain, shown_names
from agents.arena.pairs_table import crosstable, pairings_table, ranking_table
from agents.arena.plan import Plan
from agents.arena.report import Report, overruns
from agents.arena.statistics import LEVEL

_COSTS = "ms, steps (of the model): for a move where there was a choice"


def render(report: Report, markdown: bool = False) -> RenderableType:
    """Return the tables and remarks of a report, for ``rich.console.Console.print``."""
    lines = box.MARKDOWN if markdown else box.SIMPLE_HEAD
    parts = {1: _agents, 2: _pairs}.get(report.plan.seats, _many)(report, lines)
    parts += [Text(remark) for remark in remarks(report)]
    if not markdown:
        whole = shown_names([s.agent for s in report.summaries], lines)
        parts += [Text(f"{name}: {label}") for label, name in whole.items() if name != label]
    return Group(*parts)


def write_markdown(report: Report, file: Path) -> None:
    """Write a report as Markdown."""
    with file.open("w", encoding="utf-8") as stream:
        stream.write(f"# {report.plan.id}\n")
        Console(file=stream, width=250).print(render(report, markdown=True))


def _agents(report: Report, lines: box.Box) -> list[RenderableType]:
    return [agents_table(report, lines), *([differences_table(report, lines)] if report.differences else [])]


def _pairs(report: Report, lines: box.Box) -> list[RenderableType]:
    tables = [ranking_table(report, lines), pairings_table(report, lines)]
    if report.differences:
        tables.append(differences_table(report, lines))
    return [*tables, *([crosstable(report, lines)] if len(report.pairings) > 1 and not report.plan.against else [])]


def _many(report: Report, lines: box.Box) -> list[RenderableType]:
    tables = [many_table.standings_table(report, lines), many_table.agents_table(report, lines)]
    return [*tables, *([differences_table(report, lines)] if report.differences else [])]


def agents_table(report: Report, lines: box.Box) -> Table:
    """Return the table with a row for each agent."""
    errors, late = error_columns(s.errors for s in report.summaries), overruns(report)
    scored = report.plan.discount is not None
    wins = ("win rate %",) if scored else ()
    table = new_table(lines, "agent", "games", *wins, "return", "length", "ms", "steps", *errors)
    names = shown_names([s.agent for s in report.summaries], lines)
    for s in report.summaries:
        rates = [percent(s.win_rate)] if scored else []
        figures = plain(s.mean_return), number(s.length, ".1f"), *cost(s, s.agent in late)
        failed = [error_count(s.errors) for _ in errors]
        table.add_row(Text(names[s.agent]), str(s.games), *rates, *figures, *failed)
    return table


def differences_table(report: Report, lines: box.Box) -> Table:
    """Return the table with how much better agents did than others in the same games; an interval without 0 is bold."""
    alone, scored = report.plan.seats == 1, report.plan.discount is not None
    columns = ("pairs", *(("win rate",) if scored else ()), "return") if alone else ("boards", "points")
    table = new_table(lines, "agent", "minus", *columns)
    names = shown_names([s.agent for s in report.summaries], lines)
    for d in report.differences:
        rates = [percent(d.win_rate, "+")] if scored else []
        returns = [plain(d.mean_return, "+")] if alone else []
        table.add_row(Text(names[d.agent]), Text(names[d.reference]), str(d.pairs), *rates, *returns)
    return table


def remarks(report: Report) -> list[str]:
    """Return the lines below the tables: what was played and how to read it."""
    plan, what = report.plan, "games" if report.plan.seats > 1 else "episodes"
    settings = "".join(f", {name}={value}" for name, value in plan.settings.items())
    machine = f"{report.workers} process{'es' if report.workers > 1 else ''} on {os.cpu_count()} cores"
    result = [f"{plan.id}{settings}; {_played(report)}; {budget(plan)}; {machine}", _legend(report)]
    for label, (taken, limit) in overruns(report).items():
        result.append(
            f"{OVERRUN} {label} took {taken:.3g} ms a move, {taken / limit - 1:.0%} over its limit of {limit:.3g}: was "
            "the machine loaded? fewer --workers give each more time"
        )
    if report.reused:
        result.append(f"{report.reused} {what} were there from before; --fresh plays all of them anew")
    if report.failed:
        first = report.failed[0]
        kind, message = (first.error["type"], first.error["message"]) if first.error else ("", "")
        others = {1: "", 2: ", with the other game of the pair on that board"}
        left_out = f"left out{others.get(plan.seats, ', with all games of the line-up on that board')}"
        result.append(
            f"{len(report.failed)} {what} ended in an error and are {left_out}; the first: {first.name}: "
            f"{kind}: {message}"
        )
    return result


def _played(report: Report) -> str:
    """Say what was played."""
    plan = report.plan
    if plan.seats == 1:
        return f"{report.episodes} episodes of seed {plan.seed}, the same for all"
    boards = f"{report.episodes} boards of seed {plan.seed}, the same for all"
    return f"{boards} pairings, each from both seats" if plan.seats == 2 else f"{boards}; {many_table.meeting(plan)}"


def _legend(report: Report) -> str:
    """Say how to read the figures."""
    intervals = f"[low,high]: {LEVEL:.0%} intervals"
    if report.plan.seats == 1:
        return f"{intervals}; minus: in the same episodes; return: discounted by {report.discount:g}; {_COSTS}"
    minus = "minus: on the same boards, against the same others; " if report.differences else ""
    if report.plan.seats == 2:
        return f"points: a tie is half a point; {minus}{intervals} over the boards; {_COSTS}"
    alone = len(report.plan.teams) == report.plan.seats
    rank = "rank: 1 the best, then by the end of one's own game, equals share; " if alone else ""
    return f"points: as the game gives them; {rank}{minus}{intervals} over the boards; {_COSTS}"


def budget(plan: Plan) -> str:
    """Say who got the budget of the plan; agents that take none, or have one of their own, did not."""
    takers = dict.fromkeys(spec.label for spec in plan.agents if plan.budget.items() <= spec.settings.items())
    if not plan.budget:
        return "each agent's own budget"
    budget = " ".join(f"{name}={value}" for name, value in plan.budget.items())
    return f"budget {budget} for {', '.join(takers)}" if takers else f"no agent here takes the budget {budget}"
