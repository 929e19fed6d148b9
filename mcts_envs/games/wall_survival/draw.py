"""Picture and text of wall survival."""

from collections.abc import Iterator
from itertools import pairwise

from mcts_envs.core.kernel import record
from mcts_envs.core.render import PLAYER_NAMES, PLAYERS, Canvas, Place, Point, ansi, mix
from mcts_envs.core.typing import Bytes
from mcts_envs.games.wall_survival.rules.board import near, open_sides, part
from mcts_envs.games.wall_survival.rules.layout import (
    DOWN,
    LEFT,
    NO_WALL,
    NOWHERE,
    ONGOING,
    OUT_OF_TIME,
    RIGHT,
    SEPARATED,
    STATE,
    UP,
)

_COLOURS = PLAYERS[:2]
SHOWN_AS = tuple((f"{player} ({PLAYER_NAMES[player]})", _COLOURS[player]) for player in range(2))
_DARK = ("#003e63", "#7a3500")
_SYMBOLS = (("0", "blue"), ("1", "red"))
_GROUND, _FLOOR, _LINE, _WALL, _INK, _QUIET = "#efe8dc", "#fffcf6", "#ddd2c1", "#453a33", "#3a322c", "#7a6f64"
_MARGIN, _HEADER = 0.45, 1.2
_ALONG = {UP: (0.25, 0.0, 0.5, 0.25), RIGHT: (0.75, 0.25, 0.25, 0.5), DOWN: (0.25, 0.75, 0.5, 0.25)}
_ALONG[LEFT] = (0.0, 0.25, 0.25, 0.5)
_MIDDLE = (0.3, 0.3, 0.4, 0.4)
_CORNERS = {UP: ((0, 0), (1, 0)), RIGHT: ((1, 0), (1, 1)), DOWN: ((0, 1), (1, 1)), LEFT: ((0, 0), (0, 1))}


def picture(state: Bytes, seat: int | None = None) -> Canvas:
    """Draw a state, with rows and columns as actions name them.

    Cells are tinted where the player to move can go, or after the end by whose part it is. A triangle points at the
    player of the seat, if one is given. The last move is a trail of dots to the player that moved, and its wall has
    that player's colour.
    """
    size = int(record(state, STATE).board_size)
    canvas = Canvas(size + 2 * _MARGIN, size + _HEADER + _MARGIN, _GROUND)
    board = canvas.at(_MARGIN, _HEADER)
    board.number(range(size), range(size), _QUIET)
    tints = _tints(state)
    for cell in range(size * size):
        row, column = divmod(cell, size)
        board.rectangle(column, row, 1.0, 1.0, mix(_FLOOR, *tints[cell]) if cell in tints else _FLOOR)
    for i in range(1, size):
        board.line([(i, 0), (i, size)], _LINE, 0.025)
        board.line([(0, i), (size, i)], _LINE, 0.025)
    _draw_trail(board, state)
    for cell, side in _walls(state):
        board.line(_ends(cell, side, size), _WALL, 0.13)
    board.line([(0, 0), (size, 0), (size, size), (0, size), (0, 0)], _WALL, 0.16)
    _draw_last_wall(board, state)
    for player in range(2):
        row, column = divmod(_stands(state, player), size)
        _draw_player(board.at(column + 0.5, row + 0.5), player)
        if player == seat:
            board.point_at(column + 0.5, row + 0.24, _INK)
    _draw_header(canvas, state, seat)
    return canvas


def text(state: Bytes, seat: int | None = None) -> str:
    """Write a state for a terminal: whose turn it is, the board, a legend. The last wall is in its player's colour."""
    s = record(state, STATE)
    size, reached = int(s.board_size), _reached(state)
    players = {_stands(state, player): ansi(*symbol, bold=True) for player, symbol in enumerate(_SYMBOLS)}
    lines = [_write_headline(state)]
    lines.append("   " + "".join(f"{column:^4}" for column in range(size)).rstrip())
    for row in range(size):
        cells = range(row * size, (row + 1) * size)
        lines.append("  +" + "+".join(_write_side(state, cell, UP, "---") for cell in cells) + "+")
        marks = [players.get(cell, "." if cell in reached else " ") for cell in cells]
        right = [_write_side(state, cell, RIGHT, "|") for cell in cells]
        lines.append(f"{row:2}|" + "".join(f" {mark} {side}" for mark, side in zip(marks, right, strict=True)))
    lines.append("  +" + "---+" * size)
    names = [ansi(*symbol, bold=True) + (" you" if player == seat else "") for player, symbol in enumerate(_SYMBOLS)]
    return "\n".join([*lines, f"players {' and '.join(names)}, . within reach"])


def where(state: Bytes, player: int, action: int) -> Place:
    """Return the strip along the side that an action walls, in the cell that it walks to; without a wall its middle."""
    size = int(record(state, STATE).board_size)
    walls = action < 4 * size * size
    cell, strip = (action // 4, _ALONG[action % 4]) if walls else (action - 4 * size * size, _MIDDLE)
    row, column = divmod(cell, size)
    x, y, width, height = strip
    return _MARGIN + column + x, _HEADER + row + y, width, height


def _stands(state: Bytes, player: int) -> int:
    return int(record(state, STATE).stands[player])


def _cells(state: Bytes, board: tuple[int, ...]) -> set[int]:
    """Return the cells of a board of bits."""
    cells = range(int(record(state, STATE).board_size) ** 2)
    return {cell for cell in cells if int(board[cell >> 6]) >> (cell & 63) & 1}


def _reached(state: Bytes) -> set[int]:
    """Return the cells that the player to move can reach; none after the end."""
    s = record(state, STATE)
    return _cells(state, near(state, int(s.turn))) if s.end == ONGOING else set()


def _tints(state: Bytes) -> dict[int, tuple[str, float]]:
    """Return the colour of each cell that has one, and how strong it is."""
    s = record(state, STATE)
    if s.end == ONGOING:
        return dict.fromkeys(_reached(state), (_COLOURS[int(s.turn)], 0.2))
    tints: dict[int, tuple[str, float]] = {}
    for player in range(2 if s.end == SEPARATED else 0):
        tints |= dict.fromkeys(_cells(state, part(state, _stands(state, player), -1)), (_COLOURS[player], 0.34))
    return tints


def _walls(state: Bytes) -> Iterator[tuple[int, int]]:
    """Yield the walls inside the border, each once, as a cell and a side."""
    size = int(record(state, STATE).board_size)
    for cell in range(size * size):
        sides = open_sides(state, cell)
        if cell % size < size - 1 and not sides >> RIGHT & 1:
            yield cell, RIGHT
        if cell // size < size - 1 and not sides >> DOWN & 1:
            yield cell, DOWN


def _across(cell: int, side: int, size: int) -> int:
    return cell + (-size, 1, size, -1)[side]


def _ends(cell: int, side: int, size: int) -> list[Point]:
    """Return the two ends of a side, in cells."""
    row, column = divmod(cell, size)
    return [(column + x, row + y) for x, y in _CORNERS[side]]


def _last_wall(state: Bytes) -> tuple[tuple[int, int], ...]:
    """Return the wall of the last move, as a cell and a side, from both sides; empty if there is none."""
    s = record(state, STATE)
    side, cell = int(s.last_side), _stands(state, 1 - int(s.turn))
    if side in (NO_WALL, NOWHERE):
        return ()
    return (cell, side), (_across(cell, side, int(s.board_size)), (side + 2) % 4)


def _trail(state: Bytes) -> list[int]:
    """Return the cells of a shortest walk that the last move may have been; empty if there is none."""
    s = record(state, STATE)
    start, goal, other = int(s.came_from), _stands(state, 1 - int(s.turn)), _stands(state, int(s.turn))
    last, came = _last_wall(state), {start: start}
    queue = [start] if start != NOWHERE else []
    for cell in queue:
        sides = open_sides(state, cell)
        for side in _CORNERS:
            across = _across(cell, side, int(s.board_size))
            if (sides >> side & 1 or (cell, side) in last) and across != other and across not in came:
                came[across] = cell
                queue.append(across)
    if goal not in came or start == NOWHERE:
        return []
    trail = [goal]
    while trail[-1] != start:
        trail.append(came[trail[-1]])
    return trail


def _draw_trail(board: Canvas, state: Bytes) -> None:
    s = record(state, STATE)
    size, mover = int(s.board_size), 1 - int(s.turn)
    points = [(cell % size + 0.5, cell // size + 0.5) for cell in _trail(state)]
    for (x0, y0), (x1, y1) in pairwise(points):
        for share in (0.25, 0.5, 0.75):
            board.ellipse(x0 + (x1 - x0) * share, y0 + (y1 - y0) * share, 0.045, fill=_COLOURS[mover], opacity=0.75)
        board.ellipse(x1, y1, 0.06, fill=_COLOURS[mover], opacity=0.75)
    if len(points) > 1:
        board.ellipse(*points[-1], 0.26, outline=_COLOURS[mover], stroke=0.05, opacity=0.6)


def _draw_last_wall(board: Canvas, state: Bytes) -> None:
    s = record(state, STATE)
    for cell, side in _last_wall(state)[:1]:
        ends = _ends(cell, side, int(s.board_size))
        board.line(ends, _DARK[1 - int(s.turn)], 0.22)
        board.line(ends, _COLOURS[1 - int(s.turn)], 0.13)


def _draw_player(place: Canvas, player: int) -> None:
    """Draw a player's piece around the origin, with its number."""
    place.ellipse(0.0, 0.05, 0.33, 0.32, fill=_INK, opacity=0.22)
    place.ellipse(0.0, 0.0, 0.32, fill=_COLOURS[player], outline=_DARK[player], stroke=0.05)
    place.text(0.0, 0.0, str(player), "#ffffff", 0.4, bold=True)


def _result(state: Bytes) -> str:
    """Say who has won a game that is over."""
    s = record(state, STATE)
    if s.end == OUT_OF_TIME:
        return "time up"
    first, second = map(int, s.area)
    return "tie" if first == second else f"{int(first < second)} ({PLAYER_NAMES[first < second]}) wins"


def _draw_header(canvas: Canvas, state: Bytes, seat: int | None) -> None:
    """Write whose turn it is and how far it can go, or how the game came out."""
    s = record(state, STATE)
    fit = min(1.0, canvas.width / 6.2)
    header, middle, right = canvas.at(0, 0.5, fit), 0.0, (canvas.width - _MARGIN) / fit
    if s.end == ONGOING:
        _draw_player(header.at(_MARGIN + 0.25, middle, 0.75), int(s.turn))
        header.text(
            _MARGIN + 0.65, middle, "you to move" if s.turn == seat else "to move", _INK, 0.4, anchor="start", bold=True
        )
        header.text(right, middle, f"{int(s.reach)} steps", _INK, 0.36, anchor="end", opacity=0.75)
        return
    header.text(_MARGIN, middle, _result(state), _INK, 0.4, anchor="start", bold=True)
    if s.end == SEPARATED:
        for player, x in ((0, right - 1.35), (1, right - 0.42)):
            header.rectangle(x - 0.42, middle - 0.27, 0.84, 0.54, _COLOURS[player], radius=0.14)
            header.text(x, middle, str(int(s.area[player])), "#ffffff", 0.36, bold=True)


def _write_headline(state: Bytes) -> str:
    s = record(state, STATE)
    first, second = (ansi(*symbol, bold=True) for symbol in _SYMBOLS)
    if s.end == ONGOING:
        return f"{(first, second)[int(s.turn)]} to move, up to {int(s.reach)} steps"
    if s.end == OUT_OF_TIME:
        return "time up"
    fewer, more = sorted(map(int, s.area))
    if fewer == more:
        return f"tie, {more} cells each"
    return f"{first if int(s.area[0]) == more else second} wins, {more} cells to {fewer}"


def _write_side(state: Bytes, cell: int, side: int, mark: str) -> str:
    """Return a wall, in its player's colour if it is that of the last move, or a gap."""
    if open_sides(state, cell) >> side & 1:
        return " " * len(mark)
    if (cell, side) in _last_wall(state):
        return ansi(mark, _SYMBOLS[1 - int(record(state, STATE).turn)][1], bold=True)
    return mark
