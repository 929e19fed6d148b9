"""Other models of the classic game for searches: what the paper's programs plan with instead of the rules.

In the *tree* of the programs the zombies are certain to move, a plant is put down whatever the coin says, the clock
stands still, and nobody looks whether the game is over. Their *rollouts* draw the coin, run the clock, and look before
each step whether the game has ended, so that its reward comes one step later than in the game. The other steps change
one of these things each.
"""

from mcts_envs.core.contract import KEY, LEGAL, STEP
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import coin
from mcts_envs.games.lane_defense.rules.classic import (
    ONGOING,
    STATE,
    advance_clock,
    boards_key,
    free_cells,
    judge,
    tick,
)


@kernel()
def _or_wait(state, actions, count):
    """Leave doing nothing to a player who has no empty cell; return how many actions there are."""
    if count == 0:
        s = record(state, STATE)
        actions[0] = s.rows * s.columns
        count = 1
    return count


@kernel(LEGAL)
def legal_plants(state, player, actions):
    """Only empty cells when a plant may be planted and one is left; else doing nothing."""
    return _or_wait(state, actions, free_cells(state, actions) if record(state, STATE).can_plant else 0)


@kernel(LEGAL)
def legal_cells(state, player, actions):
    """Empty cells, whatever the plant coin says; doing nothing if there are none."""
    return _or_wait(state, actions, free_cells(state, actions))


@kernel(STEP)
def step_worst_case(state, actions, rewards):
    """The game's step with the zombies certain to move."""
    s = record(state, STATE)
    rewards[0] = 0.0
    if s.end == ONGOING:
        rewards[0] = tick(state, actions[0], s.can_plant != 0, True) + judge(state)
        advance_clock(state)


@kernel()
def _draw_coin(state):
    """Draw the plant coin with the clock standing still; at the first step a plant is certain."""
    s = record(state, STATE)
    s.can_plant = 1 if s.t == 0 else coin(state, s.p_plant)


@kernel(STEP)
def step_tree(state, actions, rewards):
    """The step of the programs' tree."""
    rewards[0] = tick(state, actions[0], True, True)
    _draw_coin(state)


@kernel(STEP)
def step_tree_judged(state, actions, rewards):
    """The tree's step, with the end of the game recognised."""
    rewards[0] = 0.0
    if record(state, STATE).end == ONGOING:
        rewards[0] = tick(state, actions[0], True, True) + judge(state)
        _draw_coin(state)


@kernel(STEP)
def step_tree_sampled(state, actions, rewards):
    """The tree's step, with the zombies' move drawn."""
    rewards[0] = tick(state, actions[0], True, coin(state, record(state, STATE).p_move))
    _draw_coin(state)


@kernel(STEP)
def step_tree_coin(state, actions, rewards):
    """The tree's step, with a plant only if the coin says so."""
    rewards[0] = tick(state, actions[0], record(state, STATE).can_plant != 0, True)
    _draw_coin(state)


@kernel(STEP)
def step_tree_clock(state, actions, rewards):
    """The tree's step, with the clock running."""
    rewards[0] = tick(state, actions[0], True, True)
    advance_clock(state)


@kernel()
def _roll(state, action, certain):
    """Look whether the game has ended; else play a step. Return the reward of either."""
    s = record(state, STATE)
    if s.end != ONGOING:
        return 0.0
    reward = judge(state)
    if s.end == ONGOING:
        reward = tick(state, action, s.can_plant != 0, certain or coin(state, s.p_move))
        advance_clock(state)
    return reward


@kernel(STEP)
def step_rollout(state, actions, rewards):
    """The step of the programs' rollouts."""
    rewards[0] = _roll(state, actions[0], True)


@kernel(STEP)
def step_rollout_sampled(state, actions, rewards):
    """The rollouts' step, with the zombies' move drawn."""
    rewards[0] = _roll(state, actions[0], False)


@kernel(KEY)
def key_board(state, observer):
    """Hash of the lanes alone: situations that differ in clock and coin are one."""
    return boards_key(state)
