"""Policies that were trained under VecNormalize, whose statistics are not at hand."""

import shutil
import warnings

import gymnasium as gym
import pytest
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

import agents
import mcts_envs
from agents.learning.notices import PolicyWarning

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
