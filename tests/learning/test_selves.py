"""Past selves that go while games against them are under way, and policies that cannot be any."""

import errno
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from sb3_contrib import RecurrentPPO

import mcts_envs
from agents.learning.imitation import imitate
from agents.learning.selfplay import SelfPlay
from mcts_envs.core.api.mixed_turns import shown
from tests.learning.quick import quick


class First:
    """Takes the first legal action, and counts how often it was asked."""

    asked = 0

    def act_all(self, game, states, players, seeds):
        self.asked += len(states)
        return shown(game, states, players)[1].argmax(1)


def made(names):
    """Return a batch with past selves of these names, and them."""
    opponent = {"greedy": 1e-9, "self": 1.0}
    env = mcts_envs.make_sb3_vec_env("WallSurvival-v0", 8, seed=0, board_size=6, opponent=opponent)
    players = {name: First() for name in names}
    for name, player in players.items():
        env.unwrapped.opponents.add_self(name, player, 3)
    return env, players


def moved(env, players):
    """Return which past selves are asked in a step."""
    before = {name: player.asked for name, player in players.items()}
    env.step(np.stack(env.env_method("action_masks")).argmax(1))
    return {name for name, player in players.items() if player.asked > before[name]}


@pytest.mark.parametrize("anew", [False, True])
def test_games_under_way_keep_their_past_selves_when_the_oldest_goes(anew):
    env, players = made("abc")
    mixture, players["d"] = env.unwrapped.opponents, First()
    mixture.share([1, 1, 0])
    env.reset()
    mixture.add_self("d", players["d"], 3)
    if anew:
        mixture.share([0, 0, 1])
        env.reset()
    assert moved(env, players) == ({"d"} if anew else {"b"})  # those of a, which went, too


def test_games_are_saved_with_the_past_selves_that_are_there_then():
    env, _ = made("abc")
    env.unwrapped.opponents.share([0, 1, 0])
    env.reset()
    env.unwrapped.opponents.add_self("d", First(), 3)
    games = env.unwrapped.clone_games()
    again, players = made("bcd")
    again.unwrapped.restore_games(games)
    assert moved(again, players) == {"b"}


def test_a_policy_that_remembers_is_no_past_self_and_imitates_nobody():
    env = mcts_envs.make_sb3_vec_env("WallSurvival-v0", 2, board_size=3, opponent={"self": 1})
    model = RecurrentPPO("MlpLstmPolicy", env, n_steps=16, batch_size=16, device="cpu")
    with pytest.raises(ValueError, match="RecurrentPPO remembers what it has seen of a game"):
        model.learn(32, callback=SelfPlay())
    with pytest.raises(ValueError, match="policies with probabilities and no memory, not for RecurrentPPO"):
        imitate(model, "greedy", 256)


def test_a_full_disk_leaves_a_policy_its_own_past_selves(tmp_path, monkeypatch):
    options = {"env_id": "WallSurvival-v0", "settings": {"board_size": 3, "opponent": {"self": 1}}}
    path = quick(tmp_path, **options, changes={"self_play": {"every": 256}}).path
    before, opened = path.with_name("ppo.selves.npz").read_bytes(), Path.open

    def full(file, *given, **more):
        if file.name.startswith(".ppo.zip"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return opened(file, *given, **more)

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(OSError, match="No space left"):
        quick(tmp_path, resume=path, timesteps=2048, **options)
    assert path.with_name("ppo.selves.npz").read_bytes() == before


@pytest.mark.filterwarnings("ignore:.*holds pickles")
def test_a_training_that_goes_on_without_its_past_selves_says_so(tmp_path, capsys):
    options = {"env_id": "WallSurvival-v0", "settings": {"board_size": 3, "opponent": {"self": 1}}}
    path = quick(tmp_path, **options, changes={"self_play": {"every": 256}}).path
    lost = path.with_name("ppo.selves.npz")
    lost.unlink()
    quick(tmp_path, resume=path, timesteps=1280, progress=True, **options)
    assert f"goes on without past selves and results against opponents: no {lost}\n" in capsys.readouterr().err
    quick(tmp_path, resume=path, timesteps=1536, progress=True, **options)
    assert "without past selves" not in capsys.readouterr().err
