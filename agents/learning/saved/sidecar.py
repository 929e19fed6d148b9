"""The sidecar of a saved policy: ``NAME.json`` beside ``NAME.zip``, which says what the policy is."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from agents.learning.algorithms import ALGORITHMS
from mcts_envs.core import errors

CURE = "restore the file, or remove it and name the algorithm, as in algorithm='ppo'"

_KINDS: dict[str, tuple[type, str]] = {
    "algorithm": (str, "a name"),
    "environment": (str, "an environment id"),
    "game": (str, "a name"),
    "settings": (dict, "an object"),
    "hyperparameters": (dict, "an object"),
    "observation_space": (dict, "an object"),
    "action_space": (dict, "an object"),
    "layout": (dict, "an object"),
    "versions": (dict, "an object"),
    "date": (str, "a date"),
}
_LARGE = 10**12


def read(path: Path) -> dict[str, Any]:
    """Return what a sidecar says, checked; empty if there is no such file.

    Only ``algorithm`` must be there, but what is there must be right; keys that this package does not use are kept.

    Raises
    ------
    ValueError
        If it is no JSON, or a field is damaged; names the file, the field and the cure.
    """
    if not path.is_file():
        return {}
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is no JSON ({error}); {CURE}") from error
    if not isinstance(about, dict) or "algorithm" not in about:
        raise ValueError(f"{path} describes no policy: it names no algorithm; {CURE}")
    try:
        check(about)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}; {CURE}") from error
    return about


def check(about: Mapping[str, Any]) -> None:
    """Raise ``TypeError`` or ``ValueError`` unless this is what a sidecar says, as far as it says it."""
    for name, (kind, words) in _KINDS.items():
        if name in about:
            _expect(name, about[name], kind, words)
    errors.choice("algorithm", about["algorithm"], ALGORITHMS)
    for name, high in (("timesteps", _LARGE), ("seed", 2**31 - 1)):
        if name in about:
            errors.integer(name, about[name], 0, high)
    for name in ("policy_kwargs", "normalize"):
        if given := about.get("hyperparameters", {}).get(name):
            _expect(f"hyperparameters.{name}", given, dict, "an object")
    if "observation_space" in about:
        errors.keys("observation_space", about["observation_space"], ("shape",), ("dtype", "bounds"))
        _check_shape("observation_space.shape", about["observation_space"]["shape"])
        if "bounds" in about["observation_space"]:
            _check_bounds("observation_space.bounds", about["observation_space"]["bounds"])
    if "action_space" in about:
        errors.keys("action_space", about["action_space"], ("n",))
        errors.integer("action_space.n", about["action_space"]["n"], 1, _LARGE)
    for name, shape in about.get("layout", {}).items():
        _check_shape(f"layout.{name}", shape)
    if about.get("normalization") is not None:
        check_normalization(about["normalization"])


def check_normalization(given: Any) -> None:
    """Raise ``TypeError`` or ``ValueError`` unless this is what a sidecar says about ``VecNormalize``."""
    _expect("normalization", given, dict, "an object")
    errors.keys("normalization", given, ("rewards", "observations"))
    for part, more, rest in (("rewards", (), ("epsilon",)), ("observations", ("clip", "epsilon"), ())):
        name, moments = f"normalization.{part}", given[part]
        if moments is None:
            continue
        _expect(name, moments, dict, "an object")
        errors.keys(name, moments, ("mean", "var", "count", *more), rest)
        mean, var = _numbers(f"{name}.mean", moments["mean"]), _numbers(f"{name}.var", moments["var"])
        if mean.shape != var.shape:
            raise ValueError(f"{name}.mean has shape {mean.shape} and {name}.var {var.shape}; they must be equal")
        if (var < 0).any():
            raise ValueError(f"{name}.var has the value {var.min()}; a variance is not negative")
        errors.number(f"{name}.count", moments["count"], 0, math.inf)
        for bound in moments.keys() & {*more, *rest}:
            for value in np.ravel(moments[bound]).tolist():
                errors.number(f"{name}.{bound}", value, 1e-12, math.inf)


def _expect(name: str, value: Any, kind: type, words: str) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{name} {value!r:.80} is {type(value).__name__}, not {words}")


def _check_shape(name: str, value: Any) -> None:
    _expect(name, value, list, "a list of sizes")
    for i, size in enumerate(value):
        errors.integer(f"{name}[{i}]", size, 1, _LARGE)


def _check_bounds(name: str, value: Any) -> None:
    _expect(name, value, list, "a list of the least and the greatest")
    if len(value) != 2:
        raise ValueError(f"{name} has {len(value)} entries, not the least and the greatest")
    low, high = -math.inf if value[0] is None else value[0], math.inf if value[1] is None else value[1]
    errors.number(f"{name}[0]", low, -math.inf, errors.number(f"{name}[1]", high, -math.inf, math.inf))


def _numbers(name: str, value: Any) -> Any:
    try:
        found = np.asarray(value, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} {value!r:.80} is no array of numbers") from error
    if not np.isfinite(found).all():
        raise ValueError(f"{name} has values that are not finite")
    return found
