"""Searches that end when their decision cannot change any more."""

import gymnasium as gym
import pytest

import agents
import mcts_envs  # noqa: F401
from agents.budget import NO_LIMIT, Budget, Clock

POLICY = {"select": "puct", "policy": "maskable_ppo", "evaluate": "policy"}
GAMES = [
    ("mcts_envs/WallSurvival-v0", {"board_size": 6}, POLICY, 300),
    ("mcts_envs/LaneDefense3x3-v0", {}, {"c": 0.05}, 300),
    ("mcts_envs/BomberDuel-v0", {}, {"horizon": 10}, 150),
    ("FrozenLake-v1", {}, {}, 60),
]


@pytest.mark.parametrize(("id", "settings", "how", "simulations"), GAMES)
def test_what_is_played_stays_the_same(id, settings, how, simulations):
    env, spent = gym.make(id, **settings), []
    env.reset(seed=1)
    for seed in range(8):
        whole = agents.make("mcts", simulations=simulations, seed=seed, **how).search(env)
        short = agents.make("mcts", simulations=simulations, seed=seed, early_stop=True, **how).search(env)
        assert short.action == whole.action
        assert short.simulations <= whole.simulations == simulations
        first, second = sorted(short.visits.tolist(), reverse=True)[:2]
        assert short.simulations == simulations or first - second > simulations - short.simulations
        spent.append(short.simulations)
        if any(env.step(whole.action)[2:4]):
            env.reset()
    if "c" in how or "policy" in how:
        assert min(spent) < simulations


def test_time_and_steps_that_are_left_count_as_simulations():
    clock = Clock(Budget(simulations=100, max_steps=1000))
    clock.spend(40, 930)
    assert [clock.until_fewer_than(lead, 1) for lead in (0, 10, 60, 61, 80)] == [31, 26, 1, 0, 0]
    assert clock.until_fewer_than(0, 20) == 4
    clock.spend(1, 40)
    assert [clock.until_fewer_than(lead, 1) for lead in (0, 30, 31)] == [16, 1, 0]
    clock = Clock(Budget(time_limit=1000.0))
    assert clock.until_fewer_than(1, 1) == 0
    clock.slice()
    clock.spend(10, 10)
    assert 0 < clock.until_fewer_than(1, 1) < NO_LIMIT


@pytest.mark.parametrize("budget", [{"simulations": 300}, {"max_steps": 2000}])
def test_where_it_stops_does_not_depend_on_time(budget, monkeypatch):
    env = gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(seed=1)
    found = []
    for seconds in (1e-9, 1e-4, 1.0):
        monkeypatch.setattr("agents.budget.SLICE_SECONDS", seconds)
        found.append(agents.make("mcts", c=0.05, early_stop=True, seed=3, **budget).search(env))
    visits = [result.visits.tolist() for result in found]
    assert visits[0] == visits[1] == visits[2]
    if "simulations" in budget:
        second, first = sorted(visits[0])[-2:]
        assert found[0].simulations < 300
        assert first - second - (300 - found[0].simulations) in (1, 2)
    else:
        assert found[0].steps < 2000


def test_a_search_for_a_time_ends_early():
    env = gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(seed=7)
    result = agents.make("mcts", time_limit=3.0, early_stop=True, c=0.02).search(env)
    assert result.seconds < 2.5
    first, second = sorted(result.visits.tolist(), reverse=True)[:2]
    assert first > second


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("mcts", {"recommend": "max_value"}),
        ("mcts", {"threads": 2}),
        ("flat_mc", {}),
        ("gumbel", {}),
        ("halving", {}),
        ("determinized", {}),
    ],
)
def test_it_needs_a_decision_by_visits(name, settings):
    with pytest.raises(ValueError, match="early_stop=True is for 'mcts' agents"):
        agents.make(name, simulations=10, early_stop=True, **settings)
