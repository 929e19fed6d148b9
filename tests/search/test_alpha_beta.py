"""Alpha-beta against plain minimax, its budgets, and what it refuses."""

import copy
import pickle
import signal
import time
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

from agents.budget import Clock
from agents.planners.alpha_beta import AlphaBeta
from agents.planners.frames import UNIT, WIN
from mcts_envs.core.contract import ACTIVE, EVALUATE, LEGAL, OUTCOME, RESET, STATUS, STEP, Game, blank, state_dtype
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import seed_stream
from mcts_envs.core.view import View
from tests.toys import Stakes, TicTacToe, Tron
from tests.toys import tic_tac_toe as make_tic_tac_toe

ROUNDS = state_dtype([("t", "i8"), ("points", "i8", 2)])


@kernel()
def rounds_mover(state):
    """0, 1, 1, 0, 0, 1, 1: mostly twice in a row."""
    return (record(state, ROUNDS).t + 1) // 2 % 2


@kernel(RESET)
def rounds_reset(state, seed):
    seed_stream(state, seed)
    s = record(state, ROUNDS)
    s.t, s.points[0], s.points[1] = 0, np.int64(seed % np.uint64(5)), 0


@kernel(ACTIVE)
def rounds_active(state):
    return 0 if record(state, ROUNDS).t == 7 else 1 << rounds_mover(state)


@kernel(LEGAL)
def rounds_legal(state, player, actions):
    for action in range(3):
        actions[action] = action
    return 3


@kernel(STEP)
def rounds_step(state, actions, rewards):
    s = record(state, ROUNDS)
    rewards[0] = rewards[1] = 0.0
    if s.t < 7:
        mover = rounds_mover(state)
        s.points[mover] += (7 * actions[mover] + 5 * s.t + 3 * s.points[1 - mover]) % 11
        s.t += 1


@kernel(STATUS)
def rounds_status(state, player):
    return 1 if record(state, ROUNDS).t == 7 else 0


@kernel(OUTCOME)
def rounds_outcome(state, points):
    s = record(state, ROUNDS)
    points[0] = min(1.0, max(0.0, 0.5 + (s.points[0] - s.points[1]) / 32))
    points[1] = 1.0 - points[0]


@kernel(EVALUATE)
def rounds_evaluate(state, values):
    s = record(state, ROUNDS)
    values[0] = (s.points[0] - s.points[1]) / 64
    values[1] = -values[0]


def rounds():
    """A game with moves in a row and graded results."""
    kernels = (rounds_reset, rounds_active, rounds_legal, rounds_step, rounds_status, rounds_outcome)
    return Game("rounds", 2, 3, blank(ROUNDS), *kernels, evaluate=rounds_evaluate)


def wall(size):
    return gym.make("mcts_envs:mcts_envs/WallSurvival-v0", board_size=size).unwrapped.game


def mover_of(game, state):
    return int(game.active(state)).bit_length() - 1


def view_of_start(game, seed=0, plies=0):
    """A position some random plies after the start."""
    state, rng, legal = game.new_state(), np.random.default_rng(seed), np.zeros(game.actions, np.int64)
    game.reset(state, np.uint64(seed))
    for _ in range(plies):
        before, mover, actions = state.copy(), mover_of(game, state), np.zeros(2, np.int64)
        actions[mover] = rng.choice(legal[: game.legal(state, mover, legal)])
        game.step(state, actions, np.zeros(2))
        if not game.active(state):
            return View(game, before, mover)
    return View(game, state, mover_of(game, state))


def after(view, action):
    """The state after an action, and the rewards."""
    state, actions, rewards = view.state.copy(), np.zeros(2, np.int64), np.zeros(2)
    actions[view.player] = action
    view.game.step(state, actions, rewards)
    return state, rewards


def minimax(view, depth, ply=1):
    """The plainest form of the same search."""
    game, player, scores = view.game, view.player, []
    for action in view.legal_actions():
        state, values = after(view, action)
        if not game.active(state):
            game.outcome(state, values)
            difference = values[player] - values[1 - player]
            score = int(np.sign(difference)) * (WIN - ply) if abs(difference) == 1.0 else int(UNIT * difference)
        elif depth == 1:
            game.evaluate(state, values)
            score = int(UNIT * values[player])
        else:
            below = View(game, state, mover_of(game, state))
            score = minimax(below, depth - 1, ply + 1) * (1 if below.player == player else -1)
        scores.append(score)
    return max(scores)


def score_of(result):
    if result.end_in is None:
        return round(result.value * UNIT)
    return int(result.value) * (WIN - result.end_in)


@pytest.mark.parametrize("table_size", [0, 16, 2**12])
@pytest.mark.parametrize(("size", "depth"), [(3, 1), (3, 3), (3, 4), (4, 2), (4, 3)])
def test_equals_minimax_on_walls(size, depth, table_size):
    agent = AlphaBeta(depth=depth, margin=None, table_size=table_size)
    for seed in range(4):
        view = view_of_start(wall(size), seed, plies=seed)
        assert score_of(agent.search(view)) == minimax(view, depth)


@pytest.mark.parametrize("depth", range(1, 7))
def test_equals_minimax_where_players_move_twice(depth):
    game = rounds()
    for seed in range(5):
        view = view_of_start(game, seed)
        for size in (0, 2**10):
            result = AlphaBeta(depth=depth, margin=None, table_size=size).search(view)
            assert score_of(result) == minimax(view, depth)


def test_a_graded_result_is_worth_its_difference_of_points():
    """It is neither a win nor a loss: no plies are counted to it, and the value is what the final points say."""
    game = rounds()
    for seed in range(5):
        view = view_of_start(game, seed)
        result = AlphaBeta(margin=None).search(view)
        state = view.state
        for action in result.principal_variation:
            state, points = after(View(game, state, mover_of(game, state)), action)
        game.outcome(state, points)
        difference = points[view.player] - points[1 - view.player]
        assert 0.0 < abs(difference) < 1.0
        assert (result.value, result.end_in, result.depth) == (pytest.approx(difference), None, 7)


def test_tic_tac_toe_is_a_draw_and_search_ends_by_itself():
    game = make_tic_tac_toe()
    result = AlphaBeta(depth=60).search(view_of_start(game))
    assert (result.value, result.end_in, result.depth) == (0.0, None, 9)
    for seed in range(12):
        view = view_of_start(game, seed, plies=3)
        assert score_of(AlphaBeta(depth=9, margin=None).search(view)) == minimax(view, 9)


def test_wins_at_once_and_loses_late():
    game = make_tic_tac_toe()
    state = game.new_state()
    game.reset(state, np.uint64(0))
    game.place(state, {"board": [1, 1, 0, 2, 2, 0, 0, 0, 0], "turn": 0})
    result = AlphaBeta(max_steps=5000).search(View(game, state, 0))
    assert (result.action, result.value, result.end_in, result.principal_variation) == (2, 1.0, 1, [2])
    game.place(state, {"board": [1, 0, 1, 0, 2, 0, 1, 0, 0], "turn": 1})
    result = AlphaBeta(max_steps=5000).search(View(game, state, 1))
    assert (result.value, result.end_in) == (-1.0, 2)


def test_a_forced_win_is_played_to_its_end():
    game, agent = wall(4), AlphaBeta(max_steps=20_000)
    found = 0
    for seed in range(12):
        view = view_of_start(game, seed, plies=4)
        result = agent.search(view)
        if result.value < 1.0 or result.end_in is None:
            continue
        found += 1
        winner, state = view.player, view.state.copy()
        while game.active(state):
            here = View(game, state, mover_of(game, state))
            state, rewards = after(here, agent.act(here))
        assert rewards[winner] == 1.0
    assert found >= 3


def test_principal_variation_leads_to_the_value():
    game = wall(5)
    for seed in range(4):
        view = view_of_start(game, seed)
        result = AlphaBeta(depth=3, margin=None, table_size=0).search(view)
        player, state = view.player, view.state
        assert len(result.principal_variation) == 3
        assert result.principal_variation[0] == result.action
        for action in result.principal_variation:
            here = View(game, state, mover_of(game, state))
            assert action in here.legal_actions()
            state, _ = after(here, action)
        values = np.zeros(2)
        game.evaluate(state, values)
        assert result.value == pytest.approx(values[player], abs=2 / UNIT)


def test_step_budget_is_kept_and_gives_the_same_result_again():
    view = view_of_start(wall(6), 3)
    before = view.state.copy()
    for lines in (1, 30, 4000):
        result = AlphaBeta(simulations=lines).search(view)
        assert result.simulations == lines
    for steps in (1, 7, 500, 30_000):
        first, second = AlphaBeta(max_steps=steps, seed=1), AlphaBeta(max_steps=steps, seed=2)
        results = [first.search(view), second.search(view), first.search(view)]
        assert len({(r.action, r.value, r.depth, r.steps, tuple(r.principal_variation)) for r in results}) == 1
        assert results[0].steps == steps
        assert results[0].action in view.legal_actions()
    assert np.array_equal(view.state, before)


def test_a_move_that_loses_is_not_played_for_want_of_budget():
    """A first action that loses is not all that there is when the budget ends before the second."""
    result = AlphaBeta(simulations=1).search(view_of_start(wall(3), 0))
    assert result.end_in is None
    false = 0
    for seed in range(50):
        view = view_of_start(wall(4), seed)
        full = AlphaBeta(max_steps=200_000).search(view)
        for steps in (3, 10, 30, 100, 300, 1000, 3000):
            short = AlphaBeta(max_steps=steps).search(view)
            false += short.value == -1.0 and full.value > -1.0
    assert false == 0


def test_time_and_depth_limits():
    view = view_of_start(wall(9), 2)
    agent = AlphaBeta(time_limit=0.05)
    agent.search(view)
    assert min(agent.search(view).seconds for _ in range(5)) < 0.06
    assert AlphaBeta(depth=2, time_limit=20.0).search(view).depth == 2
    assert AlphaBeta().budget.max_steps == 100_000


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers interrupt in another way there")
def test_a_search_can_be_interrupted():
    view, agent = view_of_start(wall(9), 2), AlphaBeta(time_limit=20.0)
    AlphaBeta(depth=1).search(view)

    def interrupt(*_):
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        started = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            agent.search(view)
        assert time.perf_counter() - started < 2.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
    agent.budget = replace(agent.budget, time_limit=1e9, max_steps=3000)
    assert agent.search(view).action == AlphaBeta(max_steps=3000).search(view).action


def said_by(result):
    """Return all that a result says but for its clock."""
    return {name: value for name, value in vars(result).items() if name not in ("seconds", "game", "view")}


def test_one_agent_searches_for_several_at_once():
    """As threads do that share it: in the middle of each slice of a search there is another one."""
    view, other, agent = view_of_start(wall(5), 3), view_of_start(wall(5), 4), AlphaBeta(max_steps=3000)
    alone = said_by(agent.search(view))

    class Disturbed(Clock):
        def slice(self, *given):
            agent.search(other)
            return super().slice(*given)

    assert said_by(agent.plan(view, Disturbed(agent.budget))) == alone
    assert said_by(agent.search(view)) == alone


@pytest.mark.parametrize("margin", [None, 0.1])
def test_compiled_equals_interpreted(margin):
    agent = AlphaBeta(max_steps=400, margin=margin, table_size=64)
    for game in (wall(3), make_tic_tac_toe(), rounds()):
        view = view_of_start(game, 1)
        compiled = agent.search(view)
        plain = agent.search(View(game.interpreted(), view.state, view.player))
        assert said_by(plain) == said_by(compiled)


def test_pruning_looks_deeper_for_the_same_steps():
    game = wall(6)
    depths = [
        sum(AlphaBeta(max_steps=60_000, margin=margin).search(view_of_start(game, seed)).depth for seed in range(8))
        for margin in (0.1, None)
    ]
    assert depths[0] > depths[1]


def test_evaluate_by_name_or_kernel():
    game = wall(5)
    view = view_of_start(game, 1)
    kernel_given = AlphaBeta(depth=2, margin=None, evaluate=game.variant("mobility").evaluate).search(view)
    named = AlphaBeta(depth=2, margin=None, evaluate="mobility").search(view)
    assert said_by(named) == said_by(kernel_given)
    assert score_of(named) == minimax(View(game.variant("mobility"), view.state, view.player), 2)


def test_acts_in_environments_and_survives_pickling():
    env = TicTacToe(opponent="random")
    env.reset(seed=1)
    agent = AlphaBeta(depth=9)
    twins = [pickle.loads(pickle.dumps(agent)), copy.deepcopy(agent)]
    action = agent.act(env)
    assert agent.last_result.action == action
    assert all(twin.act(env) == action for twin in twins)


def test_refuses_other_games():
    for env, why in ((Tron(), "at the same time"), (Stakes(), "in stakes, 3 take turns")):
        env.reset(seed=0)
        with pytest.raises(ValueError, match=why):
            AlphaBeta().act(env)
    mates = replace(wall(5), teams=((0, 1),))
    with pytest.raises(ValueError, match="2 are one team"):
        AlphaBeta().search(view_of_start(mates, 1))


@pytest.mark.parametrize(
    ("settings", "error", "why"),
    [
        ({"depth": 0}, ValueError, "depth 0 is outside"),
        ({"depth": 2.5}, TypeError, "not an integer"),
        ({"time_limit": 0.0}, ValueError, "time_limit"),
        ({"max_steps": 0}, ValueError, "max_steps 0 is outside"),
        ({"margin": -0.1}, ValueError, "margin -0.1 is outside"),
        ({"table_size": -1}, ValueError, "table_size -1 is outside"),
        ({"evaluate": 3}, TypeError, "neither a function nor one of the game's variants"),
        ({"evaluate": min}, TypeError, "not compiled"),
        ({"evaluate": rounds_outcome.py_func}, TypeError, "not compiled"),
        ({"evaluate": rounds_active}, TypeError, "evaluate has"),
    ],
)
def test_refuses_bad_settings(settings, error, why):
    with pytest.raises(error, match=why):
        AlphaBeta(**settings)


def test_refuses_unknown_variants_and_finished_games():
    game = make_tic_tac_toe()
    with pytest.raises(ValueError, match="unknown evaluate variant"):
        AlphaBeta(evaluate="nothing").search(view_of_start(game))
    state = game.new_state()
    game.reset(state, np.uint64(0))
    for action in (0, 3, 1, 4, 2):
        state, _ = after(View(game, state, mover_of(game, state)), action)
    with pytest.raises(ValueError, match="not to choose"):
        AlphaBeta().search(View(game, state, 0))
