"""Pictures, videos and notebooks by the Gymnasium API."""

import dataclasses
import sys
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

from mcts_envs.core.api.multi import GameAECEnv, parallel
from tests.toys import TicTacToe

LANES = ("mcts_envs/LaneDefense3x3-v0", "mcts_envs/LaneDefense10x10-v0", "mcts_envs/LaneDefense5x9-v0")
SMALL = LANES[0]


def test_render():
    for name in LANES:
        env = gymnasium.make(name, render_mode="rgb_array")
        env.reset(seed=0)
        picture = env.render()
        assert (picture.dtype, picture.shape[2]) == (np.uint8, 3)
        env = gymnasium.make(name, render_mode="ansi")
        env.reset(seed=0)
        assert isinstance(env.render(), str)
    env = TicTacToe()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        env.render()


def test_video(tmp_path):
    pytest.importorskip("moviepy")
    env = gymnasium.make(SMALL, render_mode="rgb_array", max_steps=4)
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path / "video"), episode_trigger=lambda episode: True)
    env.reset(seed=0)
    for _ in range(4):
        env.step(9)
    env.close()
    videos = list((tmp_path / "video").glob("*.mp4"))
    assert len(videos) == 1
    assert videos[0].stat().st_size > 500


def test_notebooks_show_the_game():
    for env in (gymnasium.make(SMALL).unwrapped, GameAECEnv(TicTacToe), parallel(TicTacToe)):
        assert "call reset() to see the game" in env._repr_html_()
        env.reset(seed=1)
        assert env._repr_html_().startswith('<svg style="max-width:100%;height:auto" xmlns=')
    wrapped = gymnasium.make(SMALL)
    wrapped.reset(seed=1)
    assert str(wrapped).startswith("<")
    assert "svg" in wrapped.unwrapped._repr_html_()
    without = TicTacToe()
    without.game = dataclasses.replace(without.game, picture=None)
    without.reset(seed=1)
    assert without._repr_html_() == "<p>&lt;TicTacToe instance&gt;</p>"


def test_notebooks_show_the_game_in_its_wrappers(monkeypatch):
    shown = {}
    html = SimpleNamespace(for_type_by_name=lambda module, name, show: shown.update({f"{module}.{name}": show}))
    session = SimpleNamespace(display_formatter=SimpleNamespace(formatters={"text/html": html}))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: session))
    env = gymnasium.make(SMALL)
    show = shown["gymnasium.core.Wrapper"]
    env.reset(seed=1)
    assert show(env) == env.unwrapped._repr_html_()
    assert show(gymnasium.make("CartPole-v1")) is None
    own = type("Own", (gymnasium.Wrapper,), {"_repr_html_": lambda self: "own"})
    assert show(own(env)) == "own"


@pytest.mark.filterwarnings("ignore:.*You are trying to use 'human' rendering")
def test_human_mode(monkeypatch):
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = gymnasium.make(SMALL, render_mode="human")
    env.reset(seed=0)
    env.step(4)
    assert env.render() is None
    env.close()
