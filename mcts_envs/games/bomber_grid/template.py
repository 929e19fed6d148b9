"""What every first position of a board has in common, worked out once for a game's settings."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from mcts_envs.games.bomber_grid.rules.layout import CELLS, DUEL, WIDTH

Cell = tuple[int, int]
_BREATHING = 2
"""Free cells along each of the two lines that leave a player's corner."""


class BoardTemplate(NamedTuple):
    """Cells (row, column) with a part of their own in the first position."""

    homes: list[Cell]
    free: set[Cell]
    corridor: set[Cell]
    pairs: set[Cell]


def template(size: int, mode: int) -> BoardTemplate:
    """Return the template of a square board.

    Players start one cell off the corners. The two cells next to each of them on the square of lines that joins these
    corners are free, and what is left in the middle of its sides is wood. In a duel two players start in opposite
    corners and there is no such wood. The diagonal is free; all other cells are drawn, mirrored at the diagonal.
    """
    low, high = 1, size - 2
    homes = [(low, low), (high, high)] if mode == DUEL else [(low, low), (high, low), (high, high), (low, high)]
    free = set()
    for row, column in homes:
        down, across = 1 if row == low else -1, 1 if column == low else -1
        for steps in range(1, _BREATHING + 1):
            free |= {(row + down * steps, column), (row, column + across * steps)}
    middle = range(low + _BREATHING + 1, high - _BREATHING)
    corridor = set() if mode == DUEL else {c for i in middle for line in (low, high) for c in ((line, i), (i, line))}
    taken = {*homes, *free, *corridor}
    pairs = {(r, c) for r in range(size) for c in range(r + 1, size) if (r, c) not in taken}
    return BoardTemplate(homes, free, corridor, pairs)


def board_of(cells: Iterable[Cell]) -> list[int]:
    """Return the two words of a board with some cells."""
    bits = sum(1 << WIDTH * row + column for row, column in cells)
    return [bits & (2**64 - 1), bits >> 64]


def write_template(s: Any, found: BoardTemplate) -> None:
    """Write a template to the settings of a state."""
    size = int(s.board_size)
    inside = {(row, column) for row in range(size) for column in range(size)}
    s.homes[: len(found.homes)] = [WIDTH * row + column for row, column in found.homes]
    s.outside[:] = board_of({divmod(cell, WIDTH) for cell in range(CELLS)} - inside)
    s.corridor[:] = board_of(found.corridor)
    s.pairs[:] = board_of(found.pairs)
