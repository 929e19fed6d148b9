"""Past selves as opponents, by a callback of Stable-Baselines3's own ``learn``.

env = mcts_envs.make_sb3_vec_env("Football1-v0", 64, seat="all", opponent={"self": 3, "scripted": 1})
PPO("MlpPolicy", env).learn(1_000_000, callback=SelfPlay(choice="prioritized"))
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from stable_baselines3.common.callbacks import BaseCallback

from agents.learning.algorithms import is_recurrent, takes_masks
from agents.learning.beside import beside, packed, reading
from agents.learning.export import network_of
from agents.learning.freezing import frozen
from agents.learning.saved import normalizing
from agents.learning.saved.network import Network, NotLayersError
from mcts_envs.core import errors
from mcts_envs.core.api.mixed_turns import drawn, shown
from mcts_envs.core.api.mixture import SELF, Mixture, Opponent
from mcts_envs.core.api.quantized import quantized
from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Bytes, Floats, Ints
from mcts_envs.core.writing import write_together

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

CHOICES = ("latest", "uniform", "prioritized")
"""How a past self is chosen: the last one, any, or with probability in proportion to ``(1 - points)^2``, where
``points`` are the learner's against it (prioritized fictitious self-play, Vinyals et al. 2019)."""

SUFFIX = ".selves.npz"
_LEAST = 0.01
"""Least priority: nobody is forgotten."""

_FEW = 256
"""Games up to which plain arrays are asked in place of a GPU."""

_MOST_STEPS = 10**12
_MOST = 1000


class PastSelf:
    """The policy of a model as it is now, which draws its actions; one forward for all games that wait for it.

    Parameters
    ----------
    model : BaseAlgorithm
        Its policy is copied.
    """

    def __init__(self, model: "BaseAlgorithm") -> None:
        policy: Any = model.policy
        if not hasattr(policy, "get_distribution"):
            raise ValueError(f"{type(model).__name__} has no action probabilities; take ppo or maskable_ppo")
        if is_recurrent(policy):
            raise ValueError(
                f"{type(model).__name__} remembers what it has seen of a game, and past selves are asked about many "
                "games at once; take ppo or maskable_ppo"
            )
        self.policy = frozen(policy)
        del self.policy.optimizer
        self.masked, self.in_bytes = takes_masks(model), normalizing.shows_bytes(model)
        self.moments: dict[str, Any] | None = None
        env = model.get_vec_normalize_env()
        if env is not None and env.norm_obs:
            self.moments = normalizing.normalization(env)["observations"]

    def act_all(self, game: Game, states: Bytes, players: Ints, seeds: Any) -> Ints:
        """Draw an action [k] for each player [k] who looks at a state [k, size]; ``seeds`` [k] decide."""
        observations, masks = shown(game, states, players)
        scores = self._logits(self._prepared(observations))
        if self.masked:
            scores = np.where(masks, scores, -np.inf)
            scores[~masks.any(1)] = 0.0
        return drawn(np.exp(scores - scores.max(1, keepdims=True)), seeds)

    def _prepared(self, observations: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        space = self.policy.observation_space
        if space.shape != observations.shape[1:]:
            raise ValueError(
                f"past selves see observations {observations.shape[1:]}, but the policy was made for {space.shape}; "
                "self-play takes no wrapper that changes them, such as VecFrameStack"
            )
        seen: npt.NDArray[Any] = quantized(observations) if self.in_bytes else observations
        if self.moments is None:
            return seen
        mean, scale = np.array(self.moments["mean"]), np.sqrt(np.array(self.moments["var"]) + self.moments["epsilon"])
        clip = self.moments["clip"]
        normalized: npt.NDArray[np.float32] = np.clip((seen - mean) / scale, -clip, clip).astype(np.float32)
        return normalized

    @cached_property
    def _network(self) -> Network | None:
        """Its network as plain arrays, several times as fast where few games wait; None if PyTorch has to run it."""
        try:
            return network_of(self.policy, Path("a past self"))
        except NotLayersError:
            return None

    def _logits(self, observations: npt.NDArray[Any]) -> Floats:
        import torch

        network = self._network
        if network is not None and (len(observations) <= _FEW or self.policy.device.type == "cpu"):
            return network.scores_of_many(observations).astype(np.float64)
        with torch.inference_mode():
            tensor, _ = self.policy.obs_to_tensor(observations)
            distribution = self.policy.get_distribution(tensor).distribution
            found: Floats = distribution.logits.numpy(force=True).astype(np.float64)
        return found


class SelfPlay(BaseCallback):
    """Bring past selves into the opponents of a training, and change the opponents' weights as it goes on.

    All that it does it does between rollouts. The environment is one of :func:`mcts_envs.make_sb3_vec_env` with an
    opponent ``"self"``, or with weights to be changed.

    Parameters
    ----------
    every : int
        Steps of all environments between one past self and the next; the first is the policy at the start.
    most : int
        How many are kept, the latest.
    choice : {"uniform", "latest", "prioritized"}
        Which of them is played.
    weights : dict, optional
        Names of opponents, each with its weight at the start and at the end of the training: ``{"random": (1, 0)}``.
    starts : dict, optional
        The same for the files of positions where games start: a curriculum.

    Raises
    ------
    ValueError, TypeError
        If a number is out of its bounds or a choice unknown; when the training starts, if the environment has no such
        opponents.
    """

    def __init__(
        self,
        every: int = 100_000,
        most: int = 20,
        choice: str = "uniform",
        weights: Mapping[str, tuple[float, float]] | None = None,
        starts: Mapping[str, tuple[float, float]] | None = None,
    ) -> None:
        super().__init__()
        self.every = errors.integer("every", every, 1, _MOST_STEPS)
        self.most = errors.integer("most", most, 1, _MOST)
        errors.choice("choice", choice, CHOICES)
        self.choice = choice
        self.weights = {name: _pair(name, pair) for name, pair in (weights or {}).items()}
        self.starts = {name: _pair(name, pair) for name, pair in (starts or {}).items()}
        self._next: int | None = None

    @property
    def mixture(self) -> Mixture:
        """The opponents of the training's environment."""
        return _mixture_of(self.model)

    def _on_training_start(self) -> None:
        if self._next is not None and self.num_timesteps < self._next - self.every:
            self._next = None  # steps count from 0 again
        starts = getattr(self.training_env.unwrapped, "starts", None)
        if self.starts and starts is None:
            raise ValueError(
                f"starts {self.starts}: all games start anew; make the environment with starts={{FILE: 1}}"
            )
        there = {} if starts is None else starts.weights
        for what, given, known in (("opponent", self.weights, self.mixture.weights), ("start", self.starts, there)):
            for name in given:
                if name not in known:
                    raise ValueError(errors.unknown(what, name, known))

    def _on_rollout_start(self) -> None:
        mixture = self.mixture
        if SELF in mixture.weights and (self._next is None or self.num_timesteps >= self._next):
            mixture.add_self(f"self@{self.num_timesteps}", PastSelf(self.model), self.most)
            self._next = self.num_timesteps + self.every
        left = max(0.0, 1.0 - self.num_timesteps / self.model._total_timesteps)
        if self.weights:
            mixture.weights = _now(self.weights, left)
        if self.starts:
            self.training_env.unwrapped.starts.weights = _now(self.starts, left)  # type: ignore[attr-defined]
        if mixture.selves:
            mixture.share(shares(mixture.selves, self.choice))

    def _on_rollout_end(self) -> None:
        for opponent in self.mixture.named.values():
            if opponent.games:
                self.logger.record(f"opponents/{opponent.name}", opponent.points)
        played = [opponent.points for opponent in self.mixture.selves if opponent.games]
        if played:
            self.logger.record("opponents/self", float(np.mean(played)))

    def _on_step(self) -> bool:
        return True

    def save(self, path: Path | str, model: "BaseAlgorithm") -> None:
        """Write past selves and results, as plain arrays: ``NAME.selves.npz`` for the policy ``NAME.zip``."""
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        write_together(self.files(path, model))

    def files(self, path: Path | str, model: "BaseAlgorithm") -> dict[Path, bytes]:
        """Return the file that :meth:`save` writes, with what is in it."""
        mixture = _mixture_of(model)
        arrays: dict[str, npt.NDArray[Any]] = {}
        for i, opponent in enumerate(mixture.selves):
            assert isinstance(opponent.players, PastSelf)
            for name, value in opponent.players.policy.state_dict().items():
                arrays[f"{i}:{name}"] = value.numpy(force=True)
        about = {
            "next": self._next,
            "named": {name: [opponent.games, opponent.points] for name, opponent in mixture.named.items()},
            "selves": [[o.name, o.games, o.points, o.players.moments] for o in mixture.selves],  # type: ignore[union-attr]
        }
        return {beside(path, SUFFIX): packed(about, arrays)}

    def load(self, path: Path | str, model: "BaseAlgorithm") -> None:
        """Bring back what :meth:`save` wrote beside a policy, into the environment of a model; nothing if nothing is.

        Raises
        ------
        ValueError
            If it is damaged, or of networks of another shape.
        """
        import torch

        file = beside(path, SUFFIX)
        if not file.is_file():
            return
        mixture = _mixture_of(model)
        with reading(file, "other networks", "resume from another checkpoint") as (about, arrays):
            for i, (name, games, points, moments) in enumerate(about["selves"]):
                past, start = PastSelf(model), f"{i}:"
                state = {k.removeprefix(start): torch.as_tensor(arrays[k]) for k in arrays if k.startswith(start)}
                past.policy.load_state_dict(state)
                past.moments = moments
                opponent = mixture.add_self(name, past, self.most)
                opponent.games, opponent.points = float(games), float(points)
        for name, (games, points) in about["named"].items():
            if name in mixture.named:
                mixture.named[name].games, mixture.named[name].points = float(games), float(points)
        self._next = about["next"]


def _mixture_of(model: "BaseAlgorithm") -> Mixture:
    env = model.get_env()
    found = getattr(env.unwrapped if env else None, "opponents", None)
    if not isinstance(found, Mixture):
        raise ValueError(
            "the environment has no mixture of opponents; make it with "
            "mcts_envs.make_sb3_vec_env(id, n_envs, opponent={'self': 1}, ...)"
        )
    return found


def shares(selves: list[Opponent], choice: str) -> Floats:
    """Return in what proportion past selves [n], the oldest first, are played."""
    found: Floats = np.ones(len(selves))
    if choice == "latest":
        found[:-1] = 0.0
    elif choice == "prioritized":
        found[:] = [max((1.0 - opponent.points) ** 2, _LEAST) for opponent in selves]
    return found


def _now(pairs: Mapping[str, tuple[float, float]], left: float) -> dict[str, float]:
    """Return weights where so much of the training is left."""
    return {name: left * first + (1.0 - left) * last for name, (first, last) in pairs.items()}


def _pair(name: str, given: Any) -> tuple[float, float]:
    if not isinstance(given, (list, tuple)) or len(given) != 2:
        raise ValueError(f"weights of {name} {given!r} are not two numbers: at the start and at the end")
    first, last = (errors.number(f"weight of {name}", weight, 0.0, 1e9) for weight in given)
    return first, last
