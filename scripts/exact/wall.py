"""Start boards of wall survival up to symmetry, and positions that are played from them."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

import mcts_envs
from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Bytes

UP, RIGHT, DOWN, LEFT = range(4)
_STEPS = (-1, 0), (0, 1), (1, 0), (0, -1)
Cell = tuple[int, int]
Board = tuple[frozenset[tuple[Cell, int]], Cell]
"""Interior walls, each from both of its cells, and where the first player stands."""


def game_of(size: int) -> Game:
    """Return the game on boards of a size."""
    game: Game = mcts_envs.make_aec("WallSurvival-v0", board_size=size).game
    return game


def boards(size: int) -> dict[Board, int]:
    """Return the start boards, one for each class of those that rotations and reflections turn into each other.

    A board has (size + 1) // 2 walls and their images in the centre, and the players stand on a cell and its image. All
    are equally likely; those on which the players are separated from the start are drawn again, and left out.

    Returns
    -------
    dict
        How many boards each stands for, by board.
    """
    edges = {
        frozenset({((r, c), side), (_across((r, c), side), (side + 2) % 4)})
        for r in range(size)
        for c in range(size)
        for side in (RIGHT, DOWN)
        if max(_across((r, c), side)) < size
    }
    pairs = {edge | frozenset((_image(cell, size), (side + 2) % 4) for cell, side in edge) for edge in edges}
    cells = [(r, c) for r in range(size) for c in range(size) if (r, c) != _image((r, c), size)]
    found: Counter[Board] = Counter()
    for chosen in combinations(sorted(pairs, key=sorted), (size + 1) // 2):
        walls = frozenset().union(*chosen)
        for cell in cells:
            if _connected(walls, cell, _image(cell, size), size):
                found[_least(walls, cell, size)] += 1
    return dict(found)


def position(board: Board, size: int) -> dict[str, Any]:
    """Return a start board as ``reset(options={"position": ...})`` takes it."""
    walls, cell = board
    sides = [0] * size * size
    for r in range(size):
        for c in range(size):
            border = (r == 0) << UP | (c == size - 1) << RIGHT | (r == size - 1) << DOWN | (c == 0) << LEFT
            sides[r * size + c] = border + sum(1 << side for side in range(4) if ((r, c), side) in walls)
    return {
        "p0": [*cell],
        "p1": [*_image(cell, size)],
        "walls": "".join(f"{bits:x}" for bits in sides),
        "turn": 0,
    }


def played_from(game: Game, state: Bytes, rng: np.random.Generator) -> Iterator[Bytes]:
    """Yield the states of a game between players who choose uniformly, up to the last that leaves a choice."""
    state, rewards, legal = state.copy(), np.zeros(2), np.zeros(game.actions, np.int64)
    while (to_move := int(game.active(state))) > 0:
        actions = legal[: game.legal(state, to_move >> 1, legal)]
        yield state.copy()
        game.step(state, np.full(2, rng.choice(actions)), rewards)


def _across(cell: Cell, side: int) -> Cell:
    return cell[0] + _STEPS[side][0], cell[1] + _STEPS[side][1]


def _image(cell: Cell, size: int) -> Cell:
    return size - 1 - cell[0], size - 1 - cell[1]


def _connected(walls: frozenset[tuple[Cell, int]], start: Cell, goal: Cell, size: int) -> bool:
    seen, front = {start}, [start]
    while front:
        cell = front.pop()
        for side in range(4):
            near = _across(cell, side)
            if (cell, side) not in walls and min(near) >= 0 and max(near) < size and near not in seen:
                seen.add(near)
                front.append(near)
    return goal in seen


def _least(walls: frozenset[tuple[Cell, int]], cell: Cell, size: int) -> Board:
    """Return the first, in a fixed order, of the boards that symmetries make of one."""
    forms = []
    for _ in range(2):
        for _ in range(4):
            walls = frozenset((_turned(at, size), (side + 1) % 4) for at, side in walls)
            cell = _turned(cell, size)
            forms.append((walls, cell))
        walls = frozenset(((r, size - 1 - c), -side % 4) for (r, c), side in walls)
        cell = cell[0], size - 1 - cell[1]
    return min(forms, key=lambda form: (sorted(form[0]), form[1]))


def _turned(cell: Cell, size: int) -> Cell:
    """Turn a cell a quarter to the right."""
    return cell[1], size - 1 - cell[0]
