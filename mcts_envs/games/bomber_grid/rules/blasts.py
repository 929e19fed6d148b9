"""Fire: flames that die down, bombs that go off, what they burn, and rings of the board that turn rigid."""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.bomber_grid.rules.bits import (
    BOARD,
    ONE,
    ZERO,
    any_of,
    both,
    common,
    has,
    pair,
    put,
    single,
    without,
)
from mcts_envs.games.bomber_grid.rules.board import in_sight
from mcts_envs.games.bomber_grid.rules.layout import AMMO_CAP, STATE, WIDTH
from mcts_envs.games.bomber_grid.rules.moves import is_alive


@kernel()
def _destroy_items(s, cells):
    """Take the items off some cells."""
    for kind in range(3):
        put(s.items[kind], without(pair(s.items[kind]), cells))


@kernel(types.void(BYTES))
def die_down(state):
    """Let every flame grow a step older; an item in a cell where one ends and another goes on burning is lost."""
    s = record(state, STATE)
    ended = pair(s.flames[0])
    fire = (ZERO, ZERO)
    for life in range(s.flame_life):
        older = pair(s.flames[life + 1])
        put(s.flames[life], older)
        fire = both(fire, older)
    put(s.flames[s.flame_life], (ZERO, ZERO))
    put(s.fire, fire)
    lost = common(ended, fire)
    if any_of(lost):
        _destroy_items(s, lost)


@kernel(BOARD(BYTES, types.int64, types.int64))
def reach(state, cell, strength):
    """Return the cells that a bomb burns: up to ``strength - 1`` each way, before a rigid wall or up to some wood."""
    s = record(state, STATE)
    rigid, wood, marked = pair(s.rigid), pair(s.wood), single(cell)
    row, column = cell // WIDTH, cell % WIDTH
    for way in range(4):
        step = WIDTH if way < 2 else 1
        room = row if way == 0 else WIDTH - 1 - row if way == 1 else column if way == 2 else WIDTH - 1 - column
        if way == 0 or way == 2:
            step = -step
        target = cell
        for _ in range(min(strength - 1, room)):
            target += step
            if has(rigid, target):
                break
            marked = both(marked, single(target))
            if has(wood, target):
                break
    return marked


@kernel()
def drop_bombs(s, gone):
    """Drop the bombs whose bits are set and keep the others in order."""
    kept, n = 0, s.n_bombs
    for bomb in range(n):
        if (gone >> np.uint64(bomb)) & ONE == ZERO:
            s.bomb_cell[kept] = s.bomb_cell[bomb]
            s.bomb_owner[kept] = s.bomb_owner[bomb]
            s.bomb_life[kept] = s.bomb_life[bomb]
            s.bomb_strength[kept] = s.bomb_strength[bomb]
            s.bomb_way[kept] = s.bomb_way[bomb]
            kept += 1
    for bomb in range(kept, n):
        s.bomb_cell[bomb] = s.bomb_owner[bomb] = s.bomb_life[bomb] = s.bomb_strength[bomb] = s.bomb_way[bomb] = 0
    s.n_bombs = kept


@kernel()
def _return_ammo(s, bomb):
    """Give a bomb back to its owner, dead or alive."""
    owner = np.int64(s.bomb_owner[bomb])
    s.ammo[owner] = min(np.int64(s.ammo[owner]) + 1, AMMO_CAP)


@kernel(types.void(BYTES))
def explode(state):
    """Set off the bombs whose time is up or that lie in fire, and those that these reach; then burn."""
    s = record(state, STATE)
    marked, gone = (ZERO, ZERO), ZERO
    again = True
    while again:
        again = False
        burning = both(marked, pair(s.fire))
        for bomb in range(s.n_bombs):
            cell, this = np.int64(s.bomb_cell[bomb]), ONE << np.uint64(bomb)
            if gone & this == ZERO and (s.bomb_life[bomb] == 0 or has(burning, cell)):
                gone |= this
                marked = both(marked, reach(state, cell, np.int64(s.bomb_strength[bomb])))
                _return_ammo(s, bomb)
                again = True
    drop_bombs(s, gone)
    _destroy_items(s, common(marked, in_sight(s)))
    put(s.wood, without(pair(s.wood), marked))
    put(s.flames[s.flame_life], marked)
    put(s.fire, both(pair(s.fire), marked))


@kernel()
def tick(state):
    """Count the bombs down and let them go off."""
    s = record(state, STATE)
    due = False
    fire = pair(s.fire)
    for bomb in range(s.n_bombs):
        life = np.int64(s.bomb_life[bomb]) - 1
        s.bomb_life[bomb] = life
        due = due or life == 0 or has(fire, np.int64(s.bomb_cell[bomb]))
    if due:
        explode(state)


@kernel()
def ring(size, number):
    """Return the cells so many steps away from the border of the board."""
    low, high = np.uint64(0), np.uint64(0)
    for i in range(number, size - number):
        for k in range(4):
            line = number if k % 2 == 0 else size - 1 - number
            cell = WIDTH * line + i if k < 2 else WIDTH * i + line
            here = single(cell)
            low |= here[0]
            high |= here[1]
    return low, high


@kernel(types.void(BYTES, types.int64))
def collapse(state, number):
    """Turn a ring rigid: bombs there go back to their owners, flames, wood and items vanish."""
    s = record(state, STATE)
    cells = ring(s.board_size, number)
    gone = ZERO
    for bomb in range(s.n_bombs):
        if has(cells, np.int64(s.bomb_cell[bomb])):
            gone |= ONE << np.uint64(bomb)
            _return_ammo(s, bomb)
    drop_bombs(s, gone)
    _destroy_items(s, cells)
    for life in range(s.flame_life + 1):
        put(s.flames[life], without(pair(s.flames[life]), cells))
    put(s.fire, without(pair(s.fire), cells))
    put(s.wood, without(pair(s.wood), cells))
    put(s.rigid, both(pair(s.rigid), cells))


@kernel()
def kill(s, cells, t):
    """Let the players die who stand on some cells, in step ``t``."""
    for player in range(s.players):
        if is_alive(s, player) and has(cells, np.int64(s.stands[player])):
            s.alive &= ~(1 << player)
            s.died[player] = t
