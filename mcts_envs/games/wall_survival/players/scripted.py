"""Scripted players, as ``advise`` kernels: weights over actions."""

from mcts_envs.core.contract import ADVISE, BYTES, types
from mcts_envs.core.kernel import count_bits, kernel, lowest, record
from mcts_envs.games.wall_survival.rules.bits import ONE, ZERO
from mcts_envs.games.wall_survival.rules.board import near, neighbour, open_sides, separates, stands
from mcts_envs.games.wall_survival.rules.ends import result
from mcts_envs.games.wall_survival.rules.kernels import steps_from
from mcts_envs.games.wall_survival.rules.layout import NO_WALL, STATE

_WIN, _TIE, _TRAP, _TOUCH, _WORST = 1000.0, -100.0, 20.0, 6.0, -1e9


@kernel()
def _zero(state, weights):
    """Give no action any weight; return the number of cells."""
    size = record(state, STATE).board_size
    for action in range(weights.shape[0]):
        weights[action] = 0.0
    return size * size


@kernel()
def _pass_on(state, player, cell, chance, weights):
    """Hand a chance on to the cells a step away, in equal parts; where no step is possible, to the cell itself."""
    size = record(state, STATE).board_size
    sides = steps_from(state, cell, player)
    if sides == 0:
        weights[4 * cell + 1] += chance
        return
    part = chance / count_bits(sides)
    while sides:
        weights[4 * neighbour(cell, lowest(sides), size) + 1] += part
        sides &= sides - 1


@kernel(ADVISE)
def advise_random_walk(state, player, weights):
    """The reference's random player: the probability of every action, which is far from uniform.

    Each cell has four places in ``weights``; on the way they hold the chance to stand there now, after the next step,
    and at the end of the walk.
    """
    cells = _zero(state, weights)
    reach = record(state, STATE).reach
    weights[4 * stands(state, player)] = 1.0 / (reach + 1)
    for _ in range(reach + 1):
        for cell in range(cells):
            chance = weights[4 * cell]
            if chance > 0.0:
                weights[4 * cell + 2] += chance
                _pass_on(state, player, cell, chance, weights)
        for cell in range(cells):
            weights[4 * cell] = weights[4 * cell + 1]
            weights[4 * cell + 1] = 0.0
    for cell in range(cells):
        sides, chance = open_sides(state, cell), weights[4 * cell + 2]
        share = chance / max(count_bits(sides), 1)
        for side in range(4):
            weights[4 * cell + side] = share if sides >> side & 1 else 0.0


@kernel()
def _distance(first, second, size):
    """Return rows and columns between two cells, added up."""
    return abs(first // size - second // size) + abs(first % size - second % size)


@kernel()
def _centre_distance(cell, size):
    """Return the distance from the centre in half cells."""
    return abs(2 * (cell // size) - size + 1) + abs(2 * (cell % size) - size + 1)


@kernel(types.float64(BYTES, types.int64, types.int64, types.int64))
def greed(state, player, cell, side):
    """Return how much the greedy player likes an action."""
    size, other = record(state, STATE).board_size, stands(state, 1 - player)
    free = count_bits(open_sides(state, cell)) - (side != NO_WALL)
    value = -1.0 * _distance(cell, other, size) - 0.25 * _centre_distance(cell, size)
    if free <= 1:
        value -= _TRAP
    if side == NO_WALL:
        return value
    if separates(state, cell, side):
        end = result(state, player, cell, side)
        if end != 2:
            return value + (_TIE if end == 0 else _WIN * end)
    across = neighbour(cell, side, size)
    if across == other:
        return value + _TOUCH
    return value + 1.0 * (_distance(across, other, size) < _distance(cell, other, size))


@kernel(ADVISE)
def advise_greedy(state, player, weights):
    """One ply ahead: win now, lose never, stay out of dead ends, go for the centre and the other, wall towards it.

    Weight 1 for the actions that it likes best.
    """
    s = record(state, STATE)
    cells, board = s.board_size * s.board_size, near(state, player)
    best = _WORST
    for action in range(weights.shape[0]):
        weights[action] = _WORST
    for word in range(3):
        reached = board[word]
        while reached != ZERO:
            cell = 64 * word + lowest(reached)
            reached &= reached - ONE
            sides = open_sides(state, cell) | (1 << NO_WALL if s.optional_wall else 0)
            while sides:
                side = lowest(sides)
                sides &= sides - 1
                value = greed(state, player, cell, side)
                best = max(best, value)
                weights[4 * cells + cell if side == NO_WALL else 4 * cell + side] = value
    for action in range(weights.shape[0]):
        weights[action] = 1.0 if weights[action] == best else 0.0
