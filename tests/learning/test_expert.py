"""Expert iteration: what a policy learns from the search that it guides, interruptions, executors, mistakes."""

import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import time
import zipfile
import zlib
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO

import agents
import mcts_envs
from agents.arena.running.executing import RayExecutor
from agents.evaluator.batched import BatchedEvaluator
from agents.learning import positions
from agents.learning.distilling import turned
from agents.learning.expert import expert_iteration
from agents.learning.expert_plan import Plan
from agents.learning.jobs import Here, local
from agents.learning.networks import PlanesExtractor
from agents.learning.playing import Job, described, play, repeats
from agents.learning.saved import storage
from agents.learning.training import train
from mcts_envs.core.view import View
from tests.learning.policies import positions as states
from tests.toys import tic_tac_toe

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.saved.notices.PolicyWarning")

ROOT = Path(__file__).parents[2]
TOE = "ToeOfExperts-v0"
mcts_envs.register(TOE, tic_tac_toe())
BY_FILE = f"{ROOT / 'tests' / 'learning' / 'toe.py'}:ToeByFile-v0"
"""The same for other processes."""

SMALL = {"n_envs": 4, "n_steps": 16, "batch_size": 64, "n_epochs": 1, "policy_kwargs": {"net_arch": [32]}}
GUMBEL = {"agent": "gumbel", "simulations": 16}
QUICK = {"iterations": 2, "games": 12, "search": GUMBEL, "openings": 2, "batch": 64, "match_games": 4}
QUICK |= {"imitate": {"agent": "uniform"}}

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


class Losing(Executor):
    """Loses the first job, and the fifth time anew, with whoever had it; knows how many it was given at a time."""

    def __init__(self, lost=(1, 5)):
        self.lost, self.given, self.futures, self.most = lost, 0, [], 0

    def submit(self, function, /, *args):
        self.given += 1
        self.most = max(self.most, 1 + sum(not future.done() for future in self.futures))
        future = Future()
        future.set_running_or_notify_cancel()
        self.futures.append(future)
        if self.given in self.lost:
            threading.Timer(0.05, future.set_exception, [BrokenExecutor("the worker died")]).start()
        else:
            threading.Timer(0.05, lambda: future.set_result(function(*args))).start()
        return future


@pytest.mark.slow
def test_a_job_that_is_lost_is_given_out_again(tmp_path):
    whole = learned(tmp_path / "whole", iterations=1)
    crew = Losing()
    last = learned(tmp_path / "lost", iterations=1, executor=crew, workers=2)
    assert crew.given == 2 * (2 + 1) + len(crew.lost)
    assert crew.most == 2
    assert weights(last.path) == weights(whole.path)
    with pytest.raises(RuntimeError, match="a job of the executor failed 3 times; at last: the worker died"):
        learned(tmp_path / "never", executor=Losing(range(1000)))


@pytest.mark.slow
def test_a_process_that_is_killed_costs_nothing(tmp_path):
    with local(2) as crew:
        with pytest.raises(BrokenExecutor):
            crew.submit(os._exit, 1).result()
        assert crew.submit(abs, -2).result() == 2
        ending = crew.submit(os._exit, 1)
        last = learned(tmp_path / "killed", BY_FILE, executor=crew)
        assert ending.exception() is not None
    assert weights(last.path) == weights(learned(tmp_path / "whole", BY_FILE).path)


@pytest.mark.slow
def test_ray_plays_the_same_games_though_a_worker_is_killed(tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)

    class Deadly(RayExecutor):
        def submit(self, fn, /, *args, **kwargs):
            return super().submit(killed_once, tmp_path / "killed", fn, *args)

    try:
        there = learned(tmp_path / "ray", BY_FILE, games=24, executor=Deadly())
    finally:
        ray.shutdown()
    assert int((tmp_path / "killed").read_text()) != os.getpid()
    with local(2) as crew:
        here = learned(tmp_path / "here", BY_FILE, games=24, executor=crew)
    assert weights(there.path) == weights(here.path)


def killed_once(marker, function, job):
    """Play; the process that is the first to have played is killed before it can say so."""
    played = function(job)
    if not marker.exists():
        marker.write_text(str(os.getpid()))
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))  # either is the end on Windows
    return played


def test_the_command_says_how_ray_is_got(tmp_path, monkeypatch, capsys):
    import expert_iteration as script
    import typer

    monkeypatch.setitem(sys.modules, "ray", None)
    app = typer.Typer(add_completion=False)
    app.command()(script.main)
    for executor, said in (("ray", 'pip install "mcts-envs[ray]"'), ("rays", "did you mean 'ray'")):
        with pytest.raises(SystemExit):
            app([TOE, "--executor", executor, "--out", str(tmp_path)])
        assert said in capsys.readouterr().err
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_it_may_be_killed_at_any_time(tmp_path):
    command = [sys.executable, str(ROOT / "scripts" / "expert_iteration.py"), BY_FILE]
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


PLANES = {"observation": "planes", "mask": "safe", "max_steps": 12}
CONVOLVED = {
    **SMALL,
    "policy": "CnnPolicy",
    "policy_kwargs": {"net_arch": [8], "features_extractor_kwargs": {"channels": 4, "features_dim": 16}},
}


class Noting(ThreadPoolExecutor):
    """Keeps the jobs that it is given."""

    def submit(self, function, /, job):
        self.jobs = [*getattr(self, "jobs", []), job]
        return super().submit(function, job)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["maskable_ppo", "ppo"])
def test_convolutions_learn_whoever_plays(tmp_path, algorithm):
    options = {"settings": PLANES, "iterations": 1, "games": 10, "imitate": None, "match_games": 2}
    options |= {"search": {**GUMBEL, "simulations": 4}, "changes": CONVOLVED, "learning_rate": 0.1}
    one = learned(tmp_path / "one", "BomberDuel-v0", algorithm, **options)
    with Noting(2) as threads:
        other = learned(tmp_path / "other", "BomberDuel-v0", algorithm, executor=threads, **options)
    assert weights(one.path) == weights(other.path)
    assert weights(one.path) != weights(tmp_path / "one" / "checkpoints" / f"{algorithm}_0000.zip")
    assert type(storage.load(one.path).model.policy.features_extractor).__name__ == "PlanesExtractor"
    new, last = ([pickle.loads(player)["policy"] for player in job.players] for job in threads.jobs if not job.learn)
    saved = [storage.load(tmp_path / "one" / "checkpoints" / f"{algorithm}_{i:04}.zip") for i in (0, 1)]
    seen = np.ones((1, *saved[0].observation_shape), np.float32)
    for played, wanted in ((new[0], saved[0]), (last[0], saved[1]), (last[1], saved[0])):
        assert played.values(seen) == wanted.values(seen)


@pytest.mark.slow
def test_games_of_a_job_wait_for_a_network_together(monkeypatch):
    batches = []
    answer = BatchedEvaluator._answer

    def noted(self):
        batches.append(int(self._asked["count"][0]))
        return answer(self)

    monkeypatch.setattr(BatchedEvaluator, "_answer", noted)
    env = mcts_envs.make_sb3_vec_env("BomberDuel-v0", 1, **PLANES)
    kwargs = {"features_extractor_class": PlanesExtractor, **CONVOLVED["policy_kwargs"]}
    model = MaskablePPO("CnnPolicy", env, seed=1, policy_kwargs=kwargs)
    policy = storage.SavedPolicy(Path("cnn.zip"), "maskable_ppo", model, about={"settings": PLANES})
    player = described({**GUMBEL, "policy": policy})
    found = []
    for games in (1, 8, 8):
        batches.clear()
        found.append((play(Job("BomberDuel-v0", PLANES, (player,), 3, games)), [*filter(None, batches)]))
    (_, alone), (played, several), (again, as_many) = found
    assert np.mean(several) > 4 * np.mean(alone)
    assert several == as_many  # what an earlier job asked is forgotten: in other batches it was rounded otherwise
    assert np.array_equal(played.positions.observations, again.positions.observations)
    assert np.array_equal(played.positions.probabilities, again.positions.probabilities)


NET = """
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

class Net(BaseFeaturesExtractor):
    def __init__(self, observation_space):
        super().__init__(observation_space, 8)
        self.layers = torch.nn.Sequential(torch.nn.Linear(27, 8), torch.nn.GELU())

    def forward(self, observations):
        return self.layers(observations)
"""


@pytest.mark.slow
def test_a_features_extractor_of_ones_own_is_named_by_its_file(tmp_path):
    file = tmp_path / f"net_{tmp_path.name}.py"
    file.write_text(NET)
    kwargs = {"net_arch": [8], "features_extractor_class": f"{file}:Net"}
    options = {"changes": {**SMALL, "policy_kwargs": kwargs}, "games": 4, "match_games": 0}
    learned(tmp_path / "own", iterations=0, **options)
    result = learned(tmp_path / "own", iterations=1, **options)
    about = storage.described(result.path)[1]
    assert about["hyperparameters"]["policy_kwargs"] == kwargs
    code = "import sys; from agents.learning.saved import storage; print(storage.load(sys.argv[1]).model.policy)"
    assert b"GELU" in subprocess.check_output([sys.executable, "-c", code, result.path], cwd=ROOT)
    written = pickle.loads(pickle.dumps(storage.load(result.path)))
    assert type(written.model.policy.features_extractor).__name__ == "Net"
    for name, message in (("Net", "is no class; write where"), (f"{file}:Nets", "has no class Nets")):
        with pytest.raises(ValueError, match=message):
            learned(tmp_path / "no", changes={"policy_kwargs": {"features_extractor_class": name}})


def test_a_class_is_written_down_by_its_name(tmp_path):
    kwargs = {"net_arch": [8], "activation_fn": torch.nn.GELU}
    result = learned(tmp_path / "own", iterations=0, games=2, changes={**SMALL, "policy_kwargs": kwargs})
    named = storage.described(result.path)[1]["hyperparameters"]["policy_kwargs"]["activation_fn"]
    assert named == "torch.nn.modules.activation:GELU"
    assert type(storage.load(result.path).model.policy.mlp_extractor.policy_net[1]) is torch.nn.GELU

    class Local(torch.nn.Module):
        pass

    with pytest.raises(ValueError, match="define it at the top level of a module"):
        learned(tmp_path / "no", changes={"policy_kwargs": {"activation_fn": Local}})


def test_games_of_a_match_differ_where_the_game_knows_no_chance(tmp_path):
    learned(tmp_path, iterations=0, games=4, openings=0, match_games=16)
    games = [positions.read(path) for path in (tmp_path / "games" / "0000" / "match").glob("*.npz")]
    assert len(np.unique(np.concatenate([np.c_[part.lengths, part.points] for part in games]), axis=0)) > 2
    assert repeats(TOE, {})
    assert not repeats("LaneDefense3x3-v0", {})
    assert not repeats("Football1-v0", {})


def test_what_it_says(tmp_path):
    said = []
    learned(tmp_path, iterations=0, report=said.append)
    assert said[0] == f"iteration 0 learns from uniform; kept in {tmp_path}"
    assert re.fullmatch(
        r"iteration 0 of 0: 12 games of \d\.\d steps, before it policy and uniform agreed on \d+% of positions, "
        r"losses \d\.\d{3} \(policy\) and \d\.\d{3} \(value\), \d+% of the points against the last policy, \d+ s",
        said[-1],
    )
    said.clear()
    learned(tmp_path, iterations=1, report=said.append)
    assert said[0] == f"goes on after iteration 0 of 1; kept in {tmp_path}"
    learned(tmp_path, iterations=1, report=said.append)
    assert said[-1] == f"all 1 iterations are there; kept in {tmp_path}"
    learned(tmp_path / "searched", iterations=1, imitate=None, report=said.append)
    assert f"iterations 0 to 1 learn from gumbel; kept in {tmp_path / 'searched'}" in said


def test_behaviour_cloning_of_any_agent(tmp_path):
    result = learned(tmp_path, **DIVERSE, iterations=0, imitate={"agent": "mcts", "simulations": 100})
    assert len(result.history) == 1
    assert wins_taken(result.path) > 0.4


def test_what_is_kept_of_a_game(tmp_path):
    job = Job(TOE, {}, (described({"agent": "uniform"}),), 3, 4, openings=3)
    played, again = play(job), play(job)
    found = played.positions
    assert np.array_equal(found.observations, again.positions.observations)
    assert len(found) == found.counts.size == found.returns.size
    assert played.points.sum(1).tolist() == [1.0] * 4
    assert set(np.abs(found.returns)) <= {0.0, 1.0}
    path = tmp_path / "games.npz"
    positions.write(path, played)
    back = positions.read(path)
    assert np.array_equal(back.positions.probabilities, found.probabilities)
    assert isinstance(back.positions.observations, positions.Sparse)
    twice = positions.together([back.positions, back.positions])
    for rows in (slice(None), np.array([5, 0, len(found) + 5])):
        assert np.array_equal(twice.observations[rows], np.concatenate([found.observations] * 2)[rows])
    full = found.observations + 1
    mixed = positions.together([positions.packed(replace(found, observations=full)), back.positions])
    assert np.array_equal(mixed.observations, np.concatenate([full, found.observations]))
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


@pytest.mark.parametrize("looks", [[6, 5, 4, 3, 2, 1, 0], lambda shown: shown[:, ::-1]])
def test_positions_are_turned_whole(looks):
    """Seven numbers and three actions in a mirror: half of the rows are turned, what is shown with what was found."""
    rows = np.arange(700, dtype=np.float32).reshape(100, 7)
    legal, shares = np.tile([True, True, False], (100, 1)), np.tile(np.float32([0.75, 0.25, 0.0]), (100, 1))
    seen, allowed, wanted = turned(rows, legal, shares, ((looks, [1, 2, 0]),), np.random.default_rng(0))
    mirrored = seen[:, 0] > seen[:, 6]
    assert 30 < mirrored.sum() < 70
    assert np.array_equal(seen[mirrored], rows[mirrored][:, ::-1])
    assert np.array_equal(seen[~mirrored], rows[~mirrored])
    assert allowed[mirrored].tolist() == [[False, True, True]] * mirrored.sum()
    assert wanted[mirrored].tolist() == [[0.0, 0.75, 0.25]] * mirrored.sum()
    assert np.array_equal(wanted[~mirrored], shares[~mirrored])
    assert rows[5, 0] == 35.0


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
        ({"search": {"agent": "best"}}, ValueError, "is consulted by nothing"),
        ({"imitate": {"agent": "rule_based"}}, ValueError, "has no preset 'rule_based'"),
        ({"imitate": {"agent": "bests"}}, ValueError, "did you mean 'best'"),
        ({"minutes": 0}, ValueError, "minutes 0"),
    ):
        with pytest.raises(error, match=message):
            learned(tmp_path / "wrong", **wrong)
    assert not (tmp_path / "wrong").exists()
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
    one = learned(tmp_path / "one", **(options := {"env_id": env_id, "iterations": 1, "imitate": None}))
    with local(2) as two:
        other = learned(tmp_path / "two", executor=two, **options)
    assert weights(one.path) == weights(other.path)
    assert json.loads((tmp_path / "one" / "plan.json").read_text())["imitate"] is None
