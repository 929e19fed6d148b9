"""The roster game: positions, settings and rosters and their errors, observations, keys."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from mcts_envs.core.place import position_of, state_from_position
from mcts_envs.core.rng import below, new_stream
from mcts_envs.games.lane_defense.rules.roster.layout import CELLS, PLANES, PLANT, STATE, ZOMBIE
from mcts_envs.games.lane_defense.rules.roster.phases import next_taken
from mcts_envs.games.lane_defense.spec.roster import RosterDefense, roster_defense
from mcts_envs.games.lane_defense.tables import ROSTERS, STANDARD
from tests.games.lane_defense.play import Play, plant, zombie

GOOD = {"t": 3, "sun": 5, "plants": [plant("wall", 0, 3)], "zombies": [zombie("cone", 1, 8)]}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"suns": 3}, ValueError, "did you mean 'sun'"),
        ({"t": 1.5}, TypeError, "not an integer from 0 to 300"),
        ({"t": 300}, ValueError, "already over"),
        ({"lost": True}, ValueError, "a zombie is in the house"),
        ({"t": 120, "zombies": []}, ValueError, "already won"),
        ({"sun": 41}, ValueError, r"sun'\] 41 is outside \[0, 40\]"),
        ({"recharge": {"wall": 11}}, ValueError, r"11 is outside \[0, 10\]"),
        ({"recharge": {"walls": 1}}, ValueError, "did you mean 'wall'"),
        ({"recharge": [1]}, TypeError, "not a dictionary"),
        ({"mowers": [0]}, ValueError, "mowers=True"),
        ({"plants": {}}, TypeError, "not a list"),
        ({"plants": ["wall"]}, TypeError, "kind, lane and column"),
        ({"plants": [{"kind": "wall", "lane": 0}]}, ValueError, "lacks 'column'"),
        ({"plants": [plant("cone", 0, 0)]}, ValueError, "unknown kind"),
        ({"plants": [plant("wall", 5, 0)]}, ValueError, r"5 is outside \[0, 4\]"),
        ({"plants": [plant("wall", 0, 8)]}, ValueError, r"8 is outside \[0, 7\]"),
        ({"plants": [plant("wall", 0, 0, hp=9)]}, ValueError, r"9 is outside \[1, 8\]"),
        ({"plants": [plant("wall", 0, 0, armed=True)]}, ValueError, "never arms"),
        ({"plants": [plant("wall", 0, 0, leaps=1)]}, ValueError, "unknown"),
        ({"zombies": [zombie("cone", 0, 9)]}, ValueError, r"9 is outside \[0, 8\]"),
        ({"zombies": [zombie("cone", 0, 5, leaps=1)]}, ValueError, r"1 is outside \[0, 0\]"),
        ({"zombies": [zombie("cone", 0, 3)]}, ValueError, r"lane 0, column 3, where position\['plants'\]\[0\]"),
    ],
)
def test_position_errors_change_nothing(change, error, message):
    game = roster_defense()
    state = state_from_position(game, GOOD)
    before = state.copy()
    with pytest.raises(error, match=message):
        game.place(state, {**GOOD, **change})
    assert np.array_equal(state, before)


def test_position_lacking_a_key():
    with pytest.raises(ValueError, match="lacks 'zombies'"):
        state_from_position(roster_defense(), {key: value for key, value in GOOD.items() if key != "zombies"})
    with pytest.raises(ValueError, match="names a lane twice"):
        state_from_position(roster_defense(mowers=True), {**GOOD, "mowers": [1, 1]})


@pytest.mark.parametrize("roster", ROSTERS)
def test_position_is_complete(roster):
    game = roster_defense(roster=roster, mowers=True)
    state, actions, rewards = game.new_state(), np.zeros(game.actions, np.int64), np.zeros(1)
    stream = new_stream(3)
    for seed in range(4):
        game.reset(state, seed)
        while game.active(state):
            position = json.loads(json.dumps(position_of(game, state)))
            assert np.array_equal(state_from_position(game, position)[8:], state[8:])
            count = game.legal(state, 0, actions)
            game.step(state, actions[[below(stream, count)]], rewards)


def test_environment_takes_positions_and_dice():
    env = RosterDefense()
    env.reset(seed=1, options={"position": {**GOOD, "dice": [1, 1]}})
    env.step(180)
    position = env.position()
    assert position["sun"] == 6
    assert position["zombies"][0]["column"] == 7
    assert "dice" not in position


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"rows": 9}, ValueError, r"rows 9 is outside \[1, 8\]"),
        ({"columns": 1}, ValueError, "columns 1"),
        ({"start_sun": 41}, ValueError, r"start_sun 41 is outside \[0, 40\]"),
        ({"sky_sun": 1.2}, ValueError, "sky_sun"),
        ({"mowers": "yes"}, TypeError, "mowers"),
        ({"max_steps": 0}, ValueError, "max_steps"),
        ({"roster": "standart"}, ValueError, "did you mean 'standard'"),
        ({"roster": 3}, TypeError, "name or a dictionary"),
        ({"roster": {"plants": []}}, ValueError, "lacks 'waves', 'zombies'"),
        ({"waves": []}, ValueError, "number of waves"),
        ({"waves": [{"steps": 3, "p_new": 0.5, "flag": 1, "mix": [1]}]}, ValueError, "one for each"),
        ({"waves": [{"steps": 3, "p_new": 0.5, "flag": 1, "mix": [0, 0, 0, 0]}]}, ValueError, "no weight above 0"),
        ({"waves": [{"steps": 9999, "p_new": 0.5, "flag": 1, "mix": [1, 0, 0, 0]}]}, ValueError, "end of the last"),
    ],
)
def test_setting_errors(settings, error, message):
    with pytest.raises(error, match=message):
        roster_defense(**settings)


@pytest.mark.parametrize(
    ("part", "change", "error", "message"),
    [
        ("plants", {"cost": -1}, ValueError, "cost -1"),
        ("plants", {"sun": "often"}, TypeError, "sun"),
        ("plants", {"arms": 0.5}, ValueError, r"blast 0 is outside \[1, 15\]"),
        ("plants", {"name": "wall"}, ValueError, "the name 'wall' 2 times"),
        ("plants", {"price": 1}, ValueError, "unknown plant key 'price'"),
        ("zombies", {"hp": 256}, ValueError, "hp 256"),
        ("zombies", {"hurt_by": "mine"}, TypeError, "not a list"),
        ("zombies", {"hurt_by": ["mines"]}, ValueError, "did you mean 'mine'"),
    ],
)
def test_roster_errors(part, change, error, message):
    roster = json.loads(json.dumps(asdict(STANDARD)))
    roster[part][0].update(change)
    with pytest.raises(error, match=message):
        roster_defense(roster=roster)


@pytest.mark.parametrize("roster", ROSTERS)
def test_a_roster_by_name_and_as_json_is_the_same_game(roster):
    spelled_out = json.loads(json.dumps(asdict(ROSTERS[roster])))
    assert roster_defense(roster=roster).fingerprint == roster_defense(roster=spelled_out).fingerprint


def test_flat_observation():
    board = [plant("wall", 1, 2, hp=4), plant("mine", 4, 7, armed=True)]
    play = Play(board, [zombie("bucket", 2, 8, hp=15)], t=60, sun=10, recharge={"mine": 5}, mowers=[3])
    out = np.full(play.game.observation_shape, 9, np.float32)
    play.game.observe(play.state, 0, out)
    planes, rest = out[:495].reshape(11, 5, 9), out[495:]
    expected = np.zeros((11, 5, 9), np.float32)
    expected[2, 1, 2], expected[4, 1, 2] = 1, 4 / 8
    expected[3, 4, 7], expected[4, 4, 7], expected[5, 4, 7] = 1, 1 / 8, 1
    expected[9, 2, 8], expected[10, 2, 8] = 1, 15 / 30
    assert np.array_equal(planes, expected)
    assert rest.tolist() == [0.25, 0, 0, 0, 0.5, 0.5, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("roster", ROSTERS)
def test_planes_show_the_same_as_the_flat_observation(roster):
    game = roster_defense(roster=roster, mowers=True)
    planes = game.variant("planes")
    kinds = len(ROSTERS[roster].plants)
    for state in random_states(game, 5):
        flat, out = np.zeros(game.observation_shape, np.float32), np.zeros(planes.observation_shape, np.float32)
        game.observe(state, 0, flat)
        planes.observe(state, 0, out.reshape(-1))
        board = planes.observation_shape[0] - kinds - 3
        assert np.array_equal(out[:board].reshape(-1), flat[: board * 45])
        assert np.array_equal(out[board:-1], np.broadcast_to(flat[board * 45 : -5, None, None], (kinds + 2, 5, 9)))
        assert np.array_equal(out[-1], np.broadcast_to(flat[-5:, None], (5, 9)))
        assert out.min() >= 0
        assert out.max() <= 1


def random_states(game, games, seed=0):
    """Yield every state of some games of uniformly random legal actions."""
    state, actions, rewards = game.new_state(), np.zeros(game.actions, np.int64), np.zeros(1)
    stream = new_stream(seed)
    for number in range(games):
        game.reset(state, number)
        while game.active(state):
            yield state.copy()
            count = game.legal(state, 0, actions)
            game.step(state, actions[[below(stream, count)]], rewards)


@pytest.mark.parametrize("roster", ROSTERS)
def test_compiled_equals_interpreted(roster):
    game = roster_defense(roster=roster, mowers=True, start_sun=15)
    plain = game.interpreted()
    twin = game.new_state()
    rewards, plain_rewards = np.zeros(1), np.zeros(1)
    plain.reset(twin, 7)
    start = game.new_state()
    game.reset(start, 7)
    assert np.array_equal(twin, start)
    for i, state in enumerate(random_states(game, 3)):
        action = np.array([(i * 37) % game.actions])
        twin[:] = state
        after = state.copy()
        game.step(after, action, rewards)
        plain.step(twin, action, plain_rewards)
        assert np.array_equal(after, twin)
        assert rewards[0] == plain_rewards[0]
        if i % 9 == 0:
            assert_same_reading(game, plain, state)


def assert_same_reading(game, plain, state):
    for name, size, kind in (
        ("legal", game.actions, np.int64),
        ("advise", game.actions, np.float64),
        ("observe", int(np.prod(game.observation_shape)), np.float32),
    ):
        compiled, interpreted = np.zeros(size, kind), np.zeros(size, kind)
        assert getattr(game, name)(state, 0, compiled) == getattr(plain, name)(state, 0, interpreted)
        assert np.array_equal(compiled, interpreted), name
    assert game.key(state, 0) == plain.key(state, 0)
    scripted, plain_scripted = np.zeros(game.actions), np.zeros(game.actions)
    game.variant("scripted_s").advise(state, 0, scripted)
    plain.variant("scripted_s").interpreted().advise(state, 0, plain_scripted)
    assert np.array_equal(scripted, plain_scripted)


def test_key_forgets_chance_and_sees_everything_else():
    game = roster_defense(mowers=True)
    state = state_from_position(game, {**GOOD, "mowers": [0, 2]})
    other = state.copy()
    game.determinize(other, 0, 99)
    assert game.key(state, 0) == game.key(other, 0)
    for change in (
        {"t": 4},
        {"sun": 6},
        {"recharge": {"mine": 1}},
        {"mowers": [0]},
        {"plants": [plant("wall", 0, 3, hp=7)]},
        {"zombies": [zombie("cone", 1, 7)]},
    ):
        assert game.key(state, 0) != game.key(state_from_position(game, {**GOOD, "mowers": [0, 2], **change}), 0)


@pytest.mark.parametrize("size", [(1, 2), (3, 5), (5, 9), (8, 16)])
def test_next_taken_finds_what_a_search_cell_by_cell_finds(size):
    state, rng = roster_defense(rows=size[0], columns=size[1]).new_state(), np.random.default_rng(0)
    cells = size[0] * size[1]
    for _ in range(200):
        board = rng.integers(1, 256, PLANES * cells) * (rng.random(PLANES * cells) < 0.1)
        state[CELLS : CELLS + board.size] = board
        plane, (first, end) = int(rng.choice([PLANT, ZOMBIE])), np.sort(rng.integers(0, cells + 1, 2))
        taken = [cell for cell in range(first, end) if state[CELLS + plane * cells + cell]]
        assert next_taken(state, plane, cells, first, end) == (taken[0] if taken else end)


def test_layout_keeps_the_cells_behind_the_record():
    game = roster_defense(8, 16)
    assert STATE.itemsize == CELLS
    assert len(game.template) == CELLS + 4 * 8 * 16
