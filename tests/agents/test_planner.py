"""What all planners have from their base: budgets, slices, the only move, memory of an episode, work for a game."""

import copy
import math
import pickle
import signal
import time
from functools import partial
from typing import NamedTuple

import gymnasium
import one_ply  # examples/one_ply.py
import pytest
from gymnasium.wrappers import Autoreset
from numba import types
from one_ply import OnePly

import agents
from agents import budget as budget_module
from agents.arena import parse_agent
from agents.budget import NO_LIMIT, Budget, Clock
from agents.planner import Planner
from mcts_envs.core.contract import BYTES
from mcts_envs.core.kernel import kernel
from mcts_envs.core.rng import below
from mcts_envs.core.view import Episode, View
from tests.toys import TicTacToe, Tron, tic_tac_toe

RESULTS_OF_ONE = [("graph", "FrozenLake-v1"), ("runs", "FrozenLake-v1"), ("policy_search", "CartPole-v1")]


class Found(NamedTuple):
    action: int
    simulations: int
    seconds: float


@kernel(types.int64(types.int64, types.int64, BYTES))
def work_off(count, length, stream):
    """Draw as often as ``count`` simulations of a length; return what was drawn last."""
    last = 0
    for _ in range(count * length):
        last = below(stream, 1000)
    return last


class Toy(Planner[Found]):
    """A planner that is its kernel and its settings."""

    name = "toy"

    def __init__(self, *, length=100, **budget):
        super().__init__(**budget)
        self.length, self.prepared_for = length, []

    def prepare(self, game):
        self.prepared_for.append(game.name)
        return [game.name]

    def plan(self, view, clock):
        self.prepared(view.game)
        memory = self.memory(view)
        memory["searches"] = memory.get("searches", 0) + 1
        while count := clock.slice():
            work_off(count, self.length, self.stream)
            clock.spend(count, count * self.length)
        return Found(int(view.legal_actions()[-1]), clock.simulations, clock.seconds)


def started(make=TicTacToe, **settings):
    env = make(**settings)
    env.reset(seed=3)
    return env


class TestBudgets:
    @pytest.mark.parametrize("planner", [Toy, OnePly])
    @pytest.mark.parametrize("simulations", [1, 2, 77, 1000])
    def test_simulations_are_exact(self, planner, simulations):
        assert planner(simulations=simulations).search(started()).simulations == simulations

    def test_one_by_default_or_another(self):
        assert Toy().search(started()).simulations == 1000
        assert OnePly().search(started()).simulations == 200
        assert (repr(Toy()), repr(OnePly(depth=9))) == ("toy(simulations=1000)", "one_ply(simulations=200, depth=9)")
        assert repr(OnePly(time_limit=0.5)) == "one_ply(time_limit=0.5)"

    def test_steps(self):
        result = OnePly(max_steps=200).search(started())
        assert 200 <= result.steps < 209
        assert OnePly(max_steps=200, simulations=3).search(started()).simulations == 3

    @pytest.mark.parametrize(("planner", "settings"), [(OnePly, {}), (Toy, {}), (Toy, {"length": 100_000})])
    def test_time(self, planner, settings):
        agent, env = planner(time_limit=0.05, **settings), started()
        times = [agent.search(env).seconds for _ in range(10)]
        assert 0.04 < min(times) < 0.06
        assert planner(time_limit=1e-6, **settings).search(env).simulations == 1

    @pytest.mark.parametrize("limit", [{"simulations": 0}, {"time_limit": -1.0}, {"max_steps": 2.5}])
    def test_limits_are_checked(self, limit):
        with pytest.raises((ValueError, TypeError), match=f"{next(iter(limit))} .* is "):
            OnePly(**limit)

    def test_all_that_take_budgets_are_planners(self):
        for name in agents.NAMES:
            kind = agents._class(agents.NAMES[name])
            assert not kind.takes_budget or issubclass(kind, Planner)


class TestClock:
    @pytest.fixture
    def now(self, monkeypatch):
        """Seconds that pass only as the test says."""
        now = [100.0]
        monkeypatch.setattr(budget_module.time, "perf_counter", lambda: now[0])
        return now

    @pytest.mark.parametrize("limits", [{"max_steps": 100}, {"time_limit": 60.0}])
    def test_goes_on_after_a_slice_in_which_no_simulation_came_to_its_end(self, limits):
        clock = Clock(Budget(**limits))
        for simulations in (5, 0):
            assert clock.slice() > 0
            clock.spend(simulations, 1)
        assert clock.slice() > 0

    def test_slices_double_until_they_take_some_milliseconds(self, now):
        clock, counts = Clock(Budget(simulations=10_000)), []
        while count := clock.slice():
            counts.append(count)
            now[0] += count * 1e-5
            clock.spend(count, 0)
        assert sum(counts) == 10_000
        assert counts[:9] == [1, 2, 4, 8, 16, 32, 64, 128, 256]
        assert {round(count, -1) for count in counts[9:-1]} == {500}

    def test_and_take_half_of_the_time_left_at_most(self, now):
        clock = Clock(Budget(time_limit=0.004))
        while count := clock.slice():
            assert count == 1 or count * 1e-5 <= (clock.deadline - now[0]) / 2
            now[0] += count * 1e-5
            clock.spend(count, 0)
        assert 0.004 <= clock.seconds < 0.00402

    def test_some_at_least_are_made_however_short_the_time(self, now):
        clock, made = Clock(Budget(time_limit=0.01), now[0], least=3), 0
        while count := clock.slice():
            now[0] += 0.05 * count
            clock.spend(count, count)
            made += count
        assert made == 3

    def test_none_is_begun_that_has_time_for_less_than_half_of_itself(self, now):
        clock = Clock(Budget(time_limit=1.0), now[0])
        while count := clock.slice():
            now[0] += 0.3 * count
            clock.spend(count, count)
        assert clock.simulations == 3  # which took 0.9
        assert clock.seconds < 1.0

    def test_there_is_one_at_least_unless_something_was_found_before(self, now):
        for begun, slices in ((False, [1, 0]), (True, [0])):
            clock, found = Clock(Budget(time_limit=1e-6), now[0] - 1.0, begun=begun), []
            for _ in slices:
                found.append(clock.slice())
                clock.spend(found[-1], 0)
            assert found == slices

    def test_no_more_simulations_than_steps_are_left(self):
        clock = Clock(Budget(max_steps=100))
        while count := clock.slice():
            assert count <= 100 - clock.steps
            clock.spend(count, min(3 * count, 100 - clock.steps))  # compiled code stops at the last
        assert clock.steps == 100

    def test_whole_units_where_they_fit(self, now):
        clock, counts = Clock(Budget(simulations=200)), []
        while count := clock.slice(most=NO_LIMIT, unit=7):
            counts.append(count)
            clock.spend(count, 0)
        assert counts[:5] == [1, 2, 4, 7, 14]
        assert all(count % 7 == 0 for count in counts[3:-1])
        assert sum(counts) == 200
        assert Clock(Budget()).slice(most=0) == 0

    def test_the_time_of_a_slice_is_counted_in_what_was_done(self, now):
        clock = Clock(Budget(time_limit=1.0))
        for _ in range(12):
            count = clock.slice()
            now[0] += 1e-6
            clock.spend(0, 1, done=1)  # an iteration that was over sooner than the slice
        assert count == 2048  # 5,000 would fit
        clock.slice()
        now[0] += 0.1
        clock.spend(0, 10, done=10)
        assert clock.slice() == 1


class TestInterrupts:
    @pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="timers interrupt in another way there")
    @pytest.mark.parametrize("budget", [{"time_limit": 30.0}, {"simulations": 10**9}, {"max_steps": 10**12}])
    def test_a_search_ends_within_a_slice(self, budget, request):
        def interrupt(*_):
            raise KeyboardInterrupt

        request.addfinalizer(partial(signal.signal, signal.SIGALRM, signal.signal(signal.SIGALRM, interrupt)))
        request.addfinalizer(partial(signal.setitimer, signal.ITIMER_REAL, 0.0))
        agent, env = Toy(**budget), started()
        Toy(simulations=1).search(env)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        began = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            agent.search(env)
        assert time.perf_counter() - began < 2.0
        agent.budget = Budget(simulations=5)
        assert agent.search(env).simulations == 5


@pytest.mark.parametrize("name", ["mcts", "auto", "rhea", "best"])
def test_limits_are_settled_when_an_agent_is_made(name):
    agent = agents.make(name)
    with pytest.raises(AttributeError, match=rf"make another: agents.make\('{name}', simulations=500\)"):
        agent.simulations = 500
    Toy(simulations=5).time_limit = 3.0  # planners of one's own may hold what they like


def test_settings_are_settled_when_an_agent_has_acted():
    agent = agents.make("mcts", simulations=5)
    agent.horizon = 1
    assert agent.search(started()).steps == 5
    for name, value in {"horizon": 30, "discount": 0.5, "c": 2.0}.items():
        with pytest.raises(AttributeError, match=rf"{name} of an agent is settled .*\('mcts', {name}={value}\)"):
            setattr(agent, name, value)
    agent.label = "mine"


@pytest.mark.parametrize("name", ["graph", "runs", "policy_search", "auto"])
def test_settings_are_settled_in_environments_of_others_too(name):
    env = gymnasium.make("CartPole-v1")
    env.reset(seed=0)
    agent = agents.make(name, simulations=5)
    agent.act(env)
    with pytest.raises(AttributeError, match=rf"seed of an agent is settled .*\('{name}', seed=1\)"):
        agent.seed = 1


class TestLoading:
    """A planner that takes half a second to load at its first use."""

    class Slow(Toy):
        loaded = 0

        def plan(self, view, clock):
            if not self.loaded:
                time.sleep(0.5)
            self.loaded += 1
            return super().plan(view, clock)

    def test_the_first_search_has_all_of_its_time(self):
        agent, env = self.Slow(time_limit=0.2), started()
        result = agent.search(env)
        assert result.simulations > 1
        assert result.seconds < 0.5
        assert agent.memory(env.view()) == {"searches": 1}
        agent.search(env)
        assert agent.loaded == 3

    def test_it_draws_no_numbers(self):
        agent, env = self.Slow(time_limit=0.2, seed=4), started()
        agent.load(env.view())
        assert agent.stream.tolist() == self.Slow(seed=4).stream.tolist()

    def test_without_a_limit_of_time_there_is_none(self):
        agent = self.Slow(simulations=3)
        agent.search(started())
        assert agent.loaded == 1


class TestOnlyMove:
    @pytest.mark.parametrize("planner", [Toy, OnePly])
    def test_it_costs_no_search(self, planner):
        env, agent = TicTacToe(), planner(time_limit=100.0)
        env.reset(options={"position": {"board": [1, 2, 1, 1, 2, 2, 2, 1, 0], "turn": 0}})
        assert agent.act(env) == 8
        assert agent.last_result is None

    def test_but_is_searched_when_asked_for(self):
        env = TicTacToe()
        env.reset(options={"position": {"board": [1, 2, 1, 1, 2, 2, 2, 1, 0], "turn": 0}})
        assert Toy(simulations=5).search(env).simulations == 5

    def test_a_game_that_is_over_is_refused(self):
        env = started()
        while env.legal_actions().size:
            env.step(env.legal_actions()[0])
        with pytest.raises(ValueError, match=r"player \d is not to choose now; nobody is; .* call reset\(\)"):
            Toy().search(env)

    def test_another_turn_is_named(self):
        env = started()
        with pytest.raises(ValueError, match="player 1 is not to choose now; those who are: 0"):
            Toy().search(View(env.game, env.view().state, 1))


class TestMemory:
    def test_of_each_player_until_the_next_episode(self):
        game, agent = tic_tac_toe(), Toy(simulations=1)
        state, first, second = started().view().state, Episode(), Episode()
        found = []
        for player, episode in ((0, first), (1, first), (0, first), (0, second), (0, None), (0, None), (0, first)):
            view = View(game, state, player, episode)
            found.append(agent.memory(view).get("searches", 0))
            if player == 0:
                agent.search(view)
        assert found == [0, 0, 1, 0, 0, 0, 2]
        assert len(agent._memory) == 2
        del view, episode, first
        assert len(agent._memory) == 1  # games that nobody plays any more are forgotten
        agent.reseed(0)
        assert agent.memory(View(game, state, 0, second)) == {}

    def test_a_reset_begins_anew(self):
        env, agent = started(), Toy(simulations=1)
        for _ in range(2):
            assert agent.memory(env.view()) == {}
            agent.act(env)
            assert agent.memory(env.view()) == {"searches": 1}
            env.reset()

    @pytest.mark.parametrize("again", [copy.deepcopy, lambda agent: pickle.loads(pickle.dumps(agent))])
    def test_copies_begin_without_it(self, again):
        env, agent = started(), agents.make("mcts", simulations=20, loop="closed", reuse=True)
        agent.search(env)
        twin = again(agent)
        assert (twin._memory, twin._prepared) == (None, None)
        assert twin.search(env).visits.sum() == 20


@pytest.mark.parametrize(
    ("name", "env_id"),
    [*((name, "mcts_envs/WallSurvival-v0") for name in ("mcts", "alpha_beta", "rhea")), *RESULTS_OF_ONE],
)
def test_results_are_equal_to_themselves_alone(name, env_id):
    env = agents.remember(gymnasium.make(env_id))
    env.reset(seed=0)
    agent = agents.make(name, simulations=5) if name != "alpha_beta" else agents.make(name, max_steps=100)
    one, other = (agent.search(env) for _ in range(2))
    assert one == one != other
    assert [one, other].index(other) == 1
    assert {one: 1, other: 2}[other] == 2


@pytest.mark.parametrize("name", ["alpha_beta", "rhea", "runs", "graph", "policy_search", "auto"])
def test_what_does_not_go_on_says_what_does(name):
    with pytest.raises(TypeError, match=f"{name} has no search that goes on; start one of an 'mcts' agent"):
        agents.make(name).start(started())


def test_who_does_not_search_says_who_does():
    with pytest.raises(TypeError, match=r"scripted acts without a search; call act\(env\), or search with a planner"):
        agents.make("scripted").search(started())


def test_what_is_prepared_is_kept_until_another_game_is_played():
    agent, one, other = Toy(simulations=1), started(), started(Tron)
    for env in (one, one, other, other, one):
        agent.act(env)
        assert agent.prepared(env.game) is agent.prepared(env.game)
    assert agent.prepared_for == [one.game.name, other.game.name, one.game.name]


def test_what_is_prepared_is_that_of_the_game_where_threads_play_several(monkeypatch):
    """Another thread asks for another game when this one has just seen that its own is there."""
    agent, one, other = Toy(simulations=1), started().game, started(Tron).game
    ours = agent.prepared(one)

    def alike(held, game):
        if game is one:
            agent.prepared(other)
        return held is game

    monkeypatch.setattr("agents.base._alike", alike)
    assert agent.prepared(one) is ours


class TestExample:
    PATH = f"{one_ply.__file__}:OnePly"

    def test_same_seed_same_result(self):
        env = started()
        results = [agents.make(self.PATH, seed=seed, simulations=50).search(env) for seed in (1, 1, 2)]
        values = [result.values.tolist() for result in results]
        assert values[0] == values[1] != values[2]

    def test_it_is_budgeted_by_name_as_the_others_are(self):
        assert agents.takes_budget(self.PATH)
        assert parse_agent(self.PATH, {"simulations": 7}).settings == {"simulations": 7}
        assert not agents.takes_budget("agents.planners.builtin:UniformAgent")

    def test_it_takes_the_win_and_leaves_the_state_alone(self):
        env = TicTacToe()
        env.reset(options={"position": {"board": [1, 1, 0, 2, 2, 0, 0, 0, 0], "turn": 0}})
        before = env.clone_state()
        assert OnePly(simulations=500).act(env) == 2
        assert env.clone_state() == before

    def test_where_players_choose_at_once_and_in_any_environment(self):
        assert OnePly().act(started(Tron)) in range(4)
        env = gymnasium.make("CartPole-v1")
        env.reset(seed=0)
        assert OnePly(simulations=20).search(env).values.min() > 1.0
        assert math.isfinite(OnePly(simulations=20).search(env).seconds)


def test_policies_play_what_is_legal_where_chance_led_elsewhere():
    env = gymnasium.make("mcts_envs/LaneDefense3x3-v0")
    for seed in range(20):
        env.reset(seed=seed)
        agent, over = agents.make("policy_search", simulations=20, horizon=30, seed=seed), False
        while not over:
            action = agent.search(env).action
            assert env.unwrapped.action_masks()[action]
            over = any(env.step(action)[2:4])


@pytest.mark.parametrize("env_id", ["mcts_envs/LaneDefense3x3-v0", "mcts_envs/BomberDuel-v0", "FrozenLake-v1"])
def test_episodes_follow_each_other_in_autoreset(env_id, monkeypatch):
    env, agent = Autoreset(gymnasium.make(env_id)), agents.make("mcts", simulations=3)
    choose, asked, ended = agent.choose, [], []
    monkeypatch.setattr(agent, "choose", lambda view: asked.append(1) or choose(view))
    env.reset(seed=0)
    for _ in range(60):
        *_, terminated, truncated, _ = env.step(agent.act(env))
        ended.append(terminated or truncated)
    assert sum(ended) > 1
    assert len(asked) == 60 - sum(ended[:-1])
