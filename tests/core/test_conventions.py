"""What users of Gymnasium and PettingZoo expect by habit: a module for each game, names of actions, keys to play."""

import importlib
import pickle
import subprocess
import sys

import gymnasium as gym
import pytest
from gymnasium.utils.play import play

import mcts_envs
from mcts_envs import bomber_duel_v0, bomber_v0, wall_survival_v0
from mcts_envs.core.api.multi import GameAECEnv, GameParallelEnv
from mcts_envs.registry import ENTRIES

IDS = [id for id in ENTRIES if id.startswith("mcts_envs/")]


def test_every_game_for_several_has_a_module():
    modules = {name for name in vars(mcts_envs) if name.endswith("_v0")}
    assert {"bomber_v0", "bomber_team_v0", "football11_v0", "wall_survival_v0"} <= modules
    assert len(modules) == sum(ENTRIES[id].players > 1 for id in IDS)
    assert importlib.import_module("mcts_envs.bomber_v0") is bomber_v0
    assert importlib.util.find_spec("mcts_envs.bomber_v0").name == "mcts_envs.bomber_v0"


def test_the_modules_make_the_faces_of_their_id():
    env = bomber_duel_v0.env(max_steps=7, action_mask="info")
    assert isinstance(env, GameAECEnv)
    assert isinstance(bomber_duel_v0.raw_env(), GameAECEnv)
    assert isinstance(bomber_v0.parallel_env(), GameParallelEnv)
    assert wall_survival_v0.parallel_env(board_size=6).unwrapped.game.actions == 144
    expected = mcts_envs.make_aec("BomberDuel-v0", max_steps=7, action_mask="info")
    assert env.game.fingerprint == expected.game.fingerprint
    assert pickle.loads(pickle.dumps(bomber_duel_v0.env))().game.players == 2


@pytest.mark.parametrize("id", IDS)
def test_pages_name_all_settings_and_those_that_an_id_has_set(id):
    page = ENTRIES[id].env_class().__doc__
    assert "`observation_dtype`" in page
    unnamed = {key for key, value in ENTRIES[id].settings.items() if f"`{key}={value}`" not in page}
    assert unnamed <= {"mode", "rows", "columns", "size"}  # these are in the id


def test_the_modules_load_no_game():
    code = "import sys; from mcts_envs import football11_v0; print('numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


@pytest.mark.parametrize("id", IDS)
def test_actions_have_names(id):
    env = gym.make(id).unwrapped
    names = env.action_meanings()
    assert len(set(names)) == len(names) == env.action_space.n
    assert [env.action_name(action) for action in (0, env.action_space.n - 1)] == [names[0], names[-1]]
    with pytest.raises(ValueError, match=rf"action {len(names)} is outside \[0, {len(names) - 1}\]"):
        env.action_name(len(names))
    with pytest.raises(TypeError, match="action 'up' is str"):
        env.action_name("up")


def test_actions_have_the_same_names_on_all_faces():
    names = gym.make("mcts_envs/BomberDuel-v0").unwrapped.action_meanings()
    assert names == ["stop", "up", "down", "left", "right", "bomb"]
    assert bomber_duel_v0.env().action_meanings() == bomber_duel_v0.parallel_env().action_meanings() == names
    assert wall_survival_v0.parallel_env(board_size=6).unwrapped.action_name(5) == "0,1 right"
    assert mcts_envs.make_vec("BomberDuel-v0", 2).action_meanings() == names


def test_batches_for_sb3_name_actions_too():
    pytest.importorskip("stable_baselines3")
    batch = mcts_envs.make_sb3_vec_env("BomberDuel-v0", 2)
    assert batch.env_method("action_name", 5) == ["bomb", "bomb"]


@pytest.mark.parametrize(("id", "right"), [("mcts_envs/Bomber-v0", 4), ("mcts_envs/BomberRadio-v0", 4 * 64)])
def test_a_person_plays_the_bomber_grid(id, right, monkeypatch):
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    played = []

    def look(before, after, action, *said):
        played.append(action)
        kind = pygame.KEYDOWN if len(played) == 1 else pygame.QUIT if len(played) == 3 else None
        if kind is not None:
            pygame.event.post(pygame.event.Event(kind, key=ord("d")))

    env = gym.make(id, render_mode="rgb_array")
    play(env, fps=1000, seed=0, callback=look)
    assert played == [0, right, right]
    assert env.unwrapped.action_name(right).startswith("right")


def test_keys_are_missed_with_a_reason():
    env = gym.make("mcts_envs/LaneDefense3x3-v0").unwrapped
    with pytest.warns(UserWarning, match="lane_defense has no keys: its 10 actions are no moves of one figure"):
        assert env.get_keys_to_action() == {}
