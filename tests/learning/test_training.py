"""Trainings: what they learn to play, interruptions, evaluations, progress, the command, and mistakes."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

import expert_iteration
import sb3_contrib.common.maskable.evaluation as maskable
import train as train_command
import train_all
import typer
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import VecNormalize
from typer.testing import CliRunner

import agents
import mcts_envs
from agents.arena import interrupt
from agents.learning import baselines, callbacks, expert, progress
from agents.learning.evaluation import FRESH, evaluate
from agents.learning.hyperparameters import hyperparameters, plain, resolved
from agents.learning.networks import PlanesExtractor
from agents.learning.progress import ProgressReport
from agents.learning.saved import normalizing, storage
from agents.learning.training import Trained
from tests.learning.quick import make, quick

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.saved.notices.PolicyWarning")

ROOT = Path(__file__).parents[2]
IDS = ("LaneDefense3x3-v0", "LaneDefense10x10-v0", "LaneDefense5x9-v0")
SMALL = {"n_steps": 32, "batch_size": 64, "n_epochs": 1, "policy_kwargs": {"net_arch": [8]}}


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
        evaluate(path, 10, settings={"observation": "flat"})


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

    def save_and_stop(model, path, *more):
        if Path(path).parent.name == "checkpoints":
            signal.raise_signal(signal.SIGTERM)
        return save(model, path, *more)

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
    assert quick(tmp_path, resume=resumed.path, timesteps=2048) == Trained(resumed.path, 2048, 0.0)
    with pytest.raises(ValueError, match=r"timesteps 2047: .* has 2048 already; ask for more"):
        quick(tmp_path, resume=resumed.path, timesteps=2047)
    with pytest.raises(ValueError, match=r"seed 3: .* was trained with seed 0, and goes on with that; leave seed out"):
        quick(tmp_path, resume=resumed.path, timesteps=4096, seed=3)
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


def test_one_that_was_killed_before_its_last_save_ends_at_once(tmp_path, trained):
    saved = storage.load(trained["ppo"])
    checkpoint = storage.save(saved.model, tmp_path / "checkpoints" / "ppo_1024", saved.about)
    found = quick(tmp_path, resume=checkpoint, timesteps=1000)
    assert found.timesteps == storage.described(found.path)[1]["timesteps"] == 1024
    assert quick(tmp_path, resume=checkpoint, timesteps=1000) == Trained(found.path, 1024, 0.0)
    assert train_command.told(quick(tmp_path, resume=checkpoint, timesteps=1000)).startswith(
        f"{found.path} has its 1,024 steps"
    )
    with pytest.raises(ValueError, match="ask for more"):
        quick(tmp_path, resume=checkpoint, timesteps=900)


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


def test_evaluations_add_nothing_to_the_statistics_of_the_training():
    env, watched = (VecNormalize(mcts_envs.make_sb3_vec_env("LaneDefense3x3-v0", 2, seed=seed)) for seed in (0, 1))
    model = PPO("MlpPolicy", env, n_steps=16, batch_size=32, device="cpu")
    model.learn(32, callback=callbacks.evaluations(32, 0, watched, 2, masked=False))
    assert watched.obs_rms.count == env.obs_rms.count
    assert np.array_equal(watched.obs_rms.mean, env.obs_rms.mean)


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
    assert process.returncode == 128 + signal.SIGINT
    assert "interrupted after" in out
    assert f"; --resume {tmp_path / 'ppo.zip'} goes on\n" in out
    about = json.loads((tmp_path / "ppo.json").read_text())
    assert about["settings"] == {"p_new": 0.6}
    assert about["hyperparameters"]["n_epochs"] == 1
    assert list((tmp_path / "tensorboard").rglob("events*"))


SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


@pytest.mark.parametrize("number", SIGNALS)
def test_a_wish_to_stop_and_its_echo_are_one(number, monkeypatch):
    came = []
    before = signal.signal(number, lambda *_: came.append(number))
    try:
        with callbacks.StopRequest() as stop:
            signal.raise_signal(number)
            signal.raise_signal(number)
            assert (stop.signal, came) == (number, [])
            monkeypatch.setattr(callbacks, "SECONDS_OF_ECHO", 0.0)
            time.sleep(0.01)
            signal.raise_signal(number)
            assert came == [number]
    finally:
        signal.signal(number, before)


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="POSIX signals")
def test_a_training_under_nohup_goes_on():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with callbacks.StopRequest() as stop:
            signal.raise_signal(signal.SIGHUP)
        assert not stop.requested
    finally:
        signal.signal(signal.SIGHUP, before)


def test_without_a_log_nothing_is_left_in_the_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    quick(tmp_path / "out")
    assert not (tmp_path / "temporary").exists()


def said_by(code, *arguments):
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'scripts'}"}
    line = [sys.executable, "-c", code, *arguments]
    return subprocess.run(line, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_commands_end_with_the_signal_that_came_and_say_what_is_kept(tmp_path, monkeypatch, number):
    def ended(command, *arguments):
        app = typer.Typer()
        app.command()(command.main)
        done = CliRunner().invoke(app, [*arguments, "--workers", "1"])
        return done.exit_code, done.stderr.splitlines()

    monkeypatch.setattr(interrupt, "SECONDS_OF_ECHO", 0.0)
    for module, name in ((baselines, "train_all"), (expert, "play_all")):
        monkeypatch.setattr(module, name, lambda *_, **__: signal.raise_signal(number))
    before = signal.signal(number, signal.default_int_handler)
    try:
        trained = ended(train_all, "--out", str(tmp_path / "all"))
        played = ended(expert_iteration, IDS[0], "--out", str(tmp_path / "one"))
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)
    said = f"interrupted ({number.name}); what was trained is kept, and the same command goes on"
    assert trained == (128 + number, [said])
    said = f"interrupted ({number.name}); the games are kept in {tmp_path / 'one'}, and the same command goes on"
    assert (played[0], played[1][-1]) == (128 + number, f"{said} from here")


@pytest.mark.slow
def test_command_names_cures_as_options_and_refuses_a_bad_folder(tmp_path, trained):
    bare = tmp_path / "bare.zip"
    with zipfile.ZipFile(bare, "w") as file:
        file.writestr("data", "{}")
    code = "import sys, typer, train; typer.run(train.main)"
    assert "name the algorithm, as in --algo ppo" in said_by(code, IDS[0], "--resume", str(bare)).stderr
    done = said_by(code, IDS[0], "--out", str(bare / "below"), "--timesteps", "64")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "is a file; give a folder of yours" in done.stderr
    with pytest.raises(OSError, match=r"out .*below cannot be written: .* is a file; give a folder of yours"):
        quick(bare / "below")


def test_help_of_the_command_loads_no_library_and_warnings_are_lines():
    heavy = "print({'torch', 'numba'} & sys.modules.keys())"
    assert said_by(f"import sys, train; {heavy}").stdout == "set()\n"
    assert said_by("import _own, warnings; warnings.warn('one\\ntwo')").stderr == "warning: one two\n"


# Hyper-parameters


def test_hyperparameters_are_the_zoos():
    for algorithm in ("ppo", "maskable_ppo"):
        for env_id in mcts_envs.environment_ids():
            found = hyperparameters(algorithm, env_id)
            assert found.normalize in ({}, {"norm_obs": False, "norm_reward": True})
            rate = resolved(found.model)["learning_rate"]
            assert rate(1.0) > rate(0.5) > rate(0.0) == 0.0
    assert plain("dict(net_arch=[64, 64], ortho_init=False)") == {"net_arch": [64, 64], "ortho_init": False}
    assert plain("{'net_arch': {'pi': [64], 'vf': []}}") == {"net_arch": {"pi": [64], "vf": []}}
    assert resolved({"learning_rate": "3e-4"})["learning_rate"] == 3e-4


def test_the_frequency_of_training_may_have_a_unit():
    for given in ([1, "episode"], (4, "step"), 4):
        model = hyperparameters("dqn", "x", {"train_freq": given, "n_envs": 1}).model
        assert resolved(model)["train_freq"] == (given if given == 4 else tuple(given))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hyperparameters("pppo", "x"), "did you mean 'ppo'"),
        (lambda: hyperparameters("trpo", "x"), "algorithm to train with 'trpo'"),
        (lambda: hyperparameters("ppo", "x", {"n_step": 3}), "did you mean 'n_steps'"),
        (lambda: hyperparameters("ppo", "x", {"normalize": {"norm_observations": True}}), "norm_obs"),
        (lambda: plain("dict(a=__import__('os'))"), r"a mapping, which JSON writes"),
        (lambda: resolved({"learning_rate": "lin_fast"}), "lin_3e-4"),
        (lambda: hyperparameters("ppo", "x", {"n_steps": 0}), r"n_steps 0 is outside \[1,"),
        (lambda: hyperparameters("maskable_ppo", "x", {"batch_size": 0}), r"batch_size 0 is outside \[2,"),
        (
            lambda: hyperparameters("ppo", "x", {"policy_kwargs": "[64]"}),
            r"policy_kwargs '\[64\]' is no mapping; write",
        ),
        (lambda: hyperparameters("ppo", "x", {"policy_kwargs": "{'net_arch': f()}"}), "neither dict"),
        (lambda: hyperparameters("ppo", "x", {"policy_kwargs": "{[64]: 1}"}), "neither dict"),
        (lambda: hyperparameters("ppo", "x", {"gamma": 99}), r"gamma 99\.0 is outside \[0, 1\]"),
        (lambda: hyperparameters("ppo", "x", {"clip_range": float("nan")}), r"clip_range nan is outside \[0,"),
        (lambda: hyperparameters("ppo", "x", {"vf_coef": -3}), r"vf_coef -3\.0 is outside \[0,"),
        (lambda: hyperparameters("dqn", "x", {"buffer_size": 0}), r"buffer_size 0 is outside \[1,"),
        (lambda: hyperparameters("dqn", "x", {"tau": 5}), r"tau 5\.0 is outside \[0, 1\]"),
        (lambda: hyperparameters("ppo", "x", {"normalize": {"clip_obs": -1}}), r"normalize clip_obs -1\.0 is outside"),
        (lambda: resolved({"learning_rate": "lin_nan"}), "learning_rate nan is outside"),
        (lambda: hyperparameters("ppo", "x", {"n_envs": 0}), r"n_envs 0 is outside \[1,"),
        (lambda: hyperparameters("ppo", "x", {"n_timesteps": 0}), "n_timesteps 0 is no number of steps"),
        (lambda: hyperparameters("ppo", "x", {"n_timesteps": float("inf")}), "n_timesteps inf is no number of steps"),
        (
            lambda: hyperparameters("ppo", "x", {"policy": "MlPolicy"}),
            "did you mean 'MlpPolicy'",
        ),
        (lambda: hyperparameters("ppo", "x", {"policy": None}), "unknown policy None"),
        (lambda: hyperparameters("ppo", "x", {"learning_rate": "lin_fast"}), "lin_3e-4"),
        (lambda: hyperparameters("ppo", "x", {"learning_rate": None}), "learning_rate None is NoneType, not a number"),
        (lambda: hyperparameters("ppo", "x", {"ent_coef": None}), "ent_coef None is NoneType, not a number"),
        (lambda: hyperparameters("ppo", "x", {"max_grad_norm": None}), "max_grad_norm None is NoneType, not a number"),
        (lambda: hyperparameters("ppo", "x", {"normalize_advantage": "no"}), "normalize_advantage 'no' is not True"),
        (
            lambda: hyperparameters("ppo", "x", {"rollout_buffer_kwargs": [1]}),
            r"_kwargs \[1\] is no mapping",
        ),
        (lambda: hyperparameters("ppo", "x", {"rollout_buffer_class": "B"}), "unknown ppo hyper-parameter key"),
        (lambda: hyperparameters("dqn", "x", {"train_freq": 0}), r"train_freq 0 is outside \[1,"),
        (lambda: hyperparameters("dqn", "x", {"train_freq": (1, "day")}), r"train_freq \(1, 'day'\) is tuple"),
        (lambda: hyperparameters("dqn", "x", {"train_freq": [1, "episode"]}), "in one environment; give n_envs=1"),
        (lambda: hyperparameters("dqn", "x", {"train_freq": []}), r"train_freq \[\] is list, not an integer"),
    ],
)
def test_wrong_hyperparameters(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call()


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
    assert seeds[0] == seeds[1] == FRESH >= 2**32
    assert seeds[2] >= FRESH + 20  # each game of a batch has a seed of its own, from the first one on
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
    with pytest.raises(ValueError, match="FrozenLake-v1 is an environment of others, and this wants a game of ours"):
        quick(tmp_path, env_id="FrozenLake-v1")
    for name in ("pettingzoo.classic.tictactoe_v3", "fractions:Fraction"):
        with pytest.raises(ValueError, match=f"{name} is an environment of others, and this wants a game of ours"):
            quick(tmp_path, env_id=name)
    with pytest.raises(TypeError, match="setting 'p_mov'"):
        quick(tmp_path, settings={"p_mov": 1})
    with pytest.raises(FileNotFoundError):
        quick(tmp_path, resume=tmp_path / "nothing")
    with pytest.raises(ValueError, match="was made by 'maskable_ppo'"):
        quick(tmp_path, resume=trained["maskable_ppo"])
    wrong = ({"checkpoint_every": 0}, {"minutes": -1}, {"minutes": 0}, {"n_envs": 0}, {"seed": -1}, {"timesteps": 0})
    for number in wrong:
        with pytest.raises(ValueError, match=f"{next(iter(number))} .* is outside"):
            quick(tmp_path, **number)
    with pytest.raises(ValueError, match="n_steps 0 is outside"):
        quick(tmp_path, changes={"n_steps": 0})
    with pytest.raises(ValueError, match=r"ppo cannot train with these hyper-parameters: .*n_steps \* n_envs"):
        quick(tmp_path, n_envs=1, changes={"n_steps": 1})
    for change in ({"policy": "MultiInputPolicy"}, {"policy_kwargs": {"net_arch": [-4]}}, {"n_steps": 10**11}):
        with pytest.raises(ValueError, match="ppo cannot train with these hyper-parameters: "):
            quick(tmp_path, changes=change)
    assert not list(tmp_path.iterdir())
