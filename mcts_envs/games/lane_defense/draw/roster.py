"""Picture and text of the roster game.

Plants and zombies are drawn by what they can do, not by their place in the roster, so that any roster has a picture.
"""

from collections.abc import Callable
from math import cos, pi, sin
from typing import Any

from mcts_envs.core.kernel import record
from mcts_envs.core.render import Canvas, Place, ansi, in_lines
from mcts_envs.core.typing import Bytes
from mcts_envs.games.lane_defense.draw import lawn
from mcts_envs.games.lane_defense.rules.roster.layout import (
    CELLS,
    HP,
    LOST,
    MARK,
    ONGOING,
    OUT_OF_TIME,
    PLANT,
    STATE,
    WON,
    ZOMBIE,
)
from mcts_envs.games.lane_defense.tables import Roster

_HEADER, _LINE = 1.25, 0.34
_CARD = 0.98
_RESULTS = {WON: "WON", LOST: "LOST", OUT_OF_TIME: "TIME UP"}
_COATS = ("#9a82c0", "#c97a63", "#5f9ea8", "#c9a24b", "#8796c9", "#b5708f")
_PLANTS = {
    "flower": ("F", "yellow"),
    "shooter": ("P", "green"),
    "torch": ("T", "red"),
    "lobber": ("L", "cyan"),
    "wall": ("W", "white"),
    "mine": ("m", "blue"),
}
_ZOMBIES = {"plain": "z", "tough": "c", "toughest": "b", "runner": "r", "leaper": "v", "immune": "i", "small": "s"}
_ARMED = "M"


def picture(state: Bytes) -> Canvas:
    """Draw a state: house and mowers at the left; above the lawn sun, the plants' prices and recharge, the waves."""
    s = record(state, STATE)
    rows, columns, end = int(s.rows), int(s.columns), int(s.end)
    dawn = min(int(s.t) / _night(s), 1.0)
    width, there = 1.5 + _CARD * int(s.plants) + 3.4, columns + lawn.HOUSE + lawn.GRAVES
    fit = min(1.0, there / width)
    above = _HEADER * (1 - fit) / 2
    canvas, ground = lawn.scene(rows, columns, _HEADER, above + _LINE * fit, dawn, end != LOST)
    for lane in range(rows):
        if s.mowers[lane]:
            _draw_mower(ground.at(-0.48, lane))
        for column in range(columns):
            plant, zombie, hp, mark = _cell(state, s, lane, column)
            if plant:
                _draw_plant(ground.at(column, lane), s, plant - 1, hp, mark)
            elif zombie:
                _draw_zombie(ground.at(column, lane), s, zombie - 1, hp, mark)
    header = canvas.at(0, above, fit)
    _draw_sun(header, int(s.sun))
    for kind in range(int(s.plants)):
        _draw_card(header.at(1.32 + _CARD * kind, 0.1), s, kind)
    left = 1.32 + _CARD * int(s.plants) + 0.2
    _draw_waves(header.at(left, 0), s, canvas.width / fit - left - 0.25, lawn.sky_ink(dawn))
    return canvas


def where(state: Bytes, player: int, action: int) -> Place | None:
    """Return the cell in which an action plants, of whatever kind; None where it waits."""
    s = record(state, STATE)
    lane, column = divmod(action % int(s.cells), int(s.columns))
    return (lawn.HOUSE + column, _HEADER + lane, 1.0, 1.0) if action < s.plants * s.cells else None


def text(roster: Roster, state: Bytes) -> str:
    """Write a state for a terminal: a status line, the plants, the board with hit points, a legend.

    A ``>`` before a lane is its mower.
    """
    s = record(state, STATE)
    result = f" - {_RESULTS[int(s.end)]}" if s.end != ONGOING else ""
    shop = []
    for kind in range(int(s.plants)):
        ready = f"in {s.recharge[kind]}" if s.recharge[kind] else "ready"
        shop.append(f"{ansi(*_PLANTS[_plant_role(s, kind)], bold=True)} {s.plant_cost[kind]} sun {ready}")
    clock = f"step {s.t} of {_night(s)}" if s.t <= _night(s) else f"step {s.t}"
    lines = [f"{clock}, wave {_wave(s)} of {s.waves}, sun {s.sun}{result}", *in_lines(shop, " | ")]
    lines.append("     " + " ".join(str(column).ljust(_column_width(s)) for column in range(int(s.columns))).rstrip())
    for lane in range(int(s.rows)):
        marks = [_write_cell(s, *_cell(state, s, lane, column)) for column in range(int(s.columns))]
        lines.append(f"{lane:2} {'>' if s.mowers[lane] else ' '}|" + " ".join(marks) + "|")
    return "\n".join([*lines, *(line for legend in _legends(roster, s) for line in in_lines(legend, ", "))])


def _legends(roster: Roster, s: Any) -> list[list[str]]:
    """Return what the symbols of plants and of zombies mean, in the words of the roster."""
    plants: dict[str, list[str]] = {}
    for kind, plant in enumerate(roster.plants):
        role = _plant_role(s, kind)
        plants.setdefault(ansi(*_PLANTS[role], bold=True), []).append(plant.name)
        if role == "mine":
            plants.setdefault(ansi(_ARMED, "red", bold=True), []).append(f"armed {plant.name}")
    zombies: dict[str, list[str]] = {}
    for kind, zombie in enumerate(roster.zombies):
        zombies.setdefault(ansi(_ZOMBIES[_zombie_role(s, kind)], "magenta", bold=True), []).append(zombie.name)
    return [[f"{symbol} {' or '.join(names)}" for symbol, names in meant.items()] for meant in (plants, zombies)]


def _cell(state: Bytes, s: Any, lane: int, column: int) -> tuple[int, int, int, int]:
    """Return plant + 1, zombie + 1, hit points and mark of a cell."""
    index, cells = lane * int(s.columns) + column, int(s.rows) * int(s.columns)
    plant, zombie, hp, mark = (int(state[CELLS + plane * cells + index]) for plane in (PLANT, ZOMBIE, HP, MARK))
    return plant, zombie, hp, mark


def _night(s: Any) -> int:
    """Return the step from which no zombie arrives."""
    return max(int(s.wave_end[int(s.waves) - 1]), 1)


def _wave(s: Any) -> int:
    """Return the number of the wave that is on or comes next, from 1."""
    return min(1 + sum(int(s.t) >= int(end) for end in s.wave_end[: int(s.waves)]), int(s.waves))


def _plant_role(s: Any, kind: int) -> str:
    if s.plant_arms[kind] > 0:
        return "mine"
    if s.plant_sun[kind] > 0:
        return "flower"
    if s.plant_damage[kind] == 0:
        return "wall"
    if s.plant_splash[kind] > 0:
        return "lobber"
    needed = any(_immune(s, zombie) and int(s.zombie_hurt_by[zombie]) >> kind & 1 for zombie in range(int(s.zombies)))
    return "torch" if needed else "shooter"


def _immune(s: Any, kind: int) -> bool:
    """Whether some plant that does harm cannot hurt this kind of zombie."""
    harmful = sum(1 << i for i in range(int(s.plants)) if s.plant_damage[i] > 0 or s.plant_arms[i] > 0)
    return harmful & ~int(s.zombie_hurt_by[kind]) != 0


def _zombie_role(s: Any, kind: int) -> str:
    """Return what a kind of zombie is like, compared with the first kind of the roster."""
    toughness = int(s.zombie_hp[kind]) / max(int(s.zombie_hp[0]), 1)
    if _immune(s, kind):
        return "immune"
    if s.zombie_leaps[kind]:
        return "leaper"
    if toughness >= 1.5:
        return "toughest" if toughness >= 3 else "tough"
    if toughness <= 0.5:
        return "small"
    return "runner" if s.zombie_move[kind] >= 1.5 * s.zombie_move[0] else "plain"


def _column_width(s: Any) -> int:
    return 1 + len(str(max(*s.plant_hp, *s.zombie_hp)))


def _write_cell(s: Any, plant: int, zombie: int, hp: int, mark: int) -> str:
    """Return a symbol and hit points, in colour, padded to the width of a column."""
    width = _column_width(s)
    if plant:
        role = _plant_role(s, plant - 1)
        symbol, colour = (_ARMED, "red") if role == "mine" and mark else _PLANTS[role]
    elif zombie:
        symbol, colour = _ZOMBIES[_zombie_role(s, zombie - 1)], "magenta"
    else:
        return ".".ljust(width)
    return ansi(f"{symbol}{hp}", colour, bold=True) + " " * (width - len(f"{symbol}{hp}"))


def _draw_plant(cell: Canvas, s: Any, kind: int, hp: int, mark: int) -> None:
    full = max(int(s.plant_hp[kind]), 1)
    role = _plant_role(s, kind)
    if role == "mine":
        _draw_mine(cell, mark != 0)
    elif role == "wall":
        _draw_wall(cell, hp / full)
    else:
        _PORTRAITS[role](cell)
    if hp < full:
        lawn.bar(cell, 0.18, 0.9, 0.64, hp / full, "#8fdc5a")


def _draw_zombie(cell: Canvas, s: Any, kind: int, hp: int, leaps: int) -> None:
    role = _zombie_role(s, kind)
    gear = {"tough": lawn.cone, "toughest": lawn.bucket, "runner": lawn.headband}.get(role)
    body = cell.at(0.16, 0.3, 0.68) if role == "small" else cell
    if leaps:
        body.line([(0.06, 0.86), (0.9, 0.2)], "#8a6a45", 0.05)
    lawn.zombie(body, _COATS[kind], gear, s.zombie_move[kind] >= 1.4 * s.zombie_move[0])
    if role == "immune":
        cell.ellipse(0.49, 0.5, 0.44, 0.44, fill="#bfe6ff", outline="#6db8e8", stroke=0.045, opacity=0.38)
        cell.line(lawn.arc(0.49, 0.5, 0.35, 0.35, 0.55, 0.68), "#ffffff", 0.05)
    share = hp / max(int(s.zombie_hp[kind]), 1)
    lawn.bar(cell, 0.15, 0.895, 0.7, share, "#ff6b5e" if share < 0.4 else "#ffb648" if share < 0.75 else "#8fdc5a")


def _draw_flower(cell: Canvas) -> None:
    lawn.shade(cell, 0.5, 0.89, 0.28)
    cell.line([(0.5, 0.88), (0.49, 0.6)], "#5aa63d", 0.07)
    lawn.leaf(cell, (0.5, 0.87), (0.17, 0.74), 0.075, "#6dbb48", "#4b8f36")
    lawn.leaf(cell, (0.5, 0.87), (0.83, 0.74), 0.075, "#6dbb48", "#4b8f36")
    for ring, colour in ((0.5, "#f5b82e"), (0.0, "#ffd84d")):
        for i in range(9):
            angle = 2 * pi * (i + ring) / 9
            cell.ellipse(0.5 + 0.245 * cos(angle), 0.4 + 0.245 * sin(angle), 0.105, fill=colour)
    cell.ellipse(0.5, 0.4, 0.225, fill="#c98446", outline="#a4642c", stroke=0.025)
    cell.ellipse(0.5, 0.4, 0.165, fill="#dd9c58")
    lawn.eye(cell, 0.43, 0.36, 0.05, 0.4)
    lawn.eye(cell, 0.57, 0.36, 0.05, 0.4)
    cell.line(lawn.arc(0.5, 0.43, 0.075, 0.06, 0.06, 0.44), "#6b3d1c", 0.025)
    for x in (0.36, 0.64):
        cell.ellipse(x, 0.45, 0.035, 0.025, fill="#f79a75")


def _draw_torch(cell: Canvas) -> None:
    flame = [(0.4, 0.24), (0.2, 0.2), (0.22, 0.04), (0.34, 0.12), (0.42, 0.02), (0.5, 0.1), (0.62, 0.03), (0.58, 0.22)]
    cell.polygon(flame, "#ff8a3d", outline="#e2632a", stroke=0.02)
    lawn.shooter(cell, "#f2774e", "#b8472c")
    cell.polygon([(0.4, 0.2), (0.36, 0.14), (0.43, 0.08), (0.5, 0.15), (0.49, 0.2)], "#ffd75e")


def _draw_lobber(cell: Canvas) -> None:
    lawn.shooter(cell, "#62b6c4", "#357f8e", 0.7)
    cell.line([(0.5, 0.24), (0.66, 0.19)], "#357f8e", 0.05)
    cell.ellipse(0.77, 0.13, 0.115, fill="#f28f6b", outline="#b9573a", stroke=0.02)
    cell.polygon(lawn.arc(0.77, 0.17, 0.15, 0.11, 0.0, 0.5), "#8a6a45", outline="#65492b", stroke=0.02)


def _draw_wall(cell: Canvas, share: float) -> None:
    lawn.shade(cell, 0.5, 0.89, 0.33)
    cell.rectangle(0.17, 0.1, 0.66, 0.8, "#cf9f62", radius=0.3, outline="#96682f", stroke=0.03)
    cell.ellipse(0.36, 0.26, 0.09, 0.055, fill="#e0bc8e")
    for x, y in ((0.68, 0.74), (0.31, 0.68), (0.6, 0.82)):
        cell.ellipse(x, y, 0.045, 0.03, fill="#b98848")
    lawn.eye(cell, 0.42, 0.42, 0.075, 0.7)
    lawn.eye(cell, 0.62, 0.42, 0.075, 0.7)
    smile = (0.56, 0.94) if share < 0.5 else (0.06, 0.44)
    cell.line(lawn.arc(0.52, 0.65 if share < 0.5 else 0.57, 0.08, 0.055, *smile), "#6b4a1f", 0.03)
    if share < 0.8:
        cell.line([(0.7, 0.16), (0.64, 0.24), (0.72, 0.29), (0.67, 0.36)], "#7d5424", 0.025)
    if share < 0.5:
        cell.line([(0.21, 0.5), (0.3, 0.54), (0.26, 0.62), (0.34, 0.66)], "#7d5424", 0.025)


def _draw_mine(cell: Canvas, armed: bool) -> None:
    lawn.shade(cell, 0.5, 0.89, 0.34)
    if armed:
        cell.line([(0.5, 0.5), (0.5, 0.3)], "#8a8f99", 0.04)
        cell.ellipse(0.5, 0.24, 0.13, fill="#ff5a4f", opacity=0.35)
        cell.ellipse(0.5, 0.24, 0.085, fill="#ff5a4f", outline="#b3302a", stroke=0.02)
        cell.ellipse(0.475, 0.215, 0.025, fill="#ffffff")
        cell.ellipse(0.5, 0.66, 0.32, 0.25, fill="#d8ae74", outline="#9b7238", stroke=0.028)
        lawn.eye(cell, 0.41, 0.6, 0.065, 0.6)
        lawn.eye(cell, 0.61, 0.6, 0.065, 0.6)
        cell.line([(0.45, 0.745), (0.5, 0.725), (0.55, 0.75), (0.6, 0.73)], "#6b4a1f", 0.025)
    else:
        cell.ellipse(0.5, 0.74, 0.15, 0.13, fill="#d8ae74", outline="#9b7238", stroke=0.028)
        lawn.leaf(cell, (0.5, 0.63), (0.37, 0.47), 0.05, "#6dbb48", "#4b8f36")
        lawn.leaf(cell, (0.5, 0.63), (0.62, 0.49), 0.05, "#6dbb48", "#4b8f36")
    for x, rx in ((0.27, 0.15), (0.73, 0.15), (0.5, 0.25)):
        cell.ellipse(x, 0.86, rx, 0.09, fill="#8b6242", outline="#6d4a2f", stroke=0.02)
    for x in (0.24, 0.46, 0.58, 0.76):
        cell.ellipse(x, 0.85, 0.025, 0.018, fill="#a97f5b")


_PORTRAITS: dict[str, Callable[[Canvas], None]] = {
    "flower": _draw_flower,
    "shooter": lawn.shooter,
    "torch": _draw_torch,
    "lobber": _draw_lobber,
}


def _draw_mower(cell: Canvas) -> None:
    """Draw a lawn mower within 0.48 cells."""
    cell.ellipse(0.24, 0.75, 0.22, 0.05, fill="#1c3a12", opacity=0.22)
    cell.line([(0.12, 0.58), (0.02, 0.33)], "#5d5a66", 0.04)
    cell.rectangle(0.06, 0.5, 0.38, 0.2, "#e2574c", radius=0.08, outline="#9c322b", stroke=0.022)
    cell.rectangle(0.17, 0.42, 0.17, 0.12, "#f6d5c8", radius=0.04, outline="#9c322b", stroke=0.02)
    for x in (0.13, 0.36):
        cell.ellipse(x, 0.7, 0.075, fill="#3d3947", outline="#23202b", stroke=0.02)
        cell.ellipse(x, 0.7, 0.028, fill="#d8d4e0")


def _draw_sun(header: Canvas, amount: int) -> None:
    header.rectangle(0.12, 0.1, 1.1, 1.05, "#fff6dc", radius=0.16, outline="#e0b64e", stroke=0.045)
    lawn.sun(header, 0.67, 0.46, 0.17)
    header.text(0.67, 0.94, str(amount), "#7a5a14", 0.34, bold=True)


def _draw_card(card: Canvas, s: Any, kind: int) -> None:
    """Draw the seed packet of a plant: its price, shaded from above as far as it is not recharged."""
    cost, left = int(s.plant_cost[kind]), int(s.recharge[kind])
    affordable = cost <= int(s.sun)
    usable = affordable and left == 0 and s.end == ONGOING
    card.rectangle(
        0, 0, 0.9, 1.05, "#f4ffe6" if usable else "#dedbe4", radius=0.16,
        outline="#5fae45" if usable else "#9a95a8", stroke=0.045,
    )  # fmt: skip
    role = _plant_role(s, kind)
    portrait = card.at(0.12, 0.05, 0.66)
    if role == "mine":
        _draw_mine(portrait, True)
    elif role == "wall":
        _draw_wall(portrait, 1.0)
    else:
        _PORTRAITS[role](portrait)
    if not usable:
        share = left / max(int(s.plant_recharge[kind]), 1) if left else 0.0
        card.rectangle(0.045, 0.045, 0.81, 0.96, "#dedbe4", radius=0.12, opacity=0.45)
        if share > 0:
            card.rectangle(0.045, 0.045, 0.81, 0.96 * min(share, 1.0), lawn.INK, radius=0.1, opacity=0.5)
    card.text(0.45, 0.88, str(cost), "#3f7d2e" if affordable else "#b3413a", 0.26, bold=True)


def _draw_waves(place: Canvas, s: Any, width: float, ink: str) -> None:
    """Draw the clock: a bar with a flag at the end of each wave, or the result of the game over it."""
    night, t = _night(s), int(s.t)
    if s.end != ONGOING:
        lawn.result_badge(place.at(width - 1.12, 0.08, 0.66), _RESULTS[int(s.end)])
    else:
        place.text(width, _LINE, f"wave {_wave(s)} / {s.waves}", ink, 0.27, anchor="end")
    place.text(0, _LINE, lawn.clock(t, night), ink, 0.34, anchor="start", bold=True)
    lawn.bar(place, 0, 0.86, width, t / night, "#ffd75e", 0.18)
    for end in s.wave_end[: int(s.waves)]:
        x = 0.02 + (width - 0.06) * int(end) / night
        raised = 0.08 if t >= int(end) else 0.0
        place.line([(x, 1.02), (x, 0.66 - raised)], "#f4efe4", 0.035)
        place.polygon([(x, 0.62 - raised), (x - 0.2, 0.7 - raised), (x, 0.79 - raised)], "#e2574c")
