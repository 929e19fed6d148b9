"""Snapshots of the Gymnasium API: they bring back the future, without chance too, and are refused elsewhere."""

import copy
import pickle
import subprocess
import sys

import gymnasium
import pytest

import mcts_envs
from agents.mcts import MCTS
from tests.core.single import First, everything, lanes, play, same
from tests.toys import Stakes, TicTacToe

LANES = ("mcts_envs/LaneDefense3x3-v0", "mcts_envs/LaneDefense10x10-v0", "mcts_envs/LaneDefense5x9-v0")
SMALL = LANES[0]


GOOD = {"board": [0, 0, 2, 0, 0, 0, 0, 0, 0], "t": 4, "can_plant": True}


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
def test_copies_go_on_drawing_actions(make):
    env = make("mcts_envs/WallSurvival-v0").unwrapped
    space = env.action_space("player_1") if make is mcts_envs.make_aec else env.action_space
    space.seed(3)
    twins = copy.deepcopy(env), pickle.loads(pickle.dumps(env))
    drawn = [space.sample() for _ in range(5)]
    for twin in twins:
        copied = twin.action_space("player_1") if make is mcts_envs.make_aec else twin.action_space
        assert same([copied.sample() for _ in range(5)], drawn)


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
