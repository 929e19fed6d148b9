"""The observation around the player: a window on what matters there, and numbers that a network would have to work out.

Boards are the same wherever the player stands, so what is learned in one corner holds in all.
"""

import numpy as np

from mcts_envs.core.contract import BYTES, OBSERVE, SINGLES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.bomber_grid.rules.bits import (
    BOARD,
    any_of,
    beside,
    both,
    common,
    count,
    first,
    has,
    pair,
    rest,
    single,
    without,
)
from mcts_envs.games.bomber_grid.rules.blasts import reach
from mcts_envs.games.bomber_grid.rules.board import bombs_of, seen_items
from mcts_envs.games.bomber_grid.rules.danger import burning, foresee, forget, others_of, safe_moves, walkable
from mcts_envs.games.bomber_grid.rules.layout import AMMO_CAP, CELLS, MAX_SIZE, MOVES, RADIO, SEATS, STATE, WIDTH, WORDS
from mcts_envs.games.bomber_grid.rules.moves import is_alive, next_cell, steps_between
from mcts_envs.games.bomber_grid.rules.sight import box, enemies_of, in_teams, mate_of, window

RADIUS = 4
SIDE = 2 * RADIUS + 1

PLANES = ("fog", "closed", "wood", "item", "bomb", "fire", "walk", "blast", "mate", "enemy")
NUMBERS = (
    "time", "row", "column", "ammo", "strength", "kick", "on_bomb",
    "safe_stop", "safe_up", "safe_down", "safe_left", "safe_right", "safe_bomb",
    "wood_burnt", "mate_burnt", "enemy_burnt",
    "enemy_near", "enemy_up", "enemy_down", "enemy_left", "enemy_right",
    "item_near", "item_up", "item_down", "item_left", "item_right",
    "wood_near", "wood_up", "wood_down", "wood_left", "wood_right",
    "other_1", "other_1_row", "other_1_column", "other_2", "other_2_row", "other_2_column",
    "other_3", "other_3_row", "other_3_column",
    "alive_1", "alive_2", "alive_3", "word_1", "word_2",
)  # fmt: skip
"""Planes and numbers, in order."""

_FOG, _CLOSED, _WOOD, _ITEM, _BOMB, _FIRE, _WALK, _BLAST, _MATE, _ENEMY = range(len(PLANES))
_SAFE, _BURNT, _WAYS, _OTHERS, _ALIVE = 7, 13, 16, 31, 40
_FAR = 2 * MAX_SIZE
_MOST_WOOD = 4


@kernel()
def _mark(out, here, plane, cells, value):
    """Write a value to some cells of a plane around a cell, as far as they are within its window."""
    start = plane * SIDE * SIDE
    while any_of(cells):
        cell = first(cells)
        cells = rest(cells)
        row, column = cell // WIDTH - here // WIDTH + RADIUS, cell % WIDTH - here % WIDTH + RADIUS
        if 0 <= row < SIDE and 0 <= column < SIDE:
            out[start + row * SIDE + column] = value


@kernel(types.void(BYTES, types.int64, BOARD, SINGLES))
def _write_planes(state, player, seen, out):
    """Write :data:`PLANES`, after ``foresee``."""
    s = record(state, STATE)
    here, one, lasts = np.int64(s.stands[player]), np.float32(1.0), s.fuse + s.flame_life
    for i in range(len(PLANES) * SIDE * SIDE):
        out[i] = 0.0
    for i in range(SIDE * SIDE):
        row, column = here // WIDTH + i // SIDE - RADIUS, here % WIDTH + i % SIDE - RADIUS
        inside = 0 <= row < s.board_size and 0 <= column < s.board_size
        out[_FOG * SIDE * SIDE + i] = np.float32(inside and not has(seen, row * WIDTH + column))
        out[_CLOSED * SIDE * SIDE + i] = np.float32(not inside)
    near = common(seen, box(here // WIDTH, here % WIDTH, RADIUS, RADIUS))
    _mark(out, here, _CLOSED, common(near, pair(s.rigid)), one)
    _mark(out, here, _WOOD, common(near, pair(s.wood)), one)
    _mark(out, here, _ITEM, common(near, seen_items(s)), one)
    _mark(out, here, _BOMB, common(near, bombs_of(s)), one)
    for steps in range(lasts, 0, -1):
        _mark(out, here, _FIRE, common(near, burning(state, seen, steps)), np.float32((lasts + 1 - steps) / lasts))
    _mark(out, here, _BLAST, common(near, reach(state, here, np.int64(s.strength[player]))), one)
    _write_walk(s, here, near, out)
    for other in range(s.players):
        if other != player and is_alive(s, other):
            friend = in_teams(s) and other == mate_of(player)
            _mark(out, here, _MATE if friend else _ENEMY, common(near, single(np.int64(s.stands[other]))), one)


@kernel()
def _write_walk(s, here, near, out):
    """Write how near the cells are on foot: 1 / (1 + steps), within the window."""
    walk, reached, steps = walkable(s, near), single(here), 0
    fresh = reached
    while any_of(fresh):
        _mark(out, here, _WALK, fresh, np.float32(1.0 / (1 + steps)))
        fresh = without(common(beside(fresh), walk), reached)
        reached, steps = both(reached, fresh), steps + 1


@kernel()
def _write_way(out, start, here, goals, walk):
    """Write how near the nearest of some goals is on foot, and which moves begin a shortest way there."""
    reached, steps = goals, 0
    if has(goals, here):
        out[start] = 1.0
        return
    while steps < _FAR:
        steps += 1
        found = False
        for move in range(1, 5):
            target = next_cell(here, move)
            if target >= 0 and has(walk, target) and has(reached, target):
                out[start + move] = 1.0
                found = True
        if found:
            out[start] = 1.0 / (1 + steps)
            return
        more = both(reached, common(beside(reached), walk))
        if not any_of(without(more, reached)):
            return
        reached = more


@kernel()
def _write_others(s, player, seen, out):
    """Write where the others in sight are: enemies from the nearest on, the mate last."""
    here, mate, written = np.int64(s.stands[player]), mate_of(player) if in_teams(s) else -1, 1 << player
    for place in range(SEATS - 1):
        nearest, best = -1, 2 * CELLS
        for other in range(s.players):
            cell = np.int64(s.stands[other])
            far = steps_between(here, cell) + (CELLS if other == mate else 0)
            if not written >> other & 1 and is_alive(s, other) and has(seen, cell) and far < best:
                nearest, best = other, far
        if nearest < 0:
            return
        slot = 2 if nearest == mate else place
        written |= 1 << nearest
        cell = np.int64(s.stands[nearest])
        out[3 * slot] = 1.0
        out[3 * slot + 1] = (cell // WIDTH - here // WIDTH + MAX_SIZE - 1) / (2 * (MAX_SIZE - 1))
        out[3 * slot + 2] = (cell % WIDTH - here % WIDTH + MAX_SIZE - 1) / (2 * (MAX_SIZE - 1))


@kernel(types.void(BYTES, types.int64, BOARD, SINGLES))
def _write_numbers(state, player, seen, out):
    """Write :data:`NUMBERS`, after ``foresee``."""
    s = record(state, STATE)
    here, last = np.int64(s.stands[player]), s.board_size - 1
    for i in range(len(NUMBERS)):
        out[i] = 0.0
    out[0], out[1], out[2] = s.t / s.max_steps, here // WIDTH / last, here % WIDTH / last
    out[3], out[4] = np.int64(s.ammo[player]) / AMMO_CAP, np.int64(s.strength[player]) / MAX_SIZE
    out[5], out[6] = np.float32(s.kicks[player]), np.float32(has(bombs_of(s), here))
    moves = safe_moves(state, player, seen)
    for move in range(MOVES):
        out[_SAFE + move] = moves >> move & 1
    enemies, wood = enemies_of(s, player, seen), common(seen, pair(s.wood))
    mate = without(common(seen, others_of(s, player)), enemies)
    blast = common(seen, reach(state, here, np.int64(s.strength[player])))
    out[_BURNT] = min(count(common(wood, blast)), _MOST_WOOD) / _MOST_WOOD
    out[_BURNT + 1], out[_BURNT + 2] = any_of(common(mate, blast)), any_of(common(enemies, blast))
    walk = walkable(s, seen)
    _write_way(out, _WAYS, here, common(beside(enemies), walk), walk)
    _write_way(out, _WAYS + 5, here, common(seen_items(s), seen), walk)
    _write_way(out, _WAYS + 10, here, common(beside(wood), walk), walk)
    _write_others(s, player, seen, out[_OTHERS:_ALIVE])
    for k in range(1, s.players):
        out[_ALIVE + k - 1] = np.float32(is_alive(s, (player + k) % s.players))
    if s.mode == RADIO:
        out[_ALIVE + 3] = np.int64(s.words[mate_of(player), 0]) / (WORDS - 1)
        out[_ALIVE + 4] = np.int64(s.words[mate_of(player), 1]) / (WORDS - 1)


@kernel(OBSERVE)
def observe_egocentric(state, player, out):
    """The window around the player, plane by plane, then the numbers."""
    seen = window(state, player)
    foresee(state, seen)
    _write_planes(state, player, seen, out)
    _write_numbers(state, player, seen, out[len(PLANES) * SIDE * SIDE :])
    forget(record(state, STATE))
