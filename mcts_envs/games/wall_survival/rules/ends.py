"""How the game would end: what a wall separates, and whether a player has one that wins at once."""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, lowest, record
from mcts_envs.games.wall_survival.rules.bits import ONE, ZERO, bit, count, holds, part_of
from mcts_envs.games.wall_survival.rules.board import near, open_sides, separates, stands, ways
from mcts_envs.games.wall_survival.rules.layout import LEFT, RIGHT, STATE, UP


@kernel()
def _without(board, cell):
    """Return a board without a cell."""
    mark = bit(cell)
    return board[0] & ~mark[0], board[1] & ~mark[1], board[2] & ~mark[2]


@kernel()
def walled(state, cell, side):
    """Return the open sides of all cells as they would be after one more wall."""
    size, open_ways = record(state, STATE).board_size, ways(state)
    edge = cell - size if side == UP else cell - 1 if side == LEFT else cell
    right, down = open_ways[:3], open_ways[3:]
    if side in (RIGHT, LEFT):
        right = _without(right, edge)
    else:
        down = _without(down, edge)
    return right[0], right[1], right[2], down[0], down[1], down[2]


@kernel()
def result(state, player, cell, side):
    """Return the sign of the result if a player walls a side that separates it from the other, 2 if it goes on."""
    size, other = record(state, STATE).board_size, stands(state, 1 - player)
    after = walled(state, cell, side)
    mine = part_of(after, size, cell, other)
    if holds(mine, other):
        return 2
    ours, theirs = count(mine), count(part_of(after, size, other, -1))
    return np.int64(ours > theirs) - np.int64(ours < theirs)


@kernel(types.int64(BYTES, types.int64))
def winning_wall(state, player):
    """Return an action by which a player, if it were to move, would win at once; -1 if there is none."""
    board = near(state, player)
    for word in range(3):
        reached = board[word]
        while reached != ZERO:
            cell = 64 * word + lowest(reached)
            reached &= reached - ONE
            sides = open_sides(state, cell)
            while sides:
                side = lowest(sides)
                sides &= sides - 1
                if separates(state, cell, side) and result(state, player, cell, side) == 1:
                    return 4 * cell + side
    return -1
