"""A report as a picture."""

from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

from agents.arena.cells import cost, short_names
from agents.arena.many_table import ranked_sides
from agents.arena.pairs_table import ranked
from agents.arena.report import Report
from agents.arena.statistics import LEVEL, Estimate
from agents.arena.table import budget
from mcts_envs.core import errors

_NAME, _LINE = 24, 95
"""Characters of a name, and of a line as wide as the picture."""


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
    errors.writable("picture", file)


def plot(report: Report, file: Path) -> None:
    """Write :func:`drawing` to a file, whose name says the format (``.png``).

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    ValueError
        If matplotlib does not know the format.
    """
    figure = drawing(report)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=150)


def drawing(report: Report) -> Any:
    """Draw win rates with their intervals, as a figure of matplotlib, a row for each agent.

    In games for two it is points, best first; in games for more a row for each side, best first; returns
    of environments that do not say who has won. Below stands who
    played whom and with which budget, beside each agent how long a move took it.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    scored = report.plan.discount is not None
    shown = [row for row in _rows(report) if row.games]
    notes = [line for note in _notes(report, shown) for line in wrap(note, _LINE)]
    figure = _figure(figsize=(7.0, 1.0 + 0.5 * len(shown) + 0.17 * len(notes)), layout="constrained")
    axes = figure.add_subplot()
    for row, (_, _, (value, low, high)) in enumerate(shown):
        axes.errorbar(
            value, row, xerr=[[value - low], [high - value]], fmt="o", color="#1f5f8b", capsize=4, elinewidth=2, ms=7
        )
        axes.annotate(
            f"{value:.1%}" if scored else f"{value:.3g}",
            (value, row),
            (0, 8),
            textcoords="offset points",
            ha="center",
            fontsize=9,
        )
    axes.set_yticks(range(len(shown)), [row.name for row in shown], fontsize=9)
    axes.set_ylim(len(shown) - 0.5, -0.6)
    if scored:
        axes.set_xlim(-0.02, 1.02)
        axes.xaxis.set_major_formatter("{x:.0%}")
    axes.grid(axis="x", color="0.88")
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    title = report.plan.id + "".join(f", {name}={value}" for name, value in report.plan.settings.items())
    figure.suptitle("\n".join(wrap(title, _LINE)), x=0.01, ha="left", fontsize=10)
    figure.supxlabel("\n".join(notes), x=0.01, ha="left", fontsize=8.5)
    return figure


class _Row(NamedTuple):
    name: str
    games: int
    rate: Estimate


def _rows(report: Report) -> list[_Row]:
    """Return what is drawn, each agent with the time that a move takes it."""
    short = short_names((s.agent for s in report.summaries), _NAME)
    names = {s.agent: f"{short[s.agent]}\n{cost(s)[0]} ms a move" for s in report.summaries}
    if report.plan.seats > 2:
        return [_Row(names.get(s.name, s.name), s.games, s.wins) for _, s in ranked_sides(report)]
    found = ranked(report) if report.plan.seats == 2 else report.summaries
    scored = report.plan.discount is not None
    return [_Row(names[s.agent], s.games, s.win_rate if scored else s.mean_return) for s in found]


def _notes(report: Report, shown: list[_Row]) -> list[str]:
    """Say what is drawn, who played whom, and with which budget."""
    fewest = min((row.games for row in shown), default=0)
    rate = "return" if report.plan.discount is None else "win rate"
    what, unit = "points" if report.plan.seats == 2 else rate, "games" if report.plan.seats > 1 else "episodes"
    opponents = f"; all against {', '.join(report.plan.opponents)}" if report.plan.against else ""
    return [f"{what} with {LEVEL:.0%} interval, at least {fewest} {unit} each{opponents}", budget(report.plan)]


def _figure(**settings: Any) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('a plot needs matplotlib: pip install "mcts-envs[plots]"') from error
    return Figure(**settings)
