"""Policies that older releases of Stable-Baselines3 and of environments left behind."""

import sys
import threading
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

import agents
from agents.learning.loading import load_policy
from agents.learning.saved import normalizing
from agents.learning.saved.gym_spaces import unpickled_as_gymnasium

UNBOUNDED = np.finfo(np.float32).max


class Older(gym.Wrapper):
    """The observations of CartPole as Gymnasium before 1.0 described them."""

    def __init__(self):
        super().__init__(gym.make("CartPole-v1"))
        high = np.array([4.8, UNBOUNDED, 0.42, UNBOUNDED], np.float32)
        self.observation_space = spaces.Box(-high, high)


@pytest.fixture
def of_gym(tmp_path, monkeypatch):
    """A zip, and a pickle of VecNormalize, whose spaces are those of Gym, as before Stable-Baselines3 2.0."""
    env = VecNormalize(DummyVecEnv([Older]))
    env.reset()
    model = PPO("MlpPolicy", env, n_steps=8, batch_size=8, seed=1, device="cpu")
    for kind in (spaces.Box, spaces.Discrete):
        monkeypatch.setattr(kind, "__module__", kind.__module__.replace("gymnasium", "gym"))
    with unpickled_as_gymnasium(b"gym.spaces"):
        model.save(tmp_path / "old.zip")
        env.save(tmp_path / "old.pkl")
    monkeypatch.undo()
    return model, tmp_path / "old.zip", tmp_path / "old.pkl"


def read(reader, path, **settings):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*holds pickles")
        return reader(path, **settings)


def test_zips_of_before_gymnasium_are_read_without_gym(of_gym):
    model, path, statistics = of_gym
    policy = read(load_policy, path, normalization=False)
    seen = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    assert [*policy.actions(seen)] == [*model.predict(seen, deterministic=True)[0]]
    assert read(normalizing.read, statistics)["observations"]["mean"] == model.env.obs_rms.mean.tolist()
    assert not [name for name in sys.modules if name.split(".")[0] == "gym"]


def test_threads_read_them_one_after_the_other():
    begun, ended = threading.Event(), []

    def second():
        begun.set()
        with unpickled_as_gymnasium(b"gym.spaces"):
            ended.append("second")

    thread = threading.Thread(target=second)
    with unpickled_as_gymnasium(b"gym.spaces"):
        thread.start()
        begun.wait()
        thread.join(0.05)
        ended.append("first")
    thread.join()
    assert ended == ["first", "second"]
    assert not [name for name in sys.modules if name.split(".")[0] == "gym"]


def test_a_gym_that_is_there_stays_there(of_gym, monkeypatch):
    there = object()
    monkeypatch.setitem(sys.modules, "gym.spaces", there)
    read(load_policy, of_gym[1], normalization=False)
    assert sys.modules["gym.spaces"] is there


def test_the_greatest_number_is_no_bound(of_gym, recwarn):
    env = agents.remember(gym.make("CartPole-v1"))
    env.reset(seed=0)
    assert agents.make(f"sb3:{of_gym[1]}", normalization=False).act(env) in (0, 1)
    assert not [str(told.message) for told in recwarn if "trained on observations" in str(told.message)]
