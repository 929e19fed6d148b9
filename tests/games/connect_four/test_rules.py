"""Connect four, the example: its rules beside a naive form of them, its faces, and what a search must find in it."""

import json
import os
import pickle
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import connect_four  # examples/connect_four.py
import gymnasium as gym
import numpy as np
import pettingzoo
import pytest
from connect_four import BOTTOM, GAME, OVER, STATE

import agents
import mcts_envs
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.compiling.table import TABLE, active_of, legal_of, step_of
from mcts_envs.core.contract import FLOATS, INTS, types
from mcts_envs.core.kernel import copy, kernel, record
from mcts_envs.core.laws import compiled_equals_interpreted
from mcts_envs.core.sampling import legal_actions, sample

ID = "ConnectFour-v0"
EXAMPLE = Path(connect_four.__file__)
DRAWN = "134046526404364603366023020342255255511111"


# The naive form: cell (column, row) is bit 7 * row + column, and the lines are listed one by one.


def lines():
    for column, row, (right, up) in product(range(7), range(6), ((1, 0), (0, 1), (1, 1), (1, -1))):
        cells = [(column + i * right, row + i * up) for i in range(4)]
        if all(0 <= c < 7 and 0 <= r < 6 for c, r in cells):
            yield cells


LINES = list(lines())
THROUGH = {
    1 << 7 * row + column: [sum(1 << 7 * r + c for c, r in line) for line in LINES if (column, row) in line]
    for row, column in product(range(6), range(7))
}


def drop(taken, column):
    """Return the lowest free cell of a column; 0 if there is none."""
    return next((1 << cell for cell in range(column, 42, 7) if not taken >> cell & 1), 0)


def drops(mine, theirs):
    return [(column, stone) for column in (3, 2, 4, 1, 5, 0, 6) if (stone := drop(mine | theirs, column))]


def wins(mine, stone):
    return any(mine & line == line for line in THROUGH[stone])


def solve(mine, theirs, plies, low=-1, high=1):
    """Alpha-beta: 1 if the player to move can force a win within so many plies, -1 if the other can, else 0."""
    moves = drops(mine, theirs)
    if not plies or not moves:
        return 0
    if any(wins(mine | stone, stone) for _, stone in moves):
        return 1
    for _, stone in moves:
        low = max(low, -solve(theirs, mine | stone, plies - 1, -high, -low))
        if low >= high:
            break
    return low


def moves_worth(worth, moves, plies):
    """Return the next moves that are worth at least this much within so many plies."""
    mine = theirs = 0
    for column in map(int, moves):
        mine, theirs = theirs, mine | drop(mine | theirs, column)
    return [
        column
        for column, stone in drops(mine, theirs)
        if (1 if wins(mine | stone, stone) else -solve(theirs, mine | stone, plies - 1)) >= worth
    ]


def drawn(first, second):
    marks = [".XO"[(first >> cell & 1) + 2 * (second >> cell & 1)] for cell in range(42)]
    return "\n".join("".join(marks[7 * row : 7 * row + 7]) for row in range(5, -1, -1))


# The game.


def new_state():
    state = GAME.new_state()
    GAME.reset(state, 0)
    return state


def play(state, column):
    """Let whoever is to move drop a stone; return the rewards."""
    rewards = np.full(2, np.nan)
    GAME.step(state, np.full(2, column), rewards)
    return rewards.tolist()


def played(moves):
    """Return the state after some moves, and the rewards of the last."""
    state, rewards = new_state(), None
    for column in map(int, moves):
        assert GAME.active(state)
        rewards = play(state, column)
    return state, rewards


def legal(state):
    return legal_actions(GAME, state, 0).tolist()


def over(state):
    ends = {GAME.active(state) == 0, *(bool(GAME.status(state, player)) for player in range(2))}
    assert len(ends) == 1
    return ends.pop()


@pytest.mark.parametrize("moves", ["0101010", "0011223", "01122323363", "65544343303"])
def test_four_upright_level_rising_and_falling(moves):
    before, rewards = played(moves[:-1])
    assert (over(before), rewards) == (False, [0.0, 0.0])
    after, rewards = played(moves)
    assert (over(after), rewards) == (True, [1.0, -1.0])
    second, rewards = played("6" + moves if moves[0] == "0" else "0" + moves)
    assert (over(second), rewards) == (True, [-1.0, 1.0])


def test_there_are_69_lines_and_each_wins_whichever_stone_comes_last():
    assert len(LINES) == 69
    for line in LINES:
        for last in line:
            others = [cell for cell in line if cell != last]
            heights = [max([0, *(r + 1 for c, r in others if c == column)]) for column in range(7)]
            if heights[last[0]] > last[1]:
                continue  # a stone of an upright line other than the highest cannot come last
            heights[last[0]] = last[1]
            for missing in (None, *others):
                state = new_state()
                s = record(state, STATE)
                s.landing = BOTTOM + np.uint64(sum((1 << h) - 1 << 7 * c for c, h in enumerate(heights)))
                s.mine = sum(1 << 7 * c + r for c, r in others if (c, r) != missing)
                mover = GAME.active(state) >> 1
                rewards = play(state, last[0])
                assert over(state) == (missing is None)
                assert rewards[mover] == -rewards[1 - mover] == (missing is None)


def test_full_columns_are_illegal_and_a_stone_for_one_goes_to_the_first_that_is_not():
    state, _ = played("333333")
    assert legal(state) == [0, 1, 2, 4, 5, 6]
    beside = state.copy()
    assert play(state, 3) == play(beside, 0)
    assert np.array_equal(state, beside)
    state, _ = played("000000")
    play(state, 0)
    assert GAME.text(state).endswith("\nXX.....")


def test_a_draw():
    before, _ = played(DRAWN[:-1])
    assert (legal(before), over(before)) == ([int(DRAWN[-1])], False)
    after, rewards = played(DRAWN)
    assert (over(after), rewards) == (True, [0.0, 0.0])
    points = np.zeros(2)
    GAME.outcome(after, points)
    assert points.tolist() == [0.5, 0.5]
    assert np.array_equal(played(DRAWN)[0], after)


def test_nothing_happens_after_the_end():
    for moves in ("0101010", DRAWN):
        state, _ = played(moves)
        after = state.copy()
        assert play(after, 6) == [0.0, 0.0]
        assert np.array_equal(after, state)


def test_the_state_is_two_words():
    assert GAME.template.size == 32 + 16
    s = record(played("3")[0], STATE)
    assert (int(s.mine), int(s.landing - BOTTOM)) == (0, 1 << 21)
    assert not s.landing & OVER


@kernel(types.int64(TABLE, types.uint8[:, ::1], types.int64[:, ::1], INTS, INTS, FLOATS))
def count_ways(functions, states, legal, left, actions, rewards):
    """Count the ways from the first of the states [depth + 1, size]; the other arrays are room to work in."""
    depth = states.shape[0] - 1
    left[0] = legal_of(functions)(states[0], 0, legal[0])
    ways, ply = 0, 0
    while ply >= 0:
        if left[ply] == 0:
            ply -= 1
            continue
        left[ply] -= 1
        actions[0] = actions[1] = legal[ply, left[ply]]
        ply += 1
        copy(states[ply], states[ply - 1])
        step_of(functions)(states[ply], actions, rewards)
        if ply == depth:
            ways += 1
            ply -= 1
        else:
            bits = active_of(functions)(states[ply])
            left[ply] = legal_of(functions)(states[ply], bits >> 1, legal[ply]) if bits else 0
    return ways


def perft(depth):
    """Count the ways to play so many moves."""
    states, legal = np.tile(new_state(), (depth + 1, 1)), np.zeros((depth + 1, 7), np.int64)
    return count_ways(GAME.table, states, legal, legal[:, 0].copy(), np.zeros(2, np.int64), np.zeros(2))


def naive_perft(depth):
    """Count the same layer by layer: how many ways lead to each position."""
    counts, layer = [1], Counter({(0, 0): 1})
    for _ in range(depth):
        ended, following = 0, Counter()
        for (mine, theirs), ways in layer.items():
            for _, stone in drops(mine, theirs):
                if wins(mine | stone, stone):
                    ended += ways
                else:
                    following[theirs, mine | stone] += ways
        counts.append(ended + following.total())
        layer = following
    return counts


def test_perft():
    counts = [1, 7, 49, 343, 2401, 16807, 117649, 823536, 5673234]
    assert naive_perft(8) == counts
    assert [perft(depth) for depth in range(1, 9)] == counts[1:]


def test_random_games_beside_the_naive_form():
    rng, results = np.random.default_rng(0), Counter()
    for _ in range(400):
        state, first, second, turn = new_state(), 0, 0, 0
        while True:
            assert GAME.active(state) == 1 << turn
            assert legal(state) == sorted(column for column, _ in drops(first, second))
            assert GAME.text(state) == drawn(first, second)
            column = int(rng.integers(7))
            stone = drop(first | second, column) or drop(first | second, min(legal(state)))
            mine = (second if turn else first) | stone
            first, second = (first, mine) if turn else (mine, second)
            won = wins(mine, stone)
            rewards = play(state, column)
            assert rewards == ([1.0 - 2 * turn, 2.0 * turn - 1] if won else [0.0, 0.0])
            assert over(state) == (won or not drops(first, second))
            if over(state):
                break
            turn = 1 - turn
        assert GAME.text(state) == drawn(first, second)
        results[rewards[0]] += 1
    assert 200 < results[1.0] < 250  # the first player wins 55.6 % of all random games
    assert 150 < results[-1.0] < 200


def test_it_keeps_the_laws_with_every_face():
    mcts_envs.check_game(ID, episodes=5)


def test_compiled_equals_interpreted():
    compiled_equals_interpreted(GAME, sample(GAME, 30, 42, 1))


def test_the_gymnasium_face():
    env = gym.make(ID, seat=1, opponent="scripted", illegal="raise", render_mode="ansi")
    _, info = env.reset(seed=3)
    assert env.render().count("X") == 1
    done = False
    while not done:
        assert env.render().count("X") == env.render().count("O") + 1
        _, reward, done, truncated, info = env.step(int(np.flatnonzero(info["action_mask"])[0]))
    assert not truncated
    assert reward in (-1.0, 0.0, 1.0)
    assert info["outcome"] == (reward + 1) / 2


def test_strict_faces_refuse_full_columns():
    env = pettingzoo.make("aec", ID, illegal="raise")
    env.reset(seed=0)
    for _ in range(6):
        env.step(3)
    with pytest.raises(ValueError, match="action 3 of player_0 is illegal; legal now: 0, 1, 2, 4, 5, 6"):
        env.step(3)


def test_the_pettingzoo_faces():
    aec, parallel = (pettingzoo.make(kind, ID) for kind in ("aec", "parallel"))
    aec.reset(seed=0)
    parallel.reset(seed=0)
    for column in map(int, "0011223"):
        aec.step(column)
        _, rewards, terminations, _, infos = parallel.step(dict.fromkeys(parallel.agents, column))
    assert aec.rewards == rewards == {"player_0": 1.0, "player_1": -1.0}
    assert aec.terminations == terminations == {"player_0": True, "player_1": True}
    assert [infos[agent]["outcome"] for agent in ("player_0", "player_1")] == [1.0, 0.0]


def test_the_batched_face():
    batch = gym.make_vec(ID, 16)
    single = gym.make_vec(ID, 16, vectorization_mode="sync")
    assert np.array_equal(batch.reset(seed=5)[0], single.reset(seed=5)[0])
    rng = np.random.default_rng(0)
    for _ in range(60):
        actions = rng.integers(7, size=16)
        for mine, theirs in zip(batch.step(actions)[:4], single.step(actions)[:4], strict=True):
            assert np.array_equal(mine, theirs)


def test_pickling():
    again = pickle.loads(pickle.dumps(GAME))
    assert (again.step, again.text, again.fingerprint) == (GAME.step, GAME.text, GAME.fingerprint)
    env = gym.make(ID)
    env.reset(seed=1)
    env.step(3)
    other = pickle.loads(pickle.dumps(env))
    assert isinstance(other.unwrapped, GameEnv)
    snapshot = pickle.loads(pickle.dumps(env.unwrapped.clone_state()))
    played_on = [env.step(column) for column in (3, 2, 4)]
    env.unwrapped.restore_state(snapshot)
    for source in (env, other):
        for column, (observation, *rest) in zip((3, 2, 4), played_on, strict=True):
            seen, *others = source.step(column)
            assert np.array_equal(seen, observation)
            assert others[:3] == rest[:3]


def test_it_is_short_and_runs():
    assert len(EXAMPLE.read_text().splitlines()) <= 100
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLE.parents[1])}
    run = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=True, env=environment)
    *boards, result = run.stdout.strip().split("\n\n")
    assert result == "X won"
    assert len(boards) >= 4
    assert all(len(board.split()) == 6 for board in boards)


# The search. In all these positions but one move is right: it wins in so many plies and no move wins sooner, or it is
# the only one after which the other does not win in so many plies.

WINS = {
    1: {"13014513456143": 4, "556444434265601255": 6, "356643502262": 1, "13231020406": 0, "4232326163": 5},
    3: {"566634316110": 4, "10245060043105362561": 2, "2300265150254152": 3, "32601120225304": 1, "15616636": 2},
    5: {"22250364656056002": 3, "1136024006255034": 3, "0346012325114": 3, "555023266124626256446335": 3},
}
BLOCKS = {
    1: {"0064304005156": 2, "55512241250": 3, "101004156": 1, "1626161124": 6, "613044024": 5},
    3: {"061330306001505333444": 5, "323423312": 1, "01430400420335": 2, "1242332265": 4, "1014022533223": 1},
    5: {"55421212215013": 4, "06111042166035200541655": 3, "655036532614642": 2, "26030662201316333103": 5},
}
SIMULATIONS = {1: 1_000, 3: 10_000, 5: 30_000}


def positions(table):
    return [
        pytest.param(plies, moves, best, id=f"{plies}-{moves}")
        for plies, of_plies in table.items()
        for moves, best in of_plies.items()
    ]


def found(moves, simulations, seed):
    env = pettingzoo.make("aec", ID)
    env.reset(seed=0)
    for column in map(int, moves):
        env.step(column)
    return agents.make("mcts", simulations=simulations, seed=seed).search(env)


@pytest.mark.parametrize(("plies", "moves", "best"), positions(WINS))
def test_the_search_finds_forced_wins(plies, moves, best):
    assert moves_worth(1, moves, plies) == [best]
    assert plies == 1 or moves_worth(1, moves, plies - 2) == []
    for seed in range(2):
        assert found(moves, SIMULATIONS[plies], seed).action == best


@pytest.mark.parametrize(("plies", "moves", "best"), positions(BLOCKS))
def test_the_search_finds_the_only_defence(plies, moves, best):
    assert moves_worth(0, moves, plies + 1) == [best]
    assert moves_worth(1, moves, plies + 1) == []
    for seed in range(2):
        assert found(moves, SIMULATIONS[plies], seed).action == best


@pytest.mark.parametrize("seed", range(3))
def test_the_search_begins_in_the_centre(seed):
    result = found("", 20_000, seed)
    assert result.action == 3
    assert result.visits[3] > 10_000


def test_the_search_beats_a_random_player():
    env = pettingzoo.make("aec", ID)
    for seed in range(6):
        players = [agents.make("mcts", simulations=300, seed=seed), agents.make("random", seed=seed)]
        seats = dict(zip(env.possible_agents, players if seed % 2 else players[::-1], strict=True))
        env.reset(seed=seed)
        while not any(env.terminations.values()):
            env.step(seats[env.agent_selection].act(env))
        assert env.rewards[next(agent for agent in seats if seats[agent] is players[0])] == 1.0


# The exact solver by which policies are judged.


@pytest.mark.slow
def test_the_solver_is_right():
    from tests.games.connect_four import solver

    table, recorded = solver.table(), json.loads((EXAMPLE.parents[1] / "tests/data/connect_four.json").read_text())
    late = {moves: worths for moves, worths in recorded.items() if len(moves) >= 24}
    assert len(late) > 50
    for moves, worths in [*late.items()][:50]:
        assert solver.worths(*solver.played(moves), *table).tolist() == worths
        best = max(worths)
        assert set(moves_worth(best, moves, 42)) == {column for column, worth in enumerate(worths) if worth == best}


@pytest.mark.parametrize("opening", [0, 1, 4, 6])
def test_an_opening_is_played_by_the_rules(opening):
    import connect_four_cells  # registers it

    env = mcts_envs.make_aec("ConnectFourCells-v0", opening=opening)
    seen = set()
    for seed in range(50):
        env.reset(seed=seed)
        state = env.unwrapped.view().state
        stones = int(record(state, connect_four_cells.OPENED).landing - connect_four_cells.BOTTOM)
        assert bin(stones).count("1") == opening
        assert env.agent_selection == f"player_{opening % 2}"
        assert not any(env.terminations.values())
        own = int(record(state, connect_four_cells.OPENED).mine)
        assert own & ~stones == 0
        assert bin(own).count("1") == opening // 2
        seen.add((stones, own))
    assert len(seen) > (1 if opening else 0)


def test_openings_keep_the_laws():
    import connect_four_cells

    mcts_envs.check_game(connect_four_cells.cells(opening=4), faces=False)
    with pytest.raises(ValueError, match="opening 7"):
        connect_four_cells.cells(opening=7)
