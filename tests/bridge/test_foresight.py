"""Coins that were tossed beforehand: whatever holds them, a search foresees none, or says so."""

import zlib

import gymnasium as gym
import pytest
from gymnasium import spaces

import agents
from agents.bridge.digest import digest
from agents.bridge.hidden import AS_IT_IS, SAMPLED
from tests.bridge.worlds import mcts

_FACTOR, _SUM, _WORD = 6364136223846793005, 1442695040888963407, 2**64


class Coins(gym.Env):
    """Pays who guesses the next coin, which follows from a number that the reset has drawn."""

    action_space = spaces.Discrete(2)
    observation_space = spaces.Discrete(100)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        self.hold(int(self.np_random.integers(2**31)))
        return 0, {}

    def hold(self, number):
        self.number = number

    def toss(self):
        self.number = (self.number * _FACTOR + _SUM) % _WORD
        return self.number >> 40 & 1

    def step(self, action):
        self.t += 1
        return self.t, float(action == self.toss()), self.t >= 30, False, {}


class Buried(Coins):
    """It holds something that can be copied, but not be looked into."""

    def hold(self, number):
        self.number, self.log = number, zlib.compressobj()


def test_what_cannot_be_looked_at_is_found_by_what_it_leads_to():
    env = Buried()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match=r"Buried hides something from its player, in number, log, and"):
        assert mcts(20, horizon=3).search(env).copies.hidden == AS_IT_IS
    env = agents.remember(Buried())
    env.reset(seed=0)
    assert mcts(20, horizon=3).search(env).copies.hidden == SAMPLED


def test_keys_of_jax_are_told_apart_by_their_numbers():
    jax = pytest.importorskip("jax")
    one, same, other = (jax.random.key(seed) for seed in (0, 0, 1))
    assert digest([one]) == digest([same]) != digest([other])
