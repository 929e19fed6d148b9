"""The random stream inside states, forced dice, and hashes."""

import numpy as np
import pytest
from scipy.stats import chisquare

import agents
from mcts_envs.core.kernel import interpreted
from mcts_envs.core.rng import (
    below,
    choose,
    choose_among,
    coin,
    combine,
    draw,
    new_stream,
    reseed,
    scramble,
    seed_stream,
)
from mcts_envs.games.lane_defense.spec.classic import LaneDefense

DICE_LEFT, DICE = 8, 9


def force(stream, *dice):
    stream[DICE_LEFT] = len(dice)
    stream[DICE : DICE + len(dice)] = dice


@pytest.mark.parametrize("seed", [0, 1, 2**63, 2**64 - 1])
def test_compiled_equals_interpreted(seed):
    compiled, plain = new_stream(seed), new_stream(seed)
    for _ in range(100):
        assert int(draw(compiled)) == int(interpreted(draw)(plain))
        assert below(compiled, 7) == interpreted(below)(plain, 7)
        assert coin(compiled, 0.3) == interpreted(coin)(plain, 0.3)
        weights = np.array([0.5, 0.0, 2.0])
        assert choose(compiled, weights, 3) == interpreted(choose)(plain, weights, 3)
    assert np.array_equal(compiled, plain)


def test_draws_are_uniform():
    stream = new_stream(3)
    counts = np.bincount([below(stream, 6) for _ in range(60_000)], minlength=6)
    assert chisquare(counts).pvalue > 1e-4
    heads = sum(coin(stream, 0.3) for _ in range(60_000))
    assert heads == pytest.approx(18_000, abs=5 * 112)
    words = np.array([int(draw(stream)) for _ in range(20_000)], np.uint64)
    bits = (words[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)).mean(0)
    assert np.abs(bits - 0.5).max() < 5 * 0.5 / np.sqrt(20_000)
    highest = (words >> np.uint64(60)).astype(np.int64)
    pairs = np.bincount(highest[:-1] * 16 + highest[1:], minlength=256)
    assert chisquare(pairs).pvalue > 1e-4


def test_neighbouring_seeds_are_unrelated():
    firsts = np.bincount([below(new_stream(seed), 8) for seed in range(16_000)], minlength=8)
    assert chisquare(firsts).pvalue > 1e-4


def test_choose_follows_weights_and_never_takes_a_zero():
    stream = new_stream(5)
    weights = np.array([1.0, 0.0, 3.0, 0.0])
    picks = np.bincount([choose(stream, weights, 4) for _ in range(20_000)], minlength=4)
    assert picks[[1, 3]].tolist() == [0, 0]
    assert picks[2] == pytest.approx(15_000, abs=5 * 62)
    items = np.array([3, 1, 0])
    assert {choose_among(stream, weights, items, 2) for _ in range(50)} == {1, 3}  # all weights 0: uniform
    assert {choose_among(stream, weights, items, 3) for _ in range(50)} == {0}


def test_forced_dice_come_first_and_run_out():
    stream, other = new_stream(9), new_stream(9)
    force(stream, 5, 0, 1, 9)
    assert below(stream, 6) == 5
    assert coin(stream, 0.999) is False
    assert coin(stream, 0.001) is True
    assert below(stream, 6) == 3
    assert [int(draw(stream)) for _ in range(3)] == [int(draw(other)) for _ in range(3)]


def test_seeding_empties_the_dice():
    stream = new_stream(1)
    force(stream, 1, 2)
    seed_stream(stream, np.uint64(4))
    assert stream[DICE_LEFT] == 0


def test_hashes_spread():
    assert len({int(scramble(np.uint64(i))) for i in range(100_000)}) == 100_000
    assert (
        len({int(combine(combine(np.uint64(1), np.uint64(i)), np.uint64(j))) for i in range(300) for j in range(300)})
        == 90_000
    )


def test_an_agent_and_a_game_with_the_same_seed_do_not_move_in_step():
    inside, outside = new_stream(0), new_stream(0)
    seed_stream(inside, np.uint64(7))
    reseed(outside, 7)
    assert int(draw(inside)) != int(draw(outside))
    env, agent, wins = LaneDefense(), agents.make("random"), 0
    for seed in range(3000):
        env.reset(seed=seed)
        agent.reseed(seed)
        over = False
        while not over:
            _, _, over, _, info = env.step(agent.act(env))
        wins += info["is_success"]
    assert wins / 3000 == pytest.approx(0.1098, abs=4 * (0.11 * 0.89 / 3000) ** 0.5)
