"""Picture and text of the bomber grid."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from mcts_envs.core.kernel import record
from mcts_envs.core.render import PLAYER_NAMES, PLAYERS, Canvas, Place, ansi, in_lines, mix, on
from mcts_envs.core.typing import Bytes
from mcts_envs.games.bomber_grid.position import board_codes, cells_of
from mcts_envs.games.bomber_grid.rules.board import in_sight
from mcts_envs.games.bomber_grid.rules.kernels import has_won
from mcts_envs.games.bomber_grid.rules.layout import (
    AGENT,
    BOMB,
    DOWN,
    EXTRA_BOMB,
    FLAME,
    FOG,
    KICK,
    LEFT,
    ONGOING,
    RADIO,
    RANGE,
    RIGHT,
    RIGID,
    STATE,
    TIE,
    UP,
    WIDTH,
    WOOD,
    WORDS,
)
from mcts_envs.games.bomber_grid.rules.sight import in_teams, mate_of, window
from mcts_envs.games.bomber_grid.template import Cell

_NOBODY = 4
_COLOURS = (*PLAYERS, "#8d8f94")
SHOWN_AS = tuple((f"{player} ({name})", PLAYERS[player]) for player, name in enumerate(PLAYER_NAMES))
_TERMINAL = ("blue", "red", "cyan", "yellow")
_GROUND, _FLOOR, _LINE, _INK, _QUIET = "#efe8dc", "#fbf7ef", "#e2d9ca", "#3a322c", "#7a6f64"
_RIGID, _RIGID_LIGHT, _WOOD, _WOOD_DARK = "#5f6670", "#79818c", "#c89b62", "#a37a45"
_FIRE, _FIRE_CORE, _FOG = "#f2762b", "#ffd75e", "#b9b3a8"
_MARGIN, _HEADER = 0.4, 1.75
_ITEMS = "b extra bomb, r range, k kick; faint: under wood"
_SIDES = "0 and 2 against 1 and 3"
_WAYS = {UP: (0, -1), DOWN: (0, 1), LEFT: (-1, 0), RIGHT: (1, 0)}
_STEPS = "0123456789abcdefg"
_MARKS = {
    RIGID: ("##", "white"),
    WOOD: ("%%", "yellow"),
    FLAME: ("**", "red"),
    EXTRA_BOMB: ("+b", "green"),
    RANGE: ("+r", "green"),
    KICK: ("+k", "green"),
    FOG: ("::", "white"),
}


def picture(state: Bytes, viewer: int | None = None, seat: int | None = None) -> Canvas:
    """Draw a state: walls, items, bombs with the steps that they have left, flames, players by their numbers.

    A triangle points at the player of the seat, if one is given. What is hidden under wood shows through a little.
    Where the view is limited, a frame in a player's colour is the part of the board that it sees. With a viewer only
    what that player may know is drawn: fog covers the rest, the bombs of others have grey rims, and what others carry
    is left out.
    """
    s = record(state, STATE)
    size = int(s.board_size)
    canvas = Canvas(size + 2 * _MARGIN, size + _HEADER + _MARGIN, _GROUND)
    board = canvas.at(_MARGIN, _HEADER)
    board.number(range(size), range(size), _QUIET)
    board.rectangle(0, 0, size, size, _FLOOR)
    for i in range(size + 1):
        board.line([(i, 0), (i, size)], _LINE, 0.02)
        board.line([(0, i), (size, i)], _LINE, 0.02)
    shown = s if viewer is None else _as_seen(state, viewer)
    _draw_walls(board, shown)
    _draw_items(board, shown)
    living = [int(shown.stands[player]) for player in range(s.players) if shown.alive >> player & 1]
    for bomb in range(shown.n_bombs):
        row, column = divmod(int(shown.bomb_cell[bomb]), WIDTH)
        life, owner, way = int(shown.bomb_life[bomb]), int(shown.bomb_owner[bomb]), int(shown.bomb_way[bomb])
        _draw_bomb(board.at(column + 0.5, row + 0.5), shown.bomb_cell[bomb] in living, life, owner, way)
    if viewer is not None:
        for row, column in _fog(state, viewer):
            board.rectangle(column, row, 1, 1, _FOG)
    _draw_windows(board, s, range(s.players) if viewer is None else [viewer])
    for player in range(s.players):
        row, column = divmod(int(s.stands[player]), WIDTH)
        if shown.alive >> player & 1:
            on_bomb = shown.stands[player] in shown.bomb_cell[: shown.n_bombs]
            place = board.at(column + 0.32, row + 0.36, 0.66) if on_bomb else board.at(column + 0.5, row + 0.5)
            _draw_player(place, player)
            if player == seat:
                place.point_at(0.0, -0.38, _INK)
        elif not s.alive >> player & 1 and viewer in (None, player):
            _draw_grave(board.at(column + 0.5, row + 0.5), player)
    _draw_header(canvas, s, viewer, seat)
    canvas.text(_MARGIN, canvas.height - 0.2, _ITEMS, _QUIET, 0.2, anchor="start")
    if in_teams(s):
        canvas.text(canvas.width - _MARGIN, canvas.height - 0.2, _SIDES, _QUIET, 0.2, anchor="end")
    return canvas


def where(state: Bytes, player: int, action: int) -> Place | None:
    """Return the cell that a player would walk to, or stands on; None off the board."""
    s = record(state, STATE)
    size = int(s.board_size)
    row, column = divmod(int(s.stands[player]), WIDTH)
    x, y = _WAYS.get(action // (WORDS * WORDS) if s.mode == RADIO else action, (0, 0))
    if not (0 <= column + x < size and 0 <= row + y < size):
        return None
    return _MARGIN + column + x, _HEADER + row + y, 1.0, 1.0


def text(state: Bytes, viewer: int | None = None, seat: int | None = None) -> str:
    """Write a state for a terminal: the step, the board, what the players carry, a legend.

    With a viewer only what that player may know. A player on a bomb hides it; his line says what it has left.
    """
    s = record(state, STATE)
    shown = s if viewer is None else _as_seen(state, viewer)
    codes, lives = board_codes(shown), {int(shown.bomb_cell[b]): int(shown.bomb_life[b]) for b in range(shown.n_bombs)}
    for cell in () if viewer is None else _fog(state, viewer):
        codes[cell] = FOG
    result = f", {_result(s)}" if s.end != ONGOING else ""
    lines = [f"step {int(s.t)} of {int(s.max_steps)}{result}{_next_fall(s)}, {_whose_view(viewer)}"]
    lines.append("   " + " ".join(f"{column:2}" for column in range(len(codes))))
    for row, line in enumerate(codes):
        marks = [_mark(int(code), lives.get(WIDTH * row + column)) for column, code in enumerate(line)]
        lines.append(f"{row:2} " + " ".join(marks))
    for player in range(s.players):
        known = " ".join(_known(s, player, viewer))
        life = lives.get(int(shown.stands[player])) if shown.alive >> player & 1 else None
        bomb = "" if life is None else f", on a bomb with {life} steps"
        you = "you: " if player == seat else ""
        lines.append(f"{_mark(AGENT + player, None)} {you}{known + bomb if s.alive >> player & 1 else 'dead'}")
    steps = "" if s.fuse <= 10 else " (a for 10 to g for 16)"
    legend = ["P0 player 0", "## rigid", "%% wood", f"o9 bomb and its steps{steps}", "** flame"]
    legend += ["+b extra bomb", "+r range", "+k kick", *([] if viewer is None else [":: fog"])]
    legend += [_SIDES] if in_teams(s) else []
    return "\n".join([*lines, *in_lines(legend, ", ")])


def _whose_view(viewer: int | None) -> str:
    return "full view" if viewer is None else f"as player {viewer} sees it"


def _next_fall(s: Any) -> str:
    """Say when the next ring turns rigid, if one will."""
    coming = [step for step in s.collapse[: s.n_rings].tolist() if step > s.t and s.end == ONGOING]
    return f", a ring falls at {coming[0]}" if coming else ""


def _fog(state: Bytes, viewer: int) -> set[Cell]:
    """Return the cells of the board that a player does not see."""
    size = int(record(state, STATE).board_size)
    return {(row, column) for row in range(size) for column in range(size)} - cells_of(window(state, viewer))


def _as_seen(state: Bytes, viewer: int) -> Any:
    """Return a copy of the state, as a record, without what a player cannot see; others' bombs belong to nobody."""
    s, seen = record(state.copy(), STATE), np.array(window(state, viewer), np.uint64)
    sight = np.array(in_sight(s), np.uint64) & seen
    s.rigid[:], s.wood[:], s.fire[:] = s.rigid & seen | s.outside, s.wood & seen, s.fire & seen
    s.items[:], s.flames[:] = s.items & sight, s.flames & seen
    cells = cells_of(seen)
    there = [b for b in range(s.n_bombs) if divmod(int(s.bomb_cell[b]), WIDTH) in cells]
    s.n_bombs = len(there)
    for bombs in (s.bomb_cell, s.bomb_owner, s.bomb_life, s.bomb_way):
        bombs[: len(there)] = bombs[there]
    s.bomb_owner[s.bomb_owner != viewer] = _NOBODY
    for player in range(s.players):
        if divmod(int(s.stands[player]), WIDTH) not in cells:
            s.alive = int(s.alive) & ~(1 << player)
    return s


def _mark(code: int, life: int | None) -> str:
    """Return two letters for a cell."""
    if code >= AGENT:
        return ansi(f"P{code - AGENT}", _TERMINAL[code - AGENT], bold=True)
    if code == BOMB and life is not None:
        return ansi(f"o{_STEPS[life]}", "white", bold=True)
    return ansi(*_MARKS[code]) if code in _MARKS else " ."


def _draw_walls(board: Canvas, s: Any) -> None:
    for row, column in cells_of(s.rigid) - cells_of(s.outside):
        board.rectangle(column + 0.02, row + 0.02, 0.96, 0.96, _RIGID, radius=0.06)
        board.rectangle(column + 0.12, row + 0.1, 0.76, 0.66, _RIGID_LIGHT, radius=0.05)
    for row, column in cells_of(s.wood):
        board.rectangle(column + 0.04, row + 0.04, 0.92, 0.92, _WOOD, radius=0.08)
        for y in (0.34, 0.66):
            board.line([(column + 0.1, row + y), (column + 0.9, row + y)], _WOOD_DARK, 0.05)
    for life in range(int(s.flame_life) + 1):
        for row, column in cells_of(s.flames[life]):
            share = (life + 1) / (int(s.flame_life) + 1)
            board.rectangle(column + 0.03, row + 0.03, 0.94, 0.94, mix(_FLOOR, _FIRE, 0.35 + 0.65 * share), radius=0.14)
            board.ellipse(column + 0.5, row + 0.5, 0.15 + 0.2 * share, fill=_FIRE_CORE)


def _draw_items(board: Canvas, s: Any) -> None:
    covered = cells_of(s.wood) | cells_of(s.fire)
    for kind in range(3):
        for row, column in cells_of(s.items[kind]):
            place = board.at(column + 0.5, row + 0.5)
            if (row, column) in covered:
                place.text(0.0, 0.0, "brk"[kind], _INK, 0.36, bold=True, opacity=0.4)
                continue
            place.rectangle(-0.33, -0.33, 0.66, 0.66, "#ffffff", outline="#1f8a8a", stroke=0.06, radius=0.16)
            place.text(0.0, 0.0, ("+b", "+r", "+k")[kind], "#1f8a8a", 0.34, bold=True)


def _draw_bomb(place: Canvas, shared: bool, life: int, owner: int, way: int) -> None:
    """Draw a bomb around the origin, rimmed in its owner's colour, with an arrow if it rolls.

    The steps that it has left stand in its middle, or aside if it shares its cell with a player.
    """
    x, y = (0.1, 0.17) if shared else (0.0, 0.04)
    place.ellipse(0.0, 0.03, 0.38, fill="#26262b", outline=_COLOURS[owner], stroke=0.06)
    place.line([(0.2, -0.28), (0.34, -0.42)], _INK, 0.07)
    place.text(x, y, str(life), "#ffffff" if life > 3 else "#ff9a6b", 0.3 if shared else 0.42, bold=True)
    if way:
        x, y = _WAYS[way]
        place.line([(x * 0.3, y * 0.3), (x * 0.62, y * 0.62)], _INK, 0.1)
        place.ellipse(x * 0.62, y * 0.62, 0.09, fill=_INK)


def _draw_player(place: Canvas, player: int) -> None:
    """Draw a player around the origin, the number on its body."""
    colour, dark = _COLOURS[player], mix(_COLOURS[player], "#000000", 0.45)
    place.ellipse(0.0, 0.36, 0.3, 0.1, fill=_INK, opacity=0.2)
    place.ellipse(0.0, -0.17, 0.24, 0.22, fill=colour, outline=dark, stroke=0.04)
    place.rectangle(-0.15, -0.25, 0.3, 0.15, "#ffe3c4", radius=0.07)
    for x in (-0.07, 0.07):
        place.ellipse(x, -0.175, 0.03, 0.05, fill=_INK)
    place.ellipse(0.0, 0.17, 0.29, 0.24, fill=colour, outline=dark, stroke=0.04)
    place.text(0.0, 0.17, str(player), on(colour), 0.36, bold=True)


def _draw_grave(place: Canvas, player: int) -> None:
    for stroke, colour in ((0.14, mix(_COLOURS[player], "#000000", 0.45)), (0.08, _COLOURS[player])):
        place.line([(-0.2, -0.2), (0.2, 0.2)], colour, stroke)
        place.line([(-0.2, 0.2), (0.2, -0.2)], colour, stroke)
    place.text(0.32, 0.3, str(player), _INK, 0.26)


def _draw_windows(board: Canvas, s: Any, players: Iterable[int]) -> None:
    """Draw the part of the board that each living player of some sees, if that is not all."""
    size, radius = int(s.board_size), int(s.radius)
    for player in players:
        if radius < size and s.alive >> player & 1:
            row, column = divmod(int(s.stands[player]), WIDTH)
            inset = 0.04 + 0.05 * player
            top, left = max(row - radius, 0) + inset, max(column - radius, 0) + inset
            bottom, right = min(row + radius + 1, size) - inset, min(column + radius + 1, size) - inset
            corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
            board.line(corners, _COLOURS[player], 0.05)


def _result(s: Any) -> str:
    """Say who has won a game that is over."""
    winners = [f"{player} ({PLAYER_NAMES[player]})" for player in range(s.players) if has_won(s, player)]
    return "tie" if s.end == TIE else f"{' and '.join(winners)} won"


def _draw_header(canvas: Canvas, s: Any, viewer: int | None, seat: int | None) -> None:
    """Draw the step or how the game came out, whose view this is, and what each player carries as far as it knows."""
    y = 0.42
    label = f"step {int(s.t)}{_next_fall(s)}" if s.end == ONGOING else _result(s)
    canvas.text(_MARGIN, y, label, _INK, 0.36, anchor="start", bold=True)
    canvas.text(canvas.width - _MARGIN, y, _whose_view(viewer), _QUIET, 0.27, anchor="end")
    share = (canvas.width - 2 * _MARGIN) / int(s.players)
    for player in range(s.players):
        alive = s.alive >> player & 1
        place = canvas.at(_MARGIN + player * share, 0.96)
        _draw_player(place.at(0.22, 0.0, 0.75 if alive else 0.55), player)
        known = _known(s, player, viewer) if alive else ["dead"]
        known[0] = f"you: {known[0]}" if player == seat else known[0]
        for row, words in enumerate(known):
            line = 0.26 * (row - (len(known) - 1) / 2)
            place.text(0.5, line, words, _INK, 0.25, anchor="start", opacity=0.9 if alive else 0.6)


def _known(s: Any, player: int, viewer: int | None) -> list[str]:
    """Return what is known of a living player, line by line: what it carries, and what it said in the last step."""
    parts = ["alive"]
    if viewer in (None, player):
        parts = [f"ammo {s.ammo[player]}", f"strength {s.strength[player]}{' kick' if s.kicks[player] else ''}"]
    if s.mode == RADIO and (viewer is None or player in (viewer, mate_of(viewer))) and any(s.words[player]):
        parts.append("says {} {}".format(*s.words[player]))
    return parts
