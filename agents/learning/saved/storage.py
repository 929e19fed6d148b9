"""Saved policies: ``NAME.zip``, as Stable-Baselines3 writes it, and ``NAME.json`` that says what it is.

Reading such a zip unpickles objects, which can run any code: load policies only from people you trust.
"""

import contextlib
import io
import json
import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from agents.learning.algorithms import ALGORITHMS, algorithm_class, one_thread, takes_masks
from agents.learning.hyperparameters import import_classes
from agents.learning.saved import normalizing, sidecar, trust
from agents.learning.saved.frames import AXES, Shape, stacked_shape
from agents.learning.saved.policy import Policy
from agents.learning.saved.reading import read_model
from agents.learning.saved.recognizing import algorithm_in
from agents.learning.saved.structured import flat_shape, restored
from mcts_envs.core.writing import write_together

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm

_SMALL = 2_000_000
"""Parameters up to which a network keeps to one core: on two, those of 400,000 answer 32 questions half as fast."""

_SAYS = (
    "get_distribution",
    "predict_values",
    "_get_action_dist_from_latent",
    "predict",
    "_predict",
    "obs_to_tensor",
    "extract_features",
    "action_dist",
    "q_net",
    "quantile_net",
)
"""Methods and parts of a policy that make of what its layers say what it does."""

_NOTHING: Mapping[Path, bytes] = MappingProxyType({})

_PASSING = (
    "_last_episode_starts",
    "_last_obs",
    "_last_original_obs",
    "ep_info_buffer",
    "ep_success_buffer",
    "replay_buffer_class",
    "start_time",
    "tensorboard_log",
)
"""What a model holds of the run that made it, its paths included; the class of its replay buffer is chosen again."""


@dataclass(frozen=True)
class SavedPolicy(Policy):
    """A policy that Stable-Baselines3 saved.

    Attributes
    ----------
    model : BaseAlgorithm
    """

    model: "BaseAlgorithm"

    @cached_property
    def small(self) -> bool:
        """Whether the network is so small that a second core only costs time."""
        return sum(weights.numel() for weights in self.model.policy.parameters()) <= _SMALL

    def __reduce__(self) -> Any:
        """Return what a pickle holds: the model as Stable-Baselines3 saves it; whoever reads it has it on the CPU."""
        raw = io.BytesIO()
        self.model.save(raw, exclude=_PASSING)
        return _from_pickle, (self.path, self.algorithm, raw.getvalue(), self.about)

    def cores(self) -> contextlib.AbstractContextManager[None]:
        """Return what keeps PyTorch to one core where a second does not pay."""
        return one_thread() if self.small else contextlib.nullcontext()

    @property
    def masked(self) -> bool:
        """Whether the policy wants action masks."""
        return takes_masks(self.model)

    @property
    def has_probabilities(self) -> bool:
        """Whether the policy says how probable actions are."""
        return hasattr(self.model.policy, "get_distribution")

    @property
    def observation_shape(self) -> Shape:
        """Shape of the observations that it was trained on; flattened, if they are no arrays."""
        return flat_shape(self.model.observation_space)

    @property
    def structure(self) -> Any:
        """The space of observations that are no arrays; else None."""
        space = self.model.observation_space
        return None if isinstance(space, spaces.Box) else space

    @property
    def observation_dtype(self) -> str:
        """Their type, where the sidecar does not say it."""
        return "uint8" if self._pictured else str(self.model.observation_space.dtype)

    @cached_property
    def _pictured(self) -> bool:
        """Whether ``VecNormalize`` was shown pictures in bytes, of which it makes numbers up to its clip, and no more.

        So are other numbers of these bounds, but the mean of their squares cannot be beyond those.
        """
        space = self.model.observation_space
        if self.moments is None or not isinstance(space, spaces.Box) or len(space.shape) != 3:
            return False
        mean, scale, clip = self.moments
        return bool((space.high == clip).all() and (np.square(mean) + np.square(scale) > np.square(clip) + 1).any())

    @property
    def observation_bounds(self) -> tuple[float, float] | None:
        """The least and the greatest that they may be; None if they are no arrays, or bytes."""
        space = self.model.observation_space
        if not isinstance(space, spaces.Box) or self.in_bytes:
            return None
        return float(space.low.min()), float(space.high.max())

    @property
    def described_space(self) -> dict[str, Any]:
        """What a sidecar says of their space; a bound that is infinite is None, since JSON has no such number."""
        described = {"shape": [*self.observation_shape], "dtype": self.observation_dtype}
        if self.observation_bounds is None:
            return described
        return {**described, "bounds": [bound if math.isfinite(bound) else None for bound in self.observation_bounds]}

    def shown(self, observations: Any) -> Any:
        """Return observations [n, ...] as the model takes them."""
        shown = self.normalized(observations)
        return shown if self.structure is None else restored(self.structure, shown)

    @property
    def action_count(self) -> int:
        """How many actions it chooses among; 0 if they are not numbered."""
        space: Any = self.model.action_space
        return int(space.n) if isinstance(space, spaces.Discrete) else 0  # a MultiBinary has an n too

    def actions(self, observations: Any, masks: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.int64]:
        """Return the best action for each observation."""
        shown = self.shown(observations)
        masked: dict[str, Any] = {"action_masks": masks} if self.masked else {}
        with self.cores():
            chosen, _ = self.model.predict(shown, deterministic=True, **masked)
        return np.asarray(chosen, np.int64)

    def probabilities(self, observations: Any, masks: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.float64]:
        """Return the probability of each action [n, A]."""
        import torch

        policy: Any = self.model.policy
        if not self.has_probabilities:
            raise self._no_probabilities()
        policy.set_training_mode(False)
        with torch.no_grad(), self.cores():
            shown, _ = policy.obs_to_tensor(self.shown(observations))
            distribution = policy.get_distribution(shown, masks) if self.masked else policy.get_distribution(shown)
            found: npt.NDArray[np.float64] = distribution.distribution.probs.numpy(force=True).astype(np.float64)
        return found

    def consulted(
        self, observations: Any, masks: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the probability of each action [n, A] and the values [n]: in one forward pass, if the towers share."""
        import torch

        policy: Any = self.model.policy
        if not says_at_once(policy):
            return super().consulted(observations, masks)
        given, whole = self.shown(observations), self.structure is None
        policy.set_training_mode(False)
        with torch.inference_mode(), self.cores():
            if whole and np.shape(given)[1:] == self.observation_shape:  # at once: to ask takes a tenth of a pass
                shown = torch.as_tensor(given, device=next(policy.action_net.parameters()).device)
            else:
                shown, _ = policy.obs_to_tensor(given)
            actor, critic = policy.mlp_extractor(policy.extract_features(shown))
            logits, values = policy.action_net(actor).numpy(force=True), policy.value_net(critic).numpy(force=True)
        allowed = masks | ~masks.any(1, keepdims=True)
        scores = np.where(allowed, logits.astype(np.float64), -np.inf)
        weights = np.exp(scores - scores.max(1, keepdims=True))
        return weights / weights.sum(1, keepdims=True), np.asarray(self.unit * values[:, 0], np.float64)

    def values(self, observations: Any, masks: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.float64]:
        """Return what observations are worth [n]."""
        import torch

        policy: Any = self.model.policy
        policy.set_training_mode(False)
        with torch.no_grad(), self.cores():
            shown, _ = policy.obs_to_tensor(self.shown(observations))
            if hasattr(policy, "predict_values"):
                found = policy.predict_values(shown)[:, 0]
            elif hasattr(policy, "q_net") or hasattr(policy, "quantile_net"):
                scores = policy.q_net(shown) if hasattr(policy, "q_net") else policy.quantile_net(shown).mean(1)
                if masks is not None:
                    scores = scores.masked_fill(torch.as_tensor(~masks, device=scores.device), -1e8)
                found = scores.amax(1)
            else:
                raise self._no_values()
        return np.asarray(self.unit * found.numpy(force=True), np.float64)


def own_way(policy: Any) -> str | None:
    """Return by which method or part of its own a policy says something else than its layers, if by any."""
    for name in _SAYS:
        found = getattr(policy, name, None)
        if found is not None and found.__module__.split(".")[0] not in ("stable_baselines3", "sb3_contrib"):
            return f"{type(policy).__name__}.{name}"
    return None


def says_at_once(policy: Any) -> bool:
    """Return whether one pass gives probabilities and values: an actor-critic whose towers share, all SB3 own."""
    shared = getattr(policy, "share_features_extractor", False) and hasattr(policy, "action_net")
    return shared and own_way(policy) is None


def save(
    model: "BaseAlgorithm", path: Path | str, about: Mapping[str, Any], more: Mapping[Path, bytes] = _NOTHING
) -> Path:
    """Write a policy, its sidecar and what else belongs to it; all files appear whole, or none does.

    Parameters
    ----------
    model : BaseAlgorithm
    path : Path
        With or without ``.zip``.
    about : mapping
        The sidecar, JSON-able.
    more : mapping, optional
        Other files, with what is in them.

    Returns
    -------
    Path
        Of the zip.
    """
    target = with_suffix(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    model.save(raw := io.BytesIO(), exclude=_PASSING)
    words = json.dumps(about, indent=2, allow_nan=False) + "\n"
    write_together({**more, target: _without_system(raw), target.with_suffix(".json"): words.encode()})
    trust.written(target)
    return target


def load(
    path: Path | str,
    algorithm: str | None = None,
    env_id: str | None = None,
    normalization: normalizing.Given = None,
    frame_stack: int = 1,
) -> SavedPolicy:
    """Read a policy to play with.

    Parameters
    ----------
    path : Path
        Of the zip, with or without ``.zip``.
    algorithm : str, optional
        For a zip that does not say which made it.
    env_id : str, optional
        The environment that the policy must have been made for.
    normalization : Path, "auto" or False, optional
        A pickle of ``VecNormalize`` with which to normalise observations in place of what the sidecar says: its path,
        that beside the policy, or none.
    frame_stack : int
        Frames that each observation of the policy is made of.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it cannot be read, its weights are not finite, its sidecar or normalisation is damaged or another policy's,
        the algorithm is missing or unknown, or it was made by another algorithm or for another environment.
    """
    target, about, algorithm = described(path, algorithm, env_id)
    trust.warn_of_pickles(target)
    import_classes(about)
    model = read_model(target, algorithm)
    check_sidecar(target, about, model)
    if statistics := normalizing.of_policy(target, normalization, about, model):
        _check_size(target, statistics, flat_shape(model.observation_space), frame_stack)
    about = about if statistics is about.get("normalization") else {**about, "normalization": statistics}
    return SavedPolicy(target, algorithm, model, about=about)


def described(
    path: Path | str, algorithm: str | None = None, env_id: str | None = None
) -> tuple[Path, dict[str, Any], str]:
    """Return the path of the zip, its sidecar (empty if there is none) and its algorithm; see :func:`load`."""
    target = with_suffix(path)
    if not target.is_file():
        raise FileNotFoundError(f"there is no policy {target}; give the path of a zip, or train one: scripts/train.py")
    if algorithm is not None:
        algorithm_class(algorithm)
    about = sidecar.read(target.with_suffix(".json"))
    if not zipfile.is_zipfile(target):
        raise ValueError(f"{target} is damaged, or no policy: it is no zip; save or train it anew")
    made_by, made_for = about.get("algorithm"), about.get("environment", env_id)
    if not made_by:
        said = algorithm_in(target)  # raises of what is not read here, whatever it is called
        made_by = algorithm or said
    if made_by is None:
        raise ValueError(
            f"{target} does not say which algorithm made it, as if it was damaged, or made by another one than "
            f"{', '.join(ALGORITHMS)}: save it anew, or name the algorithm, as in algorithm='ppo'"
        )
    if algorithm not in (None, made_by):
        raise ValueError(f"{target} was made by {made_by!r}, not by {algorithm!r}; leave algorithm out")
    if env_id not in (None, made_for):
        raise ValueError(f"{target} was made for {made_for}, not for {env_id}; use it there, or train one for {env_id}")
    return target, about, made_by


def check_sidecar(path: Path, about: Mapping[str, Any], model: "BaseAlgorithm") -> None:
    """Check that a sidecar belongs to the model in the zip beside it.

    Raises
    ------
    ValueError
        If the shape of the observations, the number of actions or the normalisation are not the model's; or the
        statistics of ``VecNormalize`` are those of another number of steps.
    """
    file, steps = path.with_suffix(".json"), int(model.num_timesteps)
    if about.get("normalization") and (said := about.get("timesteps", steps)) != steps:
        raise ValueError(
            f"{file} has the statistics of VecNormalize after {said:,} steps, {path.name} the weights after {steps:,}: "
            f"of two saves; {sidecar.CURE} and normalization='auto'"
        )
    spaces: Any = model.observation_space, model.action_space
    shape = [*flat_shape(spaces[0])]
    sizes = {
        "observation_space.shape": (about.get("observation_space", {}).get("shape", shape), shape),
        "action_space.n": (about["action_space"]["n"], spaces[1].n) if "action_space" in about else (0, 0),
    }
    if statistics := (about.get("normalization") or {}).get("observations"):
        sizes["normalization.observations.mean"] = [*np.shape(statistics["mean"])], shape
    for name, (there, here) in sizes.items():
        if there != here:
            raise ValueError(f"{file}: {name} is of size {there}, but {here} in {path.name}; {sidecar.CURE}")


def _check_size(path: Path, statistics: Mapping[str, Any], shape: Shape, frame_stack: int) -> None:
    """Raise ``ValueError`` unless statistics are of a policy's observations, or of the frames in them."""
    if (observations := statistics["observations"]) is None:
        return
    size = tuple(np.shape(observations["mean"]))
    if size != shape and shape not in [stacked_shape(size, frame_stack, axis) for axis in AXES if size]:
        raise ValueError(
            f"the normalisation given for {path} is of observations {size}, but the policy was trained on {shape} with "
            f"frame_stack={frame_stack}; give the statistics and the frame_stack of its training"
        )


def _from_pickle(path: Path, algorithm: str, content: bytes, about: dict[str, Any]) -> SavedPolicy:
    import_classes(about)
    model = algorithm_class(algorithm).load(io.BytesIO(content), device="cpu")
    return SavedPolicy(path, algorithm, model, about=about)


def with_suffix(path: Path | str) -> Path:
    """Return the path of a policy with ``.zip``."""
    return Path(path) if str(path).endswith(".zip") else Path(f"{path}.zip")


def _without_system(raw: io.BytesIO) -> bytes:
    """Drop the description of the machine from an archive, and the times: neither belongs to the policy.

    Equal policies have equal weights (``policy.pth``); ``data`` holds pickles, whose bytes may differ from process to
    process.
    """
    out = io.BytesIO()
    with zipfile.ZipFile(raw) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            if name != "system_info.txt":
                target.writestr(zipfile.ZipInfo(name), source.read(name), zipfile.ZIP_DEFLATED)
    return out.getvalue()
