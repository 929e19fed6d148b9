"""The rule-based player of Perez-Liebana et al. (AIIDE 2019), as its program is: SimpleAgent's rules, with less care.

On a bomb it shuns only the way up; it lays bombs without looking for a way out; it follows enemies at just three steps;
and where it has been lately matters only if there is nothing else to go to.

The program has two versions of it. In the other, ``wary``, it leaves a bomb only where it sees a way out of its reach,
as SimpleAgent does, and stays on it otherwise: who sees one cell far dies on many of its own bombs. So it does in the
games recorded for the paper that two of it play against evolution with a view of 1; in those against MCTS it does not.
"""

import numpy as np

from mcts_envs.core.contract import ADVISE, BYTES, FLOATS, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.bomber_grid.players.careful import towards
from mcts_envs.games.bomber_grid.players.rule_based import (
    NEAR_ENEMY,
    NEAR_ITEM,
    NEAR_WOOD,
    WALKS,
    cross,
    out_of_lines,
    passable,
    share,
    visited,
    walks_within,
    way_of,
    within,
)
from mcts_envs.games.bomber_grid.rules.bits import BOARD, any_of, beside, common, flood, has, pair, single, without
from mcts_envs.games.bomber_grid.rules.board import bombs_of, seen_items
from mcts_envs.games.bomber_grid.rules.kernels import scale_of
from mcts_envs.games.bomber_grid.rules.layout import LAY, STATE, STOP, UP, WIDTH
from mcts_envs.games.bomber_grid.rules.moves import next_cell
from mcts_envs.games.bomber_grid.rules.sight import enemies_of, window


@kernel(types.int64(types.int64, BOARD, types.int64))
def _ways_out(here, free, strength):
    """Return the moves off a bomb from which free cells in sight lead out of its reach, as bits."""
    elsewhere, out = without(free, single(here)), 0
    for move in range(1, 5):
        target = next_cell(here, move)
        if target < 0 or not has(elsewhere, target):
            continue
        if any_of(without(flood(single(target), elsewhere), cross(target, strength))):
            out |= 1 << move
    return out


@kernel(types.int64(BYTES, types.int64, BOARD, BOARD, types.boolean))
def _flee(state, player, seen, free, wary):
    """Return the moves away from bombs in the own row or column that are near enough, as bits, or 0."""
    s = record(state, STATE)
    here, unsafe, strength = np.int64(s.stands[player]), 0, 0
    for bomb in range(s.n_bombs):
        cell, steps = np.int64(s.bomb_cell[bomb]), np.int64(s.bomb_strength[bomb])
        way = way_of(here, cell) if has(seen, cell) else 0
        if way != 0 and has(within(single(here), free, steps), cell):
            unsafe |= 1 << UP if way == WALKS and not wary else way
            strength = max(strength, steps)
    if unsafe == 0:
        return 0
    if wary and unsafe == WALKS:
        out = _ways_out(here, free, strength)
    else:
        out = walks_within(here, free, WALKS & ~unsafe)
        out = out if out else walks_within(here, seen, unsafe)
    return out if out else 1 << STOP


@kernel(types.boolean(BYTES, types.int64, BOARD))
def _may_bomb(state, player, free):
    """Return whether a player has a bomb, and sees a passage, within reach or not, that it would not burn."""
    s = record(state, STATE)
    here, strength = np.int64(s.stands[player]), np.int64(s.strength[player])
    passages = without(without(free, single(here)), seen_items(s))
    aside = without(passages, cross(here, WIDTH))
    return s.ammo[player] != 0 and (any_of(aside) or any_of(without(passages, within(single(here), free, strength))))


@kernel(types.int64(BYTES, types.int64, BOARD, BOARD))
def _work(state, player, seen, free):
    """Return what there is to do without a bomb or an enemy nearby, as bits."""
    s = record(state, STATE)
    here, wood = np.int64(s.stands[player]), common(pair(s.wood), seen)
    found = towards(state, player, WALKS, common(seen_items(s), seen), free, NEAR_ITEM)
    if found:
        return found
    if has(beside(wood), here) and _may_bomb(state, player, free):
        return 1 << LAY
    safe = out_of_lines(state, seen, free)
    if s.ammo[player] != 0:
        found = walks_within(here, safe, towards(state, player, WALKS, wood, free, NEAR_WOOD))
        if found:
            return found
    if walks_within(here, without(safe, visited(s, player)), WALKS):
        return walks_within(here, safe, WALKS)
    return 1 << STOP


@kernel(types.void(BYTES, types.int64, FLOATS, types.boolean))
def _advise(state, player, weights, wary):
    """Weigh the moves of one of the two."""
    s = record(state, STATE)
    scale, here = scale_of(s), np.int64(s.stands[player])
    for action in range(weights.shape[0]):
        weights[action] = 0.0
    seen = window(state, player)
    free = passable(state, player, seen)
    moves = _flee(state, player, seen, free, wary)
    if moves == 0:
        enemies = without(enemies_of(s, player, seen), bombs_of(s))
        if has(beside(enemies), here) and _may_bomb(state, player, free):
            moves = 1 << LAY
        else:
            far = without(enemies, within(single(here), free, NEAR_ENEMY - 1))
            moves = towards(state, player, WALKS, far, free, NEAR_ENEMY)
    share(weights, scale, moves if moves else _work(state, player, seen, free), 1.0)


@kernel(ADVISE)
def advise_rule_based_aiide(state, player, weights):
    """Flee from bombs; bomb enemies beside it; follow enemies; fetch items; bomb wood; else walk about."""
    _advise(state, player, weights, False)


@kernel(ADVISE)
def advise_rule_based_aiide_wary(state, player, weights):
    """The same, but off a bomb only where it sees a way out of its reach, and else it stays on it."""
    _advise(state, player, weights, True)
