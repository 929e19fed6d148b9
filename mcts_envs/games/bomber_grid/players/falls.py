"""Where to be when the rings of a board turn rigid, one after the other: whoever stands on one then dies."""

import numpy as np

from mcts_envs.core.contract import BYTES, FLOATS, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.bomber_grid.rules.bits import (
    BOARD,
    EVERY_HIGH,
    EVERY_LOW,
    ZERO,
    any_of,
    beside,
    both,
    common,
    flood,
    pair,
    single,
    without,
)
from mcts_envs.games.bomber_grid.rules.blasts import ring
from mcts_envs.games.bomber_grid.rules.danger import others_of, walkable
from mcts_envs.games.bomber_grid.rules.layout import ONGOING, STATE
from mcts_envs.games.bomber_grid.rules.moves import is_alive
from mcts_envs.games.bomber_grid.rules.sight import is_enemy

DIGGING, NEVER = 12, 60
"""Steps that a wooden cell on the way costs; as many as of a way that leads nowhere."""

NEAR = DIGGING
"""Steps before a fall from which on all that stands in the way stays there."""

OWN, OF_ENEMY = 0.6, 0.3
"""Weights of the player's own peril, and of each enemy's."""

OUTSIDE, WAY, FEW = 0.1, 0.5, 14
"""Peril of who stands where it cannot stay; of a way as long as the time that is left, which counts as no fewer than
so many steps."""


@kernel()
def _next_fall(s):
    """Return which ring turns rigid next; ``n_rings`` after the last."""
    for number in range(s.n_rings):
        if s.collapse[number] > s.t:
            return number
    return np.int64(s.n_rings)


@kernel()
def falls_soon(s):
    """Return whether a ring turns rigid in so few steps that only the way inside counts."""
    number = _next_fall(s)
    return number < s.n_rings and s.collapse[number] - s.t <= NEAR


@kernel(BOARD(BYTES, types.int64, BOARD))
def _lasting(state, number, seen):
    """Return the cells that lead, after the fall of a ring, to such as outlast the next one, and so on to the last.

    Rings whose fall leaves no cell open are outlasted by nobody, and left out. Cells out of sight are taken for open.
    """
    s = record(state, STATE)
    still = without((EVERY_LOW, EVERY_HIGH), both(pair(s.outside), common(pair(s.rigid), seen)))
    led = (ZERO, ZERO)
    for last in range(s.n_rings - 1, number - 1, -1):
        after = still
        for fallen in range(last + 1):
            after = without(after, ring(s.board_size, fallen))
        led = flood(led, after) if any_of(led) else after
    return led


@kernel(BOARD(BYTES, BOARD))
def lasting(state, seen):
    """Return the cells to be in when the next ring falls, for who takes what it does not see for open."""
    return _lasting(state, _next_fall(record(state, STATE)), seen)


@kernel(types.int64(BYTES, types.int64, BOARD, types.boolean))
def _way_to(state, player, wanted, near):
    """Return in how many steps a player stands on one of some cells; NEVER if no way leads there.

    Near a fall bombs, wood and the other players are in the way; before, only wood is, which has to be burnt.
    """
    s = record(state, STATE)
    inside = without((EVERY_LOW, EVERY_HIGH), pair(s.outside))
    here, steps = single(np.int64(s.stands[player])), 0
    free, wood = without(inside, both(pair(s.rigid), pair(s.wood))), common(pair(s.wood), inside)
    if near:
        free, wood = without(walkable(s, inside), others_of(s, player)), (ZERO, ZERO)
    reached, goal = here, common(both(both(free, wood), here), wanted)
    while steps < NEVER and not any_of(common(reached, goal)):
        more, cost = both(reached, common(beside(reached), free)), 1
        if not any_of(without(more, reached)):
            more, cost = both(reached, common(beside(reached), wood)), DIGGING
        if not any_of(without(more, reached)):
            return NEVER
        reached = more
        steps += cost
    return min(steps, NEVER)


@kernel(types.float64(BYTES, types.int64, BOARD, types.int64))
def _peril(state, player, wanted, left):
    """Return how badly a player stands for a fall in so many steps: 0 where it can stay, 1 if it comes too late."""
    way = _way_to(state, player, wanted, left <= NEAR)
    if way == 0:
        return 0.0
    return 1.0 if way > left else OUTSIDE + WAY * way / max(left, FEW)


@kernel(types.void(BYTES, FLOATS))
def add_perils(state, values):
    """Take from each player's value how badly it stands for the falls to come, and add how badly its enemies do."""
    s = record(state, STATE)
    number = _next_fall(s)
    if number == s.n_rings or s.end != ONGOING:
        return
    wanted, left = _lasting(state, number, (EVERY_LOW, EVERY_HIGH)), np.int64(s.collapse[number]) - s.t
    for player in range(s.players):
        if not is_alive(s, player):
            continue
        peril = _peril(state, player, wanted, left)
        values[player] -= OWN * peril
        for other in range(s.players):
            if is_alive(s, other) and is_enemy(s, other, player):
                values[other] += OF_ENEMY * peril
