"""What a state is worth if it goes on as badly as it can: a pessimistic tail for a shallow search.

The idea is that of T. Osogami, T. Takahashi, "Real-time tree search with pessimistic scenarios" (2019), whose players
won the original's competition: search all that can happen in a few steps, and value what comes of it by how many places
a player could still live in if the others did, deterministically, the worst that they can.
"""

import numpy as np

from mcts_envs.core.contract import BYTES, EVALUATE, FLOATS, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.bomber_grid.players.falls import add_perils
from mcts_envs.games.bomber_grid.players.values import evaluate_aiide
from mcts_envs.games.bomber_grid.rules.bits import (
    BOARD,
    ZERO,
    any_of,
    beside,
    both,
    common,
    count,
    has,
    pair,
    single,
    without,
)
from mcts_envs.games.bomber_grid.rules.blasts import reach
from mcts_envs.games.bomber_grid.rules.board import bombs_of
from mcts_envs.games.bomber_grid.rules.danger import burning, foresee, forget, others_of, walkable
from mcts_envs.games.bomber_grid.rules.layout import ONGOING, STATE, WIDTH
from mcts_envs.games.bomber_grid.rules.moves import is_alive, steps_between
from mcts_envs.games.bomber_grid.rules.sight import is_enemy

CLOSING_IN = 3
"""Steps for which others come nearer, to stand in the way on all cells that they reach."""

ENOUGH = 10
"""Cells to live in beyond which more are worth nothing."""

OWN, ITEMS, FEW = 0.4, 0.03, 5
"""Weights of the player's own room; of each bomb and each cell of reach, up to a few."""

LONGEST = 2 * WIDTH

WAITING, HUNTING = (0.2, 0.0), (0.5, 0.2)
"""Weights of the enemies' room and of the way to the nearest of them, for players who wait and who hunt."""

TO_ITEM, TO_WOOD, DOOMED, MOST = 0.2, 0.1, 0.02, 4
"""Weights of the way to the nearest item or else to wood, for players without a kit; of each wooden cell that the
player's bombs will burn, up to so many."""

FAR = 14
"""Steps from which on something is too far to be gone for."""


@kernel(BOARD(BYTES, types.int64, BOARD))
def _worst_fire(state, player, inside):
    """Return the cells that would burn if every other player laid a bomb where it stands."""
    s = record(state, STATE)
    fire, bombs = (ZERO, ZERO), bombs_of(s)
    for other in range(s.players):
        cell = np.int64(s.stands[other])
        if other != player and is_alive(s, other) and s.ammo[other] != 0 and not has(bombs, cell):
            fire = both(fire, reach(state, cell, np.int64(s.strength[other])))
    return common(fire, inside)


@kernel(types.int64(BYTES, types.int64, BOARD))
def room(state, player, inside):
    """Return in how many cells a player can be alive after all fires, at the worst, after ``foresee``.

    All bombs stay where they are, every other player lays one now, and in the first steps stands wherever it can walk.
    """
    s = record(state, STATE)
    lasts, fuse = s.flame_life, s.fuse
    walk, here = walkable(s, inside), single(np.int64(s.stands[player]))
    theirs = others_of(s, player)
    fire = _worst_fire(state, player, inside)
    alive = here
    for steps in range(1, fuse + lasts + 1):
        if steps <= CLOSING_IN:
            theirs = both(theirs, common(beside(theirs), without(walk, alive)))
        alive = both(alive, without(common(beside(alive), walk), theirs))
        alive = without(alive, burning(state, inside, steps))
        if steps >= fuse:
            alive = without(alive, fire)
    return count(alive)


@kernel()
def _way_to_enemy(s, player):
    """Return in how many steps, over whatever lies between, a player is where its nearest enemy is."""
    here, way = np.int64(s.stands[player]), LONGEST
    for other in range(s.players):
        if is_enemy(s, player, other):
            way = min(way, steps_between(here, np.int64(s.stands[other])))
    return way


@kernel(types.void(BYTES, FLOATS, types.float64, types.float64))
def _evaluate(state, values, their_room, distance):
    """Progress as ``evaluate_aiide`` has it, items, the player's room, less its enemies' room and how far they are."""
    s = record(state, STATE)
    evaluate_aiide(state, values)
    players = s.players
    inside = without((~ZERO, ~ZERO), pair(s.outside))
    foresee(state, inside)
    rooms = 0
    for player in range(players):
        if is_alive(s, player):
            rooms |= min(room(state, player, inside), ENOUGH) << 8 * player
    forget(s)
    for player in range(players):
        if s.end != ONGOING or not is_alive(s, player):
            continue
        theirs, enemies = 0, 0
        for other in range(players):
            if is_enemy(s, player, other):
                enemies += 1
                theirs += rooms >> 8 * other & 255
        kit = min(np.int64(s.ammo[player]), FEW) + min(np.int64(s.strength[player]), FEW)
        values[player] += ITEMS * kit + OWN * (rooms >> 8 * player & 255) / ENOUGH
        values[player] -= (
            their_room * theirs / (ENOUGH * max(enemies, 1)) + distance * _way_to_enemy(s, player) / LONGEST
        )


@kernel(EVALUATE)
def evaluate_pessimistic(state, values):
    """Progress as ``evaluate_aiide`` has it, items, and the room to live in: the player's own less its enemies'."""
    _evaluate(state, values, *WAITING)


@kernel(EVALUATE)
def evaluate_hunting(state, values):
    """The same with more weight on the enemies' room, the nearer an enemy the better; and with an eye to falls."""
    _evaluate(state, values, *HUNTING)
    add_perils(state, values)


@kernel(types.int64(BOARD, BOARD, BOARD))
def _steps_to(reached, free, wanted):
    """Return in how many steps one of the wanted cells is reached; FAR where it is no sooner."""
    for steps in range(FAR):
        if any_of(common(reached, wanted)):
            return steps
        reached = both(reached, common(beside(reached), free))
    return FAR


@kernel(EVALUATE)
def evaluate_gathering(state, values):
    """The same as who hunts, but who has few bombs, which reach nowhere, goes for items and wood, and hunts less."""
    s = record(state, STATE)
    _evaluate(state, values, HUNTING[0], 0.0)
    add_perils(state, values)
    if s.end != ONGOING:
        return
    wood, doomed, items = pair(s.wood), (ZERO, ZERO), (ZERO, ZERO)
    for bomb in range(s.n_bombs):
        doomed = both(doomed, reach(state, np.int64(s.bomb_cell[bomb]), np.int64(s.bomb_strength[bomb])))
    for kind in range(3):
        items = both(items, pair(s.items[kind]))
    walk = walkable(s, without((~ZERO, ~ZERO), pair(s.outside)))
    to_burn = common(beside(without(wood, doomed)), walk)
    for player in range(s.players):
        if not is_alive(s, player):
            continue
        laid, burnt = 0, 0
        for bomb in range(s.n_bombs):
            if s.bomb_owner[bomb] == player:
                laid += 1
                cells = reach(state, np.int64(s.bomb_cell[bomb]), np.int64(s.bomb_strength[bomb]))
                burnt += count(common(wood, cells))
        ammo, strength = np.int64(s.ammo[player]), min(np.int64(s.strength[player]), FEW)
        want = 1.0 - (min(ammo + laid, FEW) + strength) / (2.0 * FEW)
        here = single(np.int64(s.stands[player]))
        way, weight = _steps_to(here, walk, without(items, wood)), TO_ITEM
        if way == FAR:
            way, weight = _steps_to(here, walk, to_burn), TO_WOOD
            want *= any_of(to_burn)
        values[player] += ITEMS * (min(ammo + laid, FEW) - min(ammo, FEW)) + DOOMED * min(burnt, MOST)
        values[player] += want * weight * (FAR - way) / FAR
        values[player] -= (1.0 - want) * HUNTING[1] * _way_to_enemy(s, player) / LONGEST
