"""Models that learn on a GPU, as Stable-Baselines3 lets them where there is one, in whatever takes a model."""

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import torch

import mcts_envs
from agents import make
from agents.bridge import Remember
from agents.learning.algorithms import algorithm_class
from agents.learning.imitation import imitate
from agents.learning.networks import PlanesExtractor
from agents.learning.saved import storage
from agents.learning.selfplay import SelfPlay
from tests.learning.quick import quick

LANE = "LaneDefense3x3-v0"
SMALL = {"n_steps": 16, "batch_size": 64, "n_epochs": 1, "seed": 0}
PLANES = {"features_extractor_class": PlanesExtractor, "normalize_images": False}

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
pytestmark = pytest.mark.filterwarnings(
    "ignore:You are trying to run", "ignore::agents.learning.saved.notices.PolicyWarning"
)


def model_on(device, policy="MlpPolicy", observation="flat", **more):
    env = mcts_envs.make_sb3_vec_env(LANE, 8, seed=0, observation=observation)
    return algorithm_class("maskable_ppo")(policy, env, device=device, **SMALL, **more)


def moves(model, agent="puct", observation="flat", **settings):
    env = gym.make(f"mcts_envs/{LANE}", observation=observation)
    env.reset(seed=3)
    return make(agent, policy=model, simulations=32, seed=0, **settings).act(env)


def test_a_device_that_cannot_be_had_is_refused_before_anything_is_written(tmp_path):
    for name in ("gpu", "cuda:99", "meta"):
        with pytest.raises(ValueError, match=rf"device '{name}' cannot be had here \(.*\); give cpu or auto"):
            quick(tmp_path / "out", device=name)
    assert not (tmp_path / "out").exists()
    assert quick(tmp_path / "out", device="auto").timesteps == 1024


@needs_cuda
@pytest.mark.parametrize("agent", ["puct", "gumbel", "mcts"])
def test_dense_layers_search_as_on_the_cpu(agent):
    settings = {"evaluate": "policy"} if agent == "mcts" else {}
    model = model_on("cuda").learn(256)
    assert model.device.type == "cuda"
    before = moves(model, agent, **settings)
    model.policy.to("cpu")
    assert moves(model, agent, **settings) == before


@needs_cuda
def test_convolutions_search_where_they_are():
    model = model_on("cuda", "CnnPolicy", "planes", policy_kwargs=PLANES).learn(256)
    assert 0 <= moves(model, observation="planes") < 10


@needs_cuda
@pytest.mark.parametrize("activation", [torch.nn.ReLU, torch.nn.GELU])  # as arrays, and where they are
def test_action_values_search(activation):
    env, small = gym.make(f"mcts_envs/{LANE}"), {"learning_starts": 64, "buffer_size": 1000, "seed": 0}
    model = algorithm_class("dqn")(
        "MlpPolicy", env, device="cuda", policy_kwargs={"activation_fn": activation}, **small
    )
    assert 0 <= moves(model.learn(300), "mcts", evaluate="policy") < 10


@needs_cuda
def test_a_model_for_an_environment_of_others_searches():
    env = Remember(gym.make("CartPole-v1"))
    model = algorithm_class("ppo")("MlpPolicy", env, device="cuda", n_steps=64, batch_size=64).learn(256)
    env.reset(seed=0)
    assert make("puct", policy=model, simulations=50).act(env) in (0, 1)


@needs_cuda
def test_past_selves_and_teachers_play(tmp_path):
    opponent = {"self": 3, "greedy": 1}
    env = mcts_envs.make_sb3_vec_env("WallSurvival-v0", 16, seed=0, seat="all", opponent=opponent, board_size=5)
    model = algorithm_class("maskable_ppo")("MlpPolicy", env, device="cuda", **SMALL)
    model.learn(2048, callback=SelfPlay(every=512, most=2, choice="prioritized"))
    assert [past.name for past in env.unwrapped.opponents.selves] == ["self@1024", "self@1536"]
    assert imitate(model_on("cuda"), "scripted", 4096) > 0.2


@needs_cuda
def test_what_was_trained_there_goes_on_and_plays_on_the_cpu(tmp_path):
    for more in ({}, {"settings": {"observation": "planes"}}):
        out = tmp_path / ("planes" if more else "flat")
        done = quick(out, device="cuda", **more)
        assert quick(out, device="cuda", resume=done.path, timesteps=2048).timesteps == 2048
        saved = storage.load(done.path)
        assert saved.model.device.type == "cpu"
        assert np.isfinite(saved.values(np.zeros((1, *saved.observation_shape), np.float32))).all()
