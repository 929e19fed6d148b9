"""Foreign environments for the bridge, and planners in them."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from gymnasium.utils import EzPickle

import agents
from mcts_envs.core.view import View

TAXI = "Taxi-v4" if "Taxi-v4" in gym.registry else "Taxi-v3"


def mcts(simulations=100, **settings):
    return agents.make("mcts", simulations=simulations, **settings)


def playing(env_id, seed=0, **settings):
    env = gym.make(env_id, **settings)
    env.reset(seed=seed)
    return env


def valued(view, evaluate):
    """Return a view of a game in which unfinished states are worth what a function says."""
    return View(replace(view.game, evaluate=evaluate), view.state, view.player, view.episode)


class Walk(gym.Env):
    """Walks on a line: up one action of ``first, first + 1``, ends at 5 steps; every odd step pays 1 for the second."""

    def __init__(self, first=0, mask=None, noise=None):
        self.action_space = spaces.Discrete(2, start=first)
        self.observation_space = spaces.Discrete(6)
        self.first, self.mask, self.noise = first, mask, noise
        self.at = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return self.at, self.said()

    def said(self):
        return {} if self.mask is None else {"action_mask": np.array(self.mask, np.int8)}

    def step(self, action):
        assert self.action_space.contains(action)
        if self.mask is not None:
            assert self.mask[action - self.first], "an illegal action was tried"
        self.at += 1
        reward = float(action == self.first + 1)
        if self.noise is not None:
            reward += self.noise()
        return self.at, reward, self.at >= 5, False, self.said()


class Handle:
    """Cannot be copied, like the worlds of Box2D."""

    __deepcopy__ = None

    def __init__(self):
        self.told = []

    def __reduce_ex__(self, protocol):
        raise TypeError("cannot pickle a handle")

    def __getstate__(self):
        raise TypeError("cannot pickle a handle")


class Machine(Walk, EzPickle):
    """A walk that is kept behind a handle: its pay depends on what the handle was told, and on where it began."""

    def __init__(self, first=0):
        EzPickle.__init__(self, first)
        super().__init__(first)

    def reset(self, *, seed=None, options=None):
        self.handle = Handle()
        self.handle.turns = (turn for turn in range(9))
        self.handle.start = int(super().reset(seed=seed)[0] + self.np_random.integers(100))
        return self.handle.start, {}

    def step(self, action):
        self.handle.told.append(action)
        next(self.handle.turns)
        at, reward, *rest = super().step(action)
        return at, reward * (1 + len(self.handle.told)) + self.handle.start, *rest


def same_whatever_is_hidden(env, changes, agent=lambda: mcts(150, seed=4)):
    """Return the result of a search that must not depend on what is changed."""
    found = []
    for change in changes:
        change()
        found.append(agent().search(env))
    for other in found[1:]:
        assert np.array_equal(found[0].visits, other.visits)
        assert np.array_equal(found[0].values, other.values, equal_nan=True)
    return found[0]


def total(env, agent, seed, most=200):
    """Return the return of an episode."""
    env.reset(seed=seed)
    paid = 0.0
    for _ in range(most):
        _, reward, terminated, truncated, _ = env.step(agent.act(env))
        paid += reward
        if terminated or truncated:
            break
    return paid
