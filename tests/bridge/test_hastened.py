"""Copies of a class whose steps come to the same in less time, as an adapter has it."""

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.envs.classic_control.acrobot import AcrobotEnv
from gymnasium.envs.toy_text.blackjack import BlackjackEnv

import agents
from agents import bridge
from agents.bridge.adapters import adapter_of
from agents.bridge.shipped.rebound import derived


class Steps(gym.Env):
    """Counts how often it was told to go up; observes it."""

    action_space = observation_space = gym.spaces.Discrete(100)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return 0, {}

    def step(self, action):
        self.at += action % 2
        return self.at, float(action % 2), self.at == 50, False, {}


def quick(monkeypatch, **methods):
    """Return the game of such steps, of which an adapter has a class with other methods."""

    class Quick(bridge.Adapter):
        def hastened(self, kind):
            return derived(kind, **methods)

    monkeypatch.setitem(bridge.adapters._REGISTERED, f"{__name__}.Steps", Quick())
    adapter_of.cache_clear()
    env = Steps()
    env.reset(seed=1)
    return env, bridge.view(env)


@pytest.fixture(autouse=True)
def _forgotten():
    yield
    adapter_of.cache_clear()


def hits(self, action):
    self.at += action & 1
    return self.at, float(action & 1), self.at == 50, False, {}


def test_copies_are_of_that_class(monkeypatch):
    env, view = quick(monkeypatch, step=hits)
    state = view.state.copy()
    assert type(state.env).step is hits
    assert type(state.copy().env).step is hits
    assert (type(env), type(state.env).__qualname__) == (Steps, "Steps")
    assert agents.make("mcts", simulations=20, horizon=5).act(env) % 2


def fails(self, action):
    raise RuntimeError("never mind")


@pytest.mark.parametrize(
    ("step", "why"),
    [(lambda self, action: (self.at, 0.0, False, False, {}), "after 2 steps"), (fails, "RuntimeError: never mind")],
)
def test_a_class_that_comes_to_something_else_is_told_of_and_left(monkeypatch, step, why):
    env, view = quick(monkeypatch, step=step)
    with pytest.warns(UserWarning, match=rf"not of the class Quick.hastened\(Steps\), which shows.*: {why}"):
        state = view.state.copy()
    assert type(state.env) is Steps
    assert agents.make("mcts", simulations=20, horizon=5).act(env) % 2


@pytest.mark.parametrize(("noise", "mode"), [(0.0, "book"), (0.5, "nips")])
def test_acrobots_swing_as_gymnasiums_bit_by_bit(noise, mode):
    kind = adapter_of(AcrobotEnv).hastened(AcrobotEnv)
    one, other = AcrobotEnv(), kind()
    rng = np.random.default_rng(7)
    for env in (one, other):
        env.reset(seed=3)
        env.torque_noise_max, env.book_or_nips = noise, mode
    for action in rng.integers(3, size=1000):
        said, quicker = one.step(action), other.step(action)
        assert said[0].tobytes() == quicker[0].tobytes()
        assert said[1:] == quicker[1:]
        assert one.state.tobytes() == other.state.tobytes()


def test_acrobot_is_searched_from_a_state_that_is_a_list():
    env = gym.make("Acrobot-v1")
    env.reset(seed=0)
    env.unwrapped.state = [0.1, 0, 0.0, 0.0]
    assert agents.make("mcts", simulations=20, horizon=10).act(env) in range(3)


@pytest.mark.parametrize("settings", [{}, {"natural": True}, {"sab": True}])
def test_hands_are_dealt_as_gymnasiums(settings):
    kind = adapter_of(BlackjackEnv).hastened(BlackjackEnv)
    one, other = BlackjackEnv(**settings), kind(**settings)
    rng = np.random.default_rng(7)
    for seed in range(300):
        assert one.reset(seed=seed) == other.reset(seed=seed)
        over = False
        while not over:
            action = int(rng.integers(2))
            said = one.step(action)
            assert said == other.step(action)
            assert (one.player, one.dealer) == (other.player, other.dealer)
            over = said[2]


@pytest.mark.parametrize("settings", [{}, {"gravity": -3.0}, {"enable_wind": True}, {"continuous": True}])
def test_landers_fly_as_gymnasiums_bit_by_bit(settings):
    pytest.importorskip("Box2D")
    from gymnasium.envs.box2d.lunar_lander import LunarLander

    fly_alike(LunarLander, **settings)


def test_landers_with_more_actions_and_other_engines_fly_as_their_originals(monkeypatch):
    pytest.importorskip("Box2D")
    from gymnasium.envs.box2d import lunar_lander

    class MoreActions(lunar_lander.LunarLander):
        def __init__(self):
            super().__init__()
            self.action_space = gym.spaces.Discrete(6, start=-1)

    fly_alike(MoreActions)
    for name in ("MAIN_ENGINE_POWER", "SIDE_ENGINE_POWER"):  # after the adapter was imported
        monkeypatch.setattr(lunar_lander, name, 3.0)
    fly_alike(lunar_lander.LunarLander)


def fly_alike(cls, **settings):
    """Fly an environment beside one of the class of its copies."""
    kind = adapter_of(cls).hastened(cls)
    one, other = cls(**settings), kind(**settings)
    for seed in range(12):
        one.action_space.seed(seed)
        for env in (one, other):
            env.reset(seed=seed)
        mostly, over = one.action_space.sample(), False
        while not over:
            action = mostly if one.np_random.bit_generator.state["state"]["state"] % 3 else one.action_space.sample()
            said, quicker = one.step(action), other.step(action)
            assert said[0].tobytes() == quicker[0].tobytes()
            assert said[1:] == quicker[1:]
            assert one.np_random.bit_generator.state == other.np_random.bit_generator.state
            over = said[2]


@pytest.mark.parametrize("wrapped", [True, False])
def test_landers_of_that_class_are_flown_on_from_move_to_move(wrapped):
    pytest.importorskip("Box2D")
    from gymnasium.envs.box2d.lunar_lander import LunarLander

    env = agents.remember(gym.make("LunarLander-v3") if wrapped else LunarLander())
    env.reset(seed=1)
    for action in (2, 0, 2, 3):
        env.step(action)
        copy = bridge.view(env).state.copy().env
        assert (type(copy) is LunarLander, isinstance(copy, LunarLander)) == (False, True)
        assert copy.lander.angle == env.unwrapped.lander.angle
    assert agents.make("policy_search", simulations=3, horizon=20, seed=1).act(env) in range(4)


def test_ten_thousand_actions_are_not_counted_out_anew_for_every_step():
    env = gym.make("CartPole-v1").unwrapped
    env.action_space = gym.spaces.Discrete(10_000)
    env.reset(seed=1)
    view, first, second = bridge.view(env), [0] * 10_000, [0] * 10_000
    assert view.game.legal(view.state, 0, first) == view.game.legal(view.state, 0, second) == 10_000
    assert first == [*range(10_000)]
    assert first[-1] is second[-1]  # nothing but the list is made
