"""Rules of the roster game: the kernels of the contract."""

import numpy as np

from mcts_envs.core.contract import (
    ACTIVE,
    KEY,
    LEGAL,
    OBSERVE,
    OUTCOME,
    RESET,
    RUNNING,
    STATUS,
    STEP,
    TERMINATED,
    TRUNCATED,
)
from mcts_envs.core.kernel import kernel, record, word
from mcts_envs.core.rng import combine, seed_stream
from mcts_envs.core.typing import Bytes, Floats, Ints, Singles
from mcts_envs.games.lane_defense.rules.roster.layout import (
    CELLS,
    HP,
    LOST,
    MARK,
    MAX_PLANTS,
    MAX_ROWS,
    ONGOING,
    OUT_OF_TIME,
    PLANES,
    STATE,
    WON,
)
from mcts_envs.games.lane_defense.rules.roster.phases import (
    arrive,
    at,
    grow,
    is_free,
    plant,
    plant_in,
    shoot,
    walk,
    zombie_in,
    zombies_left,
)

_FIRST_WORD = STATE.fields["t"][1] // 8


@kernel()
def _free_cells(state: Bytes, offset: int, rows: int, columns: int, actions: Ints) -> int:
    """List the empty cells outside the entry column, each plus ``offset``."""
    count, cells = 0, rows * columns
    for lane in range(rows):
        for index in range(lane * columns, (lane + 1) * columns - 1):
            actions[count] = offset + index
            if is_free(state, cells, index):
                count += 1
    return count


@kernel()
def _share(part: int, whole: int) -> np.float32:
    """Return ``part / whole`` up to 1, and 0 where there is nothing to share."""
    return np.float32(min(part, whole) / max(whole, 1))


@kernel()
def _clock(state: Bytes) -> np.float32:
    """Return the share of the waves that is over."""
    s = record(state, STATE)
    return _share(s.t, s.wave_end[s.waves - 1])


@kernel()
def _observe_board(state: Bytes, out: Singles) -> int:
    """Fill in the planes of the board; return how many numbers they are."""
    s = record(state, STATE)
    cells, plants, zombies = s.cells, s.plants, s.zombies
    planes = plants + zombies + (4 if s.top_leaps > 0 else 3)
    for i in range(planes * cells):
        out[i] = 0.0
    for index in range(cells):
        hp, mark = state[at(HP, cells, index)], state[at(MARK, cells, index)]
        plant, zombie = plant_in(state, cells, index), zombie_in(state, cells, index)
        if plant >= 0:
            out[plant * cells + index] = 1.0
            out[plants * cells + index] = _share(hp, s.top_plant_hp)
            out[(plants + 1) * cells + index] = np.float32(mark)
        if zombie >= 0:
            out[(plants + 2 + zombie) * cells + index] = 1.0
            out[(plants + 2 + zombies) * cells + index] = _share(hp, s.top_zombie_hp)
            if s.top_leaps > 0:
                out[(plants + 3 + zombies) * cells + index] = _share(mark, s.top_leaps)
    return planes * cells


@kernel(RESET)
def reset(state: Bytes, seed: np.uint64) -> None:
    """Empty the board and start the clock."""
    s = record(state, STATE)
    seed_stream(state, seed)
    s.t = 0
    s.end = ONGOING
    s.sun = s.start_sun
    for kind in range(MAX_PLANTS):
        s.recharge[kind] = 0
    for lane in range(MAX_ROWS):
        s.mowers[lane] = s.with_mowers if lane < s.rows else 0
    for i in range(PLANES * s.cells):
        state[CELLS + i] = 0


@kernel(ACTIVE)
def active(state: Bytes) -> int:
    """Return 1 until the game is over."""
    return 1 if record(state, STATE).end == ONGOING else 0


@kernel(LEGAL)
def legal(state: Bytes, player: int, actions: Ints) -> int:
    """List every plant that may be planted, in ascending order of actions, and the no-op last."""
    s = record(state, STATE)
    rows, columns, plants = s.rows, s.columns, s.plants
    cells = rows * columns
    count = 0
    if s.end == ONGOING:
        first, free = 0, 0
        for kind in range(plants):
            if s.recharge[kind] != 0 or s.plant_cost[kind] > s.sun:
                continue
            if count == 0:
                free = _free_cells(state, kind * cells, rows, columns, actions)
                first, count = kind, free
            else:
                for i in range(free):
                    actions[count + i] = actions[i] + (kind - first) * cells
                count += free
    actions[count] = plants * cells
    return count + 1


@kernel(STEP)
def step(state: Bytes, actions: Ints, rewards: Floats) -> None:
    """Play one step: plant, income, arming, shots, moves, arrivals, end. An illegal action plants nothing."""
    rewards[0] = 0.0
    s = record(state, STATE)
    if s.end != ONGOING:
        return
    columns, cells = s.columns, s.cells
    plant(state, s, cells, actions[0])
    grow(state, s, cells)
    shot = shoot(state, s, cells, columns)
    killed, eaten = walk(state, s, cells, columns)
    rewards[0] = (shot + killed) * s.reward_kill + eaten * s.reward_eaten
    if s.end == LOST:
        rewards[0] += s.reward_loss
        return
    arrive(state, s, cells, columns)
    s.t += 1
    if s.t >= s.wave_end[s.waves - 1] and not zombies_left(state, cells):
        s.end = WON
        rewards[0] += s.reward_win
    elif s.t >= s.max_steps:
        s.end = OUT_OF_TIME


@kernel(STATUS)
def status(state: Bytes, player: int) -> int:
    """Return RUNNING, TERMINATED after a win or a loss, TRUNCATED at the limit of steps."""
    end = record(state, STATE).end
    if end == ONGOING:
        return RUNNING
    return TRUNCATED if end == OUT_OF_TIME else TERMINATED


@kernel(OUTCOME)
def outcome(state: Bytes, points: Floats) -> None:
    """Give 1 for a win, else 0."""
    points[0] = 1.0 if record(state, STATE).end == WON else 0.0


@kernel(KEY)
def key(state: Bytes, observer: int) -> np.uint64:
    """Hash the clock, the stocks and the board, without chance and settings."""
    value = np.uint64(0x243F6A8885A308D3)
    for i in range(_FIRST_WORD, state.shape[0] // 8):
        value = combine(value, word(state, i))
    return value


@kernel(OBSERVE)
def observe(state: Bytes, player: int, out: Singles) -> None:
    """Planes of the board, then sun, recharge times, clock and mowers as single numbers; all in [0, 1].

    The planes: one for each kind of plant, hit points of plants, armed; one for each kind of zombie, hit points of
    zombies, and leaps left in a roster in which zombies leap.
    """
    s = record(state, STATE)
    plants = s.plants
    i = _observe_board(state, out)
    out[i] = _share(s.sun, s.sun_cap)
    for kind in range(plants):
        out[i + 1 + kind] = _share(s.recharge[kind], s.top_recharge)
    out[i + 1 + plants] = _clock(state)
    for lane in range(s.rows):
        out[i + 2 + plants + lane] = np.float32(s.mowers[lane])


@kernel(OBSERVE)
def observe_planes(state: Bytes, player: int, out: Singles) -> None:
    """The same as planes: each single number fills one, and all mowers share one in which each fills its lane."""
    s = record(state, STATE)
    cells, columns, plants = s.cells, s.columns, s.plants
    i = _observe_board(state, out)
    for plane in range(plants + 2):
        if plane == 0:
            value = _share(s.sun, s.sun_cap)
        elif plane <= plants:
            value = _share(s.recharge[plane - 1], s.top_recharge)
        else:
            value = _clock(state)
        for index in range(cells):
            out[i + index] = value
        i += cells
    for index in range(cells):
        out[i + index] = np.float32(s.mowers[index // columns])
