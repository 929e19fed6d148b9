"""What a player sees: its window on the board, what it tells its mate of that, and the hash of what it knows."""

import numpy as np

from mcts_envs.core.contract import BYTES, KEY, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import combine, scramble
from mcts_envs.games.bomber_grid.rules.bits import (
    BOARD,
    EVERY_HIGH,
    EVERY_LOW,
    ZERO,
    any_of,
    both,
    common,
    first,
    has,
    pair,
    rest,
    single,
    without,
)
from mcts_envs.games.bomber_grid.rules.board import in_sight
from mcts_envs.games.bomber_grid.rules.danger import others_of
from mcts_envs.games.bomber_grid.rules.layout import FULL_VIEW, RADIO, STATE, TEAM, WIDTH, WORDS
from mcts_envs.games.bomber_grid.rules.moves import is_alive

_KEY_START = np.uint64(0xA4093822299F31D0)
_UNSEEN = 127

BLOCK = 2
"""Rows and columns of the blocks of which the words of a radio tell."""


@kernel(BOARD(types.int64, types.int64, types.int64, types.int64))
def box(row, column, down, across):
    """Return the cells of the grid within so many rows and columns of a cell."""
    first = max(column - across, 0)
    line = np.uint64((1 << (min(column + across, WIDTH - 1) - first + 1)) - 1)
    low, high = ZERO, ZERO
    for covered in range(max(row - down, 0), min(row + down, WIDTH - 1) + 1):
        start = WIDTH * covered + first
        if start < 64:
            low |= line << np.uint64(start)
            if start > 64 - WIDTH:
                high |= line >> np.uint64(64 - start)
        else:
            high |= line << np.uint64(start - 64)
    return low, high


@kernel(BOARD(BYTES, types.int64))
def window(state, player):
    """Return the cells of the board that a player sees; a dead one looks from where it died."""
    s = record(state, STATE)
    inside = without((EVERY_LOW, EVERY_HIGH), pair(s.outside))
    radius, cell = s.radius, np.int64(s.stands[player])
    if radius == FULL_VIEW:
        return inside
    return common(inside, box(cell // WIDTH, cell % WIDTH, radius, radius))


@kernel()
def mate_of(player):
    """Return the other player of a team."""
    return player ^ 2


@kernel()
def in_teams(s):
    """Return whether players 0 and 2 play against 1 and 3."""
    return s.mode == TEAM or s.mode == RADIO


@kernel()
def is_enemy(s, player, other):
    """Return whether another player is an enemy who lives."""
    return other != player and not (in_teams(s) and other == mate_of(player)) and is_alive(s, other)


@kernel()
def enemies_of(s, player, seen):
    """Return the cells of the enemies in sight."""
    cells = common(others_of(s, player), seen)
    mate = mate_of(player)
    if in_teams(s) and is_alive(s, mate):
        cells = without(cells, single(np.int64(s.stands[mate])))
    return cells


@kernel(types.int64(BYTES, types.int64))
def report(state, player):
    """Return the words that a player has to say, ``8 * first + second``."""
    s = record(state, STATE)
    cells, here = enemies_of(s, player, window(state, player)), np.int64(s.stands[player])
    nearest, words = 4 * WIDTH, 0
    while any_of(cells):
        cell = first(cells)
        cells = rest(cells)
        steps = abs(cell // WIDTH - here // WIDTH) + abs(cell % WIDTH - here % WIDTH)
        if steps < nearest:
            nearest = steps
            words = WORDS * (1 + cell // WIDTH // BLOCK) + cell % WIDTH // BLOCK
    return words


@kernel()
def fixed_words(s):
    """Return the player whose words are fixed, or -1, and the words."""
    for player in range(s.players):
        if s.aim[player] != 0:
            return player, np.int64(s.aim[player]) - 1
    return -1, 0


@kernel(types.int64(BYTES, types.int64))
def words_for(state, player):
    """Return the words that go with a player's moves: those it has to say; where another's are fixed, none."""
    fixed, words = fixed_words(record(state, STATE))
    if fixed < 0:
        return report(state, player)
    return words if fixed == player else 0


@kernel()
def _fold(key, board):
    """Fold a board into a hash."""
    return combine(combine(key, board[0]), board[1])


@kernel()
def _bombs_key(s, observer, seen):
    """Hash the bombs that are seen, in no order; whose they are, only as far as they are the observer's own."""
    hashed = ZERO
    for bomb in range(s.n_bombs):
        cell, owner = np.int64(s.bomb_cell[bomb]), np.int64(s.bomb_owner[bomb])
        if has(seen, cell):
            known = owner if observer < 0 else np.int64(owner == observer)
            small = cell | np.int64(s.bomb_life[bomb]) << 8 | np.int64(s.bomb_strength[bomb]) << 16
            hashed ^= scramble(np.uint64(small | np.int64(s.bomb_way[bomb]) << 24 | known << 32))
    return hashed


@kernel()
def _kit(s, player):
    """Return what a player carries, in 24 bits."""
    return np.int64(s.ammo[player]) | np.int64(s.strength[player]) << 8 | np.int64(s.kicks[player]) << 16


@kernel()
def words_of(s, player):
    """Return the words that a player sent, ``8 * first + second``."""
    return np.int64(s.words[player, 0]) << 3 | np.int64(s.words[player, 1])


@kernel(types.uint64(BYTES))
def key_of_all(state):
    """Hash everything but future chance."""
    s = record(state, STATE)
    seen = (EVERY_LOW, EVERY_HIGH)
    key = combine(_KEY_START ^ np.uint64(s.alive), np.uint64(s.t))
    for player in range(s.players):
        small = _kit(s, player) | np.int64(s.stands[player]) << 24 | words_of(s, player) << 32
        key = combine(key, np.uint64(small))
    key = _fold(_fold(combine(key, _bombs_key(s, -1, seen)), pair(s.wood)), pair(s.rigid))
    for kind in range(3):
        key = _fold(key, pair(s.items[kind]))
    if any_of(pair(s.fire)):
        for life in range(s.flame_life + 1):
            key = _fold(key, pair(s.flames[life]))
    return key


@kernel()
def _youngest_flames(s, seen, key):
    """Fold the flames that are seen into a hash: in each cell only the youngest shows."""
    shown = (ZERO, ZERO)
    for back in range(s.flame_life + 1):
        here = common(seen, without(pair(s.flames[s.flame_life - back]), shown))
        shown = both(shown, here)
        key = _fold(key, here)
    return key


@kernel(KEY)
def key(state, observer):
    """Hash what a player sees now, what it carries, and which bombs are its own; -1: everything.

    With a radio also the words that go with its moves: where they are fixed they may be others than there are to say.
    """
    if observer < 0:
        return key_of_all(state)
    s = record(state, STATE)
    seen = window(state, observer)
    key = combine(_KEY_START ^ np.uint64(s.alive), np.uint64(s.t))
    key = combine(key, np.uint64(_kit(s, observer) | np.int64(s.stands[observer]) << 24))
    where = 0
    for player in range(s.players):
        cell = np.int64(s.stands[player])
        visible = is_alive(s, player) and has(seen, cell)
        where |= (cell if visible else _UNSEEN) << 8 * player
    if s.mode == RADIO:
        where |= (words_of(s, observer) | words_of(s, mate_of(observer)) << 6) << 32
        key = combine(key, np.uint64(words_for(state, observer)))
    key = combine(combine(key, np.uint64(where)), _bombs_key(s, observer, seen))
    key = _fold(_fold(key, common(seen, pair(s.wood))), common(seen, pair(s.rigid)))
    shown = common(seen, in_sight(s))
    for kind in range(3):
        key = _fold(key, common(shown, pair(s.items[kind])))
    return _youngest_flames(s, seen, key) if any_of(common(seen, pair(s.fire))) else key
