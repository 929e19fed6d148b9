"""Two scripted gardeners as ``advise`` kernels: weight 1 for the chosen action, 0 for all others.

Both find their tools in the tables of the state, so that they play any roster: the *flower* is the first plant that
makes sun, the *shooter* the first that does damage, the *mine* the first that arms, and the *wall* the toughest of
those that do none of this. What a roster lacks they do without.
"""

import numpy as np

from mcts_envs.core.contract import ADVISE
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.typing import Bytes, Floats
from mcts_envs.lane_defense.roster.layout import CELLS, HP, PLANT, STATE, ZOMBIE

FLOWER, SHOOTER, WALL, MINE = range(4)
NOTHING = -1

FLOWERS = 6
SHOOTERS_A_LANE = 3


@kernel()
def _tool(state: Bytes, role: int) -> int:
    """Return the kind of plant that plays a role, NOTHING if none does."""
    s = record(state, STATE)
    found = NOTHING
    for kind in range(np.int64(s.plants)):
        if s.plant_sun[kind] > 0.0:
            other = FLOWER
        elif s.plant_damage[kind] > 0:
            other = SHOOTER
        elif s.plant_arms[kind] > 0.0:
            other = MINE
        else:
            other = WALL
        if other == role and (found == NOTHING or (role == WALL and s.plant_hp[kind] > s.plant_hp[found])):
            found = kind
    return found


@kernel()
def _count(state: Bytes, kind: int, lane: int, first: int, end: int) -> int:
    """Return how many plants of a kind stand in columns ``first`` to ``end - 1`` of a lane."""
    s = record(state, STATE)
    start = CELLS + PLANT * np.int64(s.cells) + lane * np.int64(s.columns)
    count = 0
    for column in range(first, end):
        if state[start + column] == kind + 1:
            count += 1
    return count


@kernel()
def _front(state: Bytes, lane: int) -> int:
    """Return the column of the leftmost zombie of a lane, the number of columns if there is none."""
    s = record(state, STATE)
    columns = np.int64(s.columns)
    start = CELLS + ZOMBIE * np.int64(s.cells) + lane * columns
    column = 0
    while column < columns and state[start + column] == 0:
        column += 1
    return column


@kernel()
def _toughness(state: Bytes, lane: int) -> int:
    """Return the hit points of all zombies of a lane together."""
    s = record(state, STATE)
    cells, columns = np.int64(s.cells), np.int64(s.columns)
    total = 0
    for index in range(lane * columns, (lane + 1) * columns):
        if state[CELLS + ZOMBIE * cells + index] != 0:
            total += np.int64(state[CELLS + HP * cells + index])
    return total


@kernel()
def _firepower(state: Bytes, lane: int, end: int) -> int:
    """Return the damage a step of the plants in columns ``0`` to ``end - 1`` of a lane."""
    s = record(state, STATE)
    start = CELLS + PLANT * np.int64(s.cells) + lane * np.int64(s.columns)
    damage = 0
    for column in range(end):
        if state[start + column] != 0:
            damage += np.int64(s.plant_damage[np.int64(state[start + column]) - 1])
    return damage


@kernel()
def _surplus(state: Bytes, lane: int, front: int) -> int:
    """Return the hit points that are likely to reach the house: a zombie shot at takes about 3 steps a cell."""
    return _toughness(state, lane) - 3 * _firepower(state, lane, front) * front


@kernel()
def _plant(state: Bytes, role: int, lane: int, first: int, last: int) -> int:
    """Return the action that plants a tool in the first empty cell of columns ``first`` to ``last``, or NOTHING."""
    s = record(state, STATE)
    kind = _tool(state, role)
    if kind == NOTHING or s.recharge[kind] != 0 or s.plant_cost[kind] > s.sun:
        return NOTHING
    cells, columns = np.int64(s.cells), np.int64(s.columns)
    for index in range(lane * columns + max(first, 0), lane * columns + min(last, columns - 2) + 1):
        if state[CELLS + PLANT * cells + index] | state[CELLS + ZOMBIE * cells + index] == 0:
            return kind * cells + index
    return NOTHING


@kernel()
def _no_op(state: Bytes) -> int:
    s = record(state, STATE)
    return np.int64(s.plants) * np.int64(s.cells)


@kernel()
def _threatened(state: Bytes) -> int:
    """Return the lane in greatest need: without a shooter the nearest zombie, else the greatest surplus above 0."""
    s = record(state, STATE)
    worst, most = NOTHING, 0
    for lane in range(np.int64(s.rows)):
        front = _front(state, lane)
        if front < np.int64(s.columns):
            unguarded = _firepower(state, lane, front) == 0
            need = 1000 - front if unguarded else _surplus(state, lane, front)
            if need > most:
                worst, most = lane, need
    return worst


@kernel()
def _defend(state: Bytes) -> int:
    """Answer the greatest threat: a shooter; close to the house a wall or a mine; or save sun for the first shooter."""
    lane = _threatened(state)
    if lane == NOTHING:
        return NOTHING
    front = _front(state, lane)
    columns = np.int64(record(state, STATE).columns)
    action = _plant(state, SHOOTER, lane, 1, min(front - 1, columns - 3))
    if action == NOTHING:
        action = _plant(state, SHOOTER, lane, 0, min(front - 1, 0))
    if action == NOTHING and front <= 3:
        action = _plant(state, WALL, lane, front - 1, front - 1)
    if action == NOTHING and front <= 3:
        action = _plant(state, MINE, lane, 0, front - 1)
    if action == NOTHING and front <= 5 and _firepower(state, lane, front) == 0:
        return _no_op(state)
    return action


@kernel()
def _grow(state: Bytes) -> int:
    """Plant a flower near the house in the quiet lane with the fewest, up to six."""
    s = record(state, STATE)
    kind, columns = _tool(state, FLOWER), np.int64(s.columns)
    best, fewest, everywhere = NOTHING, columns, 0
    for lane in range(np.int64(s.rows)):
        count = _count(state, kind, lane, 0, columns)
        everywhere += count
        if count < fewest and _front(state, lane) > 2:
            best, fewest = lane, count
    if best == NOTHING or everywhere >= FLOWERS:
        return NOTHING
    return _plant(state, FLOWER, best, 0, 1)


@kernel()
def _strengthen(state: Bytes) -> int:
    """Plant a shooter in the lane with the fewest, up to three."""
    s = record(state, STATE)
    columns = np.int64(s.columns)
    best, fewest = NOTHING, SHOOTERS_A_LANE
    for lane in range(np.int64(s.rows)):
        damage = _firepower(state, lane, columns)
        if damage < fewest:
            best, fewest = lane, damage
    if best == NOTHING:
        return NOTHING
    return _plant(state, SHOOTER, best, 1, columns // 2)


@kernel()
def _wall_off(state: Bytes) -> int:
    """With sun to spare for a shooter, plant a wall far ahead in a lane that has zombies and no wall."""
    s = record(state, STATE)
    wall, shooter, columns = _tool(state, WALL), _tool(state, SHOOTER), np.int64(s.columns)
    if wall == NOTHING or shooter == NOTHING or s.sun < np.int64(s.plant_cost[wall]) + np.int64(s.plant_cost[shooter]):
        return NOTHING
    for lane in range(np.int64(s.rows)):
        if _front(state, lane) < columns and _count(state, wall, lane, 0, columns) == 0:
            action = _plant(state, WALL, lane, columns - 4, columns - 3)
            if action != NOTHING:
                return action
    return NOTHING


@kernel()
def _lay_mine(state: Bytes) -> int:
    """Lay a mine ahead of the most advanced zombie of a lane that has none and whose shooters will not do."""
    s = record(state, STATE)
    kind, columns = _tool(state, MINE), np.int64(s.columns)
    best, nearest = NOTHING, columns
    for lane in range(np.int64(s.rows)):
        front = _front(state, lane)
        if 2 <= front < nearest and _count(state, kind, lane, 0, front) == 0 and _surplus(state, lane, front) > 0:
            best, nearest = lane, front
    if best == NOTHING:
        return NOTHING
    return _plant(state, MINE, best, nearest - 4, nearest - 1)


@kernel()
def _script_s(state: Bytes) -> int:
    action = _defend(state)
    if action == NOTHING:
        action = _grow(state)
    if action == NOTHING:
        action = _strengthen(state)
    if action == NOTHING:
        action = _wall_off(state)
    return _no_op(state) if action == NOTHING else action


@kernel(ADVISE)
def advise_s(state: Bytes, player: int, weights: Floats) -> None:
    """Script S: answer the greatest threat, then flowers, shooters and walls."""
    weights[:] = 0.0
    weights[_script_s(state)] = 1.0


@kernel(ADVISE)
def advise_h(state: Bytes, player: int, weights: Floats) -> None:
    """Script H: lay mines first, else play as S."""
    weights[:] = 0.0
    action = _lay_mine(state)
    weights[_script_s(state) if action == NOTHING else action] = 1.0
