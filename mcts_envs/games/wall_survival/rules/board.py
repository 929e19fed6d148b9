"""What the rules, the players and the board generator ask of a state: sides, walls, ways, parts."""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.wall_survival.rules.bits import BOARD, ONE, ZERO, part_of, within
from mcts_envs.games.wall_survival.rules.layout import DOWN, LEFT, POSTS, RIGHT, STATE, UP, WORDS


@kernel()
def ways(state):
    """Return the open sides of all cells as a map."""
    s = record(state, STATE)
    right, down = s.right, s.down
    return right[0], right[1], right[2], down[0], down[1], down[2]


@kernel()
def stands(state, player):
    """Return the cell of a player."""
    return np.int64(record(state, STATE).stands[player])


@kernel()
def neighbour(cell, side, size):
    """Return the cell across an open side."""
    if side == UP:
        return cell - size
    if side == RIGHT:
        return cell + 1
    return cell + size if side == DOWN else cell - 1


@kernel()
def _is_open(words, cell):
    if cell < 0:
        return 0
    return np.int64((words[cell >> 6] >> np.uint64(cell & 63)) & ONE)


@kernel(types.int64(BYTES, types.int64))
def open_sides(state, cell):
    """Return the open sides of a cell as bits: 1 up, 2 right, 4 down, 8 left."""
    s = record(state, STATE)
    right, down = s.right, s.down
    up, left = _is_open(down, cell - s.board_size), _is_open(right, cell - 1)
    return up | _is_open(right, cell) << 1 | _is_open(down, cell) << 2 | left << 3


@kernel()
def first_post(cell, side, size):
    """Return the lower post of a side."""
    if side == RIGHT:
        return cell + 1
    return cell + size if side == DOWN else cell


@kernel()
def second_post(cell, side, size):
    """Return the higher post of a side."""
    if side == UP:
        return cell + 1
    return cell + size if side == LEFT else cell + size + 1


@kernel()
def separates(state, cell, side):
    """Return whether a wall on an open side would part the cells on its two sides."""
    s = record(state, STATE)
    joined, size = s.joined, s.board_size
    return joined[first_post(cell, side, size)] == joined[second_post(cell, side, size)]


@kernel(types.boolean(BYTES, types.int64, types.int64))
def put_wall(state, cell, side):
    """Put a wall on an open side; return whether it parts the cells on its two sides."""
    s = record(state, STATE)
    joined, size = s.joined, s.board_size
    edge = cell - size if side == UP else cell - 1 if side == LEFT else cell
    board = s.right if side in (RIGHT, LEFT) else s.down
    board[edge >> 6] &= ~(ONE << np.uint64(edge & 63))
    low, high = joined[first_post(cell, side, size)], joined[second_post(cell, side, size)]
    if low == high:
        return True
    if low > high:
        low, high = high, low
    for i in range(POSTS):
        joined[i] = low if joined[i] == high else joined[i]
    return False


@kernel(types.void(BYTES))
def clear(state):
    """Take all walls but the border away."""
    s = record(state, STATE)
    right, down, joined, size = s.right, s.down, s.joined, s.board_size
    for i in range(WORDS):
        right[i] = down[i] = ZERO
    for i in range(POSTS):
        joined[i] = 0
    for row in range(size):
        for column in range(size):
            cell = row * size + column
            mark = ONE << np.uint64(cell & 63)
            if column < size - 1:
                right[cell >> 6] |= mark
            if row < size - 1:
                down[cell >> 6] |= mark
            if row > 0 and column > 0:
                joined[cell] = cell


@kernel(BOARD(BYTES, types.int64, types.int64))
def part(state, cell, until):
    """Return the part of the board that hangs together with a cell; stop early at the cell ``until``, if not -1."""
    return part_of(ways(state), record(state, STATE).board_size, cell, until)


@kernel(BOARD(BYTES, types.int64))
def near(state, player):
    """Return the cells that a player could reach if it were to move."""
    s = record(state, STATE)
    return within(ways(state), s.board_size, stands(state, player), stands(state, 1 - player), s.reach)


@kernel(types.void(BYTES))
def look_around(state):
    """Note the cells that the player to move can reach."""
    s = record(state, STATE)
    here, words = s.near, near(state, s.turn)
    here[0], here[1], here[2] = words
