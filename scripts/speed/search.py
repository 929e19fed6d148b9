"""The search: what the tree costs, what threads gain, and how soon the first search is done."""

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym

import agents
from speed.figure import Figure, least

FIRST = """
import gymnasium as gym, mcts_envs, agents
env = gym.make({id!r})
env.reset(seed=0)
agents.make("mcts", simulations=100).search(env)
"""


def searches(id: str, rounds: int) -> list[Figure]:
    """Measure tree search against flat Monte Carlo: what the tree costs."""
    env = gym.make(id)
    env.reset(seed=0)
    tree, flat = agents.make("mcts", simulations=3_000), agents.make("flat_mc", simulations=3_000)

    def run(agent: Any) -> Callable[[], int]:
        def work() -> int:
            return int(agent.search(env).simulations)

        return work

    uct, rollouts = least(rounds, run(tree), run(flat))
    share = f"{rollouts / uct:.2f} of it"
    return [Figure(f"{id}: UCT", 1e3 / uct, "k simulations/s", "flat Monte Carlo", 1e3 / rollouts, share)]


_PATHS, _MEASURED = {"movement": "path"}, "botbowl, step by step (measured)"
_TUTORIAL = "botbowl's tutorial, on paths (published)"
PUBLISHED = (
    ("BomberPlanning-v0", {}, "mcts_aiide", 200, "java-pommerman, copy and 12 steps (published)", 38_000),
    ("Football1-v0", {}, "mcts_tutorial", 2038, _MEASURED, 900),
    ("Football11-v0", {}, "mcts_tutorial", 951, _MEASURED, 260),
    ("Football1-v0", {}, "mcts_tutorial_turn", 1592, _MEASURED, 440),
    ("Football11-v0", {}, "mcts_tutorial_turn", 361, _MEASURED, 100),
    ("Football1-v0", _PATHS, "mcts_tutorial", 2038, _TUTORIAL, 2038 / 5),
    ("Football11-v0", _PATHS, "mcts_tutorial", 951, _TUTORIAL, 951 / 5),
    ("Football1-v0", _PATHS, "mcts_tutorial_turn", 1592, _TUTORIAL, 1592 / 5),
    ("Football11-v0", _PATHS, "mcts_tutorial_turn", 361, _TUTORIAL, 361 / 5),
)
"""Environment and its settings, agent, simulations, and simulations a second: as published, or of the published program
on one core."""


def published(rounds: int) -> list[Figure]:
    """Measure planners of the literature over the first moves of a game, beside what was published."""
    figures = []
    for id, settings, name, simulations, source, rate in PUBLISHED:
        env = gym.make(f"mcts_envs/{id}", opponent="random", **settings)
        agent, scripted = agents.make(name, simulations=simulations), agents.make("scripted", seed=0)

        def run(agent: Any = agent, env: Any = env, scripted: Any = scripted) -> int:
            env.reset(seed=0)
            count, ended = 0, False
            for _ in range(20):
                if not ended:
                    count += agent.search(env).simulations
                    _, _, terminated, truncated, _ = env.step(scripted.act(env))
                    ended = terminated or truncated
            return count

        (ours,) = least(rounds, run)
        times = f"{1e6 / ours / rate:.1f} x"
        what = ", ".join([id, *settings.values(), name])
        figures.append(Figure(what, 1e3 / ours, "k simulations/s", source, rate / 1e3, times))
    return figures


def threads(id: str, rounds: int) -> list[Figure]:
    """Measure two trees at the same time against one."""
    env = gym.make(id)
    env.reset(seed=0)

    def run(count: int) -> Callable[[], int]:
        agent = agents.make("mcts", simulations=200_000 * count, threads=count)
        return lambda: int(agent.search(env).simulations)

    one, two = least(min(rounds, 5), run(1), run(2))
    times = f"{one / two:.2f} x as many"
    return [Figure(f"{id}: UCT, two threads", 1e3 / two, "k simulations/s", "one thread", 1e3 / one, times)]


def first_search(id: str, rounds: int) -> list[Figure]:
    """Measure the first search of a new process with a warm cache, against the import of Numba alone."""

    def run(code: str) -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - started

    codes = FIRST.format(id=id), "import numba"
    run(codes[0])
    whole, bare = (min(run(code) for _ in range(min(rounds, 5))) for code in codes)
    return [Figure(f"{id}: process with a first search", whole, "s", "import numba", bare, f"+{whole - bare:.2f} s")]
