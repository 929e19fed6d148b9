"""Ways over the pitch: what it costs a player to get from any square to a goal.

The costs are found by sweeps over the pitch in turn from both ends until nothing changes (Bellman's equations, by the
method of Gauss and Seidel). They lie in an array of numbers of the caller, one for each square of the pitch, row by
row, from a first index on; what is known of each square follows them in the same order.
"""

import numpy as np

from mcts_envs.core.contract import BYTES, FLOATS, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.football.field import DX, DY, is_empty, neighbour, stride, team_of, zones
from mcts_envs.football.layout import HOME, STATE
from mcts_envs.football.odds import needed

_FAR, _MAX_SWEEPS = 1e6, 24
_DODGE, _ZONE, _TAKEN = 9.0, 0.7, 3.0
"""In squares: a dodge that fails for sure, a tackle zone on a square, somebody who stands in the way."""


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


@kernel(types.void(BYTES, types.int64, types.int64, FLOATS, types.int64))
def _begin(state, player, goal, costs, first):
    """Set the costs at the goal to 0; note for each square how many zones cover it, 16 more where somebody is."""
    s = record(state, STATE)
    width, height = np.int64(s.width), np.int64(s.height)
    team = team_of(player)
    scoring = 1 if team == HOME else width
    for cell in range(width * height):
        square = (cell // width + 1) * (width + 2) + cell % width + 1
        ends = square == goal or (goal == 0 and cell % width + 1 == scoring)
        costs[first + cell] = 0.0 if ends else _FAR
        taken = 0 if is_empty(state, square) else 16
        costs[first + width * height + cell] = zones(state, 1 - team, square) + taken


@kernel(types.float64(BYTES, types.int64, FLOATS, types.int64, types.int64))
def _way_from(state, player, costs, first, cell):
    """Return the least cost from a square by one of its neighbours."""
    width, height = np.int64(record(state, STATE).width), np.int64(record(state, STATE).height)
    y, x, known = cell // width, cell % width, first + width * height
    here, best = np.int64(costs[known + cell]) & 15, _FAR
    for direction in range(8):
        row, column = y + DY[direction], x + DX[direction]
        if 0 <= row < height and 0 <= column < width:
            after = row * width + column
            there = costs[first + after]
            if there + 1.0 < best:
                noted = np.int64(costs[known + after])
                covers = noted & 15
                best = min(best, there + _price(covers, noted < 16) + _fall(state, player, here, covers))
    return best


@kernel(types.void(BYTES, types.int64, types.int64, FLOATS, types.int64))
def find_ways(state, player, goal, costs, first):
    """Fill in the cost of the best way to a goal from every square; goal 0 is the end zone where the player scores.

    The array has room for two numbers for each square.
    """
    cells = np.int64(record(state, STATE).width) * np.int64(record(state, STATE).height)
    _begin(state, player, goal, costs, first)
    for sweep in range(_MAX_SWEEPS):
        changed = False
        for i in range(cells):
            cell = i if sweep & 1 else cells - 1 - i
            if costs[first + cell] > 0.0:
                cost = _way_from(state, player, costs, first, cell)
                if cost < costs[first + cell] - 1e-9:
                    costs[first + cell] = cost
                    changed = True
        if not changed:
            break


@kernel(types.int64(BYTES, types.int64, FLOATS, types.int64))
def first_step(state, player, costs, first):
    """Return the direction of the next empty square on the best way; -1 if no step brings the player nearer."""
    here, other = np.int64(record(state, STATE).square[player]), 1 - team_of(player)
    best, least, covers_here = -1, costs[_at(state, first, here)], zones(state, other, here)
    for direction in range(8):
        square = neighbour(state, here, direction)
        if is_empty(state, square):
            cost = costs[_at(state, first, square)]
            covers = zones(state, other, square)
            total = cost + _price(covers, True) + _fall(state, player, covers_here, covers)
            if cost < costs[_at(state, first, here)] and (best < 0 or total < least):
                best, least = direction, total
    return best
