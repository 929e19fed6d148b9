"""A report as a picture."""

import os
from pathlib import Path
from typing import Any, NamedTuple

from agents.arena.many_table import ranked_sides
from agents.arena.pairs_table import ranked
from agents.arena.report import Report
from agents.arena.statistics import LEVEL, Estimate
from mcts_envs.core import errors


def require_drawable(file: Path) -> None:
    """Check, before anything is played, that :func:`plot` can draw to a file.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If matplotlib does not know the format.
    OSError
        If the file cannot be written.
    """
    known = _figure().canvas.get_supported_filetypes()
    if file.suffix.lower().removeprefix(".") not in known:
        raise ValueError(f"picture {file}: {errors.unknown('format', file.suffix, [f'.{name}' for name in known])}")
    folder = next(parent for parent in file.absolute().parents if parent.exists())
    if not (folder.is_dir() and os.access(file if file.exists() else folder, os.W_OK)) or file.is_dir():
        raise OSError(f"picture {file} cannot be written; give a file in a folder of yours")


def plot(report: Report, file: Path) -> None:
    """Draw win rates with their intervals, a row for each agent; the name of the file says the format (``.png``).

    In games for two it is points, best first; in games for more a row for each side, best first.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If matplotlib does not know the format.
    """
    shown = [row for row in _rows(report) if row.games]
    figure = _figure(figsize=(7.0, 1.3 + 0.45 * len(shown)), layout="constrained")
    axes = figure.add_subplot()
    for row, (_, _, (value, low, high)) in enumerate(shown):
        axes.errorbar(
            value, row, xerr=[[value - low], [high - value]], fmt="o", color="#1f5f8b", capsize=4, elinewidth=2, ms=7
        )
        axes.annotate(f"{value:.1%}", (value, row), (0, 8), textcoords="offset points", ha="center", fontsize=9)
    axes.set_yticks(range(len(shown)), [row.name for row in shown])
    axes.set_ylim(len(shown) - 0.5, -0.6)
    axes.set_xlim(-0.02, 1.02)
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.grid(axis="x", color="0.88")
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    fewest = min((row.games for row in shown), default=0)
    what, unit = "points" if report.plan.seats == 2 else "win rate", "games" if report.plan.seats > 1 else "episodes"
    axes.set_xlabel(f"{what} with {LEVEL:.0%} interval, at least {fewest} {unit} each")
    axes.set_title(report.plan.id, loc="left", fontsize=11)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=150)


class _Row(NamedTuple):
    name: str
    games: int
    rate: Estimate


def _rows(report: Report) -> list[_Row]:
    if report.plan.seats > 2:
        return [_Row(s.name, s.games, s.wins) for _, s in ranked_sides(report)]
    found = ranked(report) if report.plan.seats == 2 else report.summaries
    return [_Row(s.agent, s.games, s.win_rate) for s in found]


def _figure(**settings: Any) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('a plot needs matplotlib: pip install "mcts-envs[plots]"') from error
    return Figure(**settings)
