"""A report as tables, for a terminal or as Markdown."""

import io
from math import isfinite
from pathlib import Path

from rich import box
from rich.console import Console, Group, RenderableType
from rich.text import Text

from agents.arena.faults import in_words
from agents.arena.plan import Plan
from agents.arena.report.cells import OVERRUN, Fitting, shown_names
from agents.arena.report.conclusion import conclusion
from agents.arena.report.figures import Trial
from agents.arena.report.report import Report
from agents.arena.statistics.sprt import POWER, Sprt, boards_needed, difference_found
from mcts_envs.core.cores import cores
from mcts_envs.core.writing import write_whole


def render(report: Report, markdown: bool = False) -> Group:
    """Return the tables and, as texts, the remarks of a report, for ``rich.console.Console.print``."""
    lines = box.MARKDOWN if markdown else box.SIMPLE_HEAD
    parts: list[RenderableType] = [*map(Fitting, report.plan.format.tables(report, lines))]
    parts += [Text(remark) for remark in remarks(report)]
    if found := conclusion(report):
        parts.append(Text(found, "bold"))
    if not markdown:
        whole = shown_names([s.agent for s in report.summaries], lines)
        parts += [Text(f"{name}: {label}") for label, name in whole.items() if name != label]
    return Group(*parts)


def write_markdown(report: Report, file: Path) -> None:
    """Write a report as Markdown; the file appears whole, or the one that was there is left."""
    tables = io.StringIO()
    Console(file=tables, width=250).print(render(report, markdown=True))
    write_whole(file, f"# {report.plan.id}\n{tables.getvalue()}".encode(errors="replace"))


def remarks(report: Report) -> list[str]:
    """Return the lines below the tables: what was played and how to read it."""
    plan, shape = report.plan, report.plan.format
    settings = "".join(f", {name}={value}" for name, value in plan.settings.items())
    there = cores()
    machine = f"{report.workers} process{'es' * (report.workers > 1)} on {there} core{'s' * (there > 1)}"
    result = [f"{plan.id}{settings}; {shape.played(report)}; {budget(plan)}; {machine}", shape.legend(report)]
    if report.signal is not None and not report.finished:
        left = f"{report.missing:,} of {len(report.rows) + report.missing:,} {shape.unit}"
        result.append(f"{left} have not been played; the figures are of the others")
    starved = report.starved
    for label, (taken, limit) in report.overruns.items():
        loaded = "" if label in starved else ": was the machine loaded? fewer --workers give each more time"
        over = f"{taken / limit - 1:.0%} over its limit of {limit:.3g}"
        result.append(f"{OVERRUN} {label} took {taken:.3g} ms a move, {over}{loaded}")
    if starved:
        shares = ", ".join(f"{label} {share:.0%}" for label, share in starved.items())
        result.append(
            f"{OVERRUN} something else used the machine, or they waited: agents with a time limit had this much of "
            f"a core: {shares}; planners suffer differently from that, so do not believe who is better. Play on an "
            "idle machine with fewer --workers, or with budgets in simulations or steps"
        )
    if report.reused:
        bare = len(report.unrecorded)
        without = f", {'all' if bare == report.reused else bare} without a replay" if bare else ""
        result.append(f"{report.reused} {shape.unit} were there from before{without}; --fresh plays all of them anew")
    result += _forfeits(report)
    if report.truncated:
        first = report.truncated[0]
        result.append(
            f"{len(report.truncated)} {shape.unit} were truncated: {shape.of_truncated(plan)}; the first: "
            f"{shape.name(first)}: {first.truncated}"
        )
    if report.failed:
        first = report.failed[0]
        result.append(
            f"{len(report.failed)} {shape.unit} ended in an error and are {shape.left_out}; the first: "
            f"{shape.name(first)}: {in_words(first.error or {})}"
        )
    if report.trial is not None:
        result.append(verdict(report.trial, f"{shape.episode}s"))
    return result + [f"doubtful: {doubt}" for doubt in report.doubts]


def _forfeits(report: Report) -> list[str]:
    """Say how many were lost by forfeit, and of each agent why it first did, a line each where they are several."""
    firsts: dict[str, str] = {}
    for row in report.forfeited:
        told, loser = row.forfeit or {}, row.seats[row.last_asked or 0].agent
        firsts.setdefault(loser, f"{report.plan.format.name(row)}: {told['reason']}: {in_words(told)}")
    if not firsts:
        return []
    counted = "count as lost" if report.plan.scored else "have no return"
    lost = f"{len(report.forfeited)} {report.plan.format.unit} were lost by forfeit and {counted}; the first"
    several = [f"- {each}" for each in firsts.values()]
    return [f"{lost}: {firsts.popitem()[1]}"] if len(firsts) == 1 else [f"{lost} of each agent:", *several]


def outlook(plan: Plan, episodes: int, sprt: Sprt | None = None) -> str:
    """Say, before anything is played, what so many episodes can tell; nothing of agents that meet no other."""
    if sprt is None and not plan.format.rated:
        return ""
    games, unit = plan.format.games(plan), f"{plan.format.episode}s"
    assumed = "taking games to be independent and without ties"
    if sprt is not None:
        usual, worst = sprt.boards_expected(games)
        return (
            f"SPRT {sprt}: about {usual:,} {unit} where one of its Elo holds, {worst:,} half way between, {assumed}; "
            f"{episodes:,} at most"
        )
    beside = bool(plan.opponents) and len(plan.agents) > 1 + len(set(plan.opponents))
    telling = games / 2 if beside else games  # a difference of two who do not meet has twice the variance
    least, one = difference_found(episodes, telling), episodes == 1
    found = f"{'finds' if one else 'find'} a difference of {least:.0f} Elo {POWER:.0%} of the time"
    found = found if isfinite(least) else f"{'is' if one else 'are'} too few to find any difference"
    these = plan.format.episode if one else unit
    return f"{episodes:,} {these} {found}, and 20 Elo take {boards_needed(20, telling):,}, {assumed}"


def verdict(trial: Trial, unit: str = "boards") -> str:
    """Say where a sequential test stands."""
    test, low, high = trial.sprt, *trial.sprt.bounds
    how = "undecided"
    if trial.verdict is not None:
        nearer, other = (test.elo1, test.elo0) if trial.verdict == "H1" else (test.elo0, test.elo1)
        how = (
            f"{trial.verdict}: {trial.agent} against {trial.reference} is nearer to {nearer:+g} Elo than to {other:+g}"
            "; what else is estimated is somewhat exaggerated, since the test stops at extremes"
        )
    return f"SPRT {test}: LLR {trial.llr:.2f} of ({low:.2f}, {high:.2f}) after {trial.counted} {unit}, {how}"


def budget(plan: Plan) -> str:
    """Say who got the budget of the plan; agents that take none, or have one of their own, did not."""
    takers = dict.fromkeys(spec.label for spec in plan.agents if plan.budget.items() <= spec.settings.items())
    if not plan.budget:
        return "each agent's own budget"
    budget = " ".join(f"{name}={value}" for name, value in plan.budget.items())
    return f"budget {budget} for {', '.join(takers)}" if takers else f"no agent here takes the budget {budget}"
