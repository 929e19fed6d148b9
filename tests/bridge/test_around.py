"""Wrappers whose functions ask the environment, and observations that are too long to be flattened."""

import gymnasium as gym
import pytest
from gymnasium import spaces
from gymnasium.wrappers import TransformAction, TransformReward

import agents
from agents.bridge.means import FAST
from tests.bridge.worlds import Walk, mcts


def turned(env):
    return TransformAction(env, lambda action: (int(action) + 1) % env.action_space.n, env.action_space)


def paid_late(env):
    return TransformReward(env, lambda reward: reward * env.unwrapped.at)


@pytest.mark.parametrize(("wrap", "most"), [(turned, 5.0), (paid_late, 15.0)])
def test_functions_of_wrappers_may_ask_the_environment(wrap, most):
    env = wrap(gym.wrappers.TimeLimit(Walk(), 5))
    env.reset(seed=0)
    result = mcts(100).search(env)
    assert result.copies.means == FAST
    assert most / 2 < result.values.max() <= most
    if wrap is turned:
        assert result.action == 0


def test_an_observation_of_very_many_numbers_is_planned_with():
    env = Walk()
    env.observation_space = spaces.Discrete(2**40)
    env.reset(seed=0)
    assert agents.make("auto", simulations=60).act(env) == 1
