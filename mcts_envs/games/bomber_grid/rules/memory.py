"""What players remember of what the fog has covered since: with the setting ``memory`` it is a part of the state.

It lies behind the record of the state, a record for each player, so that the rules and the games without it know
nothing of it. A player remembers each cell as it saw it last; bombs until they go off, flames until they die down,
items and wood until it sees that they are gone; and where and when it saw the others last. It infers nothing, but for
rings that turn rigid, whose step everybody knows.
"""

import numpy as np

from mcts_envs.core.contract import BYTES, DETERMINIZE, KEY, RESET, STEP, types
from mcts_envs.core.kernel import kernel, record, record_dtype, row
from mcts_envs.core.rng import below, combine, seed_stream
from mcts_envs.games.bomber_grid.rules.bits import (
    BOARD,
    EVERY_HIGH,
    EVERY_LOW,
    ONE,
    ZERO,
    add,
    any_of,
    beside,
    both,
    common,
    count,
    first,
    has,
    pair,
    put,
    remove,
    rest,
    single,
    without,
)
from mcts_envs.games.bomber_grid.rules.blasts import drop_bombs, ring
from mcts_envs.games.bomber_grid.rules.board import in_sight
from mcts_envs.games.bomber_grid.rules.hidden import draw_passage, nth, redraw_secrets, redraw_walls
from mcts_envs.games.bomber_grid.rules.kernels import reset as reset_board
from mcts_envs.games.bomber_grid.rules.kernels import step as step_board
from mcts_envs.games.bomber_grid.rules.layout import CELLS, MAX_BOMBS, MAX_FLAME_LIFE, ONGOING, SEATS, STATE, STOP
from mcts_envs.games.bomber_grid.rules.moves import is_alive
from mcts_envs.games.bomber_grid.rules.sight import key as key_of_sight
from mcts_envs.games.bomber_grid.rules.sight import window

MEMORY = record_dtype(
    [
        ("known", "u8", 2),
        ("rigid", "u8", 2),
        ("wood", "u8", 2),
        ("items", "u8", (3, 2)),
        ("flames", "u8", (MAX_FLAME_LIFE + 1, 2)),
        ("bombs", "u8", 2),
        ("mine", "u8", 2),
        ("last_step", "i4", SEATS),
        ("last_cell", "u1", SEATS),
        ("life", "u1", CELLS),
        ("strength", "u1", CELLS),
    ]
)
"""What one player remembers.

- ``known``: cells that it has seen; ``rigid``, ``wood``, ``items`` and ``flames`` lie among them.
- ``bombs``: those at rest, ``mine`` the own ones among them, with ``life`` and ``strength``, 0 where there is none.
- ``last_cell``, ``last_step``: where and when it saw each player last; at the start all stand at home.
"""

_BYTES = MEMORY.itemsize
START, MEMORY_BYTES = STATE.itemsize, SEATS * _BYTES
"""Where the memories of all players begin in a state, and how many bytes they take."""


@kernel()
def memory_of(state, player):
    """Return the record of what a player remembers."""
    return row(state[START:], player, MEMORY)


@kernel()
def _forget_bombs(m, cells):
    """Forget the bombs on some cells."""
    put(m.bombs, without(pair(m.bombs), cells))
    put(m.mine, without(pair(m.mine), cells))
    while any_of(cells):
        m.life[first(cells)] = m.strength[first(cells)] = 0
        cells = rest(cells)


@kernel()
def _outdate(s, m):
    """Let flames die down, bombs go off, and rings turn rigid in a memory."""
    t = s.t
    for life in range(s.flame_life):
        put(m.flames[life], pair(m.flames[life + 1]))
    put(m.flames[s.flame_life], (ZERO, ZERO))
    cells, over = pair(m.bombs), (ZERO, ZERO)
    while any_of(cells):
        cell = first(cells)
        cells = rest(cells)
        m.life[cell] -= 1
        if m.life[cell] == 0:
            over = both(over, single(cell))
    for number in range(s.n_rings):
        if s.collapse[number] == t:
            fallen = ring(s.board_size, number)
            over = both(over, common(fallen, pair(m.bombs)))
            put(m.known, both(pair(m.known), fallen))
            put(m.rigid, both(pair(m.rigid), fallen))
            put(m.wood, without(pair(m.wood), fallen))
            for kind in range(3):
                put(m.items[kind], without(pair(m.items[kind]), fallen))
            for life in range(s.flame_life + 1):
                put(m.flames[life], without(pair(m.flames[life]), fallen))
    _forget_bombs(m, over)


@kernel(types.void(BYTES, types.int64))
def look(state, player):
    """Write to a player's memory what it sees now."""
    s, m, seen = record(state, STATE), memory_of(state, player), window(state, player)
    put(m.known, both(pair(m.known), seen))
    put(m.rigid, both(without(pair(m.rigid), seen), common(pair(s.rigid), seen)))
    put(m.wood, both(without(pair(m.wood), seen), common(pair(s.wood), seen)))
    shown = common(seen, in_sight(s))
    for kind in range(3):
        put(m.items[kind], both(without(pair(m.items[kind]), seen), common(pair(s.items[kind]), shown)))
    burning = (ZERO, ZERO)
    for back in range(s.flame_life + 1):
        life = s.flame_life - back
        here = common(seen, without(pair(s.flames[life]), burning))
        burning = both(burning, here)
        put(m.flames[life], both(without(pair(m.flames[life]), seen), here))
    _forget_bombs(m, common(seen, pair(m.bombs)))
    for bomb in range(s.n_bombs):
        cell = np.int64(s.bomb_cell[bomb])
        if has(seen, cell) and s.bomb_way[bomb] == STOP:
            add(m.bombs, cell)
            if s.bomb_owner[bomb] == player:
                add(m.mine, cell)
            m.life[cell], m.strength[cell] = s.bomb_life[bomb], s.bomb_strength[bomb]
    for other in range(s.players):
        if is_alive(s, other) and has(seen, np.int64(s.stands[other])):
            m.last_cell[other] = s.stands[other]
            m.last_step[other] = s.t


@kernel(types.void(BYTES, types.int64))
def remember(state, player):
    """Bring a memory of the step before up to date."""
    _outdate(record(state, STATE), memory_of(state, player))
    look(state, player)


@kernel(types.void(BYTES, types.int64))
def forget_all(state, player):
    """Let a player remember no more than where everybody starts."""
    s = record(state, STATE)
    begin = START + player * _BYTES
    for i in range(begin, begin + _BYTES):
        state[i] = 0
    m = memory_of(state, player)
    for other in range(s.players):
        m.last_cell[other] = s.homes[other]


@kernel(RESET)
def reset(state, seed):
    """Draw a board, and let all look at it."""
    reset_board(state, seed)
    s = record(state, STATE)
    for player in range(SEATS):
        forget_all(state, player)
        if player < s.players:
            look(state, player)


@kernel(STEP)
def step(state, actions, rewards):
    """Play one step, and let all look."""
    s = record(state, STATE)
    before = s.end
    step_board(state, actions, rewards)
    if before == ONGOING:
        for player in range(s.players):
            remember(state, player)


@kernel()
def _fold(state, player, key):
    """Fold what a player remembers into a hash."""
    begin = START + player * _BYTES
    words = state[begin : begin + _BYTES].view(np.uint64)
    for i in range(words.shape[0]):
        key = combine(key, words[i])
    return key


@kernel(KEY)
def key(state, observer):
    """Hash what a player sees and remembers; -1: everything."""
    key = key_of_sight(state, observer)
    if observer >= 0:
        return _fold(state, observer, key)
    for player in range(record(state, STATE).players):
        key = _fold(state, player, key)
    return key


@kernel()
def _lay(s, cell, owner):
    """Add a bomb at rest; its life and strength are still to be written."""
    n = s.n_bombs
    s.bomb_cell[n], s.bomb_owner[n], s.bomb_way[n] = cell, owner, STOP
    s.n_bombs = n + 1


@kernel(types.void(BYTES, types.int64, BOARD))
def _recall(state, observer, fog):
    """Write into the fog what a player remembers there, and draw the walls that it has never seen."""
    s, m = record(state, STATE), memory_of(state, observer)
    known = common(pair(m.known), fog)
    put(s.rigid, both(without(pair(s.rigid), known), common(pair(m.rigid), known)))
    put(s.wood, both(without(pair(s.wood), known), common(pair(m.wood), known)))
    fire = without(pair(s.fire), fog)
    for life in range(s.flame_life + 1):
        burning = common(pair(m.flames[life]), fog)
        put(s.flames[life], both(without(pair(s.flames[life]), fog), burning))
        fire = both(fire, burning)
    put(s.fire, fire)
    for kind in range(3):
        put(s.items[kind], both(without(pair(s.items[kind]), fog), common(pair(m.items[kind]), fog)))
    gone = ZERO
    for bomb in range(s.n_bombs):
        if has(fog, np.int64(s.bomb_cell[bomb])):
            gone |= ONE << np.uint64(bomb)
    drop_bombs(s, gone)
    inside = without((EVERY_LOW, EVERY_HIGH), pair(s.outside))
    redraw_walls(state, both(without(inside, fog), known))
    cells = common(pair(m.bombs), fog)
    while any_of(cells) and s.n_bombs < MAX_BOMBS:
        cell = first(cells)
        cells = rest(cells)
        _lay(s, cell, observer if has(m.mine, cell) else (observer + 1) % s.players)
        s.bomb_life[s.n_bombs - 1] = m.life[cell]
        s.bomb_strength[s.n_bombs - 1] = m.strength[cell]


@kernel(types.int64(BYTES, types.int64, types.int64, BOARD))
def _draw_near(state, observer, player, free):
    """Return a uniform cell of some free ones that a player can have reached from where it was seen last, or -1.

    Wood is in its way until a bomb laid since could have burnt it.
    """
    s, m = record(state, STATE), memory_of(state, observer)
    steps, open_cells = s.t - np.int64(m.last_step[player]), without((EVERY_LOW, EVERY_HIGH), pair(s.rigid))
    if steps <= s.fuse:
        open_cells = without(open_cells, pair(s.wood))
    reached, more, gone = (ZERO, ZERO), single(np.int64(m.last_cell[player])), 0
    while gone <= steps and any_of(without(more, reached)):
        reached, more, gone = more, both(more, common(beside(more), open_cells)), gone + 1
    near = common(reached, free)
    return nth(near, below(state, count(near))) if any_of(near) else -1


@kernel(types.void(BYTES, types.int64, BOARD))
def _redraw_players(state, observer, fog):
    """Draw where those in the fog stand, and for each of them, with a chance of one half, a bomb."""
    s = record(state, STATE)
    taken, unseen = pair(s.fire), 0
    for bomb in range(s.n_bombs):
        taken = both(taken, single(np.int64(s.bomb_cell[bomb])))
    for player in range(s.players):
        if is_alive(s, player) and has(fog, np.int64(s.stands[player])):
            free = without(without(fog, both(pair(s.rigid), pair(s.wood))), taken)
            cell = _draw_near(state, observer, player, free)
            if cell < 0:
                cell = draw_passage(state, s, fog, taken)
            s.stands[player] = cell
            for kind in range(3):
                remove(s.items[kind], cell)
            taken = both(taken, single(cell))
            unseen |= 1 << player
    for player in range(s.players):
        free = without(without(fog, both(pair(s.rigid), pair(s.wood))), taken)
        if unseen >> player & 1 and below(state, 2) == 0 and any_of(free) and s.n_bombs < MAX_BOMBS:
            cell = nth(free, below(state, count(free)))
            taken = both(taken, single(cell))
            _lay(s, cell, player)
            s.bomb_strength[s.n_bombs - 1] = 2
            s.bomb_life[s.n_bombs - 1] = 1 + below(state, s.fuse)
            for kind in range(3):
                remove(s.items[kind], cell)


@kernel(DETERMINIZE)
def determinize(state, observer, seed):
    """Redraw all that a player neither sees nor remembers, and what the others remember; for -1 only future chance."""
    seed_stream(state, seed)
    if observer < 0:
        return
    s, seen = record(state, STATE), window(state, observer)
    fog = without(without((EVERY_LOW, EVERY_HIGH), seen), pair(s.outside))
    _recall(state, observer, fog)
    _redraw_players(state, observer, fog)
    redraw_secrets(state, observer)
    for player in range(s.players):
        if player != observer:
            forget_all(state, player)
            if is_alive(s, player):
                look(state, player)
