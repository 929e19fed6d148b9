"""How often a policy wins."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import mcts_envs
from agents.learning.algorithms import one_thread
from agents.learning.storage import SavedPolicy, load


@dataclass(frozen=True)
class Evaluation:
    """Results of a policy.

    Attributes
    ----------
    games, wins : int
    returns : float64 array [games]
        Undiscounted.
    """

    games: int
    wins: int
    returns: npt.NDArray[np.float64]


class _Predictor:
    """A policy in the form that ``evaluate_policy`` takes, with masks and its own dice."""

    def __init__(self, policy: SavedPolicy, env: Any, seed: int) -> None:
        self._policy, self._env = policy, env
        self._dice = np.random.default_rng(seed)

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = True
    ) -> tuple[npt.NDArray[np.int64], Any]:
        masks = np.stack(self._env.env_method("action_masks")) if self._policy.masked else None
        if deterministic:
            return self._policy.actions(observation, masks), state
        sums = self._policy.probabilities(observation, masks).cumsum(axis=1)
        points = self._dice.random(len(sums)) * sums[:, -1]
        return (sums <= points[:, None]).sum(axis=1), state


def evaluate(
    path: Path | str,
    games: int = 1000,
    *,
    deterministic: bool = True,
    seed: int = 0,
    n_envs: int = 64,
    settings: Mapping[str, Any] | None = None,
) -> Evaluation:
    """Play a saved policy on the environment that it was trained for.

    Parameters
    ----------
    path : Path
        A policy with its sidecar.
    games : int
        Divided equally over the batch, so that short games do not count too often.
    deterministic : bool
        Take the best action, or draw one with the policy's probabilities.
    seed, n_envs : int
    settings : dict, optional
        Settings of the environment; by default those of the training.

    Raises
    ------
    FileNotFoundError, ValueError
        See :func:`agents.learning.storage.load`; also for a policy without sidecar.
    """
    from stable_baselines3.common.evaluation import evaluate_policy

    policy = load(path)
    settings = policy.about.get("settings", {}) if settings is None else settings
    env = mcts_envs.make_sb3_vec_env(policy.about.get("environment", ""), min(n_envs, games), seed, **settings)
    won: list[bool] = []

    def note(inside: dict[str, Any], outside: dict[str, Any]) -> None:
        if inside["done"]:
            won.append(inside["info"]["is_success"])

    with one_thread():
        returns, _ = evaluate_policy(
            _Predictor(policy, env, seed),
            env,
            games,
            deterministic=deterministic,
            callback=note,
            return_episode_rewards=True,
        )
    return Evaluation(games, sum(won), np.asarray(returns, np.float64))
