"""Wrappers whose functions ask the environment, and observations that are too long to be flattened."""

from functools import partial

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import AddRenderObservation, TransformAction, TransformObservation, TransformReward

import agents
from agents import bridge
from agents.bridge.means import FAST
from tests.bridge.worlds import Walk, mcts


def turned(env):
    return TransformAction(env, lambda action: (int(action) + 1) % env.action_space.n, env.action_space)


def paid_late(env):
    return TransformReward(env, lambda reward: reward * env.unwrapped.at)


@pytest.mark.parametrize(("wrap", "most"), [(turned, 5.0), (paid_late, 15.0)])
def test_functions_of_wrappers_may_ask_the_environment(wrap, most):
    env = wrap(gym.wrappers.TimeLimit(Walk(), 5))
    env.reset(seed=0)
    result = mcts(100).search(env)
    assert result.copies.means == FAST
    assert most / 2 < result.values.max() <= most
    if wrap is turned:
        assert result.action == 0


class Pictured(Walk):
    """Draws where it is."""

    render_mode = "rgb_array"

    def render(self):
        return np.full((2, 3, 3), self.at, np.uint8)


def asking(env):
    return TransformObservation(env, lambda _: np.array([env.unwrapped.at], np.float32), spaces.Box(0, 9, (1,)))


def place(env, _=None):
    return np.array([env.unwrapped.at], np.float32)


class Eye:
    def __init__(self, env):
        self.env = env

    def __call__(self, _):
        return place(self.env)

    def look(self, _):
        return place(self.env)


class Based(gym.ObservationWrapper):
    """Keeps the environment inside all others as its own."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space, self.base = ONE, env.unwrapped

    def observation(self, observation):
        return place(self.base)


ONE = spaces.Box(0, 9, (1,))


def asking_outside(env):
    env = TransformObservation(env, lambda _: place(env), ONE)
    return (env := gym.wrappers.TimeLimit(env, 5))


def asking_in_a_script(env):
    global script
    script = TransformObservation(env, lambda _: place(script), ONE)
    return script


def asking_by_another(env):
    def where(again=True):
        return where(again=False) if again else place(env)  # which holds itself

    return TransformObservation(env, lambda _: where(), ONE)


ASKING = [
    *(asking, asking_outside, asking_in_a_script, asking_by_another, Based),
    lambda env: TransformObservation(env, partial(place, env), ONE),
    lambda env: TransformObservation(env, lambda _, asked=env: place(asked), ONE),
    lambda env: TransformObservation(env, lambda _, *, asked=env: place(asked), ONE),
    lambda env: TransformObservation(env, Eye(env), ONE),
    lambda env: TransformObservation(env, Eye(env).look, ONE),
]


@pytest.mark.parametrize("wrap", [AddRenderObservation, *ASKING])
def test_what_observation_wrappers_show_of_a_state_to_come_is_of_that_state(wrap):
    env = agents.remember(wrap(gym.wrappers.TimeLimit(Pictured(), 5)))
    env.reset(seed=0)
    view = bridge.view(env)
    game, state, seen = view.game, view.state.copy(), []
    for _ in range(3):
        game.observe(state, 0, shown := np.zeros(game.observation_shape, np.float32))
        seen.append(shown.mean())
        game.step(state, [1], [0.0])
    assert seen == [0.0, 1.0, 2.0]
    assert env.unwrapped.at == 0


def test_rewards_may_ask_an_environment_that_a_script_has_wrapped():
    global script
    script = TransformReward(Walk(), lambda _: float(script.unwrapped.at))
    script.reset(seed=0)
    view = bridge.view(script)
    state, paid = view.state.copy(), [0.0]
    view.game.step(state, [1], paid)
    assert paid == [1.0]


@pytest.mark.parametrize(("wrap", "looks"), [*((wrap, 1) for wrap in ASKING), (gym.wrappers.FlattenObservation, 0)])
def test_states_are_told_apart_through_functions_that_ask_the_environment(wrap, looks):
    env = wrap(gym.wrappers.TimeLimit(Pictured(), 5))
    env.reset(seed=0)
    assert len(bridge.view(env).state.looks[0]) == looks


def test_an_observation_of_very_many_numbers_is_planned_with():
    env = Walk()
    env.observation_space = spaces.Discrete(2**40)
    env.reset(seed=0)
    assert agents.make("auto", simulations=60).act(env) == 1
