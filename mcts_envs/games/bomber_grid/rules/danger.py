"""Where fire will be, and from where one can still get out of it, as far as a player sees.

The players' foresight is simple: bombs stay where they lie, walls stand, and nobody gets in the way.
"""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.bomber_grid.rules.bits import BOARD, ZERO, any_of, beside, both, common, has, pair, single, without
from mcts_envs.games.bomber_grid.rules.blasts import reach
from mcts_envs.games.bomber_grid.rules.board import bombs_of
from mcts_envs.games.bomber_grid.rules.layout import LAY, STATE
from mcts_envs.games.bomber_grid.rules.moves import is_alive, next_cell


@kernel(BOARD(BYTES))
def _chain(state):
    """Let each bomb noted go off with an earlier one that reaches it; return all cells that they will burn."""
    s = record(state, STATE)
    burnt, n, again = (ZERO, ZERO), s.n_bombs, True
    while again:
        again = False
        for bomb in range(n):
            if s.bomb_aim[bomb] == 0:
                continue
            cells = reach(state, np.int64(s.bomb_cell[bomb]), np.int64(s.bomb_strength[bomb]))
            burnt = both(burnt, cells)
            for other in range(n):
                if s.bomb_aim[other] > s.bomb_aim[bomb] and has(cells, np.int64(s.bomb_cell[other])):
                    s.bomb_aim[other] = s.bomb_aim[bomb]
                    again = True
    return burnt


@kernel(BOARD(BYTES, BOARD))
def foresee(state, seen):
    """Note in ``bomb_aim`` in how many steps each bomb in sight goes off; return all cells that they will burn.

    A bomb goes off with an earlier one that reaches it. ``forget`` takes the notes back.
    """
    s = record(state, STATE)
    for bomb in range(s.n_bombs):
        s.bomb_aim[bomb] = s.bomb_life[bomb] if has(seen, np.int64(s.bomb_cell[bomb])) else 0
    return _chain(state)


@kernel()
def forget(s):
    """Take back what ``foresee`` noted."""
    for bomb in range(s.n_bombs):
        s.bomb_aim[bomb] = 0


@kernel(BOARD(BYTES, BOARD, types.int64))
def burning(state, seen, steps):
    """Return the cells that will burn in so many steps, after ``foresee``."""
    s = record(state, STATE)
    lasts, cells = s.flame_life, (ZERO, ZERO)
    for life in range(steps, lasts + 1):
        cells = both(cells, pair(s.flames[life]))
    cells = common(cells, seen)
    for bomb in range(s.n_bombs):
        time = np.int64(s.bomb_aim[bomb])
        if time != 0 and time <= steps <= time + lasts:
            cells = both(cells, reach(state, np.int64(s.bomb_cell[bomb]), np.int64(s.bomb_strength[bomb])))
    return cells


@kernel()
def walkable(s, seen):
    """Return the cells in sight without walls and bombs."""
    return without(seen, both(both(pair(s.rigid), pair(s.wood)), bombs_of(s)))


@kernel(types.int64(BYTES, types.int64))
def _time_of_own(state, cell):
    """Return in how many steps a bomb goes off that is laid now, by itself or by another one, after ``foresee``."""
    s = record(state, STATE)
    time = s.fuse
    for bomb in range(s.n_bombs):
        earlier = np.int64(s.bomb_aim[bomb])
        if earlier != 0 and earlier < time:
            cells = reach(state, np.int64(s.bomb_cell[bomb]), np.int64(s.bomb_strength[bomb]))
            time = earlier if has(cells, cell) else time
    return time


@kernel(BOARD(BYTES, types.int64, BOARD, types.boolean))
def refuges(state, player, seen, laying):
    """Return the cells in which a player can be after this step and survive all bombs in sight, after ``foresee``.

    With ``laying`` the player has a bomb more, just laid where it stands.
    """
    s = record(state, STATE)
    own_cell, own_time, own = np.int64(s.stands[player]), 0, (ZERO, ZERO)
    lasts, last = s.flame_life, 0
    for bomb in range(s.n_bombs):
        last = max(last, np.int64(s.bomb_aim[bomb]))
    enter = walkable(s, seen)
    stay = both(enter, bombs_of(s))
    if laying:
        own_time, own = _time_of_own(state, own_cell), reach(state, own_cell, np.int64(s.strength[player]))
        last = max(last, own_time)
        enter = without(enter, single(own_cell))
    alive = stay
    for steps in range(last + lasts, 0, -1):
        kept = both(alive, beside(common(alive, enter)))
        alive = without(common(kept, stay), burning(state, seen, steps))
        if laying and own_time <= steps <= own_time + lasts:
            alive = without(alive, own)
    return alive


@kernel()
def others_of(s, player):
    """Return the cells of all other living players."""
    low, high = ZERO, ZERO
    for other in range(s.players):
        if other != player and is_alive(s, other):
            here = single(np.int64(s.stands[other]))
            low |= here[0]
            high |= here[1]
    return low, high


@kernel(types.boolean(BYTES, types.int64, BOARD))
def _may_lay(state, player, seen):
    """Return whether a player can survive a bomb of its own as well, laid now, after ``foresee``."""
    s = record(state, STATE)
    here = np.int64(s.stands[player])
    time, earlier = _time_of_own(state, here), False
    if time < s.fuse:  # another bomb sets it off; it may set off later ones
        own = reach(state, here, np.int64(s.strength[player]))
        for bomb in range(s.n_bombs):
            if s.bomb_aim[bomb] > time and has(own, np.int64(s.bomb_cell[bomb])):
                s.bomb_aim[bomb] = time
                earlier = True
    if earlier:
        _chain(state)
    safe = has(refuges(state, player, seen, True), here)
    if earlier:
        foresee(state, seen)
    return safe


@kernel(types.int64(BYTES, types.int64, BOARD))
def safe_moves(state, player, seen):
    """Return the moves, as bits, after which a player can survive all bombs in sight, after ``foresee``.

    Moves against a wall or a bomb and laying a bomb without having one are left out: they are as good as STOP, unless
    the player kicks the bomb, of which nothing is foreseen.
    """
    s = record(state, STATE)
    if s.n_bombs == 0 and not any_of(pair(s.fire)):
        alive = walkable(s, seen)
    else:
        alive = refuges(state, player, seen, False)
    here = np.int64(s.stands[player])
    walk, moves = walkable(s, seen), np.int64(has(alive, here))
    for move in range(1, 5):
        target = next_cell(here, move)
        if target >= 0 and has(walk, target) and has(alive, target):
            moves |= 1 << move
    if s.ammo[player] != 0 and not has(bombs_of(s), here) and _may_lay(state, player, seen):
        moves |= 1 << LAY
    return moves
