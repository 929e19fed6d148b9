"""What ``auto`` does where something is hidden from a player: it finds out where that pays."""

import gymnasium as gym
import numpy as np
from gymnasium import spaces

import agents


class Peek(gym.Env):
    """A card lies left or right: 0 looks at it for a little, 1 and 2 bet on where it is, which ends the game."""

    action_space, observation_space = spaces.Discrete(3), spaces.MultiDiscrete([3, 3])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.card, self.time, self.seen = int(self.np_random.integers(2)), 0, False
        return self.shown(), {}

    def shown(self):
        return np.array([self.time, self.card if self.seen else 2])

    def step(self, action):
        self.time, self.seen = self.time + 1, self.seen or action == 0
        paid = -0.1 if action == 0 else float(action - 1 == self.card)
        return self.shown(), paid, action > 0, self.time >= 2, {}


def test_it_looks_before_it_bets():
    for seed in range(6):
        env = agents.remember(Peek())
        env.reset(seed=seed)
        auto = agents.make("auto", simulations=300, seed=seed)
        assert auto.act(env) == 0
        assert "loop='information_set'" in auto.picked
        env.step(0)
        assert auto.act(env) == env.unwrapped.card + 1


class Marsh(gym.Env):
    """A ring of six fields, of which one, unseen, swallows who waits there; once around pays."""

    action_space, observation_space = spaces.Discrete(3), spaces.Discrete(6)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.bog, self.gone = int(self.np_random.integers(6)), 0
        return 0, {}

    def step(self, action):
        self.gone += (1, -1, 0)[action]
        swallowed, around = action == 2 and self.gone % 6 == self.bog, abs(self.gone) == 60
        return self.gone % 6, float(around), swallowed or around, False, {}


def test_it_searches_a_graph_where_no_end_of_random_games_pays():
    env, auto = agents.remember(Marsh()), agents.make("auto", simulations=20, seed=0)
    env.reset(seed=0)
    auto.act(env)
    assert env.unwrapped.gone == 0
    assert auto.last_result.copies.particles
    assert auto.picked.startswith("graph(")


class Ledge(gym.Env):
    """Who falls off at either side is paid no more; how fast one slides is unseen."""

    action_space, observation_space = spaces.Discrete(2), spaces.Discrete(9)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place, self.speed = 4, int(self.np_random.integers(2))
        return self.place, {}

    def step(self, action):
        self.speed += 2 * int(action) - 1
        self.place += self.speed
        fell = not 0 <= self.place <= 8
        return min(max(self.place, 0), 8), 1.0, fell, False, {}


def test_who_is_paid_for_lasting_searches_no_graph_where_something_is_hidden():
    env, auto = agents.remember(Ledge()), agents.make("auto", simulations=20, seed=0)
    env.reset(seed=0)
    auto.act(env)
    assert auto.last_result.copies.particles
    assert "paid for lasting" in auto.picked
