"""Wall survival: recorded games of the reference, a naive second implementation, the laws of chance."""

import gzip
import hashlib
import itertools
import json
from collections import Counter
from pathlib import Path

import gymnasium as gym
import numpy as np
import pettingzoo
import pytest
from scipy.stats import chisquare

import agents
import mcts_envs
from mcts_envs.core.contract import BYTES, FLOATS, INTS, TABLE, active_of, advise_of, legal_of, reset_of, step_of, types
from mcts_envs.core.faces import rendered
from mcts_envs.core.kernel import copy, interpreted, kernel, record
from mcts_envs.core.place import placed
from mcts_envs.core.rng import choose_among, draw, new_stream, seed_stream
from mcts_envs.games.wall_survival.players import values
from mcts_envs.games.wall_survival.position import place, position
from mcts_envs.games.wall_survival.rules import board, generate
from mcts_envs.games.wall_survival.rules.layout import SEPARATED, STATE
from mcts_envs.games.wall_survival.spec import WallSurvival, wall_survival

DATA = Path(__file__).parent / "data"
ID = "mcts_envs/WallSurvival-v0"
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))


def records(name):
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


# The naive implementation: sets and queues, no bits, nothing kept from one question to the next.


class Naive:
    """A position in plain Python; ``walls`` is a list of rows of sets of sides."""

    def __init__(self, given, reach=None):
        size = self.size = given["M"]
        self.reach = given["K"] if reach is None else reach
        digits = [int(digit, 16) for digit in given["walls"]]
        sides = [{side for side in range(4) if digit >> side & 1} for digit in digits]
        self.walls = [sides[row * size : (row + 1) * size] for row in range(size)]
        self.players = [tuple(given["p0"]), tuple(given["p1"])]
        self.turn = given.get("turn", 0)

    def flood(self, start, steps, blocked=None):
        reached = {start: 0}
        queue = [start]
        for row, column in queue:
            if reached[row, column] == steps:
                continue
            for side, (down, right) in enumerate(MOVES):
                cell = row + down, column + right
                if side not in self.walls[row][column] and cell != blocked and cell not in reached:
                    reached[cell] = reached[row, column] + 1
                    queue.append(cell)
        return reached

    def legal(self, player, optional_wall=False):
        cells = sorted(self.flood(self.players[player], self.reach, self.players[1 - player]))
        actions = [(r, c, d) for r, c in cells for d in range(4) if d not in self.walls[r][c]]
        return actions + [(r, c, None) for r, c in cells if optional_wall]

    def end(self):
        parts = [self.flood(player, 10**6) for player in self.players]
        return [self.players[1] not in parts[0], len(parts[0]), len(parts[1])]

    def play(self, row, column, side):
        self.players[self.turn] = row, column
        self.turn = 1 - self.turn
        if side is not None:
            self.walls[row][column].add(side)
            self.walls[row + MOVES[side][0]][column + MOVES[side][1]].add((side + 2) % 4)

    def undo(self, side, before):
        self.turn = 1 - self.turn
        row, column = self.players[self.turn]
        self.walls[row][column].remove(side)
        self.walls[row + MOVES[side][0]][column + MOVES[side][1]].remove((side + 2) % 4)
        self.players[self.turn] = before

    def text(self):
        return "".join(f"{sum(1 << side for side in sides):x}" for row in self.walls for sides in row)

    def voronoi(self):
        mine, yours = (self.flood(player, 10**6) for player in self.players)
        return sum(mine[cell] < yours[cell] for cell in mine), sum(yours[cell] < mine[cell] for cell in mine)

    def perft(self, depth):
        actions = self.legal(self.turn)
        if depth == 1:
            return len(actions)
        total = 0
        for row, column, side in actions:
            before = self.players[self.turn]
            self.play(row, column, side)
            total += 0 if self.end()[0] else self.perft(depth - 1)
            self.undo(side, before)
        return total


# Reading the engine.


def legal_of_state(game, state, player):
    """Return legal actions as (row, column, side); side None: no wall."""
    size = int(record(state, STATE).board_size)
    actions = np.full(game.actions, -1)
    listed = actions[: game.legal(state, player, actions)].tolist()
    assert listed == sorted(listed)
    return [triple(action, size) for action in listed]


def triple(action, size):
    if action < 4 * size * size:
        return action // 4 // size, action // 4 % size, action % 4
    return *divmod(action - 4 * size * size, size), None


def number(action, size):
    row, column, side = action
    return 4 * size * size + row * size + column if side is None else 4 * (row * size + column) + side


def digest(actions):
    return hashlib.sha256(";".join(f"{r},{c},{d}" for r, c, d in actions).encode()).hexdigest()[:12]


def state_hash(found):
    text = "{M}|{turn}|{p0[0]},{p0[1]}|{p1[0]},{p1[1]}|{walls}".format(**found)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def end_of(state):
    """Return [over, s0, s1] as the recordings have it."""
    s = record(state, STATE)
    parts = [sum(int(word).bit_count() for word in board.part(state, int(cell), -1)) for cell in s.stands]
    over = s.end == SEPARATED
    assert s.area.tolist() == (parts if over else [0, 0])
    return [bool(over), *parts]


def at(game, given):
    """Return a state set up from a position that may be over."""
    state = game.new_state()
    game.reset(state, np.uint64(0))
    place(state, {key: given[key] for key in ("M", "K", "p0", "p1", "walls")} | {"turn": given.get("turn", 0)})
    return state


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


def perft_file():
    return json.loads((DATA / "perft.json").read_text())


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
@pytest.mark.parametrize("size", range(3, 13))
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


# Chance.


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
    state = placed(env.game, {**start, "dice": [2, 1, 0, 1]})
    # Two steps, right (of up, right and down), up; then a wall down (of right, down and left).
    env.game.step(state, np.full(2, 35), np.zeros(2))
    after = {"p0": [0, 1], "walls": "953812c46", "turn": 1, "last": {"from": [1, 0], "side": 2}}
    assert position(state) == start | after


# Settings, positions, faces.


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"board_size": 2, "generator": "2023"}, ValueError, r"board_size 2 is outside \[3, 12\]"),
        ({"board_size": 13}, ValueError, r"board_size 13 is outside \[3, 12\]"),
        ({"board_size": 6.0}, TypeError, "board_size 6.0 is float"),
        ({"generator": "2021"}, ValueError, "unknown generator '2021'"),
        ({"reach": -1}, ValueError, r"reach -1 is outside \[0, 144\]"),
        ({"optional_wall": "yes"}, TypeError, "optional_wall 'yes' is not True or False"),
        ({"walls": 3}, TypeError, "unknown setting 'walls'"),
    ],
)
def test_bad_settings(settings, error, message):
    with pytest.raises(error, match=message):
        gym.make(ID, **settings)


START = {"M": 3, "K": 2, "p0": [0, 0], "p1": [2, 2], "walls": "913802c46", "turn": 0}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"M": 4}, ValueError, "this board has size 3; make it with board_size=4"),
        ({"K": 10}, ValueError, r"position\['K'\] 10 is outside \[0, 9\]"),
        ({"p1": [0, 0]}, ValueError, r"both players stand on \[0, 0\]"),
        ({"p0": [0, 3]}, ValueError, r"position\['p0'\]\[1\] 3 is outside \[0, 2\]"),
        ({"p0": 4}, TypeError, r"position\['p0'\] 4 is not a cell \[row, column\]"),
        ({"turn": 2}, ValueError, r"position\['turn'\] 2 is outside \[0, 1\]"),
        ({"walls": "913802c4"}, ValueError, "has 8 digits; it must have 3 x 3 = 9"),
        ({"walls": "913802c4G"}, ValueError, "has 'G'; its digits are 0 to 9 and a to f"),
        ({"walls": 913802}, TypeError, "is int, not a string of 9 digits"),
        ({"walls": "813802c46"}, ValueError, r"cell \[0, 0\] is open up, at the border"),
        ({"walls": "b13802c46"}, ValueError, r"between \[0, 0\] and \[0, 1\] there is a wall for one of the two only"),
        ({"walls": "bd3802c46"}, ValueError, r"between \[0, 1\] and \[1, 1\] there is a wall for one of the two only"),
        ({"t": 3}, ValueError, "unknown position key 't'"),
        ({"last": {"from": [0, 0], "side": 0}}, ValueError, r"the other player's cell \[2, 2\] has no wall up"),
        ({"last": {"from": [0, 0], "side": None}}, TypeError, r"\['side'\] None is NoneType"),
        ({"last": 3}, TypeError, "is int, not a dictionary with from and side"),
        ({"p0": [0, 1], "walls": "b97a02c46"}, ValueError, "one of the two only"),
        ({"p0": [0, 0], "walls": "f93a02c46"}, ValueError, "one of the two only"),
        ({"p0": [0, 0], "walls": "fb3902c46"}, ValueError, "one of the two only"),
        ({"p0": [0, 0], "walls": "f93902c46"}, ValueError, "the game is already over in this position"),
    ],
)
def test_bad_positions(change, error, message):
    env = WallSurvival(board_size=3)
    env.reset(seed=1)
    before = env.clone_state()
    with pytest.raises(error, match=message):
        env.reset(options={"position": {**START, **change}})
    assert env.clone_state() == before


def test_positions_need_no_more_than_walls_players_and_turn():
    env = WallSurvival(board_size=3, opponent="random")
    env.reset(options={"position": {key: START[key] for key in ("p0", "p1", "walls", "turn")}})
    assert env.position() == START
    env.reset(options={"position": {**START, "K": 0}})
    assert env.legal_actions().tolist() == [1, 2]  # stay, and wall one's own cell
    assert env.reset(seed=4)[1]["action_mask"].sum() > 2  # the setting is back


def test_optional_walls():
    env = WallSurvival(board_size=3, optional_wall=True, max_steps=4, opponent="random")
    env.reset(options={"position": START})
    assert env.action_space.n == 45
    assert env.legal_actions()[-6:].tolist() == [36, 37, 38, 39, 40, 42]
    state = placed(env.game, START)
    for ply, cell in enumerate((1, 8, 0, 8)):
        assert env.game.active(state) == 1 << ply % 2
        env.game.step(state, np.full(2, 36 + cell), np.zeros(2))
    assert position(state) == {**START, "t": 4, "last": {"from": [2, 2], "side": None}}
    assert [env.game.status(state, player) for player in range(2)] == [2, 2]
    points = np.zeros(2)
    env.game.outcome(state, points)
    assert points.tolist() == [0.5, 0.5]
    assert record(wall_survival(6, optional_wall=True).new_state(), STATE).max_steps == 144
    with pytest.raises(ValueError, match="already over"):
        placed(env.game, {**START, "t": 4})


def test_observations():
    for seed in range(3):
        env = gym.make(ID, board_size=5, seat=seed % 2, max_steps=50).unwrapped
        env.reset(seed=seed)
        for _ in range(3):
            naive = Naive(env.position())
            out = np.zeros(7 * 25 + 2, np.float32)
            for player in range(2):
                env.game.observe(env._state, player, out)
                boards = out[:175].reshape(7, 5, 5)
                for row, column in np.ndindex(5, 5):
                    assert {side for side in range(4) if boards[side, row, column]} == naive.walls[row][column]
                near = naive.flood(naive.players[player], naive.reach, naive.players[1 - player])
                for k, cells in ((4, [naive.players[player]]), (5, [naive.players[1 - player]]), (6, sorted(near))):
                    assert [tuple(cell) for cell in np.argwhere(boards[k])] == list(cells)
                assert out[175] == (naive.turn == player)
                assert out[176] == np.float32(env.position()["t"] / 50)
                planes = np.zeros((9, 5, 5), np.float32)
                env.game.variant("planes").observe(env._state, player, planes.reshape(-1))
                assert np.array_equal(planes[:7], boards)
                assert np.all(planes[7] == out[175])
                assert np.all(planes[8] == out[176])
            over = env.step(env.legal_actions()[0])[2]
            if over:
                break
    assert gym.make(ID, observation="planes").observation_space.shape == (9, 12, 12)


def test_keys_tell_positions_apart():
    game = wall_survival(12)
    keys, texts = set(), set()
    rng = np.random.default_rng(0)
    for seed in range(20):
        state = game.new_state()
        game.reset(state, np.uint64(seed))
        while game.active(state):
            found = position(state)
            found.pop("last", None)
            texts.add(json.dumps(found))
            keys.add(game.key(state, -1))
            legal = legal_of_state(game, state, found["turn"])
            game.step(state, np.full(2, number(legal[rng.integers(len(legal))], 12)), np.zeros(2))
    assert len(keys) == len(texts) > 500
    state = at(game, found)
    assert game.key(state, 0) != game.key(at(game, {**found, "K": 5}), 0)
    assert game.key(state, 0) != game.key(at(game, {**found, "turn": 1 - found["turn"]}), 0)


def test_fields_do_not_cancel_against_walls_in_the_key():
    game, size = wall_survival(9), 9
    border = [(r == 0) + 2 * (c == 8) + 4 * (r == 8) + 8 * (c == 0) for r in range(size) for c in range(size)]
    keys, count = set(), 0
    for cell in range(-1, size * size):
        for side, across in ((1, 1), (2, size)):
            walls = list(border)
            if cell >= 0 and not walls[cell] >> side & 1:
                walls[cell] |= 1 << side
                walls[cell + across] |= 1 << side + 2 if side == 1 else 1
            elif cell >= 0 or side == 2:
                continue
            for turn, reach, first, second in itertools.product((0, 1), (4, 5, 6), (0, 5, 40), (80, 72, 44)):
                text = "".join(f"{digits:x}" for digits in walls)
                spots = {"p0": [*divmod(first, 9)], "p1": [*divmod(second, 9)]}
                keys.add(game.key(at(game, {"M": 9, "K": reach, **spots, "walls": text, "turn": turn}), -1))
                count += 1
    assert len(keys) == count > 5000


@pytest.mark.parametrize(
    "settings",
    [
        {"board_size": 3},
        {"board_size": 6},
        pytest.param({"board_size": 9, "generator": "2023"}, marks=pytest.mark.slow),
        {"board_size": 4, "optional_wall": 1},
    ],
)
def test_laws(settings):
    mcts_envs.check_game(ID, episodes=1, faces=settings["board_size"] == 6, **settings)


def test_pettingzoo_makes_it():
    for kind in ("aec", "parallel"):
        env = pettingzoo.make(kind, ID, board_size=4)
        env.reset(seed=3)
        assert env.possible_agents == ["player_0", "player_1"]
        assert env.unwrapped.position()["M"] == 4
    aec = pettingzoo.make("aec", ID, board_size=4)
    aec.reset(seed=1)
    rewards = Counter()
    for agent in aec.agent_iter():
        observation, reward, terminated, truncated, _ = aec.last()
        rewards[agent] += reward
        mask = observation["action_mask"]
        aec.step(None if terminated or truncated else int(np.flatnonzero(mask)[0]))
    assert rewards["player_0"] == -rewards["player_1"]


def test_strict_mode_and_the_note_of_an_illegal_action():
    env = gym.make(ID, board_size=6, opponent="random")
    _, info = env.reset(seed=1)
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    assert env.step(illegal)[4]["illegal_action"] is True
    env = gym.make(ID, board_size=6, illegal="raise")
    env.reset(seed=1)
    with pytest.raises(ValueError, match=f"action {illegal} is illegal; legal now: "):
        env.step(illegal)


# Players and pictures.


@kernel(types.void(TABLE, TABLE, BYTES, BYTES, INTS, INTS, FLOATS, FLOATS, FLOATS))
def play_advised(first, second, state, stream, actions, legal, weights, rewards, results):
    """Let two players that follow advice play; the first begins every other game. Results are the first's."""
    for game in range(results.shape[0]):
        reset_of(first)(state, draw(stream))
        while active_of(first)(state):
            player = active_of(first)(state) >> 1
            count = legal_of(first)(state, player, legal)
            if player == game & 1:
                advise_of(first)(state, player, weights)
            else:
                advise_of(second)(state, player, weights)
            actions[player] = choose_among(stream, weights, legal, count)
            step_of(first)(state, actions, rewards)
        results[game] = rewards[game & 1]


@pytest.mark.parametrize("size", [6, 12])
def test_the_greedy_player_beats_the_random_walk(size):
    game = wall_survival(size)
    results = np.zeros(400)
    work = np.zeros(2, np.int64), np.zeros(game.actions, np.int64), np.zeros(game.actions), np.zeros(2)
    first, second = game.variant("greedy").table, game.variant("random_walk").table
    play_advised(first, second, game.new_state(), new_stream(1), *work, results)
    assert (results == 1).mean() > 0.97


def test_the_greedy_player_wins_at_once_and_does_not_lose_at_once():
    wins = losses = 0
    for case in records("positions")[::2]:
        if case["end"][0] or case["K"] == 0:
            continue
        game = wall_survival(case["M"], reach=case["K"])
        state, rewards = at(game, case), np.zeros(2)
        outcomes = {}
        for action in legal_of_state(game, state, 0):
            after = state.copy()
            game.step(after, np.full(2, number(action, case["M"])), rewards)
            outcomes[action] = rewards[0] if record(after, STATE).end else None
        weights = np.zeros(game.actions)
        game.advise(state, 0, weights)
        liked = {outcomes[triple(action, case["M"])] for action in np.flatnonzero(weights)}
        if 1.0 in outcomes.values():
            wins += 1
            assert liked == {1.0}
        elif None in outcomes.values():
            losses += -1.0 in outcomes.values()
            assert liked == {None}
    assert wins > 15
    assert losses > 5


@pytest.mark.parametrize("name", ["random_walk", "greedy", "mobility"])
def test_named_players(name):
    env = gym.make(ID, board_size=5, opponent="random")
    agent = agents.make(name, seed=1)
    env.reset(seed=2)
    over = False
    while not over:
        action = agent.act(env)
        assert action in env.unwrapped.legal_actions()
        _, reward, over, _, _ = env.step(action)
    assert reward == 1 or name == "random_walk"


def test_pictures():
    for size in (3, 12):
        env = gym.make(ID, board_size=size, optional_wall=True, max_steps=6, opponent="scripted").unwrapped
        env.reset(seed=1)
        seen = []
        for _ in range(4):
            seen.append((rendered(env.game, env._state, "rgb_array", 24).tobytes(), env.game.text(env._state)))
            assert env.game.picture(env._state).to_svg().startswith("<svg")
            if len(env.legal_actions()):
                env.step(env.legal_actions()[0])
        assert len(set(seen)) >= 2
    env = WallSurvival(board_size=3)
    state = placed(env.game, START)
    plain = [line for line in env.game.text(state).split("\n") if "+" in line]
    assert plain == ["  +---+---+---+", "  +   +   +   +", "  +   +   +   +", "  +---+---+---+"]
    assert env.game.action_name(14) == "1,0 down"
    assert wall_survival(3, optional_wall=True).action_name(40) == "1,1"
