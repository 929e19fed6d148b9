"""Rollouts where steps are dear and time is short."""

import time

import gymnasium as gym
import pytest
from gymnasium import spaces

import agents


class Slow(gym.Env):
    """Action 2 pays; an episode has 400 steps, which take a millisecond each."""

    observation_space, action_space = spaces.Box(-1.0, 1.0, (1,)), spaces.Discrete(4)
    seconds = 1e-3

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.n = 0
        return self.np_random.random(1, "float32"), {}

    def step(self, action):
        time.sleep(self.seconds)
        self.n += 1
        return self.np_random.random(1, "float32"), float(action == 2), self.n == 400, False, {}


def searched(env, **budget):
    env = agents.remember(env)
    env.reset(seed=0)
    agent = agents.make("mcts", seed=0, **budget)
    agent.search(env)  # which finds out how to copy it
    return agent.search(env)


def test_rollouts_are_short_enough_for_every_action():
    result = searched(Slow(), time_limit=0.1)
    assert result.simulations >= 3
    assert result.steps <= 30 * result.simulations  # of 400


@pytest.mark.filterwarnings("ignore:Slow. . simulations took:UserWarning")
def test_dearer_steps_are_looked_at_for_ten_at_least():
    env = Slow()
    env.seconds = 0.02
    result = searched(env, time_limit=0.05)
    assert result.steps <= 11 * result.simulations


@pytest.mark.parametrize("budget", [{"simulations": 5}, {"max_steps": 2000}, {"time_limit": 30.0, "simulations": 5}])
def test_where_there_is_time_they_go_to_the_end(budget):
    env = Slow()
    env.seconds = 0.0
    result = searched(env, **budget)
    assert result.steps > 390 * result.simulations
