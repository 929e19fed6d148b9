"""The Gymnasium API: the checkers of others, seeds, positions, views, opponents, and what is paid."""

import importlib.util
import json
from dataclasses import replace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import agents
from mcts_envs.core import contract
from mcts_envs.core.api.vector import vectorized
from mcts_envs.core.kernel import kernel
from mcts_envs.core.view import View
from tests.core.single import OPPONENTS, SEATS, First, everything, play, same
from tests.toys import Stakes, TicTacToe, Tron, tic_tac_toe, ttt_legal

LANES = ("mcts_envs/LaneDefense3x3-v0", "mcts_envs/LaneDefense10x10-v0", "mcts_envs/LaneDefense5x9-v0")
SMALL = LANES[0]


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


def test_position_that_is_over():
    env = Stakes()
    env.reset(seed=0)
    before = env.clone_state()
    with pytest.raises(ValueError, match="already over in this position; give one in which somebody is to choose"):
        env.reset(options={"position": {"chips": [8, 1, 1], "turn": 0}})
    with pytest.raises(ValueError, match="tron defines no position"):
        Tron().reset(options={"position": {}})
    assert env.clone_state() == before


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
    pending = set()
    for seed in range(20):
        env.reset(seed=seed)
        pending.add((float(env._pending_reward[0]), float(env._outcome[0])))
    assert pending == {(0.0, 0.0), (0.125, 0.0)}


def test_a_player_who_is_out_has_ended():
    env = Stakes(seat=0)
    env.reset(seed=0, options={"position": {"chips": [1, 4, 4], "turn": 0, "dice": [0]}})
    _, reward, terminated, _, info = env.step(0)
    assert (reward, terminated, info["outcome"], info["is_success"]) == (-1.0, True, 0.0, False)
    assert env.position()["chips"] == [0, 4, 4]


# Views


def test_views():
    for env in everything():
        view = env.unwrapped.view()
        assert isinstance(view, View)
        assert same(view.legal_actions(), env.unwrapped.legal_actions())
        assert same(view.action_masks(), env.unwrapped.action_masks())
        before = env.unwrapped.clone_state()
        agents.make("random", seed=1).act(env)
        assert env.unwrapped.clone_state() == before


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
