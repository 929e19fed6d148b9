"""Pictures and texts of what play produces: whole games of every environment's players."""

import inspect
import re
from xml.etree import ElementTree

import gymnasium as gym
import numpy as np
import pytest

import agents
import mcts_envs  # noqa: F401
from mcts_envs.core.place import state_from_position
from mcts_envs.core.players import scripted_players
from mcts_envs.core.render import visible
from mcts_envs.core.showing import picture_of, text_of
from mcts_envs.core.view import View
from mcts_envs.registry import ENTRIES

IDS = [env_id for env_id in ENTRIES if env_id.startswith("mcts_envs/")]
QUICK = "mcts_envs/BomberTeam-v0", "mcts_envs/Football3-v0"
LONG = [env_id for env_id in IDS if ("Bomber" in env_id or "Football" in env_id) and env_id not in QUICK]
_COLOURS = re.compile("\x1b\\[[0-9;]*m")


def game_of(env_id, **settings):
    return gym.make(env_id, **settings).unwrapped.game


def frames(game, name, seed=0, most=900):
    """Yield the state at the start and after every step of a game that one player plays on all seats."""
    agent, state = agents.make(name, seed=seed), game.new_state()
    game.reset(state, np.uint64(seed))
    actions, rewards = np.zeros(game.players, np.int64), np.zeros(game.players)
    yield state
    while (bits := game.active(state)) and (most := most - 1):
        for player in range(game.players):
            if bits >> player & 1:
                actions[player] = agent.act(View(game, state, player))
        game.step(state, actions, rewards)
        yield state


@pytest.mark.parametrize(
    "env_id", [pytest.param(env_id, marks=[pytest.mark.slow] * (env_id in LONG)) for env_id in IDS]
)
def test_frames_of_whole_games_can_be_drawn(env_id):
    """Every 18th frame as text, in 80 columns, and as shapes; every 90th and the last as SVG and pixels too."""
    game = game_of(env_id)
    for name in ("random", *scripted_players(game)):
        sizes = set()
        for number, state in enumerate(frames(game, name)):
            over = not game.active(state)
            if number % 18 and not over:
                continue
            assert max(map(visible, text_of(game, state, game.players - 1).split("\n"))) <= 80
            canvas = picture_of(game, state, game.players - 1)
            if number % 90 == 0 or over:
                ElementTree.fromstring(canvas.to_svg())
                sizes.add(canvas.to_rgb(8).shape)
        assert len(sizes) == 1


@pytest.mark.parametrize(
    "env_id", ["mcts_envs/BomberTeam-v0", *(pytest.param(id, marks=pytest.mark.slow) for id in LONG if "Bomber" in id)]
)
def test_frames_can_be_drawn_as_each_player_sees_them(env_id):
    """Every third frame as text and as shapes, every 51st as SVG too."""
    whole = game_of(env_id)
    seen = [game_of(env_id, viewer=player) for player in range(whole.players)]
    for number, state in enumerate(frames(whole, "rule_based", most=250)):
        for game in seen if number % 3 == 0 else ():
            assert game.text(state)
            canvas = game.picture(state)
            if number % 51 == 0:
                ElementTree.fromstring(canvas.to_svg())


@pytest.mark.parametrize("env_id", [env_id for env_id in IDS if ENTRIES[env_id].players > 1])
def test_the_seat_is_marked_in_its_own_environment_alone(env_id):
    pictures, texts = [], []
    for seat in (0, 1):
        env = gym.make(env_id, seat=seat, render_mode="rgb_array").unwrapped
        env.reset(seed=1)
        env.game, state = game_of(env_id), next(frames(env.game, "random"))
        env._state[:] = state
        pictures.append(env.render().tobytes())
        texts.append(text_of(env.game, state, seat))
        assert "you" in texts[-1]
    assert pictures[0] != pictures[1]
    assert texts[0] != texts[1]
    assert "you" not in text_of(env.game, state)


def test_texts_and_pictures_and_pages_use_the_same_words():
    for env_id in ("mcts_envs/LaneDefense5x9-v0", "mcts_envs/Football11-v0", "mcts_envs/LaneDefense3x3-v0"):
        env = gym.make(env_id, render_mode="ansi")
        env.reset(seed=0)
        page, legend = inspect.getdoc(type(env.unwrapped)), _COLOURS.sub("", env.render()).split("\n")[-3:]
        for word in re.findall(r"(?:^|, )[A-Za-z] ([a-z]{3,}[a-z ]*)", ", ".join(legend)):
            assert word.removeprefix("armed ") in page, word


@pytest.mark.parametrize("env_id", IDS)
def test_the_position_of_an_ended_game_is_refused(env_id):
    for settings in ({}, {"max_steps": 5}):
        try:
            game = game_of(env_id, **settings)
        except TypeError:
            continue  # no limit of steps
        for name in ("random", "scripted"):
            for seed in range(3):
                *_, state = frames(game, name, seed, most=5000)
                assert not game.active(state)
                with pytest.raises(ValueError, match="already"):
                    state_from_position(game, game.position(state))
