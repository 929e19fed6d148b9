"""Trainings that diverge: said at once and in words, and what was saved before is left."""

import re

import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import numpy as np
import torch
from stable_baselines3 import DQN, PPO

import mcts_envs
from agents.learning.expert import expert_iteration
from agents.learning.expert_plan import Plan
from agents.learning.export import network_of
from agents.learning.imitation import imitate
from agents.learning.saved import storage
from agents.learning.saved.network import NotLayersError
from tests.learning.quick import quick

LANES = "LaneDefense3x3-v0"
DEEP = {"net_arch": [32] * 8, "activation_fn": "torch.nn:ReLU"}
SAID = "training has diverged: .* is not finite, and is not saved; "


@pytest.mark.parametrize("algorithm", ["ppo", "maskable_ppo"])
def test_a_training_that_diverges_says_so(tmp_path, algorithm):
    changes = {"learning_rate": 1e6, "policy_kwargs": DEEP}
    with pytest.raises(RuntimeError, match=f"^{SAID}begin anew with a lower learning_rate than 1000000.0$"):
        quick(tmp_path, algorithm, changes=changes)
    assert not [*tmp_path.rglob("*.zip")]


def spoiled(monkeypatch, cls, at):
    """Let weights become no numbers by a policy's update after so many steps; return at how many updates came."""
    train, steps = cls.train, []

    def spoiling(self, *args, **kwargs):
        steps.append(self.num_timesteps)
        train(self, *args, **kwargs)
        if self.num_timesteps >= at:
            with torch.no_grad():
                next(self.policy.parameters())[0] = torch.nan

    monkeypatch.setattr(cls, "train", spoiling)
    return steps


@pytest.mark.parametrize(("algorithm", "cls"), [("ppo", PPO), ("dqn", DQN)])
def test_it_ends_before_the_next_rollout_and_goes_on_from_its_last_checkpoint(tmp_path, monkeypatch, algorithm, cls):
    changes = {} if algorithm == "ppo" else {"learning_starts": 8, "train_freq": 8}
    with monkeypatch.context() as patch:
        steps = spoiled(patch, cls, 600)
        with pytest.raises(RuntimeError, match=f"^{SAID}resume with --resume (.*), or an earlier") as raised:
            quick(tmp_path, algorithm, changes=changes, checkpoint_every=256)
    assert steps[-2] < 600 <= steps[-1]
    last = re.search(r"--resume (\S+),", str(raised.value))[1]
    assert last.endswith(f"{algorithm}_512.zip")
    assert storage.load(last).model.num_timesteps == 512
    assert not (tmp_path / f"{algorithm}.zip").exists()
    assert quick(tmp_path, algorithm, resume=last, changes={"learning_rate": 1e-5}).timesteps == 1024


@pytest.mark.parametrize("way", ["start", "resume"])
def test_no_training_begins_with_weights_that_are_not_finite(tmp_path, trained, way):
    model = PPO.load(trained["ppo"], device="cpu")
    with torch.no_grad():
        next(model.policy.parameters())[0] = torch.inf
    path = storage.save(model, tmp_path / "ppo", storage.described(trained["ppo"])[1])
    with pytest.raises(ValueError, match="is not finite: training has diverged; take an earlier checkpoint"):
        quick(tmp_path / "out", timesteps=2048, **{way: path})
    assert not (tmp_path / "out").exists()


def test_the_last_update_is_looked_at_too(tmp_path, monkeypatch):
    spoiled(monkeypatch, PPO, 1024)
    with pytest.raises(RuntimeError, match=f"^{SAID}begin anew"):
        quick(tmp_path)
    assert not [*tmp_path.rglob("*.zip")]


@pytest.mark.parametrize("imitated", ["scripted", None])
def test_expert_iteration_says_so(tmp_path, imitated):
    rate = {"learning_rate": 10.0, "epochs": 40, "batch": 64}
    search, teacher = {"agent": "gumbel", "simulations": 4}, imitated and {"agent": imitated}
    plan = Plan(iterations=1, games=8, search=search, imitate=teacher, match_games=0, **rate)
    with pytest.raises(RuntimeError, match=f"^{SAID}begin in another folder with a lower learning_rate than 10$"):
        expert_iteration(LANES, "ppo", out=tmp_path / "out", plan=plan, changes={"policy_kwargs": DEEP}, workers=1)
    assert not [*tmp_path.rglob("*.zip")]


def test_imitation_says_so():
    env = mcts_envs.make_sb3_vec_env(LANES, 8, seed=0)
    relu = {"net_arch": [32] * 8, "activation_fn": torch.nn.ReLU}
    model = PPO("MlpPolicy", env, n_steps=8, batch_size=64, seed=0, device="cpu", policy_kwargs=relu)
    with pytest.raises(RuntimeError, match=f"^{SAID}imitate with a lower learning_rate than 10$"):
        imitate(model, "scripted", 4096, learning_rate=10.0, epochs=100)


def test_layers_whose_sums_overflow_are_not_taken_for_pytorchs(tmp_path):
    env = mcts_envs.make_sb3_vec_env(LANES, 1, seed=0)
    model = PPO("MlpPolicy", env, device="cpu", policy_kwargs={"net_arch": [8] * 4, "activation_fn": torch.nn.ReLU})
    with torch.no_grad():
        for weights in model.policy.parameters():
            weights.fill_(1e30)
    with np.errstate(all="ignore"), pytest.raises(NotLayersError, match="nan from PyTorch's"):
        network_of(model.policy, tmp_path)
