"""How often a policy wins."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import mcts_envs
from agents.learning.algorithms import one_thread
from agents.learning.saved.fitting import fitting
from agents.learning.saved.storage import SavedPolicy, load
from agents.learning.settings import to_evaluate_in
from mcts_envs.core import errors

FRESH = 2**40
"""Where the seeds of evaluations begin: no training, whose seeds are below 2**32, has seen these games."""

CURVE = 2**48
"""Where the seeds of the evaluations during a training begin, above those of all others."""

_MOST_ENVS, _LONGEST = 2**16, 100_000


@dataclass(frozen=True)
class Evaluation:
    """Results of a policy.

    Attributes
    ----------
    games, wins : int
    returns : float64 array [games]
        Undiscounted.
    points : float64 array [games]
        1 for a game won, 0 for one lost, a part of it for a tie.
    """

    games: int
    wins: int
    returns: npt.NDArray[np.float64]
    points: npt.NDArray[np.float64]


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
    seed : int
        Another seed, other games; all have seeds from ``2**40`` on, which no training uses.
    n_envs : int
        Environments in the batch.
    settings : dict, optional
        Settings of the environment; by default those of the training, without the past selves among its opponents, and
        without its starts. Their observation and mask are those of the training, unless they name others.

    Raises
    ------
    FileNotFoundError, ValueError
        See :func:`agents.learning.saved.storage.load`; also for a policy without sidecar, settings of another board, or
        a game that is not over after 100,000 steps.
    """
    from stable_baselines3.common.evaluation import evaluate_policy

    games, n_envs = errors.integer("games", games, 1, 10**9), errors.integer("n_envs", n_envs, 1, _MOST_ENVS)
    seed = errors.integer("seed", seed, 0, 2**31 - 1)
    policy = load(path)
    if "environment" not in policy.about:
        raise ValueError(
            f"{policy.path} has no sidecar that names its environment; evaluate it with scripts/compare.py"
        )
    trained = policy.about.get("settings", {})
    own = {name: trained[name] for name in ("observation", "mask") if name in trained}
    settings = to_evaluate_in(trained if settings is None else {**own, **settings})
    first = FRESH + seed * _MOST_ENVS
    env = mcts_envs.make_sb3_vec_env(policy.about["environment"], min(n_envs, games), first, **settings)
    game = env.get_attr("game", 0)[0]
    in_bytes = env.observation_space.dtype == np.uint8
    if fitting(policy, game) is not game or policy.in_bytes != in_bytes:
        raise ValueError(f"{policy.path} was trained on another observation; evaluate it with that of its training")
    won: list[bool] = []
    points: list[float] = []

    def note(inside: dict[str, Any], outside: dict[str, Any]) -> None:
        if inside["current_lengths"][inside["i"]] > _LONGEST:
            raise ValueError(
                f"a game of {policy.path} is not over after {_LONGEST:,} steps; let the game end by itself after some "
                "(TRUNCATED), or compare it with --episode-limit (scripts/compare.py)"
            )
        if inside["done"]:
            won.append(inside["info"]["is_success"])
            points.append(inside["info"]["outcome"])

    with one_thread():
        returns, _ = evaluate_policy(
            _Predictor(policy, env, seed),
            env,
            games,
            deterministic=deterministic,
            callback=note,
            return_episode_rewards=True,
        )
    return Evaluation(games, sum(won), np.asarray(returns, np.float64), np.asarray(points, np.float64))
