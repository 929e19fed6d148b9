"""Planners on football-lite: what their presets say, the tutorial's values, and that they play well enough."""

import math

import gymnasium
import numpy as np
import papers.football as paper
import pytest
from papers.measures import Cost, Found
from papers.study import Cell, Entrant, plan_of

import agents
from agents.arena.running.runner import Crew
from agents.policies.ucb1_forms import ucb1_tutorial
from mcts_envs.core.kernel import interpreted, record
from mcts_envs.core.place import state_from_position
from mcts_envs.core.view import View
from mcts_envs.games.football.players.models import step_tutorial, step_tutorial_turn
from mcts_envs.games.football.players.random_players import advise_random_types
from mcts_envs.games.football.players.values import evaluate_tutorial
from mcts_envs.games.football.presets import presets
from mcts_envs.games.football.rules import actions as act
from mcts_envs.games.football.rules.layout import OVER, STATE, TURN
from mcts_envs.games.football.spec import football
from mcts_envs.registry import ENTRIES

SIZES = (1, 3, 5, 7, 11)


def played(game, seed, decisions):
    """Return a state some decisions of the scripted player after the start, and the actions that led there."""
    state, actions, rewards = game.template.copy(), np.zeros(2, np.int64), np.zeros(2)
    weights = np.zeros(game.actions)
    game.reset(state, np.uint64(seed))
    for _ in range(decisions):
        if bits := game.active(state):
            game.advise(state, bits >> 1, weights)
            actions[bits >> 1] = weights.argmax()
            game.step(state, actions, rewards)
    return state, actions


def last_decision(lead):
    """Return a state of size 1 in which only the end of the last turn is left, with so much a lead of home."""
    game = football(1, halves=1, turns=1)
    state, _ = played(game, 0, 1)
    s = record(state, STATE)
    while s.turn[0] + s.turn[1] < 2:
        end_turn(game, state)
    s.score[0], s.score[1] = max(lead, 0), max(-lead, 0)
    return game, state


def end_turn(game, state, step=None):
    """End the turn, or take the first legal action where that is none; return the rewards."""
    rewards, legal = np.zeros(2), np.zeros(game.actions, np.int64)
    player = game.active(state) >> 1
    game.legal(state, player, legal)
    (step or game.step)(state, np.full(2, legal[0]), rewards)
    return rewards


class TestPresets:
    @pytest.mark.parametrize("size", SIZES)
    def test_registry_knows_them_and_agents_take_them(self, size):
        game = football(size)
        assert set(ENTRIES[f"mcts_envs/Football{size}-v0"].presets) == set(game.presets) == set(presets(size))
        for name in game.presets:
            assert agents.make(name).resolve(game) is not None

    @pytest.mark.parametrize("size", SIZES)
    def test_models_are_variants(self, size):
        game = football(size)
        for described in game.presets.values():
            for key in ("model", "rollout_model"):
                assert described.get(key) in (None, *game.variants)

    def test_budgets_of_searches_can_be_given(self):
        assert all(map(agents.takes_budget, ("best", "mcts_tutorial", "mcts_tutorial_turn")))
        agent = agents.make("mcts_tutorial", simulations=7).resolve(football(1))
        assert agent.budget.simulations == 7

    def test_tutorial_makes_its_iterations(self):
        assert [presets(size)["mcts_tutorial"]["simulations"] for size in (1, 3, 5, 11)] == [2038, 1735, 1299, 951]
        turns = [presets(size)["mcts_tutorial_turn"]["simulations"] for size in (1, 3, 5, 11)]
        assert turns == [1592, 688, 555, 361]


class TestOrdering:
    def test_the_scripts_action_comes_first_and_ends_come_last(self):
        game, weights, scripted = football(5), np.zeros(football(5).actions), np.zeros(football(5).actions)
        ordered = game.variant("ordered")
        for decisions in range(0, 200, 7):
            state, _ = played(game, 3, decisions)
            team = game.active(state) >> 1
            ordered.advise(state, team, weights)
            game.advise(state, team, scripted)
            assert weights.argmax() == scripted.argmax()
            others = np.setdiff1d(legal(game, state), [scripted.argmax(), act.END_TURN, act.END_ACTIVATION])
            assert (weights[others] > 0.01).all()

    def test_nearer_to_the_end_zone_with_the_ball_is_better_and_dodges_are_worse(self):
        def weights(other):
            game = football(3, orientation="absolute")
            players = {"home": [{"at": [6, 3]}], "away": [{"at": other}]}
            ball = {"at": [6, 3], "carried": True}
            state = state_from_position(game, {"players": players, "ball": ball, "to_act": "home"})
            game.step(state, np.full(2, act.START), np.zeros(2))
            found = np.zeros(game.actions)
            game.variant("ordered").advise(state, 0, found)
            return [found[act.after(state, act.MOVES) + act.place_of(state, 14 * y + x)] for x, y in SQUARES]

        free, marked = weights([11, 5]), weights([7, 3])
        assert free[0] > free[1] > free[2] > 0.01
        assert sum(dodge < step for dodge, step in zip(marked, free, strict=True)) >= 2  # one may be the script's


SQUARES = (5, 2), (6, 2), (7, 2)
"""Forward, aside and back, for home."""


class TestTutorial:
    def test_bound_is_the_tutorials(self):
        agent = agents.make("mcts_tutorial").resolve(football(1))
        other = agents.make("mcts", select=ucb1_tutorial)
        assert agent.parameters["c"] == pytest.approx(2 * math.sqrt(2) * other.parameters["c"])
        assert agent.parameters["normalize"] is False
        assert other.parameters["normalize"] is False
        assert agent.select.py_func.__name__ == "ucb1_in_order"

    @pytest.mark.parametrize(("lead", "values"), [(1, [1.0, -1.0]), (0, [0.5, 0.5]), (-2, [-1.0, 1.0])])
    @pytest.mark.parametrize("model", [step_tutorial, step_tutorial_turn])
    def test_ends_pay_1_a_half_and_minus_1(self, lead, values, model):
        for step in (model, interpreted(model)):
            game, state = last_decision(lead)
            assert end_turn(game, state, step).tolist() == values
            assert record(state, STATE).phase == OVER
            assert end_turn_again(game, state, step) == [0.0, 0.0]

    def test_unfinished_states_sum_up(self):
        game = football(3)
        state, _ = played(game, 1, 30)
        s, values = record(state, STATE), np.zeros(2)
        before = np.zeros(2)
        evaluate_tutorial(state, before)
        s.score[0] += np.uint8(2)
        evaluate_tutorial(state, values)
        assert values - before == pytest.approx([0.2, -0.2])
        assert values.sum() == pytest.approx(1.0)

    @pytest.mark.parametrize("size", [1, 3])
    def test_rollouts_end_with_the_turn(self, size):
        game, model = football(size), football(size).variant("tutorial_turn")
        for decisions in range(1, 60):
            state, _ = played(game, 5, decisions)
            s = record(state, STATE)
            ends = s.phase != OVER and game.active(state) == 1 << int(s.side) and act.END_TURN in legal(game, state)
            if not ends:
                continue
            expected, after = np.zeros(2), state.copy()
            end_turn(game, after)
            evaluate_tutorial(after, expected)
            rewards = end_turn(game, state, model.step)
            assert rewards.tolist() == expected.tolist()
            assert game.active(state) == 0

    def test_rollouts_go_on_within_the_turn(self):
        game, model = football(3), football(3).variant("tutorial_turn")
        going = 0
        for decisions in range(60):
            state, _ = played(game, 7, decisions)
            _, actions = played(game, 7, decisions + 1)
            before, rewards = bytes(record(state, STATE).turn), np.zeros(2)
            model.step(state, actions, rewards)
            after = bytes(record(state, STATE).turn)
            if game.active(state):
                assert before == after
                assert not rewards.any()
                going += 1
        assert going > 20

    def test_rollouts_go_on_through_a_kick_off_to_the_next_turn(self):
        game, model = football(3), football(3).variant("tutorial_turn")
        players = {"home": [{"at": [2, 3]}], "away": [{"at": [9, 3]}]}
        ball = {"at": [2, 3], "carried": True}
        state = state_from_position(game, {"players": players, "ball": ball, "to_act": "home"})
        s, rewards, legal_actions = record(state, STATE), np.zeros(2), np.zeros(game.actions, np.int64)
        turns = int(s.turn.sum())
        for action in (act.START, act.after(state, act.MOVES) + act.place_of(state, 3 * 14 + 1)):
            model.step(state, np.full(2, action), rewards)
        assert game.position(state)["score"] == [1, 0]
        while game.active(state):
            assert int(s.turn.sum()) == turns
            assert not rewards.any()
            game.legal(state, game.active(state) >> 1, legal_actions)
            model.step(state, np.full(2, legal_actions[0]), rewards)
        assert int(s.turn.sum()) == turns + 1
        assert rewards.sum() == pytest.approx(1.0)
        assert rewards[0] > 0.5

    def test_rollouts_draw_a_type_of_action_first(self):
        game = football(3)
        assert agents.make("mcts_tutorial_turn").resolve(game).simulate.py_func.__name__ == "advised"
        assert game.variant("tutorial_turn").advise is advise_random_types

    def test_untried_actions_in_list_order(self):
        game = football(3)
        state, _ = played(game, 2, 20)
        view = View(game, state, game.active(state) >> 1)
        allowed = view.legal_actions()
        result = agents.make("mcts_tutorial", simulations=len(allowed) - 1).search(view)
        assert len(allowed) > 3
        assert np.flatnonzero(result.visits).tolist() == sorted(allowed[:-1].tolist())


def legal(game, state):
    """Return the legal actions of whoever is to decide."""
    return View(game, state, game.active(state) >> 1).legal_actions().tolist()


def end_turn_again(game, state, step):
    rewards = np.ones(2)
    step(state, np.zeros(2, np.int64), rewards)
    return rewards.tolist()


@pytest.mark.parametrize("size", [1, 3])
def test_best_beats_random(size):
    wins = 0
    for seat in range(2):
        env = gymnasium.make(f"mcts_envs/Football{size}-v0", seat=seat, opponent="random", turns=4)
        agent = agents.make("best", seed=3, simulations=50)
        env.reset(seed=size)
        ended = False
        while not ended:
            *_, ended, truncated, info = env.step(agent.act(env))
            ended = ended or truncated
        wins += info["outcome"] == 1.0
    assert wins == 2


def test_best_needs_good_reason_to_overrule_the_script():
    game = football(3)
    state, _ = played(game, 3, 25)
    view = View(game, state, game.active(state) >> 1)
    weights = np.zeros(game.actions)
    game.variant("tactical").advise(state, view.player, weights)
    assert agents.make("best", simulations=50, margin=1e6).search(view).action == weights.argmax()


def test_best_tries_what_it_would_finish():
    game = football(3)
    state, tried = played(game, 3, 25)[0], set()
    while record(state, STATE).phase != TURN:
        end_turn(game, state)
    view = View(game, state, game.active(state) >> 1)
    for action in np.flatnonzero(agents.make("best", simulations=200).search(view).visits):
        tried.add(game.action_name(action).partition(" with")[0])
    assert {"end turn", "start move", "start blitz"} <= tried
    assert not tried & {"start pass", "start handoff", "start foul"}


class TestReproduction:
    def test_home_and_away_are_told_apart(self):
        cell = Cell(("1",), (Entrant("it", "scripted"),), "Football1-v0", 6, {"turns": 2}, Entrant("other", "random"))
        plan = plan_of([cell], paper.Tutorial.keep)
        boards = [
            [played.row for played in Crew(plan).play(plan.board(plan.lineups[0], number))] for number in range(3)
        ]
        results = [paper.Tutorial().result(cell, rows, plan.teams) for rows in boards]
        played = paper.sides(Found(results, {}))
        assert [len(played.home), len(played.away)] == [3, 3]
        assert sum(own for own, _ in played.games) > sum(others for _, others in played.games)
        for rows, (home, _) in zip(boards, results, strict=True):
            (row,) = (row for row in rows if row.agents == ("it", "other"))
            assert home == row.kept["score"]

    def test_published_figures_beside_ours(self):
        assert paper.counted(0.1, 20) == pytest.approx((0.1, 0.0121, 0.3612), abs=1e-4)
        assert paper.counted(0.0, 20).low == 0.0

    def test_a_gap_between_home_and_away(self):
        won, lost = [paper.Game(2, 1)] * 10, [paper.Game(0, 0)] * 10
        assert paper.gap(paper.Sides(won, lost)).low > 0.5
        even = paper.gap(paper.Sides(won, won))
        assert even.value == 0.0
        assert even.low == -even.high

    def test_every_row_of_the_tutorial_is_a_line_of_the_page(self):
        assert [size for _, size in paper.TUTORIAL] == [size for size in SIZES for _ in range(2)]
        table = paper.STUDY.tables[0]
        for cell, published in zip(table.cells, paper.TUTORIAL.values(), strict=True):
            found = Found([[[2, 1], [0, 0]]] * 2, {cell.players[0].label: Cost(4, 20, 10, 0.1)})
            (line,) = table.measure.lines(cell, found)
            assert set(line) <= set(table.measure.columns)
            assert (line["home"], line["away"], line["ms a decision"]) == ("2 of 2", "0 of 2", "10.0")
            assert ("as interpolated" in cell.words) == (published is None) == ("verdict" not in line)
