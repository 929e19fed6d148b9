"""Wall survival: settings, positions, observations, keys, laws, faces, and pictures."""

import itertools
import json
from collections import Counter

import gymnasium as gym
import numpy as np
import pettingzoo
import pytest

import mcts_envs
from mcts_envs.core.kernel import record
from mcts_envs.core.place import state_from_position
from mcts_envs.core.showing import rendered
from mcts_envs.games.wall_survival.position import position
from mcts_envs.games.wall_survival.rules.layout import SEPARATED, STATE
from mcts_envs.games.wall_survival.spec import WallSurvival, wall_survival
from tests.games.wall_survival.naive import Naive, at, legal_of_state, number

ID = "mcts_envs/WallSurvival-v0"


START = {"M": 3, "K": 2, "p0": [0, 0], "p1": [2, 2], "walls": "913802c46", "turn": 0}


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"board_size": 2, "generator": "2023"}, ValueError, r"board_size 2 is outside \[3, 12\]"),
        ({"board_size": 13}, ValueError, r"board_size 13 is outside \[3, 12\]"),
        ({"board_size": 6.0}, TypeError, "board_size 6.0 is float"),
        ({"generator": "2021"}, ValueError, "unknown generator '2021'"),
        ({"reach": -1}, ValueError, r"reach -1 is outside \[0, 144\]"),
        ({"optional_wall": "yes"}, TypeError, "optional_wall 'yes' is not True or False"),
        ({"walls": 3}, TypeError, "unknown setting 'walls'"),
    ],
)
def test_bad_settings(settings, error, message):
    with pytest.raises(error, match=message):
        gym.make(ID, **settings)


def test_a_generator_may_be_a_number():
    games = [gym.make(ID, generator=generator).unwrapped.game for generator in (2023, "2023")]
    assert games[0].template.tobytes() == games[1].template.tobytes()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"M": 4}, ValueError, "this board has size 3; make it with board_size=4"),
        ({"K": 10}, ValueError, r"position\['K'\] 10 is outside \[0, 9\]"),
        ({"p1": [0, 0]}, ValueError, r"both players stand on \[0, 0\]"),
        ({"p0": [0, 3]}, ValueError, r"position\['p0'\]\[1\] 3 is outside \[0, 2\]"),
        ({"p0": 4}, TypeError, r"position\['p0'\] 4 is not a cell \[row, column\]"),
        ({"turn": 2}, ValueError, r"position\['turn'\] 2 is outside \[0, 1\]"),
        ({"walls": "913802c4"}, ValueError, "has 8 digits; it must have 3 x 3 = 9"),
        ({"walls": "913802c4G"}, ValueError, "has 'G'; its digits are 0 to 9 and a to f"),
        ({"p0": np.array(3)}, TypeError, r"\['p0'\] array\(3\) is not a cell \[row, column\]"),
        ({"walls": 913802}, TypeError, "is int, not a string of 9 digits or a list"),
        ({"walls": [[0, 0]]}, ValueError, r"\['walls'\]\[0\] \[0, 0\] is no wall; give \[row, column, side\]"),
        ({"walls": [[0, 0, "east"]]}, ValueError, "is no wall"),
        ({"walls": [[0, 0, ["up"]]]}, ValueError, "is no wall"),
        ({"walls": ["abc"]}, ValueError, "is no wall"),
        ({"walls": [[0, 3, "up"]]}, ValueError, r"\['walls'\]\[0\]\[1\]"),
        ({"walls": "813802c46"}, ValueError, r"cell \[0, 0\] is open up, at the border"),
        ({"walls": "b13802c46"}, ValueError, r"between \[0, 0\] and \[0, 1\] there is a wall for one of the two only"),
        ({"walls": "bd3802c46"}, ValueError, r"between \[0, 1\] and \[1, 1\] there is a wall for one of the two only"),
        ({"t": 3}, ValueError, "unknown position key 't'"),
        ({"last": {"from": [0, 0], "side": 0}}, ValueError, r"the other player's cell \[2, 2\] has no wall up"),
        ({"last": {"from": [0, 0], "side": None}}, TypeError, r"\['side'\] None is NoneType"),
        ({"last": 3}, TypeError, "is int, not a dictionary with from and side"),
        ({"p0": [0, 1], "walls": "b97a02c46"}, ValueError, "one of the two only"),
        ({"p0": [0, 0], "walls": "f93a02c46"}, ValueError, "one of the two only"),
        ({"p0": [0, 0], "walls": "fb3902c46"}, ValueError, "one of the two only"),
        ({"p0": [0, 0], "walls": "f93902c46"}, ValueError, "the game is already over in this position"),
    ],
)
def test_bad_positions(change, error, message):
    env = WallSurvival(board_size=3)
    env.reset(seed=1)
    before = env.clone_state()
    with pytest.raises(error, match=message):
        env.reset(options={"position": {**START, **change}})
    assert env.clone_state() == before


def test_positions_need_no_more_than_walls_players_and_turn():
    env = WallSurvival(board_size=3, opponent="random")
    env.reset(options={"position": {key: START[key] for key in ("p0", "p1", "walls", "turn")}})
    assert env.position() == START
    env.reset(options={"position": {**START, "K": 0}})
    assert env.legal_actions().tolist() == [1, 2]  # stay, and wall one's own cell
    assert env.reset(seed=4)[1]["action_mask"].sum() > 2  # the setting is back


def test_walls_may_be_a_list():
    env = gym.make("mcts_envs/WallSurvival-v0", board_size=3)
    walls = [[0, 1, "down"], [1, 1, "up"], [1, 0, "left"], (2, 2, "left")]
    env.reset(options={"position": {**START, "walls": walls}})
    assert env.unwrapped.position()["walls"] == "953812c6e"
    env.reset(options={"position": {**START, "walls": []}})
    assert env.unwrapped.position()["walls"] == "913802c46"


def test_optional_walls():
    env = WallSurvival(board_size=3, optional_wall=True, max_steps=4, opponent="random")
    env.reset(options={"position": START})
    assert env.action_space.n == 45
    assert env.legal_actions()[-6:].tolist() == [36, 37, 38, 39, 40, 42]
    state = state_from_position(env.game, START)
    for ply, cell in enumerate((1, 8, 0, 8)):
        assert env.game.active(state) == 1 << ply % 2
        env.game.step(state, np.full(2, 36 + cell), np.zeros(2))
    assert position(state) == {**START, "t": 4, "last": {"from": [2, 2], "side": None}}
    assert [env.game.status(state, player) for player in range(2)] == [2, 2]
    points = np.zeros(2)
    env.game.outcome(state, points)
    assert points.tolist() == [0.5, 0.5]
    assert record(wall_survival(6, optional_wall=True).new_state(), STATE).max_steps == 144
    with pytest.raises(ValueError, match="already over"):
        state_from_position(env.game, {**START, "t": 4})


def test_observations():
    for seed in range(3):
        env = gym.make(ID, board_size=5, seat=seed % 2, max_steps=50).unwrapped
        env.reset(seed=seed)
        for _ in range(3):
            naive = Naive(env.position())
            out = np.zeros(7 * 25 + 2, np.float32)
            for player in range(2):
                env.game.observe(env._state, player, out)
                boards = out[:175].reshape(7, 5, 5)
                for row, column in np.ndindex(5, 5):
                    assert {side for side in range(4) if boards[side, row, column]} == naive.walls[row][column]
                near = naive.flood(naive.players[player], naive.reach, naive.players[1 - player])
                for k, cells in ((4, [naive.players[player]]), (5, [naive.players[1 - player]]), (6, sorted(near))):
                    assert [tuple(cell) for cell in np.argwhere(boards[k])] == list(cells)
                assert out[175] == (naive.turn == player)
                assert out[176] == np.float32(env.position()["t"] / 50)
                planes = np.zeros((9, 5, 5), np.float32)
                env.game.variant("planes").observe(env._state, player, planes.reshape(-1))
                assert np.array_equal(planes[:7], boards)
                assert np.all(planes[7] == out[175])
                assert np.all(planes[8] == out[176])
            over = env.step(env.legal_actions()[0])[2]
            if over:
                break
    assert gym.make(ID, observation="planes").observation_space.shape == (9, 12, 12)


def test_keys_tell_positions_apart():
    game = wall_survival(12)
    keys, texts = set(), set()
    rng = np.random.default_rng(0)
    for seed in range(20):
        state = game.new_state()
        game.reset(state, np.uint64(seed))
        while game.active(state):
            found = position(state)
            found.pop("last", None)
            texts.add(json.dumps(found))
            keys.add(game.key(state, -1))
            legal = legal_of_state(game, state, found["turn"])
            game.step(state, np.full(2, number(legal[rng.integers(len(legal))], 12)), np.zeros(2))
    assert len(keys) == len(texts) > 500
    state = at(game, found)
    assert game.key(state, 0) != game.key(at(game, {**found, "K": 5}), 0)
    assert game.key(state, 0) != game.key(at(game, {**found, "turn": 1 - found["turn"]}), 0)


def test_fields_do_not_cancel_against_walls_in_the_key():
    game, size = wall_survival(9), 9
    border = [(r == 0) + 2 * (c == 8) + 4 * (r == 8) + 8 * (c == 0) for r in range(size) for c in range(size)]
    keys, count = set(), 0
    for cell in range(-1, size * size):
        for side, across in ((1, 1), (2, size)):
            walls = list(border)
            if cell >= 0 and not walls[cell] >> side & 1:
                walls[cell] |= 1 << side
                walls[cell + across] |= 1 << side + 2 if side == 1 else 1
            elif cell >= 0 or side == 2:
                continue
            for turn, reach, first, second in itertools.product((0, 1), (4, 5, 6), (0, 5, 40), (80, 72, 44)):
                text = "".join(f"{digits:x}" for digits in walls)
                spots = {"p0": [*divmod(first, 9)], "p1": [*divmod(second, 9)]}
                keys.add(game.key(at(game, {"M": 9, "K": reach, **spots, "walls": text, "turn": turn}), -1))
                count += 1
    assert len(keys) == count > 5000


@pytest.mark.parametrize(
    "settings",
    [
        {"board_size": 3},
        {"board_size": 6},
        pytest.param({"board_size": 9, "generator": "2023"}, marks=pytest.mark.slow),
        {"board_size": 4, "optional_wall": 1},
    ],
)
def test_laws(settings):
    mcts_envs.check_game(ID, episodes=1, faces=settings["board_size"] == 6, **settings)


def test_pettingzoo_makes_it():
    for kind in ("aec", "parallel"):
        env = pettingzoo.make(kind, ID, board_size=4)
        env.reset(seed=3)
        assert env.possible_agents == ["player_0", "player_1"]
        assert env.unwrapped.position()["M"] == 4
    aec = pettingzoo.make("aec", ID, board_size=4)
    aec.reset(seed=1)
    rewards = Counter()
    for agent in aec.agent_iter():
        observation, reward, terminated, truncated, _ = aec.last()
        rewards[agent] += reward
        mask = observation["action_mask"]
        aec.step(None if terminated or truncated else int(np.flatnonzero(mask)[0]))
    assert rewards["player_0"] == -rewards["player_1"]


def test_strict_mode_and_the_note_of_an_illegal_action():
    env = gym.make(ID, board_size=6, opponent="random")
    _, info = env.reset(seed=1)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    assert env.step(illegal)[4]["illegal_action"] is True
    env = gym.make(ID, board_size=6, illegal="raise")
    env.reset(seed=1)
    with pytest.raises(ValueError, match=f"action {illegal} is illegal; legal now: "):
        env.step(illegal)


def test_pictures():
    for size in (3, 12):
        env = gym.make(ID, board_size=size, optional_wall=True, max_steps=6, opponent="scripted").unwrapped
        env.reset(seed=1)
        seen = []
        for _ in range(4):
            seen.append((rendered(env.game, env._state, "rgb_array", 24).tobytes(), env.game.text(env._state)))
            assert env.game.picture(env._state).to_svg().startswith("<svg")
            if len(env.legal_actions()):
                env.step(env.legal_actions()[0])
        assert len(set(seen)) >= 2
    env = WallSurvival(board_size=3)
    state = state_from_position(env.game, START)
    plain = [line for line in env.game.text(state).split("\n") if "+" in line]
    assert plain == ["  +---+---+---+", "  +   +   +   +", "  +   +   +   +", "  +---+---+---+"]
    state = state_from_position(env.game, START)
    record(state, STATE).end, record(state, STATE).area = SEPARATED, (2, 7)
    assert env.game.text(state).split("\n")[0].endswith(" wins, 7 cells to 2")
    assert env.game.action_name(14) == "1,0 down"
    assert wall_survival(3, optional_wall=True).action_name(40) == "1,1"
