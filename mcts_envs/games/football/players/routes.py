"""Ways over the pitch: what it costs a player to get to a goal by any square.

The costs are found by sweeps over the part of the pitch that matters, in turn from both ends, until nothing changes
(Bellman's equations, by the method of Gauss and Seidel). They lie in an array of numbers of the caller, one for each
square of the pitch, row by row, from a first index on: what it costs to enter the square and to go on from there, so
that a neighbour needs no more than the least of them. What is noted of each square follows in the same order: how many
opposing zones cover it, 16 more where somebody is.
"""

import numpy as np

from mcts_envs.core.contract import BYTES, FLOATS, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.rules.field import (
    DX,
    DY,
    distance,
    from_own_side,
    is_empty,
    neighbour,
    stride,
    team_of,
    zones,
)
from mcts_envs.games.football.rules.layout import HOME, ON_PITCH, STANDING, STATE
from mcts_envs.games.football.rules.odds import target

_FAR, _MAX_SWEEPS = 1e6, 24
_DODGE, _ZONE, _TAKEN = 9.0, 0.7, 3.0
"""In squares: a dodge that fails for sure, a tackle zone on a square, somebody who stands in the way."""

_HERE = 16.0
"""What is noted of a square where somebody is, beside the zones that cover it."""

_AROUND = 3
"""Ways do not go farther than so many squares beyond where the player and his goal are."""

_DETOUR = 6.0
"""How much longer than the straight one a way may be at first; who cannot be on a way so short is left out."""

_BITS = 8
_BYTE = (1 << _BITS) - 1


@kernel()
def _price(noted):
    """Return what it costs to enter a square of which this is noted, in squares."""
    return 1.0 + _ZONE * noted if noted < _HERE else 1.0 + _ZONE * (noted - _HERE) + _TAKEN


@kernel()
def _fall(reach, noted):
    """Return what a dodge into such a square costs, in squares; ``reach`` is the target of the player's rolls."""
    covers = noted if noted < _HERE else noted - _HERE
    return _DODGE / 6.0 * (min(max(reach - 1.0 + covers, 2.0), 6.0) - 1.0)


@kernel()
def _at(state, first, square):
    rows = stride(state)
    return first + (square // rows - 1) * (rows - 2) + square % rows - 1


@kernel(types.int64(BYTES, types.int64, types.int64))
def _part(state, player, goal):
    """Return the columns and rows that matter, counted from 0: the first and the last of each, packed."""
    s = record(state, STATE)
    rows, width, height = stride(state), s.width, s.height
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


@kernel()
def _mark(costs, x, rows):
    """Note that the ways from some squares of a column, as bits, may have become shorter."""
    costs[x] = np.float64(np.int64(costs[x]) | rows)


@kernel(types.void(BYTES, types.int64, types.int64, types.int64, FLOATS, types.int64))
def _begin(state, player, goal, part, costs, first):
    """Note what is known of each square; only those of the goal, and ways from their neighbours, have a cost yet."""
    s = record(state, STATE)
    width, cells = s.width, s.width * s.height
    left, right, top, bottom = part & _BYTE, part >> _BITS & _BYTE, part >> 2 * _BITS & _BYTE, part >> 3 * _BITS
    team = team_of(player)
    for x in range(left, right + 1):
        costs[x] = 0.0
    for y in range(top, bottom + 1):
        for x in range(left, right + 1):
            costs[first + y * width + x] = _FAR
            costs[first + cells + y * width + x] = 0.0
    for other in range(32):
        square = np.int64(s.square[other])
        if square > 0 and s.box[other] == ON_PITCH:
            y, x = square // (width + 2) - 1, square % (width + 2) - 1
            if top <= y <= bottom and left <= x <= right:
                costs[first + cells + y * width + x] += _HERE
            if team_of(other) != team and s.posture[other] == STANDING:
                for direction in range(8):
                    row, column = y + DY[direction], x + DX[direction]
                    if top <= row <= bottom and left <= column <= right:
                        costs[first + cells + row * width + column] += 1.0
    if goal > 0:
        y, x = goal // (width + 2) - 1, goal % (width + 2) - 1
        top, bottom = y, y
    else:
        x = 0 if team == HOME else width - 1
    for y in range(top, bottom + 1):
        costs[first + y * width + x] = _price(costs[first + cells + y * width + x])
        for column in range(max(x - 1, left), min(x + 1, right) + 1):
            _mark(costs, column, 7 << y >> 1)


@kernel()
def _onward(state, player, part, costs, first, x, y):
    """Return what the best way from a square costs, by one of its neighbours."""
    s = record(state, STATE)
    width, cells = s.width, s.width * s.height
    left, right, top, bottom = part & _BYTE, part >> _BITS & _BYTE, part >> 2 * _BITS & _BYTE, part >> 3 * _BITS
    before, after = max(x - 1, left), min(x + 1, right)
    best, noted = _FAR, costs[first + cells + y * width + x]
    if noted == 0.0 or noted == _HERE:  # no dodge
        for row in (max(y - 1, top), y, min(y + 1, bottom)):
            cell = first + row * width
            best = min(best, costs[cell + before], costs[cell + x], costs[cell + after])
    else:
        reach = np.float64(target(state, player))
        for row in (max(y - 1, top), y, min(y + 1, bottom)):
            for column in (before, x, after):
                cell = first + row * width + column
                best = min(best, costs[cell] + _fall(reach, costs[cell + cells]))
    return best


@kernel()
def _shorten(state, player, part, costs, first, x, y):
    """Lower the cost by a square to that of the best way onward; return by how much."""
    s = record(state, STATE)
    cell, cells = first + y * s.width + x, s.width * s.height
    old = costs[cell]
    best = min(_onward(state, player, part, costs, first, x, y) + _price(costs[cell + cells]), old)
    costs[cell] = best
    return old - best


@kernel()
def _sweep_column(state, player, part, costs, first, x, start, end, by):
    """Shorten the ways from the squares of a column that are noted, in an order; return whether one became shorter."""
    left, right = part & _BYTE, part >> _BITS & _BYTE
    noted, around, changed = np.int64(costs[x]), 0, False
    for y in range(start, end, by):
        if noted >> y & 1 and costs[first + y * record(state, STATE).width + x] > 2.0:
            gain = _shorten(state, player, part, costs, first, x, y)
            if gain > 0.0:
                changed |= gain > 1e-9
                around |= 7 << y >> 1
                noted |= 7 << y >> 1
            noted &= ~(1 << y)
    costs[x] = np.float64(noted)
    if around:
        if x > left:
            _mark(costs, x - 1, around)
        if x < right:
            _mark(costs, x + 1, around)
    return changed


@kernel(types.float64(BYTES, types.int64, types.int64, FLOATS, types.int64))
def find_ways(state, player, goal, costs, first):
    """Fill in the cost of the best way to a goal by every square; return that of the way from where the player is.

    Goal 0 is the end zone where the player scores. The array has room for two numbers for each square, and for one for
    each column before them: its bits are the rows in which a neighbour has become cheaper. Looking at another square
    would change nothing.
    """
    s = record(state, STATE)
    part = _part(state, player, goal)
    left, right, top, bottom = part & _BYTE, part >> _BITS & _BYTE, part >> 2 * _BITS & _BYTE, part >> 3 * _BITS
    _begin(state, player, goal, part, costs, first)
    rows, here, cells = stride(state), np.int64(s.square[player]), s.width * s.height
    aim = (1 if team_of(player) == HOME else rows - 2) if goal == 0 else goal % rows
    column, row = here % rows - 1, here // rows - 1
    limit, far = abs(column + 1 - aim) + _DETOUR, _FAR
    for sweep in range(_MAX_SWEEPS):
        changed = False
        backward = (aim > column + 1) != (sweep & 2 != 0)
        for i in range(right - left + 1):
            x = right - i if backward else left + i
            aside = np.int64(limit) - abs(x + 1 - aim)
            if costs[x] > 0.0 and abs(x - column) <= aside:
                start, end, by = max(row - aside, top), min(row + aside, bottom) + 1, 1
                if sweep & 1:
                    start, end, by = end - 1, start - 1, -1
                changed |= _sweep_column(state, player, part, costs, first, x, start, end, by)
        far = costs[_at(state, first, here)] - _price(costs[_at(state, first, here) + cells])
        if far + 1.0 <= limit and not changed:
            break
        limit = min(far + 1.0, 2.0 * limit + _DETOUR)
    return far


@kernel(types.int64(BYTES, types.int64, FLOATS, types.int64, types.float64))
def _first_step(state, player, costs, first, far):
    """Return the direction of the next empty square on the best way; -1 if none is nearer than the player, so far."""
    s = record(state, STATE)
    here, other, cells = np.int64(s.square[player]), 1 - team_of(player), s.width * s.height
    best, least, dodges = -1, _FAR, zones(state, other, here) > 0
    reach = np.float64(target(state, player))
    for way in range(8):
        direction = from_own_side(1 - other, way)
        square = neighbour(state, here, direction)
        if is_empty(state, square):
            cell = _at(state, first, square)
            total, covers = costs[cell], costs[cell + cells]
            if total - _price(covers) < far - 1e-9:
                total += _fall(reach, covers) if dodges else 0.0
                if best < 0 or total < least:
                    best, least = direction, total
    return best


@kernel(types.void(BYTES, types.int64, types.boolean, types.int64, types.int64, FLOATS))
def _block_lanes(state, player, columns, low, high, lanes):
    """Note in each column (or row) from low to high, as bits, the squares with a player or in an opposing zone."""
    s, rows = record(state, STATE), stride(state)
    for lane in range(low, high + 1):
        lanes[lane] = 0.0
    for other in range(32):
        square = np.int64(s.square[other])
        if square > 0 and s.box[other] == ON_PITCH:
            x, y = square % rows - 1, square // rows - 1
            lane, place = (x, y) if columns else (y, x)
            covers = np.int64(team_of(other) != team_of(player) and s.posture[other] == STANDING)
            bits = (7 << place >> 1) if covers else 1 << place
            for near in range(max(lane - covers, low), min(lane + covers, high) + 1):
                lanes[near] = np.float64(np.int64(lanes[near]) | bits)


@kernel(types.int64(BYTES, types.int64, types.int64, FLOATS))
def _free_step(state, player, goal, lanes):
    """Return the direction of the first step of a way as short as can be, all over free squares; -1 if there is none.

    A square is free if it is empty and in no opposing zone. Such a way costs one for each square, so that no other is
    as good but those of its kind; a square that is the goal costs the same for all. Ways are followed back from the
    goal, column by column (row by row, if the goal is farther in rows), the squares of one as bits.
    """
    s, rows = record(state, STATE), stride(state)
    here, team, part = np.int64(s.square[player]), team_of(player), _part(state, player, goal)
    x, y = here % rows - 1, here // rows - 1
    if goal == 0:
        to_x, to_y = 0 if team == HOME else rows - 3, y
    else:
        to_x, to_y = goal % rows - 1, goal // rows - 1
        next_to = distance(state, here, goal) == 1
        if not is_empty(state, goal) or (next_to and zones(state, 1 - team, here) and zones(state, 1 - team, goal)):
            return -1
    columns = abs(to_x - x) >= abs(to_y - y)
    start, end = (x, to_x) if columns else (y, to_y)
    if start == end:
        return -1
    onward = 1 if end > start else -1
    _block_lanes(state, player, columns, min(start, end), max(start, end), lanes)
    first, last = (part >> 2 * _BITS & _BYTE, part >> 3 * _BITS) if columns else (part & _BYTE, part >> _BITS & _BYTE)
    places = (1 << last + 1) - (1 << first)
    ways = places & ~np.int64(lanes[end]) if goal == 0 else 1 << (to_y if columns else to_x)
    for lane in range(end - onward, start, -onward):
        ways = (ways | ways << 1 | ways >> 1) & places & ~np.int64(lanes[lane])
    for way in range(8):
        direction = from_own_side(team, way)
        ahead, place = (DX[direction], y + DY[direction]) if columns else (DY[direction], x + DX[direction])
        if ahead == onward and place >= 0 and ways >> place & 1:
            return direction
    return -1


@kernel(types.int64(BYTES, types.int64, types.int64, FLOATS, types.int64))
def next_step(state, player, goal, work, first):
    """Return the direction of the next step on the best way to a goal (0: the end zone); -1 if there is none.

    ``work`` is scratched from ``first`` on, two numbers for each square, and before, one for each column or row.
    """
    direction = _free_step(state, player, goal, work)
    if direction < 0:
        far = find_ways(state, player, goal, work, first)
        direction = _first_step(state, player, work, first, far)
    return direction
