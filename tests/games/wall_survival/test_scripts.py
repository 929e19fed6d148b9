"""Wall survival: players that are no search."""

import gymnasium as gym
import numpy as np
import pytest

import agents
from mcts_envs.core.compiling.table import TABLE, active_of, advise_of, legal_of, reset_of, step_of
from mcts_envs.core.contract import BYTES, FLOATS, INTS, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import choose_among, draw, new_stream
from mcts_envs.games.wall_survival.rules.layout import STATE
from mcts_envs.games.wall_survival.spec import wall_survival
from tests.games.wall_survival.naive import at, legal_of_state, number, records, triple

ID = "mcts_envs/WallSurvival-v0"


@kernel(types.void(TABLE, TABLE, BYTES, BYTES, INTS, INTS, FLOATS, FLOATS, FLOATS))
def play_advised(first, second, state, stream, actions, legal, weights, rewards, results):
    """Let two players that follow advice play; the first begins every other game. Results are the first's."""
    for game in range(results.shape[0]):
        reset_of(first)(state, draw(stream))
        while active_of(first)(state):
            player = active_of(first)(state) >> 1
            count = legal_of(first)(state, player, legal)
            if player == game & 1:
                advise_of(first)(state, player, weights)
            else:
                advise_of(second)(state, player, weights)
            actions[player] = choose_among(stream, weights, legal, count)
            step_of(first)(state, actions, rewards)
        results[game] = rewards[game & 1]


@pytest.mark.parametrize("size", [6, 12])
def test_the_greedy_player_beats_the_random_walk(size):
    game = wall_survival(size)
    results = np.zeros(400)
    work = np.zeros(2, np.int64), np.zeros(game.actions, np.int64), np.zeros(game.actions), np.zeros(2)
    first, second = game.variant("greedy").table, game.variant("random_walk").table
    play_advised(first, second, game.new_state(), new_stream(1), *work, results)
    assert (results == 1).mean() > 0.97


def test_the_greedy_player_wins_at_once_and_does_not_lose_at_once():
    wins = losses = 0
    for case in records("positions")[::2]:
        if case["end"][0] or case["K"] == 0:
            continue
        game = wall_survival(case["M"], reach=case["K"])
        state, rewards = at(game, case), np.zeros(2)
        outcomes = {}
        for action in legal_of_state(game, state, 0):
            after = state.copy()
            game.step(after, np.full(2, number(action, case["M"])), rewards)
            outcomes[action] = rewards[0] if record(after, STATE).end else None
        weights = np.zeros(game.actions)
        game.advise(state, 0, weights)
        liked = {outcomes[triple(action, case["M"])] for action in np.flatnonzero(weights)}
        if 1.0 in outcomes.values():
            wins += 1
            assert liked == {1.0}
        elif None in outcomes.values():
            losses += -1.0 in outcomes.values()
            assert liked == {None}
    assert wins > 15
    assert losses > 5


@pytest.mark.parametrize("name", ["random_walk", "greedy", "mobility"])
def test_named_players(name):
    env = gym.make(ID, board_size=5, opponent="random")
    agent = agents.make(name, seed=1)
    env.reset(seed=2)
    over = False
    while not over:
        action = agent.act(env)
        assert action in env.unwrapped.legal_actions()
        _, reward, over, _, _ = env.step(action)
    assert reward == 1 or name == "random_walk"
