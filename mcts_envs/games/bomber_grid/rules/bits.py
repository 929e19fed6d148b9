"""Boards of bits: 121 cells in two words, as fields of the state or as pairs (cells 0 to 63, cells 64 to 120)."""

import numpy as np

from mcts_envs.core.contract import types
from mcts_envs.core.kernel import count_bits, kernel, lowest
from mcts_envs.games.bomber_grid.rules.layout import CELLS, WIDTH

ONE, ZERO = np.uint64(1), np.uint64(0)
BOARD = types.UniTuple(types.uint64, 2)

_ROW, _BACK = np.uint64(WIDTH), np.uint64(64 - WIDTH)
_LAST = np.uint64(63)


def _board(cells):
    bits = sum(1 << cell for cell in cells)
    return np.uint64(bits & (2**64 - 1)), np.uint64(bits >> 64)


EVERY_LOW, EVERY_HIGH = _board(range(CELLS))
_NOT_FIRST_LOW, _NOT_FIRST_HIGH = _board(cell for cell in range(CELLS) if cell % WIDTH != 0)
_NOT_LAST_LOW, _NOT_LAST_HIGH = _board(cell for cell in range(CELLS) if cell % WIDTH != WIDTH - 1)


@kernel()
def has(board, cell):
    """Return whether a board holds a cell."""
    return (board[cell >> 6] >> np.uint64(cell & 63)) & ONE != ZERO


@kernel()
def add(board, cell):
    """Put a cell on a board of the state."""
    board[cell >> 6] |= ONE << np.uint64(cell & 63)


@kernel()
def remove(board, cell):
    """Take a cell off a board of the state."""
    board[cell >> 6] &= ~(ONE << np.uint64(cell & 63))


@kernel()
def pair(board):
    """Return a board of the state as a pair."""
    return board[0], board[1]


@kernel()
def put(board, words):
    """Write a pair to a board of the state."""
    board[0] = words[0]
    board[1] = words[1]


@kernel()
def single(cell):
    """Return the board that holds one cell."""
    bit = ONE << np.uint64(cell & 63)
    return (bit, ZERO) if cell < 64 else (ZERO, bit)


@kernel()
def both(a, b):
    """Return the cells on either board."""
    return a[0] | b[0], a[1] | b[1]


@kernel()
def common(a, b):
    """Return the cells on both boards."""
    return a[0] & b[0], a[1] & b[1]


@kernel()
def without(a, b):
    """Return the cells of the first board that are not on the second."""
    return a[0] & ~b[0], a[1] & ~b[1]


@kernel()
def any_of(a):
    """Return whether a board holds a cell."""
    return a[0] | a[1] != ZERO


@kernel()
def count(a):
    """Return the number of cells of a board."""
    return count_bits(a[0]) + count_bits(a[1])


@kernel()
def first(a):
    """Return the first cell of a board that is not empty."""
    return lowest(a[0]) if a[0] != ZERO else 64 + lowest(a[1])


@kernel()
def rest(a):
    """Return a board without its first cell."""
    return (a[0] & (a[0] - ONE), a[1]) if a[0] != ZERO else (a[0], a[1] & (a[1] - ONE))


@kernel()
def up(a):
    """Return a board moved one row up."""
    return (a[0] >> _ROW) | (a[1] << _BACK), a[1] >> _ROW


@kernel()
def down(a):
    """Return a board moved one row down."""
    return a[0] << _ROW, ((a[1] << _ROW) | (a[0] >> _BACK)) & EVERY_HIGH


@kernel()
def left(a):
    """Return a board moved one column to the left."""
    low, high = a[0] & _NOT_FIRST_LOW, a[1] & _NOT_FIRST_HIGH
    return (low >> ONE) | (high << _LAST), high >> ONE


@kernel()
def right(a):
    """Return a board moved one column to the right."""
    low, high = a[0] & _NOT_LAST_LOW, a[1] & _NOT_LAST_HIGH
    return low << ONE, (high << ONE) | (low >> _LAST)


@kernel()
def beside(a):
    """Return the cells one step away from those of a board."""
    u, d, l, r = up(a), down(a), left(a), right(a)  # noqa: E741
    return u[0] | d[0] | l[0] | r[0], u[1] | d[1] | l[1] | r[1]


@kernel(BOARD(BOARD, BOARD))
def flood(start, free):
    """Return the cells of ``free`` that hang together with a start, and the start."""
    found, more = start, both(start, common(beside(start), free))
    while any_of(without(more, found)):
        found, more = more, both(more, common(beside(more), free))
    return found
