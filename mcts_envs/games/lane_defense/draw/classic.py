"""Picture and text of the classic game."""

from mcts_envs.core.kernel import record
from mcts_envs.core.render import Canvas, Place, ansi
from mcts_envs.core.typing import Bytes
from mcts_envs.games.lane_defense.draw import lawn
from mcts_envs.games.lane_defense.rules.classic import (
    LOST,
    NORMAL,
    ONGOING,
    OUT_OF_TIME,
    PLANT,
    STATE,
    STRONG,
    WEAKENED,
    WON,
    board,
)

_HEADER, _LINE = 1.0, 0.5
_RESULTS = {WON: "WON", LOST: "LOST", OUT_OF_TIME: "TIME UP"}
_SYMBOLS = {PLANT: ("P", "green"), NORMAL: ("z", "magenta"), STRONG: ("S", "red"), WEAKENED: ("s", "yellow")}
_LEGEND = {PLANT: "plant", NORMAL: "normal zombie", STRONG: "strong zombie", WEAKENED: "weakened strong zombie"}


def picture(state: Bytes) -> Canvas:
    """Draw a state: the house at the left; above the lawn the steps of the night and whether a plant is at hand."""
    s = record(state, STATE)
    rows, columns, end = int(s.rows), int(s.columns), int(s.end)
    dawn = min(int(s.t) / max(int(s.night), 1), 1.0)
    canvas, ground = lawn.scene(rows, columns, _HEADER, _LINE, dawn, end != LOST)
    cells = board(state)
    for lane in range(rows):
        for column in range(columns):
            _draw_occupant(ground.at(column, lane), int(cells[lane, column]))
    _draw_clock(canvas, int(s.t), int(s.night), dawn)
    corner = canvas.at(canvas.width - 1.72, 0.14)
    if end != ONGOING:
        lawn.result_badge(corner, _RESULTS[end])
    elif s.can_plant:
        lawn.badge(corner, "plant", "#f4ffe6", "#5fae45", lawn.shooter)
    else:
        lawn.badge(corner, "wait", "#c9c6d3", "#8f8a9e", lambda icon: lawn.shooter(icon, "#aaa7b6", "#8f8a9e"))
    return canvas


def where(state: Bytes, player: int, action: int) -> Place | None:
    """Return the cell in which an action plants; None where it waits."""
    s = record(state, STATE)
    lane, column = divmod(action, int(s.columns))
    return (lawn.HOUSE + column, _HEADER + lane, 1.0, 1.0) if lane < s.rows else None


def text(state: Bytes) -> str:
    """Write a state for a terminal: a status line, the board with the house at the left, a legend."""
    s = record(state, STATE)
    result = _RESULTS[int(s.end)] if s.end != ONGOING else "may plant" if s.can_plant else "no plant now"
    clock = f"step {s.t} of {s.night}" if s.t <= s.night else f"step {s.t}, after the night of {s.night}"
    lines = [f"{clock}: {result}", "    " + " ".join(f"{i % 10}" for i in range(int(s.columns)))]
    for lane, cells in enumerate(board(state)):
        marks = [ansi(*_SYMBOLS[int(cell)], bold=True) if cell else "." for cell in cells]
        lines.append(f"{lane:2} |" + " ".join(marks) + "|")
    legend = ", ".join(f"{ansi(*_SYMBOLS[kind], bold=True)} {name}" for kind, name in _LEGEND.items())
    return "\n".join([*lines, legend])


def _draw_occupant(cell: Canvas, kind: int) -> None:
    if kind == PLANT:
        lawn.shooter(cell)
    elif kind == NORMAL:
        lawn.zombie(cell)
        lawn.pips(cell, 1, 1)
    elif kind in (STRONG, WEAKENED):
        lawn.zombie(cell, "#c97a63", lawn.bucket if kind == STRONG else lawn.torn_bucket)
        lawn.pips(cell, 2 if kind == STRONG else 1, 2)


def _draw_clock(canvas: Canvas, t: int, night: int, dawn: float) -> None:
    """Draw the steps of the night as the way of the moon to sunrise."""
    ink = lawn.sky_ink(dawn)
    canvas.text(0.2, _LINE, lawn.clock(t, night), ink, 0.38, anchor="start", bold=True)
    left, right, y = 1.9, canvas.width - 2.15, _LINE
    x = left + (right - left) * dawn
    canvas.line([(left, y), (right, y)], ink, 0.05, opacity=0.35)
    canvas.line([(left, y), (x, y)], "#ffe9a8", 0.06)
    lawn.sun(canvas, right, y, 0.15)
    if dawn < 1:
        canvas.ellipse(x, y, 0.19, fill="#fdf3cf", outline="#d9cb97", stroke=0.02)
        canvas.ellipse(x - 0.05, y - 0.05, 0.045, fill="#e8dcae")
        canvas.ellipse(x + 0.07, y + 0.06, 0.03, fill="#e8dcae")
