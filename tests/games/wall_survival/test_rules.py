"""Wall survival: recorded games of the reference, and random games against the naive rules."""

import numpy as np
import pytest

from mcts_envs.core.compiling.table import TABLE, active_of, legal_of, step_of
from mcts_envs.core.contract import BYTES, FLOATS, INTS, types
from mcts_envs.core.kernel import copy, interpreted, kernel
from mcts_envs.games.wall_survival.players import values
from mcts_envs.games.wall_survival.position import position
from mcts_envs.games.wall_survival.rules import board, generate
from mcts_envs.games.wall_survival.spec import wall_survival
from tests.games.wall_survival.naive import (
    Naive,
    at,
    digest,
    end_of,
    legal_of_state,
    number,
    perft_file,
    records,
    state_hash,
)

MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))


# Recorded games, positions and boards.


@pytest.mark.parametrize("name", ["traces_main_f22", "traces_f23", "traces_edge_f22"])
def test_recorded_games(name):
    games = {size: wall_survival(size) for size in range(3, 13)}
    for trace in records(name):
        game, size = games[trace["M"]], trace["M"]
        state, rewards = at(game, trace), np.zeros(2)
        assert state_hash(position(state)) == trace["hash"]
        assert end_of(state) == [bool(trace["init_endgame"][0]), *trace["init_endgame"][1:]]
        for ply, (r, c, d, n, legal_digest, over, s0, s1, hashed, walls) in enumerate(trace["plies"]):
            legal = legal_of_state(game, state, ply % 2)
            assert (len(legal), digest(legal)) == (n, legal_digest), trace["id"]
            assert game.active(state) == 1 << ply % 2
            assert (r, c, d) in legal
            game.step(state, np.full(2, number((r, c, d), size)), rewards)
            found = position(state)
            assert (state_hash(found), found["walls"]) == (hashed, walls), trace["id"]
            assert end_of(state) == [bool(over), s0, s1]
        assert game.active(state) == 0
        winner = trace["winner"]
        expected = [0.0, 0.0] if winner < 0 else [1.0 - 2 * winner, 2 * winner - 1.0]
        assert rewards.tolist() == expected
        game.outcome(state, rewards)
        assert rewards.tolist() == [(1 + value) / 2 for value in expected]


def test_recorded_positions():
    for case in records("positions"):
        game = wall_survival(case["M"], reach=case["K"])
        for player in range(2):
            state = at(game, {**case, "turn": player})
            for chooser in range(2):
                legal = legal_of_state(game, state, chooser)
                assert [len(legal), digest(legal)] == case[f"legal{chooser}"]
            assert end_of(state) == [bool(case["end"][0]), *case["end"][1:]]
            assert position(state) == {key: case[key] for key in ("M", "K", "p0", "p1", "walls")} | {"turn": player}


@pytest.mark.parametrize("year", [2022, 2023])
def test_recorded_boards(year):
    build = interpreted(generate.build)
    for case in records(f"boards_f{year % 100}"):
        numbers = np.random.RandomState(case["seed"])
        size = case["M"]
        if size is None:
            size = numbers.randint(5, 10) if year == 2022 else numbers.randint(6, 12)
            assert size == case["drawn_M"]
        state = wall_survival(size, str(year)).new_state()
        build.__globals__["below"] = lambda state, bound, numbers=numbers: np.int64(numbers.randint(0, bound))
        build(state)
        found = position(state)
        assert [found[key] for key in ("walls", "p0", "p1")] == [case[key] for key in ("walls", "p0", "p1")]
        assert generate.connected(state) is not case["initial_end"]
        assert numbers.randint(0, 2**30) == case["witness"]


@kernel(types.int64(TABLE, BYTES, BYTES, INTS, INTS, INTS, FLOATS))
def two_plies(functions, start, state, actions, first, second, rewards):
    """Count the sequences of two actions."""
    total = 0
    player = active_of(functions)(start) >> 1
    for i in range(legal_of(functions)(start, player, first)):
        copy(state, start)
        actions[player] = first[i]
        step_of(functions)(state, actions, rewards)
        if active_of(functions)(state):
            total += legal_of(functions)(state, 1 - player, second)
    return total


@pytest.mark.parametrize("number_of_case", range(10))
def test_perft(number_of_case):
    case = perft_file()[number_of_case]
    game = wall_survival(case["position"]["M"])
    start = at(game, case["position"])
    work = game.new_state(), *(np.zeros(n, np.int64) for n in (2, game.actions, game.actions)), np.zeros(2)
    player = case["position"]["turn"]
    total = 0
    actions = legal_of_state(game, start, player)
    for action in actions:
        state = start.copy()
        game.step(state, np.full(2, number(action, case["position"]["M"])), np.zeros(2))
        if game.active(state):
            total += two_plies(game.table, state, *work)
    assert [len(actions), two_plies(game.table, start, *work), total] == case["counts"]


def test_the_naive_rules_counted_the_perft_file():
    for case in perft_file():
        assert [Naive(case["position"]).perft(depth) for depth in (1, 2)] == case["counts"][:2]
    small = perft_file()[0]
    assert Naive(small["position"]).perft(3) == small["counts"][2]


@pytest.mark.slow
@pytest.mark.parametrize("number_of_case", range(10))
def test_the_naive_rules_counted_the_perft_file_to_depth_3(number_of_case):
    case = perft_file()[number_of_case]
    assert Naive(case["position"]).perft(3) == case["counts"][2]


# The engine against the naive rules.


def open_between(naive, cell, side):
    """Return whether the cells on both sides of a new wall would still be connected."""
    row, column = cell
    across = row + MOVES[side][0], column + MOVES[side][1]
    naive.walls[row][column].add(side)
    naive.walls[across[0]][across[1]].add((side + 2) % 4)
    found = across in naive.flood(cell, 10**6)
    naive.walls[row][column].remove(side)
    naive.walls[across[0]][across[1]].remove((side + 2) % 4)
    return found


@kernel(types.boolean(BYTES, types.int64, types.int64))
def would_part(state, cell, side):
    return board.separates(state, cell, side)


def compare(game, state, naive, optional_wall):
    """Compare everything that both know of a position."""
    size = naive.size
    found = position(state)
    assert [found["p0"], found["p1"]] == [list(cell) for cell in naive.players]
    assert (found["walls"], found["turn"]) == (naive.text(), naive.turn)
    assert end_of(state) == naive.end()
    for player in range(2):
        assert legal_of_state(game, state, player) == naive.legal(player, optional_wall)
    for row, column, side in naive.legal(naive.turn)[:: 1 if size < 6 else 7]:
        assert would_part(state, size * row + column, side) != open_between(naive, (row, column), side)
    value = np.zeros(2)
    if not naive.end()[0]:
        game.evaluate(state, value)
        mine, yours = naive.voronoi()
        assert value.tolist() == [(mine - yours) / (mine + yours), (yours - mine) / (mine + yours)]
        values.evaluate_mobility(state, value)
        mine, yours = (len(naive.flood(naive.players[p], naive.reach, naive.players[1 - p])) for p in range(2))
        assert value[0] == (mine - yours) / (mine + yours)
    else:
        _, mine, yours = naive.end()
        game.evaluate(state, value)
        assert value.tolist() == [float(np.sign(mine - yours)), float(np.sign(yours - mine))]


@pytest.mark.parametrize("optional_wall", [False, True])
@pytest.mark.parametrize("size", [*range(3, 9), *(pytest.param(size, marks=pytest.mark.slow) for size in range(9, 13))])
def test_random_games_against_the_naive_rules(size, optional_wall):
    rng = np.random.default_rng(size)
    game = wall_survival(size, "2023" if size % 2 else "2022", optional_wall=optional_wall)
    for seed in range(40 // size):
        state, rewards = game.new_state(), np.zeros(2)
        game.reset(state, np.uint64(seed))
        naive = Naive(position(state))
        while game.active(state):
            compare(game, state, naive, optional_wall)
            legal = naive.legal(naive.turn, optional_wall)
            # Walls far from the players make long games with pockets.
            action = max(rng.choice(len(legal), 3), key=lambda i: abs(legal[i][0] - naive.players[1 - naive.turn][0]))
            naive.play(*legal[action])
            game.step(state, np.full(2, number(legal[action], size)), rewards)
        compare(game, state, naive, optional_wall)
