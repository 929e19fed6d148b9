"""What a good player counts, as an observation: ways, who comes first, which walls end the game, what moves do."""

import numpy as np

from mcts_envs.core.contract import BYTES, OBSERVE, SINGLES, types
from mcts_envs.core.kernel import count_bits, kernel, lowest, record
from mcts_envs.games.wall_survival.rules.bits import BOARD, ONE, ZERO, bit, count, nearer, spread
from mcts_envs.games.wall_survival.rules.board import near, open_sides, separates, stands, ways
from mcts_envs.games.wall_survival.rules.ends import result, walled
from mcts_envs.games.wall_survival.rules.kernels import observe_flat
from mcts_envs.games.wall_survival.rules.layout import ONGOING, STATE

BOARDS, NUMBERS = 29, 6
_WAYS, _FIRST, _REACHED, _DEAD_ENDS, _WINS, _LOSES, _THREATS, _MOVES = 7, 9, 11, 12, 13, 17, 21, 25
"""Boards after the seven of the flat observation: two of ways, two of who comes first, one, one, four of four sides."""

_MOST = 1 << 20
"""More than the cells of a board, and exact as float32 with them."""


@kernel(types.void(BOARD, types.float64, SINGLES, types.int64))
def _mark(board, value, out, first):
    """Write a number for each cell of a board of bits."""
    for word in range(3):
        cells = board[word]
        while cells != ZERO:
            out[first + 64 * word + lowest(cells)] = value
            cells &= cells - ONE


@kernel()
def _less(board, other):
    """Return the cells of a board that another one does not hold."""
    return board[0] & ~other[0], board[1] & ~other[1], board[2] & ~other[2]


@kernel(types.void(BYTES, types.int64, SINGLES))
def _write_ways(state, player, out):
    """Write how near each cell is to both players, who comes there first, and both territories as shares.

    Both spread one step at a time: who reaches a cell while the other has not reached it comes first.
    """
    s = record(state, STATE)
    size, open_ways, turn = s.board_size, ways(state), max(s.reach, 1)
    cells, steps, mine, yours = size * size, 0, 0, 0
    a, b = bit(stands(state, player)), bit(stands(state, 1 - player))
    fresh_a, fresh_b = a, b
    while count(fresh_a) + count(fresh_b) > 0:
        nearness = turn / (turn + steps)
        _mark(fresh_a, nearness, out, _WAYS * cells)
        _mark(fresh_b, nearness, out, (_WAYS + 1) * cells)
        fresh_a, fresh_b = _less(fresh_a, b), _less(fresh_b, a)
        _mark(fresh_a, 1.0, out, _FIRST * cells)
        _mark(fresh_b, 1.0, out, (_FIRST + 1) * cells)
        mine, yours = mine + count(fresh_a), yours + count(fresh_b)
        more_a, more_b = spread(a, open_ways, size), spread(b, open_ways, size)
        fresh_a, fresh_b = _less(more_a, a), _less(more_b, b)
        a, b, steps = more_a, more_b, steps + 1
    out[BOARDS * cells + 2] = mine / cells
    out[BOARDS * cells + 3] = yours / cells


@kernel(types.void(BYTES, types.int64, BOARD, SINGLES, types.int64, types.int64))
def _write_ends(state, player, reached, out, wins, loses):
    """Write which walls of a player, if it were to move, end the game as it wants, and otherwise (if not -1)."""
    cells = record(state, STATE).board_size ** 2
    for word in range(3):
        left = reached[word]
        while left != ZERO:
            cell = 64 * word + lowest(left)
            left &= left - ONE
            sides = open_sides(state, cell)
            while sides:
                side = lowest(sides)
                sides &= sides - 1
                if separates(state, cell, side):
                    end = result(state, player, cell, side)
                    if end == 1:
                        out[(wins + side) * cells + cell] = 1.0
                    elif end != 2 and loses >= 0:
                        out[(loses + side) * cells + cell] = 1.0 if end < 0 else 0.5


@kernel(types.void(BYTES, types.int64, BOARD, SINGLES))
def _write_moves(state, player, reached, out):
    """Write what each move of a player would leave it of the board, as a rank: 1 for the best, 0 for the worst.

    That is the cells where it would come first less those where the other would. Until all are known they stand there
    with :data:`_MOST` added, so that 0 is no move.
    """
    size, other = record(state, STATE).board_size, stands(state, 1 - player)
    cells, least, most = size * size, 2 * _MOST, 0
    for word in range(3):
        left = reached[word]
        while left != ZERO:
            cell = 64 * word + lowest(left)
            left &= left - ONE
            sides = open_sides(state, cell)
            while sides:
                side = lowest(sides)
                sides &= sides - 1
                mine, yours = nearer(walled(state, cell, side), size, cell, other)
                worth = _MOST + mine - yours
                out[(_MOVES + side) * cells + cell] = worth
                least, most = min(least, worth), max(most, worth)
    for at in range(_MOVES * cells, (_MOVES + 4) * cells):
        if out[at] != 0.0:
            out[at] = (np.int64(out[at]) - least) / (most - least) if most > least else 1.0


@kernel(OBSERVE)
def observe_distances(state, player, out):
    """Boards of the flat observation, of ways, reach, ends and moves, then six numbers, as the environment says."""
    s = record(state, STATE)
    cells = s.board_size**2
    for i in range(out.shape[0]):
        out[i] = 0.0
    observe_flat(state, player, out, BOARDS * cells)
    _write_ways(state, player, out)
    here, there = near(state, player), near(state, 1 - player)
    _mark(there, 1.0, out, _REACHED * cells)
    for cell in range(cells):
        out[_DEAD_ENDS * cells + cell] = count_bits(open_sides(state, cell)) <= 1
    if s.end == ONGOING:
        _write_ends(state, player, here, out, _WINS, _LOSES)
        _write_ends(state, 1 - player, there, out, _THREATS, -1)
        _write_moves(state, player, here, out)
    out[BOARDS * cells + 4] = count(here) / cells
    out[BOARDS * cells + 5] = count(there) / cells
