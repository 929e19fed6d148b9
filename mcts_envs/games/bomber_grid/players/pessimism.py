"""What a state is worth if it goes on as badly as it can: a pessimistic tail for a shallow search.

The idea is that of T. Osogami, T. Takahashi, "Real-time tree search with pessimistic scenarios" (2019), whose players
won the original's competition: search all that can happen in a few steps, and value what comes of it by how many places
a player could still live in if the others did, deterministically, the worst that they can.
"""

import numpy as np

from mcts_envs.core.contract import BYTES, EVALUATE, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.bomber_grid.players.values import evaluate_aiide
from mcts_envs.games.bomber_grid.rules.bits import BOARD, ZERO, beside, both, common, count, has, pair, single, without
from mcts_envs.games.bomber_grid.rules.blasts import reach
from mcts_envs.games.bomber_grid.rules.board import bombs_of
from mcts_envs.games.bomber_grid.rules.danger import burning, foresee, forget, others_of, walkable
from mcts_envs.games.bomber_grid.rules.kernels import in_teams
from mcts_envs.games.bomber_grid.rules.layout import ONGOING, STATE
from mcts_envs.games.bomber_grid.rules.moves import is_alive
from mcts_envs.games.bomber_grid.rules.sight import mate_of

CLOSING_IN = 3
"""Steps for which others come nearer, to stand in the way on all cells that they reach."""

ENOUGH = 10
"""Cells to live in beyond which more are worth nothing."""

OWN, ENEMIES, ITEMS, FEW = 0.4, 0.2, 0.03, 5
"""Weights of the player's own room and of its enemies'; of each bomb and each cell of reach, up to a few."""


@kernel(BOARD(BYTES, types.int64, BOARD))
def _worst_fire(state, player, inside):
    """Return the cells that would burn if every other player laid a bomb where it stands."""
    s = record(state, STATE)
    fire, bombs = (ZERO, ZERO), bombs_of(s)
    for other in range(s.players):
        cell = np.int64(s.stands[other])
        if other != player and is_alive(s, other) and s.ammo[other] != 0 and not has(bombs, cell):
            fire = both(fire, reach(state, cell, np.int64(s.strength[other])))
    return common(fire, inside)


@kernel(types.int64(BYTES, types.int64, BOARD))
def room(state, player, inside):
    """Return in how many cells a player can be alive after all fires, at the worst, after ``foresee``.

    All bombs stay where they are, every other player lays one now, and in the first steps stands wherever it can walk.
    """
    s = record(state, STATE)
    lasts, fuse = s.flame_life, s.fuse
    walk, here = walkable(s, inside), single(np.int64(s.stands[player]))
    theirs = others_of(s, player)
    fire = _worst_fire(state, player, inside)
    alive = here
    for steps in range(1, fuse + lasts + 1):
        if steps <= CLOSING_IN:
            theirs = both(theirs, common(beside(theirs), without(walk, alive)))
        alive = both(alive, without(common(beside(alive), walk), theirs))
        alive = without(alive, burning(state, inside, steps))
        if steps >= fuse:
            alive = without(alive, fire)
    return count(alive)


@kernel(EVALUATE)
def evaluate_pessimistic(state, values):
    """Progress as ``evaluate_aiide`` has it, items, and the room to live in: the player's own less its enemies'."""
    s = record(state, STATE)
    evaluate_aiide(state, values)
    players = s.players
    inside = without((~ZERO, ~ZERO), pair(s.outside))
    foresee(state, inside)
    rooms = 0
    for player in range(players):
        if is_alive(s, player):
            rooms |= min(room(state, player, inside), ENOUGH) << 8 * player
    forget(s)
    for player in range(players):
        if s.end != ONGOING or not is_alive(s, player):
            continue
        theirs, enemies = 0, 0
        for other in range(players):
            mate = in_teams(s) and other == mate_of(player)
            if other != player and not mate and is_alive(s, other):
                enemies += 1
                theirs += rooms >> 8 * other & 255
        kit = min(np.int64(s.ammo[player]), FEW) + min(np.int64(s.strength[player]), FEW)
        values[player] += ITEMS * kit + OWN * (rooms >> 8 * player & 255) / ENOUGH
        values[player] -= ENEMIES * theirs / (ENOUGH * max(enemies, 1))
