"""Observation wrappers that show less than the environment inside: nothing of the rest is foreseen without a word."""

import gc
import warnings
import weakref
from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import (
    DelayObservation,
    FlattenObservation,
    FrameStackObservation,
    NormalizeObservation,
    TransformObservation,
)
from pettingzoo.classic.connect_four.connect_four import env as connect_four
from pettingzoo.utils.wrappers import BaseWrapper

import agents
from agents.bridge import hidden
from agents.bridge.hidden import AS_IT_IS, NOTHING, SAMPLED, UNTOLD
from tests.bridge.worlds import mcts, same_whatever_is_hidden


def lake():
    return gym.make("FrozenLake-v1")


def blind(env):
    return TransformObservation(env, lambda cell: 0, spaces.Discrete(1))


class Late(DelayObservation):
    """Warned of by a name of its own."""


def searched(env, **options):
    env.reset(seed=1)
    return mcts(20, **options).search(env).copies.hidden


@pytest.mark.parametrize("veil", [blind, partial(Late, delay=2)])
def test_what_a_wrapper_leaves_out_is_named(veil):
    kind = type(veil(lake())).__name__
    said = rf"FrozenLake-v1, seen through {kind}, hides something from its player, in s, .* outside of {kind}, before"
    with pytest.warns(UserWarning, match=said):
        assert searched(veil(agents.remember(lake()))) == AS_IT_IS
    assert searched(veil(lake()), information="full") == AS_IT_IS


def test_what_a_wrapper_leaves_out_is_drawn_by_replay():
    env = agents.remember(blind(lake()))
    env.reset(seed=1)
    env.step(0)
    env.step(0)

    def put(cell):
        env.unwrapped.s = cell

    result = same_whatever_is_hidden(env, [partial(put, cell) for cell in (0, 4, 8)])
    assert result.copies.hidden == SAMPLED


@pytest.mark.parametrize("wrapper", [FlattenObservation, partial(DelayObservation, delay=0)])
def test_wrappers_that_leave_nothing_out(wrapper):
    assert searched(wrapper(lake())) == NOTHING


def test_the_same_environment_bare_and_behind_wrappers():
    env = blind(lake())
    assert searched(env.env) == NOTHING
    with pytest.warns(UserWarning, match="seen through TransformObservation"):
        assert searched(env) == AS_IT_IS
    assert searched(env.env) == NOTHING


def test_fractions_that_are_left_out():
    def positions(env):
        return TransformObservation(env, lambda seen: seen[[0, 2]], spaces.Box(-np.inf, np.inf, (2,)))

    env = positions(gym.make("CartPole-v1"))
    with pytest.warns(UserWarning, match="TransformObservation shows 2 of the 4 numbers that CartPole-v1 observes"):
        assert searched(env) == AS_IT_IS
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert searched(env) == AS_IT_IS  # said once
        assert searched(NormalizeObservation(gym.make("CartPole-v1"))) == UNTOLD


class Fog(BaseWrapper):
    """Shows no stones."""

    def observe(self, agent):
        return self.env.observe(agent) | {"observation": 0}


def test_what_a_wrapper_of_pettingzoo_leaves_out():
    def begun(env):
        env.reset(seed=0)
        env.step(3)
        return env

    said = "connect_four_v3, seen through Fog, hides something from player_1, in board, .* outside of Fog, before"
    with pytest.warns(UserWarning, match=said):
        found = mcts(20).search(begun(Fog(agents.remember(connect_four()))))
    assert found.copies.hidden == AS_IT_IS
    env = begun(agents.remember(Fog(connect_four())))

    def put(column):
        env.unwrapped.board = [0] * 35 + [int(column == at) for at in range(7)]

    same_whatever_is_hidden(env, [partial(put, column) for column in (3, 0, 6)])
    assert mcts(20).search(env).copies.hidden == SAMPLED


class Both(gym.Env):
    """Has a coin, which it does not show, and which is guessed."""

    action_space = spaces.Discrete(2)
    observation_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.coin = int(self.np_random.integers(2))
        return 0, {}

    def step(self, action):
        return 1, float(action == self.coin), True, False, {}


class Shown(gym.ObservationWrapper):
    """Shows the coin."""

    def observation(self, observation):
        return int(self.unwrapped.coin)


def test_what_is_hidden_anyway_is_drawn_beneath_a_wrapper_that_hides_nothing_more():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert searched(FlattenObservation(agents.remember(Both()))) == SAMPLED


def test_where_it_is_remembered_inside_it_is_looked_for_once_too(monkeypatch):
    looks = []

    def look(game, env, *given):
        looks.append(env)
        return ("coin",)

    monkeypatch.setattr(hidden, "hidden_from", look)
    env = FlattenObservation(agents.remember(type("Other", (Both,), {})()))
    for _ in range(3):
        assert searched(env) == SAMPLED
    assert len(looks) == 2  # through the wrapper, and beneath it


def test_a_wrapper_that_shows_more():
    env = Shown(Both())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert searched(env) == NOTHING
    assert mcts(50).search(env).action == env.unwrapped.coin


def test_a_wrapper_around_a_game_of_ours_that_shows_late():
    env = DelayObservation(gym.make("mcts_envs/LaneDefense3x3-v0"), 2)
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="DelayObservation shows late what LaneDefense shows; the search plans from"):
        mcts(5).search(env)


class Odd(gym.ObservationWrapper):
    """Knows of no cell but the first."""

    def observation(self, observation):
        return {0: 0}[observation]


def test_a_wrapper_that_raises_at_what_the_live_game_has_not_shown():
    assert searched(lake()) == NOTHING  # copies are known then: their check looks through wrappers at other cells
    assert searched(Odd(lake())) == NOTHING


class Alike(gym.ObservationWrapper):
    """Equals any other, and so has no hash."""

    def __eq__(self, other):
        return isinstance(other, Alike)

    def observation(self, observation):
        return observation


def test_wrappers_without_a_hash_are_looked_through_once(monkeypatch):
    looks = []

    def look(*given):
        looks.append(given)
        return ()

    monkeypatch.setattr(hidden, "hidden_from", look)
    env = Alike(lake())
    for _ in range(3):
        assert searched(env) == NOTHING
    assert len(looks) == 1
    gone, number = weakref.ref(env), id(env)
    looks.clear()
    del env
    gc.collect()
    assert gone() is None
    assert number not in hidden._NOTES


class Cells(gym.Env):
    """Walks among two numbers, which it shows."""

    action_space = spaces.Discrete(2)
    observation_space = spaces.MultiDiscrete([3, 30])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = self.np_random.integers([3, 30])
        return self.at.copy(), {}

    def step(self, action):
        self.at[action] = 0
        return self.at.copy(), float(self.at.sum()), False, False, {}


def last(env):
    return TransformObservation(FrameStackObservation(env, 2), lambda frames: frames[-1], Cells.observation_space)


def clipped(env):
    inside = NormalizeObservation(env)
    return TransformObservation(inside, lambda seen: np.clip(seen, -5, 5), inside.observation_space)


@pytest.mark.parametrize("wrap", [last, clipped])
def test_wrappers_around_what_shows_something_else(wrap):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert searched(wrap(Cells())) == NOTHING
