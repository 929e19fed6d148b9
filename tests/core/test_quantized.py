"""Observations in bytes: the same games on all faces, a quarter of the memory, and policies trained on them."""

import copy
import pickle
import warnings

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize, VecTransposeImage

import agents
import mcts_envs
from agents.learning.evaluation import evaluate
from agents.learning.networks import PlanesExtractor
from agents.learning.saved import storage
from agents.learning.training import train
from mcts_envs.core.api.quantized import quantize, quantized

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # the module imports an environment of PettingZoo in a way that it deprecates
    from pettingzoo.test import api_test, parallel_api_test

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.saved.notices.PolicyWarning")

LANE, FOOTBALL = "LaneDefense3x3-v0", "Football1-v0"
BYTES = {"observation_dtype": "uint8"}
SMALL = {"n_steps": 32, "batch_size": 64, "n_epochs": 1, "policy_kwargs": {"net_arch": [8]}}
GAMES = [(id, observation) for id in (LANE, FOOTBALL, "WallSurvival-v0") for observation in ("flat", "planes")]


def make(id=LANE, **settings):
    return gym.make(f"mcts_envs/{id}", disable_env_checker=True, **settings)


def trained(folder, changes=None, **settings):
    options = {"timesteps": 512, "n_envs": 8, "tensorboard": False, "progress": False}
    return train(LANE, "ppo", out=folder, changes={**SMALL, **(changes or {})}, settings=settings, **options).path


def close(seen, shown):
    """Say whether bytes are the nearest to an observation, independently of the kernel that makes them."""
    return seen.dtype == np.uint8 and np.abs(seen / 255.0 - shown).max() <= 0.5 / 255 + 1e-6


def test_numbers_go_to_the_nearest_byte_and_all_bytes_are_reached():
    assert np.array_equal(quantized(np.linspace(0, 1, 256, dtype=np.float32)), np.arange(256))
    numbers = np.random.default_rng(0).random((7, 1000), np.float32)
    assert close(quantized(numbers), numbers)
    out = np.empty(7000, np.uint8)
    quantize.py_func(numbers.reshape(-1), out)
    assert np.array_equal(out, quantized(numbers).reshape(-1))


@pytest.mark.parametrize(("id", "observation"), GAMES)
def test_single_games_are_the_same(id, observation):
    plain, env = make(id, observation=observation), make(id, observation=observation, **BYTES)
    space = env.observation_space
    assert (space.dtype, space.low.min(), space.high.max()) == (np.uint8, 0, 255)
    assert space.shape == plain.observation_space.shape
    shown, seen = plain.reset(seed=3)[0], env.reset(seed=3)[0]
    rng = np.random.default_rng(0)
    for _ in range(100):
        assert close(seen, shown)
        assert seen in space
        assert np.array_equal(env.unwrapped.view().observe(), shown)
        action = int(rng.choice(plain.unwrapped.legal_actions()))
        (shown, *rest, infos), (seen, *others, other_infos) = plain.step(action), env.step(action)
        assert rest == others
        assert infos.keys() == other_infos.keys()
        if rest[1] or rest[2]:
            shown, seen = plain.reset()[0], env.reset()[0]
    env.unwrapped.restore_state(plain.unwrapped.clone_state())
    for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert copied.observation_space == space
        assert copied.unwrapped.settings["observation_dtype"] == "uint8"
    check_env(env.unwrapped, skip_render_check=True)


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize(("id", "observation"), GAMES)
def test_batches_are_the_same(id, observation, mode):
    plain, batch = (
        mcts_envs.make_vec(id, 5, autoreset_mode=mode, observation=observation, max_steps=30, **more)
        for more in ({}, BYTES)
    )
    shown, seen = plain.reset(seed=3)[0], batch.reset(seed=3)[0]
    rng, ends = np.random.default_rng(0), 0
    for _ in range(120):
        assert close(seen, shown)
        assert seen in batch.observation_space
        actions = rng.integers(plain.single_action_space.n, size=5)
        (shown, *rest, infos), (seen, *others, other_infos) = plain.step(actions), batch.step(actions)
        assert all(np.array_equal(one, other) for one, other in zip(rest, others, strict=True))
        assert np.array_equal(infos["action_mask"], other_infos["action_mask"])
        ended = rest[1] | rest[2]
        ends += ended.sum()
        if mode == AutoresetMode.DISABLED and ended.any():
            shown, seen = (each.reset(options={"reset_mask": ended})[0] for each in (plain, batch))
        for i in np.flatnonzero(infos.get("_final_obs", ())):
            assert close(other_infos["final_obs"][i], infos["final_obs"][i])
    assert ends
    assert seen.nbytes * 4 == shown.nbytes
    batch.restore_state(1, plain.clone_state(2))
    pickled = pickle.loads(pickle.dumps(batch))
    assert pickled.step(actions * 0)[0].dtype == np.uint8


@pytest.mark.parametrize("action_mask", ["observation", "info"])
def test_players_of_pettingzoo_see_bytes(action_mask):
    settings = {"action_mask": action_mask, "max_steps": 40}
    aec, plain = mcts_envs.make_aec(FOOTBALL, **settings, **BYTES), mcts_envs.make_aec(FOOTBALL, **settings)
    aec.reset(seed=1), plain.reset(seed=1)
    seen, shown = (each.observe("player_1") for each in (aec, plain))
    assert seen in aec.observation_space("player_1")
    assert close(seen, shown) if action_mask == "info" else close(seen["observation"], shown["observation"])
    if action_mask == "info":  # dictionaries are warned of, whatever they hold
        api_test(aec, 50)
    parallel_api_test(mcts_envs.make_parallel("BomberDuel-v0", observation="planes", **settings, **BYTES), 50)


@pytest.mark.parametrize("face", [gym.make, mcts_envs.make_vec, mcts_envs.make_sb3_vec_env, mcts_envs.make_aec])
def test_refusals(face):
    with pytest.raises(ValueError, match=r"for observations in \[0, 1\], and these of .* lie in \[0, 800\]"):
        face("mcts_envs/Bomber-v0", observation="original", **BYTES)
    with pytest.raises(ValueError, match="'uint8'"):
        face(f"mcts_envs/{FOOTBALL}", observation_dtype="uint9")


def test_a_type_of_numpy_is_its_name():
    env = gym.make("mcts_envs/LaneDefense3x3-v0", observation_dtype=np.dtype("uint8"))
    assert env.observation_space.dtype == env.reset(seed=0)[0].dtype == np.uint8


def test_networks_see_the_numbers_that_they_see_in_float32():
    options = {"seed": 3, "n_steps": 32, "batch_size": 64, "n_epochs": 2, "device": "cpu"}
    options["policy_kwargs"] = {"features_extractor_class": PlanesExtractor}
    models = [
        PPO("CnnPolicy", mcts_envs.make_sb3_vec_env(LANE, 4, 0, observation="planes", **BYTES), **options),
        PPO("MlpPolicy", mcts_envs.make_sb3_vec_env(LANE, 4, 0, observation="planes"), **options),
    ]
    assert models[0].observation_space.shape == models[1].observation_space.shape == (6, 3, 3)
    shown, _ = make(observation="planes").reset(seed=1)
    found = [
        model.policy.extract_features(model.policy.obs_to_tensor(seen)[0], model.policy.features_extractor)
        for model, seen in zip(models, (quantized(shown), shown), strict=True)
    ]
    assert torch.allclose(*found, atol=1e-3)
    models[0].learn(256)
    assert models[0].rollout_buffer.observations.dtype == np.uint8


def test_batches_equal_single_environments_under_stable_baselines():
    settings = {"observation": "planes", **BYTES}
    batch = mcts_envs.make_sb3_vec_env(LANE, 3, seed=7, **settings)
    single = VecTransposeImage(DummyVecEnv([lambda: make(LANE, **settings) for _ in range(3)]), skip=True)
    single.seed(7)
    assert np.array_equal(batch.reset(), single.reset())
    rng, ends = np.random.default_rng(0), 0
    for _ in range(100):
        actions = rng.integers(batch.action_space.n, size=3)
        mine, theirs = batch.step(actions), single.step(actions)
        assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(mine[:3], theirs[:3], strict=True))
        for a, b in zip(mine[3], theirs[3], strict=True):
            if "terminal_observation" in b:
                ends += 1
                assert a["terminal_observation"].dtype == np.uint8
                assert np.array_equal(a["terminal_observation"], b["terminal_observation"])
    assert ends


@pytest.mark.parametrize(
    ("observation", "changes"),
    [("flat", None), ("planes", None), ("planes", {"normalize": {"norm_obs": True, "norm_reward": False}})],
)
def test_policies_are_shown_what_they_were_trained_on(tmp_path, observation, changes):
    path = trained(tmp_path, changes, observation=observation, **BYTES)
    policy = storage.load(path)
    assert policy.in_bytes
    env = make()
    env.reset(seed=2)
    seen, _ = make(observation=observation, **BYTES).reset(seed=2)
    agent = agents.make(f"sb3:{path}")
    assert np.array_equal(agent._observation(policy, agent.prepared(env.unwrapped.game)[0], env.unwrapped.view()), seen)
    assert agent.act(env) == policy.actions(seen[None])[0]
    if changes:
        normal = VecNormalize(mcts_envs.make_sb3_vec_env(LANE, 1, observation=observation, **BYTES), training=False)
        moments = policy.about["normalization"]["observations"]
        normal.obs_rms.mean, normal.obs_rms.var = np.array(moments["mean"]), np.array(moments["var"])
        assert np.allclose(policy.normalized(seen[None]), normal.normalize_obs(seen[None]), atol=1e-5)
    assert evaluate(path, 10).games == 10
    with pytest.raises(ValueError, match="trained on another observation"):
        evaluate(path, 10, settings={"observation": observation})


def test_agents_are_bound_to_what_is_shown_in_bytes():
    env = make(**BYTES)
    seen, _ = env.reset(seed=1)
    agent = agents.make("random").bind(env)
    assert agent.predict(seen)[0] in range(10)
    with pytest.raises(ValueError, match="bind the environment that is played"):
        agent.predict(255 - seen)
