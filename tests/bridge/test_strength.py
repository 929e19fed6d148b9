"""How well foreign environments are played: games solved, won and not lost."""

import math
import random

import gymnasium as gym
import numpy as np
import pytest
from pettingzoo.classic.connect_four import connect_four
from pettingzoo.classic.tictactoe import tictactoe

from agents import bridge
from tests.bridge.worlds import TAXI, Walk, mcts, valued


def lines(cells):
    triples = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    return [{cells[i] for i in triple} for triple in triples]


@pytest.mark.parametrize(
    ("moves", "best"),
    [([0, 3, 1, 4], {2}), ([0, 3, 8, 4], {5}), ([4, 0, 8, 2], {1}), ([0, 3, 1, 4, 8], {2, 5})],
    ids=["win", "block", "block the edge", "win or block"],
)
def test_tic_tac_toe_wins_are_taken_and_losses_blocked(moves, best):
    env = tictactoe.env()
    env.reset(seed=1)
    for move in moves:
        env.step(move)
    for seed in range(3):
        assert mcts(300, seed=seed).act(env) in best


def against_random(module, games, agent, seed=0):
    """Return the rewards of an agent in games against a random player, with changing first moves."""
    chance, rewards = random.Random(seed), []
    for game in range(games):
        env = module.env()
        env.reset(seed=game)
        mine = env.possible_agents[game % 2]
        total = 0.0
        for name in env.agent_iter():
            seen, reward, terminated, truncated, _ = env.last()
            total += reward if name == mine else 0.0
            if terminated or truncated:
                env.step(None)
                continue
            legal = np.flatnonzero(seen["action_mask"]).tolist()
            env.step(agent.act(env) if name == mine else chance.choice(legal))
        rewards.append(total)
    return rewards


def test_tic_tac_toe_is_not_lost_to_random():
    rewards = against_random(tictactoe, 8, mcts(200))
    assert min(rewards) >= 0
    assert sum(rewards) >= 5


def test_connect_four_is_won_from_random():
    env = connect_four.env()
    env.reset(seed=1)
    for move in (3, 0, 3, 0, 3, 0):
        env.step(move)
    assert mcts(100).act(env) == 3  # four in a column
    env.step(6)
    assert mcts(100).act(env) == 0
    assert against_random(connect_four, 1, mcts(60)) == [1]


@pytest.mark.slow
def test_tic_tac_toe_is_never_lost_to_random_in_many_games():
    rewards = against_random(tictactoe, 100, mcts(600))
    assert min(rewards) >= 0


@pytest.mark.slow
def test_connect_four_is_won_from_random_in_many_games():
    assert sum(against_random(connect_four, 10, mcts(150))) == 10


def play(env, agent, seed):
    """Return the return of an episode."""
    env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        _, reward, terminated, truncated, _ = env.step(agent.act(env))
        total, over = total + reward, terminated or truncated
    return total


def values_of(env, steps, discount):
    """Return the best return from every state in so many steps: value iteration in the environment's own table."""
    table = env.unwrapped.P
    values = [0.0] * len(table)
    for _ in range(steps):
        values = [
            max(
                sum(p * (r + discount * values[to] * (not end)) for p, to, r, end in outcomes)
                for outcomes in at.values()
            )
            for at in table.values()
        ]
    return values


def crossings(games, simulations):
    """Return how often slippery ice was crossed, and how often the best policy would: one step of chance is planned."""
    env = gym.make("FrozenLake-v1")
    known = values_of(env, 100, 0.99)

    def evaluate(state, values):
        values[0] = known[state.env.s]

    agent = mcts(simulations, loop="closed", horizon=1, discount=0.99, c=1.0)
    crossed = 0.0
    for game in range(games):
        env.reset(seed=game)
        view = valued(bridge.view(env), evaluate)
        over = False
        while not over:
            _, reward, terminated, truncated, _ = env.step(agent.choose(view))
            over = terminated or truncated
        crossed += reward
    return crossed / games, values_of(env, 100, 1.0)[0]


@pytest.mark.parametrize(
    ("games", "simulations"), [(12, 50), pytest.param(100, 300, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_slippery_ice_is_crossed_as_often_as_can_be_and_no_oftener(games, simulations):
    rate, best = crossings(games, simulations)
    assert abs(rate - best) < 3 * math.sqrt(best * (1 - best) / games)


def test_a_pole_is_balanced():
    env = gym.make("CartPole-v1", max_episode_steps=150)
    assert play(env, mcts(32, horizon=15), 0) == 150


@pytest.mark.slow
def test_a_pole_is_balanced_to_the_end_ten_times():
    env = gym.make("CartPole-v1")
    assert [play(env, mcts(128, horizon=15, seed=seed), seed) for seed in range(10)] == [500.0] * 10


TAXI_SETTINGS = {"loop": "closed", "reuse": True, "discount": 0.97, "rollout_depth": 60, "c": 0.1}


@pytest.mark.slow
def test_taxi_rides_arrive_soon():
    env = gym.make(TAXI)
    returns = [play(env, mcts(3000, seed=seed, **TAXI_SETTINGS), 1000 + seed) for seed in range(6)]
    assert min(returns) > -20  # 20 for the guest, 1 less for every step: about 8 at best on average
    assert np.mean(returns) > 1


def test_evaluate_policy_takes_planners_of_foreign_environments():
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.monitor import Monitor

    for env_id in ("FrozenLake-v1", "CartPole-v1"):
        env = Monitor(gym.make(env_id, max_episode_steps=30))
        agent = mcts(8, horizon=15).bind(env)
        returns, lengths = evaluate_policy(agent, env, n_eval_episodes=2, return_episode_rewards=True)
        assert len(returns) == len(lengths) == 2
        assert max(lengths) <= 30
    shifted = Walk(first=3)
    returns, _ = evaluate_policy(
        mcts(60).bind(shifted), Monitor(shifted), n_eval_episodes=1, return_episode_rewards=True
    )
    assert returns == [5.0]
