"""Other models of the classic game for searches: what the paper's programs plan with instead of the rules.

They differ in four things: whether zombies are certain to move (*worst case*), whether a plant is put down whatever the
coin says, whether the clock stands still, and which actions are considered.
"""

import numpy as np

from mcts_envs.core.contract import KEY, LEGAL, STEP
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import coin
from mcts_envs.lane_defense.classic.rules import ONGOING, STATE, advance_clock, boards_key, free_cells, tick


@kernel(LEGAL)
def legal_plants(state, player, actions):
    """Only empty cells when a plant may be planted and one is left; else doing nothing."""
    s = record(state, STATE)
    count = free_cells(state, actions) if s.can_plant else 0
    if count == 0:
        actions[0] = np.int64(s.rows) * np.int64(s.columns)
        count = 1
    return count


@kernel(LEGAL)
def legal_cells(state, player, actions):
    """Empty cells, whatever the plant coin says; doing nothing if there are none."""
    count = free_cells(state, actions)
    if count == 0:
        s = record(state, STATE)
        actions[0] = np.int64(s.rows) * np.int64(s.columns)
        count = 1
    return count


@kernel(STEP)
def step_worst_case(state, actions, rewards):
    """A step in which the zombies are certain to move."""
    s = record(state, STATE)
    rewards[0] = 0.0
    if s.end == ONGOING:
        rewards[0] = tick(state, actions[0], s.can_plant != 0, True)
        advance_clock(state)


@kernel(STEP)
def step_frozen_clock(state, actions, rewards):
    """The step of the paper's tree: the zombies move, a plant is put down, and the clock stands still."""
    s = record(state, STATE)
    rewards[0] = 0.0
    if s.end == ONGOING:
        rewards[0] = tick(state, actions[0], True, True)
        s.can_plant = coin(state, s.p_plant)


@kernel(STEP)
def step_frozen_clock_sampled(state, actions, rewards):
    """The same with the zombies' move drawn."""
    s = record(state, STATE)
    rewards[0] = 0.0
    if s.end == ONGOING:
        rewards[0] = tick(state, actions[0], True, coin(state, s.p_move))
        s.can_plant = coin(state, s.p_plant)


@kernel(STEP)
def step_always_planting(state, actions, rewards):
    """The worst-case step with a plant whatever the coin says, and the clock running."""
    s = record(state, STATE)
    rewards[0] = 0.0
    if s.end == ONGOING:
        rewards[0] = tick(state, actions[0], True, True)
        advance_clock(state)


@kernel(KEY)
def key_board(state, observer):
    """Hash of the lanes alone: situations that differ in clock and coin are one."""
    return boards_key(state)
