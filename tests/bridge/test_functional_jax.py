"""Gymnasium's environments that are functions of JAX: no coin that the key beside the state tosses is foreseen."""

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.experimental.functional import FuncEnv

from agents import bridge
from agents.bridge.mirroring import mirrored
from mcts_envs.core.contract import EVERYTHING
from tests.bridge.worlds import mcts

pytest.importorskip("jax")

import jax
from gymnasium.envs.functional_jax_env import FunctionalJaxEnv


class Coins(FuncEnv):
    """Pays who guesses the next coin, which the key of the step tosses."""

    action_space = spaces.Discrete(2)
    observation_space = spaces.Box(0, 100, (1,), np.int32)

    def initial(self, rng, params=None):
        return jax.numpy.zeros(1, np.int32)

    def transition(self, state, action, rng, params=None):
        return state + 1 + jax.random.bernoulli(rng)

    def observation(self, state, rng, params=None):
        return state

    def reward(self, state, action, next_state, rng, params=None):
        return (next_state - state)[0] - 1 == action

    def terminal(self, state, rng, params=None):
        return state[0] > 8


def coins():
    env = FunctionalJaxEnv(Coins())
    env.reset(seed=0)
    return env


def test_coins_are_tossed_anew_and_copies_are_the_environment():
    env = coins()
    view = bridge.view(env)
    tossed = set()
    for seed in range(12):
        state = view.state.copy()
        view.game.determinize(state, EVERYTHING, seed << 32)
        view.game.step(state, [0], [0.0])
        tossed.add(int(state.seen[0]))
    assert tossed == {1, 2}
    assert not mirrored(bridge.view(env).state, 1, 10).differs


def test_no_coin_is_foreseen():
    wins = 0.0
    for seed in range(6):
        env, agent = coins(), mcts(16, seed=seed)
        env.reset(seed=seed)
        for _ in range(4):
            wins += env.step(agent.act(env))[1]
    assert wins < 24
    found = mcts(100, horizon=1).search(env)
    assert all(0.2 < value < 0.8 for value in found.values), found.values
