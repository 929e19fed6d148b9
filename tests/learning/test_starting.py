"""Trainings that begin with the weights of another policy, and policies that play on any board."""

import json
import sys

import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import torch

import agents
from agents.learning.saved import storage
from agents.learning.saved.notices import PolicyWarning
from agents.learning.saved.shipped import shipped, shipped_for
from tests.learning.quick import SMALL, make, quick

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.saved.notices.PolicyWarning")

STILL = {**SMALL, "learning_rate": 0.0}


def weights(path):
    return storage.load(path).model.policy.state_dict()


def about(path):
    return json.loads(path.with_suffix(".json").read_text())


def bombers(folder, env_id="BomberDuel-v0", **more):
    settings = {"observation": "egocentric", "mask": "safe", **more.pop("settings", {})}
    return quick(folder, "maskable_ppo", env_id, settings=settings, timesteps=256, **more).path


def test_it_begins_with_the_weights_of_another(tmp_path):
    first = quick(tmp_path / "first").path
    second = quick(tmp_path / "second", start=first, timesteps=256, settings={"p_new": 0.5}, changes=STILL).path
    before, after = weights(first), weights(second)
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert about(second)["timesteps"] == 256
    assert about(second)["start"] == {
        "environment": "mcts_envs/LaneDefense3x3-v0", "algorithm": "ppo", "settings": {}, "timesteps": 1024, "seed": 0,
    }  # fmt: skip
    first.unlink()
    third = quick(tmp_path / "second", resume=second, timesteps=512).path
    assert about(third)["start"] == about(second)["start"]
    assert about(third)["timesteps"] == 512


def test_rewards_stay_in_the_units_of_the_values(tmp_path):
    first = quick(tmp_path / "first", changes={"normalize": True}).path
    second = quick(tmp_path / "second", start=first, timesteps=256, changes={**STILL, "normalize": True}).path
    before, after = (about(path)["normalization"] for path in (first, second))
    assert after["rewards"]["count"] == before["rewards"]["count"] + 256
    assert before["observations"]["count"] < after["observations"]["count"]


def test_what_cannot_be_begun_with(tmp_path):
    first = quick(tmp_path / "first").path
    out = tmp_path / "second"
    with pytest.raises(ValueError, match=r"start .* and resume .*: a training begins with one or goes on from"):
        quick(out, start=first, resume=first)
    with pytest.raises(FileNotFoundError, match="there is no policy"):
        quick(out, start=tmp_path / "none.zip")
    with pytest.raises(ValueError, match=r"was made by 'ppo', not by 'maskable_ppo'"):
        quick(out, "maskable_ppo", start=first)
    with pytest.raises(ValueError, match=r'policy_kwargs \{"net_arch": \[8\]\}, and this training has .*\[9\]'):
        quick(out, start=first, changes={"policy_kwargs": {"net_arch": [9]}})
    with pytest.raises(ValueError, match="observation flat, and this training has planes; give the same"):
        quick(out, start=first, settings={"observation": "planes"})
    with pytest.raises(ValueError, match=r"normalize .*'norm_obs': False, .*this training has .*'norm_obs': True"):
        quick(out, start=first, changes={"normalize": True})
    with pytest.raises(ValueError, match=r"normalize .*'norm_reward': True.*'norm_reward': False"):
        quick(out, start=first, changes={"normalize": False})
    with pytest.raises(ValueError, match="activation_fn"):
        quick(out, start=first, changes={"policy_kwargs": {"net_arch": [8], "activation_fn": "torch.nn:ReLU"}})
    with pytest.raises(ValueError, match="10 actions; this is lane_defense with 13"):
        quick(out, start=first, settings={"rows": 4})
    with pytest.raises(ValueError, match="trained for lane_defense"):
        quick(out, env_id="WallSurvival-v0", start=first)
    first.with_suffix(".json").unlink()
    for how in ("start", "resume"):
        with pytest.raises(ValueError, match=r"it lies without the ppo\.json that .*; copy that too, or take"):
            quick(out, **{how: first})
    assert not out.exists()


def test_what_weights_mean_nothing_without_stays_in_a_resumed_training(tmp_path):
    first, out = quick(tmp_path / "first").path, tmp_path / "second"
    for changes, settings, said in (
        ({"policy_kwargs": {"net_arch": [9]}}, {}, r"policy_kwargs .*\[8\].*, and this training has .*\[9\]"),
        ({"normalize": True}, {}, r"normalize .*'norm_obs': False, .*this training has .*'norm_obs': True"),
        ({}, {"observation": "planes"}, "observation flat, and this training has planes; give the same"),
    ):
        with pytest.raises(ValueError, match=said):
            quick(out, resume=first, timesteps=2048, changes=changes, settings=settings)
    assert not out.exists()


def test_the_algorithm_is_that_of_the_start(tmp_path):
    first = quick(tmp_path / "first", "maskable_ppo").path
    assert quick(tmp_path / "second", None, start=first, timesteps=256).path.name == "maskable_ppo.zip"


def test_a_policy_that_sees_itself_in_the_middle_plays_on_any_board(tmp_path):
    path = bombers(tmp_path / "duel")
    agent = agents.make(f"sb3:{path}")
    searching = agents.make("puct", policy=str(path), simulations=8)
    for env_id, settings in (("BomberDuel-v0", {"board_size": 7, "n_rigid": 8, "n_wood": 8, "n_items": 4}),
                             ("Bomber-v0", {}), ("BomberTeam-v0", {"view": 3})):  # fmt: skip
        env = make(env_id, **settings)
        env.reset(seed=0)
        assert agent.act(env) in range(6)
        assert searching.act(env) in range(6)
    there = bombers(tmp_path / "ffa", "Bomber-v0", start=path, changes=STILL)
    before, after = weights(path), weights(there)
    assert all(torch.equal(before[name], after[name]) for name in before)
    radio = make("BomberRadio-v0")
    radio.reset(seed=0)
    with pytest.raises(ValueError, match="6 actions; this is bomber_grid with 384"):
        agents.make(f"sb3:{path}").act(radio)
    flat = bombers(tmp_path / "flat", settings={"observation": "flat"})
    elsewhere = make("BomberDuel-v0", board_size=9)
    elsewhere.reset(seed=0)
    with pytest.raises(ValueError, match="another board"):
        agents.make(f"sb3:{flat}").act(elsewhere)


def test_what_is_shipped_for_a_duel_plays_all_duels():
    path = shipped("BomberDuel-v0", "maskable_ppo")
    for settings in ({}, {"board_size": 10}, {"view": 3, "flame_life": 4}):
        assert shipped_for(make("BomberDuel-v0", **settings).unwrapped.game, "maskable_ppo") == path
    env = make("BomberDuel-v0", board_size=10)
    env.reset(seed=0)
    with pytest.warns(PolicyWarning, match=r"was trained with .*board_size=8 \(here 10\)"):
        assert agents.make("maskable_ppo").act(env) in range(6)
    with pytest.raises(ValueError, match="no ppo policy is shipped for bomber_grid"):
        shipped_for(make("BomberDuel-v0").unwrapped.game, "ppo")


NET = """
from stable_baselines3.common.torch_layers import FlattenExtractor
class Net(FlattenExtractor):
    pass
"""


def test_a_network_of_a_file_beside_one_is_found_from_any_folder(tmp_path, monkeypatch):
    module, other = f"net_{tmp_path.name}", tmp_path / "other"
    (tmp_path / f"{module}.py").write_text(NET)
    other.mkdir()
    monkeypatch.chdir(tmp_path)
    kwargs = {"net_arch": [8], "features_extractor_class": f"{module}.py:Net"}
    path = quick(tmp_path / "one", timesteps=256, changes={"policy_kwargs": kwargs}).path
    monkeypatch.chdir(other)
    sys.modules.pop(module)
    assert type(storage.load(path).model.policy.features_extractor).__name__ == "Net"
    kwargs["features_extractor_class"] = f"../{module}.py:Net"
    quick(tmp_path / "two", timesteps=256, changes={"policy_kwargs": kwargs}, start=path)
    (tmp_path / f"{module}.py").unlink()
    sys.modules.pop(module)
    with pytest.raises(ValueError, match=r"features_extractor_class of the policy: there is no file .*in its \.json"):
        storage.load(path)
