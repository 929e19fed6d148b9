"""Turned and mirrored boards: what each number of an observation is there, and what each action."""

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np

from mcts_envs.core.typing import Ints, Looks, Order, Singles
from mcts_envs.games.bomber_grid.rules.layout import MOVES

_WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
_MOVES = ("", *_WAYS, "")
_AXES = "row", "column"

Turn = tuple[int, int, int, int]
"""A turn as the matrix ((a, b), (c, d)) that takes rows and columns, less those of the centre, to where they come."""

TURNS: tuple[Turn, ...] = (
    (0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0), (1, 0, 0, -1), (0, 1, 1, 0), (-1, 0, 0, 1), (0, -1, -1, 0),
)  # fmt: skip
"""Quarters, and a mirror before each of them."""


@lru_cache
def symmetries(*groups: tuple[tuple[str, ...], int]) -> tuple[tuple[Looks, Order], ...]:
    """Return the seven boards that turns by quarters and a mirror make of one, as a game without radio wants them.

    Parameters
    ----------
    *groups : (names, side)
        The parts of the observation in their order: planes of ``side * side`` cells, or numbers, whose side is 1. Names
        end with ``up``, ``down``, ``left`` or ``right`` if they are of a direction, and with ``row`` or ``column`` if
        they are a place; ``NAME_row`` is 0 where ``NAME`` is.
    """
    return tuple((partial(looks, *_observation(groups, turn)), _actions(turn)) for turn in TURNS)


def looks(order: Ints, places: Ints, there: Ints, observations: Singles) -> Singles:
    """Return what observations [b, N] look like on the turned board.

    Parameters
    ----------
    order : int array [N]
        The number that comes to each place.
    places, there : int arrays [k]
        Which of them count from the other side then, and the number that is 0 if there is no such place; -1 for none.
    """
    found = observations[:, order]
    found[:, places] = np.where(there < 0, np.float32(1), found[:, there]) - found[:, places]
    return found


def _observation(groups: Sequence[tuple[Sequence[str], int]], turn: Turn) -> tuple[Ints, Ints, Ints]:
    """Return the parameters of :func:`looks`."""
    order: list[Ints] = []
    places, there = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    first = 0
    for names, side in groups:
        cells = _came(side, turn)
        number = {name: first + at * cells.size for at, name in enumerate(names)}
        for name, start in number.items():
            source, counts_down = _source(name, turn)
            order.append(number[source] + cells)
            if counts_down:
                places.append(start + np.arange(cells.size))
                there.append(np.full(cells.size, number.get(name.rpartition("_")[0], -1)))
        first += len(names) * cells.size
    return np.concatenate(order), np.concatenate(places), np.concatenate(there)


def _came(side: int, turn: Turn) -> Ints:
    """Return the cell that comes to each place of a board."""
    a, b, c, d = turn
    row, column = np.divmod(np.arange(side * side), side) - np.full((2, 1), (side - 1) / 2)
    return np.rint((a * row + c * column + (side - 1) / 2) * side + b * row + d * column + (side - 1) / 2).astype(int)


def _source(name: str, turn: Turn) -> tuple[str, bool]:
    """Return whose number comes to a name's place, and whether it counts from the other side then."""
    a, b, c, d = turn
    stem, _, last = name.rpartition("_")
    joined = f"{stem}_" if stem else ""
    if last in _WAYS:
        row, column = _WAYS[last]
        came = a * row + c * column, b * row + d * column
        return joined + next(way for way, step in _WAYS.items() if step == came), False
    if last in _AXES:
        along = (a, b) if last == "row" else (c, d)
        return joined + _AXES[along.index(sum(along))], sum(along) < 0
    return name, False


def _actions(turn: Turn) -> Ints:
    """Return what each action is on the turned board."""
    a, b, c, d = turn
    to = np.arange(MOVES)
    for move, name in enumerate(_MOVES):
        if name:
            row, column = _WAYS[name]
            came = a * row + b * column, c * row + d * column
            to[move] = _MOVES.index(next(way for way, step in _WAYS.items() if step == came))
    return to
