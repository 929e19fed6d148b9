"""Environments of the Gymnasium API for tests: lanes, and toys in every seat against every kind of opponent."""

import gymnasium
import numpy as np
from gymnasium.utils.env_checker import data_equivalence

import agents
from tests.toys import TOYS, Stakes

LANES = ("mcts_envs/LaneDefense3x3-v0", "mcts_envs/LaneDefense10x10-v0", "mcts_envs/LaneDefense5x9-v0")
SEATS = [(toy, seat) for toy in TOYS for seat in range(3 if toy is Stakes else 2)]


class First:
    """A player from outside the package: takes the first legal action, or the last one after an odd seed."""

    def __init__(self):
        self.index = 0

    def act(self, env):
        return int(env.unwrapped.view().legal_actions()[self.index])

    def reseed(self, seed):
        self.index = -(seed % 2)


class Stubborn(First):
    """A player that always answers the same."""

    def __init__(self, answer):
        self.answer = answer

    def act(self, env):
        return self.answer


OPPONENTS = ("random", "scripted", "agents:mcts", "agents:scripted", First(), agents.make("mcts", simulations=20))


def same(one, other):
    return data_equivalence(one, other, exact=True)


def play(env, seed, steps=12):
    """Play at random until the end; return everything that came back, and the position in bytes."""
    rng, results = np.random.default_rng(seed), []
    for _ in range(steps):
        results.append((*env.step(rng.integers(env.action_space.n)), env.unwrapped.clone_state()))
        if results[-1][2] or results[-1][3]:
            break
    return results


def lanes(**settings):
    return [gymnasium.make(name, **settings) for name in LANES]


def everything():
    """Every environment of these tests, in its first state."""
    for env in lanes():
        env.reset(seed=3)
        yield env
    for toy, seat in SEATS:
        for opponent in OPPONENTS:
            env = toy(seat=seat, opponent=opponent)
            env.reset(seed=3)
            yield env
    mixed = Stakes(seat=1, opponent=["scripted", First()])
    mixed.reset(seed=3)
    yield mixed
