"""The whole page: what was compared and how, who did how well, and which games are worth a look."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import floor, isfinite, isnan, log10
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.table import Table

from agents.arena.formats import Mark
from agents.arena.page.charts import Axis, Line, Point, Spread, intervals, spreads, strength
from agents.arena.page.games import Links, clock, failed_games, linked, notable_games
from agents.arena.page.markup import Html, Part, breakable, listing, section, table_html, tag
from agents.arena.replays import REPLAYS
from agents.arena.report.cells import elo, percent, plain, short_names
from agents.arena.report.conclusion import conclusion
from agents.arena.report.figures import Summary
from agents.arena.report.report import Report
from agents.arena.report.table import budget, remarks
from agents.arena.rows import Seat
from agents.arena.statistics.estimates import LEVEL, Estimate
from agents.arena.storage import read_header
from agents.spec import AgentSpec
from mcts_envs.core.shell import quoted
from mcts_envs.core.writing import write_whole

_PERCENTILES = (5, 25, 50, 75, 95)
_BUDGETS = ("simulations", "time_limit", "max_steps")
_NAME = 20
"""Characters of a name beside a chart."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def write_page(report: Report, file: Path, command: str = "") -> None:
    """Write a report as a page, and where replays are kept a page of each game that it names, beside its replay.

    Parameters
    ----------
    report : Report
    file : Path
        The page, whole or not at all.
    command : str
        What plays the same comparison again.

    Raises
    ------
    OSError
        If a page cannot be written.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, page(report, linked(report, file.parent), command).encode(errors="replace"))


def page(report: Report, links: Links | None = None, command: str = "") -> str:
    """Return a report as a page.

    Parameters
    ----------
    report : Report
    links : mapping, optional
        Addresses of games that can be watched, by the keys of their rows.
    command : str
        What plays the same comparison again.
    """
    style = Html(Path(__file__).with_name("page.css").read_text(encoding="utf-8"))
    title = _title(report)
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("title", title),
        tag("style", style),
    )
    parts = (
        _header(report),
        _standing(report),
        _ratings(report),
        _crosstable(report),
        _strength(report),
        _lengths(report),
        _clocks(report),
    )
    rest = (notable_games(report, links or {}), failed_games(report, links or {}), _made(report, command))
    return f"<!doctype html>\n{tag('html', head, tag('body', tag('main', *parts, *rest)), lang='en')}\n"


def _title(report: Report) -> str:
    return report.plan.id.removeprefix("mcts_envs/") + "".join(f", {k}={v}" for k, v in report.plan.settings.items())


def _header(report: Report) -> Html:
    """Return the title, and what one wants to know first."""
    shape, seats = report.plan.format, [seat for row in report.rows.values() for seat in row.seats]
    played = len(report.rows)
    best = max((m for m in _marks(report) if isfinite(m.figure.value)), key=lambda m: m.figure.value, default=None)
    tiles = [
        (
            f"{played:,}",
            f"of {played + report.missing:,} {shape.unit} played" if report.missing else f"{shape.unit} played",
        ),
        (f"{len(report.forfeited):,}", "lost by forfeit"),
        (f"{len(report.failed):,}", "ended in an error"),
        (clock(sum(seat.seconds for seat in seats)), "of thinking"),
    ]
    if best is not None:
        figure = f"{100 * best.figure.value:.1f} %" if report.plan.scored else f"{best.figure.value:.4g}"
        tiles.insert(0, (figure, f"{shape.quantity(report.plan)} of {_short(report)[best.name]}, the highest"))
    state = None if report.finished else tag("p", "Unfinished: the same command goes on.", class_="warning")
    return tag(
        "header",
        tag("h1", _title(report)),
        tag("p", ", ".join(dict.fromkeys(spec.label for spec in report.plan.agents)), class_="quiet"),
        state,
        tag("p", found, class_="found") if (found := conclusion(report)) else None,
        tag("div", *(tag("p", tag("strong", large), tag("span", small)) for large, small in tiles), class_="tiles"),
    )


def _standing(report: Report) -> Html:
    """Return the figures that are drawn, and the tables of the terminal."""
    lines = [Line(_short(report)[mark.name], mark.figure, _said(report, mark.figure)) for mark in _marks(report)]
    known = [part for line in lines for part in line.figure if isfinite(part)]
    chart: Part = None
    if known:
        axis = Axis(min(known), max(known))
        chart = intervals(lines, axis, _form(report, axis))
    tables = [table_html(table) for table in report.plan.format.tables(report, box.MARKDOWN) if not _all_to_all(table)]
    notes = tag("ul", *(tag("li", remark) for remark in remarks(report)), class_="notes")
    what = f"{report.plan.format.quantity(report.plan)}, with {LEVEL:.0%} intervals"
    return section("Standing", chart, *tables, notes, about=what)


def _ratings(report: Report) -> Html | None:
    """Return how strong each agent is, in Elo."""
    rated = sorted((r for r in report.ratings if isfinite(r.elo.value)), key=lambda r: -r.elo.value)
    if len(rated) < 2:
        return None
    first = report.ratings[0].agent
    lines = [Line(_short(report)[r.agent], r.elo, "0" if r.agent == first else elo(r.elo).plain) for r in rated]
    known = [part for line in lines for part in line.figure if isfinite(part)]
    about = f"Elo more than {_short(report)[first]}, with {LEVEL:.0%} intervals over the boards"
    return section(
        "Ratings",
        intervals(lines, Axis(min(known), max(known)), lambda value: f"{value:+g}" if value else "0"),
        about=about,
    )


def _all_to_all(table: Table) -> bool:
    """Return whether a table is the one that :func:`_crosstable` shows in colours: a column for each place."""
    return [str(column.header) for column in table.columns][2:3] == ["1"]


def _crosstable(report: Report) -> Html | None:
    """Return the points of each agent against each other one; of a single pair there is no more to see."""
    if len(report.pairings) < 2:
        return None
    cells = {}
    for p in report.pairings:
        value, low, high = p.points
        cells[p.agent, p.opponent] = Estimate(value, low, high)
        cells[p.opponent, p.agent] = Estimate(1 - value, 1 - high, 1 - low)
    order, short = [mark.name for mark in _marks(report)], _short(report)
    heads = [tag("th"), *(tag("th", breakable(short[other])) for other in order)]
    rows = [
        tag("tr", tag("th", breakable(short[agent])), *(_met(cells.get((agent, other))) for other in order))
        for agent in order
    ]
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="cross")
    about = "points in percent of the row's agent against the column's; bold where the interval leaves no doubt"
    return section("All against all", tag("div", table, class_="wide"), about=about)


def _met(points: Estimate | None) -> Html:
    """Return a cell of the cross table, its colour by how far it is from a tie."""
    if points is None or isnan(points.value):
        return tag("td", class_="none")
    sure = points.low > 0.5 or points.high < 0.5
    kind = f"{'won' if points.value >= 0.5 else 'lost'}{' bold' if sure else ''}"
    interval = None if isnan(points.low) else tag("small", f"{100 * points.low:.0f} – {100 * points.high:.0f}")
    depth = f"--depth:{abs(200 * points.value - 100):.0f}%"
    return tag("td", f"{100 * points.value:.1f}", interval, class_=kind, style=depth)


def _strength(report: Report) -> Html | None:
    """Return strength against time, of agents that differ by their budget alone."""
    groups: dict[str, list[AgentSpec]] = {}
    for spec in dict.fromkeys(report.plan.agents):
        settings = {name: value for name, value in spec.settings.items() if name not in _BUDGETS}
        written = ":".join([spec.name, *(f"{name}={value}" for name, value in settings.items())])
        groups.setdefault(written, []).append(spec)
    shown = {name: specs for name, specs in groups.items() if len(set(map(_budget, specs))) > 1}
    figures = {mark.name: mark.figure for mark in _marks(report)}
    costs = {s.agent: s for s in report.summaries}
    points = [
        Point(number, costs[spec.label].milliseconds, figures[spec.label], _budget(spec))
        for number, specs in enumerate(shown.values())
        for spec in specs
        if _measured(costs[spec.label]) and isfinite(figures.get(spec.label, Estimate(np.nan, 0, 0)).value)
    ]
    if len(points) < 2:
        return None
    known = [part for point in points for part in point.figure if isfinite(part)]
    axis = Axis(min(known), max(known))
    what = f"{report.plan.format.quantity(report.plan)} by the time of a move"
    about = f"{what}, of agents that differ by budget alone{_unit(points)}"
    return section("Strength against time", strength(points, [*shown], axis, _form(report, axis)), about=about)


def _unit(points: Sequence[Point]) -> str:
    """Say what the numbers at the points are, unless they say it themselves."""
    return "; numbers: simulations" if any(point.said.isdecimal() for point in points) else ""


def _measured(summary: Summary) -> bool:
    return isfinite(summary.milliseconds) and summary.milliseconds > 0


def _budget(spec: AgentSpec) -> str:
    said = {"simulations": "{:g}", "time_limit": "{:g} s", "max_steps": "{:g} steps"}
    given = [form.format(spec.settings[name]) for name, form in said.items() if name in spec.settings]
    return ", ".join(given) or "its own"


def _lengths(report: Report) -> Html | None:
    """Return how long each agent's games were, in its own moves."""
    moves: dict[str, list[int]] = {}
    for row in report.rows.values():
        for seat in row.seats if row.fault is None else ():
            moves.setdefault(seat.agent, []).append(seat.length)
    if not moves:
        return None
    lines = []
    for label in (spec.label for spec in dict.fromkeys(report.plan.agents) if spec.label in moves):
        percentiles = [float(each) for each in np.percentile(moves[label], _PERCENTILES)]
        lines.append(
            Spread(
                _short(report)[label], percentiles, f"{percentiles[2]:g} ({min(moves[label])} – {max(moves[label])})"
            )
        )
    axis = Axis(min(line.percentiles[0] for line in lines), max(line.percentiles[-1] for line in lines))
    about = "an agent's moves in a game: the middle half, 5 % to 95 %; in words the median, the least and the most"
    return section("Lengths", spreads(lines, axis, "{:g}".format), about=about)


def _clocks(report: Report) -> Html | None:
    """Return how long the moves of each agent took."""
    seats: dict[str, list[Seat]] = {spec.label: [] for spec in report.plan.agents}
    for row in report.rows.values():
        for seat in row.seats:
            if seat.decisions:
                seats[seat.agent].append(seat)
    if not any(seats.values()):
        return None
    rows = [
        (
            _short(report)[label],
            f"{sum(seat.decisions for seat in mine):,}",
            clock(sum(seat.seconds for seat in mine) / sum(seat.decisions for seat in mine)),
            clock(max(seat.p99 for seat in mine)),
            clock(max(seat.slowest for seat in mine)),
            f"{sum(seat.overruns for seat in mine):,}",
        )
        for label, mine in seats.items()
        if mine
    ]
    heads = ("agent", "moves", "mean", "p99", "slowest", "overruns")
    about = "moves where there was a choice; p99 of the game in which it was largest; overruns of an agent's time limit"
    return section("Clocks", listing(heads, rows), about=about)


def _made(report: Report, command: str) -> Html:
    """Return all that the figures depend on."""
    plan, header = report.plan, read_header(report.folder)
    configuration, around = header["configuration"], header.get("circumstances", {})
    files = configuration.get("files") or {}
    machines = [row.played_on for row in report.rows.values() if row.played_on]
    facts: list[tuple[str, Part]] = [
        ("environment", plan.id),
        ("settings", _pairs(plan.settings) or "the environment's own"),
        ("seeds", f"all randomness from {plan.seed}; episodes 0 to {report.episodes - 1}"),
        ("budget", budget(plan)),
        ("played", plan.format.played(report)),
        ("processes", str(report.workers)),
        ("played on", "; ".join(dict.fromkeys(machines)) or _pairs({"system": around.get("system", "")})),
        ("mcts-envs", f"{configuration.get('version', '')}, code {configuration.get('code', '')}"),
        ("files", "; ".join(f"{label}: {_pairs(digests)}" for label, digests in files.items())),
        ("results", str(report.folder)),
        ("written", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
    ]
    said = [part for name, value in facts if value for part in (tag("dt", name), tag("dd", value))]
    agents = [(spec.label, spec.name, _pairs(spec.settings)) for spec in dict.fromkeys(plan.agents)]
    kept = sum(row.replay is not None for row in report.rows.values())
    folder = quoted(str(report.folder / REPLAYS))
    watch = f"mcts-envs watch {folder}/….json shows any of the {kept:,} replays." if kept else None
    return section(
        "How it was made",
        tag("pre", command) if command else None,
        tag("dl", *said),
        listing(("agent", "is", "with"), agents, text=(0, 1, 2)),
        tag("p", watch, class_="quiet") if watch else None,
    )


def _pairs(given: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in given.items() if value != "")


def _marks(report: Report) -> Sequence[Mark]:
    return report.plan.format.marks(report, {s.agent: s.agent for s in report.summaries})


def _short(report: Report) -> Mapping[str, str]:
    """Return how agents and sides are called beside charts."""
    labels = [*(spec.label for spec in report.plan.agents), *(s.agent for s in report.summaries)]
    return short_names([*labels, *(s.name for s in report.standings)], _NAME)


def _said(report: Report, figure: Estimate) -> str:
    text = percent(figure) if report.plan.scored else plain(figure)
    return text.plain.replace(" [", " % [") if report.plan.scored else text.plain


def _form(report: Report, axis: Axis) -> Any:
    """Return how numbers of an axis are written."""
    if not report.plan.scored:
        return "{:g}".format
    decimals = max(0, -floor(log10(100 * axis.step) + 1e-9))
    return lambda value: f"{100 * value:.{decimals}f}%"
