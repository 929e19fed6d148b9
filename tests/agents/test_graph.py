"""The search in a graph of states."""

from concurrent.futures import ThreadPoolExecutor

import gymnasium as gym
import numpy as np
import pytest
from pettingzoo.classic.tictactoe import tictactoe

import agents
from agents.planners.places import Places, _Sweep
from tests.bridge.test_strength import values_of
from tests.bridge.worlds import TAXI, total
from tests.search.tables import END, table_game, view_of


@pytest.mark.parametrize(
    "wrap", [pytest.param(agents.remember, marks=pytest.mark.slow), lambda env: env], ids=["remembered", "plain"]
)
def test_the_cliff_is_walked_along(wrap):
    env = wrap(gym.make("CliffWalking-v1"))
    assert total(env, agents.make("graph", simulations=800, seed=1), 1, most=30) == -13


def test_what_a_time_limit_cuts_off_is_not_an_end():
    """Cut off by it, walks along the cliff would have looked shorter than they are."""
    env = gym.make("CliffWalking-v1", max_episode_steps=20)
    env.reset(seed=1)
    result = agents.make("graph", simulations=600, seed=1).search(env)
    assert result.value == pytest.approx(-sum(0.99**t for t in range(13)))


@pytest.mark.slow
def test_values_of_slippery_ice_are_those_of_value_iteration():
    env = agents.remember(gym.make("FrozenLake-v1"))
    env.reset(seed=1)
    known = values_of(env, 2000, 0.99)
    result = agents.make("graph", simulations=2000, seed=2).search(env)
    assert abs(result.value - known[0]) < 0.15
    assert result.action == 0
    assert result.places >= 11
    assert result.line[0] == 0
    assert "value=" in repr(result)
    assert "states=" in repr(result)
    assert result.table().startswith("  action")


class Dice(gym.Env):
    """Moves on a line of six, down or up by a die, or is paid by it; the last place pays, the third costs."""

    observation_space, action_space = gym.spaces.MultiDiscrete([6, 5]), gym.spaces.Discrete(3)

    def __init__(self, limit=4):
        self.limit = limit

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.t = 2, 0
        return np.array([self.at, self.t]), {}

    def step(self, action):
        die = int(self.np_random.integers(3))
        self.at, paid = self.moved(self.at, action, die)
        self.t += 1
        return np.array([self.at, self.t]), paid, self.t >= self.limit, False, {}

    @staticmethod
    def moved(at, action, die):
        at = max(0, at - die) if action == 0 else min(5, at + die) if action == 1 else at
        return at, 0.4 * die * (action == 2) + 1.5 * (at == 5) - 0.7 * (at == 2)

    def values(self):
        """Return what each action is worth at the start [3]."""
        worth = np.zeros(6)
        for _ in range(self.limit):
            outcomes = [[[self.moved(at, a, die) for die in range(3)] for a in range(3)] for at in range(6)]
            each = np.array([[np.mean([paid + worth[to] for to, paid in dice]) for dice in row] for row in outcomes])
            worth = each.max(1)
        return each[2]


@pytest.mark.parametrize("limit", [1, 2, 4])
def test_what_fell_badly_once_is_tried_again(limit):
    env = Dice(limit)
    env.reset(seed=1)
    exact = env.values()
    for seed in range(5):
        result = agents.make("graph", simulations=1000, discount=1.0, seed=seed).search(env)
        assert exact[result.action] == exact.max()
        assert abs(result.value - exact.max()) < 0.25


class Ticket(gym.Env):
    """Pays 1, or 10 in three cases of ten."""

    observation_space, action_space = gym.spaces.Discrete(1), gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 0, 10.0 * (self.np_random.random() < 0.3) if action else 1.0, True, False, {}


@pytest.mark.parametrize("seed", range(6))
def test_where_all_is_known_what_was_tried_once_is_tried_again(seed):
    env = Ticket()
    env.reset(seed=0)
    assert agents.make("graph", simulations=200, seed=seed).search(env).action == 1


@pytest.mark.parametrize("seed", [3, 6, 7, 13])
def test_what_was_met_when_little_was_known_is_looked_at_too(seed):
    """A binary tree of payments: what is hoped for in a place that has not been left yet grows with what was found."""
    pays = np.random.default_rng(seed).uniform(-1.0, 1.0, (15, 2))
    places = {i: (1, {a: (2 * i + 1 + a if i < 7 else END, float(pays[i, a])) for a in (0, 1)}) for i in range(15)}
    result = agents.make("graph", simulations=300, seed=seed).search(view_of(table_game(places, players=1)))
    worth = np.zeros(31)
    for i in reversed(range(15)):
        worth[i] = max(pays[i] + 0.99 * worth[2 * i + 1 : 2 * i + 3])
    assert result.value == pytest.approx(worth[0])


def test_a_small_payment_that_comes_round_and_round_is_left_for_a_larger_one():
    places = {0: (1, {0: (0, 0.03), 1: (1, -0.2)}), 1: (1, {0: (0, 0.6), 1: (0, -0.5)})}
    result = agents.make("graph", simulations=200, discount=0.9, seed=1).search(view_of(table_game(places, players=1)))
    assert result.action == 1
    assert result.steps < 1000  # to the horizon, 200 steps, each walk would go round and round


@pytest.mark.parametrize("length", [2, 9, 24])
def test_a_treasure_beyond_costs_is_found(length):
    """Of each place one can leave for nothing, or go on for a cost; the last pays. There is 2 * length to try."""
    places = {i: (1, {0: (END, 0.0), 1: (i + 1, -1.0)}) for i in range(length - 1)}
    places[length - 1] = (1, {0: (END, 0.0), 1: (END, 200.0)})
    agent = agents.make("graph", simulations=4 * length, discount=1.0, seed=1)
    result = agent.search(view_of(table_game(places, players=1)))
    assert (result.action, result.value) == (1, 201.0 - length)
    assert result.line == [1] * length


class Stairs(gym.Env):
    """Of seven actions one leads up, another at each step, though not always, and one down."""

    observation_space, action_space = gym.spaces.Discrete(40), gym.spaces.Discrete(7)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return self.at, {}

    def step(self, action):
        up = action == self.at % 7 and self.np_random.random() < 0.7
        self.at += 1 if up else -(self.at > 0 and action == (self.at + 1) % 7)
        return self.at, float(self.at == 39), self.at == 39, False, {}


@pytest.mark.parametrize("limit", [30, 60])
def test_a_near_end_of_the_episode_does_not_make_the_unknown_worth_less_than_the_known(limit):
    """Bonuses of circles add up to more than the steps that are left, in which nothing new was tried any more."""
    env = gym.wrappers.TimeLimit(Stairs(), limit)
    env.reset(seed=0)
    planner = agents.make("graph", simulations=4, seed=0)
    for _ in range(25):
        env.step(planner.act(env))
    assert planner.last_result.places > limit / 2


class Line(gym.Env):
    """Steps down or up from place 3 of a line: each pays ``each``, the first end ``low`` and the other ``high``."""

    observation_space, action_space = gym.spaces.Discrete(13), gym.spaces.Discrete(2)

    def __init__(self, each, low, high):
        self.each, self.ends = each, {0: low, 12: high}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 3
        return self.at, {}

    def step(self, action):
        self.at += 1 if action else -1
        return self.at, float(self.ends.get(self.at, self.each)), self.at in self.ends, False, {}


@pytest.mark.parametrize(
    ("each", "low", "limit", "best"), [(0.0, 1.0, 20, 10.0), (0.0, 1.0, 8, 1.0), (1.0, 20.0, 7, 26.0)]
)
def test_no_more_is_counted_on_than_there_is_time_for(each, low, limit, best):
    """What is further than the steps that are left is left alone; what can be had at last is put off until then."""
    env = gym.wrappers.TimeLimit(Line(each, low, 10.0), limit)
    agent = agents.make("graph", simulations=60, seed=1)
    assert total(env, agent, 1) == best
    env.reset(seed=1)
    assert len(agent.search(env).line) <= limit


def test_a_graph_is_kept_until_the_episode_ends():
    env = agents.remember(gym.make("CliffWalking-v1"))
    env.reset(seed=1)
    agent = agents.make("graph", simulations=20, seed=1)
    first = agent.search(env)
    env.step(0)
    second = agent.search(env)
    assert second.places > first.places
    assert second.simulations == 20
    env.reset(seed=1)
    assert np.isclose(agents.make("graph", simulations=20, seed=1).search(env).value, first.value)


def test_after_an_interrupt_while_values_settle_the_graph_grows_on(monkeypatch):
    env = agents.remember(gym.make("CliffWalking-v1"))
    env.reset(seed=1)
    agent = agents.make("graph", simulations=20, seed=1)
    first = agent.search(env)
    with monkeypatch.context() as patch:
        patch.setattr(_Sweep, "greatest", lambda self, each: 1 / 0)
        with pytest.raises(ZeroDivisionError) as held:  # as a notebook holds it
            agent.search(env)
    assert agent.search(env).places > first.places
    assert held.tb is not None


def test_threads_that_search_the_same_at_once_grow_graphs_of_their_own(monkeypatch):
    env = agents.remember(gym.make("CliffWalking-v1"))
    env.reset(seed=1)
    agent = agents.make("graph", simulations=20, seed=1)
    settle, within = Places.settle, []

    def search_within(places, deadline):
        if not within:
            within.append(None)
            with ThreadPoolExecutor(1) as thread:
                within[0] = thread.submit(agent.search, env).result()
        settle(places, deadline)

    with monkeypatch.context() as patch:
        patch.setattr(Places, "settle", search_within)
        first = agent.search(env)
    fresh = agents.make("graph", simulations=20, seed=1).search(env)
    assert max(first.places, within[0].places) < 1.5 * fresh.places
    assert agent.search(env).places > first.places


def test_what_was_not_tried_yet_is_looked_at_before_what_is_known():
    env = agents.remember(gym.make("CliffWalking-v1"))
    env.reset(seed=1)
    assert agents.make("graph", max_steps=600, seed=1).search(env).places > 20  # walks in circles had seen 5
    taxi = agents.remember(gym.make(TAXI))
    assert np.mean([total(taxi, agents.make("graph", max_steps=300, seed=seed), seed) for seed in range(3)]) > 5


def test_graphs_are_for_one_player():
    env = tictactoe.env()
    env.reset(seed=1)
    with pytest.raises(ValueError, match="graph plays games of one player; tictactoe_v3 has 2: use mcts"):
        agents.make("graph").act(env)


def test_graphs_serve_in_games_of_ours():
    env = gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(seed=1)
    result = agents.make("graph", simulations=50).search(env)
    assert result.copies is None
    assert result.action in env.unwrapped.view().legal_actions()
