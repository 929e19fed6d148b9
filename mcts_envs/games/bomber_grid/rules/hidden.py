"""What a player cannot know, redrawn: items, what others carry, whose bombs lie there, and what the fog covers.

Only the present counts: the rules of board and items, what the player sees now, what it carries, and which bombs are
its own. For those who remember what the fog has covered since, see :mod:`mcts_envs.games.bomber_grid.rules.memory`.
"""

import numpy as np

from mcts_envs.core.contract import BYTES, DETERMINIZE, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import below, seed_stream
from mcts_envs.games.bomber_grid.rules.bits import (
    BOARD,
    EVERY_HIGH,
    EVERY_LOW,
    ONE,
    ZERO,
    add,
    any_of,
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
from mcts_envs.games.bomber_grid.rules.board import mirrored, seen_items
from mcts_envs.games.bomber_grid.rules.layout import AMMO_CAP, FULL_VIEW, MAX_BOMBS, RADIO, STATE, STOP
from mcts_envs.games.bomber_grid.rules.moves import is_alive
from mcts_envs.games.bomber_grid.rules.sight import mate_of, window

BURNT_WOOD = 4
"""One in so many burning cells is taken for one that was wood."""


@kernel()
def nth(cells, n):
    """Return the n-th cell of a board."""
    for _ in range(n):
        cells = rest(cells)
    return first(cells)


@kernel(types.void(BYTES, types.int64))
def _see_one_flame(state, observer):
    """Keep only the youngest flame of each cell, which is all that can be seen."""
    s = record(state, STATE)
    shown = (ZERO, ZERO)
    for back in range(s.flame_life + 1):
        flames = s.flames[s.flame_life - back]
        here = without(pair(flames), shown)
        shown = both(shown, here)
        put(flames, here)


@kernel()
def _survivors(s, seen):
    """Return how much wood is seen to stand, and how much there is known to have been at the start, of all in sight.

    The corridors were of wood, and so was the mirror image of wood.
    """
    corridor, wood, cells = common(seen, pair(s.corridor)), pair(s.wood), pair(s.pairs)
    standing, at_start = count(common(corridor, wood)), count(corridor)
    while any_of(cells):
        cell = first(cells)
        cells = rest(cells)
        other = mirrored(cell)
        if has(seen, cell) and has(seen, other) and (has(wood, cell) or has(wood, other)):
            standing += np.int64(has(wood, cell)) + np.int64(has(wood, other))
            at_start += 2
    return standing, at_start


@kernel()
def _wood_again(state, s, cell, standing, at_start):
    """Put wood on a cell that had it at the start, with the share that still stands of the wood in sight."""
    if at_start == 0 or below(state, at_start) < standing:
        add(s.wood, cell)


@kernel()
def _fallen(s, seen):
    """Return the rings that have collapsed, as far as the player does not see them open."""
    cells, is_open = (ZERO, ZERO), without(seen, pair(s.rigid))
    for number in range(s.n_rings):
        if s.collapse[number] <= s.t:
            cells = both(cells, ring(s.board_size, number))
    return without(cells, is_open)


@kernel(types.void(BYTES, BOARD))
def redraw_walls(state, sight):
    """Draw the walls in the fog: mirror images of those in sight, the rest by the law of boards, part of it burnt.

    What stood on rings that have collapsed is as unknown as what the fog covers.
    """
    s = record(state, STATE)
    fallen = _fallen(s, sight)
    seen = without(sight, fallen)
    fog = without(without((EVERY_LOW, EVERY_HIGH), seen), pair(s.outside))
    standing, at_start = _survivors(s, seen)
    put(s.rigid, without(pair(s.rigid), fog))
    put(s.wood, without(pair(s.wood), fog))
    rigid_left, wood_left = s.n_rigid // 2, (s.n_wood - count(pair(s.corridor))) // 2
    left, cells = 0, pair(s.pairs)
    while any_of(cells):
        cell = first(cells)
        cells = rest(cells)
        other = mirrored(cell)
        left += np.int64(not (has(seen, cell) or has(seen, other)))
        rigid_left -= np.int64(has(s.rigid, cell) or has(s.rigid, other))
        wood_left -= np.int64(has(s.wood, cell) or has(s.wood, other))
    rigid_left, wood_left = max(rigid_left, 0), max(wood_left, 0)
    cells = pair(s.pairs)
    while any_of(cells):
        cell = first(cells)
        cells = rest(cells)
        other = mirrored(cell)
        if has(seen, cell) and has(seen, other):
            continue
        if not (has(seen, cell) or has(seen, other)):
            drawn = below(state, max(left, rigid_left + wood_left))
            left -= 1
            if drawn < rigid_left:
                rigid_left -= 1
                add(s.rigid, cell)
                add(s.rigid, other)
            elif drawn < rigid_left + wood_left:
                wood_left -= 1
                _wood_again(state, s, cell, standing, at_start)
                _wood_again(state, s, other, standing, at_start)
            continue
        known, unknown = (cell, other) if has(seen, cell) else (other, cell)
        if has(s.rigid, known):
            add(s.rigid, unknown)
        elif has(s.wood, known):
            _wood_again(state, s, unknown, standing, at_start)
    cells = common(fog, pair(s.corridor))
    while any_of(cells):
        _wood_again(state, s, first(cells), standing, at_start)
        cells = rest(cells)
    put(s.rigid, both(pair(s.rigid), fallen))
    put(s.wood, without(pair(s.wood), fallen))


@kernel()
def draw_passage(state, s, fog, taken):
    """Return a uniform passage in the fog that is not taken, or else a cell of the fog, which becomes one."""
    walls = both(pair(s.rigid), pair(s.wood))
    free = without(without(fog, walls), taken)
    if not any_of(free):
        free = without(fog, taken)
    cell = nth(free, below(state, count(free)))
    remove(s.rigid, cell)
    remove(s.wood, cell)
    return cell


@kernel(types.void(BYTES, types.int64))
def _redraw_fog(state, observer):
    """Redraw what the fog covers.

    Living players who are not seen stand on uniform passages; each has, with a chance of one half, laid a bomb on
    another one. Nothing burns there.
    """
    s = record(state, STATE)
    seen = window(state, observer)
    fog = without(without((EVERY_LOW, EVERY_HIGH), seen), pair(s.outside))
    for life in range(s.flame_life + 1):
        put(s.flames[life], without(pair(s.flames[life]), fog))
    put(s.fire, without(pair(s.fire), fog))
    for kind in range(3):
        put(s.items[kind], without(pair(s.items[kind]), fog))
    gone = ZERO
    for bomb in range(s.n_bombs):
        if has(fog, np.int64(s.bomb_cell[bomb])):
            gone |= ONE << np.uint64(bomb)
    drop_bombs(s, gone)
    redraw_walls(state, seen)
    taken, unseen = (ZERO, ZERO), 0
    for player in range(s.players):
        if is_alive(s, player) and has(fog, np.int64(s.stands[player])):
            s.stands[player] = draw_passage(state, s, fog, taken)
            taken = both(taken, single(np.int64(s.stands[player])))
            unseen |= 1 << player
    for player in range(s.players):
        n = s.n_bombs
        free = without(without(fog, both(pair(s.rigid), pair(s.wood))), taken)
        if unseen >> player & 1 and below(state, 2) == 0 and any_of(free) and n < MAX_BOMBS:
            cell = nth(free, below(state, count(free)))
            taken = both(taken, single(cell))
            s.bomb_cell[n], s.bomb_owner[n], s.bomb_way[n], s.bomb_strength[n] = cell, player, STOP, 2
            s.bomb_life[n] = 1 + below(state, s.fuse)
            s.n_bombs = n + 1


@kernel()
def _own_items(s, observer):
    """Return how many items a player must have taken, by what it carries and has laid."""
    bombs = np.int64(s.ammo[observer]) - 1
    for bomb in range(s.n_bombs):
        bombs += np.int64(s.bomb_owner[bomb] == observer)
    return max(bombs, 0) + max(np.int64(s.strength[observer]) - 2, 0) + np.int64(s.kicks[observer])


@kernel(types.void(BYTES, types.int64))
def _redraw_items(state, observer):
    """Draw where the items are that are not accounted for.

    Each item started under a wood of its own. All woods but those whose item is in sight or with the observer are
    equally likely to have had one: those that stand, those that burn (one in BURNT_WOOD burning cells), and those that
    are gone, whose items another player has taken or the fire has destroyed, each of these with the same chance.
    """
    s = record(state, STATE)
    known = seen_items(s)
    for kind in range(3):
        put(s.items[kind], common(pair(s.items[kind]), known))
    accounted = count(known) + _own_items(s, observer)
    covers, fire = pair(s.wood), pair(s.fire)
    while any_of(fire):
        if below(state, BURNT_WOOD) == 0:
            covers = both(covers, single(first(fire)))
        fire = rest(fire)
    slots = max(s.n_wood - accounted, count(covers))
    items = min(max(s.n_items - accounted, 0), slots)
    while any_of(covers):
        if below(state, slots) < items:
            add(s.items[below(state, 3)], first(covers))
            items -= 1
        slots -= 1
        covers = rest(covers)
    for _ in range(items):
        player, kind = below(state, s.players), below(state, 3)
        if player == observer:
            continue
        if kind == 0:
            s.ammo[player] = min(np.int64(s.ammo[player]) + 1, AMMO_CAP)
        elif kind == 1:
            s.strength[player] = min(np.int64(s.strength[player]) + 1, s.blast_cap)
        else:
            s.kicks[player] = 1


@kernel()
def _redraw_owners(state, s, observer):
    """Let others carry what they start with and forget their way; give their bombs to uniform ones of them."""
    for player in range(s.players):
        if player != observer:
            s.trail[player] = ZERO
            s.ammo[player], s.strength[player], s.kicks[player] = 1, 2, 0
    for bomb in range(s.n_bombs):
        if s.bomb_owner[bomb] != observer:
            drawn = below(state, s.players - 1)
            s.bomb_owner[bomb] = drawn + np.int64(drawn >= observer)


@kernel()
def _pay_for_bombs(s, observer):
    """Take the bombs that others have laid from their ammo; who laid a strong one can still lay such."""
    for bomb in range(s.n_bombs):
        owner = np.int64(s.bomb_owner[bomb])
        if owner != observer:
            s.ammo[owner] = max(np.int64(s.ammo[owner]) - 1, 0)
            s.strength[owner] = max(np.int64(s.strength[owner]), np.int64(s.bomb_strength[bomb]))


@kernel(types.void(BYTES, types.int64))
def redraw_secrets(state, observer):
    """Redraw what is hidden in full view too: older flames, what others carry and whose bombs lie there, items."""
    s = record(state, STATE)
    _see_one_flame(state, observer)
    _redraw_owners(state, s, observer)
    _redraw_items(state, observer)
    _pay_for_bombs(s, observer)
    if s.mode == RADIO:
        for player in range(s.players):
            if player != observer and player != mate_of(observer):
                s.words[player, 0] = s.words[player, 1] = 0


@kernel(DETERMINIZE)
def determinize(state, observer, seed):
    """Redraw all that a player cannot know; for -1 only future chance."""
    seed_stream(state, seed)
    if observer < 0:
        return
    if record(state, STATE).radius != FULL_VIEW:
        _redraw_fog(state, observer)
    redraw_secrets(state, observer)
