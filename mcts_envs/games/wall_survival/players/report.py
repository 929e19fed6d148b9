"""The game as the agent of a student report sees it: M. Shahrade, M. Katz, "Colosseum Survival!" (COMP 424, McGill).

It expects moves towards the other player to be good, walls around itself to be bad, and closes the fourth side of a
player that stands in three walls whenever it can. Its tree, which ``virtual_child`` of :mod:`agents.policies` searches,
wants two numbers for an action, so its weights hold both: the whole part says how much speaks against the action, the
fraction how likely it is to be tried first.

The text gives no figures for that likelihood; those here (35, 45 and 20 %) are its program's.
"""

from mcts_envs.core.contract import ADVISE, LEGAL, types
from mcts_envs.core.kernel import count_bits, kernel, lowest, record
from mcts_envs.games.wall_survival.rules.bits import ONE, ZERO, count, holds, within
from mcts_envs.games.wall_survival.rules.board import near, neighbour, open_sides, stands
from mcts_envs.games.wall_survival.rules.ends import walled, winning_wall
from mcts_envs.games.wall_survival.rules.kernels import legal
from mcts_envs.games.wall_survival.rules.layout import NO_WALL, STATE

_TOWARDS, _NEUTRAL, _AWAY = range(3)
_WALLS, _ROOM, _NOTHING = range(3)
_ROOM_MARKS = 10.0
_ALMOST_ONE = 0.999


@kernel(LEGAL)
def legal_closing(state, player, actions):
    """List one action alone if it closes the last side of the other player's cell, all legal ones otherwise."""
    size, other = record(state, STATE).board_size, stands(state, 1 - player)
    sides = open_sides(state, other)
    if count_bits(sides) == 1:
        side = lowest(sides)
        cell = neighbour(other, side, size)
        if holds(near(state, player), cell):
            actions[0] = 4 * cell + (side + 2) % 4
            return 1
    return legal(state, player, actions)


@kernel(LEGAL)
def legal_ending(state, player, actions):
    """List one action alone if it wins at once, all legal ones otherwise."""
    winning = winning_wall(state, player)
    if winning >= 0:
        actions[0] = winning
        return 1
    return legal(state, player, actions)


@kernel()
def _class_of(state, player, cell):
    """Return whether a walk to a cell leads towards the other player, away from it, or neither (rows and columns)."""
    size, other, here = record(state, STATE).board_size, stands(state, 1 - player), stands(state, player)
    before = abs(here // size - other // size) + abs(here % size - other % size)
    after = abs(cell // size - other // size) + abs(cell % size - other % size)
    return _TOWARDS if after < before else _AWAY if after > before else _NEUTRAL


@kernel()
def _against(state, player, cell, side, kind):
    """Return how much speaks against an action: walls around its cell, or cells that would be out of reach."""
    if kind == _WALLS:
        return 4.0 - count_bits(open_sides(state, cell)) + (side != NO_WALL)
    if kind == _NOTHING or side == NO_WALL:
        return 0.0
    s = record(state, STATE)
    size, reach = s.board_size, s.reach
    room = count(within(walled(state, cell, side), size, cell, stands(state, 1 - player), reach))
    return float(int(_ROOM_MARKS * max(0.0, 1.0 - room / (2.0 * reach * (reach + 1.0) + 1.0))))


@kernel(types.float64(ADVISE.args[0], types.int64, ADVISE.args[2], types.int64, types.float64))
def _by_class(state, player, weights, wanted, weight):
    """Give every action of one class, or of all (-1), a weight; return how many there are."""
    s = record(state, STATE)
    size = s.board_size
    board, number = near(state, player), 0.0
    for word in range(3):
        reached = board[word]
        while reached != ZERO:
            cell = 64 * word + lowest(reached)
            reached &= reached - ONE
            if _class_of(state, player, cell) != wanted:
                continue
            sides = open_sides(state, cell)
            number += count_bits(sides) + s.optional_wall
            for side in range(4):
                if sides >> side & 1:
                    weights[4 * cell + side] = weight
            if s.optional_wall:
                weights[4 * size * size + cell] = weight
    return number


@kernel()
def _share(state, player, weights, towards, neutral, away):
    """Give each class of actions its share, in equal parts to its members."""
    for action in range(weights.shape[0]):
        weights[action] = 0.0
    for wanted in range(3):
        share = towards if wanted == _TOWARDS else neutral if wanted == _NEUTRAL else away
        number = _by_class(state, player, weights, wanted, 0.0)
        _by_class(state, player, weights, wanted, share / max(number, 1.0))


@kernel()
def _mark(state, player, weights, kind):
    """Add to the weight of every action, as its whole part, what speaks against it."""
    cells = record(state, STATE).board_size ** 2
    for action in range(weights.shape[0]):
        if weights[action] > 0.0:
            cell, side = action >> 2, action & 3
            if action >= 4 * cells:
                cell, side = action - 4 * cells, NO_WALL
            weights[action] = _ALMOST_ONE * weights[action] + _against(state, player, cell, side, kind)


@kernel(ADVISE)
def advise_classes(state, player, weights):
    """The shares of the report's program: towards the other player 35 %, neutral 45 %, away 20 %."""
    _share(state, player, weights, 0.35, 0.45, 0.20)


@kernel(ADVISE)
def advise_classes_bold(state, player, weights):
    """Shares that lean towards the other player: 60, 30 and 10 %."""
    _share(state, player, weights, 0.60, 0.30, 0.10)


@kernel(ADVISE)
def advise_classes_careful(state, player, weights):
    """Shares that lean away from the other player: 20, 45 and 35 %."""
    _share(state, player, weights, 0.20, 0.45, 0.35)


@kernel(ADVISE)
def advise_tree(state, player, weights):
    """Its shares, and the walls that would be around the player."""
    advise_classes(state, player, weights)
    _mark(state, player, weights, _WALLS)


@kernel(ADVISE)
def advise_tree_plain(state, player, weights):
    """Its shares, and nothing against any action."""
    advise_classes(state, player, weights)
    _mark(state, player, weights, _NOTHING)


@kernel(ADVISE)
def advise_tree_room(state, player, weights):
    """Its shares, and how much of the way the next turn could reach on open ground would be cut off, to 10."""
    advise_classes(state, player, weights)
    _mark(state, player, weights, _ROOM)


@kernel(ADVISE)
def advise_tree_bold(state, player, weights):
    """Like ``advise_tree`` with bolder shares."""
    advise_classes_bold(state, player, weights)
    _mark(state, player, weights, _WALLS)


@kernel(ADVISE)
def advise_tree_careful(state, player, weights):
    """Like ``advise_tree`` with more careful shares."""
    advise_classes_careful(state, player, weights)
    _mark(state, player, weights, _WALLS)


_CLOSING = {"legal": legal_closing}

VARIANTS = {
    "report": {**_CLOSING, "advise": advise_classes},
    "report_bold": {**_CLOSING, "advise": advise_classes_bold},
    "report_careful": {**_CLOSING, "advise": advise_classes_careful},
    "report_ends": {"legal": legal_ending, "advise": advise_classes},
    "report_tree": {**_CLOSING, "advise": advise_tree},
    "report_tree_plain": {**_CLOSING, "advise": advise_tree_plain},
    "report_tree_room": {**_CLOSING, "advise": advise_tree_room},
    "report_tree_bold": {**_CLOSING, "advise": advise_tree_bold},
    "report_tree_careful": {**_CLOSING, "advise": advise_tree_careful},
    "report_tree_ends": {"legal": legal_ending, "advise": advise_tree},
}
"""Models for the tree (``report_tree``) and the rollouts of the report's agent, and those with one idea changed."""
