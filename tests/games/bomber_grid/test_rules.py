"""Bomber grid: every recorded step, observation and scenario of the original; the law of its boards; rewards."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

from mcts_envs.core.kernel import record
from mcts_envs.core.place import state_from_position
from mcts_envs.games.bomber_grid.original import as_dict
from mcts_envs.games.bomber_grid.position import place, position
from mcts_envs.games.bomber_grid.rules.layout import STATE
from mcts_envs.games.bomber_grid.spec import bomber_grid

DATA = Path(__file__).parent / "data"
COLLAPSE = (500, 575, 650, 725)
TEAM = {"view": 4, "blast_cap": 4}
SETTINGS = {
    "PommeFFACompetition-v0": {},
    "PommeTeamCompetition-v0": {"mode": "team", **TEAM},
    "PommeFFA-v1": {"collapse": COLLAPSE},
    "PommeTeamCompetition-v1": {"mode": "team", "collapse": COLLAPSE, **TEAM},
    "PommeRadioCompetition-v2": {"mode": "radio", **TEAM},
    "OneVsOne-v0": {"mode": "duel", "board_size": 8, "n_rigid": 16, "n_wood": 16, "n_items": 10},
}
ALL = ("ffa_random_0", "team_random_0", "stress_0", "stress_2", "timeout", "collapse_v1", "radio_v2", "onevsone")
ALL += ("team_simple", "cautious_PommeTeamCompetition-v0")
COMPARED = ("board", "items", "agents", "bombs", "flames", "step_count")


@pytest.fixture(scope="module")
def games():
    return {name: bomber_grid(reward_stream="original", **settings) for name, settings in SETTINGS.items()}


class Traces:
    """One file of recorded games."""

    def __init__(self, name):
        with np.load(DATA / f"{name}.npz") as file:
            self.of = {key: file[key] for key in file.files}
        self.episodes = json.loads(self.of["meta"].tobytes().decode())["episodes"]

    def position(self, i):
        of = self.of
        bombs = of["bombs"][of["bombs_off"][i] : of["bombs_off"][i + 1]]
        flames = of["flames"][of["flames_off"][i] : of["flames_off"][i + 1]]
        items = [[int(r), int(c), int(of["items"][i, r, c])] for r, c in zip(*np.nonzero(of["items"][i]), strict=True)]
        return {
            "board": of["board"][i].tolist(),
            "items": items,
            "agents": of["agents"][i].tolist(),
            "bombs": bombs.tolist(),
            "flames": flames.tolist(),
            "step_count": int(of["step_count"][i]),
        }

    def steps(self):
        """Yield episode, first state and first action of each, and the number of steps."""
        states, actions = self.of["ep_state_off"], self.of["ep_act_off"]
        for e, episode in enumerate(self.episodes):
            yield episode["env"], int(states[e]), int(actions[e]), int(actions[e + 1] - actions[e])

    def actions(self, a, game):
        moves = self.of["actions"][a].astype(np.int64)
        if game.actions == 6:
            return moves
        return 64 * moves + self.of["messages"][a].astype(np.int64) @ [8, 1]


def comparable(found):
    kept = {key: found[key] for key in COMPARED}
    return kept | {key: sorted(map(list, kept[key])) for key in ("items", "bombs", "flames")}


def fresh(game, given=None):
    state = game.new_state()
    game.reset(state, np.uint64(0))
    if given is not None:
        place(state, given)
    return state


def collapses(name, step):
    return "v1" in name and step in COLLAPSE


def check_step(game, state, traces, a, after, name):
    """Step a state and compare all with the record; the original reports deaths by collapse one step late."""
    rewards, late = np.zeros(game.players), collapses(name, after["step_count"])
    game.step(state, traces.actions(a, game), rewards)
    assert comparable(position(state)) == comparable(after)
    if not late:
        assert rewards.tolist() == traces.of["rewards"][a].tolist()
        assert (game.active(state) == 0) == bool(traces.of["done"][a])


def replay_single_steps(name, games, every):
    """Step once from every so many recorded states; return how many, and in how many the game was over."""
    traces, done, over = Traces(name), 0, 0
    for env, first, start, length in traces.steps():
        game = games[env]
        for k in range(-start % every, length, every):
            before, after = traces.position(first + k), traces.position(first + k + 1)
            state = fresh(game, before)
            assert comparable(position(state)) == comparable(before)
            if game.active(state) == 0:  # a collapse has ended the game, which the original has not noticed yet
                over += 1
                assert "v1" in env
            else:
                check_step(game, state, traces, start + k, after, env)
                done += 1
    return done, over


@pytest.mark.parametrize("name", ALL)
def test_recorded_steps(name, games):
    assert replay_single_steps(name, games, 1 if name == "timeout" else 12)[0] > 80


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_every_recorded_step(name, games):
    done, over = replay_single_steps(name, games, 1)
    assert done + over == len(Traces(name).of["actions"])
    assert over == (11 if name == "collapse_v1" else 0)


@pytest.mark.parametrize("name", ALL)
def test_whole_games(name, games):
    traces = Traces(name)
    for env, first, start, length in traces.steps():
        game, rewards = games[env], np.zeros(games[env].players)
        state = fresh(game, traces.position(first))
        for k in range(length):
            if game.active(state) == 0:
                assert "v1" in env
                break
            game.step(state, traces.actions(start + k, game), rewards)
            if not collapses(env, int(record(state, STATE).t)):
                assert rewards.tolist() == traces.of["rewards"][start + k].tolist()
        else:
            assert comparable(position(state)) == comparable(traces.position(first + length))


def test_the_rule_based_player_moves_like_the_recorded_ones(games):
    traces, game, weights, rewards = Traces("team_simple"), games["PommeTeamCompetition-v0"], np.zeros(6), np.zeros(4)
    moves = others = off_a_bomb = 0
    for _, first, start, length in traces.steps():
        state = fresh(game, traces.position(first))
        for k in range(length):
            actions, s = traces.actions(start + k, game), record(state, STATE)
            on_bombs = set(s.bomb_cell[: s.n_bombs].tolist()) & set(s.stands.tolist())
            for player in np.flatnonzero(s.alive >> np.arange(4) & 1):
                game.advise(state, player, weights)
                moves += 1
                others += weights[actions[player]] == 0.0
                off_a_bomb += int(s.stands[player]) in on_bombs and np.count_nonzero(weights) == 1
            game.step(state, actions, rewards)
    assert moves > 30_000
    assert off_a_bomb > 1_000
    assert others / moves < 0.016


def test_every_scenario(games):
    with gzip.open(DATA / "scenarios.json.gz", "rt") as file:
        scenarios = json.load(file)
    assert len(scenarios) == 77
    for scenario in scenarios:
        game = games[scenario["env"]]
        for before, after, step in zip(scenario["states"], scenario["states"][1:], scenario["steps"], strict=False):
            state, rewards = fresh(game, before), np.zeros(game.players)
            if game.active(state) == 0:
                assert scenario["name"].startswith("COLLAPSE")
                continue
            actions = step["actions"]
            if game.actions > 6:
                sent = step.get("messages_sent", [[0, 0]] * 4)
                actions = [64 * move + 8 * first + second for move, (first, second) in zip(actions, sent, strict=True)]
            game.step(state, np.array(actions, np.int64), rewards)
            assert comparable(position(state)) == comparable(after), scenario["name"]
            if not collapses(scenario["env"], after["step_count"]):
                assert rewards.tolist() == step["rewards"], scenario["name"]
                assert (game.active(state) == 0) == step["done"], scenario["name"]
            if "messages_received" in step:
                check_words(game, state, step["messages_received"])


def check_words(game, state, received):
    for player, words in enumerate(received):
        seen = as_dict(observed(game.variant("original"), state, player))
        assert list(seen["message"]) == list(words)


def observed(game, state, player):
    out = np.full(game.observation_shape, np.nan, np.float32)
    game.observe(state, player, out.reshape(-1))
    return out


@pytest.mark.parametrize("name", ALL)
def test_recorded_observations(name, games):
    compare_observations(name, games, 8)


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_every_recorded_observation(name, games):
    late = compare_observations(name, games, 1)
    assert late == (16 if name == "collapse_v1" else 0)


def compare_observations(name, games, every):
    """Compare the observations of every so many states; return how many were recorded before a ring turned rigid."""
    of = (traces := Traces(name)).of
    if "obs_state" not in of:
        assert name.startswith("stress")
        return 0
    episodes = np.searchsorted(of["ep_state_off"], of["obs_state"], "right") - 1
    late, state, current = 0, None, -1
    for q, (i, player, e) in enumerate(zip(of["obs_state"], of["obs_agent"], episodes, strict=True)):
        if i % every:
            continue
        env = traces.episodes[e]["env"]
        game, numbers = games[env].variant("original"), of["obs_scalar"][q]
        if current != i:
            state, current = fresh(game, traces.position(i)), i
        if collapses(env, int(of["step_count"][i])):
            late += 1
            continue
        if "Radio" in env:
            record(state, STATE).words[player ^ 2] = numbers[11:13]
        planes = [of[f"obs_{key}"][q].ravel() for key in ("board", "blast", "life", "dir", "flame")]
        assert np.array_equal(observed(game, state, player), np.concatenate([*planes, numbers]))
    return late


def test_words_reach_the_mate_in_the_same_step(games):
    of = (traces := Traces("radio_v2")).of
    game = games["PommeRadioCompetition-v2"].variant("original")
    looked = {(int(i), int(p)): q for q, (i, p) in enumerate(zip(of["obs_state"], of["obs_agent"], strict=True))}
    compared = 0
    for _, first, start, length in traces.steps():
        state, rewards = fresh(game, traces.position(first)), np.zeros(4)
        for k in range(length):
            game.step(state, traces.actions(start + k, game), rewards)
            for player in range(4):
                q = looked.get((first + k + 1, player))
                if q is not None:
                    compared += 1
                    assert observed(game, state, player)[-3:-1].tolist() == of["obs_scalar"][q][11:13].tolist()
    assert compared > 1000


def test_boards_follow_the_law_of_the_original():
    game, n = bomber_grid(), 4000
    with np.load(DATA / "boards.npz") as file:
        reference = {key: file[key] for key in file.files}
    counts, unreachable = np.zeros((3, 11, 11)), np.zeros(5)
    state = game.new_state()
    for seed in range(n):
        game.reset(state, np.uint64(seed))
        found = position(state)
        board, items = np.array(found["board"]), np.array(found["items"])
        assert ((board == 1) == (board == 1).T).all()
        assert [(board == code).sum() for code in (0, 1, 2)] == [45, 36, 36]
        assert len(items) == 20
        assert (board[items[:, 0], items[:, 1]] == 2).all()
        counts += [board == 1, board == 2, np.zeros((11, 11))]
        np.add.at(counts[2], (items[:, 0], items[:, 1]), 1)
        unreachable[count_unreachable(board)] += 1
    for counted, name in zip(counts[:2], ("rigid_count", "wood_count"), strict=True):
        assert_same_law(counted, reference[name], n, float(reference["n"]))
    assert_same_law(counts[2], reference["item_count"].sum(0), n, float(reference["n"]))
    expected = reference["inaccessible_hist"][:, 1] / reference["inaccessible_hist"][:, 1].sum() * n
    assert chisquare(unreachable, expected).pvalue > 1e-4


def assert_same_law(counted, reference, n, of):
    """Compare shares cell by cell, each within 4.5 standard errors."""
    p = reference / of
    error = np.sqrt(np.maximum(p * (1 - p), 1e-9) * (1 / n + 1 / of))
    assert (np.abs(counted / n - p) <= 4.5 * error + 1e-9).all()


def count_unreachable(board):
    reached, queue = {(9, 9)}, [(9, 9)]
    for r, c in queue:
        for cell in ((r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)):
            if min(cell) >= 0 and max(cell) < 11 and board[cell] != 1 and cell not in reached:
                reached.add(cell)
                queue.append(cell)
    return sum((r, c) not in reached for r, c in zip(*np.nonzero(board == 0), strict=True))


@pytest.mark.parametrize("size", range(7, 12))
@pytest.mark.parametrize("mode", ["ffa", "duel"])
def test_boards_of_every_size(size, mode):
    game = bomber_grid(mode=mode, board_size=size, n_rigid=8, n_wood=16, n_items=5)
    state = game.new_state()
    for seed in range(20):
        game.reset(state, np.uint64(seed))
        board = np.array(position(state)["board"])
        assert board.shape == (size, size)
        assert [(board == 1).sum(), (board == 2).sum(), len(position(state)["items"])] == [8, 16, 5]
        assert (np.diag(board) % 10 <= 2).all()
        assert not np.isin(np.diag(board), (1, 2)).any()


# Rewards, ends and outcomes.


def arena(board_size=11, **changes):
    """Return a position without walls, its players in the corners."""
    corners = [(1, 1), (board_size - 2, 1), (board_size - 2, board_size - 2), (1, board_size - 2)]
    given = {
        "board": np.zeros((board_size, board_size), int).tolist(),
        "items": [],
        "agents": [[1, *corner, 1, 2, 0] for corner in corners],
        "bombs": [],
        "flames": [],
        "step_count": 0,
        **changes,
    }
    for row, column, *_ in given["bombs"]:
        given["board"][row][column] = 3
    for player, (alive, row, column, *_) in enumerate(given["agents"]):
        if alive:
            given["board"][row][column] = 10 + player
    return given


def ended(game, given, steps=1):
    """Return the rewards added up, the outcome and who has ended, after some steps of standing still."""
    state, total, rewards = state_from_position(game, given), np.zeros(4), np.zeros(4)
    for _ in range(steps):
        game.step(state, np.zeros(4, np.int64), rewards)
        total += rewards
    points = rewards.copy()
    game.outcome(state, points)
    return total.tolist(), points.tolist(), [game.status(state, player) for player in range(4)]


def bomb_on(*cells):
    return [[row, column, 0, 1, 2, 0] for row, column in cells]


def test_a_dead_player_is_paid_at_once_and_the_winner_at_the_end():
    game = bomber_grid()
    one = arena(bombs=bomb_on((1, 1)))
    assert ended(game, one, 5) == ([-1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0])
    three = arena(bombs=bomb_on((1, 1), (9, 1), (9, 9)))
    assert ended(game, three, 5) == ([-1, -1, -1, 1], [0, 0, 0, 1], [1, 1, 1, 1])


def test_who_dies_with_the_last_ties_and_who_died_before_has_lost():
    everybody = arena(bombs=bomb_on((1, 1), (9, 1), (9, 9), (1, 9)))
    assert ended(bomber_grid(), everybody) == ([-1] * 4, [0.5] * 4, [1] * 4)
    assert ended(bomber_grid(reward_tie=0.25), everybody) == ([0.25] * 4, [0.5] * 4, [1] * 4)
    bombs = [*bomb_on((1, 1)), [9, 1, 0, 3, 2, 0], [9, 9, 0, 3, 2, 0], [1, 9, 0, 3, 2, 0]]
    found = ended(bomber_grid(reward_tie=0.0), arena(bombs=bombs), 4)
    assert found == ([-1, 0, 0, 0], [0, 0.5, 0.5, 0.5], [1] * 4)


def test_the_time_limit_is_a_tie_of_those_who_live():
    game = bomber_grid(max_steps=2, reward_tie=-0.5)
    assert ended(game, arena(bombs=bomb_on((1, 1))), 4) == ([-1, -0.5, -0.5, -0.5], [0, 0.5, 0.5, 0.5], [1] * 4)


def test_a_team_wins_and_loses_together():
    game = bomber_grid(mode="team")
    assert ended(game, arena(bombs=bomb_on((1, 1))), 3) == ([0] * 4, [0] * 4, [0] * 4)
    agents = [[0, 1, 1, 1, 2, 0], *arena()["agents"][1:]]
    won = arena(agents=agents, bombs=bomb_on((9, 1), (1, 9)))
    assert ended(game, won, 3) == ([1, -1, 1, -1], [1, 0, 1, 0], [1] * 4)
    timeout = bomber_grid(mode="team", max_steps=1, reward_tie=0.0)
    assert ended(timeout, arena(agents=agents)) == ([0] * 4, [0.5] * 4, [1] * 4)


def test_the_original_stream_pays_the_dead_in_every_step():
    game = bomber_grid(reward_stream="original")
    assert ended(game, arena(bombs=bomb_on((1, 1))), 5) == ([-5, 0, 0, 0], [0, 0, 0, 0], [0] * 4)


def test_a_collapse_kills_in_its_own_step():
    game = bomber_grid(collapse=[3])
    agents = [[1, 0, 0, 1, 2, 0], [1, 0, 5, 1, 2, 0], [1, 9, 9, 1, 2, 0], [1, 10, 3, 0, 2, 0]]
    given = arena(agents=agents, bombs=[[0, 7, 3, 9, 2, 0]], step_count=2)
    assert ended(game, given) == ([-1, -1, 1, -1], [0, 0, 1, 0], [1] * 4)
    state = state_from_position(game, given)
    game.step(state, np.zeros(4, np.int64), np.zeros(4))
    after = position(state)
    assert after["bombs"] == []
    assert after["agents"][3][3] == 1
    assert np.array(after["board"])[0].tolist() == [1] * 11
    assert (np.array(after["board"]) == 1).sum() == 40
    assert after["died"] == [3, 3, 0, 3]


# Positions and settings that are at fault.


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bombs": [[5, 5, 0, 11, 2, 0]]}, r"position\['bombs'\]\[0\]\[3\] 11 is outside \[1, 10\]"),
        ({"bombs": [[5, 5, 0, 9, 2, 0], [5, 5, 1, 9, 2, 0]]}, r"two bombs lie on \[5, 5\]"),
        ({"flames": [[5, 5, 1]]}, r"disagree at \[5, 5\] about a flame"),
        ({"items": [[5, 5, 6]]}, "neither wood nor fire"),
        ({"step_count": 801}, r"step_count'\] 801 is outside \[0, 800\]"),
        ({"agents": [[1, 1, 1, 1, 2, 0]] * 3}, "one for each of 4 players"),
        ({"died": [1, 0, 0, 0]}, r"position\['died'\]\[0\] 1 is outside \[0, 0\]"),
        ({"trail": [[[0, 0]] * 7, [], [], []]}, "at most 6"),
        ({"words": []}, "unknown position key 'words'"),
        ({"board": [[0] * 11] * 10}, "10 rows"),
    ],
)
def test_positions_at_fault(change, message):
    given = arena()
    given = arena(**change) if change.keys() & {"bombs"} else {**given, **change}
    with pytest.raises(ValueError, match=message):
        state_from_position(bomber_grid(), given)


def test_positions_of_arrays():
    given = arena(trail=[[[1, 2]], [], [], []])
    arrays = {key: np.array(given[key]) for key in ("board", "agents")} | {"trail": [np.array([[1, 2]]), [], [], []]}
    assert position(state_from_position(bomber_grid(), given | arrays)) == position(
        state_from_position(bomber_grid(), given)
    )
    with pytest.raises(TypeError, match=r"position\['board'\]\[0\] array\(1\) is ndarray, not a list"):
        state_from_position(bomber_grid(), given | {"board": [np.array(1)] * 11})


def test_a_bomb_or_a_player_that_the_board_does_not_show():
    for change, message in (
        ({"bombs": bomb_on((5, 5))}, "it must have 3 for the bomb there"),
        ({"agents": [[1, 2, 1, 1, 2, 0], *arena()["agents"][1:]]}, "disagree at .* about player 0"),
    ):
        with pytest.raises(ValueError, match=message):
            state_from_position(bomber_grid(), {**arena(), **change})


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"mode": "ffs"}, ValueError, "did you mean 'ffa'"),
        ({"mode": ["ffa"]}, ValueError, r"unknown mode \['ffa'\]"),
        ({"viewer": 4}, ValueError, r"viewer 4 is outside \[0, 3\]"),
        ({"mask": "some"}, ValueError, "unknown mask 'some'; known: all, safe"),
        ({"reward_stream": "always"}, ValueError, "known: once, original"),
        ({"board_size": 12}, ValueError, r"board_size 12 is outside \[7, 11\]"),
        ({"n_rigid": 35}, ValueError, "n_rigid 35 is odd; walls come in pairs: take 34 or 36"),
        ({"n_rigid": 60, "n_wood": 60}, ValueError, "more than 92"),
        ({"n_rigid": np.int8(70), "n_wood": np.int8(70)}, ValueError, "more than 92"),
        ({"n_rigid": 80, "n_wood": 12, "n_items": 0}, ValueError, "n_rigid 80 is too many.* give fewer rigid walls"),
        ({"n_items": 37}, ValueError, r"n_items 37 is outside \[0, 36\]"),
        ({"fuse": 17}, ValueError, r"fuse 17 is outside \[1, 16\]"),
        ({"collapse": [5, 5]}, ValueError, "not in ascending order"),
        ({"collapse": [1, 2, 3, 4, 5]}, ValueError, "can lose 4 rings"),
        ({"collapse": 5}, TypeError, "not a list of steps"),
        ({"view": 2.5}, TypeError, "view 2.5 is float"),
        ({"reward_tie": 2}, ValueError, "reward_tie 2.0 is outside"),
    ],
)
def test_settings_at_fault(settings, error, message):
    with pytest.raises(error, match=message):
        bomber_grid(**settings)


def test_a_game_in_which_nobody_moves_ends_at_the_limit():
    game, steps = bomber_grid(max_steps=50), 0
    state = fresh(game)
    while game.active(state):
        game.step(state, np.zeros(4, np.int64), np.zeros(4))
        steps += 1
    assert steps == 50
