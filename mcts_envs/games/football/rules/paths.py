"""Path mode: which squares a player may reach, and the safest way there.

The chance of a way is the product of its dodges and rushes, without rerolls. It ends on a square with the loose ball,
and in the end zone if the player carries the ball. Of equally safe ways the shortest is taken.
"""

import numpy as np

from mcts_envs.core.contract import BYTES, state_dtype, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.rules import actions as act
from mcts_envs.games.football.rules import tasks
from mcts_envs.games.football.rules.activation import moves_left
from mcts_envs.games.football.rules.field import (
    ball_lies_on,
    from_own_side,
    is_empty,
    neighbour,
    on,
    stride,
    team_of,
    zones,
)
from mcts_envs.games.football.rules.layout import BLITZ, FIELDS, HOME, MAX_SQUARES, STATE
from mcts_envs.games.football.rules.odds import dodge_needs
from mcts_envs.games.football.rules.tasks import later

MAX_LENGTH = 12
"""Longest way: the highest movement allowance and two rushes."""

_SAFER = 1.0 + 1e-5
"""A way is safer if its chance is so many times another's: the same rolls in another order are rounded otherwise."""

LONG_STATE = state_dtype(
    [
        *FIELDS,
        ("board", "u1", MAX_SQUARES),
        ("chance", "f4", (2, MAX_SQUARES)),
        ("came", "u1", (MAX_LENGTH, MAX_SQUARES)),
    ]
)
"""A state in path mode: behind the board it has work space for the search of ways, which is 0 between two steps.

``board`` keeps the place free; it is read by the index :data:`~mcts_envs.games.football.rules.layout.BOARD`.
"""


@kernel()
def _ends_way(state, player, square):
    """Return whether a way ends on a square: by the ball there, or by a touchdown."""
    s = record(state, STATE)
    if ball_lies_on(state, square):
        return True
    return s.carrier == player and square % stride(state) == (1 if team_of(player) == HOME else s.width)


@kernel()
def _widen(bits, y, open_columns, ball_row, ball_bit):
    """Return the columns that may be entered from some squares of a row, or from those above and below them."""
    bits &= open_columns
    if y == ball_row:
        bits &= ~ball_bit
    return bits | bits << 1 | bits >> 1


@kernel()
def _spread(rows, first, y, open_columns, ball_row, ball_bit):
    """Return the columns that may be entered from the squares of a row that are reached already."""
    return _widen(np.int64(rows[first + y]), y, open_columns, ball_row, ball_bit)


@kernel()
def flood(state, player, moves, rows, first):
    """Fill in where a player may get to in some moves: from ``rows[first]`` on a number a row, with a bit a column.

    The next ``height + 2`` numbers are work space.
    """
    s = record(state, STATE)
    width, height, here = s.width, s.height, np.int64(s.square[player])
    free = first + height + 2
    for y in range(height + 2):
        bits = 0
        if 1 <= y <= height:
            for x in range(1, width + 1):
                if is_empty(state, y * (width + 2) + x):
                    bits |= 1 << x
        rows[free + y] = bits
        rows[first + y] = 0
    rows[first + here // (width + 2)] = 1 << here % (width + 2)
    open_columns = (1 << (width + 1)) - 2
    if s.carrier == player:
        open_columns &= ~(1 << (1 if team_of(player) == HOME else width))
    ball_row, ball_bit = 0, 0
    if ball_lies_on(state, s.ball):
        ball_row, ball_bit = s.ball // (width + 2), 1 << s.ball % (width + 2)
    for _ in range(moves):
        above = 0
        for y in range(1, height + 1):
            row = _spread(rows, first, y, open_columns, ball_row, ball_bit)
            below = _spread(rows, first, y + 1, open_columns, ball_row, ball_bit)
            old = np.int64(rows[first + y])
            rows[first + y] = old | ((above | row | below) & np.int64(rows[free + y]))
            above = _widen(old, y, open_columns, ball_row, ball_bit)


@kernel()
def near_reachable(state, player, kind, rows, first):
    """Return the slots of those whose byte of the board is of a kind, and next to whom a player may get, as bits.

    ``rows`` is what :func:`flood` filled in.
    """
    s = record(state, STATE)
    width, team = s.width, kind & 1
    bits = 0
    for slot in range(s.squad):
        other = 16 * team + slot
        square = np.int64(s.square[other])
        if square > 0 and other != player and on(state, square) >> 4 == kind:
            y, x = square // (width + 2), square % (width + 2)
            around = np.int64(rows[first + y - 1]) | np.int64(rows[first + y]) | np.int64(rows[first + y + 1])
            if around & 7 << (x - 1):
                bits |= 1 << slot
    return bits


@kernel()
def spare_moves(state, player, activity):
    """Return how many squares a player may walk to do what he was chosen for; a block costs one of them."""
    return moves_left(state, player) - np.int64(activity == BLITZ)


@kernel()
def list_reachable(state, player, actions, count):
    """List the squares that a player may reach, as moves; the end of the list serves as work space."""
    s = record(state, STATE)
    width, height = s.width, s.height
    first = actions.shape[0] - 2 * (height + 2)
    flood(state, player, moves_left(state, player), actions, first)
    base, here = act.after(state, act.MOVES), np.int64(s.square[player])
    for place in range(width * height):
        square = act.square_of(state, place)
        if square != here and np.int64(actions[first + square // (width + 2)]) >> square % (width + 2) & 1:
            actions[count] = base + place
            count += 1
    return count


@kernel()
def _step_chance(state, player, here, square, rushes):
    """Return the chance to get from a square to the next."""
    chance = 5.0 / 6.0 if rushes else 1.0
    if zones(state, 1 - team_of(player), here) > 0:
        chance *= (7 - dodge_needs(state, player, square)) / 6.0
    return chance


@kernel(types.void(BYTES, types.int64, types.int64, types.int64))
def _lengthen(state, player, square, length):
    """Lengthen the ways of one square less to a square."""
    w = record(state, LONG_STATE)
    old, rushes = 1 - length % 2, np.int64(w.moved[player]) + length > np.int64(w.ma[player])
    best, came = 0.0, 0
    for way in range(8):
        direction = from_own_side(team_of(player), way)
        before = neighbour(state, square, direction)
        chance = np.float64(w.chance[old, before])
        if chance > best * _SAFER and (length == 1 or not _ends_way(state, player, before)):
            chance *= _step_chance(state, player, before, square, rushes)
            if chance > best * _SAFER:
                best, came = chance, direction
    w.chance[length % 2, square] = np.float32(best)
    w.came[length - 1, square] = came


@kernel(types.int64(BYTES, types.int64, types.int64, types.int64))
def _search(state, player, target, moves):
    """Find the safest ways to all squares by their length.

    Return the length of the best one to a target, times MAX_SQUARES, plus the square where it ends; 0 if there is none.
    Where somebody stands on the target, it ends next to him.
    """
    w = record(state, LONG_STATE)
    rows, here = stride(state), np.int64(w.square[player])
    width, height = w.width, w.height
    y, x = here // rows, here % rows
    free = is_empty(state, target)
    w.chance[0, here] = np.float32(1.0)
    best, found = 0.0, 0
    for reach in range(1, moves + 1):
        for row in range(max(y - reach, 1), min(y + reach, height) + 1):
            for column in range(max(x - reach, 1), min(x + reach, width) + 1):
                square = row * rows + column
                if is_empty(state, square):
                    _lengthen(state, player, square, reach)
        w.chance[1 - reach % 2, here] = np.float32(0.0)
        for side in range(9):
            square = target if side == 8 else neighbour(state, target, side)
            if (side == 8 or not free) and np.float64(w.chance[reach % 2, square]) > best * _SAFER:
                best, found = np.float64(w.chance[reach % 2, square]), MAX_SQUARES * reach + square
    return found


@kernel(types.void(BYTES))
def _clean(state):
    """Zero the work space."""
    w = record(state, LONG_STATE)
    squares = stride(state) * (w.height + 2)
    for layer in range(2):
        for square in range(squares):
            w.chance[layer, square] = np.float32(0.0)
    for length in range(MAX_LENGTH):
        for square in range(squares):
            w.came[length, square] = 0


@kernel(types.boolean(BYTES, types.int64, types.int64))
def plan_walk(state, target, moves):
    """Plan the safest way of the active player to a square, or to one next to whoever stands on it.

    It becomes one task for each step. Return whether there is such a way.
    """
    w = record(state, LONG_STATE)
    player = w.active_player
    found = _search(state, player, target, moves)
    square = found % MAX_SQUARES
    for step in range(found // MAX_SQUARES, 0, -1):
        later(state, tasks.WALK, player, square)
        square = neighbour(state, square, np.int64(w.came[step - 1, square]))
    _clean(state)
    return found > 0
