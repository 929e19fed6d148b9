"""Positions of the classic game: readable descriptions of a state."""

from typing import Any

import numpy as np

from mcts_envs.core import errors
from mcts_envs.core.kernel import record
from mcts_envs.games.lane_defense.rules import classic as rules


def position(state: Any) -> dict[str, Any]:
    """Return the state as ``{"board", "t", "can_plant"}``."""
    s = record(state, rules.STATE)
    return {"board": rules.board(state).reshape(-1).tolist(), "t": int(s.t), "can_plant": bool(s.can_plant)}


def place(state: Any, position: Any) -> None:
    """Set a fresh state to a position.

    Raises
    ------
    ValueError, TypeError
        If a key is missing or unknown, the board has another size or unknown codes, or a zombie is in column 0.
    """
    errors.keys("position", position, ("board", "t", "can_plant"))
    s = record(state, rules.STATE)
    rows, columns = int(s.rows), int(s.columns)
    given, is_list = position["board"], errors.is_list
    if is_list(given) and [len(row) if is_list(row) else 0 for row in given] == [columns] * rows:
        given = [code for row in given for code in row]
    if not is_list(given) or len(given) != rows * columns:
        size = f"has {len(given)} cells" if is_list(given) else f"is {type(given).__name__}"
        raise ValueError(f"position['board'] {size}; it must be a flat list of {rows} x {columns} = {rows * columns}")
    cells = [errors.integer(f"position['board'][{i}]", code, 0, 4) for i, code in enumerate(given)]
    for lane in range(rows):
        if cells[lane * columns] > rules.PLANT:
            raise ValueError(f"position['board'][{lane * columns}] is a zombie in column 0: the game is already lost")
    t = errors.integer("position['t']", position["t"], 0, 10**6)
    if s.max_steps and t >= s.max_steps:
        raise ValueError(f"position['t'] {t} is not below max_steps {s.max_steps}: the game is already over")
    if t > s.night and max(cells) <= rules.PLANT:
        raise ValueError(
            f"position: t {t} is after the night ({s.night}) and no zombie is left: the game is already won"
        )
    can_plant = errors.flag("position['can_plant']", position["can_plant"])
    s.boards[:] = 0
    for cell, code in enumerate(cells):
        if code:
            lane, column = divmod(cell, columns)
            s.boards[code - 1, lane >> 2] |= np.uint64(1 << 16 * (lane & 3) + column)
    s.t, s.can_plant, s.end = t, can_plant, rules.ONGOING
