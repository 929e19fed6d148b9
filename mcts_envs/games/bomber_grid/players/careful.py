"""A player that never walks into fire that it could foresee: a list of rules, the first that applies decides.

Shortly before a ring of the board falls it makes for the cells that stay, which others may keep it from.
"""

import numpy as np

from mcts_envs.core.contract import ADVISE, BYTES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.bomber_grid.players.falls import falls_soon, lasting
from mcts_envs.games.bomber_grid.players.random_safe import weigh
from mcts_envs.games.bomber_grid.rules.bits import (
    BOARD,
    beside,
    both,
    common,
    has,
    pair,
    single,
    without,
)
from mcts_envs.games.bomber_grid.rules.board import seen_items
from mcts_envs.games.bomber_grid.rules.danger import foresee, forget, others_of, safe_moves, walkable
from mcts_envs.games.bomber_grid.rules.layout import LAY, STATE
from mcts_envs.games.bomber_grid.rules.moves import next_cell
from mcts_envs.games.bomber_grid.rules.sight import enemies_of, window

NEAR_ENEMY, NEAR_ITEM, NEAR_WOOD, FAR = 3, 2, 2, 10
"""Steps within which an enemy, an item, some wood, or in the end any of them, is worth a walk."""

_WALKS = 0b11110


@kernel(types.int64(BYTES, types.int64, types.int64, BOARD, BOARD, types.int64))
def towards(state, player, moves, goals, walk, steps):
    """Return those among some moves that begin a shortest walk of at most so many steps to a goal, as bits."""
    here, reached = np.int64(record(state, STATE).stands[player]), goals
    for _ in range(steps):
        found = 0
        for move in range(1, 5):
            if moves >> move & 1 and next_cell(here, move) >= 0 and has(reached, next_cell(here, move)):
                found |= 1 << move
        if found:
            return found
        reached = both(reached, common(beside(reached), walk))
    return 0


@kernel(types.int64(BYTES, types.int64, types.int64, BOARD, BOARD))
def _inside(state, player, moves, seen, walk):
    """Return those among some moves that lead to where the next ring's fall is outlasted, or stay there, as bits."""
    here = np.int64(record(state, STATE).stands[player])
    stays = common(lasting(state, seen), both(walk, single(here)))
    if not has(stays, here):
        return towards(state, player, moves, stays, walk, FAR)
    for move in range(1, 5):
        if moves >> move & 1 and not has(stays, next_cell(here, move)):
            moves &= ~(1 << move)
    return moves


@kernel(types.int64(BYTES, types.int64, BOARD, BOARD, types.int64))
def decide(state, player, seen, burnt, moves):
    """Return the moves between which the player does not care, among those that are safe, as bits."""
    s = record(state, STATE)
    here = np.int64(s.stands[player])
    walk = without(walkable(s, seen), others_of(s, player))
    for move in range(1, 5):
        if moves >> move & 1 and not has(walk, next_cell(here, move)):
            moves &= ~(1 << move)
    if falls_soon(s):
        inside = _inside(state, player, moves, seen, walk)
        moves = inside if inside else moves
    if has(burnt, here):
        out = towards(state, player, moves, without(walk, burnt), walk, FAR)
        return out if out else moves & ~(1 << LAY)
    calm = moves & _WALKS
    enemies, items, wood = enemies_of(s, player, seen), common(seen_items(s), seen), common(pair(s.wood), seen)
    lays = moves >> LAY & 1 != 0
    by_enemy, by_wood = beside(enemies), beside(wood)
    if lays and has(by_enemy, here):
        return 1 << LAY
    to_enemy = towards(state, player, calm, common(by_enemy, walk), walk, NEAR_ENEMY)
    if to_enemy and s.ammo[player] != 0:
        return to_enemy
    to_item = towards(state, player, calm, items, walk, NEAR_ITEM)
    if to_item:
        return to_item
    if lays and has(by_wood, here):
        return 1 << LAY
    if s.ammo[player] != 0:
        to_wood = towards(state, player, calm, common(by_wood, walk), walk, NEAR_WOOD)
        if to_wood:
            return to_wood
    anything = both(items, common(both(by_enemy, by_wood), walk))
    far = towards(state, player, calm, anything, walk, FAR)
    if far:
        return far
    return calm if calm else moves & ~(1 << LAY)


@kernel(ADVISE)
def advise_careful(state, player, weights):
    """Stay where a way leads out of all fire in sight; bomb enemies and wood from there; fetch items; go to these."""
    seen = window(state, player)
    burnt = foresee(state, seen)
    weigh(state, decide(state, player, seen, burnt, safe_moves(state, player, seen)), weights)
    forget(record(state, STATE))
