"""What agents want of a saved policy, however it was saved; and policies that are plain arrays."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.learning.saved import network as networks
from agents.learning.saved.frames import Shape
from agents.learning.saved.network import Network

MASKED = ("maskable_ppo",)
"""Algorithms whose policies want to know which actions are legal."""


@dataclass(frozen=True)
class Policy(ABC):
    """A policy that was read from a file.

    Attributes
    ----------
    path : Path
    algorithm : str
    about : dict
        The sidecar: algorithm, environment, settings, spaces, layout of the board, versions, normalisation, timesteps,
        seed, date; for a zip that came without one empty, but for the normalisation that was asked for.
    """

    path: Path
    algorithm: str
    about: dict[str, Any] = field(default_factory=dict, kw_only=True)

    @property
    def masked(self) -> bool:
        """Whether the policy wants action masks."""
        return self.algorithm in MASKED

    @property
    @abstractmethod
    def has_probabilities(self) -> bool:
        """Whether the policy says how probable actions are."""

    @property
    @abstractmethod
    def observation_shape(self) -> Shape:
        """Shape of the observations that it was trained on."""

    @property
    def structure(self) -> Any:
        """The space of observations that are no arrays, which are shown flattened; None for arrays."""
        return None

    @property
    @abstractmethod
    def observation_dtype(self) -> str:
        """Their type, where the sidecar does not say it."""

    @property
    def observation_bounds(self) -> tuple[float, float] | None:
        """The least and the greatest that they may be, where that is known."""
        given = self.about.get("observation_space", {}).get("bounds")
        if given is None:
            return None
        low, high = given
        return -math.inf if low is None else float(low), math.inf if high is None else float(high)

    @property
    @abstractmethod
    def action_count(self) -> int:
        """How many actions it chooses among; 0 if they are not numbered."""

    @abstractmethod
    def actions(self, observations: Any, masks: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.int64]:
        """Return the best action for each observation.

        Parameters
        ----------
        observations : array [n, ...]
            Float32, or bytes if the policy is ``in_bytes``.
        masks : bool array [n, A], optional
            Legal actions; only for policies that are ``masked``.
        """

    @abstractmethod
    def probabilities(self, observations: Any, masks: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.float64]:
        """Return the probability of each action [n, A]; parameters as for :meth:`actions`.

        Raises
        ------
        ValueError
            If the policy has no probabilities, as those of DQN.
        """

    @abstractmethod
    def values(self, observations: Any, masks: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.float64]:
        """Return what observations are worth [n], in rewards of the game; parameters as for :meth:`actions`.

        For a policy of action values that is the greatest of those that the masks allow. What ``VecNormalize`` divided
        rewards by in training is multiplied in.

        Raises
        ------
        ValueError
            If the policy has no values.
        """

    def consulted(
        self, observations: Any, masks: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the probability of each action [n, A] among those that the masks allow, and the values [n].

        Equal probabilities where the policy has none. Where a mask allows none, as of who is not to choose, the
        probabilities mean nothing.
        """
        allowed = masks | ~masks.any(1, keepdims=True)
        values = self.values(observations, allowed)
        prior = allowed.astype(np.float64)
        if self.has_probabilities:
            prior *= self.probabilities(observations, allowed if self.masked else None)
        return in_shares(prior, allowed), values

    @property
    def unit(self) -> float:
        """How much reward a value of 1 is: what ``VecNormalize`` divided rewards by at the end of the training."""
        statistics = (self.about.get("normalization") or {}).get("rewards")
        asked = (self.about.get("hyperparameters", {}).get("normalize") or {}).get("norm_reward", True)
        if not statistics or not asked:
            return 1.0
        return math.sqrt(float(statistics["var"]) + float(statistics.get("epsilon", 1e-8)))

    @property
    def in_bytes(self) -> bool:
        """Whether the policy was trained on observations in bytes, under ``VecNormalize`` or not."""
        return str(self.about.get("settings", {}).get("observation_dtype", self.observation_dtype)) == "uint8"

    def normalized(self, observations: Any) -> npt.NDArray[np.float32]:
        """Return observations [n, ...] as ``VecNormalize`` shows them to the policy.

        Where the policy has statistics of single frames, stacks of them are returned as they are.
        """
        shown = np.asarray(observations, np.float32)
        if self.moments is None or self.moments[0].shape != shown.shape[1:]:
            return shown
        mean, scale, clip = self.moments
        normalized: npt.NDArray[np.float64] = np.clip((shown - mean) / scale, -clip, clip)
        return normalized.astype(np.float32)

    @cached_property
    def moments(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], Any] | None:
        """Mean, standard deviation and bound of the observations; of dictionaries a bound of each number."""
        statistics = (self.about.get("normalization") or {}).get("observations")
        if statistics is None:
            return None
        scale = np.sqrt(np.array(statistics["var"]) + statistics["epsilon"])
        return np.array(statistics["mean"], np.float64), scale, np.asarray(statistics["clip"])

    def _no_values(self) -> ValueError:
        return ValueError(f"a policy of {self.algorithm} has no values; leave out evaluate='policy'")

    def _no_probabilities(self) -> ValueError:
        return ValueError(f"a policy of {self.algorithm} has no probabilities; leave out deterministic=False")


def in_shares(prior: npt.NDArray[np.float64], allowed: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Return what actions that are allowed weigh [n, A], 0 for the others, as shares of 1; equal ones of nothing."""
    total = prior.sum(1, keepdims=True)
    equal = allowed / allowed.sum(1, keepdims=True)
    shares: npt.NDArray[np.float64] = np.where(total == 0.0, equal, prior / np.maximum(total, 1e-300))
    return shares


@dataclass(frozen=True)
class NetworkPolicy(Policy):
    """A policy whose network is plain arrays, which plays without Stable-Baselines3 and PyTorch.

    Attributes
    ----------
    network : Network
    """

    network: Network

    @property
    def has_probabilities(self) -> bool:
        """Whether the network says how probable actions are."""
        return self.network.outputs == "logits"

    @property
    def observation_shape(self) -> Shape:
        """Shape of the observations that it was trained on."""
        return tuple(self.about["observation_space"]["shape"])

    @property
    def observation_dtype(self) -> str:
        """Their type, where the settings of the sidecar do not say it."""
        return str(self.about["observation_space"].get("dtype", "float32"))

    @property
    def action_count(self) -> int:
        """How many actions it chooses among."""
        return self.network.actions

    def actions(self, observations: Any, masks: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.int64]:
        """Return the best action for each observation, the first of equals."""
        return np.asarray(self._scores(observations, masks).argmax(1), np.int64)

    def probabilities(self, observations: Any, masks: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.float64]:
        """Return the probability of each action [n, A]."""
        if not self.has_probabilities:
            raise self._no_probabilities()
        scores = self._scores(observations, masks).astype(np.float64)
        weights = np.exp(scores - scores.max(1, keepdims=True))
        found: npt.NDArray[np.float64] = weights / weights.sum(1, keepdims=True)
        return found

    def values(self, observations: Any, masks: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.float64]:
        """Return what observations are worth [n]."""
        if self.network.value:
            found = self.network.values(self.normalized(observations))
        elif self.network.outputs == "action_values":
            found = self._scores(observations, masks).max(1)
        else:
            raise self._no_values()
        return np.asarray(self.unit * found, np.float64)

    def _scores(self, observations: Any, masks: npt.NDArray[np.bool_] | None) -> Any:
        scores = self.network.scores_of_many(self.normalized(observations))
        return scores if masks is None else np.where(masks, scores, np.float32(-1e8))  # as sb3-contrib has it


def read_network(path: Path) -> NetworkPolicy:
    """Return the policy in a file that ``agents.export`` wrote.

    Raises
    ------
    FileNotFoundError, ValueError
        See :func:`agents.learning.saved.network.read`; also if the observations that its sidecar names are of another
        size than the network's.
    """
    network, about = networks.read(path)
    shape = about.get("observation_space", {}).get("shape", [network.inputs])
    inputs, actions = int(np.prod(shape)), about.get("action_space", {}).get("n", network.actions)
    if (inputs, actions) != (network.inputs, network.actions):
        raise ValueError(
            f"{path}: its sidecar says {inputs} inputs and {actions} actions, its network has {network.inputs} and "
            f"{network.actions}; export the policy anew with agents.export"
        )
    about.setdefault("observation_space", {"shape": [network.inputs]})
    return NetworkPolicy(path, about["algorithm"], network, about=about)
