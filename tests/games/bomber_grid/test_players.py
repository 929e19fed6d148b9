"""Bomber grid: what players know, the players that it brings, its faces and its pictures."""

import itertools
import re
import warnings

import gymnasium as gym
import numpy as np
import pettingzoo
import pytest

import mcts_envs
from mcts_envs.core.compiling.table import TABLE, active_of, advise_of, reset_of, step_of
from mcts_envs.core.contract import BYTES as STATE_BYTES
from mcts_envs.core.contract import FLOATS, INTS, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.place import state_from_position
from mcts_envs.core.rng import choose, new_stream
from mcts_envs.core.showing import rendered
from mcts_envs.games.bomber_grid.original import OriginalObservation
from mcts_envs.games.bomber_grid.position import position
from mcts_envs.games.bomber_grid.rules.layout import STATE
from mcts_envs.games.bomber_grid.spec import bomber_grid
from tests.games.bomber_grid.situations import disguise, moves_of, some_states

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # as in the tests of wall survival
    from pettingzoo.test import max_cycles_test

IDS = [f"mcts_envs/{name}-v0" for name in ("Bomber", "BomberTeam", "BomberRadio", "BomberDuel", "BomberPlanning")]
VIEWS = [{}, {"mode": "team", "view": 4, "blast_cap": 4}, {"mode": "radio", "view": 2}, {"view": 1}]


@pytest.mark.parametrize("id", [pytest.param(id, marks=[pytest.mark.slow] * (id != IDS[3])) for id in IDS])
def test_every_law(id):
    mcts_envs.check_game(id, episodes=1)


@pytest.mark.parametrize("id", IDS)
def test_players_leave_and_rendering(id):
    env = pettingzoo.make("parallel", id, render_mode="rgb_array")
    env.reset(seed=3)
    assert env.render().ndim == 3
    rng, lives = np.random.default_rng(0), len(env.agents)
    while env.agents:
        actions = {agent: rng.integers(env.action_space(agent).n) for agent in env.agents}
        *_, terminations, truncations, infos = env.step(actions)
        assert not any(truncations.values())
        assert all("outcome" in infos[agent] for agent in terminations if terminations[agent])
        assert len(env.agents) <= lives
        lives = len(env.agents)


@pytest.mark.parametrize("id", IDS)
def test_max_cycles(id):
    class Module:  # nobody dies in the four cycles that it plays
        env = staticmethod(lambda max_cycles: pettingzoo.make("aec", id, max_steps=max_cycles))
        parallel_env = staticmethod(lambda max_cycles: pettingzoo.make("parallel", id, max_steps=max_cycles))

    max_cycles_test(Module)


def test_settings_reach_the_faces():
    with gym.make("mcts_envs/Bomber-v0", view=2, observation="planes", mask="safe", opponent="scripted") as env:
        observation, _ = env.reset(seed=0)
        assert observation.shape == (29, 11, 11)
        assert observation[0].sum() == 121 - 16
        assert env.unwrapped.position()["step_count"] == 0


def test_original_dictionary():
    env = OriginalObservation(gym.make("mcts_envs/BomberTeam-v0", observation="original", seat=1))
    observation, _ = env.reset(seed=5)
    assert observation in env.observation_space
    assert observation["board"][9, 1] == 11
    assert observation["teammate"] == 13
    assert (observation["board"] == 5).any()
    with pytest.raises(ValueError, match="observation='original'"):
        OriginalObservation(gym.make("mcts_envs/Bomber-v0"))


def seen(game, state, player):
    out = np.zeros(game.observation_shape, np.float32)
    game.observe(state, player, out.reshape(-1))
    return out


@pytest.mark.parametrize("settings", VIEWS)
def test_what_is_hidden_changes_nothing(settings):
    """States that look the same to a player have one key, one observation, and one redrawn state for every seed."""
    game, rng, differ = bomber_grid(**settings), np.random.default_rng(1), 0
    for state in some_states(game):
        for player in range(game.players):
            if not game.active(state) >> player & 1:
                continue
            other = disguise(state, player, rng)
            differ += game.key(other, -1) != game.key(state, -1)
            assert game.key(other, player) == game.key(state, player)
            assert np.array_equal(seen(game, other, player), seen(game, state, player))
            weights, theirs = np.zeros(game.actions), np.zeros(game.actions)
            game.advise(state, player, weights)
            game.advise(other, player, theirs)
            assert np.array_equal(weights, theirs)
            for seed in range(3):
                ours, yours = state.copy(), other.copy()
                game.determinize(ours, player, np.uint64(seed))
                game.determinize(yours, player, np.uint64(seed))
                alive = record(state, STATE).alive
                for redrawn in (ours, yours):  # where the dead lie is of no account
                    record(redrawn, STATE).stands[[p for p in range(game.players) if not alive >> p & 1]] = 0
                assert np.array_equal(ours, yours)
    assert differ > 100


def test_what_is_hidden_is_neither_drawn_nor_advised():
    rng, differ = np.random.default_rng(3), 0
    names = ("random_safe", "careful", "rule_based", "anybody")
    for settings in ({}, {"mode": "team", "view": 3, "collapse": [40, 60, 80, 100]}):
        for player in range(4):
            game = bomber_grid(viewer=player, mask="safe", **settings)
            for state in some_states(game, 5, seed=player):
                other = disguise(state, player, rng)
                differ += rendered(bomber_grid(**settings), state, "ansi") != rendered(
                    bomber_grid(**settings), other, "ansi"
                )
                assert rendered(game, state, "ansi") == rendered(game, other, "ansi")
                assert game.picture(state).to_svg() == game.picture(other).to_svg()
                if game.active(state) >> player & 1:
                    assert moves_of(game, state, player) == moves_of(game, other, player)
                    for name in names:
                        ours, theirs = np.zeros((2, game.actions))
                        game.variant(name).advise(state, player, ours)
                        game.variant(name).advise(other, player, theirs)
                        assert np.array_equal(ours, theirs)
    assert differ > 30


@pytest.mark.parametrize("settings", VIEWS)
def test_what_is_redrawn_is_a_position_of_the_game(settings):
    game = bomber_grid(**settings)
    for number, state in enumerate(some_states(game, 30)):
        redrawn = state.copy()
        player = int(np.log2(int(record(state, STATE).alive) & -int(record(state, STATE).alive)))
        game.determinize(redrawn, player, np.uint64(number))
        again = state_from_position(game, position(redrawn))
        assert np.array_equal(again[32:], redrawn[32:])
        rewards = np.zeros(game.players)
        for _ in range(30):
            game.step(redrawn, np.zeros(game.players, np.int64), rewards)


@pytest.mark.parametrize("collapse", [(), (5,)])
def test_as_many_walls_are_redrawn_in_the_fog_as_there_are(collapse):
    game = bomber_grid(mode="team", view=4, collapse=collapse)
    inside, differences = slice(1, -1), []
    for seed in range(300):
        state, rewards = game.new_state(), np.zeros(4)
        game.reset(state, np.uint64(seed))
        for _ in range(6):
            game.step(state, np.zeros(4, np.int64), rewards)
        before = np.array(position(state)["board"])
        game.determinize(state, seed % 4, np.uint64(seed))
        after = np.array(position(state)["board"])
        outermost = np.concatenate([after[0], after[-1], after[:, 0], after[:, -1]])
        assert (outermost == 1).all() or not collapse
        differences.append([int(((after == wall) * 1 - (before == wall))[inside, inside].sum()) for wall in (1, 2)])
    errors = np.std(differences, axis=0) / np.sqrt(len(differences))
    assert (np.abs(np.mean(differences, axis=0)) < 4 * errors).all()


def test_an_open_ring_in_sight_stays_open_though_it_should_have_collapsed():
    game = bomber_grid(mode="team", view=4, collapse=[5])
    state = game.new_state()
    game.reset(state, np.uint64(1))
    given = position(state)
    given["step_count"] = 7
    state = state_from_position(game, given)
    before = np.array(position(state)["board"])
    game.determinize(state, 0, np.uint64(1))
    after = np.array(position(state)["board"])
    assert (after[:6, :6] == before[:6, :6]).all()  # what the player on (1, 1) sees
    assert (after[-1] == 1).all()


def test_hidden_items_are_redrawn_by_their_law():
    game = bomber_grid()
    state = game.new_state()
    game.reset(state, np.uint64(1))
    counts, kinds = np.zeros((11, 11)), np.zeros(3)
    for seed in range(2000):
        redrawn = state.copy()
        game.determinize(redrawn, 0, np.uint64(seed))
        items = np.array(position(redrawn)["items"])
        assert len(items) == 20  # no wood is gone, so all of them are still there
        counts[items[:, 0], items[:, 1]] += 1
        kinds += np.bincount(items[:, 2] - 6, minlength=3)
    wood = np.array(position(state)["board"]) == 2
    assert (counts[~wood] == 0).all()
    assert np.abs(counts[wood] / 2000 - 20 / 36).max() < 0.05
    assert np.abs(kinds / kinds.sum() - 1 / 3).max() < 0.02


def test_keys_do_not_depend_on_the_order_of_bombs():
    game = bomber_grid()
    for state in some_states(game, 30):
        given = position(state)
        given["bombs"].reverse()
        other = state_from_position(game, given)
        assert [game.key(other, p) for p in range(-1, 4)] == [game.key(state, p) for p in range(-1, 4)]


# Players and values.

PLAY = types.int64(TABLE, TABLE, types.int64, STATE_BYTES, INTS, FLOATS, FLOATS, STATE_BYTES, types.uint64)


@kernel(PLAY)
def play(first, second, seats, state, actions, rewards, weights, stream, seed):
    """Play a game; the players in ``seats`` are advised by the second game. Return its steps."""
    reset_of(first)(state, seed)
    steps = 0
    while active_of(first)(state) != 0:
        bits = active_of(first)(state)
        for player in range(actions.shape[0]):
            if bits >> player & 1:
                if seats >> player & 1:
                    advise_of(second)(state, player, weights)
                else:
                    advise_of(first)(state, player, weights)
                actions[player] = choose(stream, weights, weights.shape[0])
        step_of(first)(state, actions, rewards)
        steps += 1
    return steps


def match(first, second, seats, n):
    """Return the steps [n] and the points [n, P] of some games."""
    steps, points, stream = [], [], new_stream(0)
    work = first.new_state(), np.zeros(first.players, np.int64), np.zeros(first.players), np.zeros(first.actions)
    for seed in range(n):
        steps.append(play(first.table, second.table, seats, *work, stream, np.uint64(seed)))
        outcome = np.zeros(first.players)
        first.outcome(work[0], outcome)
        points.append(outcome)
    return np.array(steps), np.array(points)


@pytest.mark.slow
def test_rule_based_players_play_games_like_the_original():
    steps, points = match(bomber_grid(), bomber_grid(), 0, 400)
    assert 320 < steps.mean() < 440
    assert (points.max(1) == 0.5).mean() < 0.34
    team = bomber_grid(mode="team", view=4, blast_cap=4)
    steps, points = match(team, team, 0, 400)
    assert 270 < steps.mean() < 370
    assert 0.08 < (points.max(1) == 0.5).mean() < 0.24


def test_the_rule_based_player_of_the_planning_literature_is_less_careful():
    shut = corridor([], column=0)
    shut["board"][0][2] = 1  # two cells, shut on all sides: no way out of the reach of a bomb
    shut["board"][0][1] = 2
    game = bomber_grid(mode="duel", board_size=8, n_rigid=16, n_wood=16, n_items=10)
    weights = np.zeros((2, 6))
    for row, name in zip(weights, ("rule_based", "rule_based_aiide"), strict=True):
        game.variant(name).advise(state_from_position(game, shut), 0, row)
    assert weights.argmax(1).tolist() == [0, 5]
    points = match(bomber_grid(), bomber_grid().variant("rule_based_aiide"), 1, 200)[1]
    assert points[:, 0].mean() < points[:, 1:].mean() - 0.1


@pytest.mark.parametrize(
    ("view", "name", "moves"),
    [
        (1, "rule_based_aiide", [4]),  # off its bomb, wherever that may lead
        (1, "rule_based_aiide_wary", [0]),  # it sees no cell out of reach, so it stays
        (None, "rule_based_aiide", [4]),
        (None, "rule_based_aiide_wary", [4]),  # four cells to run
    ],
)
def test_on_its_bomb_the_wary_one_of_the_literature_leaves_only_where_it_sees_a_way_out(view, name, moves):
    game = bomber_grid(mode="duel", board_size=8, n_rigid=16, n_wood=16, n_items=10, view=view)
    weights = np.zeros(6)
    state = state_from_position(game, corridor([[0, 0, 0, 9, 2, 0]], ammo=0, column=0))
    game.variant(name).advise(state, 0, weights)
    assert np.flatnonzero(weights).tolist() == moves


@pytest.mark.parametrize(
    ("steps", "column", "moves"),
    [
        (13, 3, [3]),  # left, to an item
        (12, 3, [4]),  # right, along the border, to the only way inside
        (12, 6, [2]),  # down and inside
    ],
)
def test_the_careful_player_is_inside_when_a_ring_falls(steps, column, moves):
    game = bomber_grid(mode="duel", board_size=8, n_rigid=16, n_wood=16, n_items=10, collapse=[steps])
    board = np.zeros((8, 8), int)
    board[1, :6] = 1
    board[0, column], board[6, 6] = 10, 11
    agents = [[1, 0, column, 0, 2, 0], [1, 6, 6, 1, 2, 0]]
    board[0, 1] = 6
    given = {"board": board.tolist(), "items": [], "agents": agents, "bombs": [], "flames": [], "step_count": 0}
    weights = np.zeros(6)
    game.variant("careful").advise(state_from_position(game, given), 0, weights)
    assert np.flatnonzero(weights).tolist() == moves


def test_the_careful_player_stays_inside_before_a_ring_falls():
    game = bomber_grid(collapse=[40])
    advised, stayed = game.variant("careful"), 0
    weights, actions, rewards = np.zeros(6), np.zeros(4, np.int64), np.zeros(4)
    for seed in range(10):
        state, rng = game.new_state(), np.random.default_rng(seed)
        game.reset(state, np.uint64(seed))
        while record(state, STATE).t < 40:
            for player in range(4):
                advised.advise(state, player, weights)
                actions[player] = rng.choice(6, p=weights / weights.sum())
            before = int(record(state, STATE).alive).bit_count()
            game.step(state, actions, rewards)
        stayed += int(record(state, STATE).alive).bit_count() == before
    assert stayed >= 9


def test_the_careful_player_beats_random_safe_ones():
    game = bomber_grid()
    _, points = match(game.variant("random_safe"), game.variant("careful"), 1, 60)
    assert points[:, 0].mean() > 0.55


def test_random_safe_players_live_long():
    game = bomber_grid()
    safe, _ = match(game.variant("random_safe"), game, 0, 20)
    assert safe.mean() > 150  # random players' games last 24 steps


def corridor(bombs, ammo=1, column=1):
    """Return a duel in a lane of five cells along the upper border."""
    board = np.zeros((8, 8), int)
    board[1, :6] = board[0, 5] = 1
    board[0, column], board[6, 6] = 10, 11
    for row, where, *_ in bombs:
        board[row, where] = board[row, where] or 3
    agents = [[1, 0, column, ammo, 2, 0], [1, 6, 6, 1, 2, 0]]
    return {"board": board.tolist(), "items": [], "agents": agents, "bombs": bombs, "flames": [], "step_count": 0}


@pytest.fixture(scope="module")
def duel():
    return bomber_grid(mode="duel", board_size=8, n_rigid=16, n_wood=16, n_items=10, mask="safe")


def legal(game, given, player=0):
    return moves_of(game, state_from_position(game, given), player)


def test_safe_actions(duel):
    assert legal(duel, corridor([])) == [0, 3, 4, 5]
    assert legal(duel, corridor([], ammo=0)) == [0, 3, 4]
    assert legal(duel, corridor([[0, 1, 0, 1, 2, 0]], ammo=0)) == [0, 1, 2, 3, 4, 5]  # lost whatever it does
    assert legal(duel, corridor([[0, 1, 0, 2, 2, 0]], ammo=0)) == [4]  # only to the right are two cells to run
    assert legal(duel, corridor([[0, 3, 0, 3, 2, 0]])) == [0, 3, 4]  # a bomb of its own would close the way out


def test_a_bomb_that_would_set_off_another_is_not_safe(duel):
    """The bomb on the left sets off one laid now, and this one the bomb below, beside the only way out."""
    board = np.zeros((8, 8), int)
    board[1, :6] = board[2, 3:5] = board[0, 5] = 1
    board[0, 3], board[0, 1], board[1, 3], board[1, 4], board[6, 6] = 10, 3, 3, 0, 11
    given = {"board": board.tolist(), "items": [], "flames": [], "step_count": 0}
    given |= {"agents": [[1, 0, 3, 1, 2, 0], [1, 6, 6, 1, 2, 0]]}
    assert legal(duel, given | {"bombs": [[0, 1, 0, 3, 3, 0], [1, 3, 0, 9, 2, 0]]}) == [0, 3, 4]
    board[1, 3] = 1
    alone = given | {"bombs": [[0, 1, 0, 3, 3, 0]], "board": board.tolist()}
    assert legal(duel, alone) == [0, 3, 4, 5]


def test_values():
    game = bomber_grid()
    state = game.new_state()
    game.reset(state, np.uint64(0))
    values = np.zeros(4)
    for owner in (game, game.variant("aiide")):
        owner.evaluate(state, values)
        assert values == pytest.approx([-0.17 * 3 - 0.1 + 0.15 * 2 / 10] * 4)
    record(state, STATE).kicks[1] = 1
    record(state, STATE).alive = 0b1110
    game.evaluate(state, values)
    assert values == pytest.approx([-1, -0.17 * 2 - 0.1 + 0.03 + 0.15, -0.41, -0.41])


def test_a_board_full_of_wood_is_better_than_death():
    game = bomber_grid(mode="duel", board_size=8, n_rigid=0, n_wood=0, n_items=0)
    board = np.zeros((8, 8), int)
    board[2:7, 2:7] = 2
    board[0, 0], board[7, 7] = 10, 11
    agents = [[1, 0, 0, 1, 2, 0], [1, 7, 7, 1, 2, 0]]
    given = {"board": board, "items": [], "agents": agents, "bombs": [], "flames": [], "step_count": 0}
    values = np.zeros(2)
    game.evaluate(state_from_position(game, given), values)
    assert values == pytest.approx([-0.17 - 0.1 + 0.03] * 2)


def test_text_shows_steps_of_long_fuses():
    game = bomber_grid(fuse=16)
    state = game.new_state()
    game.reset(state, np.uint64(0))
    game.step(state, np.array([5, 0, 0, 0]), np.zeros(4))
    assert "on a bomb with 15 steps" in rendered(game, state, "ansi")


@pytest.mark.parametrize(
    "settings", [*VIEWS, {"mode": "duel", "board_size": 8, "n_rigid": 8, "n_wood": 8, "n_items": 4}]
)
def test_pictures(settings):
    game = bomber_grid(**settings)
    for state in some_states(game, 6):
        assert rendered(game, state, "rgb_array", 16).shape[2] == 3
        text = rendered(game, state, "ansi")
        assert text.count("\n") == record(state, STATE).board_size + game.players + 3
    assert game.action_name(1) == ("up" if game.actions == 6 else "stop 0 1")


@pytest.mark.parametrize("fuse", [10, 16])
def test_the_steps_of_a_bomb_under_a_player_stand_inside_its_rim(fuse):
    game, scale = bomber_grid(fuse=fuse), 64
    state = game.new_state()
    game.reset(state, np.uint64(0))
    game.step(state, np.array([5, 0, 0, 0]), np.zeros(4))
    left, top, *_ = game.where(state, 0, 0)
    white = (game.picture(state).to_rgb(scale) > 246).all(2)
    y, x = np.nonzero(white)
    away = np.hypot((x + 0.5) / scale - left - 0.5, (y + 0.5) / scale - top - 0.53)
    assert (away < 0.3).any()
    assert not ((away >= 0.35) & (away < 0.41)).any()


def test_picture_and_text_say_who_plays_with_whom_and_when_the_board_collapses():
    game = bomber_grid(mode="team", collapse=[30, 50])
    state = game.new_state()
    game.reset(state, np.uint64(0))
    for t, said in ((0, "a ring falls at 30"), (30, "a ring falls at 50"), (50, "")):
        record(state, STATE).t = t
        for shown in (game.picture(state).to_svg(), rendered(game, state, "ansi")):
            assert "0 and 2 against 1 and 3" in shown
            assert said in shown
            assert said or "falls" not in shown


def test_words_of_a_picture_do_not_overlap_on_the_smallest_board():
    game = bomber_grid(mode="team", board_size=7, n_rigid=6, n_wood=6, n_items=4, collapse=[130])
    state = game.new_state()
    game.reset(state, np.uint64(0))
    record(state, STATE).t = 120
    lines = {}
    for at in re.findall(r'<text x="([\d.]+)" y="([\d.]+)" .*?textLength="([\d.]+)"', game.picture(state).to_svg()):
        x, y, length = map(float, at)
        lines.setdefault(round(y, 1), []).append((x, x + length))
    for spans in map(sorted, lines.values()):
        assert all(end < start for (_, end), (start, _) in itertools.pairwise(spans))
