"""Policies that were trained under VecNormalize, and their statistics, at hand or not."""

import shutil
import warnings

import gymnasium as gym
import numpy as np
import pytest
import torch
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecNormalize

import agents
import mcts_envs
from agents.learning.loading import load_policy
from agents.learning.saved import normalizing, notices
from agents.learning.saved.moved import worn
from agents.learning.saved.notices import PolicyWarning

ID = "LaneDefense3x3-v0"


def trained(path, **normal):
    env = VecNormalize(mcts_envs.make_sb3_vec_env(ID, 2, seed=0), **normal)
    PPO("MlpPolicy", env, n_steps=4, batch_size=8, n_epochs=1, device="cpu").learn(8).save(path)
    return env


def played(path, **settings):
    env = gym.make(f"mcts_envs/{ID}")
    env.reset(seed=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*holds pickles")
        return agents.make(f"sb3:{path}", **settings).act(env)


@pytest.mark.parametrize("norm_obs", [True, False])  # without, its values are of normalised rewards
def test_lost_statistics_are_warned_of(tmp_path, norm_obs):
    env = trained(tmp_path / "lost.zip", norm_obs=norm_obs)
    with pytest.warns(PolicyWarning, match=r"lost\.zip: it was trained under VecNormalize, .*env\.save\("):
        played(tmp_path / "lost.zip")
    shutil.copy(tmp_path / "lost.zip", tmp_path / "meant.zip")
    played(tmp_path / "meant.zip", normalization=False)
    env.save(tmp_path / "given.pkl")
    shutil.copy(tmp_path / "lost.zip", tmp_path / "found.zip")
    played(tmp_path / "found.zip", normalization=tmp_path / "given.pkl")


def test_a_model_in_memory_that_lost_its_statistics_is_warned_of(tmp_path, monkeypatch):
    monkeypatch.setattr(notices, "_said", set())
    env = trained(tmp_path / "lost.zip")
    with pytest.warns(PolicyWarning, match=r"PPO: it was trained under VecNormalize, .*PPO\.load\(PATH, env="):
        agents.make("puct", policy=PPO.load(tmp_path / "lost.zip", device="cpu"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PolicyWarning)
        agents.make("puct", policy=PPO.load(tmp_path / "lost.zip", env=env, device="cpu"))


@pytest.mark.parametrize(
    ("make", "normal"),
    [
        (lambda: mcts_envs.make_sb3_vec_env(ID, 2, seed=0), False),
        (lambda: VecNormalize(mcts_envs.make_sb3_vec_env(ID, 2, seed=0)), True),
        (lambda: VecFrameStack(DummyVecEnv([lambda: gym.make("CartPole-v1")]), 3), False),
    ],
)
def test_a_replay_buffer_does_not_say_that_observations_were_normalised(tmp_path, make, normal):
    model = DQN("MlpPolicy", make(), learning_starts=90, buffer_size=99, device="cpu", seed=0).learn(15)
    model.save(tmp_path / "q.zip")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        agents.make(f"sb3:{tmp_path / 'q.zip'}")
    assert any("was trained under VecNormalize" in str(each.message) for each in said) == normal


def test_statistics_of_rl_zoo_belong_to_all_that_lies_in_its_folder(tmp_path):
    folder = tmp_path / "CartPole-v1"
    folder.mkdir()
    (folder / "vecnormalize.pkl").touch()
    policies = [tmp_path / "best_model.zip", tmp_path / "rl_model_600_steps.zip"]
    assert [normalizing.beside(policy) for policy in policies] == [None, None]
    (folder / "args.yml").touch()
    assert [normalizing.beside(policy) for policy in policies] == 2 * [folder / "vecnormalize.pkl"]


@pytest.mark.parametrize("mode", ["sync", "vector_entry_point"])
def test_wrappers_of_a_batch_that_change_numbers_are_known(mode):
    batch, bounds = gym.make_vec(f"mcts_envs/{ID}", 2, vectorization_mode=mode), (np.float32(-1), np.float32(1))
    assert worn(gym.wrappers.vector.FlattenObservation(batch)) == []
    assert worn(gym.wrappers.vector.RescaleObservation(batch, *bounds)) == ["RescaleObservation"]


def test_a_model_that_learned_behind_a_wrapper_of_actions_is_warned_of(quietly_anew):
    env = gym.make(f"mcts_envs/{ID}")
    turned = gym.wrappers.TransformAction(env, lambda action: 9 - action, env.action_space)
    model = PPO("MlpPolicy", turned, device="cpu", policy_kwargs={"net_arch": [8]})
    with pytest.warns(PolicyWarning, match=r"behind TransformAction, .* which of the game's own actions to take"):
        agents.make("puct", policy=model, simulations=4)


@pytest.mark.filterwarnings("ignore:.*holds pickles")
@pytest.mark.parametrize("how", [{"epsilon": 4.0}, {"clip_obs": np.inf}])
def test_what_vecnormalize_was_made_with_goes_with_its_statistics(tmp_path, how):
    env = trained(tmp_path / "own.zip", **how)
    env.save(tmp_path / "own.pkl")
    saved = load_policy(tmp_path / "own.zip", normalization=tmp_path / "own.pkl")
    exported = load_policy(agents.export(tmp_path / "own.zip", normalization=tmp_path / "own.pkl"))
    raw = 10 * np.random.default_rng(0).random((5, 38), np.float32)
    with torch.no_grad():
        seen = torch.as_tensor(env.normalize_obs(raw), dtype=torch.float32)
        wanted = env.unnormalize_reward(saved.model.policy.predict_values(seen)[:, 0].numpy())
    for policy in (saved, exported):
        np.testing.assert_allclose(policy.values(raw), wanted, rtol=1e-4)


def test_a_model_that_learned_behind_a_wrapper_of_rewards_is_warned_of(quietly_anew):
    small = gym.wrappers.TransformReward(gym.make(f"mcts_envs/{ID}"), lambda reward: reward / 100)
    model = PPO("MlpPolicy", small, device="cpu", policy_kwargs={"net_arch": [8]})
    with pytest.warns(PolicyWarning, match=r"behind TransformReward: its values are of those rewards, "):
        agents.make("puct", policy=model, simulations=4)


def test_numbers_that_hardly_change_are_compiled(recwarn):
    env = VecNormalize(mcts_envs.make_sb3_vec_env("WallSurvival-v0", 8, seed=0, board_size=5))
    model, dice = PPO("MlpPolicy", env, seed=0, device="cpu"), np.random.default_rng(0)
    env.reset()
    for _ in range(1000):
        env.step(dice.integers(100, size=8))
    single = gym.make("mcts_envs/WallSurvival-v0", board_size=5)
    single.reset(seed=0)
    result = agents.make("puct", policy=model, simulations=50).search(single)
    assert result.evaluator == "compiled"
    assert not [*recwarn]


def test_statistics_of_whole_numbers_are_compiled(recwarn):
    env = VecNormalize(mcts_envs.make_sb3_vec_env(ID, 2, seed=0))
    env.obs_rms.mean, env.obs_rms.var = np.full(38, 3), np.full(38, 4)
    single = gym.make(f"mcts_envs/{ID}")
    single.reset(seed=0)
    model = PPO("MlpPolicy", env, seed=0, device="cpu")
    assert agents.make("puct", policy=model, simulations=50).search(single).evaluator == "compiled"
    assert not [*recwarn]
