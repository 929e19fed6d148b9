"""Observations: planes and numbers for learners, and the original's planes and numbers."""

import numpy as np

from mcts_envs.core.contract import BYTES, OBSERVE, SINGLES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.bomber_grid.rules.bits import any_of, common, first, has, pair, rest
from mcts_envs.games.bomber_grid.rules.board import in_sight
from mcts_envs.games.bomber_grid.rules.layout import (
    AGENT,
    AMMO_CAP,
    BOMB,
    EXTRA_BOMB,
    FLAME,
    FOG,
    MAX_SIZE,
    NOBODY,
    RADIO,
    RIGID,
    SEATS,
    STATE,
    STOP,
    WIDTH,
    WOOD,
    WORDS,
)
from mcts_envs.games.bomber_grid.rules.moves import is_alive
from mcts_envs.games.bomber_grid.rules.sight import in_teams, mate_of, window

PLANES = (
    "fog", "rigid", "wood", "extra_bomb", "range", "kick", "flame", "bomb_life", "bomb_strength", "bomb_mine",
    "bomb_up", "bomb_down", "bomb_left", "bomb_right", "me", "mate", "enemy",
)  # fmt: skip
NUMBERS = (
    "time", "row", "column", "ammo", "strength", "kick", "alive_0", "alive_1", "alive_2", "alive_3", "word_1", "word_2",
)  # fmt: skip
"""Planes and numbers of the flat observation, in order. ``alive_k`` is the k-th player from the observer on."""

ORIGINAL_PLANES = ("board", "bomb_blast_strength", "bomb_life", "bomb_moving_direction", "flame_life")
ORIGINAL_NUMBERS = (
    "alive", "row", "column", "ammo", "blast_strength", "can_kick", "teammate", "enemy_0", "enemy_1", "enemy_2",
    "game_type", "word_1", "word_2", "step_count",
)  # fmt: skip
"""Planes and numbers of the original's observation, in order. ``alive`` has a bit for each player."""

_FOG, _RIGID, _WOOD, _ITEMS, _FLAME, _LIFE, _STRENGTH, _MINE, _WAY = 0, 1, 2, 3, 6, 7, 8, 9, 10
_ME, _MATE, _ENEMY = 14, 15, 16


@kernel()
def place_of(s, cell):
    """Return the place of a cell within a plane."""
    return cell // WIDTH * s.board_size + cell % WIDTH


@kernel()
def mark(s, out, plane, cells, value):
    """Write a value to some cells of a plane."""
    start = plane * s.board_size * s.board_size
    while any_of(cells):
        out[start + place_of(s, first(cells))] = value
        cells = rest(cells)


@kernel(types.void(BYTES, types.int64, SINGLES))
def observe_planes_only(state, player, out):
    """Write the planes of :data:`PLANES`, each cell in [0, 1]."""
    s = record(state, STATE)
    size = s.board_size
    seen, one = window(state, player), np.float32(1.0)
    for i in range(len(PLANES) * size * size):
        out[i] = 0.0
    for i in range(size * size):
        out[_FOG * size * size + i] = np.float32(not has(seen, i // size * WIDTH + i % size))
    mark(s, out, _RIGID, common(seen, pair(s.rigid)), one)
    mark(s, out, _WOOD, common(seen, pair(s.wood)), one)
    for kind in range(3):
        mark(s, out, _ITEMS + kind, common(common(seen, in_sight(s)), pair(s.items[kind])), one)
    for life in range(s.flame_life + 1):
        mark(s, out, _FLAME, common(seen, pair(s.flames[life])), np.float32((life + 1) / (s.flame_life + 1)))
    for bomb in range(s.n_bombs):
        cell = np.int64(s.bomb_cell[bomb])
        if has(seen, cell):
            place, way = place_of(s, cell), np.int64(s.bomb_way[bomb])
            out[_LIFE * size * size + place] = np.int64(s.bomb_life[bomb]) / s.fuse
            out[_STRENGTH * size * size + place] = np.int64(s.bomb_strength[bomb]) / MAX_SIZE
            out[_MINE * size * size + place] = np.float32(s.bomb_owner[bomb] == player)
            if way != STOP:
                out[(_WAY + way - 1) * size * size + place] = one
    for other in range(s.players):
        cell = np.int64(s.stands[other])
        if is_alive(s, other) and has(seen, cell):
            friend = in_teams(s) and other == mate_of(player)
            plane = _ME if other == player else _MATE if friend else _ENEMY
            out[plane * size * size + place_of(s, cell)] = one


@kernel()
def _number(s, player, index):
    """Return one of :data:`NUMBERS`, in [0, 1]."""
    last, cell = s.board_size - 1, np.int64(s.stands[player])
    if index == 0:
        return s.t / s.max_steps
    if index == 1:
        return cell // WIDTH / last
    if index == 2:
        return cell % WIDTH / last
    if index == 3:
        return np.int64(s.ammo[player]) / AMMO_CAP
    if index == 4:
        return np.int64(s.strength[player]) / MAX_SIZE
    if index == 5:
        return np.int64(s.kicks[player]) / 1
    if index < 10:
        other, players = index - 6, s.players
        return 1.0 if other < players and is_alive(s, (player + other) % players) else 0.0
    return np.int64(s.words[mate_of(player), index - 10]) / (WORDS - 1) if s.mode == RADIO else 0.0


@kernel(OBSERVE)
def observe(state, player, out):
    """Planes, cell by cell, then numbers."""
    s = record(state, STATE)
    observe_planes_only(state, player, out)
    start = len(PLANES) * s.board_size * s.board_size
    for index in range(len(NUMBERS)):
        out[start + index] = _number(s, player, index)


@kernel(OBSERVE)
def observe_planes(state, player, out):
    """The same as planes only, each number spread over one."""
    s = record(state, STATE)
    cells = s.board_size * s.board_size
    observe_planes_only(state, player, out)
    for index in range(len(NUMBERS)):
        number = np.float32(_number(s, player, index))
        for i in range(cells):
            out[(len(PLANES) + index) * cells + i] = number


@kernel()
def _write_relations(s, player, start, out):
    """Write the codes of the mate and of up to three enemies, 0 for none."""
    mate = mate_of(player) if in_teams(s) else -1
    out[start] = AGENT + mate if mate >= 0 else NOBODY
    n = start + 1
    for other in range(s.players):
        if other != player and other != mate:
            out[n] = AGENT + other
            n += 1
    if in_teams(s):
        out[n] = NOBODY
        n += 1
    while n < start + SEATS:
        out[n] = 0
        n += 1


@kernel()
def _write_original_numbers(s, player, start, out):
    """Write :data:`ORIGINAL_NUMBERS`."""
    cell = np.int64(s.stands[player])
    out[start], out[start + 1], out[start + 2] = s.alive, cell // WIDTH, cell % WIDTH
    out[start + 3], out[start + 4] = np.int64(s.ammo[player]), np.int64(s.strength[player])
    out[start + 5] = np.int64(s.kicks[player])
    _write_relations(s, player, start + 6, out)
    out[start + 10] = s.mode
    for word in range(2):
        out[start + 11 + word] = np.int64(s.words[mate_of(player), word]) if s.mode == RADIO else 0
    out[start + 13] = s.t


@kernel(OBSERVE)
def observe_original(state, player, out):
    """The original's planes, then its numbers; see :mod:`mcts_envs.games.bomber_grid.original`."""
    s = record(state, STATE)
    size, seen = s.board_size, window(state, player)
    cells = size * size
    for i in range(5 * cells):
        out[i] = 0.0
    for i in range(cells):
        if not has(seen, i // size * WIDTH + i % size):
            out[i] = FOG
    for kind in range(3):
        mark(s, out, 0, common(common(seen, in_sight(s)), pair(s.items[kind])), np.float32(EXTRA_BOMB + kind))
    mark(s, out, 0, common(seen, pair(s.rigid)), np.float32(RIGID))
    mark(s, out, 0, common(seen, pair(s.wood)), np.float32(WOOD))
    for bomb in range(s.n_bombs):
        cell = np.int64(s.bomb_cell[bomb])
        if has(seen, cell):
            place = place_of(s, cell)
            out[place] = BOMB
            out[cells + place] = np.int64(s.bomb_strength[bomb])
            out[2 * cells + place] = np.int64(s.bomb_life[bomb])
            out[3 * cells + place] = np.int64(s.bomb_way[bomb])
    mark(s, out, 0, common(seen, pair(s.fire)), np.float32(FLAME))
    for life in range(s.flame_life + 1):
        mark(s, out, 4, common(seen, pair(s.flames[life])), np.float32(life + 1))
    for other in range(s.players):
        if is_alive(s, other) and has(seen, np.int64(s.stands[other])):
            out[place_of(s, np.int64(s.stands[other]))] = AGENT + other
    _write_original_numbers(s, player, 5 * cells, out)
