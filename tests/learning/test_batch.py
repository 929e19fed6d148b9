"""The batch for Stable-Baselines3: the same as single environments, in what it answers, saves and trains."""

import pickle

import gymnasium as gym
import numpy as np
import pig
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecFrameStack, VecMonitor, VecNormalize

import mcts_envs
from mcts_envs.core.api.env import GameEnv
from mcts_envs.sb3 import GameVecEnv
from tests.learning.quick import make

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.saved.notices.PolicyWarning")
IDS = ("LaneDefense3x3-v0", "LaneDefense10x10-v0", "LaneDefense5x9-v0")


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
    for wrong, error in ((-1, ValueError), ("x", TypeError)):
        with pytest.raises(error, match=f"seed {wrong!r} is"):
            batch.seed(wrong)
    with pytest.raises(TypeError, match=r"seed 1\.5 is float, not an integer"):
        mcts_envs.make_sb3_vec_env(IDS[0], 3, seed=1.5)


@pytest.mark.parametrize("n", [np.int64(2), np.uint8(2), np.array(2)])
def test_the_number_of_games_may_be_of_numpy(n):
    starts = [mcts_envs.make_sb3_vec_env("LaneDefense3x3-v0", number, 255).reset() for number in (n, 2)]
    assert np.array_equal(*starts)


def test_batch_of_a_game_of_ones_own_is_pickled():
    env = GameVecEnv(GameEnv, 2, game=pig.pig)
    env.seed(np.uint8(255))
    env.reset()
    again = pickle.loads(pickle.dumps(env))
    assert again.env_method("clone_state") == env.env_method("clone_state")
    single = GameEnv(game=pig.pig)
    single.reset(seed=256)
    assert env.env_method("clone_state", indices=1) == [single.clone_state()]


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


def test_wrappers_of_stable_baselines3_take_the_batch():
    env = VecFrameStack(VecNormalize(mcts_envs.make_sb3_vec_env(IDS[0], 2, seed=0)), 2)
    assert env.reset().shape == (2, 76)
    assert env.step(np.array([0, 1]))[0].shape == (2, 76)
