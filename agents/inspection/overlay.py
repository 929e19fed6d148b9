"""A position with what a search thinks drawn on it, for papers and slides."""

from typing import Any

from agents.inspection.drawing import counted, cut, decimals_of, written
from agents.inspection.ranking import listed
from agents.inspection.showing import search_data, searched
from mcts_envs.core import errors
from mcts_envs.core.render import Canvas, mix, on
from mcts_envs.core.showing import picture_of
from mcts_envs.page import header

_Data = dict[str, Any]
_INK, _QUIET, _PAPER, _TRACK = "#1c1e23", "#636873", "#ffffff", "#eceae4"
_ROW, _PANEL, _LETTERS = 0.5, 6.4, 18


def picture(result: Any, env: Any = None, *, actions: int = 8, line: int = 5, panel: bool = True) -> Canvas:
    """Return a position with visits, values and principal variation of a search on it.

    Places are tinted by their share of the visits, and numbered in the order of the principal variation; beside the
    board are the most visited actions. ``to_svg()`` and ``to_rgb(cell)`` make SVG and pixels of it, of one size for all
    tree searches of a state.

    Parameters
    ----------
    result : SearchResult or another result of a planner
        What ``agent.search(env)`` returned.
    env : environment, optional
        In the state that was searched from, where the result does not hold that.
    actions : int
        List at most so many.
    line : int
        Number at most so many steps of the principal variation; 0: none.
    panel : bool
        Whether actions are listed beside the board.

    Raises
    ------
    TypeError
        If this is no result, but for example an environment, an agent, or a search under way.
    ValueError
        If neither the result holds a state nor an environment is given, or the game has no picture.
    """
    actions, line = errors.integer("actions", actions, 1, 12), errors.integer("line", line, 0, 8)
    view = searched(result, env, "picture")
    if view.game.picture is None:
        raise ValueError(
            f"{view.game.name} has no picture to draw on: that is a function of a Game, which environments of others "
            "have not; agents.show(result) shows actions and tree without"
        )
    board, data = picture_of(view.game, view.state), search_data(result, view)
    colours = [player["colour"] for player in header(view.game, "")["players"]]
    rows = data.get("actions", [])
    listed = min(actions, max(len(rows), len(view.legal_actions())))  # as many for every search of a state
    height = max(board.height, 1.3 + _ROW * (listed + 1) + 0.6) if panel and rows else board.height
    canvas = Canvas(board.width + (_PANEL if panel and rows else 0), height, _PAPER)
    inner = canvas.at(0, (height - board.height) / 2)
    inner.draw(board)
    _draw_heat(inner, data, colours[view.player])
    _draw_line(inner, data.get("line", [])[:line], colours)
    if panel and rows:
        _draw_panel(canvas.at(board.width + 0.3, 0), data, actions, colours[view.player])
    return canvas


def _draw_heat(board: Canvas, data: _Data, colour: str) -> None:
    """Tint the places of actions by their visits, added up where several have one place."""
    placed = [(*cell["place"], cell["visits"]) for cell in data.get("heat", [])]
    total, most = _visits(data), max((visits for *_, visits in placed), default=1)
    best = next((row["place"] for row in data.get("actions", []) if row["action"] == data["action"]), None)
    for x, y, width, height, visits in placed:
        board.rectangle(x, y, width, height, colour, radius=0.1, opacity=0.08 + 0.36 * visits / most)
        if [x, y, width, height] == best:
            board.rectangle(x, y, width, height, outline=colour, radius=0.1, stroke=0.07)
        if min(width, height) >= 0.6 and visits >= 0.005 * total:
            label, middle, low = f"{visits / total:.0%}", x + width / 2, y + height / 2 + 0.22
            half = Canvas(1, 1).text(0, 0, label, _INK, 0.25) / 2 + 0.06
            board.rectangle(middle - half, low - 0.16, 2 * half, 0.32, _PAPER, radius=0.1, opacity=0.85)
            board.text(middle, low, label, _INK, 0.25, bold=True)


def _draw_line(board: Canvas, line: list[_Data], colours: list[str]) -> None:
    """Number the places of the principal variation."""
    there: dict[tuple[float, ...], int] = {}
    for number, step in enumerate(line, 1):
        if step["place"]:
            x, y, width, height = place = tuple(step["place"])
            before = there[place] = there.get(place, -1) + 1
            small, colour = min(width, height) < 0.6, colours[step["player"]]
            cx = (x + width / 2 if small else x + width - 0.21) - 0.3 * before
            cy = y + height / 2 if small else y + 0.21
            board.ellipse(cx, cy, 0.19, fill=colour, outline=_PAPER, stroke=0.035)
            board.text(cx, cy, str(number), on(colour), 0.22, bold=True)


def _draw_panel(place: Canvas, data: _Data, shown: int, colour: str) -> None:
    """List actions with bars of their visits, and their values."""
    kept = listed([row["action"] for row in data["actions"]], data["action"], shown)
    rows, total = [row for row in data["actions"] if row["action"] in kept], _visits(data)
    counts = any("visits" in row for row in rows)
    decimals = min(decimals_of(row["value"] for row in rows if row["value"] is not None), 4)
    right, bar = _PANEL - 0.6, 1.3
    spent = counted(data["simulations"], "simulation") if data.get("simulations") else ""
    place.text(0.2, 0.55, spent, _QUIET, 0.26, anchor="start")
    place.text(right, 0.55, "value", _QUIET, 0.26, anchor="end")
    most = max((row.get("visits", 0) for row in rows), default=1) or 1
    for number, row in enumerate(rows):
        y, chosen = 1.1 + _ROW * number, row["action"] == data["action"]
        if chosen:
            place.polygon([(0, y - 0.1), (0.13, y), (0, y + 0.1)], colour)
        place.text(0.2, y, cut(row["name"], _LETTERS), _INK, 0.27, anchor="start")
        if counts:
            left = 2.55
            place.rectangle(left, y - 0.13, bar, 0.26, _TRACK, radius=0.06)
            width = max(bar * row["visits"] / most, 0.03)
            place.rectangle(left, y - 0.13, width, 0.26, colour if chosen else mix(colour, _PAPER, 0.4), radius=0.06)
            place.text(4.8, y, f"{row['visits'] / total:.1%}", _INK, 0.25, anchor="end")
        place.text(right, y, written(row["value"], decimals), _INK, 0.25, anchor="end")
    left_out = len(data["actions"]) - len(rows) + data.get("omitted", {}).get("actions", 0)
    if left_out:
        place.text(0.2, 1.1 + _ROW * len(rows), f"{left_out} more", _QUIET, 0.26, anchor="start")


def _visits(data: _Data) -> int:
    """Return the visits of all actions."""
    return sum(row.get("visits", 0) for row in data.get("actions", [])) + data.get("omitted", {}).get("visits", 0) or 1
