"""Wrappers that planners do not look through: those that change actions are refused, others are named."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import (
    AtariPreprocessing,
    FlattenObservation,
    MaxAndSkipObservation,
    NormalizeReward,
    RecordEpisodeStatistics,
    TimeLimit,
    TransformAction,
    TransformReward,
)
from pettingzoo.classic.tictactoe import tictactoe
from pettingzoo.utils import BaseWrapper
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3.common.atari_wrappers import MaxAndSkipEnv
from stable_baselines3.common.monitor import Monitor

import agents
from agents import bridge, wrappers

CARTS, LANES = "CartPole-v1", "mcts_envs/LaneDefense3x3-v0"


def wrapped(env_id, *around):
    env = gym.make(env_id)
    for wrap in around:
        env = wrap(env)
    env.reset(seed=0)
    return env


def turned(env):
    n = env.action_space.n
    return TransformAction(env, lambda action: n - 1 - action, spaces.Discrete(n))


def halved(env):
    return TransformReward(env, lambda reward: reward / 2)


@pytest.mark.parametrize(("env_id", "inside"), [(CARTS, "CartPoleEnv"), (LANES, "LaneDefense")])
def test_wrappers_of_actions_are_refused(env_id, inside):
    env, agent = wrapped(env_id, turned, RecordEpisodeStatistics), agents.make("mcts", simulations=20)
    said = rf"TransformAction changes actions on their way to {inside}.*plan in that one"
    for ask in (agent.act, agent.search, bridge.view, agents.make("random").act):
        with pytest.raises(TypeError, match=said):
            ask(env)
    assert agent.act(env.env.env) in range(env.action_space.n)


@pytest.mark.parametrize("env_id", [CARTS, LANES])
@pytest.mark.parametrize(("wrap", "name"), [(halved, "TransformReward"), (NormalizeReward, "NormalizeReward")])
def test_wrappers_of_rewards_are_named_once(env_id, wrap, name):
    wrappers._warn.cache_clear()
    env, agent = wrapped(env_id, wrap), agents.make("mcts", simulations=20, seed=3)
    with pytest.warns(UserWarning, match=rf"{name} changes the rewards of .*the environment inside"):
        found = agent.search(env)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.act(env)
    plain = agents.make("mcts", simulations=20, seed=3).search(wrapped(env_id))
    np.testing.assert_array_equal(found.values, plain.values)


@pytest.mark.parametrize("wrapper", [MaxAndSkipObservation, MaxAndSkipEnv])
def test_wrappers_that_repeat_actions_are_named(wrapper):
    wrappers._warn.cache_clear()
    with pytest.warns(UserWarning, match=f"{wrapper.__name__} repeats actions in .*plans single steps"):
        agents.make("mcts", simulations=20).act(wrapped(CARTS, wrapper))


def test_a_wrapper_that_is_told_to_repeat_none_is_fine():
    class Shrunk(AtariPreprocessing):
        def __init__(self, env):
            gym.Wrapper.__init__(self, env)
            self.frame_skip = 1

        def reset(self, **given):
            return self.env.reset(**given)

    assert agents.make("mcts", simulations=20).act(wrapped(CARTS, Shrunk)) in (0, 1)


class Shaped(gym.Wrapper):
    """Pays something else, as who does not know of RewardWrapper writes it."""

    def step(self, action):
        seen, reward, *rest = self.env.step(action)
        return seen, -reward, *rest


def masked(env):
    return ActionMasker(env, lambda env: np.array([False, True]))


@pytest.mark.parametrize(
    ("env_id", "wrap", "said"),
    [
        (CARTS, Shaped, "Shaped has a step of its own around CartPoleEnv; the search plans those of the environment"),
        (LANES, Shaped, "Shaped has a step of its own around LaneDefense"),
        (CARTS, masked, "ActionMasker says what is legal in CartPoleEnv; the search plans all actions of"),
    ],
)
def test_wrappers_of_steps_and_of_what_is_legal_are_named(env_id, wrap, said):
    wrappers._warn.cache_clear()
    with pytest.warns(UserWarning, match=said):
        agents.make("mcts", simulations=20).act(wrapped(env_id, wrap))


class Sticky(BaseWrapper):
    """Makes the first action always."""

    def step(self, action):
        super().step(None if action is None else 0)


def test_wrappers_of_steps_in_turns_are_named():
    wrappers._warn.cache_clear()
    env = Sticky(tictactoe.env())
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="Sticky has a step of its own around raw_env; the search plans those of"):
        agents.make("mcts", simulations=20).act(env)


def test_a_wrapper_that_says_the_same_of_what_is_legal_is_fine():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agents.make("mcts", simulations=20).act(wrapped(LANES, masked, Monitor))


@pytest.mark.parametrize("env_id", [CARTS, LANES])
def test_other_wrappers_are_fine(env_id):
    def limited(env):
        return TimeLimit(env, 50)

    env = wrapped(env_id, limited, FlattenObservation, RecordEpisodeStatistics)
    assert agents.make("mcts", simulations=20).act(env) in range(env.action_space.n)
