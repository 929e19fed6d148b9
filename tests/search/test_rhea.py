"""Rolling horizon evolution: what it finds in games of known value, what it keeps, and what it must not know."""

import pickle
import time

import gymnasium as gym
import numpy as np
import pytest

import agents
from agents.planners.rhea import Rhea
from mcts_envs.core.contract import (
    ACTIVE,
    ADVISE,
    EVALUATE,
    LEGAL,
    RESET,
    STATUS,
    STEP,
    Game,
    blank,
    state_dtype,
)
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import coin, seed_stream
from mcts_envs.core.view import Episode, View
from tests.toys import Stakes, TicTacToe, Tron

# A lock: a player turns a wheel of 4 places in each of 8 steps; a step pays if the wheel is where the code has it. Only
# 2 places are on offer at odd steps. A second player, who is asked at every third step, spoils it by choosing 1.

LOCK = state_dtype([("t", "i8"), ("length", "i8"), ("two", "i8"), ("code", "i8", 8), ("noise", "f8")])


@kernel(RESET)
def lock_reset(state, seed):
    seed_stream(state, seed)
    record(state, LOCK).t = 0


@kernel(ACTIVE)
def lock_active(state):
    s = record(state, LOCK)
    if s.t >= s.length:
        return 0
    return 3 if s.two and s.t % 3 == 0 else 1


@kernel(LEGAL)
def lock_legal(state, player, actions):
    count = 2 if player == 1 or record(state, LOCK).t % 2 else 4
    for i in range(count):
        actions[i] = i
    return count


@kernel(STEP)
def lock_step(state, actions, rewards):
    s = record(state, LOCK)
    for player in range(rewards.shape[0]):
        rewards[player] = 0.0
    if s.t < s.length:
        right = actions[0] == s.code[s.t] and not (s.two and s.t % 3 == 0 and actions[1] == 1)
        rewards[0] = 1.0 if right and not coin(state, s.noise) else 0.0
        s.t += 1


@kernel(STATUS)
def lock_status(state, player):
    s = record(state, LOCK)
    return 0 if s.t < s.length else 1


@kernel(EVALUATE)
def lock_evaluate(state, values):
    for player in range(values.shape[0]):
        values[player] = 10.0 * record(state, LOCK).t


@kernel(LEGAL)
def legal_places(state, player, actions):
    """All 4 places at every step."""
    for i in range(4):
        actions[i] = i
    return 4


@kernel(STEP)
def step_by_place(state, actions, rewards):
    """Pays more for each place than for the one before it."""
    rewards[0] = actions[0] / 3.0
    record(state, LOCK).t += 1


@kernel(ADVISE)
def advise_one(state, player, weights):
    for action in range(weights.shape[0]):
        weights[action] = 1.0 if action == 1 else 0.0


def lock(code=(3, 1, 0, 0, 2, 1, 1, 0), players=1, noise=0.0, **more):
    state = blank(LOCK)
    s = record(state, LOCK)
    s.length, s.two, s.noise = len(code), players == 2, noise
    s.code[: len(code)] = code
    kernels = lock_reset, lock_active, lock_legal, lock_step, lock_status
    return Game("lock", players, 4, state, *kernels, simultaneous=players == 2, **more)


def view_of(game, episode=None, seed=0):
    state = game.new_state()
    game.reset(state, np.uint64(seed))
    return View(game, state, 0, episode)


@pytest.mark.parametrize("population", [1, 2, 20])
def test_opens_the_lock(population):
    result = Rhea(simulations=6000, length=8, population=population, mutation=0.15).search(view_of(lock()))
    assert result.value == 8.0
    assert result.action == 3
    counts = np.array([4, 2] * 4)
    assert (result.genes % counts).tolist() == [3, 1, 0, 0, 2, 1, 1, 0]
    assert (result.simulations, result.steps) == (6000, 48_000)


@pytest.mark.parametrize(("length", "value"), [(1, 1 + 10.0), (3, 3 + 30.0), (8, 8.0), (20, 8.0)])
def test_the_end_of_the_genes_is_evaluated(length, value):
    game = lock(evaluate=lock_evaluate)
    result = Rhea(simulations=8000, length=length, mutation=0.15).search(view_of(game))
    assert result.value == value
    assert result.steps == 8000 * min(length, 8)


def test_first_actions_that_only_the_model_allows_are_not_tried_out():
    """Nothing is worth what the third and fourth place would pay, of which only the first two are legal."""
    model = {"legal": legal_places, "step": step_by_place}
    view = view_of(lock(code=(0, 0), variants={"places": model}))
    record(view.state, LOCK).t = 1
    for seed in range(3):
        result = Rhea(simulations=200, length=1, model="places", seed=seed).search(view)
        assert (result.action, result.value) == (1, pytest.approx(1 / 3))


def test_discount_and_relative_evaluation():
    game = lock(code=(3, 1, 0, 0), evaluate=lock_evaluate)
    view = view_of(game)
    record(view.state, LOCK).t = 1
    settings = {"simulations": 500, "length": 2, "discount": 0.5}
    assert Rhea(**settings).search(view).value == 1 + 0.5 + 0.25 * 30
    assert Rhea(**settings, relative=True).search(view).value == 1 + 0.5 + 0.25 * (30 - 10)


@pytest.mark.parametrize(("opponents", "share"), [("uniform", 0.5), ("advised", 0.0)])
def test_opponents(opponents, share):
    """The second player is asked three times; it spoils half of these steps, or all of them."""
    game = lock(players=2, variants={"spoiler": {"advise": advise_one}})
    more = {"opponent_model": "spoiler"} if opponents == "advised" else {}
    settings = {"simulations": 60_000, "samples": 200, "length": 8, "mutation": 0.15, "opponents": opponents}
    result = Rhea(**settings, **more).search(view_of(game))
    assert result.value == pytest.approx(5 + 3 * share, abs=0.3)


class TestReevaluation:
    def test_a_generation_is_a_child_and_the_whole_population(self):
        settings = {"length": 8, "reevaluate": True}
        assert Rhea(simulations=401, **settings).search(view_of(lock())).simulations == 401
        assert Rhea(simulations=10, population=4, **settings).search(view_of(lock())).simulations == 4 + 2 * 5

    def test_a_child_has_to_be_better(self):
        """Where all is equal the first individual stays, and without reevaluation it drifts."""
        view = view_of(lock(noise=1.0))
        genes = [
            Rhea(simulations=simulations, length=8, reevaluate=again, seed=4).search(view).genes.tolist()
            for again in (True, False)
            for simulations in (1, 201)
        ]
        assert genes[0] == genes[1] == genes[2] != genes[3]

    def test_a_lucky_value_does_not_stand(self):
        """With noise the value of one individual is that of its last trial, not the best of all."""
        view = view_of(lock(noise=0.5))
        values = {
            again: np.mean([Rhea(length=8, reevaluate=again, seed=seed).search(view).value for seed in range(30)])
            for again in (True, False)
        }
        assert values[True] < 4.5 < values[False]

    def test_opens_the_lock(self):
        result = Rhea(simulations=6001, length=8, mutation=0.15, reevaluate=True).search(view_of(lock()))
        assert result.value == 8.0


class TestMemory:
    def test_the_population_moves_on_by_one_action(self):
        view = view_of(lock(), Episode())
        agent = Rhea(simulations=6000, length=8, mutation=0.15, population=3)
        first = agent.search(view)
        view.game.step(view.state, np.array([first.action]), np.zeros(1))
        again = Rhea(simulations=3, length=8, population=3)
        again._memory = agent._memory
        second = again.search(view)  # tries out no more than what is left of the three
        assert second.value == 7.0
        assert second.genes[:-1].tolist() == first.genes[1:].tolist()

    @pytest.mark.parametrize("looks", [1, 2, 3])
    def test_moves_without_a_choice_move_the_population_on_too_and_looks_do_not(self, looks):
        env = gym.make("mcts_envs/LaneDefense3x3-v0")
        env.reset(seed=1)
        agent, genes = Rhea(simulations=5, length=6, mutation=0.0), []
        for searched in (True, False, True):  # after a plant comes a step in which none can be planted
            env.step([agent.act(env) for _ in range(looks)][-1])
            assert (agent.last_result is not None) == searched
            genes += [agent.last_result.genes.tolist()] if searched else []
        assert genes[1][:4] == genes[0][2:]

    @pytest.mark.parametrize("how", ["shift=False", "another episode", "no episode", "reseeded"])
    def test_or_it_does_not(self, how):
        view = view_of(lock(), None if how == "no episode" else Episode())
        agent = Rhea(simulations=3000, length=8, mutation=0.15, shift=how != "shift=False")
        agent.search(view)
        agent.budget = Rhea(simulations=1).budget
        if how == "another episode":
            view.episode = Episode()
        if how == "reseeded":
            agent.reseed(1)
        assert agent.search(view).value < 8.0

    def test_each_player_has_its_own(self):
        game, episode = lock(players=2), Episode()
        agent, state = Rhea(simulations=3000, length=8, mutation=0.15), view_of(game).state
        agent.search(View(game, state, 0, episode))
        agent.search(View(game, state, 1, episode))
        assert sorted(agent._memory[episode]) == [0, 1]

    def test_a_copy_forgets(self):
        agent = Rhea(simulations=50)
        view = view_of(lock(), Episode())
        copied = pickle.loads(pickle.dumps(agent))
        assert agent.act(view) == copied.act(view)
        assert pickle.loads(pickle.dumps(agent))._memory is None


class TestBudgets:
    def test_same_seed_same_result(self):
        view = view_of(lock(noise=0.5))
        results = [Rhea(simulations=500, seed=seed).search(view) for seed in (3, 3, 4)]
        assert results[0].genes.tolist() == results[1].genes.tolist() != results[2].genes.tolist()
        assert results[0].value == results[1].value

    def test_samples_are_whole(self):
        assert Rhea(simulations=50, samples=20).search(view_of(lock())).simulations == 60

    def test_time_and_steps(self):
        result = Rhea(time_limit=0.05).search(view_of(lock()))
        assert 0.04 < result.seconds < 5.0
        assert 1000 <= Rhea(max_steps=1000).search(view_of(lock())).steps < 1008
        assert Rhea(simulations=10, time_limit=9.0, max_steps=10**9).search(view_of(lock())).simulations == 10

    def test_named_agent_takes_budgets(self):
        assert agents.takes_budget("rhea")
        assert agents.make("rhea", simulations=7).search(view_of(lock())).simulations == 7


class TestChance:
    def test_nothing_is_foreseen(self):
        results = [Rhea(simulations=400, seed=1).search(view_of(lock(noise=0.5), seed=seed)) for seed in (1, 2, 3)]
        assert len({result.value for result in results}) == 1

    def test_the_state_is_left_alone(self):
        view = view_of(lock(noise=0.5))
        before = view.state.copy()
        Rhea(simulations=50).search(view)
        assert np.array_equal(view.state, before)


class TestOtherGames:
    def test_takes_the_win(self):
        env = TicTacToe()
        env.reset(seed=0, options={"position": {"board": [1, 1, 0, 2, 2, 0, 0, 0, 0], "turn": 0}})
        assert Rhea(simulations=3000, length=3, samples=30).act(env) == 2

    @pytest.mark.parametrize("toy", [TicTacToe, Tron, Stakes])
    @pytest.mark.parametrize(
        "settings", [{}, {"opponents": "advised", "population": 4, "information": "full"}, {"reevaluate": True}]
    )
    def test_compiled_equals_interpreted(self, toy, settings):
        env = toy()
        env.reset(seed=2)
        view, agent = env.view(), {"simulations": 40, "length": 5, "discount": 0.9, **settings}
        plain = View(view.game.interpreted(), view.state, view.player)
        results = [Rhea(seed=5, **agent).search(each) for each in (view, plain)]
        assert results[0].genes.tolist() == results[1].genes.tolist()
        assert (results[0].value, results[0].steps) == (results[1].value, results[1].steps)

    def test_any_environment(self):
        import gymnasium as gym

        env = gym.make("FrozenLake-v1", is_slippery=False)
        env.reset(seed=0)
        assert Rhea(simulations=300, length=8, mutation=0.2).search(env).value in (0.0, 1.0)

    def test_ten_million_genes_are_drawn_within_the_time_limit(self):
        """In compiled code: one by one in Python they took ten seconds."""
        agent = Rhea(length=1000, population=10_000, time_limit=0.05)
        view = view_of(lock())
        agent.search(view)
        began = time.process_time()
        agent.search(view)
        assert time.process_time() - began < 3.0

    def test_the_only_legal_action_costs_no_search(self):
        @kernel(LEGAL)
        def one(state, player, actions):
            actions[0] = 2
            return 1

        agent = Rhea()
        game = lock()
        view = view_of(Game("one", 1, 4, game.template, lock_reset, lock_active, one, lock_step, lock_status))
        assert agent.act(view) == 2
        assert agent.last_result is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"length": 0}, r"length 0 is outside \[1"),
        ({"population": 0}, "population 0 is outside"),
        ({"mutation": 1.5}, "mutation 1.5 is outside"),
        ({"samples": 0.5}, "samples 0.5 is float"),
        ({"shift": 2}, "shift 2 is not True or False"),
        ({"reevaluate": 2}, "reevaluate 2 is not True or False"),
        ({"opponents": None}, "unknown opponents None; known: advised, uniform"),
        ({"opponent_model": "careful"}, "needs opponents='advised'"),
        ({"information": "all"}, "unknown information 'all'"),
        ({"model": 3}, "model 3 is no name"),
        ({"simulations": 0}, "simulations 0 is outside"),
        ({"horizon": 3}, "agent 'rhea' has no setting 'horizon'; known: discount, .*time_limit; class"),
    ],
)
def test_bad_settings_are_refused(settings, message):
    with pytest.raises((ValueError, TypeError), match=message):
        agents.make("rhea", **settings)


def test_game_over():
    view = view_of(lock(code=(1,)))
    view.game.step(view.state, np.zeros(1, np.int64), np.zeros(1))
    with pytest.raises(ValueError, match="not to choose"):
        Rhea().search(view)
