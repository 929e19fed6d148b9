"""The observation of distances, against walks and floods in plain Python."""

import gymnasium as gym
import numpy as np
import pytest
from papers.wall_positions import after, legal
from papers.wall_positions import walk as games

import mcts_envs
from mcts_envs.core.kernel import interpreted, record
from mcts_envs.games.wall_survival.position import position
from mcts_envs.games.wall_survival.rules.layout import ONGOING, STATE
from mcts_envs.games.wall_survival.spec import wall_survival
from tests.games.wall_survival.naive import Naive, at

ID = "mcts_envs/WallSurvival-v0"


def seen(game, state, player):
    """Return what a player sees: boards [29, M, M] and numbers [6]."""
    out = np.full(game.observation_shape, np.nan, np.float32)
    game.observe(state, player, out)
    size = int(record(state, STATE).board_size)
    return out[:-6].reshape(29, size, size), out[-6:]


def ahead(mine, yours):
    """Return the cells of the first walks that the second reach later, or not at all."""
    return {cell for cell in mine if mine[cell] < yours.get(cell, 10**6)}


def board_of(cells, size):
    return np.array([[float((row, column) in cells) for column in range(size)] for row in range(size)])


def looked_ahead(naive, player):
    """Return how every wall of a player would end the game (None: it goes on), and the territories after it."""
    ends, lead, turn = {}, {}, naive.turn
    for row, column, side in naive.legal(player):
        naive.turn, before = player, naive.players[player]
        naive.play(row, column, side)
        over, *areas = naive.end()
        ends[row, column, side] = np.sign(areas[player] - areas[1 - player]) if over else None
        mine, yours = (naive.flood(naive.players[who], 10**6) for who in (player, 1 - player))
        lead[row, column, side] = len(ahead(mine, yours)) - len(ahead(yours, mine))
        naive.undo(side, before)
    naive.turn = turn
    return ends, lead


def expected(naive, player, over):
    """Return the boards after the seven, and the last four numbers, counted naively."""
    size, reach = naive.size, naive.reach
    me, other = naive.players[player], naive.players[1 - player]
    mine, yours = naive.flood(me, 10**6), naive.flood(other, 10**6)
    boards = np.zeros((29, size, size))
    for board, walks in ((7, mine), (8, yours)):
        for cell, steps in walks.items():
            boards[board][cell] = max(reach, 1) / (max(reach, 1) + steps)
    here, there = naive.flood(me, reach, other), naive.flood(other, reach, me)
    boards[9], boards[10] = board_of(ahead(mine, yours), size), board_of(ahead(yours, mine), size)
    boards[11] = board_of(there, size)
    boards[12] = [[len(sides) >= 3 for sides in row] for row in naive.walls]
    if not over:
        (ends, lead), (threats, _) = looked_ahead(naive, player), looked_ahead(naive, 1 - player)
        least, most = min(lead.values()), max(lead.values())
        for (row, column, side), end in ends.items():
            boards[13 + side, row, column] = end == 1
            boards[17 + side, row, column] = 1.0 if end == -1 else 0.5 if end == 0 else 0.0
            rank = (lead[row, column, side] - least) / (most - least) if most > least else 1.0
            boards[25 + side, row, column] = rank
        for (row, column, side), end in threats.items():
            boards[21 + side, row, column] = end == 1
    numbers = [len(ahead(mine, yours)), len(ahead(yours, mine)), len(here), len(there)]
    return boards[7:], np.array(numbers) / size**2


def some_states(settings, number):
    game = wall_survival(**settings).variant("distances")
    for seed in range(number):
        states = [state.copy() for state in games(game, seed)]
        yield from ((game, state) for state in states[seed % 4 :: 4])
        ends = (after(game, states[-1], action) for action in legal(game, states[-1]))
        yield game, next(state for state in ends if not game.active(state))


@pytest.mark.parametrize(
    ("settings", "number"),
    [
        ({"board_size": 3}, 16),
        ({"board_size": 6}, 6),
        ({"board_size": 8, "reach": 1}, 1),
        ({"board_size": 9, "generator": "2023"}, 1),
        pytest.param({"board_size": 12}, 1, marks=pytest.mark.slow),
        ({"board_size": 4, "reach": 0}, 10),
        ({"board_size": 4, "optional_wall": True, "max_steps": 6}, 10),
    ],
)
def test_every_number_is_what_a_naive_count_finds(settings, number):
    kinds = set()
    for game, state in some_states(settings, number):
        flat = wall_survival(**settings)
        naive = Naive(position(state))
        for player in range(2):
            boards, numbers = seen(game, state, player)
            plain = np.zeros(flat.observation_shape, np.float32)
            flat.observe(state, player, plain)
            assert (boards[:7].ravel() == plain[:-2]).all()
            assert (numbers[:2] == plain[-2:]).all()
            more, shares = expected(naive, player, record(state, STATE).end != ONGOING)
            np.testing.assert_allclose(boards[7:], more, rtol=1e-6)
            np.testing.assert_allclose(numbers[2:], shares, rtol=1e-6)
            assert boards.min() >= 0
            assert boards.max() == 1
            kinds |= {name for name, first in (("wins", 13), ("loses", 17), ("threats", 21)) if boards[first:].any()}
    assert kinds == {"wins", "loses", "threats"} or settings.get("reach") == 0


def test_both_seats_see_alike():
    for game, state in some_states({"board_size": 6}, 12):
        found = position(state)
        swapped = at(game, {**found, "p0": found["p1"], "p1": found["p0"], "turn": 1 - found["turn"]})
        record(swapped, STATE).end = record(state, STATE).end
        turned = at(game, half_turn(found))
        record(turned, STATE).end = record(state, STATE).end
        for player in range(2):
            boards, numbers = seen(game, state, player)
            others, same = seen(game, swapped, 1 - player)
            assert (boards == others).all()
            assert (numbers == same).all()
            others, same = seen(game, turned, player)
            assert (boards[[9, 10, 11, 12]] == others[[9, 10, 11, 12], ::-1, ::-1]).all()
            for first in (13, 17, 21, 25):
                sides = [first + (side + 2) % 4 for side in range(4)]
                assert (boards[first : first + 4] == others[sides, ::-1, ::-1]).all()
            assert (numbers == same).all()


def half_turn(found):
    """Return a position turned by half a turn: up is down, and left is right."""
    last = found["M"] - 1
    walls = "".join(f"{(int(digit, 16) << 2 | int(digit, 16) >> 2) & 15:x}" for digit in reversed(found["walls"]))
    stands = {name: [last - row, last - column] for name, (row, column) in ((p, found[p]) for p in ("p0", "p1"))}
    return {**found, **stands, "walls": walls}


def test_by_hand():
    walls = [[0, 0, "right"], [1, 0, "right"]]
    env = gym.make(ID, board_size=3, reach=2, observation="distances").unwrapped
    env.reset(seed=0, options={"position": {"p0": [0, 0], "p1": [2, 2], "walls": walls, "turn": 0}})
    boards, numbers = seen(env.game, env._state, 0)
    ways = [[2 / 2, 2 / 7, 2 / 8], [2 / 3, 2 / 6, 2 / 7], [2 / 4, 2 / 5, 2 / 6]]  # 0 5 6, 1 4 5, 2 3 4 steps
    assert boards[7] == pytest.approx(np.array(ways))
    assert boards[9].tolist() == [[1, 0, 0], [1, 0, 0], [0, 0, 0]]
    assert boards[12].tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert not boards[13:17].any()  # any wall that parts the players leaves me 3 cells at most
    assert np.argwhere(boards[17:21]).tolist() == [
        [1, 2, 0],
        [2, 0, 0],
        [2, 1, 0],
    ]  # right of the last, below the others
    assert numbers.tolist() == pytest.approx([1, 0, 2 / 9, 6 / 9, 3 / 9, 6 / 9])


@pytest.mark.parametrize("size", [3, 9])
def test_compiled_is_interpreted(size):
    for game, state in list(some_states({"board_size": size}, 2))[:4]:
        outs = np.zeros((2, *game.observation_shape), np.float32)
        game.observe(state, 1, outs[0])
        interpreted(game.observe)(state, 1, outs[1])
        assert (outs[0] == outs[1]).all()


def test_spaces():
    env = gym.make(ID, board_size=6, observation="distances", opponent="random")
    observation, _ = env.reset(seed=1)
    assert env.observation_space.shape == (29 * 36 + 6,)
    assert env.observation_space.contains(observation)
    vec = mcts_envs.make_sb3_vec_env("WallSurvival-v0", 4, seed=0, board_size=6, observation="distances")
    assert vec.observation_space.shape == (29 * 36 + 6,)
    assert ((vec.reset() >= 0) & (vec.reset() <= 1)).all()
    mcts_envs.check_game(ID, episodes=1, faces=False, board_size=4, observation="distances")
