"""Positions of wall survival: readable descriptions of a state."""

from collections.abc import Mapping
from typing import Any

from mcts_envs.core import errors
from mcts_envs.core.kernel import record
from mcts_envs.core.typing import Bytes
from mcts_envs.games.wall_survival.rules.board import clear, look_around, open_sides, put_wall
from mcts_envs.games.wall_survival.rules.kernels import judge
from mcts_envs.games.wall_survival.rules.layout import DOWN, NO_WALL, NOWHERE, OUT_OF_TIME, RIGHT, STATE

_SIDES = ("up", "right", "down", "left")
_DIGITS = "0123456789abcdef"


def position(state: Bytes) -> dict[str, Any]:
    """Return the state in plain terms; :class:`~mcts_envs.games.wall_survival.spec.WallSurvival` describes them."""
    s = record(state, STATE)
    size = int(s.board_size)
    result = {
        "M": size,
        "K": int(s.reach),
        "p0": list(divmod(int(s.stands[0]), size)),
        "p1": list(divmod(int(s.stands[1]), size)),
        "walls": "".join(_DIGITS[15 - open_sides(state, cell)] for cell in range(size * size)),
        "turn": int(s.turn),
    }
    if s.came_from != NOWHERE:
        side = None if s.last_side == NO_WALL else int(s.last_side)
        result["last"] = {"from": list(divmod(int(s.came_from), size)), "side": side}
    if s.max_steps:
        result["t"] = int(s.t)
    return result


def place(state: Bytes, position: Mapping[str, Any]) -> None:
    """Set a state that was just reset to a position, which may be the end of a game.

    Nothing is changed if the position is at fault.

    Raises
    ------
    ValueError, TypeError
        If a key is missing or unknown, the board has another size, the players share a cell or leave the board, walls
        are not the same from both sides, or the border is open.
    """
    s = record(state, STATE)
    size = int(s.board_size)
    clock = ("t",) if s.max_steps else ()
    errors.keys("position", position, ("p0", "p1", "walls", "turn"), ("M", "K", "last", *clock))
    given = errors.integer("position['M']", position.get("M", size), 0, 10**6)
    if given != size:
        raise ValueError(f"position['M'] {given}: this board has size {size}; make it with board_size={given}")
    reach = errors.integer("position['K']", position.get("K", int(s.first_reach)), 0, size * size)
    cells = [_read_cell(f"position['{key}']", position[key], size) for key in ("p0", "p1")]
    if cells[0] == cells[1]:
        raise ValueError(f"position: both players stand on {list(divmod(cells[0], size))}")
    turn = errors.integer("position['turn']", position["turn"], 0, 1)
    walls = _read_walls(position["walls"], size)
    came_from, last_side = _read_last(position.get("last"), walls, cells[1 - turn], s)
    t = errors.integer("position['t']", position.get("t", 0), 0, 10**6)
    clear(state)
    for cell, sides in enumerate(walls):
        for side in (RIGHT, DOWN):
            if sides >> side & 1 and open_sides(state, cell) >> side & 1:
                put_wall(state, cell, side)
    s.stands[:], s.reach, s.turn, s.t = cells, reach, turn, t
    s.came_from, s.last_side = came_from, last_side
    judge(state)
    if not s.end and s.max_steps and t >= s.max_steps:
        s.end = OUT_OF_TIME
    look_around(state)


def _read_cell(name: str, given: Any, size: int) -> int:
    if not errors.is_list(given) or len(given) != 2:
        raise TypeError(f"{name} {given!r} is not a cell [row, column]")
    row, column = (errors.integer(f"{name}[{i}]", number, 0, size - 1) for i, number in enumerate(given))
    return row * size + column


def _listed_walls(given: Any, size: int) -> list[int]:
    """Return the walls of every cell as bits, from those inside the border, each named once or from both sides."""
    cells = range(size * size)
    walls = [
        (c < size) | (c % size == size - 1) << 1 | (c >= size * size - size) << 2 | (c % size == 0) << 3 for c in cells
    ]
    for i, wall in enumerate(given):
        if not isinstance(wall, (list, tuple)) or len(wall) != 3 or wall[2] not in _SIDES:
            raise ValueError(
                f"position['walls'][{i}] {wall!r} is no wall; give [row, column, side], side one of {_SIDES}"
            )
        cell, side = _read_cell(f"position['walls'][{i}]", wall[:2], size), _SIDES.index(wall[2])
        if walls[cell] >> side & 1:
            continue
        walls[cell] |= 1 << side
        walls[cell + (-size, 1, size, -1)[side]] |= 1 << (side + 2) % 4
    return walls


def _read_walls(given: Any, size: int) -> list[int]:
    """Return the walls of every cell as bits."""
    if isinstance(given, (list, tuple)):
        return _listed_walls(given, size)
    if not isinstance(given, str):
        said = f"not a string of {size * size} digits or a list of [row, column, side]"
        raise TypeError(f"position['walls'] is {type(given).__name__}, {said}")
    if len(given) != size * size:
        raise ValueError(f"position['walls'] has {len(given)} digits; it must have {size} x {size} = {size * size}")
    if wrong := sorted(set(given) - set(_DIGITS)):
        raise ValueError(f"position['walls'] has {wrong[0]!r}; its digits are 0 to 9 and a to f")
    walls = [int(digit, 16) for digit in given]
    for cell, sides in enumerate(walls):
        row, column = divmod(cell, size)
        for side, border, across in (
            (0, row == 0, cell - size),
            (1, column == size - 1, cell + 1),
            (2, row == size - 1, cell + size),
            (3, column == 0, cell - 1),
        ):
            walled = sides >> side & 1
            if border and not walled:
                raise ValueError(f"position['walls']: cell [{row}, {column}] is open {_SIDES[side]}, at the border")
            if not border and walled != walls[across] >> (side + 2) % 4 & 1:
                there = list(divmod(across, size))
                raise ValueError(
                    f"position['walls']: between [{row}, {column}] and {there} there is a wall for one of the two only"
                )
    return walls


def _read_last(given: Any, walls: list[int], cell: int, s: Any) -> tuple[int, int]:
    """Return where the last move came from, and the side on which it put a wall."""
    if given is None:
        return NOWHERE, NOWHERE
    if not isinstance(given, Mapping):
        raise TypeError(f"position['last'] {given!r} is {type(given).__name__}, not a dictionary with from and side")
    errors.keys("position['last']", given, ("from", "side"))
    came_from = _read_cell("position['last']['from']", given["from"], int(s.board_size))
    if given["side"] is None and s.optional_wall:
        return came_from, NO_WALL
    side = errors.integer("position['last']['side']", given["side"], 0, 3)
    if not walls[cell] >> side & 1:
        where = list(divmod(cell, int(s.board_size)))
        raise ValueError(f"position['last']['side'] {side}: the other player's cell {where} has no wall {_SIDES[side]}")
    return came_from, side
