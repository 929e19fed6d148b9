"""Pictures and texts of what play produces: whole games of every environment's players, each frame drawn."""

from xml.etree import ElementTree

import gymnasium as gym
import numpy as np
import pytest

import agents
import mcts_envs  # noqa: F401
from mcts_envs.core.place import placed
from mcts_envs.core.players import scripted_players
from mcts_envs.core.view import View
from mcts_envs.registry import ENTRIES

IDS = list(ENTRIES)


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


@pytest.mark.parametrize("env_id", IDS)
def test_every_frame_of_whole_games_can_be_drawn(env_id):
    """Each frame as text and as shapes; every 25th and the last as pixels and SVG, of one size within a game."""
    game = game_of(env_id)
    for name in ("random", *scripted_players(game)):
        sizes = set()
        for number, state in enumerate(frames(game, name)):
            assert game.text(state)
            canvas = game.picture(state)
            if number % 25 == 0 or not game.active(state):
                ElementTree.fromstring(canvas.to_svg())
                sizes.add(canvas.to_rgb(8).shape)
        assert len(sizes) == 1


@pytest.mark.parametrize("env_id", [env_id for env_id in IDS if "Bomber" in env_id])
def test_every_frame_can_be_drawn_as_each_player_sees_it(env_id):
    whole = game_of(env_id)
    seen = [game_of(env_id, viewer=player) for player in range(whole.players)]
    for number, state in enumerate(frames(whole, "rule_based", most=250)):
        for game in seen:
            assert game.text(state)
            canvas = game.picture(state)
            if number % 50 == 0:
                ElementTree.fromstring(canvas.to_svg())


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
                    placed(game, game.position(state))
