"""The pipelines of ``examples/pipelines`` run; those that need a package which is not there are skipped."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

import mcts_envs

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

ROOT = Path(__file__).parents[2]
PIPELINES = ROOT / "examples" / "pipelines"


def run(folder, *command):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MINARI_DATASETS_PATH": str(folder / "minari")}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *map(str, command)],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def needs(package):
    return pytest.mark.skipif(importlib.util.find_spec(package) is None, reason=f"{package} is not installed")


def test_they_are_short():
    for file in PIPELINES.iterdir():
        if file.is_file():
            assert len(file.read_text().splitlines()) < 60, file


@pytest.mark.slow
def test_a_script_of_stable_baselines(tmp_path):
    assert "in the search it plays" in run(tmp_path, PIPELINES / "sb3_script.py", "--steps", 8192)
    assert (tmp_path / "runs" / "sb3" / "best_model.zip").is_file()


@pytest.mark.slow
def test_a_single_file(tmp_path):
    assert run(tmp_path, PIPELINES / "cleanrl_ppo.py", 8192).startswith("8,192 steps; won ")
    assert run(tmp_path, PIPELINES / "cleanrl_ppo.py", 1000).startswith("4,096 steps; won ")  # one batch at least


@pytest.mark.slow
def test_a_policy_for_all_players_of_pettingzoo(tmp_path):
    run(tmp_path, PIPELINES / "pettingzoo_sb3.py", "Bomber-v0", 512)
    assert (tmp_path / "runs" / "pettingzoo.zip").is_file()


def test_an_environment_of_pettingzoo_without_masks_leaves_all_actions():
    specification = importlib.util.spec_from_file_location("pettingzoo_sb3", PIPELINES / "pettingzoo_sb3.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    batch = module.Shared(mcts_envs.make_parallel("BomberDuel-v0", action_mask="info"))
    batch.env.agents, names = batch.names[:1], batch.names  # the second one is out
    batch._seen({}, {name: {} for name in names})
    assert [mask.tolist() for mask in batch.masks] == [[1] * 6, [1, 0, 0, 0, 0, 0]]


@pytest.mark.slow
@needs("torchrl")
def test_torchrl(tmp_path):
    assert run(tmp_path, PIPELINES / "torchrl_ppo.py", 2048).endswith("games won\n")


@pytest.mark.slow
@needs("ray")
@needs("tree")  # of dm-tree, which RLlib needs and Ray does not
def test_rllib(tmp_path):
    assert "steps; mean return -" in run(tmp_path, PIPELINES / "rllib_ppo.py", 1)


@pytest.mark.slow
@needs("rl_zoo3")
def test_the_zoo(tmp_path):
    options = ["--gym-packages", "mcts_envs", "--conf-file", PIPELINES / "rl_zoo.yml", "--log-folder", tmp_path / "zoo"]
    env_id = "mcts_envs/LaneDefense3x3-v0"
    run(tmp_path, "-m", "rl_zoo3.train", "--algo", "ppo", "--env", env_id, *options, "-n", 2048, "--eval-freq", -1)
    (policy,) = (tmp_path / "zoo").rglob("mcts_envs-LaneDefense3x3-v0.zip")
    found = run(
        *(tmp_path, ROOT / "scripts" / "compare.py", "LaneDefense3x3-v0", "--episodes", 4, "--workers", 1),
        *("--agents", f"random,zoo=sb3:{policy}:normalization=auto"),
    )
    assert "zoo" in found


@pytest.mark.slow
@needs("minari")
def test_a_data_set_of_minari(tmp_path):
    recorded = ["--agents", "scripted", "--episodes", 3, "--record", "--workers", 1, "--out", tmp_path / "recorded"]
    run(tmp_path, ROOT / "scripts" / "compare.py", "LaneDefense3x3-v0", *recorded)
    said = run(tmp_path, PIPELINES / "minari_dataset.py", "LaneDefense3x3-v0", tmp_path / "recorded", "lane/script-v0")
    assert said.startswith("3 games, ")
    both = ["--agents", "scripted,random", "--episodes", 2, "--record", "--workers", 1, "--out", tmp_path / "both"]
    run(tmp_path, ROOT / "scripts" / "compare.py", "LaneDefense3x3-v0", *both)
    with pytest.raises(AssertionError, match="has games of scripted and of random"):
        run(tmp_path, PIPELINES / "minari_dataset.py", "LaneDefense3x3-v0", tmp_path / "both", "lane/two-v0")
