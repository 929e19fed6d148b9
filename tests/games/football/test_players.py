"""Football-lite: values, players that are no search, their names, and pictures."""

import gymnasium as gym
import numpy as np
import pytest

import agents
from mcts_envs.core.compiling.table import TABLE, active_of, advise_of, legal_of, reset_of, step_of
from mcts_envs.core.contract import BYTES, FLOATS, INTS, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.place import state_from_position
from mcts_envs.core.rng import below, choose_among, draw, new_stream
from mcts_envs.games.football.rules.layout import STATE
from mcts_envs.games.football.spec import football
from tests.games.football.moves import legal, played, scene

ID = "mcts_envs/Football{}-v0"


def test_values():
    game = football(11)
    values = np.zeros(2)
    for x in (4, 12, 20):
        position = {"players": {"home": [], "away": [{"at": [x, 7]}]}, "ball": {"at": [x, 7], "carried": True}}
        state = state_from_position(game, {**position, "to_act": "away"})
        before = values[1]
        game.evaluate(state, values)
        assert -1 < values[0] == -values[1] < 1
        assert values[1] > before
    game.variant("tutorial").evaluate(state, values)
    assert values == pytest.approx([0.45, 0.55])
    players = {"home": [{"at": "casualties"}, {"at": "knocked_out"}], "away": [{"at": [1, 1], "stunned": True}]}
    players["away"].append({"at": [2, 2], "up": False})
    state = state_from_position(game, {"players": players, "ball": None, "to_act": "away", "score": [2, 1]})
    game.variant("tutorial").evaluate(state, values)
    own = 2 / 10 - 1 / 30 - 1 / 50 - (1 / 10 - 1 / 100 - 1 / 200)
    assert values == pytest.approx([0.5 + own, 0.5 - own])


def test_what_was_fitted_values_the_lead_and_the_ball_the_more_the_nearer_the_end():
    game = football(11).variant("tactical_fitted")

    def worth(turn, x=20, half=2, **more):
        ball = {"players": {"home": [], "away": [{"at": [x, 7]}]}, "ball": {"at": [x, 7], "carried": True}}
        position = {**ball, "to_act": "away", "half": half, "turn_counters": [turn, turn], **more}
        game.evaluate(state_from_position(game, position), values)
        assert -1 < values[0] == -values[1] < 1
        return values[1]

    values = np.zeros(2)
    # 6 columns to go of 26, nobody near, 7 turns left for one and 8 for the other
    assert worth(1) == pytest.approx(np.tanh(0.5 * (5.48 * 20 / 26 - 1.84 + 0.14) / np.sqrt(8.5)))
    assert worth(1, half=1) < worth(1) < worth(5) < worth(7)
    assert worth(1, 4) < worth(1, 12) < worth(1, 20)
    assert worth(1, score=[0, 1]) < worth(7, score=[0, 1])
    assert worth(8, score=[1, 0]) < worth(1, score=[1, 0]) < worth(1)


@kernel(types.void(TABLE, BYTES, BYTES, INTS, INTS, FLOATS, FLOATS, types.int64, types.int64[:, ::1]))
def against_random(functions, state, stream, actions, legal, weights, rewards, seat, results):
    """Let the advised player of a seat meet the uniform one; results are touchdowns of both."""
    for game in range(results.shape[0]):
        reset_of(functions)(state, draw(stream))
        while active_of(functions)(state) != 0:
            player = active_of(functions)(state) >> 1
            count = legal_of(functions)(state, player, legal)
            if player == seat:
                advise_of(functions)(state, player, weights)
                actions[player] = choose_among(stream, weights, legal, count)
            else:
                actions[player] = legal[below(stream, count)]
            step_of(functions)(state, actions, rewards)
        s = record(state, STATE)
        results[game, 0], results[game, 1] = s.score[seat], s.score[1 - seat]


@pytest.mark.parametrize("seat", [0, 1])
def test_the_scripted_player_scores_three_times_against_the_random_one(seat):
    game = football(11)
    results = np.zeros((150, 2), np.int64)
    work = np.zeros(2, np.int64), np.zeros(game.actions, np.int64), np.zeros(game.actions), np.zeros(2)
    against_random(game.table, game.new_state(), new_stream(5), *work, seat, results)
    assert results[:, 0].mean() > 3
    assert (results[:, 0] > results[:, 1]).mean() > 0.95


@pytest.mark.parametrize("name", ["scripted", "tactical"])
@pytest.mark.parametrize("size", [1, 7])
def test_the_scripted_players_name_one_legal_action(name, size):
    plain, states = played(size, 500, 3)
    game = plain if name == "scripted" else plain.variant(name)
    weights = np.zeros(game.actions)
    for state in states[::3]:
        game.advise(state, int(game.active(state)) >> 1, weights)
        assert weights.sum() == 1
        assert int(np.argmax(weights)) in legal(game, state)


@kernel(types.void(TABLE, TABLE, BYTES, INTS, FLOATS, FLOATS, types.int64, types.int64[:, ::1]))
def one_against_other(one, other, state, actions, weights, rewards, seat, results):
    """Let two advised players meet on the boards of seeds 0, 1, ..., the first in a seat; results are touchdowns."""
    for game in range(results.shape[0]):
        reset_of(one)(state, np.uint64(game))
        while active_of(one)(state) != 0:
            player = active_of(one)(state) >> 1
            if player == seat:
                advise_of(one)(state, player, weights)
            else:
                advise_of(other)(state, player, weights)
            actions[player] = weights.argmax()
            step_of(one)(state, actions, rewards)
        s = record(state, STATE)
        results[game, 0], results[game, 1] = s.score[seat], s.score[1 - seat]


@pytest.mark.parametrize(
    ("size", "least"),
    [
        (1, 0.505),
        (3, 0.75),
        pytest.param(5, 0.61, marks=pytest.mark.slow),
        pytest.param(7, 0.62, marks=pytest.mark.slow),
        pytest.param(11, 0.52, marks=pytest.mark.slow),
    ],
)
def test_the_tactical_player_beats_the_scripted_one(size, least):
    game = football(size)
    points = []
    for seat in range(2):
        results = np.zeros((300, 2), np.int64)
        work = np.zeros(2, np.int64), np.zeros(game.actions), np.zeros(2)
        one_against_other(game.variant("tactical").table, game.table, game.new_state(), *work, seat, results)
        points.append(np.sign(results[:, 0] - results[:, 1]).mean() / 2 + 0.5)
    assert np.mean(points) > least


def test_the_tactical_player_declines_hard_dodges_but_to_score():
    game = football(5, orientation="absolute").variant("tactical")

    def chosen(x):
        players = {"home": [{"at": [x, 5]}], "away": [{"at": [x + 1, 5]}, {"at": [x - 2, 4]}, {"at": [x - 2, 6]}]}
        ball = {"at": [x, 5], "carried": True}
        state = state_from_position(game, {"players": players, "ball": ball, "to_act": "home"})
        weights = np.zeros(game.actions)
        game.advise(state, 0, weights)
        return game.action_name(int(weights.argmax()))

    assert chosen(14) == "end turn"
    assert chosen(6) == "start move with 1"


def test_random_types_weighs_kinds_equally():
    game = football(3).variant("random_types")
    state = state_from_position(game, scene())
    weights = np.zeros(game.actions)
    game.advise(state, 1, weights)
    assert weights.nonzero()[0].tolist() == legal(game, state)
    assert weights.sum() == pytest.approx(7)  # the end of the turn and six kinds of activations
    assert weights[0] == 1
    game.variant("random_active").advise(state, 1, weights)
    assert weights[0] == 0


@pytest.mark.parametrize("name", ["random", "random_types", "random_active", "scripted", "tactical", "one_step"])
def test_named_players(name):
    env = gym.make(ID.format(1), opponent="random", turns=2)
    agent = agents.make(name, seed=1)
    env.reset(seed=2)
    over = False
    while not over:
        action = agent.act(env)
        assert action in env.unwrapped.legal_actions()
        _, _, over, _, _ = env.step(action)


def test_pictures_and_names():
    for size, settings in ((1, {}), (5, {"show_zones": True}), (11, {"movement": "path"})):
        game, states = played(size, 120, 1, **settings)
        pictures = {game.picture(state).to_rgb(16).tobytes() for state in states[::20]}
        texts = {game.text(state) for state in states[::20]}
        assert len(pictures) > 3
        assert len(texts) > 3
        assert game.picture(states[-1]).to_svg().startswith("<svg")
    names = [football(3).action_name(action) for action in range(185)]
    assert len(set(names)) == 185
    assert names[0] == "end turn"
    assert names[25 + 2 * 4] == "start blitz with 1"
    assert names[65 + 13] == "move to 2,2"
