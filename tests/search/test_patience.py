"""Rollouts where steps are dear and time is short."""

import time
import warnings
from dataclasses import dataclass
from types import SimpleNamespace

import gymnasium as gym
import pytest
from gymnasium import spaces

import agents
from agents import bridge
from agents.planner import Planner
from agents.search.patience import warn_if_late
from agents.search.plan import _in_python as in_python


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


def test_searches_that_are_late_now_and_then_are_not_told_of():
    class Steady(Slow):
        """Another game, of which nothing was told yet."""

    env = Steady()
    env.reset(seed=0)
    view = bridge.view(env)
    late, good = SimpleNamespace(simulations=3, seconds=1.0), SimpleNamespace(simulations=3, seconds=0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for result in (good, late, good, late, good, late):
            warn_if_late(view, result, 0.1)
    with pytest.warns(UserWarning, match="3 simulations took 1 s"):
        warn_if_late(view, late, 0.1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # once
        for result in (late, good, late, late):
            warn_if_late(view, result, 0.1)


@pytest.mark.parametrize("name", ["mcts", "auto", "graph"])
def test_what_the_first_search_finds_out_is_not_in_its_time(monkeypatch, name):
    def looked(*args):
        time.sleep(0.4)
        return ()

    monkeypatch.setattr("agents.bridge.hidden.hidden_from", looked)
    monkeypatch.setattr("agents.search.plan._in_python", lambda *args: time.sleep(0.3) or in_python(*args))
    env = gym.make("Taxi-v4")
    env.reset(seed=0)
    result = agents.make(name, time_limit=0.05).search(env)
    assert result.seconds < 0.3


@dataclass
class Plain(Planner):
    """Has an ``__eq__``, and so no hash."""

    def __post_init__(self):
        super().__init__(time_limit=0.05)

    def plan(self, view, clock):
        while clock.slice(1):
            clock.spend(1, 1)
        return SimpleNamespace(action=1, seconds=clock.seconds)


def test_a_planner_that_is_a_dataclass_searches_within_a_time_limit():
    env = gym.make("Taxi-v4")
    env.reset(seed=0)
    assert Plain().act(env) == 1
