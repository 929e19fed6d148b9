"""What a policy with masks learns from players without."""

from typing import ClassVar

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.torch_layers import FlattenExtractor

from agents.learning.distilling import agreement
from agents.learning.imitation import _learn, _watch, imitate
from agents.learning.positions import stacked
from mcts_envs import make_sb3_vec_env
from mcts_envs.core.api.mixed_turns import shown


class Modes(FlattenExtractor):
    """Notes whether it is asked as it learns, and whether something is learned from it."""

    noted: ClassVar[set] = set()

    def forward(self, observations):
        self.noted.add((self.training, torch.is_grad_enabled()))
        return super().forward(observations)


class Rogue:
    """Takes the first illegal action where there is one."""

    def act_all(self, game, states, players, seeds):
        return shown(game, states, players)[1].argmin(1)


def test_what_a_teacher_does_against_the_rules_teaches_values_alone():
    env = make_sb3_vec_env("LaneDefense3x3-v0", 4, seed=0)
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=64, seed=0, device="cpu")
    _, seen = _watch(model, env, Rogue(), env.reset(), 0.1, np.random.default_rng(0))
    illegal = ~seen["masks"][np.arange(len(seen["actions"])), seen["actions"]]
    seen = {name: values[illegal] for name, values in seen.items()}
    before = {name: weights.clone() for name, weights in model.policy.state_dict().items()}
    _learn(model.policy, torch.optim.Adam(model.policy.parameters(), 0.01), seen, masked=True)
    changed = {name for name, weights in model.policy.state_dict().items() if not torch.equal(weights, before[name])}
    assert changed
    assert all("value" in name for name in changed)


def test_a_policy_never_agrees_with_what_is_illegal():
    env = make_sb3_vec_env("LaneDefense3x3-v0", 4, seed=0)
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=64, seed=0, device="cpu")
    with torch.no_grad():
        model.policy.action_net.bias[0] = 100.0  # its most likely action is the first
    legal, nothing = np.arange(3), np.zeros(3, np.float32)
    rows = [(observation, legal, nothing, np.nan) for observation in env.reset()]
    assert agreement(model, stacked(rows, [0.0] * 4, (38,))) == 0.0


def test_what_is_learned_from_is_said_as_the_policy_plays():
    env = make_sb3_vec_env("LaneDefense3x3-v0", 4, seed=0)
    kwargs = {"features_extractor_class": Modes, "net_arch": [8]}
    model = MaskablePPO("MlpPolicy", env, n_steps=16, batch_size=64, seed=0, device="cpu", policy_kwargs=kwargs)
    imitate(model, "random", 1024)
    assert Modes.noted == {(False, False), (True, True)}
    assert not model.policy.training
