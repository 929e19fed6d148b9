"""What a search found as a table of actions, as text and as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.inspection.drawing import counted, decimals_of, written
from mcts_envs.core.contract import Game
from mcts_envs.core.showing import name_of
from mcts_envs.core.typing import Floats, Ints

if TYPE_CHECKING:
    from agents.results import SearchResult

WIDTH = 80
"""Characters of a line at most."""


@dataclass(frozen=True)
class Ranking:
    """Actions, a line each; a ``>`` marks the recommended one.

    Attributes
    ----------
    headings : list of str
    rows : list of list of str
        Name, and figures.
    rest : str
        What is left out; empty if nothing is.
    """

    headings: list[str]
    rows: list[list[str]]
    rest: str

    def to_text(self) -> str:
        """Return aligned lines of up to 80 characters; long names are cut."""
        first, *others = [max(map(len, column)) for column in zip(self.headings, *self.rows, strict=True)]
        first = min(first, WIDTH - sum(2 + width for width in others))
        lines = []
        for name, *figures in (self.headings, *self.rows):
            label = name if len(name) <= first else name[: first - 1] + "…"
            lines.append("  ".join([label.ljust(first), *map(str.rjust, figures, others)]))
        return "\n".join([*lines, self.rest] if self.rest else lines)

    def to_html(self, caption: str) -> str:
        """Return a table with a caption."""
        rows = [[escape(cell) for cell in row] for row in self.rows]
        lines = [f"<tr><th>{'</th><th>'.join(self.headings)}</th></tr>"]
        lines += [f"<tr><td>{'</td><td>'.join(row)}</td></tr>" for row in rows]
        lines += [f'<tr><td colspan="{len(self.headings)}">{self.rest}</td></tr>'] if self.rest else []
        return "\n".join(["<table>", f"<caption>{escape(caption)}</caption>", *lines, "</table>"])


def ranked(visits: Ints, values: Floats) -> Ints:
    """Return the actions that were tried, by visits (of equals, the greater value, then the lower action)."""
    tried = np.flatnonzero(visits)
    order: Ints = tried[np.lexsort((tried, -values[tried], -visits[tried]))]
    return order


def listed(order: Sequence[Any], action: Any, top: int) -> list[Any]:
    """Return the first ``top`` of ranked actions; the last of them is the recommended one if that is not among them."""
    shown = [*order[:top]]
    return shown if action in shown or action not in order else [*shown[:-1], action]


def ranking(result: "SearchResult", top: int) -> Ranking:
    """Rank the actions of a search (:func:`ranked`), up to ``top``, the recommended one among them.

    Figures are visits, their share of all, mean return, and the prior where the search had one.
    """
    visits, values, prior = result.visits, result.values, result.prior
    order = ranked(visits, values)
    shown = listed(order.tolist(), result.action, top)
    left = [action for action in order.tolist() if action not in shown]
    decimals = decimals_of(values[order].tolist())
    rows, player = [], 0 if result.view is None else result.view.player
    for action in shown:
        name = f"{'>' if action == result.action else ' '} {name_of(result.tree.game, action, player)}"
        share = f"{visits[action] / visits.sum():.1%}"
        row = [name, str(visits[action]), share, written(float(values[action]), decimals)]
        rows.append(row if prior is None else [*row, f"{prior[action]:.3f}"])
    rest = f"  ... {len(left)} more with {counted(int(visits[left].sum()), 'visit')}" if len(left) else ""
    headings = ["  action", "visits", "share", "value", "prior"]
    return Ranking(headings if prior is not None else headings[:-1], rows, rest)


def best_line(game: Game, line: Sequence[int], value: float, top: int, player: int = 0) -> Ranking:
    """List up to ``top`` actions of a line of play, the first of which is recommended and has the value.

    It is that of a player, or of two who take turns, who chooses first.
    """
    turns = player, 1 - player if game.players == 2 else player
    names = [name_of(game, action, turns[ply % 2]) for ply, action in enumerate(line[:top])]
    rows = [[f"  {name}", str(ply), ""] for ply, name in enumerate(names, 1)]
    rows[0] = [f"> {names[0]}", "1", f"{value:.4g}"]
    left = len(line) - len(rows)
    return Ranking(["  action", "ply", "value"], rows, f"  ... {left} more" if left else "")
