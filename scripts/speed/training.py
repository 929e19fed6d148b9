"""Training: what an environment costs PPO, what the APIs that it stands on cost, and what saved policies do.

Times are those of the processor, or of the clock with threads, and verdicts medians over rounds in which both take
turns.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

import agents
import mcts_envs
from agents.learning.algorithms import algorithm_class, one_thread
from agents.learning.hyperparameters import hyperparameters, resolved
from agents.learning.saved.shipped import FOLDER
from agents.learning.saved.storage import load
from agents.learning.selfplay import PastSelf
from speed.figure import Figure

TRAINED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("LaneDefense3x3-v0", {}),
    ("LaneDefense10x10-v0", {}),
    ("LaneDefense5x9-v0", {}),
    ("WallSurvival-v0", {}),
    ("BomberDuel-v0", {}),
    ("Football3-v0", {}),
    ("Football3-v0", {"opponent": "scripted"}),
)
"""Environments and their settings."""

SAVED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("LaneDefense3x3-v0", {}, "ppo"),
    ("LaneDefense5x9-v0", {}, "maskable_ppo"),
    ("WallSurvival-v0", {"board_size": 6}, "maskable_ppo"),
    ("BomberDuel-v0", {}, "maskable_ppo"),
    ("Football5-v0", {}, "maskable_ppo"),
)
"""Environments, their settings, and which of the policies that come with the package."""

SIZES = (1, 3, 5, 7, 11)
GAMES, MANY = 64, 1024


class EmptyVecEnv(VecEnv):
    """A batch that does nothing, with the spaces of another: what Stable-Baselines3 itself costs."""

    def __init__(self, like: VecEnv) -> None:
        super().__init__(like.num_envs, like.observation_space, like.action_space)
        space: Any = like.observation_space
        shape, rng = (like.num_envs, *space.shape), np.random.default_rng(0)
        self._observations = rng.uniform(space.low.min(), space.high.max(), shape).astype(space.dtype)
        self._rewards, self._dones = rng.normal(size=like.num_envs).astype(np.float32), np.zeros(like.num_envs, bool)
        self._infos: list[dict[str, Any]] = [{"TimeLimit.truncated": False} for _ in range(like.num_envs)]
        like.reset()
        self._masks = like.env_method("action_masks")

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
        """Return the masks of the first position, always."""
        return self._masks

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return False for each game."""
        return [False] * self.num_envs


def ppo(rounds: int) -> list[Figure]:
    """Measure the frames a second of PPO, with the project's hyper-parameters, against PPO on an empty batch."""
    figures = [_training(rounds, "ppo", id, settings) for id, settings in TRAINED]
    figures.append(_training(rounds, "ppo", *TRAINED[-1], threads=2))
    figures.append(_training(rounds, "maskable_ppo", *TRAINED[-1]))
    return figures


def _training(rounds: int, algorithm: str, id: str, settings: dict[str, Any], threads: int = 1) -> Figure:
    hyper, kind = hyperparameters(algorithm, f"mcts_envs/{id}"), algorithm_class(algorithm)
    env = mcts_envs.make_sb3_vec_env(id, hyper.n_envs, 0, threads=threads, **settings)
    clock = time.process_time if threads == 1 else time.perf_counter
    works = _trainer(kind, env, hyper), _trainer(kind, EmptyVecEnv(env), hyper)
    with one_thread():
        ours, empty, share = in_turns(rounds, *works, clock)
    rates = 1e3 / ours, "k frames/s", "an empty VecEnv", 1e3 / empty
    what = ", ".join([id, *settings.values(), *["2 threads"] * (threads > 1)])
    return Figure(f"{what}: {kind.__name__}", *rates, f"{1 / share:.3f} of it")


def _trainer(kind: Any, env: VecEnv, hyper: Any) -> Callable[[], int]:
    """Return a function that learns from one rollout and returns the number of its frames."""
    if hyper.normalize:
        env = VecNormalize(env, **{"gamma": hyper.model["gamma"], **hyper.normalize})
    model = kind(env=env, device="cpu", seed=0, **resolved(hyper.model))
    frames = int(hyper.n_envs * hyper.model["n_steps"])

    def learn() -> int:
        model.learn(frames, reset_num_timesteps=False)
        return frames

    return learn


def vec_env(rounds: int) -> list[Figure]:
    """Measure a step of 64 games in a VecEnv of Stable-Baselines3, with its monitor, against the batch."""
    figures = []
    for id, settings in TRAINED:
        batch = mcts_envs.make_vec(id, GAMES, autoreset_mode="SameStep", **settings)
        env = mcts_envs.make_sb3_vec_env(id, GAMES, 0, **settings)
        batch.reset(seed=0), env.reset()
        rows = np.random.default_rng(0).integers(0, env.action_space.n, (100, GAMES))
        ours, inside, _ = in_turns(rounds, _steps(env.step, rows), _steps(batch.step, rows))
        what = ", ".join([id, *settings.values()])
        times = ours, "us", "the batch", inside, f"{ours - inside:+.0f} us"
        figures.append(Figure(f"{what}: step of {GAMES} in SB3's VecEnv", *times))
    return figures


def sizes(rounds: int) -> list[Figure]:
    """Measure a step of football of each size in a batch of 1,024 against single environments."""
    figures = []
    for size in SIZES:
        id = f"mcts_envs/Football{size}-v0"
        env, batch = gym.make(id), mcts_envs.make_vec(id, MANY)
        env.reset(seed=0), batch.reset(seed=0)
        rows = np.random.default_rng(0).integers(0, env.action_space.n, (8, MANY))
        alone, many, share = in_turns(rounds, _episodes(env, rows[0]), _steps(batch.step, rows))
        times = many / MANY, "us a step", "a single step", alone, f"{share * MANY:.2f} x faster"
        figures.append(Figure(f"Football{size}-v0: {MANY:,} batched", *times))
    return figures


def moves(rounds: int) -> list[Figure]:
    """Measure a move of a saved policy, read from its zip, against Stable-Baselines3's ``predict`` of it."""
    figures = []
    for id, settings, algorithm in SAVED:
        path = FOLDER / ",".join([id, *(f"{name}={value}" for name, value in settings.items())]) / f"{algorithm}.zip"
        agent, saved = agents.make(f"sb3:{path}"), load(path)
        shown = saved.about["settings"].get("observation", "flat")
        env = gym.make(f"mcts_envs/{id}", observation=shown, **settings)
        observation, info = env.reset(seed=0)
        masks = {"action_masks": info["action_mask"]} if saved.masked else {}
        ask, predict = partial(agent.act, env), partial(saved.model.predict, observation, deterministic=True, **masks)
        with one_thread():
            ours, theirs, share = in_turns(rounds, _calls(ask), _calls(predict))
        figures.append(
            Figure(f"{path.parent.name}: {algorithm}, a move", ours, "us", "predict", theirs, _faster(share))
        )
    return figures


def past_selves(rounds: int) -> list[Figure]:
    """Measure a step of 64 games, a fifth of them against ten past selves, against asking PyTorch for each."""
    figures = []
    for id in ("BomberDuel-v0", "Football5-v0"):
        ours, torch = (_against_selves(id, kind) for kind in (PastSelf, TorchSelf))
        with one_thread():
            mine, theirs, share = in_turns(rounds, ours, torch)
        what = f"{id}: step of {GAMES}, ten past selves"
        figures.append(Figure(what, mine / GAMES, "us a game", "asked of PyTorch", theirs / GAMES, _faster(share)))
    return figures


class TorchSelf(PastSelf):
    """One that PyTorch runs."""

    _network = None  # type: ignore[assignment]


def _against_selves(id: str, kind: type[PastSelf]) -> Callable[[], int]:
    """Return a function that takes some random legal steps, and returns how many."""
    env = mcts_envs.make_sb3_vec_env(id, GAMES, 0, seat="all", opponent={"self": 1, "scripted": 4})
    model = MaskablePPO("MlpPolicy", env, policy_kwargs={"net_arch": [128, 128]}, device="cpu", seed=0)
    mixture: Any = env.unwrapped.opponents
    for number in range(10):
        mixture.add_self(f"self@{number}", kind(model))
    mixture.share(np.ones(10))
    env.reset()
    rng = np.random.default_rng(0)

    def work() -> int:
        for _ in range(20):
            masks = np.array(env.env_method("action_masks"))
            env.step((rng.random(masks.shape) * masks).argmax(1))
        return 20

    return work


def _calls(call: Callable[[], Any]) -> Callable[[], int]:
    """Return a function that calls something often, and returns how often."""

    def work() -> int:
        for _ in range(100):
            call()
        return 100

    return work


def _faster(share: float) -> str:
    return f"{1 / share:.2f} x faster"


def _steps(step: Callable[[Any], Any], rows: Any) -> Callable[[], int]:
    """Return a function that takes rows of actions, one after another, and returns how many."""

    def work() -> int:
        for row in rows:
            step(row)
        return len(rows)

    return work


def _episodes(env: gym.Env[Any, Any], actions: Any) -> Callable[[], int]:
    """Return a function that takes actions, one after another, game after game, and returns how many."""
    listed = actions.tolist()

    def work() -> int:
        for action in listed:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()
        return len(listed)

    return work


def in_turns(
    rounds: int, first: Callable[[], int], second: Callable[[], int], clock: Callable[[], float] = time.process_time
) -> tuple[float, float, float]:
    """Return the microseconds that a unit of work takes, and how many times as long the first takes.

    All three are medians over rounds in which the two take turns, after one round that does not count.
    """
    rows = np.zeros((rounds + 1, 2))
    for row in rows:
        for i, work in enumerate((first, second)):
            started = clock()
            units = work()
            row[i] = (clock() - started) / units * 1e6
    (ours, others), share = np.median(rows[1:], axis=0), np.median(rows[1:, 0] / rows[1:, 1])
    return float(ours), float(others), float(share)
