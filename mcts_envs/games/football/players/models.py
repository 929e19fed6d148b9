"""Models of the game for a search that values it as the tutorial of the published engine does."""

import numpy as np

from mcts_envs.core.contract import BYTES, FLOATS, STEP, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.players.values import evaluate_tutorial
from mcts_envs.games.football.rules.kernels import step
from mcts_envs.games.football.rules.layout import NO_TEAM, OVER, STATE


@kernel(types.void(BYTES, types.boolean, FLOATS))
def _pay(state, ends, rewards):
    """Pay nothing but the end: what the state is worth when the match is over, or is to end here."""
    s = record(state, STATE)
    rewards[0] = rewards[1] = 0.0
    if s.phase == OVER or ends:
        evaluate_tutorial(state, rewards)
        s.phase, s.decider = OVER, NO_TEAM


@kernel()
def _clock(state):
    """Return a number that is another in every team turn; a kick-off after a touchdown belongs to the turn before."""
    s = record(state, STATE)
    return (s.half << 8 | np.int64(s.turn[0])) << 8 | np.int64(s.turn[1])


@kernel(STEP)
def step_tutorial(state, actions, rewards):
    """The game, at whose end a win pays 1, a draw 0.5 and a loss -1."""
    over = record(state, STATE).phase == OVER
    step(state, actions, rewards)
    if not over:
        _pay(state, False, rewards)


@kernel(STEP)
def step_tutorial_turn(state, actions, rewards):
    """The same for rollouts: the game is over with the team turn, and pays what the state is worth then."""
    over = record(state, STATE).phase == OVER
    before = _clock(state)
    step(state, actions, rewards)
    if not over:
        _pay(state, _clock(state) != before, rewards)
