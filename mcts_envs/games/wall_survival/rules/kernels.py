"""Rules: a turn is a walk of up to ``reach`` steps, then a wall on a free side of the cell where it ends.

The game is over when no way leads from one player to the other. Chance has a part in the first position, and in the
effect of an illegal action.
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
    types,
)
from mcts_envs.core.kernel import count_bits, kernel, lowest, record
from mcts_envs.core.rng import below, combine, seed_stream
from mcts_envs.games.wall_survival.rules.bits import ONE, ZERO, count, holds
from mcts_envs.games.wall_survival.rules.board import look_around, near, neighbour, open_sides, part, put_wall, stands
from mcts_envs.games.wall_survival.rules.generate import build, connected
from mcts_envs.games.wall_survival.rules.layout import NO_WALL, NOWHERE, ONGOING, OUT_OF_TIME, SEPARATED, STATE

_KEY_START = np.uint64(0x13198A2E03707344)


@kernel()
def cell_of(action, cells):
    """Return the cell where an action ends: ``4 * cell + side``, or after those ``cell`` without a wall."""
    return action >> 2 if action < 4 * cells else action - 4 * cells


@kernel()
def side_of(action, cells):
    """Return the side on which an action puts a wall, or NO_WALL."""
    return action & 3 if action < 4 * cells else NO_WALL


@kernel(types.void(BYTES))
def judge(state):
    """End the game if the players are separated, and measure their parts of the board."""
    s = record(state, STATE)
    s.end, s.area[0], s.area[1] = ONGOING, 0, 0
    if not connected(state):
        s.end = SEPARATED
        for player in range(2):
            s.area[player] = count(part(state, stands(state, player), -1))


@kernel()
def winner(state):
    """Return the sign of player 0's result at the end."""
    area = record(state, STATE).area
    return np.int64(area[0] > area[1]) - np.int64(area[0] < area[1])


@kernel()
def nth_side(sides, n):
    """Return the n-th of some sides given as bits."""
    for _ in range(n):
        sides &= sides - 1
    return lowest(sides)


@kernel()
def steps_from(state, cell, player):
    """Return the sides through which a player may step, as bits."""
    size, other = record(state, STATE).board_size, stands(state, 1 - player)
    sides = open_sides(state, cell)
    for side in range(4):
        if neighbour(cell, side, size) == other:
            sides &= ~(1 << side)
    return sides


@kernel(types.int64(BYTES, types.int64))
def random_walk(state, player):
    """Draw the action of the reference's random player.

    It walks a number of steps drawn from 0 to ``reach``, each through a side drawn from those where it may pass, and
    puts a wall on a side drawn from the free ones. It can be stuck only where it starts, since it may always turn back;
    so it does not matter that its two editions differ in what they do then.
    """
    cell = stands(state, player)
    for _ in range(below(state, record(state, STATE).reach + 1)):
        sides = steps_from(state, cell, player)
        if sides == 0:
            break
        side = nth_side(sides, below(state, count_bits(sides)))
        cell = neighbour(cell, side, record(state, STATE).board_size)
    sides = open_sides(state, cell)
    return 4 * cell + nth_side(sides, below(state, count_bits(sides)))


@kernel(types.boolean(BYTES, types.int64))
def is_legal(state, action):
    """Return whether the player to move may take an action."""
    s = record(state, STATE)
    size, board = s.board_size, s.near
    cells = size * size
    cell, side = cell_of(action, cells), side_of(action, cells)
    if not holds((board[0], board[1], board[2]), cell):
        return False
    return side == NO_WALL or open_sides(state, cell) >> side & 1 != 0


@kernel(RESET)
def reset(state, seed):
    """Draw first positions until one is not over already."""
    seed_stream(state, seed)
    s = record(state, STATE)
    s.t, s.reach, s.turn, s.end = 0, s.first_reach, 0, ONGOING
    s.area[0] = s.area[1] = 0
    s.came_from = s.last_side = NOWHERE
    build(state)
    while not connected(state):
        build(state)
    look_around(state)


@kernel(ACTIVE)
def active(state):
    """Players take turns."""
    s = record(state, STATE)
    return 0 if s.end != ONGOING else 1 << s.turn


@kernel()
def _list_word(cells, up, right, down, left, first, actions, count):
    """List the free sides of some cells of one word.

    Every side is written and only the free ones are counted: cheaper than a branch.
    """
    while cells != ZERO:
        bit = lowest(cells)
        cells &= cells - ONE
        shift = np.uint64(bit)
        action = 4 * (first + bit)
        actions[count] = action
        count += np.int64((up >> shift) & ONE)
        actions[count] = action + 1
        count += np.int64((right >> shift) & ONE)
        actions[count] = action + 2
        count += np.int64((down >> shift) & ONE)
        actions[count] = action + 3
        count += np.int64((left >> shift) & ONE)
    return count


@kernel(LEGAL)
def legal(state, player, actions):
    """List every free side of every cell in reach, in ascending order, then those cells if walls are optional."""
    s = record(state, STATE)
    size = np.uint64(s.board_size)
    back = np.uint64(64) - size
    here, right, down = s.near, s.right, s.down
    reached = (here[0], here[1], here[2])
    if player != s.turn:
        reached = near(state, player)
    n = _list_word(reached[0], down[0] << size, right[0], down[0], right[0] << ONE, 0, actions, 0)
    if size > np.uint64(8):
        up, left = (down[1] << size) | (down[0] >> back), (right[1] << ONE) | (right[0] >> np.uint64(63))
        n = _list_word(reached[1], up, right[1], down[1], left, 64, actions, n)
        up, left = (down[2] << size) | (down[1] >> back), (right[2] << ONE) | (right[1] >> np.uint64(63))
        n = _list_word(reached[2], up, right[2], down[2], left, 128, actions, n)
    if s.optional_wall:
        for word in range(3):
            cells = reached[word]
            while cells != ZERO:
                actions[n] = 4 * s.board_size * s.board_size + 64 * word + lowest(cells)
                cells &= cells - ONE
                n += 1
    return n


@kernel(STEP)
def step(state, actions, rewards):
    """Move, put the wall, see whether it is over, and hand the turn over; illegal: a random walk."""
    s = record(state, STATE)
    rewards[0] = rewards[1] = 0.0
    if s.end != ONGOING:
        return
    mover, size = s.turn, s.board_size
    action = actions[mover]
    if not is_legal(state, action):
        action = random_walk(state, mover)
    cell, side = cell_of(action, size * size), side_of(action, size * size)
    s.came_from, s.last_side = s.stands[mover], side
    s.stands[mover] = cell
    s.turn = 1 - mover
    if side != NO_WALL and put_wall(state, cell, side):
        judge(state)
        if s.end == SEPARATED:
            rewards[0] = winner(state)
            rewards[1] = -rewards[0]
    if s.max_steps > 0:
        s.t += 1
        if s.end == ONGOING and s.t >= s.max_steps:
            s.end = OUT_OF_TIME
    look_around(state)


@kernel(STATUS)
def status(state, player):
    """Terminated when the players are separated, truncated when the step limit is reached."""
    end = record(state, STATE).end
    if end == ONGOING:
        return RUNNING
    return TRUNCATED if end == OUT_OF_TIME else TERMINATED


@kernel(OUTCOME)
def outcome(state, points):
    """1 for the larger part, half a point each for a tie or a game out of time."""
    points[0] = 0.5 + 0.5 * winner(state)
    points[1] = 1.0 - points[0]


@kernel(KEY)
def key(state, observer):
    """Hash of walls, players, turn, reach and clock."""
    s = record(state, STATE)
    right, down = s.right, s.down
    small = stands(state, 0) | stands(state, 1) << 8 | s.reach << 16 | s.turn << 24
    hashed = combine(combine(_KEY_START, np.uint64(small | s.t << 32)), right[0])
    hashed = combine(hashed, down[0])
    if s.board_size > 8:
        hashed = combine(combine(hashed, right[1]), down[1])
        hashed = combine(combine(hashed, right[2]), down[2])
    return hashed


@kernel()
def _observe_cells(state, player, out):
    """Write seven boards of 0 and 1, cell by cell: walls up, right, down, left; me, the other; what I can reach."""
    size = record(state, STATE).board_size
    cells, reached = size * size, near(state, player)
    for cell in range(cells):
        sides = open_sides(state, cell)
        for side in range(4):
            out[side * cells + cell] = 1 - (sides >> side & 1)
        out[4 * cells + cell] = cell == stands(state, player)
        out[5 * cells + cell] = cell == stands(state, 1 - player)
        out[6 * cells + cell] = holds(reached, cell)
    return cells


@kernel()
def _clock(state):
    s = record(state, STATE)
    return np.float32(s.t / max(s.max_steps, 1))


@kernel()
def observe_flat(state, player, out, numbers):
    """Write seven boards (see above), and at ``numbers`` whether it is my turn, then t / max_steps."""
    _observe_cells(state, player, out)
    out[numbers] = record(state, STATE).turn == player
    out[numbers + 1] = _clock(state)


@kernel(OBSERVE)
def observe(state, player, out):
    """Seven boards (see above), then whether it is my turn, then t / max_steps."""
    observe_flat(state, player, out, 7 * record(state, STATE).board_size ** 2)


@kernel(OBSERVE)
def observe_planes(state, player, out):
    """The same as nine planes, each scalar spread over a plane."""
    cells = _observe_cells(state, player, out)
    turn, clock = record(state, STATE).turn == player, _clock(state)
    for cell in range(cells):
        out[7 * cells + cell] = turn
        out[8 * cells + cell] = clock
