"""Rules of the classic game.

The board is four bit boards: plants, normal zombies (1 hit), strong zombies (2 hits) and weakened strong zombies (1
hit left). A lane takes 16 bits (bit = column; column 0 is next to the house, zombies enter at the last column), and a
64-bit word holds four lanes, so that most phases treat four lanes at once. The highest bit of a lane is never a column:
it keeps a subtraction in one lane from borrowing from the next.

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
from mcts_envs.core.kernel import count_bits, kernel, lowest, record
from mcts_envs.core.rng import below, coin, combine, seed_stream

MAX_ROWS, MAX_COLUMNS = 16, 15
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
        ("words", "i4"),
        ("cells", "u8", 4),
        ("entry", "u8", 4),
        ("t", "i4"),
        ("can_plant", "i4"),
        ("end", "i4"),
        ("boards", "u8", (4, 4)),
    ]
)
"""``words`` words of each board are in use; ``cells`` has all their cells, ``entry`` those of the last column."""

_ONE = np.uint64(1)
_COLUMN_0 = np.uint64(0x0001_0001_0001_0001)
_GUARD = np.uint64(0x8000_8000_8000_8000)
_BELOW_GUARD = np.uint64(0x7FFF_7FFF_7FFF_7FFF)
_LANE = np.uint64(0xFFFF)


@kernel(types.int64(BYTES, types.int64, types.int64))
def lane_bits(state, kind, lane):
    """Return the columns of a lane that hold a plant (0) or a kind of zombie (1 to 3), as bits."""
    s = record(state, STATE)
    return np.int64((s.boards[kind, lane >> 2] >> np.uint64(16 * (lane & 3))) & _LANE)


@kernel(types.uint64(BYTES, types.int64))
def zombies(state, word_index):
    """Return where the zombies of four lanes are."""
    s = record(state, STATE)
    return s.boards[1, word_index] | s.boards[2, word_index] | s.boards[3, word_index]


@kernel(types.uint64(BYTES, types.int64))
def free(state, word_index):
    """Return the empty cells of four lanes."""
    s = record(state, STATE)
    return s.cells[word_index] & ~(s.boards[0, word_index] | zombies(state, word_index))


@kernel(types.int64(BYTES, types.int64, types.int64))
def cell_of(state, word_index, bit):
    """Return the cell, ``lane * columns + column``, of a bit."""
    return (4 * word_index + (bit >> 4)) * record(state, STATE).columns + (bit & 15)


@kernel(types.uint64(types.uint64))
def _leftmost(lanes):
    """Return the lowest bit of each of four lanes."""
    return lanes & ~((lanes | _GUARD) - _COLUMN_0)


@kernel(types.uint64(types.uint64))
def _whole_lanes(lanes):
    """Return all bits of those lanes that have one."""
    return (((lanes + _BELOW_GUARD) & _GUARD) >> np.uint64(15)) * _LANE


@kernel()
def _plant(state, action):
    """Plant in an empty cell; return the shaping reward."""
    s = record(state, STATE)
    columns = s.columns
    if action >= s.rows * columns:
        return 0.0
    lane, column = action // columns, action % columns
    word_index, bit = lane >> 2, _ONE << np.uint64(16 * (lane & 3) + column)
    if free(state, word_index) & bit == np.uint64(0):
        return 0.0
    reward = 0.0
    if lane_bits(state, 0, lane) == 0:
        reward += s.reward_cover
    if column == 0:
        reward += s.reward_back
    s.boards[0, word_index] |= bit
    return reward


@kernel()
def _shoot(state):
    """Each lane hits its leftmost zombie once if its leftmost plant stands left of it; return the kills."""
    s = record(state, STATE)
    killed = 0
    for i in range(s.words):
        plants, targets = s.boards[0, i], zombies(state, i)
        shooting = _whole_lanes(_leftmost(plants | targets) & plants)
        hit = _leftmost(targets) & shooting
        weakened = s.boards[2, i] & hit
        s.boards[1, i] &= ~hit
        s.boards[2, i] &= ~hit
        s.boards[3, i] = (s.boards[3, i] & ~hit) | weakened
        killed += count_bits(hit ^ weakened)
    return killed


@kernel()
def _move(state):
    """Move every zombie one cell to the left, over plants; return how many plants were eaten.

    In the game no zombie is in column 0 yet; where a model goes on after that, those stay there.
    """
    s = record(state, STATE)
    eaten = 0
    for i in range(s.words):
        for kind in range(1, 4):
            lanes = s.boards[kind, i]
            s.boards[kind, i] = ((lanes & ~_COLUMN_0) >> _ONE) | (lanes & _COLUMN_0)
        trampled = s.boards[0, i] & zombies(state, i)
        s.boards[0, i] ^= trampled
        eaten += count_bits(trampled)
    return eaten


@kernel()
def _enter(state, word_index, bit):
    """Put a zombie of random strength in a cell; return how many plants it ate."""
    s = record(state, STATE)
    kind = 2 if coin(state, 0.5) else 1
    s.boards[kind, word_index] |= bit
    eaten = s.boards[0, word_index] & bit
    s.boards[0, word_index] ^= eaten
    return count_bits(eaten)


@kernel()
def _spawn(state):
    """Let a zombie into one of the lanes whose last column holds none; return how many plants it ate."""
    s = record(state, STATE)
    open_lanes = 0
    for i in range(s.words):
        open_lanes += count_bits(s.entry[i] & ~zombies(state, i))
    if open_lanes == 0:
        return 0
    chosen = below(state, open_lanes)
    for i in range(s.words):
        bits = s.entry[i] & ~zombies(state, i)
        here = count_bits(bits)
        if chosen < here:
            for _ in range(chosen):
                bits &= bits - _ONE
            return _enter(state, i, _ONE << np.uint64(lowest(bits)))
        chosen -= here
    return 0


@kernel()
def judge(state):
    """Lost when a zombie stands in column 0, won when the night is over and no zombie is left; return the reward."""
    s = record(state, STATE)
    everywhere = np.uint64(0)
    for i in range(s.words):
        everywhere |= zombies(state, i)
    if everywhere & _COLUMN_0 != np.uint64(0):
        s.end = LOST
        return s.reward_loss
    if everywhere == np.uint64(0) and s.t >= s.night:
        s.end = WON
        return s.reward_win
    return 0.0


@kernel()
def tick(state, action, may_plant, moving):
    """Plant, shoot, move and spawn; return the reward so far."""
    s = record(state, STATE)
    reward = _plant(state, action) if may_plant else 0.0
    killed = _shoot(state)
    eaten = _move(state) if moving else 0
    if s.t < s.night and coin(state, s.p_new):
        eaten += _spawn(state)
    return reward + s.reward_kill * killed + s.reward_eaten * eaten


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
    """List the empty cells; return how many there are.

    Every cell is written and only the empty ones are counted: cheaper than a branch. The list has room for one more.
    """
    s = record(state, STATE)
    rows, columns = s.rows, s.columns
    count, cell = 0, 0
    for lane in range(rows):
        bits = np.int64((free(state, lane >> 2) >> np.uint64(16 * (lane & 3))) & _LANE)
        for column in range(columns):
            actions[count] = cell
            count += (bits >> column) & 1
            cell += 1
    return count


@kernel()
def _night_gone(state):
    s = record(state, STATE)
    return np.float32(min(s.t, s.night) / max(s.night, 1))


@kernel()
def _observe_board(state, out):
    """Write the four one-hot boards over a zeroed observation; return the number of cells."""
    s = record(state, STATE)
    cells = s.rows * s.columns
    out[:] = 0.0
    for kind in range(4):
        for i in range(s.words):
            bits = s.boards[kind, i]
            while bits != np.uint64(0):
                out[kind * cells + cell_of(state, i, lowest(bits))] = 1.0
                bits &= bits - _ONE
    return cells


@kernel(RESET)
def reset(state, seed):
    """Empty the board and let the first zombie in."""
    seed_stream(state, seed)
    s = record(state, STATE)
    s.t = 0
    s.end = ONGOING
    for kind in range(4):
        for i in range(4):
            s.boards[kind, i] = np.uint64(0)
    lane = below(state, s.rows)
    _enter(state, lane >> 2, _ONE << np.uint64(16 * (lane & 3) + s.columns - 1))
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
    actions[count] = s.rows * s.columns
    return count + 1


@kernel(STEP)
def step(state, actions, rewards):
    """One step: plant, shoot, move, spawn, see whether it is over, draw the next plant coin."""
    s = record(state, STATE)
    rewards[0] = 0.0
    if s.end == ONGOING:
        rewards[0] = tick(state, actions[0], s.can_plant != 0, coin(state, s.p_move)) + judge(state)
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
def boards_key(state):
    """Hash of the boards alone."""
    s = record(state, STATE)
    hashed = np.uint64(0x452821E638D01377)
    for kind in range(4):
        for i in range(s.words):
            hashed = combine(hashed, s.boards[kind, i])
    return hashed


@kernel(KEY)
def key(state, observer):
    """Hash of clock, plant coin and lanes."""
    s = record(state, STATE)
    return combine(np.uint64(s.t | s.can_plant << 32), boards_key(state))


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
    cells = np.zeros((int(s.rows), int(s.columns)), np.int64)
    for lane, column in np.ndindex(cells.shape):
        for kind in range(4):
            if lane_bits(state, kind, lane) >> column & 1:
                cells[lane, column] = kind + 1
    return cells
