"""A report as a picture."""

import io
from pathlib import Path
from textwrap import wrap
from typing import Any

from agents.arena.formats import Mark
from agents.arena.report.cells import cost, short_names
from agents.arena.report.report import Report
from agents.arena.report.table import budget
from agents.arena.statistics.estimates import LEVEL
from mcts_envs.core import errors
from mcts_envs.core.writing import write_whole

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
    figure.savefig(picture := io.BytesIO(), format=file.suffix.lower().removeprefix("."), dpi=150)
    write_whole(file, picture.getvalue())


def drawing(report: Report) -> Any:
    """Draw a figure with its interval for each agent, or each side of a game for more than two, by matplotlib.

    It is what the format of the comparison draws: win rates, points, or returns of environments that do not say who has
    won. Below stands who played whom and with which budget, beside each agent how long a move took it.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    scored, shown = report.plan.scored, _marks(report)
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
    axes.set_yticks(range(len(shown)), [mark.name for mark in shown], fontsize=9)
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


def _marks(report: Report) -> list[Mark]:
    """Return what is drawn, each agent with the time that a move takes it."""
    short = short_names((s.agent for s in report.summaries), _NAME)
    names = {s.agent: f"{short[s.agent]}\n{cost(s)[0]} ms a move" for s in report.summaries}
    return [mark for mark in report.plan.format.marks(report, names) if mark.games]


def _notes(report: Report, shown: list[Mark]) -> list[str]:
    """Say what is drawn, who played whom, and with which budget."""
    plan, fewest = report.plan, min((mark.games for mark in shown), default=0)
    what, unit = plan.format.quantity(plan), plan.format.unit
    opponents = f"; all against {', '.join(plan.opponents)}" if plan.against else ""
    return [f"{what} with {LEVEL:.0%} interval, at least {fewest} {unit} each{opponents}", budget(plan)]


def _figure(**settings: Any) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('a plot needs matplotlib: pip install "mcts-envs[plots]"') from error
    return Figure(**settings)
