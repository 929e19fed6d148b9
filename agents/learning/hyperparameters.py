"""Hyper-parameters in the shape of rl-baselines3-zoo: a file for each algorithm, an entry for each environment id."""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from agents.learning.algorithms import TRAINED, algorithm_class, parameters_of
from mcts_envs.core import errors
from mcts_envs.core.loading import file_of, load

_OWN = ("n_envs", "n_timesteps", "normalize", "self_play", "imitate")
_LONGEST = 10**12
_INTEGERS = {
    "n_steps": 1,
    "batch_size": 2,
    "n_epochs": 1,
    "buffer_size": 1,
    "learning_starts": 0,
    "target_update_interval": 1,
    "gradient_steps": -1,
    "stats_window_size": 1,
    "sde_sample_freq": -1,
}
"""Least values: below them an algorithm would divide by 0, train on nothing or never end."""

_FRACTIONS = (
    "gamma",
    "gae_lambda",
    "tau",
    "exploration_fraction",
    "exploration_initial_eps",
    "exploration_final_eps",
)
_POSITIVE = ("ent_coef", "vf_coef", "max_grad_norm", "target_kl", "clip_range", "clip_range_vf", "learning_rate")
"""Numbers from 0 on; the last three may be texts."""

_OPTIONAL = ("target_kl", "clip_range_vf")
_FLAGS = ("normalize_advantage", "use_sde", "optimize_memory_usage")
_MAPPINGS = ("policy_kwargs", "rollout_buffer_kwargs", "replay_buffer_kwargs")
_SCHEDULES = ("learning_rate", "clip_range", "clip_range_vf")
_LARGE = 1e9
_SELF_PLAY = ("every", "most", "choice", "weights", "starts")
_IMITATE = ("agent", "steps", "noise", "learning_rate", "epochs", "window")
_CLASSES = ("features_extractor_class", "activation_fn", "optimizer_class")
"""What of ``policy_kwargs`` is a class: written, as in a sidecar, ``module:Class`` or ``path/to/file.py:Class``."""

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
        If there is no file for the algorithm, a key is unknown, a number is out of its bounds, or a class of
        ``policy_kwargs`` is not where it is said to be.
    TypeError
        If a number is none.
    """
    errors.choice("algorithm to train with", algorithm, TRAINED)
    import yaml  # of an extra: policies are loaded without

    file = resources.files("agents.learning") / "hyperparams" / f"{algorithm}.yml"
    entries: dict[str, dict[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8"))
    merged = {**entries.get(env_id, entries["default"]), **(changes or {})}
    errors.keys(f"{algorithm} hyper-parameter", merged, ("policy", *_OWN[:2]), {*parameters_of(algorithm), *_OWN})
    normalize = _normalize(plain(merged.get("normalize", False)))
    model = {key: plain(value) for key, value in merged.items() if key not in _OWN}
    errors.choice("policy", model["policy"], algorithm_class(algorithm).policy_aliases)
    for key in _MAPPINGS:
        if not isinstance(model.get(key) or {}, Mapping):
            raise ValueError(f"{key} {model[key]!r} is no mapping; write it as dict(net_arch=[64, 64])")
    if kwargs := model.get("policy_kwargs"):
        model["policy_kwargs"] = named(kwargs)
    n_envs = errors.integer("n_envs", merged["n_envs"], 1, 2**16)
    _check(model, n_envs)
    return Hyperparameters(
        n_envs=n_envs,
        n_timesteps=_steps(merged["n_timesteps"]),
        normalize=normalize,
        self_play=_mapping("self_play", merged, (), _SELF_PLAY),
        imitate=_mapping("imitate", merged, _IMITATE[:2] if merged.get("imitate") else (), _IMITATE),
        model=model,
    )


def _check(model: Mapping[str, Any], n_envs: int) -> None:
    """Raise if a number, a flag or a schedule of an algorithm is none."""
    for key in _INTEGERS.keys() & model.keys():
        errors.integer(key, model[key], _INTEGERS[key], _LONGEST)
    for key in model:
        if key in _FRACTIONS:
            errors.number(key, model[key], 0, 1)
        elif key in _FLAGS:
            errors.flag(key, model[key])
        elif key in _POSITIVE and not (isinstance(model[key], str) and key in _SCHEDULES):
            errors.number(key, 0 if model[key] is None and key in _OPTIONAL else model[key], 0, _LARGE)
    often = model.get("train_freq", 1)
    if isinstance(often, (tuple, list)) and [*often[1:]] in (["step"], ["episode"]):
        if often[1] == "episode" and n_envs > 1:
            raise ValueError(f"train_freq {often!r}: episodes are counted in one environment; give n_envs=1, or steps")
        often = often[0]
    errors.integer("train_freq", often, 1, _LONGEST)
    resolved(model)


def _normalize(given: Any) -> dict[str, Any]:
    """Return the arguments of ``VecNormalize``, checked; empty: no normalisation."""
    if isinstance(given, bool):
        return {"norm_obs": True, "norm_reward": True} if given else {}
    if not isinstance(given, Mapping):
        raise TypeError(
            f"normalize {given!r} is no mapping; write true, false or dict(norm_obs=True, norm_reward=True)"
        )
    errors.keys("normalize", given, (), _NORMALIZE)
    for key, value in given.items():
        if key.startswith("norm_"):
            errors.flag(f"normalize {key}", value)
        else:
            least, most = (0.0, 1.0) if key == "gamma" else (1e-12, _LARGE)
            errors.number(f"normalize {key}", value, least, most)
    return dict(given)


def _mapping(key: str, merged: Mapping[str, Any], needed: tuple[str, ...], known: tuple[str, ...]) -> dict[str, Any]:
    """Return the mapping under a key, empty if there is none; the names in it must be known."""
    found = plain(merged.get(key) or {})
    if not isinstance(found, Mapping):
        raise ValueError(f"{key} {found!r} is no mapping; write it as dict({known[0]}=..., {known[1]}=...)")
    errors.keys(key, found, needed, known)
    return dict(found)


def named(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``policy_kwargs`` as they are written down: classes by name, in files that are found from any folder."""
    return {key: _named(key, value) for key, value in kwargs.items()}


def _named(key: str, value: Any) -> Any:
    if key not in _CLASSES or value is None:
        return value
    name = f"{value.__module__}:{value.__qualname__}" if isinstance(value, type) else value
    if "<locals>" in name:
        raise ValueError(f"{key} {name} cannot be found again by its name; define it at the top level of a module")
    class_named(key, name)
    source, _, attribute = name.rpartition(":")
    return f"{file_of(source)}:{attribute}" if source.endswith(".py") else name


def class_named(key: str, name: Any) -> type:
    """Return a class of ``policy_kwargs`` by where it is, ``"torch.nn:ReLU"`` or ``"my_net.py:Net"``.

    Raises
    ------
    ValueError
        If there is no such module, file or class.
    """
    source, _, attribute = str(name).rpartition(":")
    if not source:
        raise ValueError(f"{key} {name!r} is no class; write where it is, as in 'torch.nn:ReLU' or 'my_net.py:Net'")
    found: Any = load(source)
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, type):
        raise ValueError(f"{key} {name!r}: {source} has no class {attribute}")
    return found


def import_classes(about: Mapping[str, Any]) -> None:
    """Import the modules of the classes that the sidecar of a policy names: its pickle names them alone."""
    kwargs = (about.get("hyperparameters") or {}).get("policy_kwargs")
    for key in _CLASSES:
        name = kwargs.get(key) if isinstance(kwargs, Mapping) else None
        if isinstance(name, str) and not name.startswith("__main__:"):  # those are in the pickle themselves
            try:
                load(name.rpartition(":")[0])
            except ValueError as error:
                raise ValueError(f"{key} of the policy: {error}; in its .json write where it is now") from error


def plain(value: Any) -> Any:
    """Return a value, with the zoo's ``"dict(key=literal)"``, or ``"{'key': literal}"``, turned into a dictionary.

    Raises
    ------
    ValueError
        If such a text holds more than literals: nothing in a hyper-parameter file is executed.
    """
    if not isinstance(value, str) or not value.startswith(("dict(", "{")):
        return value
    try:
        call = ast.parse(value, mode="eval").body
        if isinstance(call, ast.Dict):
            return ast.literal_eval(call)
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError("it is not a call with keywords")
        return {str(pair.arg): ast.literal_eval(pair.value) for pair in call.keywords}
    except (SyntaxError, ValueError, TypeError) as error:
        raise ValueError(
            f"hyper-parameter {value!r} is neither dict(key=literal, ...) nor a mapping, "
            'which JSON writes {"net_arch": [64, 64]}'
        ) from error


def _steps(value: Any) -> int:
    """Return a number of steps, which may be written ``2e6``."""
    try:
        steps = 0.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        steps = 0.0
    if not (1 <= steps <= _LONGEST and steps.is_integer()):
        raise ValueError(f"n_timesteps {value!r} is no number of steps from 1 to {_LONGEST}")
    return int(steps)


def resolved(model: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of an algorithm with ``"lin_3e-4"`` made a schedule that falls from there to 0.

    Classes of ``policy_kwargs`` that are named are imported; ``train_freq=[1, "episode"]`` becomes a tuple.

    Raises
    ------
    ValueError
        If a text of that kind has no number in it.
    """
    from stable_baselines3.common.utils import LinearSchedule

    found = dict(model)
    for key in _SCHEDULES:
        value = found.get(key)
        if isinstance(value, str):
            try:
                first = float(value.removeprefix("lin_"))
            except ValueError:
                raise ValueError(f"{key} {value!r} is neither a number nor 'lin_NUMBER', as in 'lin_3e-4'") from None
            errors.number(key, first, 0, _LARGE)
            found[key] = LinearSchedule(first, 0.0, 1.0) if value.startswith("lin_") else first
    if isinstance(often := found.get("train_freq"), list):
        found["train_freq"] = tuple(often)
    if isinstance(kwargs := found.get("policy_kwargs"), Mapping):
        named = {key: class_named(key, kwargs[key]) for key in _CLASSES if isinstance(kwargs.get(key), str)}
        found["policy_kwargs"] = {**kwargs, **named}
    return found
