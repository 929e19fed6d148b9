"""Planners on the bomber grid: what they are told, what their presets say, and that they play well enough."""

import numpy as np
import pytest

import agents
from agents.mcts import MCTS
from agents.planners.rhea import Rhea
from mcts_envs.core.kernel import interpreted, record
from mcts_envs.core.place import state_from_position
from mcts_envs.core.view import Episode, View
from mcts_envs.games.bomber_grid.presets import presets
from mcts_envs.games.bomber_grid.rules import radio
from mcts_envs.games.bomber_grid.rules.layout import DOWN, RIGHT, STATE
from mcts_envs.games.bomber_grid.spec import bomber_grid
from mcts_envs.registry import ENTRIES
from tests.games.bomber_grid.situations import disguise, moves_of, some_states

TEAM = {"mode": "team", "view": 4, "blast_cap": 4}
PLANNING = {"n_rigid": 20, "n_wood": 20, "n_items": 10, "flame_life": 5}


def play(game, players, seed):
    """Play a game and return the points of all players."""
    state, episode, rewards = game.new_state(), Episode(), np.zeros(game.players)
    game.reset(state, np.uint64(seed))
    while bits := game.active(state):
        choosing = [player for player in range(game.players) if bits >> player & 1]
        actions = np.zeros(game.players, np.int64)
        actions[choosing] = [players[player].act(View(game, state, player, episode)) for player in choosing]
        game.step(state, actions, rewards)
    points = rewards.copy()
    game.outcome(state, points)
    return points


def against(game, name, other, games, **settings):
    """Return the points of an agent, or a team of it, against others; it changes seats from game to game."""
    points = []
    for seed in range(games):
        first = seed % game.players
        mine = {first, (first + 2) % 4} if is_team(game) else {first}
        players = [
            agents.make(name, seed=seed, **settings) if player in mine else agents.make(other, seed=100 + seed)
            for player in range(game.players)
        ]
        points.append(play(game, players, seed)[first])
    return np.array(points)


def is_team(game):
    return bool(record(game.template, STATE).mode in (2, 3))


# What planners are told.

HIDING = [
    {"loop": "open"},
    {"loop": "information_set"},
    {"loop": "information_set", "opponents": "uniform"},
    {"loop": "open", "opponents": "advised", "simulate": "advised", "rollout_model": "careful"},
]


@pytest.mark.parametrize("settings", HIDING)
@pytest.mark.parametrize("modes", [{}, TEAM, {"mode": "radio", "view": 2}])
def test_what_is_hidden_does_not_change_a_search(modes, settings):
    """Items under wood, the others' kits and bombs, and whatever lies in the fog."""
    game, rng, differ = bomber_grid(**modes), np.random.default_rng(4), 0
    for state in some_states(game, 8, seed=3):
        player = int(record(state, STATE).alive).bit_length() - 1
        other = disguise(state, player, rng)
        differ += game.key(other, -1) != game.key(state, -1)
        agent = {"simulations": 60, "horizon": 15, **settings}
        first, second = (MCTS(**agent, seed=2).search(View(game, each, player)) for each in (state, other))
        assert np.array_equal(first.visits, second.visits)
        assert np.array_equal(first.values, second.values, equal_nan=True)
        assert first.action == second.action
    assert differ > 6


def test_nor_an_evolution():
    game, rng = bomber_grid(**TEAM), np.random.default_rng(5)
    for state in some_states(game, 6, seed=5):
        player = int(record(state, STATE).alive).bit_length() - 1
        views = [View(game, each, player) for each in (state, disguise(state, player, rng))]
        first, second = (Rhea(simulations=50, opponents="advised").search(view) for view in views)
        assert first.genes.tolist() == second.genes.tolist()
        assert first.value == second.value


@pytest.mark.parametrize("loop", ["open", "closed"])
def test_unless_it_is_told_everything(loop):
    game, rng, differ = bomber_grid(**TEAM), np.random.default_rng(4), 0
    for state in some_states(game, 6, seed=3):
        player = int(record(state, STATE).alive).bit_length() - 1
        agent = MCTS(simulations=100, horizon=15, loop=loop, information="full", evaluate="aiide", opponents="advised")
        values = []
        for each in (state, disguise(state, player, rng)):
            agent.reseed(3)
            values.append(agent.search(View(game, each, player)).values)
        differ += not np.array_equal(*values)
    assert differ > 3


@pytest.mark.parametrize("modes", [{}, TEAM])
def test_compiled_equals_interpreted(modes):
    game = bomber_grid(**modes)
    state = some_states(game, 1, seed=8)[0]
    player = int(record(state, STATE).alive).bit_length() - 1
    plain = game.interpreted()
    settings = {"simulations": 6, "horizon": 6, "opponents": "advised", "simulate": "advised", "relative": True}
    results = [MCTS(**settings).search(View(each, state, player)) for each in (game, plain)]
    assert results[0].visits.tolist() == results[1].visits.tolist()
    assert np.array_equal(results[0].values, results[1].values, equal_nan=True)


# Values and models.


def test_the_dead_of_a_team_are_taken_for_lost():
    game = bomber_grid(**TEAM)
    state, values = game.new_state(), np.zeros(4)
    game.reset(state, np.uint64(0))
    record(state, STATE).alive = 0b1110
    game.evaluate(state, values)
    assert values[0] == -1.0
    assert values[2] == pytest.approx(0.0 - 2 * 0.13 - 0.1 + 0.15 * 2 / 4)


def lane(enemy, bombs=(), **more):
    """Return a duel in which player 0 stands at the closed end of a lane along the upper border."""
    board = np.zeros((8, 8), int)
    board[1, :6] = 1
    board[0, 0], board[enemy] = 10, 11
    for row, column, *_ in bombs:
        board[row, column] = board[row, column] or 3
    agents = [[1, 0, 0, 1, 2, 0], [1, *enemy, 1, 2, 0]]
    return {"board": board.tolist(), "items": [], "agents": agents, "bombs": list(bombs), "flames": [], "step_count": 0}


@pytest.fixture(scope="module")
def duel():
    return bomber_grid(mode="duel", board_size=8, n_rigid=16, n_wood=16, n_items=10)


def worth_of(game, name, given):
    """Return what a variant says that a position is worth, compiled and interpreted."""
    state, values, plain = state_from_position(game, given), np.zeros(2), np.zeros(2)
    before = state.copy()
    game.variant(name).evaluate(state, values)
    assert np.array_equal(state, before)
    interpreted(game.variant(name).evaluate)(state, plain)
    assert np.array_equal(plain, values)
    return values


def test_pessimism(duel):
    def worth(given):
        return worth_of(duel, "pessimistic", given)

    away, near = worth(lane((6, 6))), worth(lane((0, 2)))
    assert away[0] > near[0]  # an enemy at the mouth of the lane could close it with a bomb
    assert near[1] > near[0]
    trapped = worth(lane((6, 6), [[0, 1, 1, 5, 2, 0]]))
    assert trapped[0] == pytest.approx(away[0] - 0.4)  # not a cell to live in


def test_hunting_is_to_come_nearer_and_to_leave_no_room(duel):
    for enemy, steps in (((6, 6), 12), ((4, 6), 10), ((2, 7), 9)):
        hunting, waiting = (worth_of(duel, name, lane(enemy)) for name in ("hunting", "pessimistic"))
        assert hunting[0] - waiting[0] == pytest.approx(-0.3 * 1.0 - 0.2 * steps / 22)  # the enemy has all the room


def test_gathering_is_to_go_for_items_then_for_wood_and_to_hunt_with_a_kit(duel):
    def more(kit=(1, 2), items=(), wood=(), bombs=()):
        """Return what gathering is worth beyond hunting, and beyond that who is not near the enemy has less to lose."""
        given = lane((6, 6), bombs)
        for cell in wood:
            given["board"][cell[0]][cell[1]] = 2
        for row, column in items:
            given["board"][row][column] = 6
        given["agents"][0][3:5] = kit
        want = 1.0 - (sum(kit) + len(bombs)) / 10
        hunting, gathering = (worth_of(duel, name, given)[0] for name in ("hunting", "gathering"))
        return gathering - hunting, want, 0.2 * 12 / 22

    found, _, _ = more()
    assert found == 0.0  # nothing is left to go for
    found, want, far = more(items=[(0, 3)], wood=[(0, 6)])
    assert found == pytest.approx(want * (0.2 * 11 / 14 + far))
    found, want, far = more(wood=[(0, 6)])
    assert found == pytest.approx(want * (0.1 * 9 / 14 + far))
    found, want, far = more((4, 5), wood=[(0, 6)])
    assert (found, want) == (pytest.approx(want * (0.1 * 9 / 14 + far)), pytest.approx(0.1))
    found, want, far = more((0, 2), wood=[(0, 3), (0, 6)], bombs=[[0, 2, 0, 9, 2, 0]])
    assert found == pytest.approx(0.03 + 0.02 + want * far)  # a bomb that it has laid, and wood that this will burn


@pytest.mark.parametrize(
    ("falls", "peril", "changes"),
    [
        ([10, 20], 0.1 + 0.5 * 7 / 14, {}),  # seven steps around the wall
        ([10, 20], 1.0, {"step_count": 4}),  # of which six are left
        ([100], 0.1 + 0.5 * 7 / 100, {}),
        ([100], 0.1 + 0.5 * 18 / 100, {(0, 3): 2}),  # wood on the way is burnt first
        ([10, 20], 1.0, {(0, 3): 2}),  # which takes too long
        ([10], 0.0, {"at": (6, 1)}),
        ([10, 20], 0.1 + 0.5 * 4 / 14, {"at": (6, 1), (5, 1): 1, (6, 2): 1}),  # a corner that leads no further
        ([10, 20, 30], 0.0, {"at": (2, 2), (3, 3): 1, (3, 4): 1, (4, 3): 1, (4, 4): 1}),  # the last leaves nothing
    ],
)
def test_who_hunts_keeps_to_where_a_way_leads_inside_when_the_board_collapses(duel, falls, peril, changes):
    given = lane((6, 6))
    for cell, code in changes.items():
        if cell == "at":
            given["board"][0][0], given["board"][code[0]][code[1]], given["agents"][0][1:3] = 0, 10, code
        elif cell == "step_count":
            given["step_count"] = code
        else:
            given["board"][cell[0]][cell[1]] = code
    collapsing = bomber_grid(mode="duel", board_size=8, n_rigid=16, n_wood=16, n_items=10, collapse=falls)
    for name in ("hunting", "gathering"):
        more = worth_of(collapsing, name, given) - worth_of(duel, name, given)
        assert more == pytest.approx([-0.6 * peril, 0.3 * peril])


@pytest.mark.parametrize("collapse", [(), (50, 62, 74, 86)])
def test_anybody_mixes_the_others(collapse):
    game = bomber_grid(collapse=collapse)
    mixed, parts = game.variant("anybody"), [game.variant(name) for name in ("rule_based", "careful", "random_safe")]
    for state in some_states(game, 20):
        t = record(state, STATE).t
        careful = 0.9 if any(0 < fall - t <= 12 for fall in collapse) else 0.45
        for player in range(4):
            if game.active(state) >> player & 1:
                weights = np.zeros((4, 6))
                for row, each in zip(weights, [mixed, *parts], strict=True):
                    each.advise(state, player, row)
                shares = weights[1:] / weights[1:].sum(1, keepdims=True)
                if weights[3].all() and weights[2].all():
                    continue  # nothing is safe: the others' advice is arbitrary
                assert weights[0] == pytest.approx((0.9 - careful) * shares[0] + careful * shares[1] + 0.1 * shares[2])


# Presets.


@pytest.mark.parametrize("id", [name for name in ENTRIES if "Bomber" in name])
def test_every_preset_plays(id):
    entry = ENTRIES[id]
    game = bomber_grid(**entry.settings)
    state = game.new_state()
    game.reset(state, np.uint64(2))
    assert set(entry.presets) == set(game.presets)
    for name in game.presets:
        more = {"simulations": 20} if agents.takes_budget(name) else {}
        assert 0 <= agents.make(name, **more).act(View(game, state, 0)) < game.actions


def test_with_a_radio_planners_search_moves_not_words():
    game = bomber_grid(mode="radio")
    state = some_states(game, 1, seed=1)[0]
    player = int(record(state, STATE).alive).bit_length() - 1
    for name in ("best", "mcts_aiide", "mcts_bias", "mcts_bias_once", "pessimist"):
        words = radio.report(state, player) if name == "best" else 0
        visits = agents.make(name, simulations=200).search(View(game, state, player)).visits
        assert np.flatnonzero(visits).tolist() == [64 * move + words for move in range(6)]
    for name in ("osla_aiide", "rhea_aiide"):
        assert agents.make(name).act(View(game, state, player)) % 64 == 0
    safe = bomber_grid(mode="radio", mask="safe")
    silent = moves_of(safe.variant("silent"), state, player)
    assert silent == sorted({64 * (action // 64) for action in moves_of(safe, state, player)})


def test_variants_that_lack_what_is_wanted():
    game = bomber_grid()
    state = game.new_state()
    game.reset(state, np.uint64(0))
    view = View(game, state, 0)
    for name, settings, part in (
        ("best", {"evaluate": "careful"}, "evaluate"),
        ("rhea_aiide", {"evaluate": "careful"}, "evaluate"),
        ("best", {"opponent_model": "aiide"}, "advise"),
        ("careful", {"model": "original"}, "advise"),
    ):
        with pytest.raises(ValueError, match=f"unknown {part} variant of bomber_grid"):
            agents.make(name, **settings).act(view)


def test_presets_see_what_their_player_sees():
    for full, information in ((True, "full"), (False, "own")):
        for name in ("osla_aiide", "rhea_aiide", "mcts_aiide", "mcts_bias", "mcts_bias_once"):
            assert presets(full, radio=False)[name]["information"] == information
        assert "information" not in presets(full, radio=False)["best"]


def test_the_reports_agent():
    game = bomber_grid(**PLANNING)
    agent = agents.make("mcts_bias").resolve(game)
    assert (agent.parameters["bias"], agent.discount, agent.horizon) == (1.0, 0.8, 12)
    assert agent.budget.simulations == 200
    assert agents.make("mcts_bias", bias=0.0).resolve(game).parameters["bias"] == 0.0
    # Its text multiplies every return once with 0.8: the same as dividing c and bias by it.
    state = some_states(game, 1, seed=1)[0]
    player = int(record(state, STATE).alive).bit_length() - 1

    def visits(**settings):
        return agents.make("mcts_bias", **settings).search(View(game, state, player)).visits.tolist()

    once = {"discount": 1.0, "c": 2**0.5 / 0.8, "bias": 1 / 0.8}
    assert visits() != visits(bias=0.0) != visits(**once)
    assert sum(visits(**once)) == 200
    named = agents.make("mcts_bias_once").search(View(game, state, player))
    assert named.visits.tolist() == visits(**once)


def fetch(row, kind=8):
    """Return a duel in which an item lies one step below player 0."""
    given = lane((6, 6))
    given["board"][1] = [0] * 8
    given["board"][row][0] = kind
    return given


def test_one_step_lookahead_takes_what_lies_near(duel):
    state = state_from_position(duel, fetch(1))
    actions = [agents.make("osla_aiide", seed=seed).act(View(duel, state, 0)) for seed in range(10)]
    assert set(actions) == {DOWN}
    away = [
        agents.make("osla_aiide", seed=seed).act(View(duel, state_from_position(duel, fetch(4)), 0))
        for seed in range(40)
    ]
    assert len(set(away)) > 3  # all the same to it


@pytest.mark.parametrize("name", ["best", "mcts_aiide", "mcts_bias", "pessimist", "rhea_aiide"])
def test_planners_run_from_a_bomb(duel, name):
    given = lane((6, 6)) | {"bombs": [[0, 0, 0, 2, 2, 0]]}  # two steps to the right, or dead
    assert agents.make(name, simulations=400).act(View(duel, state_from_position(duel, given), 0)) == RIGHT


@pytest.mark.slow
class TestStrength:
    """Few games each; the bounds leave room for luck."""

    def test_best_against_rule_based_players(self):
        points = against(bomber_grid(), "best", "rule_based", 4, simulations=60)
        assert (points == 1).sum() >= 2

    def test_best_teams(self):
        points = against(bomber_grid(**TEAM), "best", "rule_based", 3, simulations=60)
        assert (points == 1).sum() >= 2

    @pytest.mark.slow
    def test_the_literatures_planner(self):
        points = against(bomber_grid(**PLANNING), "mcts_aiide", "rule_based", 60)
        assert (points == 1).mean() > 0.15

    @pytest.mark.slow
    def test_best_needs_little(self):
        points = against(bomber_grid(), "best", "rule_based", 40, simulations=200)
        assert (points == 1).mean() >= 0.8
        assert (points == 0).mean() <= 0.1
