"""A live game by itself, and that every API holds one."""

import gymnasium as gym
import numpy as np
import pytest

import mcts_envs
from mcts_envs.core.api.live import SeatedGame, SharedGame

ID = "mcts_envs/WallSurvival-v0"


@pytest.fixture(scope="module")
def game():
    return gym.make(ID).unwrapped.game


def test_nothing_is_told_before_the_first_reset(game):
    live = SeatedGame(game, 0)
    for ask in (live.position, lambda: live.view(0), lambda: live.clone(True), lambda: live.render("ansi", "")):
        with pytest.raises(gym.error.ResetNeeded, match=r"call reset\(\) before \w+\(\)"):
            ask()


@pytest.mark.parametrize("include_rng", [True, False])
def test_what_is_cloned_is_loaded(game, include_rng):
    live, other = SeatedGame(game, 0), SeatedGame(game, 0)
    live.restart(3, None, lambda: 0)
    other.restart(4, None, lambda: 0)
    live.pending_reward[0], live.outcome[0] = 0.25, 0.5
    running = other.state[:8].copy()
    snapshot = live.clone(include_rng)
    other.check(snapshot)
    other.load(snapshot)
    assert other.clone(False) == live.clone(False)
    assert np.array_equal(other.state[:8], live.state[:8] if include_rng else running)
    assert (other.pending_reward[0], other.outcome[0]) == (0.25, 0.5)


def test_episodes_begin_with_a_seed_or_with_the_running_stream(game):
    live, twin = SeatedGame(game, 0), SharedGame(game)
    first = [each.restart(None, None, lambda: 7) for each in (live, twin)]
    assert first == [live.restart(7, None, lambda: 0), twin.restart(7, None, lambda: 0)]
    began = live.episode
    assert live.restart(None, None, lambda: 7) == twin.restart(None, None, lambda: 7) != first[0]
    assert live.episode is not began
    assert np.array_equal(live.state, twin.state)


def test_every_api_holds_a_live_game_and_gives_away_its_snapshots():
    env, batch, aec = gym.make(ID).unwrapped, mcts_envs.make_vec(ID, 2), mcts_envs.make_aec(ID).unwrapped
    for each in (env, batch, aec):
        each.reset(seed=5)
        assert each.position() == env._live.position()
        assert each.view().state[8:].tobytes() == env._live.state[8:].tobytes()
    assert env.clone_state() == env._live.clone(True) == batch.clone_state(0)
    assert aec.clone_state().state[8:] == env._live.clone(True).state[8:]
