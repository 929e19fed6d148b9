"""Our search beside others: OpenSpiel's in C++ on connect four, and gymcts on an environment of Gymnasium."""

import logging
import random
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import agents
from agents.arena.statistics.estimates import wilson
from speed.figure import Figure, least

sys.path.append(str(Path(__file__).parents[2] / "examples"))

C = 2.0**0.5
"""Exploration constant of both sides on returns of -1, 0 and 1."""


def _bot() -> str:
    return f"OpenSpiel {version('open_spiel')}, MCTSBot in C++"


def _open_spiel(simulations: int, seed: int) -> tuple[Any, Any]:
    import pyspiel

    game = pyspiel.load_game("connect_four")
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    return game, pyspiel.MCTSBot(game, evaluator, C, simulations, 1000, False, seed, False)


def _ours(simulations: int, seed: int = 0) -> Any:
    return agents.make("mcts", simulations=simulations, c=C, normalize=False, loop="closed", seed=seed)


def connect_four(rounds: int) -> list[Figure]:
    """Measure simulations a second from the empty board, random rollouts, one thread, against OpenSpiel's MCTSBot."""
    import connect_four  # noqa: F401  (registers the environment)

    env = gym.make("ConnectFour-v0")
    env.reset(seed=0)
    figures = []
    for simulations in (1_000, 10_000):
        game, bot = _open_spiel(simulations, 7)
        state, agent, count = game.new_initial_state(), _ours(simulations), simulations

        def theirs(bot: Any = bot, state: Any = state, count: int = count) -> int:
            bot.mcts_search(state)
            return count

        def ours(agent: Any = agent) -> int:
            return int(agent.search(env).simulations)

        us, them = least(rounds, ours, theirs)
        what, times = f"connect four, {simulations:,} simulations", f"{them / us:.2f} x as many"
        figures.append(Figure(what, 1e3 / us, "k simulations/s", _bot(), 1e3 / them, times))
    return figures


def match(games: int = 400, simulations: int = 1_000) -> list[Figure]:
    """Play connect four against OpenSpiel's MCTSBot with equally many simulations, sides in turn."""
    import connect_four

    env = gym.make("ConnectFour-v0").unwrapped
    points = np.zeros(games)
    for i in range(games):
        env.reset(seed=i)
        game, bot = _open_spiel(simulations, i + 1)
        state, agent, ours = game.new_initial_state(), _ours(simulations, i), i % 2
        board, rewards = connect_four.GAME.new_state(), np.zeros(2)
        connect_four.GAME.reset(board, np.uint64(i))
        while not state.is_terminal():
            player = state.current_player()
            action = agent.act(_view(board, player)) if player == ours else bot.step(state)
            state.apply_action(action)
            connect_four.GAME.step(board, np.full(2, action), rewards)
        points[i] = (state.returns()[ours] + 1.0) / 2.0
    rate, low, high = (100.0 * value for value in wilson(float(points.sum()), games))
    what, verdict = f"connect four, {games} games at {simulations:,} each", f"95 % interval {low:.1f} to {high:.1f}"
    return [Figure(what, rate, "% of points", _bot(), 100.0 - rate, verdict)]


def _view(board: Any, player: int) -> Any:
    import connect_four

    from mcts_envs.core.view import View

    return View(connect_four.GAME, board, player)


SINGLE = {
    "CartPole-v1": 300,
    "Blackjack-v1": 300,
    "FrozenLake-v1": 200,
    "CliffWalking-v1": 60,
    "Taxi-v4": 60,
    "MountainCar-v0": 60,
    "Acrobot-v1": 20,
}
"""Environments of Gymnasium, and how many simulations of them are timed."""


def single(rounds: int) -> list[Figure]:
    """Measure simulations a second in environments of Gymnasium, both with their defaults, against gymcts.

    Its rollouts go to the end. Ours do where that is near. The environment's own steps, as many as our search makes,
    are timed alone too: no search of so many is quicker, but where an adapter's copies are.
    """
    from gymcts.gymcts_agent import GymctsAgent
    from gymcts.gymcts_deepcopy_wrapper import DeepCopyMCTSGymEnvWrapper

    logging.getLogger("gymcts").setLevel(logging.ERROR)
    random.seed(0)
    figures = []
    for id, simulations in SINGLE.items():
        env = gym.make(id)
        env.reset(seed=0)
        agent = agents.make("mcts", simulations=simulations)
        steps = agent.search(env).steps

        def ours(env: Any = env, agent: Any = agent) -> int:
            return int(agent.search(env).simulations)

        def theirs(id: str = id, simulations: int = simulations) -> int:
            wrapped = DeepCopyMCTSGymEnvWrapper(gym.make(id))
            wrapped.reset(seed=0)
            GymctsAgent(env=wrapped).vanilla_mcts_search(num_simulations=simulations)
            return simulations

        def alone(id: str = id, simulations: int = simulations, steps: int = steps) -> tuple[int, float]:
            return simulations, _stepped(gym.make(id).unwrapped, steps)

        us, them, bare = least(min(rounds, 5), ours, theirs, alone)
        rival = f"gymcts {version('gymcts')}"
        for what, took in (f"{id}, {simulations} simulations", us), (f"{id}, its steps alone", bare):
            figures.append(
                Figure(what, 1e3 / took, "k simulations/s", rival, 1e3 / them, f"{them / took:.1f} x as many")
            )
    return figures


def _stepped(env: Any, steps: int) -> float:
    """Make so many random steps; return the seconds that anything else took."""
    actions = np.random.default_rng(0).integers(env.action_space.n, size=steps).tolist()
    began = time.perf_counter()
    env.reset(seed=0)
    idle = time.perf_counter() - began
    for action in actions:
        if env.step(action)[2]:
            began = time.perf_counter()
            env.reset()
            idle += time.perf_counter() - began
    return idle


SPIEL = {"tic_tac_toe": 300, "connect_four": 200, "othello": 60, "breakthrough": 60, "pig": 60, "backgammon": 20}
"""Games of OpenSpiel that its Python bot plays, and how many simulations of them are timed."""


def in_python(rounds: int) -> list[Figure]:
    """Measure simulations a second in OpenSpiel's games through Shimmy, against its Python bot on the game itself.

    Random games are timed alone too: no search in Python whose simulations go to the end makes more of them.
    """
    import pyspiel
    from open_spiel.python.algorithms import mcts
    from shimmy import OpenSpielCompatibilityV0

    figures = []
    for name, simulations in SPIEL.items():
        env = OpenSpielCompatibilityV0(game_name=name)
        env.reset(seed=0)
        agent, chance = agents.make("mcts", simulations=simulations, c=C), np.random.RandomState(0)
        game = pyspiel.load_game(name)
        evaluator = mcts.RandomRolloutEvaluator(1, chance)
        bot = mcts.MCTSBot(game, C, simulations, evaluator, solve=False, random_state=chance)
        state = game.new_initial_state()
        while state.is_chance_node():
            state.apply_action(state.chance_outcomes()[0][0])

        def ours(env: Any = env, agent: Any = agent) -> int:
            return int(agent.search(env).simulations)

        def theirs(bot: Any = bot, state: Any = state, simulations: int = simulations) -> int:
            bot.mcts_search(state)
            return simulations

        def alone(state: Any = state, simulations: int = simulations) -> int:
            for _ in range(simulations):
                _played_out(state.clone())
            return simulations

        us, them, bare = least(min(rounds, 5), ours, theirs, alone)
        rival, ours_is = f"OpenSpiel {version('open_spiel')}, MCTSBot in Python", f"{name} through Shimmy"
        for what, took in (f"{ours_is}, {simulations} simulations", us), (f"{name}, random games alone", bare):
            figures.append(
                Figure(what, 1e3 / took, "k simulations/s", rival, 1e3 / them, f"{them / took:.2f} x as many")
            )
    return figures


def _played_out(state: Any) -> None:
    """Play a game of OpenSpiel at random to the end; the outcomes of chance are taken to be equally likely."""
    while (player := state.current_player()) >= -1:
        actions = state.legal_actions() if player >= 0 else [action for action, _ in state.chance_outcomes()]
        state.apply_action(actions[int(random.random() * len(actions))])
