"""Rules of the classic game.

A lane is four bit masks (bit = column; column 0 is next to the house, zombies enter at the last column): plants, normal
zombies (1 hit), strong zombies (2 hits) and weakened strong zombies (1 hit left). The four 16-bit masks of a lane fill
exactly one word of the state.

Chance is used in this order: move coin, spawn coin, lane among the free ones, strength coin (1: strong), plant coin.
"""

import numpy as np

from mcts_envs.core.contract import (
    ACTIVE,
    BYTES,
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
    state_dtype,
    types,
)
from mcts_envs.core.kernel import count_bits, kernel, lowest, record, word
from mcts_envs.core.rng import below, coin, combine, seed_stream

MAX_ROWS = MAX_COLUMNS = 16
EMPTY, PLANT, NORMAL, STRONG, WEAKENED = range(5)
ONGOING, WON, LOST, OUT_OF_TIME = range(4)

STATE = state_dtype(
    [
        ("p_plant", "f8"),
        ("p_move", "f8"),
        ("p_new", "f8"),
        ("reward_kill", "f8"),
        ("reward_eaten", "f8"),
        ("reward_win", "f8"),
        ("reward_loss", "f8"),
        ("reward_cover", "f8"),
        ("reward_back", "f8"),
        ("rows", "i4"),
        ("columns", "i4"),
        ("night", "i4"),
        ("max_steps", "i4"),
        ("first_plant_guaranteed", "i4"),
        ("end", "i4"),
        ("t", "i4"),
        ("can_plant", "i4"),
        ("lanes", "u2", (MAX_ROWS, 4)),
    ]
)
_CLOCK_WORD = STATE.fields["t"][1] // 8
_LANE_WORD = STATE.fields["lanes"][1] // 8
assert STATE.fields["t"][1] % 8 == 0 and STATE.fields["lanes"][1] % 8 == 0


@kernel(types.int64(BYTES, types.int64))
def zombies(state, lane):
    """Return the columns of a lane that hold a zombie, as bits."""
    s = record(state, STATE)
    return np.int64(s.lanes[lane, 1]) | np.int64(s.lanes[lane, 2]) | np.int64(s.lanes[lane, 3])


@kernel(types.int64(BYTES, types.int64))
def free(state, lane):
    """Return the empty columns of a lane, as bits."""
    s = record(state, STATE)
    return ((1 << np.int64(s.columns)) - 1) & ~(np.int64(s.lanes[lane, 0]) | zombies(state, lane))


@kernel()
def _plant(state, action):
    """Plant in an empty cell; return the shaping reward."""
    s = record(state, STATE)
    columns = np.int64(s.columns)
    if action >= np.int64(s.rows) * columns:
        return 0.0
    lane, column = action // columns, action % columns
    bit = 1 << column
    if not free(state, lane) & bit:
        return 0.0
    reward = 0.0
    if s.lanes[lane, 0] == 0:
        reward += s.reward_cover
    if column == 0:
        reward += s.reward_back
    s.lanes[lane, 0] |= np.uint16(bit)
    return reward


@kernel()
def _shoot(state):
    """Each lane hits its leftmost zombie once if its leftmost plant stands left of it; return the kills."""
    s = record(state, STATE)
    killed = 0
    for lane in range(s.rows):
        targets, plants = zombies(state, lane), np.int64(s.lanes[lane, 0])
        target = targets & -targets
        if plants == 0 or target <= plants & -plants:
            continue
        bit = np.uint16(target)
        if s.lanes[lane, 2] & bit:
            s.lanes[lane, 2] ^= bit
            s.lanes[lane, 3] |= bit
        else:
            s.lanes[lane, 1] &= ~bit
            s.lanes[lane, 3] &= ~bit
            killed += 1
    return killed


@kernel()
def _move(state):
    """Move every zombie one cell to the left, over plants; return how many plants were eaten."""
    s = record(state, STATE)
    eaten = 0
    for lane in range(s.rows):
        if zombies(state, lane) == 0:
            continue
        for kind in range(1, 4):
            s.lanes[lane, kind] >>= np.uint16(1)
        trampled = np.int64(s.lanes[lane, 0]) & zombies(state, lane)
        eaten += count_bits(trampled)
        s.lanes[lane, 0] ^= np.uint16(trampled)
    return eaten


@kernel()
def _enter(state, lane):
    """Put a zombie of random strength at the right end of a lane; return how many plants it ate."""
    s = record(state, STATE)
    bit = np.uint16(1 << (np.int64(s.columns) - 1))
    kind = 2 if coin(state, 0.5) else 1
    s.lanes[lane, kind] |= bit
    if s.lanes[lane, 0] & bit:
        s.lanes[lane, 0] ^= bit
        return 1
    return 0


@kernel()
def _spawn(state):
    """Let a zombie into one of the lanes whose last column holds none; return how many plants it ate."""
    s = record(state, STATE)
    entry = np.int64(s.columns) - 1
    open_lanes = 0
    for lane in range(s.rows):
        open_lanes += 1 - ((zombies(state, lane) >> entry) & 1)
    if open_lanes == 0:
        return 0
    chosen = below(state, open_lanes)
    for lane in range(s.rows):
        chosen -= 1 - ((zombies(state, lane) >> entry) & 1)
        if chosen < 0:
            return _enter(state, lane)
    return 0


@kernel()
def _judge(state):
    """Lost when a zombie stands in column 0, won when the night is over and no zombie is left; return the reward."""
    s = record(state, STATE)
    everywhere = 0
    for lane in range(s.rows):
        everywhere |= zombies(state, lane)
    if everywhere & 1:
        s.end = LOST
        return s.reward_loss
    if everywhere == 0 and s.t >= s.night:
        s.end = WON
        return s.reward_win
    return 0.0


@kernel()
def tick(state, action, may_plant, moving):
    """Play all phases of a step but the clock; return the reward."""
    s = record(state, STATE)
    reward = _plant(state, action) if may_plant else 0.0
    killed = _shoot(state)
    eaten = _move(state) if moving else 0
    if s.t < s.night and coin(state, s.p_new):
        eaten += _spawn(state)
    return reward + s.reward_kill * killed + s.reward_eaten * eaten + _judge(state)


@kernel()
def advance_clock(state):
    """Let a step pass: the limit may be reached, and the next plant coin is drawn."""
    s = record(state, STATE)
    s.t += 1
    if s.end == ONGOING and s.max_steps > 0 and s.t >= s.max_steps:
        s.end = OUT_OF_TIME
    s.can_plant = coin(state, s.p_plant)


@kernel()
def free_cells(state, actions):
    """List the empty cells; return how many there are."""
    s = record(state, STATE)
    columns = np.int64(s.columns)
    count = 0
    for lane in range(s.rows):
        cells = free(state, lane)
        while cells:
            actions[count] = lane * columns + lowest(cells)
            count += 1
            cells &= cells - 1
    return count


@kernel()
def _night_gone(state):
    s = record(state, STATE)
    return np.float32(min(np.int64(s.t), np.int64(s.night)) / max(np.int64(s.night), 1))


@kernel()
def _observe_board(state, out):
    """Write the four one-hot boards over a zeroed observation; return the number of cells."""
    s = record(state, STATE)
    rows, columns = np.int64(s.rows), np.int64(s.columns)
    out[:] = 0.0
    for lane in range(rows):
        for kind in range(4):
            bits = np.int64(s.lanes[lane, kind])
            while bits:
                out[(kind * rows + lane) * columns + lowest(bits)] = 1.0
                bits &= bits - 1
    return rows * columns


@kernel(RESET)
def reset(state, seed):
    """Empty the board and let the first zombie in."""
    seed_stream(state, seed)
    s = record(state, STATE)
    s.t = 0
    s.end = ONGOING
    for lane in range(MAX_ROWS):
        for kind in range(4):
            s.lanes[lane, kind] = 0
    _enter(state, below(state, np.int64(s.rows)))
    s.can_plant = 1 if s.first_plant_guaranteed != 0 else coin(state, s.p_plant)


@kernel(ACTIVE)
def active(state):
    """The gardener chooses until the end."""
    return 1 if record(state, STATE).end == ONGOING else 0


@kernel(LEGAL)
def legal(state, player, actions):
    """Any empty cell when a plant may be planted; the last action, doing nothing, always."""
    s = record(state, STATE)
    count = free_cells(state, actions) if s.can_plant else 0
    actions[count] = np.int64(s.rows) * np.int64(s.columns)
    return count + 1


@kernel(STEP)
def step(state, actions, rewards):
    """One step: plant, shoot, move, spawn, see whether it is over, draw the next plant coin."""
    s = record(state, STATE)
    rewards[0] = 0.0
    if s.end == ONGOING:
        rewards[0] = tick(state, actions[0], s.can_plant != 0, coin(state, s.p_move))
        advance_clock(state)


@kernel(STATUS)
def status(state, player):
    """Terminated when won or lost, truncated when the step limit is reached."""
    end = record(state, STATE).end
    if end == ONGOING:
        return RUNNING
    return TRUNCATED if end == OUT_OF_TIME else TERMINATED


@kernel(OUTCOME)
def outcome(state, points):
    """1 for a night survived."""
    points[0] = 1.0 if record(state, STATE).end == WON else 0.0


@kernel(types.uint64(BYTES))
def lanes_key(state):
    """Hash of the lanes alone."""
    s = record(state, STATE)
    hashed = np.uint64(0x452821E638D01377)
    for lane in range(s.rows):
        hashed = combine(hashed, word(state, _LANE_WORD + lane))
    return hashed


@kernel(KEY)
def key(state, observer):
    """Hash of clock, plant coin and lanes."""
    return combine(word(state, _CLOCK_WORD), lanes_key(state))


@kernel(OBSERVE)
def observe(state, player, out):
    """Four one-hot boards (plant, normal, strong, weakened), then can_plant, then t / night up to 1."""
    cells = _observe_board(state, out)
    s = record(state, STATE)
    out[4 * cells] = s.can_plant
    out[4 * cells + 1] = _night_gone(state)


@kernel(OBSERVE)
def observe_planes(state, player, out):
    """The same as six planes, each scalar spread over a plane."""
    cells = _observe_board(state, out)
    s = record(state, STATE)
    gone = _night_gone(state)
    for cell in range(cells):
        out[4 * cells + cell] = s.can_plant
        out[5 * cells + cell] = gone


def board(state):
    """Return the board [rows, columns] as cell codes 0 to 4 (plain Python, for people)."""
    s = record(state, STATE)
    cells = np.zeros((s.rows, s.columns), np.int64)
    for lane in range(s.rows):
        for kind in range(4):
            for column in range(s.columns):
                if int(s.lanes[lane, kind]) >> column & 1:
                    cells[lane, column] = kind + 1
    return cells
