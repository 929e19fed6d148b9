"""The Gymnasium face: the checkers of others, snapshots, seeds, positions, opponents, and what bad input does."""

import copy
import dataclasses
import importlib.util
import json
import pickle
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env, data_equivalence

import agents
import mcts_envs
from agents.mcts import MCTS
from mcts_envs.core import contract
from mcts_envs.core.kernel import kernel
from mcts_envs.core.multi import GameAECEnv
from mcts_envs.core.vector import vectorized
from mcts_envs.core.view import View
from tests.toys import TOYS, Stakes, TicTacToe, Tron, tic_tac_toe, ttt_legal

LANES = ("mcts_envs/LaneDefense3x3-v0", "mcts_envs/LaneDefense10x10-v0", "mcts_envs/LaneDefense5x9-v0")
SMALL = LANES[0]
SEATS = [(toy, seat) for toy in TOYS for seat in range(3 if toy is Stakes else 2)]


class First:
    """A player from outside the package: takes the first legal action, or the last one after an odd seed."""

    def __init__(self):
        self.index = 0

    def act(self, env):
        return int(env.unwrapped.view().legal_actions()[self.index])

    def reseed(self, seed):
        self.index = -(seed % 2)


class Stubborn(First):
    """A player that always answers the same."""

    def __init__(self, answer):
        self.answer = answer

    def act(self, env):
        return self.answer


GOOD = {"board": [0, 0, 2, 0, 0, 0, 0, 0, 0], "t": 4, "can_plant": True}
OPPONENTS = ("random", "scripted", "agents:mcts", "agents:scripted", First(), agents.make("mcts", simulations=20))


def same(one, other):
    return data_equivalence(one, other, exact=True)


def play(env, seed, steps=12):
    """Play at random until the end; return everything that came back, and the position in bytes."""
    rng, results = np.random.default_rng(seed), []
    for _ in range(steps):
        results.append((*env.step(rng.integers(env.action_space.n)), env.unwrapped.clone_state()))
        if results[-1][2] or results[-1][3]:
            break
    return results


def lanes(**settings):
    return [gymnasium.make(name, **settings) for name in LANES]


def everything():
    """Every environment of these tests, in its first state."""
    for env in lanes():
        env.reset(seed=3)
        yield env
    for toy, seat in SEATS:
        for opponent in OPPONENTS:
            env = toy(seat=seat, opponent=opponent)
            env.reset(seed=3)
            yield env
    mixed = Stakes(seat=1, opponent=["scripted", First()])
    mixed.reset(seed=3)
    yield mixed


# The checkers of others


@pytest.mark.parametrize("name", LANES)
def test_checkers_pass_the_lanes(name):
    check_env(gymnasium.make(name).unwrapped)
    planes = gymnasium.make(name, observation="planes", illegal="accept").unwrapped
    check_env(planes, skip_render_check=True)
    sb3 = pytest.importorskip("stable_baselines3.common.env_checker")
    sb3.check_env(gymnasium.make(name).unwrapped)


@pytest.mark.parametrize(("toy", "seat"), SEATS)
@pytest.mark.parametrize("opponent", ["random", "scripted", First()])
def test_checkers_pass_every_seat(toy, seat, opponent):
    def make():
        return toy(seat=seat, opponent=opponent)

    check_env(make(), skip_render_check=True, skip_close_check=True)
    if importlib.util.find_spec("stable_baselines3"):
        from stable_baselines3.common.env_checker import check_env as check_sb3

        check_sb3(make(), skip_render_check=True)


def test_module_prefix():
    env = gymnasium.make("mcts_envs:mcts_envs/LaneDefense3x3-v0", max_steps=5)
    env.reset(seed=0)
    assert env.spec.id == SMALL
    truncated = False
    for _ in range(5):
        _, reward, terminated, truncated, info = env.step(9)
        assert (type(reward), type(terminated), type(truncated)) == (float, bool, bool)
        if terminated or truncated:
            break
    assert truncated != terminated
    assert (info["outcome"], info["is_success"]) == (0.0, False)


# Snapshots, copies and seeds


def test_snapshots_bring_back_the_future():
    for env in everything():
        inner = env.unwrapped
        play(env, 1, steps=1)
        snapshot = inner.clone_state()
        position = inner.position() if inner.game.position else None
        masks = inner.action_masks()
        first = play(env, 2)
        assert first
        inner.restore_state(pickle.loads(pickle.dumps(snapshot)))
        assert inner.clone_state() == snapshot
        assert hash(inner.clone_state()) == hash(snapshot)
        assert same(inner.action_masks(), masks)
        assert position is None or inner.position() == position
        assert same(play(env, 2), first)


def test_copies_are_independent_and_alike():
    for env in everything():
        twins = [copy.deepcopy(env)]
        if not isinstance(env.unwrapped._arguments.get("opponent"), MCTS):
            twins.append(pickle.loads(pickle.dumps(env.unwrapped)))
        before = env.unwrapped.clone_state()
        futures = [play(twin, 5) for twin in twins]
        assert env.unwrapped.clone_state() == before
        future = play(env, 5)
        assert all(same(each, future) for each in futures)


@pytest.mark.parametrize("make", [gymnasium.make, mcts_envs.make_vec, mcts_envs.make_aec])
def test_what_a_face_was_made_with_cannot_be_changed(make):
    bot = First()
    opponents = {} if make is mcts_envs.make_aec else {"opponent": ["random"]}
    env = make("mcts_envs/WallSurvival-v0", **opponents).unwrapped
    for name in env.settings:
        env.settings[name] = "nothing"
        if isinstance(env.settings[name], list):
            env.settings[name].append("nothing")
    assert pickle.loads(pickle.dumps(env)).settings == env.settings
    assert Stakes(opponent=["random", bot]).settings["opponent"][1] is bot
    batch = mcts_envs.make_sb3_vec_env("mcts_envs/WallSurvival-v0", 2, **opponents)
    assert batch.get_attr("settings") == [batch.settings] * 2


def test_settings_are_not_shared_with_the_caller():
    waves = [{"steps": 5, "p_new": 1.0, "flag": 0, "mix": [1, 0, 0, 0]} for _ in range(3)]
    env = gymnasium.make(LANES[2], waves=waves).unwrapped
    env.reset(seed=1)
    fingerprint = env.game.fingerprint
    waves.pop()
    waves[0]["steps"] = 1
    opponents = ["scripted", First()]
    with_opponents = Stakes(opponent=opponents)
    with_opponents.reset(seed=1)
    opponents.clear()
    for each in (env, with_opponents):
        twin = copy.deepcopy(each)
        assert twin.game.fingerprint == each.game.fingerprint
        assert same(play(twin, 2), play(each, 2))
    assert env.game.fingerprint == fingerprint


def test_copies_into_another_game_are_refused():
    env = gymnasium.make(LANES[1]).unwrapped
    env.reset(seed=0)
    env._arguments["rows"] = 3
    with pytest.raises(ValueError, match=r"the copied state is of lane_defense:.* and this environment is "):
        copy.deepcopy(env)


def test_copies_before_the_first_reset():
    env = gymnasium.make(SMALL)
    twin = copy.deepcopy(env)
    for each in (env, twin):
        each.reset(seed=1)
    assert env.unwrapped.clone_state() == twin.unwrapped.clone_state()


def test_equal_states_have_equal_snapshots_without_chance():
    env = gymnasium.make(SMALL).unwrapped
    snapshots, rewards = set(), []
    for board, action in (([0, 0, 2, 0, 0, 0, 0, 0, 0], 0), ([1, 0, 0, 0, 0, 0, 0, 0, 0], 9)):
        env.reset(options={"position": {"board": board, "t": 4, "can_plant": True, "dice": [0, 0, 0]}})
        rewards.append(env.step(action)[1])
        snapshots.add(env.clone_state(include_rng=False))
    assert rewards == [1.0, 0.0]
    assert len(snapshots) == 1


def test_snapshots_without_chance():
    for env in [*lanes(), Stakes(seat=1)]:
        inner = env.unwrapped
        env.reset(seed=0)
        bare, full = inner.clone_state(include_rng=False), inner.clone_state()
        assert bare != full
        assert bare == inner.clone_state(include_rng=False)
        env.reset(seed=1)
        running = inner.clone_state()
        inner.restore_state(bare)
        assert inner.clone_state().state == running.state[:8] + bytes(24) + full.state[32:]
        assert inner.clone_state(include_rng=False) == bare


def test_snapshot_without_chance_drops_forced_dice():
    env = gymnasium.make(SMALL).unwrapped
    env.reset(seed=0)
    bare = env.clone_state(include_rng=False)
    env.reset(options={"position": {**GOOD, "dice": [1, 2, 3]}})
    forced, stream = env.clone_state(), env.clone_state().state[:8]
    env.restore_state(bare)
    assert "dice" not in env.position()
    assert env.clone_state().state[:8] == stream
    env.restore_state(forced)
    assert env.position()["dice"] == [1, 2, 3]


def test_snapshot_without_chance_in_a_new_environment():
    env = gymnasium.make(SMALL)
    env.reset(seed=0)
    bare = env.unwrapped.clone_state(include_rng=False)
    streams = set()
    for _ in range(4):
        fresh = gymnasium.make(SMALL).unwrapped
        fresh.restore_state(bare)
        assert fresh.clone_state(include_rng=False) == bare
        streams.add(fresh.clone_state().state[:8])
    assert len(streams) == 4


def test_snapshots_in_another_process():
    env = gymnasium.make(SMALL)
    env.reset(seed=8)
    play(env, 0, steps=2)
    snapshot = env.unwrapped.clone_state()
    script = (
        "import pickle, sys, gymnasium, mcts_envs\n"
        f"env = gymnasium.make({SMALL!r}).unwrapped\n"
        "env.restore_state(pickle.load(sys.stdin.buffer))\n"
        "rewards = [env.step(9)[1] for _ in range(10)]\n"
        "sys.stdout.buffer.write(pickle.dumps((rewards, env.clone_state())))"
    )
    done = subprocess.run([sys.executable, "-c", script], input=pickle.dumps(snapshot), capture_output=True, check=True)
    rewards = [env.unwrapped.step(9)[1] for _ in range(10)]
    assert pickle.loads(done.stdout) == (rewards, env.unwrapped.clone_state())


def test_seeds():
    for env in everything():
        histories = []
        for _ in range(2):
            history = [env.reset(seed=11), *play(env, 6), env.reset(), *play(env, 7), env.reset()]
            histories.append(history)
        assert same(*histories)
        assert env.unwrapped.np_random_seed == 11


def test_reset_without_seed_goes_on_with_the_running_stream():
    env = gymnasium.make(SMALL)
    env.reset(seed=0)
    streams = {env.unwrapped.clone_state().state[:8]}
    for _ in range(5):
        env.reset()
        streams.add(env.unwrapped.clone_state().state[:8])
    assert len(streams) == 6
    fresh = [gymnasium.make(SMALL) for _ in range(3)]
    for each in fresh:
        each.reset()
    assert len({each.unwrapped.clone_state().state[:8] for each in fresh}) == 3


def test_arrays_are_fresh():
    env = gymnasium.make(SMALL)
    observation, info = env.reset(seed=0)
    kept, mask = observation.copy(), info["action_mask"].copy()
    other, *_, info_after = env.step(4)
    assert not np.shares_memory(observation, other)
    assert not np.shares_memory(info["action_mask"], info_after["action_mask"])
    observation[:], info["action_mask"][:] = 7, 7
    env.reset(seed=0)
    assert same(env.unwrapped.view().observe(), kept)
    assert same(env.unwrapped.action_masks(), mask.astype(bool))


# Positions


def test_positions_come_back():
    for env in everything():
        inner = env.unwrapped
        if inner.game.position is None:
            continue
        for seed in range(3):
            play(env, seed, steps=2)
            if not len(inner.legal_actions()):
                break
            position = json.loads(json.dumps(inner.position()))
            state = inner.clone_state().state
            env.reset(seed=99, options={"position": position})
            assert inner.position() == position
            assert inner.clone_state().state[32:] == state[32:]


def test_forced_dice():
    env = gymnasium.make(SMALL).unwrapped
    position = {"board": [0, 0, 2, 0, 0, 0, 0, 0, 0], "t": 4, "can_plant": False}
    stay_spawn_last_strong_plant = [0, 1, 1, 1, 1]
    env.reset(seed=0, options={"position": {**position, "dice": [*stay_spawn_last_strong_plant, 1, 0]}})
    assert env.position() == {**position, "dice": [0, 1, 1, 1, 1, 1, 0]}
    env.step(9)
    after = {"board": [0, 0, 2, 0, 0, 0, 0, 0, 3], "t": 5, "can_plant": True}
    assert env.position() == {**after, "dice": [1, 0]}
    env.step(9)
    assert env.position()["board"] == [0, 2, 0, 0, 0, 0, 0, 3, 0]
    assert "dice" not in env.position()


# What bad input does: it says what is wrong, and changes nothing


@pytest.mark.parametrize(
    ("action", "error", "text"),
    [
        (10, ValueError, r"action 10 is outside Discrete\(10\); legal now: 0, 1"),
        (-1, ValueError, r"action -1 is outside Discrete\(10\)"),
        (np.int64(10), ValueError, r"action 10 is outside Discrete\(10\)"),
        (2.0, TypeError, "action 2.0 is float, not an integer; legal now"),
        (np.float32(2), TypeError, "is float32, not an integer"),
        ("2", TypeError, "action '2' is str, not an integer"),
        (True, TypeError, "action True is a boolean, not an integer"),
        (np.True_, TypeError, "is a boolean"),
        (None, TypeError, "action None is NoneType, not an integer"),
        (np.array([1, 2]), TypeError, r"action array\(\[1, 2\]\) is ndarray, not an integer"),
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


@pytest.mark.parametrize(
    ("position", "error", "text"),
    [
        ({"board": [0] * 9, "t": 4}, ValueError, "position lacks 'can_plant'; it needs board, can_plant, t"),
        ({**GOOD, "bord": 1}, ValueError, "unknown position key 'bord'; did you mean 'board'"),
        ({**GOOD, "board": [0] * 8}, ValueError, "has 8 cells; it must be a flat list of 3 x 3 = 9"),
        ({**GOOD, "board": 3}, ValueError, "is int; it must be a flat list"),
        ({**GOOD, "board": [5] + [0] * 8}, ValueError, r"position\['board'\]\[0\] 5 is outside \[0, 4\]"),
        ({**GOOD, "board": ["x"] + [0] * 8}, TypeError, r"'x' is str, not an integer from 0 to 4"),
        ({**GOOD, "board": [2] + [0] * 8}, ValueError, "is a zombie in column 0: the game is already lost"),
        ({**GOOD, "board": [0] * 9, "t": 30}, ValueError, "the game is already won"),
        ({**GOOD, "can_plant": "yes"}, TypeError, r"'yes' is not True or False"),
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


def test_position_that_is_over():
    env = Stakes()
    env.reset(seed=0)
    before = env.clone_state()
    with pytest.raises(ValueError, match="already over in this position; give one in which somebody is to choose"):
        env.reset(options={"position": {"chips": [8, 1, 1], "turn": 0}})
    with pytest.raises(ValueError, match="tron defines no position"):
        Tron().reset(options={"position": {}})
    assert env.clone_state() == before


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


def test_snapshots_of_others_are_refused():
    env = gymnasium.make(SMALL).unwrapped
    env.reset(seed=0)
    before = env.clone_state()
    for other in (*lanes()[1:], gymnasium.make(SMALL, night=5), TicTacToe()):
        other.reset(seed=0)
        with pytest.raises(ValueError, match=r"the snapshot is of .* and this environment is lane_defense:.* same id"):
            env.restore_state(other.unwrapped.clone_state())
    for other in (None, before.state, {"state": before.state}, tuple(before)):
        with pytest.raises(TypeError, match=r"cannot restore .*; pass what clone_state\(\) returned"):
            env.restore_state(other)
    assert env.clone_state() == before


def test_snapshots_of_another_seat_are_refused():
    envs = [Stakes(seat=seat) for seat in range(3)]
    for env in envs:
        env.reset(seed=0, options={"position": {"chips": [4, 4, 4], "turn": 0, "dice": [0] * 9}})
    for env in envs:
        before = env.clone_state()
        for other in envs:
            if other is not env:
                text = f"was taken from seat {other.seat} and this environment is seat {env.seat}; .*seat={other.seat}"
                with pytest.raises(ValueError, match=text):
                    env.restore_state(other.clone_state())
        assert env.clone_state() == before


def test_damaged_snapshots_are_refused():
    for env in (gymnasium.make(SMALL).unwrapped, Stakes(seat=1)):
        env.reset(seed=0)
        good = env.clone_state()
        env.reset(seed=1)
        before = env.clone_state()
        for bad in (
            good._replace(state=good.state[:-1]),
            good._replace(state=good.state + bytes(8)),
            good._replace(state=b""),
            good._replace(state=None),
            good._replace(face=good.face[:-8]),
            good._replace(face=good.face[:32] + good.face),
            good._replace(face=b""),
        ):
            with pytest.raises(ValueError, match=r"the snapshot is damaged: its .* has .*, not \d+ bytes"):
                env.restore_state(bad)
            assert env.clone_state() == before


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
    with pytest.raises(ValueError, match=r"seat 2 is outside \[0, 1\]"):
        TicTacToe(seat=2)
    with pytest.raises(ValueError, match="unknown observation 'plane'; did you mean 'planes'"):
        gymnasium.make(SMALL, observation="plane")
    with pytest.raises(ValueError, match="unknown way with illegal actions 'ignore'; known: accept, raise"):
        gymnasium.make(SMALL, illegal="ignore")
    with pytest.raises(ValueError, match="unknown render mode 'rgb'; did you mean 'rgb_array'"):
        TicTacToe(render_mode="rgb")


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


def test_numpy_seeds():
    env = gymnasium.make(SMALL).unwrapped
    snapshots = set()
    for seed in (3, np.int64(3), np.uint8(3), np.array(3)):
        env.reset(seed=seed)
        snapshots.add(env.clone_state())
        assert type(env.np_random_seed) is int
    assert len(snapshots) == 1


def test_after_the_end():
    for env in everything():
        result = play(env, 1, steps=1000)[-1]
        inner = env.unwrapped
        assert result[2] or result[3]
        assert len(inner.legal_actions()) == 0
        before = inner.clone_state()
        observation, reward, terminated, truncated, info = inner.step(0)
        assert same((observation, terminated, truncated), (result[0], *result[2:4]))
        assert reward == 0.0
        assert info["outcome"] == result[4]["outcome"]
        assert inner.clone_state() == before
        assert "illegal_action" not in info


def test_the_end_comes_back_with_its_outcome():
    env = TicTacToe(opponent=First())
    ends = {}
    for seed in range(40):
        env.reset(seed=seed)
        info = play(env, seed)[-1][4]
        ends[info["outcome"]] = env.clone_state()
    assert len(ends) > 1
    for outcome, snapshot in ends.items():
        env.restore_state(snapshot)
        assert env.step(0)[4]["outcome"] == outcome


# Opponents


def named(opponent):
    return opponent if isinstance(opponent, str) else type(opponent).__name__


@pytest.mark.parametrize("opponent", OPPONENTS, ids=named)
def test_opponents(opponent):
    outcomes = []
    for seat in (0, 1):
        env = TicTacToe(seat=seat, opponent=opponent, illegal="raise")
        for seed in range(5):
            env.reset(seed=seed)
            assert sum(code > 0 for code in env.position()["board"]) == seat
            info, total = {}, 0.0
            while len(legal := env.legal_actions()):
                _, reward, _, _, info = env.step(legal[0])
                total += reward
            assert info["outcome"] == (1.0 + total) / 2
            outcomes.append(info["outcome"])
    if opponent == "agents:mcts":
        assert np.mean(outcomes) < 0.5


def test_rewards_before_the_first_choice_are_paid_with_it():
    env = Stakes(seat=1)
    position = {"chips": [7, 4, 4], "turn": 0, "dice": [5]}
    env.reset(seed=0, options={"position": position})
    assert len(env.legal_actions()) == 0
    snapshot = env.clone_state()
    for _ in range(2):
        _, reward, terminated, truncated, info = env.step(0)
        assert (reward, terminated, truncated, info["outcome"]) == (-1.0, True, False, 0.0)
        assert env.step(0)[1] == 0.0
        env.restore_state(snapshot)
    owed = set()
    for seed in range(20):
        env.reset(seed=seed)
        owed.add((float(env._owed[0]), float(env._outcome[0])))
    assert owed == {(0.0, 0.0), (0.125, 0.0)}


def test_a_player_who_is_out_has_ended():
    env = Stakes(seat=0)
    env.reset(seed=0, options={"position": {"chips": [1, 4, 4], "turn": 0, "dice": [0]}})
    _, reward, terminated, _, info = env.step(0)
    assert (reward, terminated, info["outcome"], info["is_success"]) == (-1.0, True, 0.0, False)
    assert env.position()["chips"] == [0, 4, 4]


def test_impossible_opponents():
    with pytest.raises(ValueError, match="unknown opponent 'scriptd'; did you mean 'scripted'"):
        TicTacToe(opponent="scriptd")
    with pytest.raises(ValueError, match="opponent nowhere:mcts: cannot import nowhere"):
        TicTacToe(opponent="nowhere:mcts")
    with pytest.raises(ValueError, match="unknown agent 'mtcs'; did you mean 'mcts'"):
        TicTacToe(opponent="agents:mtcs")
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


# Views and pictures


def test_views():
    for env in everything():
        view = env.unwrapped.view()
        assert isinstance(view, View)
        assert same(view.legal_actions(), env.unwrapped.legal_actions())
        assert same(view.action_masks(), env.unwrapped.action_masks())
        before = env.unwrapped.clone_state()
        agents.make("random", seed=1).act(env)
        assert env.unwrapped.clone_state() == before


def test_render():
    for name in LANES:
        env = gymnasium.make(name, render_mode="rgb_array")
        env.reset(seed=0)
        picture = env.render()
        assert (picture.dtype, picture.shape[2]) == (np.uint8, 3)
        env = gymnasium.make(name, render_mode="ansi")
        env.reset(seed=0)
        assert isinstance(env.render(), str)
    env = TicTacToe()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="render_mode='rgb_array'"):
        env.render()


def test_video(tmp_path):
    pytest.importorskip("moviepy")
    env = gymnasium.make(SMALL, render_mode="rgb_array", max_steps=4)
    env = gymnasium.wrappers.RecordVideo(env, str(tmp_path / "video"), episode_trigger=lambda episode: True)
    env.reset(seed=0)
    for _ in range(4):
        env.step(9)
    env.close()
    videos = list((tmp_path / "video").glob("*.mp4"))
    assert len(videos) == 1
    assert videos[0].stat().st_size > 500


def test_notebooks_show_the_game():
    for env in (gymnasium.make(SMALL).unwrapped, GameAECEnv(TicTacToe)):
        assert "call reset() to see the game" in env._repr_html_()
        env.reset(seed=1)
        assert env._repr_html_().startswith('<svg style="max-width:100%;height:auto" xmlns=')
    wrapped = gymnasium.make(SMALL)
    wrapped.reset(seed=1)
    assert str(wrapped).startswith("<")
    assert "svg" in wrapped.unwrapped._repr_html_()
    without = TicTacToe()
    without.game = dataclasses.replace(without.game, picture=None)
    without.reset(seed=1)
    assert without._repr_html_() == "<p>&lt;TicTacToe instance&gt;</p>"


def test_notebooks_show_the_game_in_its_wrappers(monkeypatch):
    shown = {}
    html = SimpleNamespace(for_type_by_name=lambda module, name, show: shown.update({f"{module}.{name}": show}))
    session = SimpleNamespace(display_formatter=SimpleNamespace(formatters={"text/html": html}))
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: session))
    env = gymnasium.make(SMALL)
    show = shown["gymnasium.core.Wrapper"]
    env.reset(seed=1)
    assert show(env) == env.unwrapped._repr_html_()
    assert show(gymnasium.make("CartPole-v1")) is None
    own = type("Own", (gymnasium.Wrapper,), {"_repr_html_": lambda self: "own"})
    assert show(own(env)) == "own"


@pytest.mark.filterwarnings("ignore:.*You are trying to use 'human' rendering")
def test_human_mode(monkeypatch):
    pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    env = gymnasium.make(SMALL, render_mode="human")
    env.reset(seed=0)
    env.step(4)
    assert env.render() is None
    env.close()


@kernel(contract.LEGAL)
def legal_first(state, player, actions):
    """The first free cell alone."""
    ttt_legal(state, player, actions)
    return 1


class Orderly(TicTacToe):
    """A game for two whose random player is told, by the preset ``random``, to take the first free cell."""

    @staticmethod
    def make_game():
        game = tic_tac_toe()
        variants = {**game.variants, "first": {"legal": legal_first}, "other": {"legal": game.legal}}
        presets = {"random": {"agent": "random", "model": "first"}, "other": {"agent": "scripted", "model": "other"}}
        return replace(game, variants=variants, presets=presets)


class TestRandomIsOnePlayer:
    @pytest.mark.parametrize("opponent", [None, "random", ["random"], "agents:random"])
    def test_as_the_opponent_of_every_face_and_as_an_agent(self, opponent):
        env = Orderly(seat=1, opponent=opponent)
        env.reset(seed=3)
        assert env.position()["board"].index(1) == 0  # it began there
        env.step(8)
        assert env.position()["board"] == [1, 1, 0, 0, 0, 0, 0, 0, 2]
        assert agents.make("random", seed=2).act(env) == 2

    def test_in_batches(self):
        games = vectorized(Orderly)(num_envs=6, seat=1, opponent="random")
        games.reset(seed=1)
        games.step(np.full(6, 8))
        assert [games.position(i)["board"] for i in range(6)] == [[1, 1, 0, 0, 0, 0, 0, 0, 2]] * 6
