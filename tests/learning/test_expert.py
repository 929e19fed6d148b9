"""Expert iteration: what a policy learns from the search that it guides, interruptions, executors, mistakes."""

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
import zlib
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO

import agents
import mcts_envs
from agents.learning import positions, storage
from agents.learning.expert import expert_iteration
from agents.learning.expert_plan import Plan
from agents.learning.jobs import Here, local
from agents.learning.playing import Job, described, play
from agents.learning.training import train
from mcts_envs.core.view import View
from tests.learning.policies import positions as states
from tests.toys import tic_tac_toe

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.notices.PolicyWarning")

ROOT = Path(__file__).parents[2]
TOE = "ToeOfExperts-v0"
mcts_envs.register(TOE, tic_tac_toe())
SMALL = {"n_envs": 4, "n_steps": 16, "batch_size": 64, "n_epochs": 1, "policy_kwargs": {"net_arch": [32]}}
GUMBEL = {"agent": "gumbel", "simulations": 16}
QUICK = {
    "iterations": 2,
    "games": 12,
    "search": GUMBEL,
    "imitate": {"agent": "uniform"},
    "openings": 2,
    "batch": 64,
    "match_games": 4,
}

DIVERSE = {"games": 40, "openings": 6, "epochs": 40, "learning_rate": 0.01, "match_games": 0}


def learned(out, env_id=TOE, algorithm="ppo", executor=None, changes=SMALL, **more):
    plan = Plan(**{**QUICK, **{name: more.pop(name) for name in [*more] if name in Plan.__dataclass_fields__}})
    return expert_iteration(env_id, algorithm, out=out, plan=plan, changes=changes, executor=executor or Here(), **more)


def weights(path):
    with zipfile.ZipFile(path) as file:
        return [zlib.crc32(file.read(name)) for name in ("policy.pth", "policy.optimizer.pth")]


def wins_taken(path):
    """Return in how many of some positions with a winning move the policy's best action is one."""
    policy, game, taken = storage.load(path), tic_tac_toe(), []
    rewards = np.zeros(2)
    for state, player, legal in states(game, 400):
        after = [state.copy() for _ in legal]
        wins = []
        for each, action in zip(after, legal, strict=True):
            game.step(each, np.full(2, action), rewards)
            if rewards[player] > 0:
                wins.append(action)
        if wins:
            view = View(game, state, player)
            masks = view.action_masks()[None] if policy.masked else None
            taken.append(policy.actions(view.observe()[None], masks)[0] in wins)
    return np.mean(taken)


def test_a_policy_learns_what_its_search_finds(tmp_path):
    result = learned(tmp_path, **DIVERSE, iterations=2, imitate_games=1)
    assert [noted["iteration"] for noted in result.history] == [0, 1, 2]
    assert wins_taken(result.path) > 0.2 + wins_taken(tmp_path / "checkpoints" / "ppo_0000.zip")
    about = storage.described(result.path)[1]
    assert about["expert_iteration"]["history"] == result.history
    assert about["timesteps"] == sum(noted["positions"] for noted in result.history)
    PPO.load(result.path, env=mcts_envs.make_sb3_vec_env(TOE, 4, seed=0)).learn(64)
    state = tic_tac_toe().new_state()
    tic_tac_toe().restart(state, 0)
    found = agents.make("gumbel", policy=str(result.path), simulations=8).search(View(tic_tac_toe(), state, 0))
    assert found.evaluator == "compiled"
    assert found.improved.sum() == pytest.approx(1)


class Failing(Executor):
    """Plays so many jobs, then fails; the futures of the others are never over."""

    def __init__(self, jobs):
        self.left = jobs

    def submit(self, function, /, *args):
        future = Future()
        self.left -= 1
        if self.left < 0:
            raise RuntimeError("the machine is gone")
        future.set_result(function(*args))
        return future


def test_whatever_ends_it_the_same_call_goes_on_to_the_same_end(tmp_path):
    whole = learned(tmp_path / "whole")
    for jobs in (1, 2, 1, 3):
        with pytest.raises(RuntimeError, match="the machine is gone"):
            learned(tmp_path / "broken", executor=Failing(jobs))
    with ThreadPoolExecutor(3) as threads:
        last = learned(tmp_path / "broken", executor=threads)
    assert weights(last.path) == weights(whole.path)
    same = [[{**noted, "seconds": 0} for noted in each.history] for each in (whole, last)]
    assert same[0] == same[1]
    again = learned(tmp_path / "broken", executor=Failing(0))
    assert weights(again.path) == weights(whole.path)
    further = learned(tmp_path / "broken", iterations=3)
    assert len(further.history) == 4


@pytest.mark.slow
def test_it_may_be_killed_at_any_time(tmp_path):
    command = [
        sys.executable,
        str(ROOT / "scripts" / "expert_iteration.py"),
        str(ROOT / "tests" / "learning" / "toe.py"),
    ]
    command[-1] += ":ToeByFile-v0"
    command += ["--iterations=3", "--games=48", "--imitate=uniform", "--search=gumbel:simulations=8", "--workers=2"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([*command, f"--out={tmp_path / 'whole'}"], check=True, env=environment, cwd=tmp_path)
    for seconds in (6, 9, 12):
        process = subprocess.Popen(
            [*command, f"--out={tmp_path / 'killed'}"], env=environment, cwd=tmp_path, start_new_session=True
        )
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run([*command, f"--out={tmp_path / 'killed'}"], check=True, env=environment, cwd=tmp_path)
    whole, killed = (tmp_path / name / "maskable_ppo.zip" for name in ("whole", "killed"))
    assert weights(whole) == weights(killed)


@pytest.mark.parametrize(
    ("env_id", "settings", "search"),
    [
        ("LaneDefense3x3-v0", {}, GUMBEL),
        ("BomberDuel-v0", {"mask": "safe", "max_steps": 12}, GUMBEL),
        ("Bomber-v0", {"view": 2, "max_steps": 12}, {"agent": "mcts", "select": "puct", "evaluate": "policy"}),
        ("Football1-v0", {"reward_touchdown": 1}, GUMBEL),
    ],
)
def test_games_for_one_two_and_four_are_learned(tmp_path, env_id, settings, search):
    options = {"iterations": 1, "games": 2, "search": {**search, "simulations": 4}, "match_games": 2}
    result = learned(tmp_path, env_id, "maskable_ppo", settings=settings, imitate={"agent": "scripted"}, **options)
    assert 0 <= result.history[-1]["match"] <= 1
    MaskablePPO.load(result.path)
    assert storage.load(result.path).about["settings"] == settings
    assert all(np.isfinite(noted["value_loss"]) for noted in result.history)


def test_behaviour_cloning_of_any_agent(tmp_path):
    result = learned(tmp_path, **DIVERSE, iterations=0, imitate={"agent": "mcts", "simulations": 100})
    assert len(result.history) == 1
    assert wins_taken(result.path) > 0.4


def test_what_is_kept_of_a_game(tmp_path):
    job = Job(TOE, {}, (described({"agent": "uniform"}),), 3, 4, openings=3)
    played = play(job)
    again = play(job)
    found = played.positions
    assert np.array_equal(found.observations, again.positions.observations)
    assert len(found) == found.counts.size == found.returns.size
    assert played.points.sum(1).tolist() == [1.0] * 4
    assert set(np.abs(found.returns)) <= {0.0, 1.0}
    path = tmp_path / "games.npz"
    positions.write(path, played)
    back = positions.read(path)
    assert np.array_equal(back.positions.probabilities, found.probabilities)
    legal, shares = found.dense(np.array([2, 0, 2]), 9)
    assert np.allclose(shares.sum(1), 1)
    assert np.array_equal(legal[0], legal[2])
    assert np.array_equal(np.flatnonzero(legal[1]), found.actions[: found.counts[0]])
    assert np.array_equal(legal[1], found.observations[0, 18:] == 1)
    path.write_bytes(b"torn")
    with pytest.raises(ValueError, match=r"games\.npz is damaged .* delete it, and its games are played again"):
        positions.read(path)


def test_rewards_are_discounted_and_mixed_with_what_the_search_found():
    sums = positions.discounted(np.array([[0.0, 1.0], [2.0, 0.0], [4.0, 8.0]]), 0.5)
    assert sums.tolist() == [[2.0, 3.0], [4.0, 4.0], [4.0, 8.0]]
    rows = [(np.zeros(2), np.array([1]), np.ones(1), found) for found in (0.5, np.nan)]
    assert positions.stacked(rows, [1.0, -1.0], (2,)).values(0.5).tolist() == [0.75, -1.0]


def test_a_training_goes_on_from_it_and_it_goes_on_from_a_training(tmp_path):
    first = learned(tmp_path / "first", iterations=0)
    more = {"n_envs": 4, "tensorboard": False, "progress": False, "changes": SMALL}
    steps = storage.described(first.path)[1]["timesteps"] + 64
    trained = train(TOE, "ppo", out=tmp_path / "ppo", resume=first.path, timesteps=steps, **more)
    result = learned(tmp_path / "then", start=trained.path, iterations=1, changes=None, seed=5)
    assert len(result.history) == 2
    assert storage.described(result.path)[1]["seed"] == 5
    assert result.history[0]["agreed"] > 0


def test_mistakes(tmp_path):
    for wrong, error, message in (
        ({"games": 0}, ValueError, "games 0 is outside"),
        ({"trust": 2}, ValueError, "trust 2.0 is outside"),
        ({"search": "gumbel"}, TypeError, "search 'gumbel' is no agent"),
        ({"search": {"agent": "rhea"}}, TypeError, "policy"),
        ({"imitate": {"agent": "bests"}}, ValueError, "did you mean 'best'"),
        ({"minutes": 0}, ValueError, "minutes 0"),
    ):
        with pytest.raises(error, match=message):
            learned(tmp_path / "wrong", **wrong)
    assert not (tmp_path / "wrong").exists()
    with pytest.raises(ValueError, match="take observation='flat'"):
        learned(tmp_path / "planes", "BomberDuel-v0", settings={"observation": "planes"}, changes=SMALL)
    learned(tmp_path / "one", iterations=0, games=2)
    with pytest.raises(ValueError, match="holds an expert iteration with games 2, not 3"):
        learned(tmp_path / "one", iterations=0, games=3)
    (tmp_path / "two").mkdir()
    (tmp_path / "one" / "ppo.zip").rename(tmp_path / "two" / "ppo.zip")
    (tmp_path / "one" / "ppo.json").rename(tmp_path / "two" / "ppo.json")
    with pytest.raises(FileExistsError, match="train into another folder"):
        learned(tmp_path / "two")


def test_time_ends_it_and_nothing_is_lost(tmp_path):
    ended = learned(tmp_path, iterations=500, minutes=0.02)
    assert ended.interrupted
    assert (tmp_path / "plan.json").is_file()
    assert len(learned(tmp_path, iterations=max(1, len(ended.history))).history) >= 1


@pytest.mark.slow
def test_processes_play_the_same_games(tmp_path):
    env_id = f"{ROOT / 'examples' / 'connect_four_cells.py'}:ConnectFourCells-v0"
    options = {"env_id": env_id, "iterations": 1, "imitate": None}
    one = learned(tmp_path / "one", **options)
    with local(2) as two:
        other = learned(tmp_path / "two", executor=two, **options)
    assert weights(one.path) == weights(other.path)
    assert json.loads((tmp_path / "one" / "plan.json").read_text())["imitate"] is None
