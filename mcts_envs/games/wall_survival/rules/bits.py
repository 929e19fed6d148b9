"""Boards of bits: steps through open sides, all cells at once.

Boards of up to 64 cells lie in one word, larger ones in three. A board is a tuple of three words; a *map* is the tuple
of six words of the open sides, ``right`` then ``down``. Bit i of ``right`` set: one can step between the cells i and
i + 1; of ``down``: between i and i + size. No bit is set at the border, so shifting a whole board never leaks from one
row to the next.
"""

import numpy as np

from mcts_envs.core.contract import types
from mcts_envs.core.kernel import count_bits, kernel

ONE, ZERO = np.uint64(1), np.uint64(0)
_WORD = np.uint64(64)

BOARD = types.UniTuple(types.uint64, 3)
MAP = types.UniTuple(types.uint64, 6)


@kernel()
def bit(cell):
    """Return the board that holds one cell; an empty one for -1."""
    here = ONE << np.uint64(cell & 63)
    return (
        here if cell >> 6 == 0 else ZERO,
        here if cell >> 6 == 1 else ZERO,
        here if cell >> 6 == 2 else ZERO,
    )


@kernel()
def holds(board, cell):
    """Return whether a board holds a cell."""
    word = board[0] if cell < 64 else board[1] if cell < 128 else board[2]
    return (word >> np.uint64(cell & 63)) & ONE != ZERO


@kernel()
def count(board):
    """Return the number of cells of a board."""
    return count_bits(board[0]) + count_bits(board[1]) + count_bits(board[2])


@kernel()
def _spread_small(cells, ways, size):
    """Return the cells of one word and those a step away."""
    right, down = ways[0], ways[3]
    sideways = ((cells & right) << ONE) | ((cells >> ONE) & right)
    return cells | sideways | ((cells & down) << size) | ((cells >> size) & down)


@kernel()
def _forward(a, b, c, steps):
    """Shift a board towards higher cells."""
    back = _WORD - steps
    return a << steps, (b << steps) | (a >> back), (c << steps) | (b >> back)


@kernel()
def _backward(a, b, c, steps):
    """Shift a board towards lower cells."""
    back = _WORD - steps
    return (a >> steps) | (b << back), (b >> steps) | (c << back), c >> steps


@kernel()
def _spread(cells, ways, size):
    """Return the cells of a board and those a step away."""
    a, b, c = cells
    r0, r1, r2, d0, d1, d2 = ways
    right = _forward(a & r0, b & r1, c & r2, ONE)
    left = _backward(a, b, c, ONE)
    down = _forward(a & d0, b & d1, c & d2, size)
    up = _backward(a, b, c, size)
    return (
        a | right[0] | (left[0] & r0) | down[0] | (up[0] & d0),
        b | right[1] | (left[1] & r1) | down[1] | (up[1] & d1),
        c | right[2] | (left[2] & r2) | down[2] | (up[2] & d2),
    )


@kernel(BOARD(BOARD, MAP, types.int64))
def spread(cells, ways, board_size):
    """Return the cells of a board and those a step away."""
    size = np.uint64(board_size)
    if board_size <= 8:
        return _spread_small(cells[0], ways, size), ZERO, ZERO
    return _spread(cells, ways, size)


@kernel(BOARD(MAP, types.int64, types.int64, types.int64, types.int64))
def within(ways, board_size, start, blocked, steps):
    """Return the cells that can be reached in so many steps without entering a blocked cell."""
    size = np.uint64(board_size)
    wall = bit(blocked)
    if board_size <= 8:
        cells, free = bit(start)[0], ~wall[0]
        for _ in range(steps):
            more = _spread_small(cells, ways, size) & free
            if more == cells:
                break
            cells = more
        return cells, ZERO, ZERO
    a, b, c = bit(start)
    for _ in range(steps):
        d, e, f = _spread((a, b, c), ways, size)
        d, e, f = d & ~wall[0], e & ~wall[1], f & ~wall[2]
        if (a ^ d) | (b ^ e) | (c ^ f) == ZERO:
            break
        a, b, c = d, e, f
    return a, b, c


@kernel(BOARD(MAP, types.int64, types.int64, types.int64))
def part_of(ways, board_size, start, until):
    """Return the part of the board that hangs together with a cell; stop early at the cell ``until``, if not -1."""
    size = np.uint64(board_size)
    goal = bit(until)
    if board_size <= 8:
        cells, more = ZERO, bit(start)[0]
        while more != cells and more & goal[0] == ZERO:
            cells = more
            more = _spread_small(cells, ways, size)
        return more, ZERO, ZERO
    a, b, c = ZERO, ZERO, ZERO
    d, e, f = bit(start)
    while (a ^ d) | (b ^ e) | (c ^ f) != ZERO and (d & goal[0]) | (e & goal[1]) | (f & goal[2]) == ZERO:
        a, b, c = d, e, f
        d, e, f = _spread((a, b, c), ways, size)
    return d, e, f


@kernel()
def _nearer_large(ways, size, first, second):
    a, b, c = first
    d, e, f = second
    m0, m1, m2 = first
    y0, y1, y2 = second
    u, v, w = ZERO, ZERO, ZERO
    while (u ^ (a | d)) | (v ^ (b | e)) | (w ^ (c | f)) != ZERO:
        u, v, w = a | d, b | e, c | f
        a, b, c = _spread((a, b, c), ways, size)
        d, e, f = _spread((d, e, f), ways, size)
        m0, m1, m2 = m0 | (a & ~d), m1 | (b & ~e), m2 | (c & ~f)
        y0, y1, y2 = y0 | (d & ~a), y1 | (e & ~b), y2 | (f & ~c)
    return count((m0, m1, m2)), count((y0, y1, y2))


@kernel(types.UniTuple(types.int64, 2)(MAP, types.int64, types.int64, types.int64))
def nearer(ways, board_size, first, second):
    """Return how many cells are nearer to the first of two cells, and how many to the second.

    Both spread one step at a time; who has reached a cell alone when it is first reached is nearer to it. The cells
    that the other has reached before need not be closed off, as whoever comes through them comes later.
    """
    size = np.uint64(board_size)
    if board_size <= 8:
        a, b = bit(first)[0], bit(second)[0]
        mine, yours, both = a, b, ZERO
        while both != a | b:
            both = a | b
            a, b = _spread_small(a, ways, size), _spread_small(b, ways, size)
            mine |= a & ~b
            yours |= b & ~a
        return count_bits(mine), count_bits(yours)
    return _nearer_large(ways, size, bit(first), bit(second))
