"""A training that was killed and resumed comes to the same end as one that never was."""

import json
import shutil
import time
import zipfile

import gymnasium
import numpy as np
import pytest
from sb3_contrib import MaskablePPO, RecurrentPPO
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import DummyVecEnv, VecCheckNan, VecFrameStack, VecNormalize

import mcts_envs
from agents.learning import callbacks, curves, resuming, training
from agents.learning.beside import beside
from agents.learning.run import last_checkpoint
from agents.learning.selfplay import SelfPlay
from tests.learning.quick import SMALL, quick

NORMALIZED = {"normalize": {"norm_obs": True, "norm_reward": True}}
SELVES = {"board_size": 3, "seat": "all", "opponent": {"self": 2, "greedy": 1, "agents:mobility": 0.3}}
TAUGHT = {"self_play": {"every": 512, "most": 2, "choice": "prioritized"}, "imitate": {"agent": "greedy", "steps": 300}}
BUFFER = {"learning_starts": 200, "buffer_size": 900, "policy_kwargs": {"net_arch": [8]}}
TRAININGS = {
    "normalised": ("ppo", "LaneDefense3x3-v0", {}, NORMALIZED),
    "past selves": ("maskable_ppo", "WallSurvival-v0", SELVES, TAUGHT),
    "planes in bytes": ("ppo", "LaneDefense3x3-v0", {"observation": "planes", "observation_dtype": "uint8"}, {}),
    "replay buffer": ("dqn", "LaneDefense3x3-v0", {}, BUFFER),
    "returns of three steps": ("dqn", "LaneDefense3x3-v0", {}, {**BUFFER, "n_steps": 3}),
}
ALIKE = "planes in bytes", "returns of three steps"


class Killed(BaseException):
    """Nothing of a process goes on after this."""


@pytest.fixture
def kill(monkeypatch):
    """Returns a function: let the next training be killed as soon as it has saved so many checkpoints."""
    save, left = training.save, []

    def save_and_die(*given, **more):
        save(*given, **more)
        if left:
            left[0] -= 1
            if not left[0]:
                left.clear()
                raise Killed

    monkeypatch.setattr(training, "save", save_and_die)
    return left.append


def weights(path):
    with zipfile.ZipFile(path) as file:
        return file.read("policy.pth"), file.read("policy.optimizer.pth")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in ALIKE)) for name in TRAININGS])
def test_killed_twice_it_comes_to_the_same_end(tmp_path, kill, name):
    algorithm, env_id, settings, changes = TRAININGS[name]
    asked = {"env_id": env_id, "settings": settings, "changes": changes, "timesteps": 2048}
    whole = quick(tmp_path / "whole", algorithm, **asked)
    folder = tmp_path / "killed"
    kill(1)
    with pytest.raises(Killed):
        quick(folder, algorithm, checkpoint_every=500, **asked)
    first, path = last_checkpoint(folder, algorithm)
    kill(1)
    with pytest.raises(Killed):
        quick(folder, algorithm, checkpoint_every=500, resume=path, **asked)
    second, path = last_checkpoint(folder, algorithm)
    assert first < second < 2048
    resumed = quick(folder, algorithm, resume=path, **asked)
    assert resumed.timesteps == whole.timesteps
    assert weights(resumed.path) == weights(whole.path)
    assert [file.name for file in folder.rglob("*.resume.npz")] == [f"{algorithm}.resume.npz"]


def test_stopped_between_rollouts_it_goes_on_as_if_it_had_not_been(tmp_path):
    whole = quick(tmp_path / "whole", timesteps=2048)
    short = quick(tmp_path / "stopped", minutes=0.001, timesteps=2048)
    assert short.timesteps % (32 * 8) == 0
    assert weights(quick(tmp_path / "stopped", resume=short.path, timesteps=2048).path) == weights(whole.path)


def test_a_rollout_that_takes_too_long_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(callbacks, "_PATIENCE", 0.0)
    monkeypatch.setattr(callbacks.Limits, "over", lambda self: self.num_timesteps >= 300)  # a rollout ends with 256
    short = quick(tmp_path, timesteps=10**6)
    assert short.timesteps == 304
    assert not [*tmp_path.rglob("*.resume.npz")]
    monkeypatch.undo()
    assert quick(tmp_path, resume=short.path, timesteps=short.timesteps + 1).timesteps > short.timesteps


def test_of_two_algorithms_in_one_folder_each_keeps_its_own(tmp_path, kill):
    kill(1)
    with pytest.raises(Killed):
        quick(tmp_path, checkpoint_every=500)
    quick(tmp_path, "maskable_ppo", checkpoint_every=500)
    _, path = last_checkpoint(tmp_path, "ppo")
    assert beside(path, resuming.SUFFIX).is_file()


@pytest.fixture
def stopped(tmp_path):
    """A training in its middle, with the file of what it goes on with."""
    result = quick(tmp_path / "stopped", timesteps=512)
    assert beside(result.path, resuming.SUFFIX).is_file()
    return result.path


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"n_envs": 4}, "n_envs is 4 and was 8"),
        ({"settings": {"max_steps": 50}}, "max_steps is 50 and was its default"),
    ],
)
def test_other_games_than_before_begin_anew(stopped, change, why, capsys):
    assert quick(stopped.parent, resume=stopped, timesteps=1024, progress=True, **change).timesteps == 1024
    said = f"goes on with new games: {why}; give what it was, and the games under way go on\n"
    assert said in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore:.*holds pickles")
def test_other_threads_go_on_with_the_same_games(stopped, tmp_path):
    shutil.copytree(stopped.parent, tmp_path / "copy")
    one = quick(stopped.parent, resume=stopped, timesteps=1024)
    two = quick(tmp_path / "copy", resume=tmp_path / "copy" / "ppo", timesteps=1024, settings={"threads": 2})
    assert weights(one.path) == weights(two.path)


def test_a_setting_is_changed_and_the_others_hold(stopped):
    given = {"p_new": 0.4}, {"max_steps": 50}
    for steps, settings in enumerate(given, 2):
        path = quick(stopped.parent, resume=stopped, timesteps=512 * steps, settings=settings).path
    assert json.loads(path.with_suffix(".json").read_text())["settings"] == {"p_new": 0.4, "max_steps": 50}


@pytest.mark.parametrize(
    "change",
    [
        {"buffer_size": 400},
        {"optimize_memory_usage": True, "replay_buffer_kwargs": {"handle_timeout_termination": False}},
    ],
)
def test_another_replay_buffer_than_before_begins_empty(tmp_path, change):
    path = quick(tmp_path, "dqn", changes=BUFFER, timesteps=512).path
    assert quick(tmp_path, "dqn", resume=path, changes=change, timesteps=1024).timesteps == 1024


@pytest.mark.filterwarnings("ignore:.*holds pickles")
def test_without_the_file_or_with_that_of_another_policy_games_begin_anew(tmp_path, stopped, capsys):
    whole = quick(tmp_path / "whole", timesteps=1024)
    shutil.copytree(stopped.parent, tmp_path / "without")
    beside(tmp_path / "without" / "ppo", resuming.SUFFIX).unlink()
    shutil.copytree(stopped.parent, tmp_path / "another")
    shutil.copy(beside(whole.path, resuming.SUFFIX), tmp_path / "another")
    folders = tmp_path / "without", tmp_path / "another"
    ends = [weights(quick(folder, resume=folder / "ppo", timesteps=1024, progress=True).path) for folder in folders]
    said = capsys.readouterr().err.splitlines()
    assert said == [f"goes on with new games: no {folder / 'ppo.resume.npz'} of as many steps" for folder in folders]
    assert ends[0] == ends[1] != weights(whole.path)


def damage(file, name):
    """Change one of the arrays in a file."""
    with np.load(file) as found:
        arrays = dict(found)
    if name == "about":
        about = json.loads(arrays["about"].tobytes()) | {"game": "LaneDefense:1:2:3"}
        arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    elif name == "wrapper:0:returns":
        del arrays[name]
    else:
        arrays[name][0] ^= 1
    np.savez(file, **arrays)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("games:_states", "seal does not fit"),
        ("about", "restore it in an environment made with the same id"),
        ("wrapper:0:returns", "are wanted"),
    ],
)
def test_a_damaged_file_is_refused(stopped, name, said):
    damage(beside(stopped, resuming.SUFFIX), name)
    before = {path: path.read_bytes() for path in stopped.parent.rglob("*.*")}
    with pytest.raises(ValueError, match=rf"ppo\.resume\.npz is damaged.*{said}.*remove it to go on with new games"):
        quick(stopped.parent, resume=stopped, timesteps=1024)
    assert before.items() <= {path: path.read_bytes() for path in stopped.parent.rglob("*.*") if path in before}.items()
    beside(stopped, resuming.SUFFIX).write_bytes(b"torn")
    with pytest.raises(ValueError, match="is damaged"):
        quick(stopped.parent, resume=stopped, timesteps=1024)


# In a script of one's own


def selves():
    return mcts_envs.make_sb3_vec_env("WallSurvival-v0", 4, seed=3, board_size=3, seat="all", opponent={"self": 1})


def test_a_script_of_ones_own_goes_on(tmp_path):
    made = {"n_steps": 16, "batch_size": 64, "n_epochs": 1, "seed": 1, "device": "cpu"}
    whole, past = MaskablePPO("MlpPolicy", VecNormalize(selves()), **made), SelfPlay(every=64)
    whole.learn(128, callback=past)
    past.save(tmp_path / "own.zip", whole)
    resuming.save(tmp_path / "own.zip", whole)
    whole.save(tmp_path / "own.zip", exclude=["_last_obs"])
    whole.get_env().save(tmp_path / "own.pkl")
    whole.learn(128, callback=past, reset_num_timesteps=False)

    env = VecNormalize.load(tmp_path / "own.pkl", selves())
    model, past = MaskablePPO.load(tmp_path / "own.zip", env=env, device="cpu"), SelfPlay(every=64)
    past.load(tmp_path / "own.zip", model)
    on = resuming.load(tmp_path / "own.zip", model)
    model.learn(128, callback=[on, past], reset_num_timesteps=False)
    for name, value in whole.policy.state_dict().items():
        assert np.array_equal(value.numpy(), model.policy.state_dict()[name].numpy())


def test_frames_of_a_stack_go_on_too(tmp_path):
    made = {"n_steps": 8, "batch_size": 32, "n_epochs": 1, "seed": 1, "device": "cpu"}

    def stacked():
        return VecFrameStack(mcts_envs.make_sb3_vec_env("LaneDefense3x3-v0", 4, seed=3), 3)

    whole = PPO("MlpPolicy", stacked(), **made).learn(64)
    whole.save(tmp_path / "own")
    resuming.save(tmp_path / "own", whole)
    whole.learn(64, reset_num_timesteps=False)
    model = PPO.load(tmp_path / "own", env=stacked(), device="cpu")
    model.learn(64, callback=resuming.load(tmp_path / "own", model), reset_num_timesteps=False)
    assert np.array_equal(*(m.policy.state_dict()["action_net.weight"].numpy() for m in (whole, model)))


def test_a_recurrent_policy_remembers_the_games_under_way(tmp_path):
    made = {"n_steps": 8, "batch_size": 32, "n_epochs": 1, "seed": 1, "device": "cpu"}
    small = {"net_arch": [8], "lstm_hidden_size": 8}
    env = mcts_envs.make_sb3_vec_env("LaneDefense3x3-v0", 4, seed=3)
    whole = RecurrentPPO("MlpLstmPolicy", env, policy_kwargs=small, **made).learn(32)
    whole.save(tmp_path / "own")
    resuming.save(tmp_path / "own", whole)
    whole.learn(32, reset_num_timesteps=False)
    again = mcts_envs.make_sb3_vec_env("LaneDefense3x3-v0", 4, seed=3)
    model = RecurrentPPO.load(tmp_path / "own", env=again, device="cpu")
    model.learn(32, callback=resuming.load(tmp_path / "own", model), reset_num_timesteps=False)
    assert np.array_equal(*(m.policy.state_dict()["action_net.weight"].numpy() for m in (whole, model)))


def test_environments_that_cannot_be_saved_are_named(tmp_path):
    others = DummyVecEnv([lambda: gymnasium.make("CartPole-v1")])
    with pytest.raises(
        ValueError, match="games of a DummyVecEnv cannot be saved all at once; make the environment with"
    ):
        resuming.save(tmp_path / "own", PPO("MlpPolicy", others, n_steps=8, batch_size=8))
    wrapped = VecCheckNan(mcts_envs.make_sb3_vec_env("LaneDefense3x3-v0", 2))
    model = PPO("MlpPolicy", wrapped, n_steps=8, batch_size=8, policy_kwargs=SMALL["policy_kwargs"])
    with pytest.raises(ValueError, match="what a VecCheckNan remembers is not known; known: VecNormalize, "):
        resuming.save(tmp_path / "own", model)
    assert not resuming.load(tmp_path / "own", model).found


def test_a_model_without_its_environment_is_no_damage(tmp_path):
    env = mcts_envs.make_sb3_vec_env("LaneDefense3x3-v0", 2)
    model = PPO("MlpPolicy", env, n_steps=8, batch_size=8, policy_kwargs=SMALL["policy_kwargs"]).learn(16)
    model.save(tmp_path / "own")
    resuming.save(tmp_path / "own", model)
    for given, said in ((None, r"no environment; .*load\(path, env=env\)"), (VecCheckNan(env), "known: VecNorm")):
        with pytest.raises(ValueError, match=said) as found:
            resuming.load(tmp_path / "own", PPO.load(tmp_path / "own", env=given))
        assert "damaged" not in str(found.value)


def test_a_finished_training_is_finished_from_each_of_its_checkpoints(tmp_path):
    finished = training.Trained(quick(tmp_path, checkpoint_every=256).path, 1024, 0.0)
    for steps in (512, 768):
        assert quick(tmp_path, resume=tmp_path / "checkpoints" / f"ppo_{steps}.zip") == finished
    for other in ({"changes": {"gamma": 0.9}}, {"settings": {"p_move": 0.5}}, {"timesteps": 2048}):
        with pytest.raises(FileExistsError, match=r"\(1024 steps\) exists"):
            quick(tmp_path, resume=tmp_path / "checkpoints" / "ppo_512.zip", **other)


def test_a_curve_is_whole_where_the_clock_has_gone_back(tmp_path, monkeypatch):
    options, now = {"tensorboard": True, "evaluate_every": 256}, time.time
    begun = quick(tmp_path, **options)
    monkeypatch.setattr(time, "time", lambda: now() - 7200)
    quick(tmp_path, resume=begun.path, timesteps=2048, **options)
    assert [point.steps for point in curves.read(tmp_path / "tensorboard")] == [*range(256, 2049, 256)]


def test_a_training_whose_folder_has_brackets_goes_on_in_its_log(tmp_path):
    begun = quick(tmp_path / "[a]", tensorboard=True)
    quick(tmp_path / "[a]", tensorboard=True, resume=begun.path, timesteps=2048)
    assert [path.name for path in (tmp_path / "[a]" / "tensorboard").iterdir()] == ["ppo_1"]
