"""Saved policies: ``NAME.zip``, as Stable-Baselines3 writes it, and ``NAME.json`` that says what it is.

Reading such a zip unpickles objects, which can run any code: load policies only from people you trust.
"""

import contextlib
import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from agents.learning import sidecar
from agents.learning.algorithms import algorithm_class, takes_masks

if TYPE_CHECKING:
    from stable_baselines3.common.base_class import BaseAlgorithm
    from stable_baselines3.common.vec_env import VecNormalize

_PASSING = (
    "_last_episode_starts",
    "_last_obs",
    "_last_original_obs",
    "ep_info_buffer",
    "ep_success_buffer",
    "start_time",
    "tensorboard_log",
)
"""What a model holds of the run that made it, its paths included."""


@dataclass(frozen=True)
class SavedPolicy:
    """A policy that was read from a file.

    Attributes
    ----------
    path : Path
    algorithm : str
    model : BaseAlgorithm
    about : dict
        The sidecar: algorithm, environment, settings, spaces, layout of the board, versions, normalisation, timesteps,
        seed, date; empty for a zip that came without one.
    """

    path: Path
    algorithm: str
    model: "BaseAlgorithm"
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def masked(self) -> bool:
        """Whether the policy wants action masks."""
        return takes_masks(self.model)

    def actions(self, observations: Any, masks: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.int64]:
        """Return the best action for each observation.

        Parameters
        ----------
        observations : float32 array [n, ...]
        masks : bool array [n, A], optional
            Legal actions; only for policies that are ``masked``.
        """
        shown = self._normalized(observations)
        if self.masked:
            chosen, _ = self.model.predict(shown, deterministic=True, action_masks=masks)  # type: ignore[call-arg]
        else:
            chosen, _ = self.model.predict(shown, deterministic=True)
        return np.asarray(chosen, np.int64)

    def probabilities(self, observations: Any, masks: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.float64]:
        """Return the probability of each action [n, A]; parameters as for :meth:`actions`.

        Raises
        ------
        ValueError
            If the policy has no probabilities, as those of DQN.
        """
        import torch

        policy: Any = self.model.policy
        if not hasattr(policy, "get_distribution"):
            raise ValueError(f"a policy of {self.algorithm} has no probabilities; leave out deterministic=False")
        with torch.no_grad():
            shown, _ = policy.obs_to_tensor(self._normalized(observations))
            distribution = policy.get_distribution(shown, masks) if self.masked else policy.get_distribution(shown)
            found: npt.NDArray[np.float64] = distribution.distribution.probs.numpy(force=True).astype(np.float64)
        return found

    def _normalized(self, observations: Any) -> npt.NDArray[np.float32]:
        shown = np.asarray(observations, np.float32)
        statistics = (self.about.get("normalization") or {}).get("observations")
        if statistics is None:
            return shown
        clip = statistics["clip"]
        scale = np.sqrt(np.array(statistics["var"]) + statistics["epsilon"])
        normalized: npt.NDArray[np.float64] = np.clip((shown - np.array(statistics["mean"])) / scale, -clip, clip)
        return normalized.astype(np.float32)


def save(model: "BaseAlgorithm", path: Path | str, about: Mapping[str, Any]) -> Path:
    """Write a policy and its sidecar; each file appears whole or not at all.

    Parameters
    ----------
    model : BaseAlgorithm
    path : Path
        With or without ``.zip``.
    about : mapping
        The sidecar, JSON-able.

    Returns
    -------
    Path
        Of the zip.
    """
    target = with_suffix(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    raw = io.BytesIO()
    model.save(raw, exclude=_PASSING)
    _write(target, _without_system(raw))
    _write(target.with_suffix(".json"), (json.dumps(about, indent=2, allow_nan=False) + "\n").encode())
    return target


def load(path: Path | str, algorithm: str | None = None, env_id: str | None = None) -> SavedPolicy:
    """Read a policy to play with.

    Parameters
    ----------
    path : Path
        Of the zip, with or without ``.zip``.
    algorithm : str, optional
        Needed only for a zip without sidecar.
    env_id : str, optional
        The environment that the policy must have been made for.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it cannot be read, its sidecar is damaged or another policy's, the algorithm is missing or unknown, or it was
        made by another algorithm or for another environment.
    """
    target, about, algorithm = described(path, algorithm, env_id)
    model = read_model(target, algorithm)
    check_sidecar(target, about, model)
    return SavedPolicy(target, algorithm, model, about)


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
    made_by, made_for = about.get("algorithm", algorithm), about.get("environment", env_id)
    if made_by is None:
        raise ValueError(f"{target} has no {target.stem}.json beside it: name its algorithm, as in algorithm='ppo'")
    if algorithm not in (None, made_by):
        raise ValueError(f"{target} was made by {made_by!r}, not by {algorithm!r}; leave algorithm out")
    if env_id not in (None, made_for):
        raise ValueError(f"{target} was made for {made_for}, not for {env_id}; use it there, or train one for {env_id}")
    return target, about, made_by


def read_model(path: Path, algorithm: str, **arguments: Any) -> "BaseAlgorithm":
    """Return the model in a zip; ``arguments`` go to Stable-Baselines3's ``load``.

    Raises
    ------
    ValueError
        If the file is damaged, or no policy of this algorithm.
    """
    cls = algorithm_class(algorithm)
    try:
        model = cls.load(path, **{"device": "cpu", **arguments})
    except Exception as error:
        detail = f"{type(error).__name__}: {error}".splitlines()[0][:200]
        raise ValueError(f"{path} is damaged, or no policy of {algorithm} ({detail}); save or train it anew") from error
    if not isinstance(model.policy, cls.policy_aliases["MlpPolicy"]):
        kind = type(model.policy).__name__
        raise ValueError(f"{path} holds a {kind}, which is no policy of {algorithm}; name the algorithm that made it")
    return model


def check_sidecar(path: Path, about: Mapping[str, Any], model: "BaseAlgorithm") -> None:
    """Check that a sidecar belongs to the model in the zip beside it.

    Raises
    ------
    ValueError
        If the shape of the observations, the number of actions or the normalisation is not the model's.
    """
    spaces: Any = model.observation_space, model.action_space
    shape = [*(spaces[0].shape or ())]
    said = {
        "observation_space.shape": (about.get("observation_space", {}).get("shape", shape), shape),
        "action_space.n": (about["action_space"]["n"], spaces[1].n) if "action_space" in about else (0, 0),
    }
    if statistics := (about.get("normalization") or {}).get("observations"):
        said["normalization.observations.mean"] = [*np.shape(statistics["mean"])], shape
    for name, (there, here) in said.items():
        if there != here:
            file = path.with_suffix(".json")
            raise ValueError(f"{file}: {name} is of size {there}, but {here} in {path.name}; {sidecar.CURE}")


def normalization(env: "VecNormalize") -> dict[str, Any]:
    """Return the statistics of a ``VecNormalize``, JSON-able."""
    found: dict[str, Any] = {"rewards": _moments(env.ret_rms), "observations": None}
    if env.norm_obs:
        found["observations"] = {**_moments(env.obs_rms), "clip": env.clip_obs, "epsilon": env.epsilon}
    return found


def restore_normalization(env: "VecNormalize", statistics: Mapping[str, Any]) -> None:
    """Give a ``VecNormalize`` the statistics that :func:`normalization` returned."""
    pairs: list[tuple[Any, Any]] = [(env.ret_rms, statistics["rewards"])]
    if env.norm_obs:
        pairs.append((env.obs_rms, statistics["observations"]))
    for moments, saved in pairs:
        if saved is not None:
            moments.mean, moments.var, moments.count = np.array(saved["mean"]), np.array(saved["var"]), saved["count"]


def with_suffix(path: Path | str) -> Path:
    """Return the path of a policy with ``.zip``."""
    return Path(path) if str(path).endswith(".zip") else Path(f"{path}.zip")


def _moments(moments: Any) -> dict[str, Any]:
    mean, var = np.asarray(moments.mean), np.asarray(moments.var)
    return {"mean": mean.tolist(), "var": var.tolist(), "count": float(moments.count)}


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


def _write(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
