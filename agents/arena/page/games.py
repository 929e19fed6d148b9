"""Games that are worth a look, the slow, the long, the short and those that ended in an error, and pages of them."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import TypeAlias
from urllib.parse import quote

from agents.arena.page.markup import Html, Part, joined, listing, section, tag
from agents.arena.replays import file_of
from agents.arena.report.cells import short_names
from agents.arena.report.report import Report
from agents.arena.rows import Key, Row
from mcts_envs.core.writing import write_whole
from mcts_envs.replay import Replay

Links: TypeAlias = Mapping[Key, str]
"""Addresses of pages of games, by the keys of their rows."""

_SLOWEST, _LONGEST, _FIRST, _FAILED = 6, 3, 4, 20
"""How many games are named for a reason."""
_MANY = 6
"""How many games of one error."""


def notable_games(report: Report, links: Links) -> Html | None:
    """Return the games to look at, each with the reason."""
    reasons = _notable(report)
    if not reasons:
        return None
    rows = [
        (_who(report, row), str(row.episode), ", ".join(why), *_figures(row), _link(row, links, "watch"))
        for row, why in reasons
    ]
    heads = ("game", report.plan.format.episode, "why", "result", "moves", "thinking", "slowest move", "")
    about = "" if links else "played with --replays, games can be watched from here"
    return section("Games to look at", listing(heads, rows, text=(0, 2)), about=about)


def failed_games(report: Report, links: Links) -> Html | None:
    """Return the games that were lost by forfeit or ended in an error, with what is known of it."""
    ended = [*report.forfeited, *report.truncated, *report.failed]
    if not ended:
        return None
    alike: dict[tuple[str, ...], list[Row]] = {}
    for row in ended:
        error = row.fault or {"type": "episode limit", "message": row.truncated or ""}
        what = f"lost by {error['reason']}" if row.forfeit else "error" if row.error else "truncated"
        asked = "" if row.last_asked is None else row.seats[row.last_asked].agent
        alike.setdefault((asked, what, error.get("type", ""), error.get("message", "")), []).append(row)
    short, rows = short_names(s.agent for s in report.summaries), []
    for (asked, what, kind, message), games in alike.items():
        trace = (games[0].fault or {}).get("traceback", "")
        said = (
            tag("details", tag("summary", f"{kind}: {message}"), tag("pre", trace)) if trace else f"{kind}: {message}"
        )
        found = [part for row in games if row.key in links for part in (_link(row, links, _which(report, row)), " ")]
        rows.append((short.get(asked, asked), what, f"{len(games):,}", said, joined(found[: 2 * _MANY])))
    heads = ("to move", "came of it", "games", "said", "among them")
    about = (
        "those that are alike together; of an error that cannot be put down to an agent, none is named. A game "
        "that was lost by forfeit counts as lost, one that ended in an error does not count, and a truncated one is "
        f"{report.plan.format.of_truncated(report.plan)}"
    )
    return section("Games that ended otherwise than by the rules", listing(heads, rows, text=(0, 1, 3, 4)), about=about)


def linked(report: Report, folder: Path) -> dict[Key, str]:
    """Return addresses, as seen from a folder, of the games that the page names and that can be watched.

    Their pages are written beside their replays; those that are there already stay.

    Raises
    ------
    OSError
        If a page cannot be written.
    """
    links = {}
    for row in [row for row, _ in _notable(report)] + [*report.forfeited, *report.truncated, *report.failed][:_FAILED]:
        page = _page_of(report.folder, row)
        if page is not None:
            links[row.key] = _address(page, folder)
    return links


def _address(page: Path, folder: Path) -> str:
    """Return the address of a page as seen from a folder; in full where it is on another drive of Windows."""
    try:
        return quote(Path(os.path.relpath(page, folder)).as_posix())
    except ValueError:
        return page.resolve().as_uri()


def _page_of(folder: Path, row: Row) -> Path | None:
    """Return the page of a game, made of its replay; None without one."""
    from agents.watching import fitted, replayed  # Late: it plays by the arena.

    replay = file_of(folder, row.key)
    if row.replay is None or not replay.exists():
        return None
    page = replay.with_suffix(".html")
    if not page.exists():
        try:
            text = fitted(replayed(Replay.load(replay)))
        except ValueError:  # damaged since, or of a game that is not known here
            return None
        write_whole(page, text.encode())
    return page


def _notable(report: Report) -> list[tuple[Row, list[str]]]:
    """Return games with the reasons why they are named: a first one of each line-up, then by time and by length."""
    rows = [row for row in report.rows.values() if row.fault is None]
    first: dict[tuple[str, ...], Row] = {}
    for row in sorted(rows, key=lambda row: row.episode):
        first.setdefault(tuple(sorted(row.agents)), row)
    by_time, by_length = sorted(rows, key=_seconds, reverse=True), sorted(rows, key=_moves, reverse=True)
    named: list[tuple[str, Iterable[Row]]] = [
        ("first", list(first.values())[:_FIRST]),
        ("slow", by_time[:_SLOWEST]),
        ("a slow move", sorted(rows, key=_slowest, reverse=True)[:_LONGEST]),
        ("long", by_length[:_LONGEST]),
        ("short", by_length[::-1][:_LONGEST]),
    ]
    found: dict[Key, tuple[Row, list[str]]] = {}
    for why, games in named:
        for row in games:
            found.setdefault(row.key, (row, []))[1].append(why)
    return list(found.values())


def _figures(row: Row) -> tuple[str, str, str, str]:
    """Return result, moves, thinking and its slowest move."""
    known = [seat.outcome for seat in row.seats if seat.outcome is not None]
    result = " – ".join(f"{each:.3g}" for each in known) or f"{fmean(seat.episode_return for seat in row.seats):.4g}"
    return result, str(_moves(row)), clock(_seconds(row)), clock(_slowest(row))


def clock(seconds: float) -> str:
    """Write a time in the unit that fits it."""
    least = 0.0
    for unit, size, most in (("ms", 1e-3, 1000.0), ("s", 1.0, 60.0), ("min", 60.0, 60.0)):
        if (rounded := float(f"{seconds / size:.3g}")) < most:
            return f"{max(rounded, least):g} {unit}"
        least = 1.0
    return f"{max(seconds / 3600.0, least):.3g} h"


def _who(report: Report, row: Row) -> str:
    short = short_names(s.agent for s in report.summaries)
    return " – ".join(short.get(label, label) for label in row.agents)


def _which(report: Report, row: Row) -> str:
    return f"{report.plan.format.episode} {row.episode}"


def _seconds(row: Row) -> float:
    return sum(seat.seconds for seat in row.seats)


def _slowest(row: Row) -> float:
    return max(seat.slowest for seat in row.seats)


def _moves(row: Row) -> int:
    return sum(seat.length for seat in row.seats)


def _link(row: Row, links: Links, said: str) -> Part:
    return tag("a", said, href=links[row.key]) if row.key in links else ""
