"""Trainings of seconds."""

import gymnasium as gym

from agents.learning.training import train

SMALL = {"n_steps": 32, "batch_size": 64, "n_epochs": 1, "policy_kwargs": {"net_arch": [8]}}


def make(env_id, **settings):
    return gym.make(f"mcts_envs/{env_id}", **settings)


def quick(folder, algorithm="ppo", env_id="LaneDefense3x3-v0", **more):
    changes = {**(SMALL if algorithm != "dqn" else {}), **more.pop("changes", {})}
    options = {"timesteps": 1024, "n_envs": 8, "tensorboard": False, "progress": False, "changes": changes, **more}
    return train(env_id, algorithm, out=folder, **options)
