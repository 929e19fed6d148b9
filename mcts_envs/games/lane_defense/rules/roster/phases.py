"""The phases of a step, each a kernel over the state.

Order in which a step draws its dice: sun from the sky; one coin for each plant that makes sun, then one for each
unarmed plant that arms, both in order of cells; one coin for each zombie that may move, lane by lane and left to right;
the coin of an arrival; for each arrival the lane (among those whose entry cell holds no zombie) and the kind (below the
sum of the wave's weights).
"""

from typing import Any

import numpy as np

from mcts_envs.core.kernel import kernel, lowest, word
from mcts_envs.core.rng import below, coin
from mcts_envs.core.typing import Bytes
from mcts_envs.games.lane_defense.rules.roster.layout import CELLS, HP, LOST, MARK, MAX_PLANTS, PLANES, PLANT, ZOMBIE

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


@kernel()
def at(plane: int, cells: int, index: int) -> np.uint64:
    """Return where a cell's byte of a plane lies; unsigned, so that nothing asks whether it counts from the end."""
    return np.uint64(CELLS + plane * cells + index)


@kernel()
def plant_in(state: Bytes, cells: int, index: int) -> int:
    """Return the kind of the plant in a cell, -1 if there is none."""
    return np.int64(state[at(PLANT, cells, index)]) - 1


@kernel()
def zombie_in(state: Bytes, cells: int, index: int) -> int:
    """Return the kind of the zombie in a cell, -1 if there is none."""
    return np.int64(state[at(ZOMBIE, cells, index)]) - 1


@kernel()
def is_free(state: Bytes, cells: int, index: int) -> bool:
    """Whether nothing stands in a cell."""
    return state[at(PLANT, cells, index)] | state[at(ZOMBIE, cells, index)] == 0


@kernel()
def hp_in(state: Bytes, cells: int, index: int) -> int:
    """Return the hit points left of what stands in a cell."""
    return np.int64(state[at(HP, cells, index)])


@kernel()
def next_taken(state: Bytes, plane: int, cells: int, index: int, end: int) -> int:
    """Return the first cell among ``index`` to ``end - 1`` whose byte in a plane is not 0, ``end`` if there is none.

    It reads eight bytes at once: most cells are empty, and a branch for each would often be mispredicted. A caller that
    changes cells finds the next before it does: to read a word right after one of its bytes was written is slow.
    """
    first = CELLS + plane * cells
    place = (first + index) >> 3
    found = word(state, place) & (_ALL << np.uint64(8 * ((first + index) & 7)))
    while found == np.uint64(0):
        place += 1
        if 8 * place >= first + end:
            return end
        found = word(state, place)
    return min(8 * place + (lowest(found) >> 3) - first, end)


@kernel()
def plant(state: Bytes, s: Any, cells: int, action: int) -> None:
    """Count the recharge times down, then plant if the action was legal before that."""
    kind = action // cells
    index = action - kind * cells
    allowed = 0 <= kind < s.plants
    if allowed:
        allowed = s.recharge[kind] == 0 and s.plant_cost[kind] <= s.sun
    if allowed:
        allowed = is_free(state, cells, index) and (index + 1) % s.columns != 0
    for other in range(MAX_PLANTS):
        if s.recharge[other] != 0:
            s.recharge[other] -= 1
    if allowed:
        s.sun -= s.plant_cost[kind]
        s.recharge[kind] = s.plant_recharge[kind]
        state[at(PLANT, cells, index)] = kind + 1
        state[at(HP, cells, index)] = s.plant_hp[kind]
        state[at(MARK, cells, index)] = 0


@kernel()
def grow(state: Bytes, s: Any, cells: int) -> None:
    """Collect sun from the sky and from plants, then arm mines."""
    sun = s.sun
    if coin(state, np.float64(s.sky_sun)):
        sun += 1
    arming = 0
    index = next_taken(state, PLANT, cells, 0, cells)
    while index < cells:
        plant = plant_in(state, cells, index)
        if s.plant_sun[plant] > 0.0 and coin(state, np.float64(s.plant_sun[plant])):
            sun += 1
        if s.plant_arms[plant] > 0.0 and state[at(MARK, cells, index)] == 0:
            arming += 1
        index = next_taken(state, PLANT, cells, index + 1, cells)
    s.sun = min(sun, s.sun_cap)
    index = 0
    while arming > 0:
        index = next_taken(state, PLANT, cells, index, cells)
        plant = plant_in(state, cells, index)
        if s.plant_arms[plant] > 0.0 and state[at(MARK, cells, index)] == 0:
            arming -= 1
            if coin(state, np.float64(s.plant_arms[plant])):
                state[at(MARK, cells, index)] = 1
        index += 1


@kernel()
def _can_hurt(state: Bytes, s: Any, cells: int, plant: int, index: int) -> bool:
    """Whether a zombie stands in a cell that this kind of plant can hurt."""
    zombie = zombie_in(state, cells, index)
    return zombie >= 0 and s.zombie_hurt_by[zombie] >> plant & 1 == 1


@kernel()
def _clear(state: Bytes, cells: int, index: int) -> int:
    """Empty a cell; return 1."""
    for plane in range(PLANES):
        state[at(plane, cells, index)] = 0
    return 1


@kernel()
def _hit(state: Bytes, s: Any, cells: int, plant: int, index: int) -> int:
    """Take the damage from the zombie in a cell; return 1 if that kills it."""
    hp = hp_in(state, cells, index) - np.int64(s.plant_damage[plant])
    if hp > 0:
        state[at(HP, cells, index)] = hp
        return 0
    return _clear(state, cells, index)


@kernel()
def _splash(state: Bytes, s: Any, cells: int, columns: int, plant: int, target: int) -> int:
    """Hit every zombie at most ``splash`` cells away from the target, in any direction."""
    killed = 0
    reach = np.int64(s.plant_splash[plant])
    lane = target // columns
    column = target - lane * columns
    for other in range(max(lane - reach, 0), min(lane + reach, s.rows - 1) + 1):
        for place in range(max(column - reach, 0), min(column + reach, columns - 1) + 1):
            index = other * columns + place
            if _can_hurt(state, s, cells, plant, index):
                killed += _hit(state, s, cells, plant, index)
    return killed


@kernel()
def shoot(state: Bytes, s: Any, cells: int, columns: int) -> int:
    """Let every shooter hit the nearest zombie to its right that it can hurt, and all around that it can hurt."""
    killed = 0
    following = next_taken(state, PLANT, cells, 0, cells)
    while following < cells:
        index = following
        following = next_taken(state, PLANT, cells, index + 1, cells)
        plant = plant_in(state, cells, index)
        if s.plant_damage[plant] == 0:
            continue
        end = (index // columns + 1) * columns
        target = next_taken(state, ZOMBIE, cells, index + 1, end)
        while target < end and not _can_hurt(state, s, cells, plant, target):
            target = next_taken(state, ZOMBIE, cells, target + 1, end)
        if target == end:
            continue
        if s.plant_splash[plant] == 0:
            killed += _hit(state, s, cells, plant, target)
        else:
            killed += _splash(state, s, cells, columns, plant, target)
    return killed


@kernel()
def _move(state: Bytes, cells: int, source: int, target: int) -> None:
    """Move whatever stands in one cell to an empty cell."""
    for plane in range(ZOMBIE, PLANES):
        state[at(plane, cells, target)] = state[at(plane, cells, source)]
        state[at(plane, cells, source)] = 0


@kernel()
def _leaps(state: Bytes, cells: int, start: int, index: int) -> bool:
    """Whether the zombie in a cell has a leap left and may land behind the plant ahead of it."""
    if state[at(MARK, cells, index)] == 0 or index - 2 < start:
        return False
    return is_free(state, cells, index - 2)


@kernel()
def _explode(state: Bytes, s: Any, cells: int, mine: int, end: int) -> int:
    """Remove an armed mine and every zombie that it can hurt in the next ``blast`` cells to its right."""
    plant = plant_in(state, cells, mine)
    _clear(state, cells, mine)
    killed = 0
    for index in range(mine + 1, min(mine + np.int64(s.plant_blast[plant]) + 1, end)):
        if _can_hurt(state, s, cells, plant, index):
            killed += _clear(state, cells, index)
    return killed


@kernel()
def _bite(state: Bytes, cells: int, index: int) -> int:
    """Take one hit point from a plant; return 1 if it is eaten."""
    hp = hp_in(state, cells, index) - 1
    if hp > 0:
        state[at(HP, cells, index)] = hp
        return 0
    return _clear(state, cells, index)


@kernel()
def _mow(state: Bytes, cells: int, start: int, columns: int) -> int:
    """Remove every zombie of a lane; return how many there were."""
    killed = 0
    for index in range(start, start + columns):
        if state[at(ZOMBIE, cells, index)] != 0:
            killed += _clear(state, cells, index)
    return killed


@kernel()
def walk(state: Bytes, s: Any, cells: int, columns: int) -> tuple[int, int]:
    """Move the zombies, lane by lane and left to right; return the zombies killed and the plants eaten.

    Whatever is to move next may be blown up or mown before its turn; nothing ever moves to the right.
    """
    killed, eaten = 0, 0
    following = next_taken(state, ZOMBIE, cells, 0, cells)
    while following < cells:
        index = following
        following = next_taken(state, ZOMBIE, cells, index + 1, cells)
        zombie = zombie_in(state, cells, index)
        if zombie < 0 or not coin(state, np.float64(s.zombie_move[zombie])):
            continue
        ahead = index - 1
        lane = index // columns
        start = lane * columns
        if index == start:
            if s.mowers[lane] == 0:
                s.end = LOST
                return killed, eaten
            s.mowers[lane] = 0
            killed += _mow(state, cells, start, columns)
            continue
        if state[at(ZOMBIE, cells, ahead)] != 0:
            continue
        plant = plant_in(state, cells, ahead)
        if plant < 0:
            _move(state, cells, index, ahead)
        elif _leaps(state, cells, start, index):
            _move(state, cells, index, index - 2)
            state[at(MARK, cells, index - 2)] -= 1
        elif state[at(MARK, cells, ahead)] == 1 and _can_hurt(state, s, cells, plant, index):
            killed += _explode(state, s, cells, ahead, start + columns)
        else:
            eaten += _bite(state, cells, ahead)
    return killed, eaten


@kernel()
def _enter(state: Bytes, s: Any, cells: int, columns: int, wave: int) -> None:
    """Put one zombie into a free entry cell, if there is one."""
    free = 0
    for lane in range(s.rows):
        if state[at(ZOMBIE, cells, (lane + 1) * columns - 1)] == 0:
            free += 1
    if free == 0:
        return
    lane = below(state, free)
    entry = columns - 1
    while lane > 0 or state[at(ZOMBIE, cells, entry)] != 0:
        if state[at(ZOMBIE, cells, entry)] == 0:
            lane -= 1
        entry += columns
    weights = 0
    for kind in range(s.zombies):
        weights += np.int64(s.wave_mix[wave, kind])
    kind, share = 0, below(state, weights)
    while share >= s.wave_mix[wave, kind]:
        share -= np.int64(s.wave_mix[wave, kind])
        kind += 1
    state[at(ZOMBIE, cells, entry)] = kind + 1
    state[at(HP, cells, entry)] = s.zombie_hp[kind]
    state[at(MARK, cells, entry)] = s.zombie_leaps[kind]


@kernel()
def arrive(state: Bytes, s: Any, cells: int, columns: int) -> None:
    """Let the zombies of this step enter."""
    if s.t < s.first_wave or s.t >= s.wave_end[s.waves - 1]:
        return
    wave = 0
    while s.t >= s.wave_end[wave]:
        wave += 1
    if coin(state, np.float64(s.wave_new[wave])):
        _enter(state, s, cells, columns, wave)
    if s.t + 1 == s.wave_end[wave]:
        for _ in range(s.wave_flag[wave]):
            _enter(state, s, cells, columns, wave)


@kernel()
def zombies_left(state: Bytes, cells: int) -> bool:
    """Whether a zombie stands anywhere."""
    return next_taken(state, ZOMBIE, cells, 0, cells) < cells
