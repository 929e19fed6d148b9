"""Ways over the pitch: what it costs a player to get from any square to a goal.

The costs are found by sweeps over the part of the pitch that matters, in turn from both ends, until nothing changes
(Bellman's equations, by the method of Gauss and Seidel). They lie in an array of numbers of the caller, one for each
square of the pitch, row by row, from a first index on; what is known of each square follows them in the same order.
"""

import numpy as np

from mcts_envs.core.contract import BYTES, FLOATS, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.football.field import DX, DY, from_own_side, is_empty, neighbour, stride, team_of, zones
from mcts_envs.football.layout import HOME, ON_PITCH, STANDING, STATE
from mcts_envs.football.odds import needed

_FAR, _MAX_SWEEPS = 1e6, 24
_DODGE, _ZONE, _TAKEN = 9.0, 0.7, 3.0
"""In squares: a dodge that fails for sure, a tackle zone on a square, somebody who stands in the way."""

_AROUND = 3
"""Ways do not go farther than so many squares beyond where the player and his goal are."""

_DETOUR = 6.0
"""How much longer than the straight one a way may be at first; who cannot be on a way so short is left out."""

_BITS = 8
_BYTE = (1 << _BITS) - 1


@kernel()
def _price(covers, empty):
    """Return what it costs to enter a square that so many opposing zones cover, in squares."""
    price = 1.0 + _ZONE * covers
    return price if empty else price + _TAKEN


@kernel()
def _fall(state, player, covers_here, covers):
    """Return what the dodge between two squares costs, in squares."""
    if covers_here == 0:
        return 0.0
    return _DODGE * (needed(state, player, 1 - covers) - 1) / 6.0


@kernel()
def _at(state, first, square):
    rows = stride(state)
    return first + (square // rows - 1) * (rows - 2) + square % rows - 1


@kernel(types.int64(BYTES, types.int64, types.int64))
def _part(state, player, goal):
    """Return the columns and rows that matter, counted from 0: the first and the last of each, packed."""
    s = record(state, STATE)
    rows, width, height = stride(state), np.int64(s.width), np.int64(s.height)
    here = np.int64(s.square[player])
    x, y = here % rows - 1, here // rows - 1
    if goal == 0:
        to_x = 0 if team_of(player) == HOME else width - 1
        aside = abs(x - to_x) + _AROUND
        top, bottom = y - aside, y + aside
    else:
        to_x, to_y = goal % rows - 1, goal // rows - 1
        top, bottom = min(y, to_y) - _AROUND, max(y, to_y) + _AROUND
    left, right = max(min(x, to_x) - _AROUND, 0), min(max(x, to_x) + _AROUND, width - 1)
    return left | right << _BITS | max(top, 0) << 2 * _BITS | min(bottom, height - 1) << 3 * _BITS


@kernel(types.void(BYTES, types.int64, types.int64, types.int64, FLOATS, types.int64))
def _begin(state, player, goal, part, costs, first):
    """Set the costs at the goal to 0; note for each square how many zones cover it, 16 more where somebody is."""
    s = record(state, STATE)
    width, cells = np.int64(s.width), np.int64(s.width) * np.int64(s.height)
    left, right, top, bottom = part & _BYTE, part >> _BITS & _BYTE, part >> 2 * _BITS & _BYTE, part >> 3 * _BITS
    team = team_of(player)
    scoring = 0 if team == HOME else width - 1
    for y in range(top, bottom + 1):
        for x in range(left, right + 1):
            cell = first + y * width + x
            ends = x == scoring if goal == 0 else (y + 1) * (width + 2) + x + 1 == goal
            costs[cell] = 0.0 if ends else _FAR
            costs[cell + cells] = 0.0
    for other in range(32):
        square = np.int64(s.square[other])
        if square > 0 and s.box[other] == ON_PITCH:
            y, x = square // (width + 2) - 1, square % (width + 2) - 1
            if top <= y <= bottom and left <= x <= right:
                costs[first + cells + y * width + x] += 16.0
            if team_of(other) != team and s.posture[other] == STANDING:
                for direction in range(8):
                    row, column = y + DY[direction], x + DX[direction]
                    if top <= row <= bottom and left <= column <= right:
                        costs[first + cells + row * width + column] += 1.0


@kernel(types.boolean(BYTES, types.int64, types.int64, FLOATS, types.int64, types.int64, types.int64))
def _shorten(state, player, part, costs, first, x, y):
    """Lower the cost of a square to that of the best way by one of its neighbours; return whether it fell."""
    s = record(state, STATE)
    width, known = np.int64(s.width), np.int64(s.width) * np.int64(s.height)
    left, right, top, bottom = part & _BYTE, part >> _BITS & _BYTE, part >> 2 * _BITS & _BYTE, part >> 3 * _BITS
    cell = first + y * width + x
    old = costs[cell]
    here, best = np.int64(costs[cell + known]) & 15, old
    for row in range(max(y - 1, top), min(y + 1, bottom) + 1):
        for column in range(max(x - 1, left), min(x + 1, right) + 1):
            after = first + row * width + column
            there = costs[after]
            if there + 1.0 < best:
                noted = np.int64(costs[after + known])
                covers = noted & 15
                best = min(best, there + _price(covers, noted < 16) + _fall(state, player, here, covers))
    costs[cell] = best
    return best < old - 1e-9


@kernel(types.void(BYTES, types.int64, types.int64, FLOATS, types.int64))
def find_ways(state, player, goal, costs, first):
    """Fill in the cost of the best way to a goal from every square; goal 0 is the end zone where the player scores.

    The array has room for two numbers for each square.
    """
    s = record(state, STATE)
    part = _part(state, player, goal)
    left, right, top, bottom = part & _BYTE, part >> _BITS & _BYTE, part >> 2 * _BITS & _BYTE, part >> 3 * _BITS
    _begin(state, player, goal, part, costs, first)
    rows, here = stride(state), np.int64(s.square[player])
    aim = (1 if team_of(player) == HOME else rows - 2) if goal == 0 else goal % rows
    limit = abs(here % rows - aim) + _DETOUR
    for sweep in range(_MAX_SWEEPS):
        changed = False
        backward = (aim > here % rows) != (sweep & 2 != 0)
        for i in range(right - left + 1):
            x = right - i if backward else left + i
            for j in range(bottom - top + 1):
                y = bottom - j if sweep & 1 else top + j
                least = abs(x + 1 - aim) + max(abs(x + 1 - here % rows), abs(y + 1 - here // rows))
                if least <= limit and costs[first + y * (rows - 2) + x] > 1.0:
                    changed |= _shorten(state, player, part, costs, first, x, y)
        found = costs[_at(state, first, here)] + _TAKEN
        if found <= limit and not changed:
            break
        limit = min(found, 2.0 * limit + _DETOUR)


@kernel(types.int64(BYTES, types.int64, FLOATS, types.int64))
def first_step(state, player, costs, first):
    """Return the direction of the next empty square on the best way; -1 if no step brings the player nearer."""
    here, other = np.int64(record(state, STATE).square[player]), 1 - team_of(player)
    best, least, covers_here = -1, costs[_at(state, first, here)], zones(state, other, here)
    for way in range(8):
        direction = from_own_side(1 - other, way)
        square = neighbour(state, here, direction)
        if is_empty(state, square):
            cost = costs[_at(state, first, square)]
            covers = zones(state, other, square)
            total = cost + _price(covers, True) + _fall(state, player, covers_here, covers)
            if cost < costs[_at(state, first, here)] and (best < 0 or total < least):
                best, least = direction, total
    return best
