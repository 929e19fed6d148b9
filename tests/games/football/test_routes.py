"""Ways over the pitch: the short cut over free squares, and the search for the cheapest way."""

import gymnasium as gym
import numpy as np
import pytest

import mcts_envs  # noqa: F401  (registers the environments)
from mcts_envs.games.football.players import routes
from mcts_envs.games.football.rules.layout import STATE


@pytest.mark.parametrize("size", [3, 5])
def test_a_free_way_is_the_one_that_the_search_finds(size):
    env = gym.make(f"mcts_envs/Football{size}-v0", opponent="scripted").unwrapped
    env.reset(seed=size)
    game, rng, free = env.game, np.random.default_rng(0), 0
    first = game.actions - 2 * int(np.prod(game.variant("planes").observation_shape[1:]))
    costs = np.zeros(game.actions)
    for _ in range(60):
        _, _, terminated, _, _ = env.step(int(rng.choice(env.legal_actions())))
        if terminated:
            env.reset()
        state = env.view().state
        s = state[: STATE.itemsize].view(STATE)[0]
        for player in np.flatnonzero(s["square"]).tolist():
            for goal in {0, int(s["ball"])} - {int(s["square"][player])}:
                step = routes._free_step(state, player, goal, costs)
                far = routes.find_ways(state, player, goal, costs, first)
                free += step >= 0
                assert step in (-1, routes._first_step(state, player, costs, first, far))
    assert free > 50
