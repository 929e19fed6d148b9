"""Hyper-parameters in the shape of rl-baselines3-zoo: a file for each algorithm, an entry for each environment id."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

import yaml

from agents.learning.algorithms import TRAINED, parameters_of
from mcts_envs.core import errors

_OWN = ("n_envs", "n_timesteps", "normalize", "self_play", "imitate")
_LONGEST = 10**12
_INTEGERS = {"n_steps": 1, "batch_size": 2, "n_epochs": 1}
"""Least values: below them an algorithm would divide by 0, train on nothing or never end."""

_FRACTIONS = ("gamma", "gae_lambda")
_SELF_PLAY = ("every", "most", "choice", "weights", "starts")
_IMITATE = ("agent", "steps", "noise", "learning_rate", "epochs", "window")
_NORMALIZE = ("norm_obs", "norm_reward", "clip_obs", "clip_reward", "gamma", "epsilon")


@dataclass(frozen=True)
class Hyperparameters:
    """What a training is made with.

    Attributes
    ----------
    n_envs : int
        Environments in the batch.
    n_timesteps : int
        Steps to train for, over all environments together.
    normalize : dict
        Arguments of ``VecNormalize``; empty: no normalisation.
    self_play : dict
        Arguments of :class:`agents.learning.selfplay.SelfPlay`, for trainings against a mixture of opponents.
    imitate : dict
        Arguments of :func:`agents.learning.imitation.imitate`, which comes first; empty: nobody is imitated.
    model : dict
        Arguments of the algorithm, ``policy`` included, as written (``"lin_3e-4"`` not yet resolved).
    """

    n_envs: int
    n_timesteps: int
    normalize: dict[str, Any]
    self_play: dict[str, Any]
    imitate: dict[str, Any]
    model: dict[str, Any]


def hyperparameters(algorithm: str, env_id: str, changes: Mapping[str, Any] | None = None) -> Hyperparameters:
    """Return the hyper-parameters for an environment: its own entry, or the entry ``default``.

    Parameters
    ----------
    algorithm : {"ppo", "maskable_ppo", "dqn"}
    env_id : str
        With ``mcts_envs/``.
    changes : dict, optional
        Values that replace those of the file, under the same keys.

    Raises
    ------
    ValueError
        If there is no file for the algorithm, a key is unknown, or a number is out of its bounds.
    TypeError
        If a number is none.
    """
    if algorithm not in TRAINED:
        raise ValueError(errors.unknown("algorithm to train with", algorithm, TRAINED))
    file = resources.files("agents.learning") / "hyperparams" / f"{algorithm}.yml"
    entries: dict[str, dict[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    merged = {**entries.get(env_id, entries["default"]), **(changes or {})}
    errors.keys(f"{algorithm} hyper-parameter", merged, ("policy", *_OWN[:2]), {*parameters_of(algorithm), *_OWN})
    normalize = plain(merged.get("normalize", False))
    if isinstance(normalize, bool):
        normalize = {"norm_obs": True, "norm_reward": True} if normalize else {}
    errors.keys("normalize", normalize, (), _NORMALIZE)
    model = {key: plain(value) for key, value in merged.items() if key not in _OWN}
    for key in _INTEGERS.keys() & model.keys():
        errors.integer(key, model[key], _INTEGERS[key], _LONGEST)
    for key in _FRACTIONS:
        if key in model:
            errors.number(key, model[key], 0, 1)
    return Hyperparameters(
        n_envs=errors.integer("n_envs", merged["n_envs"], 1, 2**16),
        n_timesteps=_steps(merged["n_timesteps"]),
        normalize=normalize,
        self_play=_mapping("self_play", merged, (), _SELF_PLAY),
        imitate=_mapping("imitate", merged, _IMITATE[:2] if merged.get("imitate") else (), _IMITATE),
        model=model,
    )


def _mapping(key: str, merged: Mapping[str, Any], needed: tuple[str, ...], known: tuple[str, ...]) -> dict[str, Any]:
    """Return the mapping under a key, empty if there is none; the names in it must be known."""
    found = plain(merged.get(key) or {})
    if not isinstance(found, Mapping):
        raise ValueError(f"{key} {found!r} is no mapping; write it as dict({known[0]}=..., {known[1]}=...)")
    errors.keys(key, found, needed, known)
    return dict(found)


def plain(value: Any) -> Any:
    """Return a value, with the zoo's ``"dict(key=literal)"`` turned into a dictionary.

    Raises
    ------
    ValueError
        If such a text holds more than literals: nothing in a hyper-parameter file is executed.
    """
    if not isinstance(value, str) or not value.startswith("dict("):
        return value
    try:
        call = ast.parse(value, mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError("it is not a call with keywords")
        return {str(pair.arg): ast.literal_eval(pair.value) for pair in call.keywords}
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"hyper-parameter {value!r} is no dict(key=literal, ...): {error}; use a mapping") from error


def _steps(value: Any) -> int:
    """Return a number of steps, which may be written ``2e6``."""
    try:
        return errors.integer("n_timesteps", int(float(value)), 1, _LONGEST)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"n_timesteps {value!r} is no number of steps from 1 to {_LONGEST}") from error


def resolved(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an algorithm with ``"lin_3e-4"`` made a schedule that falls from there to 0.

    Raises
    ------
    ValueError
        If a text of that kind has no number in it.
    """
    from stable_baselines3.common.utils import LinearSchedule

    found = dict(model)
    for key in ("learning_rate", "clip_range", "clip_range_vf"):
        value = found.get(key)
        if isinstance(value, str):
            try:
                found[key] = LinearSchedule(float(value.removeprefix("lin_")), 0.0, 1.0)
            except ValueError:
                raise ValueError(f"{key} {value!r} is neither a number nor 'lin_NUMBER', as in 'lin_3e-4'") from None
            if not value.startswith("lin_"):
                found[key] = float(value)
    return found
