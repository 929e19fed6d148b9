"""Searches that consult a network: how many leaves a second they ask it about, beside ``model.predict``.

Networks are untrained models of Stable-Baselines3: what they say does not change how long it takes. A leaf is a state
that the network was run on during a search by PUCT, from an empty table: one whose answer was kept does not count, nor
does a simulation that ended with the game.
"""

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from stable_baselines3 import PPO

import agents
import mcts_envs
from agents import mcts
from agents.evaluator.batched import BatchedEvaluator
from agents.learning.algorithms import one_thread
from agents.learning.networks import PlanesExtractor
from agents.learning.saved.notices import PolicyWarning
from agents.learning.saved.storage import SavedPolicy
from speed.figure import Figure, least

BOARDS = ("LaneDefense3x3-v0", "LaneDefense10x10-v0")
"""Of 54 and of 600 inputs, in planes."""

NETWORKS: dict[str, dict[str, Any]] = {
    "MLP": {"policy": "MlpPolicy", "policy_kwargs": {"net_arch": [64, 64], "activation_fn": torch.nn.Tanh}},
    "CNN": {
        "policy": "CnnPolicy",
        "policy_kwargs": {"features_extractor_class": PlanesExtractor, "normalize_images": False},
    },
}

GAMES = 32
COMPILED, ASKED = 10_000, 64
"""Simulations of a tree, where the network runs in compiled code, and where torch is asked in batches."""


def networks(rounds: int) -> list[Figure]:
    """Measure leaves a second for each board and network, compiled and in batches, against ``model.predict``."""
    return [figure for id in BOARDS for name in NETWORKS for figure in _beside_predict(id, name, rounds)]


def made(env: Any, name: str) -> PPO:
    """Return an untrained model."""
    return PPO(env=env, seed=0, device="cpu", **NETWORKS[name])


def _beside_predict(id: str, name: str, rounds: int) -> list[Figure]:
    envs = mcts_envs.make_sb3_vec_env(f"mcts_envs/{id}", 4 * GAMES, seed=0, observation="planes")
    model, shown = made(envs, name), _played(envs)[:GAMES]
    policy = SavedPolicy(Path(name), "ppo", model)
    env = gym.make(f"mcts_envs/{id}", observation="planes")
    env.reset(seed=0)
    works: dict[str, Callable[[], Any]] = {"torch, 32 observations at once": _forward(policy, shown)}
    if name == "MLP":
        works["compiled"] = searching(env, model, COMPILED)
        works["compiled, two threads"] = searching(env, model, COMPILED, threads=2)
    works["in batches of 1"] = searching(env, policy, ASKED)
    works["in batches of up to 8: trees"] = searching(env, policy, 8 * ASKED, threads=8)
    works["in batches of up to 32: trees"] = searching(env, policy, 32 * ASKED, threads=32)
    works["in batches of up to 32: games"] = _games(envs, policy)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", PolicyWarning)
        predicted, *found = least(rounds, _predict(model, shown[:1]), *works.values())
    figures = []
    for (what, work), us in zip(works.items(), found, strict=True):
        verdict = f"{predicted / us:.1f} x"
        if what.startswith("compiled"):
            verdict += f"; {COMPILED / work()[0]:.1f} simulations a leaf"
        network = f"{id}, {np.prod(shown.shape[1:])} inputs: {name} {what}"
        figures.append(Figure(network, 1e3 / us, "k leaves/s", "model.predict", 1e3 / predicted, verdict))
    return figures


def searching(env: Any, policy: Any, simulations: int, **settings: Any) -> Callable[[], tuple[int, float]]:
    """Return a function that searches one position and returns how many leaves the network was asked about."""
    agent = agents.make("mcts", select="puct", evaluate="policy", policy=policy, simulations=simulations, **settings)
    return counted(agent, env.unwrapped.view().game, lambda: agent.search(env))


def counted(agent: Any, game: Any, work: Callable[[], Any]) -> Callable[[], tuple[int, float]]:
    """Return a function that does what searches, and returns the leaves and the seconds that do not count.

    In compiled code they are the rows of the table that were filled, so that of two in one row one is lost.
    """
    evaluator = agent.prepared(game).evaluator
    found: list[int] = []

    def run() -> tuple[int, float]:
        started = time.perf_counter()
        if not found:
            found.append(_leaves(agent, evaluator, work))
        evaluator.forget()
        agent.reseed(0)
        began = time.perf_counter()
        work()
        ended = time.perf_counter()
        return found[0], began - started + time.perf_counter() - ended

    return run


def _leaves(agent: Any, evaluator: Any, work: Callable[[], Any]) -> int:
    """Return how many leaves are asked about: none twice, and none that a tree looks ahead to and does not come to."""
    evaluator.forget()
    agent.reseed(0)
    before, ahead = getattr(evaluator, "questions", 0), mcts.AHEAD
    mcts.AHEAD = 1
    try:
        work()
    finally:
        mcts.AHEAD = ahead
    asked = isinstance(evaluator, BatchedEvaluator)
    return evaluator.questions - before if asked else _rows_filled(evaluator)


def _games(envs: Any, policy: Any) -> Callable[[], tuple[int, float]]:
    """Return a function that searches at the same time in those games of a batch that leave a choice, as many as 32."""
    agent = agents.make("mcts", select="puct", evaluate="policy", policy=policy, simulations=ASKED)
    agent.bind(envs)
    views = [view for view in (bound() for bound in agent._bound) if view.action_masks().sum() > 1][:GAMES]
    return counted(agent, views[0].game, lambda: agent.choose_all(views, [None] * len(views)))


def _played(envs: Any, steps: int = 5) -> Any:
    """Return what different games of a batch show after a few random steps."""
    rng, shown = np.random.default_rng(0), envs.reset()
    for _ in range(steps):
        shown, *_ = envs.step(rng.integers(0, envs.action_space.n, envs.num_envs))
    return shown


def _predict(model: PPO, shown: Any, calls: int = 100) -> Callable[[], int]:
    def work() -> int:
        for _ in range(calls):
            model.predict(shown, deterministic=True)
        return calls

    return work


def _forward(policy: SavedPolicy, shown: Any, calls: int = 10) -> Callable[[], int]:
    masks = np.ones((len(shown), policy.action_count), bool)

    def work() -> int:
        for _ in range(calls):
            policy.consulted(shown, masks)
        return calls * len(shown)

    return work


def _rows_filled(evaluator: Any) -> int:
    """Return how many states an evaluator in compiled code keeps answers for."""
    seals = evaluator._table.reshape(-1, int(evaluator._record["words"][0]))[:, 0]
    return int(np.count_nonzero(seals))
