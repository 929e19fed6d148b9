"""A player in the manner of the original's SimpleAgent: a list of rules, the first that applies decides.

It keeps out of rows and columns of bombs, but reckons neither with their time nor with bombs that set off each other.
"""

import numpy as np

from mcts_envs.core.contract import ADVISE, BYTES, types
from mcts_envs.core.kernel import count_bits, kernel, record
from mcts_envs.games.bomber_grid.players.careful import towards
from mcts_envs.games.bomber_grid.rules.bits import (
    BOARD,
    ZERO,
    any_of,
    beside,
    both,
    common,
    flood,
    has,
    pair,
    single,
    without,
)
from mcts_envs.games.bomber_grid.rules.board import bombs_of, seen_items
from mcts_envs.games.bomber_grid.rules.kernels import scale_of
from mcts_envs.games.bomber_grid.rules.layout import DOWN, LAY, LEFT, MOVES, RIGHT, STATE, STOP, TRAIL, UP, WIDTH
from mcts_envs.games.bomber_grid.rules.moves import next_cell
from mcts_envs.games.bomber_grid.rules.sight import box, enemies_of, window, words_for

NEAR_ENEMY, NEAR_ITEM, NEAR_WOOD, DEPTH = 3, 2, 2, 10
"""Steps within which an enemy, an item, some wood is worth a walk; and how far the player looks for a refuge."""

CHASE = 0.7
"""Chance that an enemy nearby is followed. The original tosses a coin where it would go on in the direction in which it
chased last, and else follows always."""

FIRST_TRIED = (RIGHT, LEFT, UP, DOWN)
"""Ways off a bomb, in the order in which they are tried; the first that leads out of its reach is taken."""

WALKS = 0b11110
_LOW_BYTE = np.uint64(255)


@kernel(BOARD(types.int64, types.int64))
def cross(cell, steps):
    """Return the cells in the row and in the column of a cell, up to so many steps away."""
    row, column = cell // WIDTH, cell % WIDTH
    return both(box(row, column, 0, steps), box(row, column, steps, 0))


@kernel(BOARD(BOARD, BOARD, types.int64))
def within(start, free, steps):
    """Return the cells to which so many steps lead through free cells: these, and what bounds them."""
    reached = start
    for _ in range(steps):
        more = both(reached, beside(common(reached, free)))
        if not any_of(without(more, reached)):
            break
        reached = more
    return reached


@kernel(BOARD(BYTES, types.int64, BOARD))
def passable(state, player, seen):
    """Return the cells in sight without walls, bombs, fire and enemies; the player's own cell is one."""
    s = record(state, STATE)
    closed = both(both(pair(s.rigid), pair(s.wood)), both(bombs_of(s), pair(s.fire)))
    free = without(without(seen, closed), enemies_of(s, player, seen))
    return both(free, single(np.int64(s.stands[player])))


@kernel(types.int64(types.int64, BOARD, types.int64))
def walks_within(here, cells, moves):
    """Return those among some moves that lead to a cell of a board, as bits."""
    found = 0
    for move in range(1, 5):
        target = next_cell(here, move)
        if moves >> move & 1 and target >= 0 and has(cells, target):
            found |= 1 << move
    return found


@kernel()
def way_of(here, cell):
    """Return the move to a cell in the same row or column, as a bit; all four for the same cell, none for others."""
    if cell == here:
        return WALKS
    if cell // WIDTH == here // WIDTH:
        return 1 << RIGHT if cell > here else 1 << LEFT
    if cell % WIDTH == here % WIDTH:
        return 1 << DOWN if cell > here else 1 << UP
    return 0


@kernel(types.int64(BYTES, types.int64, BOARD, BOARD))
def _flee(state, player, seen, free):
    """Return the moves away from bombs in the own row or column that are near enough, as bits; -1 if there are none."""
    s = record(state, STATE)
    here, unsafe, strength = np.int64(s.stands[player]), 0, 0
    for bomb in range(s.n_bombs):
        cell, steps = np.int64(s.bomb_cell[bomb]), np.int64(s.bomb_strength[bomb])
        way = way_of(here, cell) if has(seen, cell) else 0
        if way != 0 and has(within(single(here), free, steps), cell):
            unsafe |= way
            strength = max(strength, steps)
    if unsafe == 0:
        return -1
    if unsafe != WALKS:
        out = walks_within(here, free, WALKS & ~unsafe)
        return out if out else walks_within(here, seen, unsafe)
    elsewhere = without(free, single(here))
    for move in FIRST_TRIED:
        target = next_cell(here, move)
        if target < 0 or not has(elsewhere, target):
            continue
        if any_of(without(flood(single(target), elsewhere), cross(target, strength))):
            return 1 << move
    return 0


@kernel(types.boolean(BYTES, types.int64, BOARD, BOARD))
def _may_bomb(state, player, seen, free):
    """Return whether a player has a bomb and could walk out of its reach, given the time."""
    s = record(state, STATE)
    here, strength = single(np.int64(s.stands[player])), np.int64(s.strength[player])
    if s.ammo[player] == 0:
        return False
    passages = without(without(free, here), seen_items(s))
    found = common(within(here, free, DEPTH), passages)
    aside = without(found, cross(np.int64(s.stands[player]), WIDTH))
    return any_of(aside) or any_of(without(found, within(here, free, strength)))


@kernel()
def visited(s, player):
    """Return the cells where a player stood in its last steps."""
    low, high, trail = ZERO, ZERO, s.trail[player]
    for _ in range(TRAIL):
        last = np.int64(trail & _LOW_BYTE)
        if last != 0:
            here = single(last - 1)
            low |= here[0]
            high |= here[1]
        trail >>= np.uint64(8)
    return low, high


@kernel(BOARD(BYTES, BOARD, BOARD))
def out_of_lines(state, seen, free):
    """Return the free cells outside the rows and columns of bombs."""
    s = record(state, STATE)
    for bomb in range(s.n_bombs):
        cell = np.int64(s.bomb_cell[bomb])
        if has(seen, cell):
            free = without(free, cross(cell, np.int64(s.bomb_strength[bomb])))
    return free


@kernel(types.int64(BYTES, types.int64, BOARD))
def _stroll(state, player, safe):
    """Return the moves to safe cells, as bits, to fresh ones where there are any; to stay if there are none."""
    s = record(state, STATE)
    here = np.int64(s.stands[player])
    moves = walks_within(here, safe, WALKS)
    fresh = walks_within(here, without(safe, visited(s, player)), WALKS)
    if fresh:
        return fresh
    if moves and has(safe, here) and not has(visited(s, player), here):
        return 1 << STOP
    return moves if moves else 1 << STOP


@kernel(types.int64(BYTES, types.int64, BOARD, BOARD))
def _work(state, player, seen, free):
    """Return what there is to do without a bomb or an enemy nearby, as bits."""
    s = record(state, STATE)
    here = np.int64(s.stands[player])
    found = towards(state, player, WALKS, common(seen_items(s), seen), free, NEAR_ITEM)
    if found:
        return found
    wood = common(pair(s.wood), seen)
    if has(beside(wood), here):
        return 1 << LAY if _may_bomb(state, player, seen, free) else 1 << STOP
    safe = out_of_lines(state, seen, free)
    found = walks_within(here, safe, towards(state, player, WALKS, wood, free, NEAR_WOOD))
    return found if found else _stroll(state, player, safe)


@kernel()
def share(weights, scale, moves, weight):
    """Share a weight between some moves."""
    for move in range(6):
        if moves >> move & 1:
            weights[move * scale] += weight / count_bits(moves)


@kernel(ADVISE)
def advise_rule_based(state, player, weights):
    """Flee from bombs; bomb enemies beside it; follow enemies; fetch items; bomb wood; else walk about.

    The original's SimpleAgent has these rules in this order. It avoids the last six cells where it walked about, this
    player those of its last six steps. Of the moves of four SimpleAgents in 30 recorded team games 98 % are among those
    that this player takes, too.
    """
    s = record(state, STATE)
    scale, here = scale_of(s), np.int64(s.stands[player])
    for action in range(weights.shape[0]):
        weights[action] = 0.0
    seen = window(state, player)
    free = passable(state, player, seen)
    moves = _flee(state, player, seen, free)
    if moves >= 0:
        share(weights, scale, moves if moves else 1 << STOP, 1.0)
        return
    enemies = enemies_of(s, player, seen)
    if has(beside(enemies), here) and _may_bomb(state, player, seen, free):
        weights[LAY * scale] = 1.0
        return
    chase = towards(state, player, WALKS, enemies, free, NEAR_ENEMY)
    if chase:
        share(weights, scale, chase, CHASE)
    share(weights, scale, _work(state, player, seen, free), 1.0 - CHASE if chase else 1.0)


@kernel(ADVISE)
def advise_rule_based_radio(state, player, weights):
    """The same, each move with the words that go with it in the variant ``radio``."""
    advise_rule_based(state, player, weights)
    scale, words = scale_of(record(state, STATE)), words_for(state, player)
    for move in range(MOVES if words else 0):
        weights[move * scale + words] = weights[move * scale]
        weights[move * scale] = 0.0
