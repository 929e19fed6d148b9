"""The classic lane game: exact outcome distributions, phases one by one, known win rates."""

import gzip
import json
import math
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from scipy.stats import chi2

import agents
import mcts_envs
from mcts_envs.core.compiling.table import TABLE, active_of, outcome_of, reset_of, step_of
from mcts_envs.core.contract import BYTES, FLOATS, INTS, types
from mcts_envs.core.kernel import copy, kernel, record
from mcts_envs.core.players import play_random, play_scripted
from mcts_envs.core.rng import draw, new_stream, seed_stream
from mcts_envs.games.lane_defense.position.classic import place
from mcts_envs.games.lane_defense.rules import classic as rules
from mcts_envs.games.lane_defense.spec.classic import LaneDefense, lane_defense

DATA = Path(__file__).parent / "data"
WAIT3 = 9


def transitions(size):
    with gzip.open(DATA / f"lane{size}_transitions.json.gz") as file:
        return json.load(file)


def cells(board):
    return [int(code) for code in board]


@kernel(types.void(TABLE, BYTES, BYTES, INTS, BYTES, types.uint64[::1], FLOATS, INTS, FLOATS))
def sample_steps(functions, start, state, actions, stream, keys, rewards, ends, paid):
    """Take one action from one state many times; record the lanes' hash, the reward and the end of each."""
    for i in range(keys.shape[0]):
        copy(state, start)
        seed_stream(state, draw(stream))
        step_of(functions)(state, actions, paid)
        keys[i] = rules.boards_key(state)
        rewards[i] = paid[0]
        ends[i] = np.int64(record(state, rules.STATE).end)


def placed_state(game, board, t, can_plant=False):
    state = game.new_state()
    game.reset(state, 0)
    s = record(state, rules.STATE)
    s.boards[:] = 0
    for cell, code in enumerate(cells(board)):
        if code:
            lane, column = divmod(cell, int(s.columns))
            s.boards[code - 1, lane >> 2] |= np.uint64(1 << 16 * (lane & 3) + column)
    s.t, s.can_plant = t, can_plant
    return state


@pytest.mark.parametrize("size", [3, 10])
def test_every_outcome_of_the_golden_transitions(size):
    draws = 20_000
    game = lane_defense(size, size)
    stream, scratch = new_stream(7), game.new_state()
    failures = []
    for number, case in enumerate(transitions(size)):
        start = game.new_state()
        game.reset(start, 0)
        place(start, {"board": cells(case["board"]), "t": case["t"], "can_plant": case["can_plant"]})
        keys, rewards = np.zeros(draws, np.uint64), np.zeros(draws)
        ends = np.zeros(draws, np.int64)
        chosen = np.array([case["action"]])
        sample_steps(game.table, start, scratch, chosen, stream, keys, rewards, ends, np.zeros(1))
        statistic = 0.0
        seen = 0
        for outcome in case["outcomes"]:
            hits = keys == np.uint64(rules.boards_key(placed_state(game, outcome["board"], 0)))
            end = (rules.WON if outcome["won"] else rules.LOST) if outcome["terminated"] else rules.ONGOING
            hits &= (rewards == outcome["reward"]) & (ends == end)
            expected = outcome["p"] * draws
            statistic += (hits.sum() - expected) ** 2 / expected
            seen += hits.sum()
        assert seen == draws, f"case {number}: {draws - seen} outcomes that are not in the list"
        failures.append(statistic > chi2.isf(0.01, max(len(case["outcomes"]) - 1, 1)))
    # At level 0.01 about one case in a hundred fails by chance.
    assert sum(failures) <= 0.01 * len(failures) + 4 * math.sqrt(0.01 * len(failures))


def test_golden_transitions_through_the_environment():
    env = gym.make("mcts_envs/LaneDefense3x3-v0").unwrapped
    for case in transitions(3)[::10]:
        listed = {
            (tuple(cells(o["board"])), o["reward"], o["terminated"], o["terminated"] and o["won"])
            for o in case["outcomes"]
        }
        position = {"board": cells(case["board"]), "t": case["t"], "can_plant": case["can_plant"]}
        for seed in range(50):
            env.reset(seed=seed, options={"position": position})
            _, reward, terminated, truncated, info = env.step(case["action"])
            assert not truncated
            assert (tuple(env.position()["board"]), reward, terminated, info.get("is_success", False)) in listed


def after(board, action, dice, t=5, can_plant=True, **settings):
    """Return position, reward, terminated and info after one step on 3x3 with forced dice."""
    env = LaneDefense(rows=3, columns=3, **settings)
    env.reset(seed=0, options={"position": {"board": board, "t": t, "can_plant": can_plant, "dice": dice}})
    _, reward, terminated, _, info = env.step(action)
    return env.position(), reward, terminated, info


NO_MOVE_NO_SPAWN = [0, 0, 1]


def test_a_new_plant_fires_at_once():
    position, reward, _, _ = after([0, 0, 2, 0, 0, 0, 0, 0, 0], 0, NO_MOVE_NO_SPAWN)
    assert position == {"board": [1, 0, 0, 0, 0, 0, 0, 0, 0], "t": 6, "can_plant": True}
    assert reward == 1


def test_a_lane_hits_its_leftmost_zombie_once_however_many_plants_it_has():
    position, reward, _, _ = after([1, 1, 3, 0, 2, 0, 0, 0, 0], WAIT3, NO_MOVE_NO_SPAWN)
    assert position["board"] == [1, 1, 4, 0, 2, 0, 0, 0, 0]
    assert reward == 0


def test_a_weakened_zombie_dies_from_the_second_hit():
    position, reward, _, _ = after([1, 0, 4, 0, 0, 0, 0, 0, 0], WAIT3, NO_MOVE_NO_SPAWN)
    assert position["board"] == [1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert reward == 1


def test_a_lane_is_silent_when_its_leftmost_zombie_is_past_its_leftmost_plant():
    board = [0, 2, 1, 0, 0, 0, 0, 0, 0]
    assert after(board, WAIT3, NO_MOVE_NO_SPAWN)[0]["board"] == board


def test_zombies_move_together_and_eat():
    position, reward, terminated, _ = after([0, 1, 2, 0, 0, 3, 0, 0, 0], WAIT3, [1, 0, 1], can_plant=False)
    assert position["board"] == [0, 1, 0, 0, 3, 0, 0, 0, 0]
    assert reward == 1
    assert not terminated
    position, reward, _, _ = after([0, 0, 0, 0, 1, 2, 0, 0, 1], WAIT3, [1, 1, 2, 1, 1])
    assert position["board"] == [0, 0, 0, 0, 1, 0, 0, 0, 3]
    assert reward == 1 - 1


def test_a_zombie_walks_over_a_plant():
    position, reward, _, _ = after([0, 0, 0, 1, 1, 3, 0, 0, 0], WAIT3, [1, 0, 0])
    assert position["board"] == [0, 0, 0, 1, 4, 0, 0, 0, 0]
    assert reward == -1
    assert position["can_plant"] is False


def test_spawning_needs_an_entry_without_zombie():
    position, _, _, _ = after([0, 0, 2, 0, 0, 2, 0, 0, 0], WAIT3, [0, 1, 0, 0, 0])
    assert position["board"] == [0, 0, 2, 0, 0, 2, 0, 0, 2]
    full = [0, 0, 2, 0, 0, 2, 0, 0, 2]
    assert after(full, WAIT3, [0, 1, 0])[0] == {"board": full, "t": 6, "can_plant": False}


def test_losing():
    _, reward, terminated, info = after([0, 2, 0, 1, 0, 2, 0, 0, 0], WAIT3, [1, 0, 0])
    assert reward == 1 - 200
    assert terminated
    assert info["is_success"] is False
    assert info["outcome"] == 0.0


@pytest.mark.parametrize(("t", "won"), [(19, False), (20, True)])
def test_winning_takes_an_empty_lawn_after_the_night(t, won):
    dice = [0, 0, 1] if t == 19 else [0, 1]
    _, reward, terminated, info = after([1, 0, 2, 0, 0, 0, 0, 0, 0], WAIT3, dice, t=t)
    assert terminated is won
    assert reward == 1 + 100 * won
    assert info.get("is_success") is (True if won else None)


def test_no_zombie_enters_after_the_night():
    env = LaneDefense(p_new=1.0, p_move=0.0)
    env.reset(seed=1, options={"position": {"board": [0, 0, 2] + [0] * 6, "t": 20, "can_plant": False}})
    env.step(WAIT3)
    assert env.position()["board"] == [0, 0, 2] + [0] * 6


def test_planting_in_an_occupied_cell_or_without_a_plant_is_waiting():
    board = [0, 0, 2, 1, 0, 0, 0, 0, 0]
    for action, can_plant in ((2, True), (3, True), (0, False)):
        position, _, _, info = after(board, action, NO_MOVE_NO_SPAWN, can_plant=can_plant)
        assert position["board"] == board
        assert info["illegal_action"] is True


def test_first_plant():
    assert all(LaneDefense().reset(seed=s)[1]["action_mask"].sum() == 9 for s in range(20))
    env = LaneDefense(first_plant_guaranteed=False)
    can = [env.reset(seed=s)[1]["action_mask"].sum() == 9 for s in range(400)]
    assert 150 < sum(can) < 250


def test_shaping_rewards():
    empty = [0, 0, 2] + [0] * 6
    assert after(empty, 3, NO_MOVE_NO_SPAWN, reward_cover=5.0, reward_back=0.5)[1] == 5.5
    assert after(empty, 4, NO_MOVE_NO_SPAWN, reward_cover=5.0, reward_back=0.5)[1] == 5.0
    assert after([0, 0, 2, 0, 1, 0, 0, 0, 0], 3, NO_MOVE_NO_SPAWN, reward_cover=5.0, reward_back=0.5)[1] == 0.5


def test_step_limit_truncates():
    env = LaneDefense(max_steps=3, p_move=0.0)
    env.reset(seed=0)
    assert [env.step(WAIT3)[2:4] for _ in range(3)] == [(False, False), (False, False), (False, True)]
    with pytest.raises(ValueError, match="max_steps 3"):
        env.reset(options={"position": {"board": [0] * 9, "t": 3, "can_plant": True}})


@kernel(types.void(TABLE, BYTES, types.int64, BYTES, FLOATS, FLOATS, INTS, INTS, INTS, FLOATS))
def play_games(functions, state, scripted, stream, wins, returns, lengths, legal, actions, weights):
    """Play whole games with the random or the scripted player; returns are discounted by 0.95."""
    paid = weights[101:]
    for game in range(wins.shape[0]):
        reset_of(functions)(state, draw(stream))
        weight = 1.0
        while active_of(functions)(state):
            if scripted:
                actions[0] = play_scripted(functions, state, 0, legal, weights, stream)
            else:
                actions[0] = play_random(functions, state, 0, legal, weights, stream)
            step_of(functions)(state, actions, paid)
            returns[game] += weight * paid[0]
            weight *= 0.95
            lengths[game] += 1
        outcome_of(functions)(state, paid)
        wins[game] = paid[0]


def play(game, games, scripted=False, seed=1):
    wins, returns, lengths = np.zeros(games), np.zeros(games), np.zeros(games, np.int64)
    work = np.zeros(101, np.int64), np.zeros(1, np.int64), np.zeros(102)
    play_games(game.table, game.new_state(), scripted, new_stream(seed), wins, returns, lengths, *work)
    return wins, returns, lengths


def test_random_player_on_3x3():
    wins, returns, lengths = play(lane_defense().variant("planting"), 20_000)
    assert wins.mean() == pytest.approx(0.1098, abs=0.0066)
    assert returns.mean() == pytest.approx(-145.59, abs=1.5)
    assert lengths.mean() == pytest.approx(6.28, abs=0.13)


def test_random_player_on_10x10():
    wins, _, lengths = play(lane_defense(10, 10).variant("planting"), 20_000)
    assert wins.mean() == pytest.approx(0.0066, abs=0.0017)
    assert lengths.mean() == pytest.approx(19.04, abs=0.1)


@pytest.mark.parametrize(
    ("size", "variant", "guaranteed", "published"),
    [
        (3, None, True, 0.711),
        (3, None, False, 0.526),
        (10, None, True, 0.9926),
        (10, None, False, 0.9867),
        (3, "bare_lanes", True, 0.461),
        (10, "bare_lanes", True, 0.681),
    ],
)
def test_scripted_players_win_as_often_as_published(size, variant, guaranteed, published):
    game = lane_defense(size, size, first_plant_guaranteed=guaranteed)
    wins, _, _ = play(game.variant(variant) if variant else game, 20_000, scripted=True)
    # The published figures for the second player come from some thousands of games: allow for both samples.
    assert wins.mean() == pytest.approx(published, abs=5 * math.sqrt(published * (1 - published) / 10_000))


@pytest.mark.parametrize(
    "settings",
    [{}, pytest.param({"rows": 10, "columns": 10}, marks=pytest.mark.slow), {"rows": 2, "columns": 15, "night": 5}],
)
def test_laws(settings):
    mcts_envs.check_game(LaneDefense, episodes=2, faces=False, **settings)
    for variant in ("worst_case", "planting", "planes", "bare_lanes"):
        mcts_envs.check_game(lane_defense(**settings).variant(variant), episodes=1, faces=False)


def test_search_does_not_settle_on_a_worse_lane():
    """By value iteration, cell 0 survives the night with 0.7235, the next best cell with 0.6671.

    An open loop, whose line of actions cannot answer where the next zombie enters, took the latter with one seed in
    ten, with 2,000 simulations or 20,000.
    """
    env = gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(options={"position": {"board": [0, 0, 2, 0, 0, 0, 0, 0, 0], "t": 0, "can_plant": True}})
    assert {agents.make("mcts", simulations=5000, seed=seed).search(env).action for seed in range(30)} == {0}
