"""Who wants to go where, and who is sent back.

The order of the original's step: players, then rolling bombs name the cells that they want; those who would cross the
same border or meet in a cell are sent back, kicks are tried, and all is repeated until it is stable. Neither the order
of bombs nor the numbers of players matter for the result.
"""

import numpy as np

from mcts_envs.core.contract import BYTES, INTS, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.bomber_grid.rules.bits import ONE, ZERO, add, any_of, both, common, has, pair, remove, single
from mcts_envs.games.bomber_grid.rules.board import seen_items
from mcts_envs.games.bomber_grid.rules.layout import (
    AMMO_CAP,
    CELLS,
    DOWN,
    LAY,
    LEFT,
    MAX_BOMBS,
    NOT_KICKED,
    RIGHT,
    SEATS,
    STATE,
    STOP,
    TRAIL,
    UP,
    WIDTH,
)

_PLAYERS, _CROWDS, _BOMBS, _HEAPS = range(4)
"""Boards in ``counts``: cells that at least one, or two, players or bombs want or are left with."""

_BYTE, _WHOLE_TRAIL = np.uint64(8), np.uint64((1 << 8 * TRAIL) - 1)


@kernel()
def next_cell(cell, way):
    """Return the cell one step away, or -1 beyond the border of the grid."""
    if way == UP:
        return cell - WIDTH if cell >= WIDTH else -1
    if way == DOWN:
        return cell + WIDTH if cell < CELLS - WIDTH else -1
    if way == LEFT:
        return cell - 1 if cell % WIDTH != 0 else -1
    return cell + 1 if cell % WIDTH != WIDTH - 1 else -1


@kernel()
def steps_between(cell, other):
    """Return how many steps are between two cells where nothing is in the way."""
    return abs(cell // WIDTH - other // WIDTH) + abs(cell % WIDTH - other % WIDTH)


@kernel()
def is_alive(s, player):
    """Return whether a player is in the game."""
    return s.alive >> player & 1 != 0


@kernel()
def _lay(s, player):
    """Lay a bomb where a player stands, if it has one and none lies there."""
    cell, n = np.int64(s.stands[player]), s.n_bombs
    if s.ammo[player] == 0 or n == MAX_BOMBS:
        return
    for bomb in range(n):
        if s.bomb_cell[bomb] == cell:
            return
    s.ammo[player] -= 1
    s.bomb_cell[n] = cell
    s.bomb_owner[n] = player
    s.bomb_life[n] = s.fuse
    s.bomb_strength[n] = s.strength[player]
    s.bomb_way[n] = STOP
    s.n_bombs = n + 1


@kernel(types.boolean(BYTES, INTS, types.int64))
def intend(state, actions, scale):
    """Lay bombs and note in ``aim`` where players want to go; return whether anybody could be in another's way.

    An action stands for the move ``action // scale``.
    """
    s = record(state, STATE)
    rigid, wood = pair(s.rigid), pair(s.wood)
    walls = both(rigid, wood)
    taken, wanted = (ZERO, ZERO), (ZERO, ZERO)
    clash = False
    for player in range(s.players):
        if not is_alive(s, player):
            continue
        cell, move = np.int64(s.stands[player]), actions[player] // scale
        s.aim[player] = cell
        taken = both(taken, single(cell))
        if move == LAY:
            _lay(s, player)
        elif move != STOP:
            target = next_cell(cell, move)
            if target >= 0 and not has(walls, target):
                s.aim[player] = target
                here = single(target)
                clash = clash or any_of(common(wanted, here))
                wanted = both(wanted, here)
    for bomb in range(s.n_bombs):
        clash = clash or s.bomb_way[bomb] != STOP
        taken = both(taken, single(np.int64(s.bomb_cell[bomb])))
    return clash or any_of(common(taken, wanted))


@kernel()
def _count(s, which, cell):
    """Count one more player, or bomb, in a cell."""
    if has(s.counts[which], cell):
        add(s.counts[which + 1], cell)
    add(s.counts[which], cell)


@kernel()
def _moves(s, player):
    return is_alive(s, player) and s.aim[player] != s.stands[player]


@kernel()
def _send_back(s, player):
    """Let a player stay where it stands."""
    s.aim[player] = s.stands[player]
    _count(s, _PLAYERS, np.int64(s.stands[player]))


@kernel()
def _send_bomb_back(s, bomb):
    """Let a bomb stay where it lies."""
    s.bomb_aim[bomb] = s.bomb_cell[bomb]
    _count(s, _BOMBS, np.int64(s.bomb_cell[bomb]))


@kernel(types.void(BYTES))
def _roll(state):
    """Note in ``bomb_aim`` where bombs roll, unless an item or a wall stops them."""
    s = record(state, STATE)
    walls = both(both(pair(s.rigid), pair(s.wood)), seen_items(s))
    for bomb in range(s.n_bombs):
        cell, way = np.int64(s.bomb_cell[bomb]), np.int64(s.bomb_way[bomb])
        s.bomb_aim[bomb] = cell
        s.bomb_kicker[bomb] = NOT_KICKED
        if way != STOP:
            target = next_cell(cell, way)
            if target >= 0 and not has(walls, target):
                s.bomb_aim[bomb] = target


@kernel(types.void(BYTES))
def _uncross(state):
    """Send back who would cross a border at the same time: two players, the bomb of a bomb and a player, two bombs."""
    s = record(state, STATE)
    players, bombs = s.players, s.n_bombs
    crossed = 0
    for a in range(players):
        for b in range(a + 1, players):
            if _moves(s, a) and _moves(s, b) and s.aim[a] == s.stands[b] and s.aim[b] == s.stands[a]:
                crossed |= 1 << a | 1 << b
    bombs_crossed = ZERO
    for bomb in range(bombs):
        if s.bomb_aim[bomb] == s.bomb_cell[bomb]:
            continue
        for player in range(players):
            meets = s.bomb_aim[bomb] == s.stands[player] and s.aim[player] == s.bomb_cell[bomb]
            if _moves(s, player) and meets:
                bombs_crossed |= ONE << np.uint64(bomb)
        for other in range(bomb):
            if (
                s.bomb_aim[other] != s.bomb_cell[other]
                and s.bomb_aim[bomb] == s.bomb_cell[other]
                and s.bomb_aim[other] == s.bomb_cell[bomb]
            ):
                bombs_crossed |= ONE << np.uint64(bomb) | ONE << np.uint64(other)
    for player in range(players):
        if crossed >> player & 1:
            s.aim[player] = s.stands[player]
    for bomb in range(bombs):
        if (bombs_crossed >> np.uint64(bomb)) & ONE != ZERO:
            s.bomb_aim[bomb] = s.bomb_cell[bomb]


@kernel(types.void(BYTES))
def _unheap(state):
    """Send back whoever moves into a cell that two players or two bombs want, until nobody does."""
    s = record(state, STATE)
    again = True
    while again:
        again = False
        for player in range(s.players):
            target = np.int64(s.aim[player])
            if _moves(s, player) and (has(s.counts[_CROWDS], target) or has(s.counts[_HEAPS], target)):
                _send_back(s, player)
                again = True
        for bomb in range(s.n_bombs):
            target = np.int64(s.bomb_aim[bomb])
            if target != s.bomb_cell[bomb] and (has(s.counts[_CROWDS], target) or has(s.counts[_HEAPS], target)):
                _send_bomb_back(s, bomb)
                again = True


@kernel()
def _who_wants(s, cell):
    """Return the player who wants a cell, or -1."""
    for player in range(s.players):
        if is_alive(s, player) and s.aim[player] == cell:
            return player
    return -1


@kernel()
def _way(source, target):
    """Return the direction of a step."""
    if source > target:
        return LEFT if source - target == 1 else UP
    return RIGHT if target - source == 1 else DOWN


@kernel()
def _kick_target(s, player):
    """Return where a bomb would go that a player kicks, or -1 if it cannot."""
    cell = np.int64(s.aim[player])
    if s.kicks[player] == 0:
        return -1
    target = next_cell(cell, _way(np.int64(s.stands[player]), cell))
    if target < 0 or has(s.rigid, target) or has(s.wood, target) or has(seen_items(s), target):
        return -1
    return -1 if has(s.counts[_PLAYERS], target) or has(s.counts[_BOMBS], target) else target


@kernel(types.boolean(BYTES))
def _kick(state):
    """Kick bombs, or send them and their players back; return whether anything changed.

    Within the loop counts stay as they are, but for cells whose bomb is kicked away; ``bomb_way`` of a bomb that is
    kicked is already its new direction.
    """
    s = record(state, STATE)
    bombs_back, bombs_off, players_back = ZERO, ZERO, 0
    for bomb in range(s.n_bombs):
        cell = np.int64(s.bomb_aim[bomb])
        if not has(s.counts[_PLAYERS], cell):
            continue
        player = _who_wants(s, cell)
        if player < 0:
            continue
        this = ONE << np.uint64(bomb)
        if not _moves(s, player):
            if cell != s.bomb_cell[bomb]:
                bombs_back |= this
            continue
        target = _kick_target(s, player)
        if target < 0:
            bombs_back |= this
            players_back |= 1 << player
            continue
        remove(s.counts[_BOMBS], cell)
        remove(s.counts[_HEAPS], cell)
        s.bomb_way[bomb] = _way(np.int64(s.stands[player]), cell)
        s.bomb_kicker[bomb] = player
        bombs_off |= this
    for bomb in range(s.n_bombs):
        this = ONE << np.uint64(bomb)
        if bombs_back & this != ZERO:
            _send_bomb_back(s, bomb)
        elif bombs_off & this != ZERO:
            target = next_cell(np.int64(s.bomb_aim[bomb]), np.int64(s.bomb_way[bomb]))
            s.bomb_aim[bomb] = target
            _count(s, _BOMBS, target)
    for player in range(s.players):
        if players_back >> player & 1:
            _send_back(s, player)
    return bombs_back | bombs_off != ZERO


@kernel()
def _bomb_kicked_by(s, player):
    for bomb in range(s.n_bombs):
        if s.bomb_kicker[bomb] == player:
            return bomb
    return -1


@kernel(types.void(BYTES))
def _undo_kicks(state):
    """Send back players and bombs, with the kicks that brought them there, until everyone has a cell to itself."""
    s = record(state, STATE)
    again = True
    while again:
        again = False
        for player in range(s.players):
            target = np.int64(s.aim[player])
            if _moves(s, player) and (has(s.counts[_CROWDS], target) or has(s.counts[_BOMBS], target)):
                bomb = _bomb_kicked_by(s, player)
                if bomb >= 0:
                    _send_bomb_back(s, bomb)
                    s.bomb_kicker[bomb] = NOT_KICKED
                _send_back(s, player)
                again = True
        for bomb in range(s.n_bombs):
            target, kicker = np.int64(s.bomb_aim[bomb]), np.int64(s.bomb_kicker[bomb])
            if target == s.bomb_cell[bomb] and kicker == NOT_KICKED:
                continue
            if has(s.counts[_HEAPS], target) or has(s.counts[_PLAYERS], target):
                _send_bomb_back(s, bomb)
                if kicker != NOT_KICKED:
                    _send_back(s, kicker)
                    s.bomb_kicker[bomb] = NOT_KICKED
                again = True


@kernel(types.void(BYTES))
def settle(state):
    """Decide who goes where when somebody may be in another's way, and roll the bombs."""
    s = record(state, STATE)
    players, bombs = s.players, s.n_bombs
    _roll(state)
    _uncross(state)
    for player in range(players):
        if is_alive(s, player):
            _count(s, _PLAYERS, np.int64(s.aim[player]))
    for bomb in range(bombs):
        _count(s, _BOMBS, np.int64(s.bomb_aim[bomb]))
    _unheap(state)
    if _kick(state):
        _undo_kicks(state)
    for bomb in range(bombs):
        if s.bomb_aim[bomb] == s.bomb_cell[bomb] and s.bomb_kicker[bomb] == NOT_KICKED:
            s.bomb_way[bomb] = STOP
        s.bomb_cell[bomb] = s.bomb_aim[bomb]
        s.bomb_aim[bomb] = s.bomb_kicker[bomb] = 0
    for which in range(4):
        s.counts[which, 0] = s.counts[which, 1] = ZERO


@kernel()
def _take(s, player, cell):
    """Give a player the item of a cell: one more bomb, one more cell of reach, or the ability to kick."""
    if has(s.items[0], cell):
        s.ammo[player] = min(np.int64(s.ammo[player]) + 1, AMMO_CAP)
    elif has(s.items[1], cell):
        s.strength[player] = min(np.int64(s.strength[player]) + 1, s.blast_cap)
    else:
        s.kicks[player] = 1
    for kind in range(3):
        remove(s.items[kind], cell)


@kernel(types.void(BYTES))
def commit(state):
    """Move the players to where they aim; who enters a cell with an item takes it."""
    s = record(state, STATE)
    items = seen_items(s)
    for player in range(SEATS):
        if not is_alive(s, player):
            continue
        cell, target = np.int64(s.stands[player]), np.int64(s.aim[player])
        s.trail[player] = ((s.trail[player] << _BYTE) | np.uint64(cell + 1)) & _WHOLE_TRAIL
        if target != cell:
            s.stands[player] = target
            if has(items, target):
                _take(s, player, target)
        s.aim[player] = 0
