"""The agent `puct`: tree search with the policy that is shipped, or with one's own."""

import pickle

import gymnasium as gym
import numpy as np
import pytest

import agents
import mcts_envs  # noqa: F401
from agents.learning.saved.shipped import shipped


def test_it_is_the_search_with_the_shipped_policy():
    env = gym.make("mcts_envs/LaneDefense5x9-v0")
    env.reset(seed=4)
    agent = agents.make("puct", simulations=200, seed=1)
    spelled = {"select": "puct", "policy": "maskable_ppo", "evaluate": "policy"}
    same = agents.make("mcts", simulations=200, seed=1, **spelled).search(env)
    found = pickle.loads(pickle.dumps(agent)).search(env)
    np.testing.assert_array_equal(found.visits, same.visits)
    own = agents.make("puct", policy=shipped("LaneDefense5x9-v0", "maskable_ppo"), simulations=200, seed=1)
    assert own.search(env).action == same.action


def test_what_it_cannot_do_is_said():
    env = gym.make("mcts_envs/LaneDefense10x10-v0")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"no maskable_ppo policy is shipped .* Train one"):
        agents.make("puct", policy="maskable_ppo", simulations=10).act(env)
    assert agents.make("puct", simulations=10).act(env) in range(101)
    env = gym.make("mcts_envs/LaneDefense10x10-v0", rows=4)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"no policy is shipped for lane_defense .* Train one"):
        agents.make("puct", simulations=10).act(env)
    lake = gym.make("FrozenLake-v1")
    lake.reset(seed=0)
    with pytest.raises(ValueError, match=r"Stable-Baselines3's learn\(\): .* policy=PATH has it search"):
        agents.make("puct", simulations=10).act(lake)
    with pytest.raises(TypeError, match="puct has no setting 'select'"):
        agents.make("puct", select="ucb1")
    with pytest.raises(ValueError, match="needs a policy"):
        agents.make("puct", policy=None)
