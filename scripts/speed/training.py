"""Training: what an environment costs PPO, and what the faces that it stands on cost."""

import statistics
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

import mcts_envs
from agents.learning.algorithms import one_thread
from agents.learning.hyperparameters import hyperparameters, resolved
from speed.figure import Figure, least

TRAINED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("LaneDefense3x3-v0", {}),
    ("LaneDefense10x10-v0", {}),
    ("LaneDefense5x9-v0", {}),
    ("WallSurvival-v0", {}),
    ("BomberDuel-v0", {}),
    ("Football3-v0", {"opponent": "scripted"}),
)
"""Environments and their settings."""

SIZES = (1, 3, 5, 7, 11)
GAMES = 64


class EmptyVecEnv(VecEnv):
    """A batch that does nothing, with the spaces of another: what Stable-Baselines3 itself costs."""

    def __init__(self, like: VecEnv) -> None:
        super().__init__(like.num_envs, like.observation_space, like.action_space)
        space: Any = like.observation_space
        shape, rng = (like.num_envs, *space.shape), np.random.default_rng(0)
        self._observations = rng.uniform(space.low.min(), space.high.max(), shape).astype(space.dtype)
        self._rewards, self._dones = rng.normal(size=like.num_envs).astype(np.float32), np.zeros(like.num_envs, bool)
        self._infos: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(like.num_envs)]

    def reset(self) -> Any:
        """Return observations."""
        return self._observations

    def step_async(self, actions: Any) -> None:
        """Do nothing."""

    def step_wait(self) -> Any:
        """Return the same observations, rewards and infos; no game ends."""
        return self._observations, self._rewards, self._dones, self._infos

    def close(self) -> None:
        """Do nothing."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return None for each game."""
        return [None] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Do nothing."""

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Do nothing."""
        return [None] * self.num_envs

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each game."""
        return [False] * self.num_envs


def ppo(rounds: int) -> list[Figure]:
    """Measure the frames a second of PPO, with the project's hyper-parameters, against PPO on an empty batch.

    The ratio is the median over rounds of one rollout and update each, taken in turns, in seconds of the processor.
    """
    figures = []
    for id, settings in TRAINED:
        hyper = hyperparameters("ppo", f"mcts_envs/{id}")
        env = mcts_envs.make_sb3_vec_env(id, hyper.n_envs, 0, **settings)
        with one_thread():
            ours, empty = _trainer(env, hyper), _trainer(EmptyVecEnv(env), hyper)
            ours(), empty()
            rates = [(ours(), empty()) for _ in range(rounds)]
        rate, yardstick = (statistics.median(column) for column in zip(*rates, strict=True))
        ratio = statistics.median(first / second for first, second in rates)
        what = ", ".join([id, *settings.values()])
        figures.append(Figure(f"{what}: PPO", rate, "frames/s", "an empty VecEnv", yardstick, f"{ratio:.3f} of it"))
    return figures


def _trainer(env: VecEnv, hyper: Any) -> Callable[[], float]:
    """Return a function that learns from one rollout and returns the frames a second."""
    if hyper.normalize:
        env = VecNormalize(env, **{"gamma": hyper.model["gamma"], **hyper.normalize})
    model = PPO(env=env, device="cpu", seed=0, **resolved(hyper.model))
    frames = hyper.n_envs * hyper.model["n_steps"]

    def learn() -> float:
        started = time.process_time()
        model.learn(frames, reset_num_timesteps=False)
        return float(frames / (time.process_time() - started))

    return learn


def vec_env(rounds: int) -> list[Figure]:
    """Measure a step of 64 games in the batched face, and in Stable-Baselines3's with its monitor."""
    figures = []
    for id, settings in (*TRAINED, ("Football3-v0", {})):
        batch = mcts_envs.make_vec(id, GAMES, autoreset_mode="SameStep", **settings)
        env = mcts_envs.make_sb3_vec_env(id, GAMES, 0, **settings)
        batch.reset(seed=0), env.reset()
        rows = np.random.default_rng(0).integers(0, env.action_space.n, (100, GAMES))
        inside, outside = least(rounds, _steps(batch.step, rows), _steps(env.step, rows))
        what, more = ", ".join([id, *settings.values()]), f"+{outside - inside:.0f} us"
        figures.append(
            Figure(f"{what}: step of {GAMES} in SB3's VecEnv", outside, "us", "the batch", inside, more),
        )
    return figures


def _steps(step: Callable[[Any], Any], rows: Any) -> Callable[[], int]:
    """Return a function that takes rows of actions, one after another, and returns how many."""

    def work() -> int:
        for row in rows:
            step(row)
        return len(rows)

    return work


def sizes(rounds: int) -> list[Figure]:
    """Measure a step of football of each size in a batch of 1,024 against single environments, in both observations."""
    figures = []
    for size in SIZES:
        id = f"Football{size}-v0"
        env, batch = gym.make(f"mcts_envs/{id}"), mcts_envs.make_vec(id, 1024)
        env.reset(seed=0), batch.reset(seed=0)
        rows = np.random.default_rng(0).integers(0, env.action_space.n, (4, 1024))

        flat = rows[0].tolist()

        def single(env: Any = env, flat: Any = flat) -> int:
            for action in flat:
                if env.step(action)[2]:
                    env.reset()
            return len(flat)

        alone, many = least(rounds, single, _steps(batch.step, rows))
        figures.append(
            Figure(
                f"{id}: 1,024 batched",
                many / 1024,
                "us a step",
                "the single face",
                alone,
                f"{alone * 1024 / many:.2f} x",
            )
        )
    return figures
