"""Arms, a bandit that says whether a search goes on; and first states of games."""

import gymnasium as gym
import numpy as np

from mcts_envs.core import contract
from mcts_envs.core.contract import Game, blank, state_dtype
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import seed_stream, uniform
from mcts_envs.core.view import View

# Arms: the first pull pays 0.01 for the best arm, later ones the arm's number, and every one luck that has no arm.

ARMS = state_dtype([("arms", "i8"), ("best", "i8"), ("length", "i8"), ("pulls", "i8"), ("luck", "f8")])


@kernel(contract.RESET)
def arms_reset(state, seed):
    seed_stream(state, seed)
    record(state, ARMS).pulls = 0


@kernel(contract.ACTIVE)
def arms_active(state):
    s = record(state, ARMS)
    return 1 if s.pulls < s.length else 0


@kernel(contract.LEGAL)
def arms_legal(state, player, actions):
    s = record(state, ARMS)
    for arm in range(s.arms):
        actions[arm] = arm
    return s.arms


@kernel(contract.STEP)
def arms_step(state, actions, rewards):
    s = record(state, ARMS)
    rewards[0] = 0.0
    if s.pulls < s.length:
        rewards[0] = s.luck * uniform(state)
        if s.pulls > 0:
            rewards[0] += s.luck * actions[0]
        elif actions[0] == s.best:
            rewards[0] += 0.01
        s.pulls += 1


@kernel(contract.STATUS)
def arms_status(state, player):
    s = record(state, ARMS)
    return 0 if s.pulls < s.length else 1


def arms_game(arms=8, best=5, length=1, luck=1.0):
    state = blank(ARMS)
    s = record(state, ARMS)
    s.arms, s.best, s.length, s.luck = arms, best, length, luck
    return Game("arms", 1, arms, state, arms_reset, arms_active, arms_legal, arms_step, arms_status)


def arms_view(**settings):
    return first_view(arms_game(**settings))


def first_view(game, player=0):
    state = game.new_state()
    game.reset(state, np.uint64(0))
    return View(game, state, player)


def lane(size=3):
    env = gym.make(f"mcts_envs/LaneDefense{size}x{size}-v0").unwrapped
    env.reset(seed=1)
    return env.view()
