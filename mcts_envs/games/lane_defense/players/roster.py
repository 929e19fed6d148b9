"""Two scripted gardeners as ``advise`` kernels: weight 1 for the chosen action, 0 for all others.

Both find their tools in the tables of the state, so that they play any roster: the *flower* is the first plant that
makes sun, the *shooter* the first that does damage, the *mine* the first that arms, and the *wall* the toughest of
those that do none of this. What a roster lacks they do without.

Rollouts ask for this advice in every step. So one look at each lane gathers what every rule asks for, and nobody looks
while no tool is at hand.
"""

from typing import Any, NamedTuple

import numpy as np

from mcts_envs.core.contract import ADVISE
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.typing import Bytes, Floats
from mcts_envs.games.lane_defense.rules.roster.layout import STATE
from mcts_envs.games.lane_defense.rules.roster.phases import hp_in, is_free, plant_in, zombie_in

NOTHING = -1

FLOWERS = 6
SHOOTERS_A_LANE = 3


class Tools(NamedTuple):
    """A kind of plant for each role, or NOTHING."""

    flower: int
    shooter: int
    wall: int
    mine: int


class Lane(NamedTuple):
    """What is in a lane.

    Parameters
    ----------
    front : int
        Column of the leftmost zombie, the number of columns if there is none.
    toughness : int
        Hit points of all zombies together.
    guard : int
        Damage a step of the plants before the front.
    shooters, flowers, walls, mines : int
        How many plants do damage, and how many of each other tool there are; of mines, those before the front.
    """

    front: int
    toughness: int
    guard: int
    shooters: int
    flowers: int
    walls: int
    mines: int


class Survey(NamedTuple):
    """The lane that each rule is about, NOTHING if there is none, and what else it asks for.

    Parameters
    ----------
    threatened, front, guard : int
        The lane in greatest need: without a shooter the nearest zombie, else the greatest surplus above 0. With its
        front and its guard.
    minable, nearest : int
        The lane of the most advanced zombie which has no mine ahead of it and whose guard will not do; its front.
    quiet, flowers : int
        The lane with the fewest flowers among those without zombies near the house; flowers on the whole board.
    weak : int
        The lane with the fewest shooters, if they are less than three.
    unwalled : int
        The lanes that have zombies and no wall, one bit each.
    """

    threatened: int
    front: int
    guard: int
    minable: int
    nearest: int
    quiet: int
    flowers: int
    weak: int
    unwalled: int


@kernel()
def _tools(s: Any) -> Tools:
    """Find the kind of plant for each role."""
    flower, shooter, wall, mine = NOTHING, NOTHING, NOTHING, NOTHING
    for kind in range(s.plants):
        if s.plant_sun[kind] > 0.0:
            flower = kind if flower == NOTHING else flower
        elif s.plant_damage[kind] > 0:
            shooter = kind if shooter == NOTHING else shooter
        elif s.plant_arms[kind] > 0.0:
            mine = kind if mine == NOTHING else mine
        elif wall == NOTHING or s.plant_hp[kind] > s.plant_hp[wall]:
            wall = kind
    return Tools(flower, shooter, wall, mine)


@kernel()
def _ready(s: Any, kind: int) -> int:
    """Return a kind of plant if it can be planted now, else NOTHING."""
    if kind == NOTHING or s.recharge[kind] != 0 or s.plant_cost[kind] > s.sun:
        return NOTHING
    return kind


@kernel()
def _look(state: Bytes, s: Any, tools: Tools, lane: int) -> Lane:
    """Gather what is in a lane."""
    cells, columns = s.cells, s.columns
    front, toughness, fire, guard = columns, 0, 0, 0
    shooters, flowers, walls, mines = 0, 0, 0, 0
    for column in range(columns):
        index = lane * columns + column
        plant = plant_in(state, cells, index)
        if zombie_in(state, cells, index) >= 0:
            if front == columns:
                front, guard = column, fire
            toughness += hp_in(state, cells, index)
        elif plant >= 0:
            fire += np.int64(s.plant_damage[plant])
            shooters += s.plant_damage[plant] > 0
            flowers += plant == tools.flower
            walls += plant == tools.wall
            mines += plant == tools.mine and front == columns
    return Lane(front, toughness, guard, shooters, flowers, walls, mines)


@kernel()
def _survey(state: Bytes, s: Any, tools: Tools) -> Survey:
    """Look at every lane once and keep the best for each rule, of equals the first."""
    columns = s.columns
    threatened, most, front, guard = NOTHING, 0, columns, 0
    minable, nearest = NOTHING, columns
    quiet, fewest, flowers = NOTHING, columns, 0
    weak, weakest = NOTHING, SHOOTERS_A_LANE
    unwalled = 0
    for lane in range(s.rows):
        seen = _look(state, s, tools, lane)
        flowers += seen.flowers
        if seen.flowers < fewest and seen.front > 2:
            quiet, fewest = lane, seen.flowers
        if seen.shooters < weakest:
            weak, weakest = lane, seen.shooters
        if seen.front == columns:
            continue
        # Hit points that are likely to reach the house: a zombie shot at takes about 3 steps a cell.
        surplus = seen.toughness - 3 * seen.guard * seen.front
        need = 1000 - seen.front if seen.guard == 0 else surplus
        if need > most:
            threatened, most, front, guard = lane, need, seen.front, seen.guard
        if 2 <= seen.front < nearest and seen.mines == 0 and surplus > 0:
            minable, nearest = lane, seen.front
        if seen.walls == 0:
            unwalled |= 1 << lane
    return Survey(threatened, front, guard, minable, nearest, quiet, flowers, weak, unwalled)


@kernel()
def _plant(state: Bytes, s: Any, kind: int, lane: int, first: int, last: int) -> int:
    """Return the action that plants a kind in the first empty cell of columns ``first`` to ``last``, or NOTHING."""
    if kind == NOTHING or lane == NOTHING:
        return NOTHING
    cells, columns = s.cells, s.columns
    for index in range(lane * columns + max(first, 0), lane * columns + min(last, columns - 2) + 1):
        if is_free(state, cells, index):
            return kind * cells + index
    return NOTHING


@kernel()
def _no_op(s: Any) -> int:
    return s.plants * s.cells


@kernel()
def _lay_mine(state: Bytes, s: Any, ready: Tools, seen: Survey) -> int:
    """Lay a mine ahead of the most advanced zombie of a lane that has none and whose shooters will not do."""
    return _plant(state, s, ready.mine, seen.minable, seen.nearest - 4, seen.nearest - 1)


@kernel()
def _defend(state: Bytes, s: Any, ready: Tools, seen: Survey) -> int:
    """Answer the greatest threat: a shooter; close to the house a wall or a mine; or save sun for the first shooter."""
    lane, front = seen.threatened, seen.front
    if lane == NOTHING:
        return NOTHING
    action = _plant(state, s, ready.shooter, lane, 1, min(front - 1, s.columns - 3))
    if action == NOTHING:
        action = _plant(state, s, ready.shooter, lane, 0, min(front - 1, 0))
    if action == NOTHING and front <= 3:
        action = _plant(state, s, ready.wall, lane, front - 1, front - 1)
    if action == NOTHING and front <= 3:
        action = _plant(state, s, ready.mine, lane, 0, front - 1)
    if action == NOTHING and front <= 5 and seen.guard == 0:
        action = _no_op(s)
    return action


@kernel()
def _grow(state: Bytes, s: Any, ready: Tools, seen: Survey) -> int:
    """Plant a flower near the house in the quiet lane with the fewest, up to six."""
    if seen.flowers >= FLOWERS:
        return NOTHING
    return _plant(state, s, ready.flower, seen.quiet, 0, 1)


@kernel()
def _strengthen(state: Bytes, s: Any, ready: Tools, seen: Survey) -> int:
    """Plant a shooter in the lane with the fewest, up to three."""
    return _plant(state, s, ready.shooter, seen.weak, 1, s.columns // 2)


@kernel()
def _wall_off(state: Bytes, s: Any, tools: Tools, ready: Tools, seen: Survey) -> int:
    """With sun to spare for a shooter, plant a wall far ahead in a lane that has zombies and no wall."""
    if ready.wall == NOTHING or tools.shooter == NOTHING:
        return NOTHING
    if s.sun < np.int64(s.plant_cost[tools.wall]) + s.plant_cost[tools.shooter]:
        return NOTHING
    columns = s.columns
    for lane in range(s.rows):
        if seen.unwalled >> lane & 1:
            action = _plant(state, s, ready.wall, lane, columns - 4, columns - 3)
            if action != NOTHING:
                return action
    return NOTHING


@kernel()
def _script(state: Bytes, mines_first: bool) -> int:
    """Return the action of script H (mines first) or S."""
    s = record(state, STATE)
    tools = _tools(s)
    ready = Tools(_ready(s, tools.flower), _ready(s, tools.shooter), _ready(s, tools.wall), _ready(s, tools.mine))
    if max(ready.flower, ready.shooter, ready.wall, ready.mine) == NOTHING:
        return _no_op(s)
    seen = _survey(state, s, tools)
    action = _lay_mine(state, s, ready, seen) if mines_first else NOTHING
    if action == NOTHING:
        action = _defend(state, s, ready, seen)
    if action == NOTHING:
        action = _grow(state, s, ready, seen)
    if action == NOTHING:
        action = _strengthen(state, s, ready, seen)
    if action == NOTHING:
        action = _wall_off(state, s, tools, ready, seen)
    return _no_op(s) if action == NOTHING else action


@kernel(ADVISE)
def advise_s(state: Bytes, player: int, weights: Floats) -> None:
    """Script S: answer the greatest threat, then flowers, shooters and walls."""
    weights[:] = 0.0
    weights[_script(state, False)] = 1.0


@kernel(ADVISE)
def advise_h(state: Bytes, player: int, weights: Floats) -> None:
    """Script H: lay mines first, else play as S."""
    weights[:] = 0.0
    weights[_script(state, True)] = 1.0
