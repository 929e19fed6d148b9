"""Mistakes with the Gymnasium API: actions, positions, resets, settings and opponents that are impossible."""

from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest

import agents
import mcts_envs
from mcts_envs.core import errors
from tests.core.single import First, Stubborn
from tests.toys import Stakes, TicTacToe

LANES = ("mcts_envs/LaneDefense3x3-v0", "mcts_envs/LaneDefense10x10-v0", "mcts_envs/LaneDefense5x9-v0")
SMALL = LANES[0]


GOOD = {"board": [0, 0, 2, 0, 0, 0, 0, 0, 0], "t": 4, "can_plant": True}


@pytest.mark.parametrize(
    ("action", "error", "text"),
    [
        (10, ValueError, r"action 10 is outside Discrete\(10\); legal now: 0, 1"),
        (-1, ValueError, r"action -1 is outside Discrete\(10\)"),
        (np.int64(10), ValueError, r"action 10 is outside Discrete\(10\)"),
        (2.0, TypeError, "action 2.0 is float, not an integer; legal now"),
        (np.float32(2), TypeError, "is float32, not an integer; legal now"),
        ("2", TypeError, "action '2' is str, not an integer"),
        (True, TypeError, "action True is a boolean, not an integer"),
        (np.True_, TypeError, "is a boolean"),
        (None, TypeError, "action None is NoneType, not an integer"),
        (np.array([1, 2]), TypeError, r"action array\(\[1, 2\]\) is ndarray, not an integer; legal now"),
        (np.array([1]), TypeError, r"action array\(\[1\]\) is ndarray, not an integer; give action.item\(\)"),
    ],
)
def test_impossible_actions(action, error, text):
    env = gymnasium.make(SMALL).unwrapped
    env.reset(seed=0)
    before = env.clone_state()
    with pytest.raises(error, match=text):
        env.step(action)
    assert env.clone_state() == before


@pytest.mark.parametrize("action", [4, np.int64(4), np.uint8(4), np.array(4)])
def test_possible_types_of_actions(action):
    env = gymnasium.make(SMALL).unwrapped
    env.reset(seed=0)
    env.step(action)
    assert env.position()["board"][4] in (1, 0)


def test_illegal_actions():
    env = TicTacToe(opponent=First(), illegal="accept")
    env.reset(seed=0)
    env.step(4)
    *_, info = env.step(4)
    assert info["illegal_action"] is True
    strict = TicTacToe(opponent=First(), illegal="raise")
    strict.reset(seed=0)
    strict.step(4)
    before = strict.clone_state()
    with pytest.raises(ValueError, match=r"action 4 is illegal; legal now: [0-9]"):
        strict.step(4)
    assert strict.clone_state() == before
    while len(strict.legal_actions()):
        strict.step(strict.legal_actions()[0])
    assert strict.step(4)[1:4] == (0.0, True, False)


def test_a_board_may_be_given_in_rows():
    env = gymnasium.make(SMALL)
    env.reset(options={"position": {**GOOD, "board": [[0, 0, 2], (0, 1, 0), np.zeros(3, int)]}})
    assert env.unwrapped.position()["board"] == [0, 0, 2, 0, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("position", "error", "text"),
    [
        ({"board": [0] * 9, "t": 4}, ValueError, "position lacks 'can_plant'; it needs board, can_plant, t"),
        ({**GOOD, "bord": 1}, ValueError, "unknown position key 'bord'; did you mean 'board'"),
        ({**GOOD, "board": [0] * 8}, ValueError, "has 8 cells; it must be a flat list of 3 x 3 = 9"),
        ({**GOOD, "board": 3}, ValueError, "is int; it must be a flat list"),
        ({**GOOD, "board": np.array(3)}, ValueError, "is ndarray; it must be a flat list"),
        ({**GOOD, "board": "0" * 9}, ValueError, "is str; it must be a flat list"),
        ({**GOOD, "board": [[0] * 3, [0] * 3, [0] * 2]}, ValueError, "has 3 cells; it must be a flat list"),
        ({**GOOD, "board": [5] + [0] * 8}, ValueError, r"position\['board'\]\[0\] 5 is outside \[0, 4\]"),
        ({**GOOD, "board": ["x"] + [0] * 8}, TypeError, r"'x' is str, not an integer from 0 to 4"),
        ({**GOOD, "board": [2] + [0] * 8}, ValueError, "is a zombie in column 0: the game is already lost"),
        ({**GOOD, "board": [0] * 9, "t": 30}, ValueError, "the game is already won"),
        ({**GOOD, "can_plant": "yes"}, TypeError, r"'yes' is not True or False"),
        ({**GOOD, "can_plant": np.array([1, 0])}, TypeError, r"array\(\[1, 0\]\) is not True or False"),
        ({**GOOD, "dice": [256]}, ValueError, r"position\['dice'\]\[0\] 256 is outside \[0, 255\]"),
        ({**GOOD, "dice": [0] * 24}, ValueError, "is not a list of at most 23 results"),
        ([], TypeError, "position is list, not a dictionary such as position"),
    ],
)
def test_impossible_positions(position, error, text):
    env = gymnasium.make(SMALL).unwrapped
    env.reset(seed=0)
    before = env.clone_state()
    with pytest.raises(error, match=text):
        env.reset(seed=1, options={"position": position})
    assert env.clone_state() == before
    assert env.np_random_seed == 0


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"options": {"positon": GOOD}}, ValueError, "unknown option key 'positon'; did you mean 'position'"),
        ({"seed": -1}, ValueError, r"seed -1 is outside \[0, 18446744073709551615\]"),
        ({"seed": 2**64}, ValueError, "seed 18446744073709551616 is outside"),
        ({"seed": 0.5}, TypeError, "seed 0.5 is float, not an integer"),
        ({"seed": True}, TypeError, "seed True is bool, not an integer"),
        ({"seed": np.array([1, 2])}, TypeError, r"seed array\(\[1, 2\]\) is ndarray, not an integer"),
        ({"options": 5}, TypeError, r"options 5 is int, not a dictionary such as \{'position': ...\}"),
        ({"options": {"position": {**GOOD, "t": 10**6 + 1}}}, ValueError, r"\['t'\] 1000001 is outside \[0, 1000000\]"),
    ],
)
def test_impossible_resets(arguments, error, text):
    env = gymnasium.make(SMALL).unwrapped
    env.reset(seed=0)
    before = env.clone_state()
    with pytest.raises(error, match=text):
        env.reset(**arguments)
    assert env.clone_state() == before
    env.reset(seed=2**64 - 1)


@pytest.mark.parametrize("arguments", [{"seed": 7.0}, {"options": {"position": {}}}])
def test_a_first_reset_that_is_refused_may_be_mended(arguments):
    env = gymnasium.make(SMALL)
    with pytest.raises((TypeError, ValueError)):
        env.reset(**arguments)
    env.reset(seed=7)
    env.step(9)


def test_impossible_settings():
    with pytest.raises(TypeError, match="unknown setting 'nigt'; did you mean 'night'"):
        gymnasium.make(SMALL, nigt=3)
    # TorchRL's GymEnv tries frameskip=1, and goes on without it where it reads these words.
    with pytest.raises(TypeError, match="unexpected keyword argument 'frameskip': unknown setting 'frameskip'"):
        gymnasium.make(SMALL, frameskip=1)
    with pytest.raises(ValueError, match=r"p_new 1.5 is outside \[0, 1\]"):
        gymnasium.make(SMALL, p_new=1.5)
    for value in (np.array([0.5]), np.array([1, 2]), True, np.True_, 1j):
        with pytest.raises(TypeError, match=rf"p_new .* is {type(value).__name__}, not a number from 0 to 1"):
            gymnasium.make(SMALL, p_new=value)
        with pytest.raises(TypeError, match=rf"night .* is {type(value).__name__}, not an integer from 0 to 1000000"):
            gymnasium.make(SMALL, night=value)
    assert gymnasium.make(SMALL, p_new=np.array(0.5), night=np.array(7)).unwrapped.game.name == "lane_defense"
    with pytest.raises(TypeError, match=r"rows '3' is str, not an integer from 1 to 16"):
        gymnasium.make(SMALL, rows="3")
    with pytest.raises(TypeError, match=r"rows 3.0 is float, not an integer from 1 to 16; write 3"):
        gymnasium.make(SMALL, rows=3.0)
    with pytest.raises(ValueError, match=r"seat 2 is outside \[0, 1\]"):
        TicTacToe(seat=2)
    with pytest.raises(ValueError, match="unknown observation 'plane'; did you mean 'planes'"):
        gymnasium.make(SMALL, observation="plane")
    with pytest.raises(ValueError, match="observation 'memory' is there with the setting memory=True; give it too"):
        gymnasium.make("mcts_envs/BomberTeam-v0", observation="memory")
    with pytest.raises(ValueError, match="unknown way with illegal actions 'ignore'; known: accept, raise"):
        gymnasium.make(SMALL, illegal="ignore")
    with pytest.raises(ValueError, match="unknown render mode 'rgb'; did you mean 'rgb_array'"):
        TicTacToe(render_mode="rgb")


@pytest.mark.parametrize("given", [np.array(["flat", "planes"]), ["raise"], {}, 3])
@pytest.mark.parametrize("setting", ["illegal", "observation", "observation_dtype", "action_mask", "render_mode"])
def test_what_is_no_word_is_no_choice(setting, given):
    if setting == "action_mask":
        with pytest.raises(ValueError, match=r"unknown place of the action mask .*; known: info, observation"):
            mcts_envs.make_aec("mcts_envs/WallSurvival-v0", action_mask=given)
        return
    with pytest.raises(ValueError, match=r"unknown \w.* (array|\[|\{|3).*nown: "):
        gymnasium.make(SMALL).unwrapped.__class__(**{setting: given})


@pytest.mark.parametrize("given", [np.array(["own", "full"]), ["own"], {}])
@pytest.mark.parametrize("setting", ["information", "opponents"])
def test_what_is_no_word_is_no_choice_of_an_agent(setting, given):
    with pytest.raises(ValueError, match=f"unknown {setting} .*; known: "):
        agents.make("mcts", **{setting: given})


def test_before_the_first_reset():
    env = gymnasium.make(SMALL)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before step\(\)"):
        env.unwrapped.step(0)
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before clone_state\(\)"):
        env.unwrapped.clone_state()
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before position\(\)"):
        env.unwrapped.position()
    for mode in (None, "ansi"):
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before render\(\)"):
            gymnasium.make(SMALL, render_mode=mode).unwrapped.render()


def test_impossible_opponents():
    with pytest.raises(ValueError, match="unknown opponent 'scriptd'; did you mean 'scripted'"):
        TicTacToe(opponent="scriptd")
    with pytest.raises(
        ValueError,
        match=r"unknown opponent 'mcts'; did you mean 'agents:mcts'\? Known: agents:NAME, module:Name, .*sb3:PATH",
    ):
        TicTacToe(opponent="mcts")
    with pytest.raises(ValueError, match=r"unknown opponent 'runs/model\.zip'; did you mean 'sb3:runs/model\.zip'"):
        TicTacToe(opponent="runs/model.zip")
    with pytest.raises(TypeError, match=r"is no player: .*; save the model, and name its file: 'sb3:PATH'"):
        TicTacToe(opponent=SimpleNamespace(predict=None))
    with pytest.raises(TypeError, match=r"and reseed\(seed\); opponent='agents:my_bot\.py:Bot' takes a class"):
        TicTacToe(opponent=SimpleNamespace(act=print))
    with pytest.raises(ValueError, match="opponent nowhere:mcts: cannot import nowhere"):
        TicTacToe(opponent="nowhere:mcts")
    with pytest.raises(ValueError, match=r"cannot import my_bot\.py .*; write agents:my_bot\.py:Bot$"):
        TicTacToe(opponent="my_bot.py:Bot")
    with pytest.raises(ValueError, match="unknown agent 'mtcs'; did you mean 'mcts'"):
        TicTacToe(opponent="agents:mtcs")
    with pytest.raises(ValueError, match="unknown agent 'MCTS'; did you mean 'mcts'"):
        TicTacToe(opponent="agents:MCTS")
    with pytest.raises(ValueError, match="opponent json:nothing: json has no nothing"):
        TicTacToe(opponent="json:nothing")
    for opponent in (3, object(), ""):
        with pytest.raises((TypeError, ValueError), match="opponent"):
            TicTacToe(opponent=opponent)
    with pytest.raises(ValueError, match="1 opponents for 2 other seats"):
        Stakes(opponent=["random"])
    with pytest.raises(ValueError, match="is a game for one; leave opponent out"):
        gymnasium.make(SMALL, opponent="random")


@pytest.mark.parametrize(("answer", "error"), [(9, ValueError), (-1, ValueError), (2.5, TypeError), (None, TypeError)])
def test_opponents_with_impossible_actions(answer, error):
    env = TicTacToe(opponent=Stubborn(answer))
    env.reset(seed=0)
    with pytest.raises(error, match="action"):
        env.step(0)


class Interrupted(First):
    """An opponent that is interrupted in its second move, and in the first of the next game."""

    moves = 0

    def act(self, view):
        self.moves += 1
        if self.moves > 1:
            raise KeyboardInterrupt
        return super().act(view)


def test_an_interrupted_opponent_leaves_no_half_a_turn_behind():
    env = TicTacToe(seat=1, opponent=Interrupted(), illegal="raise")
    env.reset(seed=0)
    before, legal = env.clone_state(), env.legal_actions().tolist()
    for again in (lambda: env.step(4), lambda: env.reset(seed=1)):
        with pytest.raises(KeyboardInterrupt):
            again()
        assert env.clone_state() == before
        assert env.legal_actions().tolist() == env.view().legal_actions().tolist() == legal
    fresh = TicTacToe(seat=1, opponent=Interrupted())
    for opponent in fresh._external.values():
        opponent.moves = 1
    with pytest.raises(KeyboardInterrupt):
        fresh.reset(seed=0)
    with pytest.raises(gymnasium.error.ResetNeeded):
        fresh.step(0)


@pytest.mark.parametrize("seed", [1.5, True, -1, 2**70, np.array([1]), "1"])
def test_what_is_no_seed_is_not_drawn_by(seed):
    env = gymnasium.make(SMALL).unwrapped
    env.reset(seed=0)
    before = env.clone_state()
    with pytest.raises((TypeError, ValueError), match=r"^seed .*(not an integer|is outside)"):
        env.redraw(seed)
    assert env.clone_state() == before


@pytest.mark.parametrize("given", [np.complex64(1), np.str_("0.5"), np.array(True), np.datetime64("2020")])
def test_what_numpy_can_turn_into_a_float_is_no_number(given):
    with pytest.raises(TypeError, match="not a number from 0 to 1"):
        errors.number("p", given, 0, 1)


def test_a_number_of_hundreds_of_digits_is_out_of_bounds():
    with pytest.raises(ValueError, match=r"p_plant -inf is outside \[0, 1\]"):
        gymnasium.make(SMALL, p_plant=-(10**400))
