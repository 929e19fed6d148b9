"""The batch for Stable-Baselines3, trainings, saved policies, and the policies that come with the package."""

import copy
import io
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import sb3_contrib.common.maskable.evaluation as maskable
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecMonitor, VecNormalize

import agents
import mcts_envs
from agents.learning import normalizing, progress, storage
from agents.learning.algorithms import one_thread
from agents.learning.evaluation import FRESH, evaluate
from agents.learning.hyperparameters import hyperparameters, plain, resolved
from agents.learning.networks import PlanesExtractor
from agents.learning.progress import ProgressReport
from agents.learning.shipped import FOLDER, shipped, shipped_for
from agents.learning.training import train

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.notices.PolicyWarning")

ROOT = Path(__file__).parents[2]
IDS = ("LaneDefense3x3-v0", "LaneDefense10x10-v0", "LaneDefense5x9-v0")
SMALL = {"n_steps": 32, "batch_size": 64, "n_epochs": 1, "policy_kwargs": {"net_arch": [8]}}


def make(env_id, **settings):
    return gym.make(f"mcts_envs/{env_id}", **settings)


def quick(folder, algorithm="ppo", env_id="LaneDefense3x3-v0", **more):
    changes = {**SMALL, **more.pop("changes", {})}
    options = {"timesteps": 1024, "n_envs": 8, "tensorboard": False, "progress": False, "changes": changes, **more}
    return train(env_id, algorithm, out=folder, **options)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    return {name: quick(folder / name, name).path for name in ("ppo", "maskable_ppo")}


@pytest.fixture(autouse=True)
def _one_thread():
    with one_thread():
        yield


# The batch


@pytest.mark.parametrize(
    ("env_id", "settings"), [*((env_id, {}) for env_id in IDS), (IDS[0], {"max_steps": 7, "observation": "planes"})]
)
def test_batch_equals_single_environments(env_id, settings):
    batch = mcts_envs.make_sb3_vec_env(env_id, 3, seed=7, **settings)
    single = DummyVecEnv([lambda: make(env_id, **settings) for _ in range(3)])
    single.seed(7)
    assert np.array_equal(batch.reset(), single.reset())
    dice, ends, cuts = np.random.default_rng(0), 0, 0
    for _ in range(300):
        assert np.array_equal(batch.env_method("action_masks"), single.env_method("action_masks"))
        actions = dice.integers(batch.action_space.n, size=3)
        mine, theirs = batch.step(actions), single.step(actions)
        for a, b in zip(mine[:3], theirs[:3], strict=True):
            assert a.dtype == b.dtype
            assert np.array_equal(a, b)
        for a, b in zip(mine[3], theirs[3], strict=True):
            episode = a.pop("episode", None)
            assert a.keys() == b.keys()
            assert all(type(a[key]) is type(b[key]) and np.array_equal(a[key], b[key]) for key in a)
            assert (episode is not None) == ("terminal_observation" in b)
            cuts += a["TimeLimit.truncated"]
        for a, b in zip(batch.unwrapped.reset_infos, single.reset_infos, strict=True):
            assert np.array_equal(a["action_mask"], b["action_mask"])
        ends += mine[2].sum()
    assert ends > 3
    assert (cuts > 0) == ("max_steps" in settings)


def test_batch_trains_exactly_as_single_environments():
    options = {"seed": 3, "n_steps": 64, "batch_size": 64, "n_epochs": 1, "device": "cpu"}
    batch = PPO("MlpPolicy", mcts_envs.make_sb3_vec_env(IDS[0], 4), **options).learn(512)
    single = PPO("MlpPolicy", DummyVecEnv([lambda: Monitor(make(IDS[0])) for _ in range(4)]), **options).learn(512)
    for a, b in zip(batch.policy.parameters(), single.policy.parameters(), strict=True):
        assert np.array_equal(a.detach().numpy(), b.detach().numpy())
    assert [game["r"] for game in batch.ep_info_buffer] == pytest.approx([game["r"] for game in single.ep_info_buffer])
    assert list(batch.ep_success_buffer) == list(single.ep_success_buffer)
    assert {"outcome", "is_success"} <= batch.ep_info_buffer[0].keys()


def test_batch_answers_for_each_game():
    env = mcts_envs.make_sb3_vec_env(IDS[0], 3, seed=1, render_mode="rgb_array")
    first = env.reset()
    kept = first.copy()
    second = env.step(np.array([0, 4, 9]))[0]
    assert np.array_equal(first, kept)
    assert not np.shares_memory(first, second)
    assert env.has_attr("action_masks")
    assert not env.has_attr("nonsense")
    for i in range(3):
        (mask,) = env.env_method("action_masks", indices=i)
        assert mask.dtype == np.bool_
        assert np.array_equal(env.get_attr("action_masks", i)[0](), mask)
        assert np.array_equal(env.view(i).observe(), second[i])
    assert env.get_attr("game")[1] is env.view(1).game
    assert env.env_method("position", indices=[2])[0]["t"] == 1
    assert env.env_is_wrapped(Monitor) == [False] * 3
    env.set_attr("stage", 5, indices=1)
    assert env.get_attr("stage", 1) == [5]
    with pytest.raises(AttributeError, match="is fixed"):
        env.set_attr("seat", 1)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        env.get_attr("nonsense")
    assert env.get_images()[0].dtype == np.uint8
    assert env.render().ndim == 3
    text = mcts_envs.make_sb3_vec_env(IDS[0], render_mode="ansi")
    for method in ("render", "position", "clone_state"):
        with pytest.raises(gym.error.ResetNeeded, match=r"call reset\(\) before"):
            text.env_method(method)
    text.reset()
    assert isinstance(text.env_method("render")[0], str)


def test_monitor_notes_what_that_of_stable_baselines3_notes():
    kept = ("outcome", "is_success")
    mine = mcts_envs.make_sb3_vec_env(IDS[0], 5, seed=3)
    other = mcts_envs.make_sb3_vec_env(IDS[0], 5, seed=3).venv
    theirs = VecMonitor(other, info_keywords=kept)
    assert isinstance(mine, VecMonitor)
    assert np.array_equal(mine.reset(), theirs.reset())
    dice, before = np.random.default_rng(2), []
    for _ in range(200):
        actions = dice.integers(10, size=5)
        infos, expected = mine.step(actions)[3], theirs.step(actions)[3]
        for a, b in zip(infos, expected, strict=True):
            assert a.keys() == b.keys()
            assert a.get("episode", {}).keys() == b.get("episode", {}).keys()
            for key in ("r", "l", *kept) if "episode" in a else ():
                assert a["episode"][key] == b["episode"][key]
        before.append((infos, pickle.dumps(infos)))
    assert mine.episode_count == theirs.episode_count > 20
    assert all(pickle.dumps(infos) == bytes_then for infos, bytes_then in before), "infos that are kept must not change"


def test_batch_starts_from_positions():
    env = mcts_envs.make_sb3_vec_env(IDS[0], 2, seed=1)
    env.reset()
    position = {**env.view(0).position(), "t": 3}
    env.set_options([{}, {"position": position}])
    assert env.reset()[1, -1] == pytest.approx(3 / 20)
    assert env.view(0).position()["t"] == 0
    env.set_options({"position": position})
    env.reset()
    assert [env.view(i).position()["t"] for i in range(2)] == [3, 3]
    env.reset()
    assert env.view(1).position()["t"] == 0


def test_batch_starts_each_game_once_with_its_own_options():
    batch = mcts_envs.make_sb3_vec_env(IDS[0], 3, seed=np.int64(7))
    single = DummyVecEnv([lambda: make(IDS[0]) for _ in range(3)])
    single.seed(7)
    dice = np.random.default_rng(1)
    assert np.array_equal(batch.reset(), single.reset())
    position = {"board": np.array([0, 0, 2, 0, 0, 0, 0, 0, 1]), "t": 4, "can_plant": True}
    other = {"board": [0, 2, 0, 0, 0, 0, 0, 0, 0], "t": 2, "can_plant": False, "dice": [1, 0]}
    for options in ([{}, {"position": position}, {}], [{"position": position}, {}, {"position": other}], None):
        for env in (batch, single):
            env.set_options(options)
        assert np.array_equal(batch.reset(), single.reset())
        for a, b in zip(batch.unwrapped.reset_infos, single.reset_infos, strict=True):
            assert a.keys() == b.keys()
            assert np.array_equal(a["action_mask"], b["action_mask"])
        for _ in range(25):
            actions = dice.integers(10, size=3)
            assert all(
                np.array_equal(a, b) for a, b in zip(batch.step(actions)[:3], single.step(actions)[:3], strict=True)
            )
    before = batch.env_method("clone_state")
    batch.set_options([{}, {"position": position}, {"position": {**other, "t": -1}}])
    with pytest.raises(ValueError, match=r"position\['t'\] -1 is outside"):
        batch.reset()
    assert batch.env_method("clone_state") == before
    with pytest.raises(TypeError, match=r"seed 1\.5 is float, not an integer"):
        mcts_envs.make_sb3_vec_env(IDS[0], 3, seed=1.5)


def test_batch_saves_and_restores_games():
    env = mcts_envs.make_sb3_vec_env(IDS[0], 3, seed=2)
    env.reset()
    env.step(np.array([0, 4, 9]))
    (saved,) = env.env_method("clone_state", indices=1)
    bare = env.env_method("clone_state", include_rng=False)
    single = make(IDS[0]).unwrapped
    single.restore_state(saved)
    first = [env.step(np.full(3, 9)) for _ in range(4)]
    after = env.env_method("clone_state")
    env.env_method("restore_state", saved, indices=[1])
    assert env.env_method("clone_state", indices=[1]) == [saved]
    assert env.env_method("clone_state", indices=[0, 2]) == [after[0], after[2]]
    assert np.array_equal(env.env_method("action_masks", indices=1)[0], single.action_masks())
    for then in first:
        again, alone = env.step(np.full(3, 9)), single.step(9)
        for mine, before in zip(again[:3], then[:3], strict=True):
            assert np.array_equal(mine[1], before[1])
        assert again[1][1] == alone[1]
        if alone[2]:
            break
        assert np.array_equal(again[0][1], alone[0])
    env.env_method("restore_state", saved)
    assert env.env_method("clone_state") == [saved] * 3
    assert env.env_method("clone_state", include_rng=False) == [bare[1]] * 3
    other = make(IDS[1]).unwrapped
    other.reset(seed=0)
    with pytest.raises(ValueError, match="is of lane_defense:"):
        env.env_method("restore_state", other.clone_state(), indices=0)


@pytest.mark.parametrize("env_id", IDS)
def test_check_env_without_a_warning(env_id):
    check_env(make(env_id).unwrapped, warn=True, skip_render_check=True)


# Training


@pytest.mark.parametrize(("algorithm", "cls"), [("ppo", PPO), ("maskable_ppo", MaskablePPO)])
def test_a_trained_policy_plays(trained, algorithm, cls):
    path = trained[algorithm]
    about = json.loads(path.with_suffix(".json").read_text())
    assert about["environment"] == "mcts_envs/LaneDefense3x3-v0"
    assert about["timesteps"] == 1024
    assert about["normalization"]["rewards"]["count"] > 1000
    env = mcts_envs.make_sb3_vec_env(IDS[0], 4, seed=5)
    model = cls.load(path)
    returns = (maskable.evaluate_policy if algorithm == "maskable_ppo" else evaluate_policy)(model, env, 8)
    agent = agents.make(f"sb3:{path}")
    env.seed(5)
    assert evaluate_policy(agent.bind(env), env, 8) != ()
    single = make(IDS[0], illegal="raise" if algorithm == "maskable_ppo" else "accept")
    observation, _ = single.reset(seed=1)
    over = False
    while not over:
        action = agent.act(single)
        masks = {"action_masks": single.unwrapped.action_masks()} if algorithm == "maskable_ppo" else {}
        assert action == model.predict(observation, deterministic=True, **masks)[0]
        observation, _, terminated, truncated, _ = single.step(action)
        over = terminated or truncated
    assert len(returns) == 2


def test_stochastic_play_follows_the_agents_own_seed(trained):
    view = make(IDS[0])
    view.reset(seed=0)
    agent = agents.make(f"sb3:{trained['maskable_ppo']}", deterministic=False, seed=4)
    first = [agent.act(view) for _ in range(30)]
    agent.reseed(4)
    assert [agent.act(view) for _ in range(30)] == first
    assert len(set(first)) > 1
    assert set(first) <= set(view.unwrapped.legal_actions())


def test_same_seed_same_weights(tmp_path, trained):
    again = quick(tmp_path / "again").path
    with zipfile.ZipFile(again) as a, zipfile.ZipFile(trained["ppo"]) as b:
        assert a.read("policy.pth") == b.read("policy.pth")
        assert "system_info.txt" not in a.namelist()
        assert str(tmp_path) not in a.read("data").decode()


def test_planes_settings_and_normalized_observations(tmp_path):
    changes = {"normalize": {"norm_obs": True, "norm_reward": False}}
    path = quick(tmp_path, settings={"observation": "planes", "max_steps": 30}, changes=changes).path
    env = make(IDS[0])
    env.reset(seed=2)
    policy = storage.load(path)
    planes = make(IDS[0], observation="planes")
    seen, _ = planes.reset(seed=2)
    assert agents.make(f"sb3:{path}").act(env) == policy.actions(seen[None])[0]
    inner = VecNormalize(mcts_envs.make_sb3_vec_env(IDS[0], 1, observation="planes"), norm_reward=False, training=False)
    normalizing.restore_normalization(inner, policy.about["normalization"])
    assert np.allclose(policy.normalized(seen[None]), inner.normalize_obs(seen[None]), atol=1e-6)
    assert evaluate(path, 10).games == 10
    with pytest.raises(ValueError, match="trained on another observation"):
        evaluate(path, 10, settings={})


def test_planes_are_convolved_in_a_resumed_training_too(tmp_path):
    settings = {"observation": "planes", "opponent": "random"}
    first = quick(tmp_path, env_id="BomberDuel-v0", settings=settings)
    path = quick(tmp_path, env_id="BomberDuel-v0", resume=first.path, timesteps=2048, changes=SMALL).path
    env = make("BomberDuel-v0", **settings)
    env.reset(seed=1)
    assert agents.make(f"sb3:{path}").act(env) in range(6)
    extractor = PPO.load(path).policy.features_extractor
    assert isinstance(extractor, PlanesExtractor)
    assert extractor.layers[0].weight.shape == (32, 29, 3, 3)


def test_interrupted_training_is_saved_and_goes_on(tmp_path, monkeypatch):
    save = storage.save

    def save_and_stop(model, path, about):
        if Path(path).parent.name == "checkpoints":
            os.kill(os.getpid(), signal.SIGTERM)
        return save(model, path, about)

    monkeypatch.setattr(storage, "save", save_and_stop)
    before = signal.getsignal(signal.SIGTERM)
    result = quick(tmp_path, timesteps=4096, checkpoint_every=512)
    assert signal.getsignal(signal.SIGTERM) is before
    assert result.interrupted
    assert 512 <= result.timesteps < 1024
    monkeypatch.setattr(storage, "save", save)
    with pytest.raises(FileExistsError, match="another folder"):
        quick(tmp_path)
    resumed = quick(tmp_path, resume=tmp_path / "ppo", timesteps=2048)
    (checkpoint,) = (tmp_path / "checkpoints").glob("*.zip")
    with pytest.raises(FileExistsError, match="2048 steps"):
        quick(tmp_path, resume=checkpoint, timesteps=4096)
    assert resumed.timesteps == 2048
    assert not resumed.interrupted
    with pytest.raises(ValueError, match="ask for more"):
        quick(tmp_path, resume=resumed.path, timesteps=2048)
    assert storage.load(checkpoint).about["timesteps"] == 512


def test_a_training_that_was_killed_is_not_begun_anew(tmp_path, trained):
    saved = storage.load(trained["ppo"])
    checkpoint = storage.save(saved.model, tmp_path / "checkpoints" / "ppo_1024", saved.about)
    storage.save(saved.model, tmp_path / "checkpoints" / "ppo_512", saved.about)
    storage.save(saved.model, tmp_path / "checkpoints" / "ppo_torn", saved.about)
    (tmp_path / "checkpoints" / "ppo_2048.zip").write_bytes(b"written when the power failed")
    with pytest.raises(FileExistsError, match=r"1024 steps; resume with --resume .*ppo_1024\.zip, or choose another"):
        quick(tmp_path)
    with pytest.raises(FileExistsError, match="--resume"):
        quick(tmp_path, resume=trained["ppo"], timesteps=2048)
    assert quick(tmp_path, "maskable_ppo").timesteps == 1024
    assert quick(tmp_path, resume=checkpoint, timesteps=2048).timesteps == 2048


def test_a_killed_resume_is_not_begun_anew(tmp_path, trained):
    saved = storage.load(trained["ppo"])
    path = storage.save(saved.model, tmp_path / "ppo", saved.about)
    storage.save(saved.model, tmp_path / "checkpoints" / "ppo_1536", {**saved.about, "timesteps": 1536})
    with pytest.raises(FileExistsError, match=r"1536 steps; resume with --resume .*ppo_1536\.zip"):
        quick(tmp_path, resume=path, timesteps=2048)


def test_time_limit(tmp_path):
    started = time.monotonic()
    assert not quick(tmp_path, timesteps=10**9, minutes=0.01).interrupted
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("algorithm", ["ppo", "maskable_ppo"])
def test_evaluations_are_logged_and_change_no_weights(tmp_path, algorithm):
    events = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    options = {"timesteps": 2048, "changes": {"normalize": {"norm_obs": True, "norm_reward": True}}}
    logged = quick(tmp_path / "logged", algorithm, tensorboard=True, evaluate_every=512, **options).path
    silent = quick(tmp_path / "silent", algorithm, **options).path
    with zipfile.ZipFile(logged) as a, zipfile.ZipFile(silent) as b:
        assert a.read("policy.pth") == b.read("policy.pth")
    (folder,) = (tmp_path / "logged" / "tensorboard").iterdir()
    read = events.EventAccumulator(str(folder)).Reload()
    for name in ("mean_reward", "mean_ep_length", "success_rate"):
        found = read.Scalars(f"eval/{name}")
        assert [point.step for point in found] == [512, 1024, 1536, 2048]
    assert all(0 <= point.value <= 1 for point in read.Scalars("eval/success_rate"))
    assert {point.value * 64 % 1 for point in read.Scalars("eval/success_rate")} == {0.0}
    assert not (tmp_path / "silent" / "tensorboard").exists()
    resumed = quick(tmp_path / "logged", algorithm, resume=logged, tensorboard=True, evaluate_every=512, timesteps=2560)
    assert resumed.timesteps == 2560
    folders = sorted((tmp_path / "logged" / "tensorboard").iterdir())
    points = [p.step for f in folders for p in events.EventAccumulator(str(f)).Reload().Scalars("eval/mean_reward")]
    assert sorted(points) == [512, 1024, 1536, 2048, 2560]


def test_progress_runs_to_the_nearer_limit():
    report = ProgressReport(1_000_000, 2.0)
    report._first, report.num_timesteps = 0, 100_000
    assert report.text(60.0) == "100,000 of 1,000,000 steps, 1,667/s, 1:00 left"
    assert report.fraction(60.0) == 0.5
    report.num_timesteps = 900_000
    assert report.text(60.0) == "900,000 of 1,000,000 steps, 15,000/s, 0:07 left"
    assert report.fraction(180.0) == 1.0
    resumed = ProgressReport(3_000_000, None)
    resumed._first, resumed.num_timesteps = 1_000_000, 1_500_000
    assert resumed.text(1800.0) == "1,500,000 of 3,000,000 steps, 278/s, 1:30:00 left"
    resumed.num_timesteps = 1_000_000
    assert resumed.text(0.0).endswith("-:-- left")


def test_progress_without_a_terminal_is_a_line_now_and_then(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(progress, "_BETWEEN_LINES", 0.0)
    quick(tmp_path / "shown", progress=True)
    out, shown = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"(([\d,]+) of 1,024 steps, [\d,]+/s, (\d+:\d\d) left\n)+", shown)
    quick(tmp_path / "hidden")
    assert capsys.readouterr() == ("", "")


def test_progress_in_a_terminal_is_a_bar(tmp_path, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    quick(tmp_path, progress=True, minutes=10)
    assert "1,024 of 1,024 steps" in screen.getvalue()
    assert "0:00 left" in screen.getvalue()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_command_ends_cleanly_on_ctrl_c(tmp_path):
    command = [sys.executable, "scripts/train.py", IDS[0], "--out", str(tmp_path), "--param", "n_epochs=1"]
    command += ["--timesteps", "1000000000", "--checkpoint-every", "4096", "--set", "p_new=0.6"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 180
    while not list(tmp_path.glob("checkpoints/*.json")) and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "interrupted after" in out
    about = json.loads((tmp_path / "ppo.json").read_text())
    assert about["settings"] == {"p_new": 0.6}
    assert about["hyperparameters"]["n_epochs"] == 1
    assert list((tmp_path / "tensorboard").rglob("events*"))


def said_by(code, *arguments):
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'scripts'}"}
    line = [sys.executable, "-c", code, *arguments]
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False)


def test_command_names_cures_as_options_and_refuses_a_bad_folder(tmp_path, trained):
    bare = shutil.copy(trained["ppo"], tmp_path / "bare.zip")
    code = "import sys, typer, train; typer.run(train.main)"
    assert "name its algorithm, as in --algo ppo" in said_by(code, IDS[0], "--resume", str(bare)).stderr
    done = said_by(code, IDS[0], "--out", str(bare / "below"), "--timesteps", "64")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "is a file; give a folder of yours" in done.stderr


def test_help_of_the_command_loads_no_library_and_warnings_are_lines():
    heavy = "print({'torch', 'numba'} & sys.modules.keys())"
    assert said_by(f"import sys, train; {heavy}").stdout == "set()\n"
    assert said_by("import _own, warnings; warnings.warn('one\\ntwo')").stderr == "warning: one two\n"


# Hyper-parameters


def test_hyperparameters_are_the_zoos():
    for algorithm in ("ppo", "maskable_ppo"):
        for env_id in mcts_envs.environment_ids():
            found = hyperparameters(algorithm, env_id)
            assert found.normalize == {"norm_obs": False, "norm_reward": True}
            rate = resolved(found.model)["learning_rate"]
            assert rate(1.0) > rate(0.5) > rate(0.0) == 0.0
    assert plain("dict(net_arch=[64, 64], ortho_init=False)") == {"net_arch": [64, 64], "ortho_init": False}
    assert resolved({"learning_rate": "3e-4"})["learning_rate"] == 3e-4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hyperparameters("pppo", "x"), "did you mean 'ppo'"),
        (lambda: hyperparameters("dqn", "x"), "algorithm to train with 'dqn'"),
        (lambda: hyperparameters("ppo", "x", {"n_step": 3}), "did you mean 'n_steps'"),
        (lambda: hyperparameters("ppo", "x", {"normalize": {"norm_observations": True}}), "norm_obs"),
        (lambda: plain("dict(a=__import__('os'))"), "use a mapping"),
        (lambda: resolved({"learning_rate": "lin_fast"}), "lin_3e-4"),
        (lambda: hyperparameters("ppo", "x", {"n_steps": 0}), r"n_steps 0 is outside \[1,"),
        (lambda: hyperparameters("maskable_ppo", "x", {"batch_size": 0}), r"batch_size 0 is outside \[2,"),
        (lambda: hyperparameters("ppo", "x", {"gamma": 99}), r"gamma 99\.0 is outside \[0, 1\]"),
        (lambda: hyperparameters("ppo", "x", {"n_envs": 0}), r"n_envs 0 is outside \[1,"),
        (lambda: hyperparameters("ppo", "x", {"n_timesteps": 0}), "n_timesteps 0 is no number of steps"),
        (lambda: hyperparameters("ppo", "x", {"n_timesteps": float("inf")}), "n_timesteps inf is no number of steps"),
    ],
)
def test_wrong_hyperparameters(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# Storage and its errors


def test_a_zip_without_sidecar_needs_its_algorithm(tmp_path, trained):
    path = tmp_path / "mine.zip"
    path.write_bytes(trained["ppo"].read_bytes())
    with pytest.raises(ValueError, match="name its algorithm"):
        agents.make(f"sb3:{path}")
    env = make(IDS[0])
    env.reset(seed=0)
    expected = agents.make(f"sb3:{trained['ppo']}").act(env)
    assert agents.make(f"sb3:{path}", algorithm="ppo").act(env) == expected
    with pytest.raises(ValueError, match="no policy of maskable_ppo"):
        agents.make(f"sb3:{path}", algorithm="maskable_ppo")
    with pytest.raises(ValueError, match="dqn"):
        agents.make(f"sb3:{path}", algorithm="dqn")
    with pytest.raises(ValueError, match="did you mean 'ppo'"):
        agents.make(f"sb3:{path}", algorithm="pppo")


def test_a_policy_without_probabilities(tmp_path):
    DQN("MlpPolicy", make(IDS[0]), device="cpu", buffer_size=10).save(tmp_path / "q")
    env = make(IDS[0])
    env.reset(seed=0)
    assert agents.make(f"sb3:{tmp_path / 'q'}", algorithm="dqn").act(env) in range(10)
    with pytest.raises(ValueError, match="no probabilities"):
        agents.make(f"sb3:{tmp_path / 'q'}", algorithm="dqn", deterministic=False).act(env)


def test_wrong_files(tmp_path, trained):
    with pytest.raises(FileNotFoundError, match=r"there is no policy .*none\.zip"):
        agents.make(f"sb3:{tmp_path / 'none'}")
    (tmp_path / "torn.zip").write_bytes(trained["ppo"].read_bytes()[:5000])
    with pytest.raises(ValueError, match="is damaged"):
        storage.load(tmp_path / "torn", "ppo")
    (tmp_path / "torn.json").write_text("{")
    with pytest.raises(ValueError, match="is no JSON"):
        storage.load(tmp_path / "torn")
    (tmp_path / "torn.json").write_text("[]")
    with pytest.raises(ValueError, match="describes no policy"):
        storage.load(tmp_path / "torn")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        other.writestr("hello", "world")
    with pytest.raises(ValueError, match="is damaged, or no policy of ppo"):
        storage.load(tmp_path / "other", "ppo")
    with pytest.raises(ValueError, match="was made by 'ppo'"):
        storage.load(trained["ppo"], "maskable_ppo")
    with pytest.raises(ValueError, match="not for mcts_envs/LaneDefense10x10-v0"):
        storage.load(trained["ppo"], env_id="mcts_envs/LaneDefense10x10-v0")


def test_a_policy_for_another_game_is_refused(trained):
    for env_id in IDS[1:]:
        env = make(env_id)
        env.reset(seed=0)
        with pytest.raises(ValueError, match="use a policy that was trained here"):
            agents.make(f"sb3:{trained['ppo']}").act(env)


def test_a_policy_for_another_board_of_the_same_size_is_refused(tmp_path):
    path = quick(tmp_path, settings={"rows": 3, "columns": 4}).path
    assert json.loads(path.with_suffix(".json").read_text())["layout"] == {"planes": [6, 3, 4]}
    agent = agents.make(f"sb3:{path}")
    same, other = make(IDS[0], rows=3, columns=4, p_new=0.5), make(IDS[0], rows=4, columns=3)
    assert same.observation_space == other.observation_space
    for env in (same, other):
        env.reset(seed=0)
    assert agent.act(same) in range(13)
    with pytest.raises(ValueError, match=r"another board .* \(6, 3, 4\), here \(6, 4, 3\); use a policy"):
        agent.act(other)
    with pytest.raises(ValueError, match="another board"):
        evaluate(path, 2, settings={"rows": 4, "columns": 3})
    with pytest.raises(ValueError, match="another board"):
        quick(tmp_path, resume=path, timesteps=2048, settings={"rows": 4, "columns": 3})


GOOD_MOMENTS = {"mean": [0.0] * 38, "var": [1.0] * 38, "count": 9.0, "clip": 10.0, "epsilon": 1e-8}


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("algorithm", ["ppo"], r"algorithm \['ppo'\] is list, not a name"),
        ("algorithm", "pppo", "did you mean 'ppo'"),
        ("environment", 3, "environment 3 is int, not an environment id"),
        ("settings", None, "settings None is NoneType, not an object"),
        ("timesteps", -1, r"timesteps -1 is outside \[0,"),
        ("seed", "0", "seed '0' is str, not an integer"),
        ("hyperparameters", [], r"hyperparameters \[\] is list"),
        ("observation_space", {"shape": 38}, r"observation_space\.shape 38 is int, not a list of sizes"),
        ("observation_space", {"shape": [37]}, r"observation_space\.shape is of size \[37\], but \[38\]"),
        ("action_space", {}, "action_space lacks 'n'"),
        ("action_space", {"n": 11}, r"action_space\.n is of size 11, but 10"),
        ("layout", {"planes": ["3"]}, r"layout\.planes\[0\] '3' is str"),
        ("normalization", [], r"normalization \[\] is list"),
        ("normalization", {"observations": {"mean": [0]}}, "normalization lacks 'rewards'"),
        (
            "normalization",
            {"rewards": None, "observations": {"mean": [0]}},
            r"normalization\.observations lacks 'clip'",
        ),
        ("normalization", {"rewards": 1, "observations": None}, r"normalization\.rewards 1 is int"),
        *(
            ("normalization", {"rewards": None, "observations": {**GOOD_MOMENTS, **change}}, message)
            for change, message in (
                ({"mean": "x"}, r"normalization\.observations\.mean 'x' is no array of numbers"),
                ({"mean": [float("nan")] * 38}, r"mean has values that are not finite"),
                ({"mean": [0.0]}, r"mean has shape \(1,\) and .*var \(38,\)"),
                ({"mean": [0.0], "var": [1.0]}, r"mean is of size \[1\], but \[38\]"),
                ({"var": [-1.0] * 38}, r"var has the value -1\.0"),
                ({"clip": 0}, r"clip 0\.0 is outside"),
                ({"epsilon": None}, r"epsilon None is NoneType"),
            )
        ),
    ],
)
def test_damaged_sidecars(tmp_path, trained, field, value, message):
    path = tmp_path / "ppo.zip"
    path.write_bytes(trained["ppo"].read_bytes())
    about = json.loads(trained["ppo"].with_suffix(".json").read_text())
    path.with_suffix(".json").write_text(json.dumps({**about, field: value}))
    with pytest.raises(
        ValueError, match=rf"ppo\.json: .*{message}.*restore the file, or remove it and name the algorithm"
    ):
        agents.make(f"sb3:{path}")


def test_a_short_sidecar_is_enough(tmp_path, trained):
    path = tmp_path / "mine.zip"
    path.write_bytes(trained["ppo"].read_bytes())
    path.with_suffix(".json").write_text('{"algorithm": "ppo", "note": "mine"}')
    env = make(IDS[0])
    env.reset(seed=0)
    assert agents.make(f"sb3:{path}").act(env) == agents.make(f"sb3:{trained['ppo']}").act(env)
    with pytest.raises(ValueError, match="names its environment"):
        evaluate(path, 2)


@pytest.mark.parametrize("name", ["sb3", "ppo"])
@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
def test_copies_play_on(trained, monkeypatch, tmp_path, name, duplicate):
    monkeypatch.chdir(trained["ppo"].parent)
    env = make(IDS[0])
    env.reset(seed=0)
    agent = agents.make("sb3:ppo" if name == "sb3" else name, deterministic=False, seed=3)
    agent.act(env)
    monkeypatch.chdir(tmp_path)
    other = duplicate(agent)
    assert len(pickle.dumps(agent)) < 1000
    assert [other.act(env) for _ in range(20)] == [agent.act(env) for _ in range(20)]


def test_evaluations_are_played_on_fresh_games(trained, monkeypatch):
    seeds = []
    make_batch = mcts_envs.make_sb3_vec_env

    def note(env_id, n_envs, seed, **settings):
        seeds.append(seed)
        return make_batch(env_id, n_envs, seed, **settings)

    monkeypatch.setattr(mcts_envs, "make_sb3_vec_env", note)
    first, again, other = (evaluate(trained["ppo"], 20, seed=seed).returns for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert seeds == [FRESH, FRESH, FRESH + 1]
    assert min(seeds) >= 2**32
    for wrong in ({"games": 0}, {"n_envs": 0}, {"seed": -1}):
        with pytest.raises(ValueError, match="is outside"):
            evaluate(trained["ppo"], **wrong)


def test_a_failed_save_leaves_the_old_policy(tmp_path, trained, monkeypatch):
    saved = storage.load(trained["ppo"])
    path = storage.save(saved.model, tmp_path / "kept", saved.about)
    before = path.read_bytes()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        storage.save(saved.model, path, saved.about)
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["kept.json", "kept.zip"]


def test_wrong_trainings(tmp_path, trained):
    with pytest.raises(ValueError, match="unknown environment 'LaneDefence3x3-v0'"):
        quick(tmp_path, env_id="LaneDefence3x3-v0")
    with pytest.raises(TypeError, match="setting 'p_mov'"):
        quick(tmp_path, settings={"p_mov": 1})
    with pytest.raises(FileNotFoundError):
        quick(tmp_path, resume=tmp_path / "nothing")
    with pytest.raises(ValueError, match="was made by 'maskable_ppo'"):
        quick(tmp_path, resume=trained["maskable_ppo"])
    for number in ({"checkpoint_every": 0}, {"minutes": -1}, {"minutes": 0}, {"n_envs": 0}, {"seed": -1}):
        with pytest.raises(ValueError, match=f"{next(iter(number))} .* is outside"):
            quick(tmp_path, **number)
    with pytest.raises(ValueError, match="n_timesteps 0 is no number of steps from 1"):
        quick(tmp_path, timesteps=0)
    with pytest.raises(ValueError, match="n_steps 0 is outside"):
        quick(tmp_path, changes={"n_steps": 0})
    with pytest.raises(ValueError, match=r"ppo cannot train with these hyper-parameters: .*n_steps \* n_envs"):
        quick(tmp_path, n_envs=1, changes={"n_steps": 1})
    assert not list(tmp_path.iterdir())


# The policies that come with the package


@pytest.mark.parametrize(
    ("env_id", "algorithm", "floor"),
    [
        ("LaneDefense3x3-v0", "ppo", 0.55),
        ("LaneDefense3x3-v0", "maskable_ppo", 0.55),
        ("LaneDefense10x10-v0", "ppo", 0.80),
        ("LaneDefense5x9-v0", "maskable_ppo", 0.40),
    ],
)
def test_shipped_policies_beat_random_clearly(env_id, algorithm, floor):
    path = shipped(env_id, algorithm)
    assert path.stat().st_size < 2**20
    with zipfile.ZipFile(path) as archive:
        assert "system_info.txt" not in archive.namelist()
    assert (path.parent / "README.md").is_file()
    found = evaluate(path, 300, settings={})
    assert found.wins / found.games > floor
    env = make(env_id)
    env.reset(seed=0)
    agent = agents.make(algorithm)
    assert agent.act(env) == agents.make(f"sb3:{path}").act(env)
    assert shipped_for(env.unwrapped.game, algorithm) == path


def test_no_policy_is_shipped_for_other_settings():
    env = make(IDS[0], p_new=0.1)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"no ppo policy is shipped for lane_defense .*scripts/train\.py"):
        agents.make("ppo").act(env)
    with pytest.raises(ValueError, match="no nothing policy"):
        shipped(IDS[0], "nothing")
    folders = {path.parent.name for path in FOLDER.glob("*/*.zip")}
    assert folders <= {name.split("/")[-1] for name in mcts_envs.environment_ids()}


def test_wrappers_of_stable_baselines3_take_the_batch():
    env = VecFrameStack(VecNormalize(mcts_envs.make_sb3_vec_env(IDS[0], 2, seed=0)), 2)
    assert env.reset().shape == (2, 76)
    assert env.step(np.array([0, 1]))[0].shape == (2, 76)
