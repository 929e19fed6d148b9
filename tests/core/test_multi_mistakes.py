"""Mistakes with the PettingZoo APIs: actions, agents, positions, resets and settings that are impossible."""

import gymnasium
import numpy as np
import pytest

import mcts_envs
from mcts_envs.core.api.multi import GameAECEnv, parallel
from tests.core.several import aec_record, facts, same
from tests.toys import Stakes, TicTacToe, Tron


@pytest.mark.parametrize(
    ("action", "error", "text"),
    [
        (9, ValueError, r"action 9 is outside Discrete\(9\); legal now: 0, 1, 2"),
        (-1, ValueError, r"action -1 is outside Discrete\(9\)"),
        (1.0, TypeError, "action 1.0 is float, not an integer"),
        ("1", TypeError, "action '1' is str"),
        (True, TypeError, "action True is a boolean"),
        (None, TypeError, "action None is NoneType"),
        (np.array([1, 2]), TypeError, "is ndarray, not an integer"),
    ],
)
def test_impossible_actions(action, error, text):
    env = GameAECEnv(TicTacToe)
    env.reset(seed=0)
    before = facts(env)
    with pytest.raises(error, match=text):
        env.step(action)
    assert same(facts(env), before)
    env = parallel(Tron)
    env.reset(seed=0)
    snapshot = env.clone_state()
    with pytest.raises(error):
        env.step({"player_0": 0, "player_1": action})
    assert env.clone_state() == snapshot


@pytest.mark.parametrize("action", [3, np.int64(3), np.array(3), np.uint8(3)])
def test_possible_types_of_actions(action):
    env = GameAECEnv(TicTacToe)
    env.reset(seed=0)
    env.step(action)
    assert env.position()["board"][3] == 1


def test_illegal_actions():
    env = GameAECEnv(TicTacToe)
    env.reset(seed=0)
    for action in (4, 4):
        env.step(action)
    assert env.position()["board"] == [2, 0, 0, 0, 1, 0, 0, 0, 0]
    assert env.infos["player_1"]["illegal_action"] is True
    assert "illegal_action" not in env.infos["player_0"]
    for action in (1, 2):
        env.step(action)
    assert "illegal_action" not in env.infos["player_1"]
    strict = GameAECEnv(TicTacToe, illegal="raise")
    strict.reset(seed=0)
    strict.step(4)
    before = facts(strict)
    with pytest.raises(ValueError, match="action 4 of player_1 is illegal; legal now: 0, 1, 2, 3, 5, 6, 7, 8"):
        strict.step(4)
    assert same(facts(strict), before)


def test_illegal_actions_at_the_same_time():
    env, strict = parallel(Tron), parallel(Tron, illegal="raise")
    for face in (env, strict):
        face.reset(seed=0)
    infos = env.step({"player_0": 3, "player_1": 0})[4]
    assert infos["player_0"]["illegal_action"] is True
    assert "illegal_action" not in infos["player_1"]
    snapshot = strict.clone_state()
    with pytest.raises(ValueError, match="action 3 of player_0 is illegal; legal now: 0, 1, 2"):
        strict.step({"player_0": 3, "player_1": 0})
    with pytest.raises(ValueError, match="no action of player_1; give one of each of player_0, player_1"):
        strict.step({"player_0": 0})
    with pytest.raises(ValueError, match=r"unknown agent 'player_3'.* did you mean"):
        strict.step({"player_0": 0, "player_1": 0, "player_3": 0})
    assert strict.clone_state() == snapshot


def test_turns_as_parallel_read_what_they_are_given():
    env = parallel(TicTacToe, illegal="raise")
    env.reset(seed=0)
    snapshot = env.unwrapped.clone_state()
    with pytest.raises(ValueError, match="no action of player_0; give one of each of player_0"):
        env.step({})
    with pytest.raises(ValueError, match=r"unknown agent 'bob'.*player_0"):
        env.step({"player_0": 0, "bob": 0})
    for given in (None, 3, [0]):
        with pytest.raises(TypeError, match="not a dictionary of actions by agents"):
            env.step(given)
    assert env.unwrapped.clone_state() == snapshot
    env.step({"player_0": 4, "player_1": None})
    assert env.view().player == 1
    assert env.view("player_0").player == 0
    with pytest.raises(ValueError, match="unknown agent 'bob'"):
        env.view("bob")


def test_the_dead_only_leave():
    env = GameAECEnv(Stakes)
    env.reset(seed=0, options={"position": {"chips": [1, 4, 4], "turn": 0, "dice": [0]}})
    env.step(0)
    assert (env.agent_selection, env.terminations["player_0"]) == ("player_0", True)
    assert (env.rewards["player_0"], env.infos["player_0"]["outcome"]) == (-1.0, 0.0)
    assert len(env.legal_actions()) == 0
    before = facts(env)
    with pytest.raises(ValueError, match="the only valid action is None"):
        env.step(0)
    assert same(facts(env), before)
    env.step(None)
    assert env.agents == ["player_1", "player_2"]
    assert env.agent_selection == "player_1"
    with pytest.raises(ValueError, match="unknown agent 'player_5'"):
        env.observe("player_5")


def test_after_the_end_and_before_the_start():
    env = GameAECEnv(TicTacToe)
    for what in (
        env.clone_state,
        env.position,
        env.state,
        env.render,
        lambda: env.observe("player_0"),
        lambda: env.step(0),
    ):
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before"):
            what()
    both = parallel(Tron)
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before step"):
        both.step({})
    aec_record(env, 0)
    before = facts(env)
    env.step(0)
    env.step(None)
    assert same(facts(env), before)
    both.reset(seed=0)
    while both.agents:
        both.step(dict.fromkeys(both.agents, 0))
    assert both.step({}) == ({}, {}, {}, {}, {})


def test_positions():
    env = GameAECEnv(TicTacToe)
    position = {"board": [1, 1, 0, 2, 2, 0, 0, 0, 0], "turn": 1}
    env.reset(seed=0, options={"position": position})
    assert env.position() == position
    assert env.agent_selection == "player_1"
    env.step(5)
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}
    assert env.infos["player_1"]["is_success"] is True
    stakes = GameAECEnv(Stakes)
    position = {"chips": [0, 2, 3], "turn": 1, "t": 0, "dice": [0, 5]}
    stakes.reset(seed=0, options={"position": position})
    assert stakes.position() == position
    assert stakes.agents == ["player_1", "player_2"]
    stakes.step(0)
    assert stakes.position() == {"chips": [0, 1, 3], "turn": 2, "t": 1, "dice": [5]}


@pytest.mark.parametrize(
    ("options", "seed", "error", "text"),
    [
        ({"postion": {}}, None, ValueError, "unknown option key 'postion'; did you mean 'position'"),
        ({"position": {"board": [0] * 9}}, None, ValueError, "position lacks 'turn'"),
        ({"position": {"board": [0] * 8, "turn": 0}}, None, ValueError, "has 8 cells; it must have 9"),
        ({"position": {"board": [3] * 9, "turn": 0}}, None, ValueError, r"\['board'\]\[0\] 3 is outside \[0, 2\]"),
        ({"position": 5}, None, TypeError, "position is int, not a dictionary"),
        ([1], None, TypeError, r"options \[1\] is list, not a dictionary"),
        (None, -1, ValueError, r"seed -1 is outside \[0,"),
        (None, 2**64, ValueError, r"seed 18446744073709551616 is outside"),
        (None, 1.5, TypeError, "seed 1.5 is float"),
    ],
)
def test_impossible_resets(options, seed, error, text):
    env = GameAECEnv(TicTacToe)
    env.reset(seed=1)
    env.step(2)
    before = facts(env)
    with pytest.raises(error, match=text):
        env.reset(seed=seed, options=options)
    assert same(facts(env), before)


@pytest.mark.parametrize("make", [GameAECEnv, parallel])
def test_impossible_settings(make):
    with pytest.raises(TypeError, match="unknown setting 'sise'; did you mean 'size'"):
        make(Tron, sise=9)
    with pytest.raises(TypeError, match="unknown setting 'opponent'"):
        make(Tron, opponent="random")
    with pytest.raises(ValueError, match=r"size 99 is outside \[4, 20\]"):
        make(Tron, size=99)
    with pytest.raises(ValueError, match="unknown render mode 'svg'"):
        make(Tron, render_mode="svg")
    with pytest.raises(ValueError, match="unknown observation 'plane'"):
        make(Tron, observation="plane")
    with pytest.raises(ValueError, match="unknown way with illegal actions 'rise'; did you mean 'raise'"):
        make(Tron, illegal="rise")


def test_games_for_one_have_no_such_face():
    for make in (mcts_envs.make_aec, mcts_envs.make_parallel):
        with pytest.raises(ValueError, match=r"is a game for one player: use gymnasium\.make"):
            make("LaneDefense3x3-v0")
        with pytest.raises(ValueError, match="did you mean"):
            make("LaneDefense3x4-v0")
        with pytest.raises(TypeError, match="id 5 is int, not a name such as"):
            make(5)
