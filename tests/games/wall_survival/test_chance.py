"""Wall survival: first positions and random walks by their laws of chance."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from mcts_envs.core.compiling.table import TABLE, reset_of, step_of
from mcts_envs.core.contract import BYTES, FLOATS, INTS, types
from mcts_envs.core.kernel import copy, kernel, record
from mcts_envs.core.place import state_from_position
from mcts_envs.core.rng import draw, new_stream, seed_stream
from mcts_envs.games.wall_survival.position import position
from mcts_envs.games.wall_survival.rules.layout import STATE
from mcts_envs.games.wall_survival.spec import WallSurvival, wall_survival
from tests.games.wall_survival.naive import Naive, at, perft_file, triple

MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))


def fits(counts, expected):
    """Return whether counts fit a distribution (both {outcome: n}); nothing outside it may occur."""
    assert set(counts) <= set(expected)
    if len(expected) == 1:
        return True
    total = sum(counts.values())
    outcomes = list(expected)
    return chisquare([counts.get(o, 0) for o in outcomes], [expected[o] * total for o in outcomes]).pvalue > 1e-4


@kernel(types.void(TABLE, BYTES, BYTES, types.uint8[:, ::1]))
def many_starts(functions, state, stream, states):
    for i in range(states.shape[0]):
        reset_of(functions)(state, draw(stream))
        for j in range(state.shape[0]):
            states[i, j] = state[j]


def starts(game, n):
    """Return n first positions as (walls right, walls down, p0, p1)."""
    states = np.zeros((n, game.template.size), np.uint8)
    many_starts(game.table, game.new_state(), new_stream(5), states)
    s = states[:, : STATE.itemsize].copy().view(np.dtype(STATE.descr))[:, 0]
    return list(zip(s["right"][:, 0].tolist(), s["down"][:, 0].tolist(), *s["stands"].T.tolist(), strict=True))


def test_first_positions_of_2022_are_uniform_over_those_that_are_not_separated():
    # Both cells of an edge name it once, so all edges are alike: 6 pairs of them on 3x3, of which 2 are walled.
    game = wall_survival(3)
    counts = Counter(starts(game, 40_000))
    assert len(counts) == 15 * 8 - 4
    assert fits(counts, dict.fromkeys(counts, 1 / len(counts)))


def test_first_positions_of_2023_redraw_the_players_alone():
    # 2 of 30 pairs of edges are walled; the boards stay uniform although some have fewer cells to start from.
    game = wall_survival(6, "2023")
    found = starts(game, 60_000)
    counts = Counter(start[:2] for start in found)
    assert len(counts) == 435
    assert fits(counts, dict.fromkeys(counts, 1 / 435))
    assert all(second == 35 - first for _, _, first, second in found)
    # Two walls cut off a corner, and with their images the opposite corner: 2 of the 435 boards.
    cells = Counter(first for _, _, first, _ in found)
    corner, other = 433 / 36 + 1 / 34, 433 / 36 + 2 / 34
    assert fits(cells, {cell: (corner if cell in (0, 5, 30, 35) else other) / 435 for cell in range(36)})


def walk_chances(naive, player):
    """Return the probability of every action of the reference's random player, as {(row, column, side): p}."""
    other, result = naive.players[1 - player], Counter()
    here = {naive.players[player]: 1 / (naive.reach + 1)}
    for _ in range(naive.reach + 1):
        after = Counter()
        for (row, column), chance in here.items():
            free = [side for side in range(4) if side not in naive.walls[row][column]]
            for side in free:
                result[row, column, side] += chance / len(free)
            steps = [(row + MOVES[side][0], column + MOVES[side][1]) for side in free]
            steps = [cell for cell in steps if cell != other] or [(row, column)]
            for cell in steps:
                after[cell] += chance / len(steps)
        here = after
    return result


def reference_walk(naive, player, rng):
    """The reference's own loop: draw a direction until it may be walked, give up after 300 failures."""
    other = naive.players[1 - player]
    start = cell = naive.players[player]
    for _ in range(rng.integers(0, naive.reach + 1)):
        for _ in range(302):
            side = rng.integers(4)
            after = cell[0] + MOVES[side][0], cell[1] + MOVES[side][1]
            if side not in naive.walls[cell[0]][cell[1]] and after != other:
                cell = after
                break
        else:
            cell = start
            break
    side = rng.integers(4)
    while side in naive.walls[cell[0]][cell[1]]:
        side = rng.integers(4)
    return *cell, int(side)


def crowded_positions():
    """Positions with the players side by side, one of them with no step to take."""
    stuck = {"M": 3, "K": 2, "p0": [0, 0], "p1": [0, 1], "walls": "d13902c46", "turn": 0}
    return [*(case["position"] for case in perft_file()[:9]), stuck]


@kernel(types.void(TABLE, BYTES, BYTES, BYTES, INTS, FLOATS, types.uint8[:, ::1]))
def many_steps(functions, start, state, stream, actions, rewards, seen):
    """Take one action many times; record where the player stands and its wall."""
    for i in range(seen.shape[0]):
        copy(state, start)
        seed_stream(state, draw(stream))
        player = np.int64(record(state, STATE).turn)
        step_of(functions)(state, actions, rewards)
        seen[i, 0], seen[i, 1] = record(state, STATE).stands[player], record(state, STATE).last_side


@pytest.mark.parametrize("given", crowded_positions())
def test_an_illegal_action_is_the_random_walk_of_the_reference(given):
    size = given["M"]
    game = wall_survival(size, reach=given["K"])
    state, naive = at(game, given), Naive(given)
    expected = walk_chances(naive, naive.turn)

    weights = np.full(game.actions, np.nan)
    game.variant("random_walk").advise(state, naive.turn, weights)
    for action, weight in enumerate(weights):
        assert weight == pytest.approx(expected.get(triple(action, size), 0.0))

    illegal = next(a for a in range(game.actions) if triple(a, size) not in naive.legal(naive.turn))
    seen = np.zeros((20_000, 2), np.uint8)
    many_steps(game.table, state, state.copy(), new_stream(1), np.full(2, illegal), np.zeros(2), seen)
    counts = Counter((int(cell) // size, int(cell) % size, int(side)) for cell, side in seen)
    likely = {action: p for action, p in expected.items() if p > 1e-3}
    kept = {action: counts[action] for action in likely}
    assert fits(kept, {action: p / sum(likely.values()) for action, p in likely.items()})


@pytest.mark.slow
def test_the_walk_of_the_reference_has_the_chances_that_we_think():
    rng = np.random.default_rng(2)
    for given in crowded_positions()[-3:]:
        naive = Naive(given)
        expected = walk_chances(naive, naive.turn)
        counts = Counter(reference_walk(naive, naive.turn, rng) for _ in range(4000))
        likely = {action: p for action, p in expected.items() if p > 2e-3}
        assert set(counts) <= set(expected)
        kept = {action: counts[action] for action in likely}
        assert fits(kept, {action: p / sum(likely.values()) for action, p in likely.items()})


def test_forced_dice_decide_the_random_walk():
    env = WallSurvival(board_size=3, opponent="random")
    start = {"M": 3, "K": 2, "p0": [1, 0], "p1": [0, 2], "walls": "913802c46", "turn": 0}
    state = state_from_position(env.game, {**start, "dice": [2, 1, 0, 1]})
    # Two steps, right (of up, right and down), up; then a wall down (of right, down and left).
    env.game.step(state, np.full(2, 35), np.zeros(2))
    after = {"p0": [0, 1], "walls": "953812c46", "turn": 1, "last": {"from": [1, 0], "side": 2}}
    assert position(state) == start | after
