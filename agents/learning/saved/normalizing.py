"""Statistics of ``VecNormalize``: JSON-able in a sidecar, or pickled beside a policy as Stable-Baselines3 does."""

import math
import os
import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from gymnasium import spaces

from agents.learning.saved import sidecar
from agents.learning.saved.gym_spaces import unpickled_as_gymnasium
from agents.learning.saved.notices import notice
from agents.learning.saved.trust import warn_of_pickles

if TYPE_CHECKING:
    from stable_baselines3.common.vec_env import VecNormalize

Given = Path | str | Literal[False] | None
"""How statistics are asked for: by path, by ``"auto"`` (those beside the policy), not at all, or not mentioned."""

_GREATEST = float(np.finfo(np.float32).max)
"""A bound for what has none: JSON knows no infinity."""

_CHECKPOINT = re.compile(r"(.+)_(\d+_steps)")
_NAMES = ("vecnormalize.pkl", "vec_normalize.pkl")


def normalization(env: "VecNormalize") -> dict[str, Any]:
    """Return the statistics of a ``VecNormalize``; those of rewards only if it divides rewards by them.

    They are JSON-able but for those of dictionaries, which are flattened as
    :func:`agents.learning.saved.structured.restored` takes them: what is not normalised there is bounded by infinity.
    """
    rewards = {**_moments(env.ret_rms), "epsilon": env.epsilon} if env.norm_reward else None
    found: dict[str, Any] = {"rewards": rewards, "observations": None}
    if env.norm_obs:
        own = {"clip": min(env.clip_obs, _GREATEST), "epsilon": env.epsilon}
        found["observations"] = _flattened(env) if isinstance(env.obs_rms, dict) else {**_moments(env.obs_rms), **own}
    return found


def _flattened(env: "VecNormalize") -> dict[str, Any]:
    """Return the statistics of dictionaries as those of one row of numbers."""
    space: Any = env.observation_space
    seen: Any = env.obs_rms
    found: dict[str, list[float]] = {"mean": [], "var": [], "clip": []}
    for name, part in space.items():
        size, moments = spaces.flatdim(part), seen.get(name)
        found["mean"] += [0.0] * size if moments is None else np.ravel(moments.mean).tolist()
        found["var"] += [1.0 - env.epsilon] * size if moments is None else np.ravel(moments.var).tolist()
        found["clip"] += [math.inf if moments is None else env.clip_obs] * size
    return {**found, "count": max(moments.count for moments in seen.values()), "epsilon": env.epsilon}


def restore_normalization(env: "VecNormalize", statistics: Mapping[str, Any]) -> None:
    """Give a ``VecNormalize`` the statistics that :func:`normalization` returned."""
    pairs: list[tuple[Any, Any]] = [(env.ret_rms, statistics["rewards"])]
    if env.norm_obs:
        pairs.append((env.obs_rms, statistics["observations"]))
    for moments, saved in pairs:
        if saved is not None:
            moments.mean, moments.var, moments.count = np.array(saved["mean"]), np.array(saved["var"]), saved["count"]


def beside(policy: Path) -> Path | None:
    """Return the pickle of statistics that lies beside a policy, where those who write them put it.

    They are ``CheckpointCallback`` (``NAME_vecnormalize_1000_steps.pkl`` for ``NAME_1000_steps.zip``), rl-zoo3
    (``NAME/vecnormalize.pkl``, and for what else lies there, as ``best_model.zip``, ``ENV/vecnormalize.pkl`` beside its
    ``ENV/args.yml``), and people (``NAME_vecnormalize.pkl``, ``NAME.pkl``, or ``vecnormalize.pkl`` or
    ``vec_normalize.pkl`` in the same folder).
    """
    folder, stem = policy.parent, policy.stem
    names = [f"{stem}_{name}" for name in _NAMES] + [f"{stem}/{name}" for name in _NAMES]
    names += [f"{stem}.pkl", *_NAMES]
    if match := _CHECKPOINT.fullmatch(stem):
        names.insert(0, f"{match[1]}_vecnormalize_{match[2]}.pkl")
    if len(zoo := [*folder.glob("*/args.yml")]) == 1:
        names.append(f"{zoo[0].parent.name}/{_NAMES[0]}")
    return next((folder / name for name in names if (folder / name).is_file()), None)


def chosen(policy: Path, given: Given) -> Path | None:
    """Return the pickle that a setting asks for; None if it asks for none.

    Raises
    ------
    TypeError
        If it is neither ``"auto"``, a path nor ``False``.
    FileNotFoundError
        If there is none.
    """
    if given is None or given is False:
        return None
    if not isinstance(given, str | os.PathLike):
        raise TypeError(
            f"normalization {given!r} is neither 'auto' nor a path of statistics nor False; give one of them"
        )
    found = beside(policy) if given == "auto" else Path(os.path.expanduser(given))
    if found is None or not found.is_file():
        where = f"beside {policy}" if found is None else f"at {found}"
        raise FileNotFoundError(
            f"normalization={given}: there are no statistics {where}; give the path of what VecNormalize.save wrote"
        )
    return found


def of_policy(policy: Path, given: Given, about: Mapping[str, Any], model: Any) -> dict[str, Any] | None:
    """Return the statistics that a policy plays with: those asked for, or those of its sidecar.

    Statistics that lie beside it, are not asked for and not replaced by a sidecar's are warned of, and so is a model
    that was trained with some where none are found; ``False`` says that they do not matter.
    """
    path = chosen(policy, given)
    if path is not None:
        return read(path)
    if given is False:
        return None
    known: dict[str, Any] | None = about.get("normalization")
    if "normalization" in about:
        return known
    if (found := beside(policy)) is not None:
        notice(
            f"{policy}: {found} lies beside it and is not read, so the policy is shown raw observations; if it was "
            "trained on normalised ones give sb3:PATH normalization=auto (or a path), else normalization=false; to a "
            "search what agents.export(PATH, normalization='auto') wrote, or load_policy(PATH, normalization='auto')"
        )
    elif _was_normalized(model):
        notice(
            f"{policy}: it was trained under VecNormalize, whose statistics are not beside it, so it is shown raw "
            "observations, and its values are taken as sums of rewards; save them where it is trained, "
            "env.save('vecnormalize.pkl'), and give sb3:PATH normalization=vecnormalize.pkl (a search "
            "load_policy(PATH, normalization='vecnormalize.pkl')); if they do not matter, normalization=false"
        )
    return known


def read(path: Path) -> dict[str, Any]:
    """Return the statistics in a pickle of a ``VecNormalize``.

    Raises
    ------
    ValueError
        If it cannot be read, or is something else.
    """
    from stable_baselines3.common.vec_env import VecNormalize

    warn_of_pickles(path)
    try:
        content = path.read_bytes()
        with unpickled_as_gymnasium(content):
            env = pickle.loads(content)
    except Exception as error:
        raise ValueError(f"{path} is damaged, or no pickle ({type(error).__name__}: {error}); save it anew") from error
    if not isinstance(env, VecNormalize):
        raise ValueError(f"{path} holds a {type(env).__name__}, no VecNormalize; give what VecNormalize.save wrote")
    found = normalization(env)
    try:
        sidecar.check_normalization(found)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: {error}; save it anew") from error
    return found


def of_model(model: Any) -> dict[str, Any]:
    """Return what the sidecar of a model in memory would say of normalisation: the present statistics of training.

    A ``VecNormalize`` that neither learns nor divides rewards, as for evaluations, does not say whether that of the
    training divided them; this is warned of, and so is a model that was trained under one and has it no more.
    """
    env = model.get_vec_normalize_env() if hasattr(model, "get_vec_normalize_env") else None
    if env is None:
        if _was_normalized(model):
            name = type(model).__name__
            notice(
                f"{name}: it was trained under VecNormalize, which is not with it, so it is shown raw observations, "
                f"and its values are taken as sums of rewards; give it back, {name}.load(PATH, env=VecNormalize.load("
                "'vecnormalize.pkl', venv)), or take load_policy(PATH, normalization='vecnormalize.pkl')"
            )
        return {}
    if not (env.training or env.norm_reward):
        notice(
            f"{type(model).__name__}: its VecNormalize has training=False and norm_reward=False, so its values are "
            "taken as they are; if its training divided rewards, set norm_reward=True there before the agent is made"
        )
    return {"normalization": normalization(env)}


def _was_normalized(model: Any) -> bool:
    """Return whether a model was trained under ``VecNormalize``, as far as it says.

    Stable-Baselines3 keeps original observations for that alone; but of what learns from a replay buffer always, so
    that only observations beyond all bounds of their space tell: ``VecFrameStack`` has those of each number in
    another order.
    """
    if getattr(model, "_last_original_obs", None) is None:
        return False
    if not hasattr(model, "replay_buffer_class"):
        return True
    return model._last_obs is not None and _outside(model.observation_space, model._last_obs)


def _outside(space: Any, seen: Any) -> bool:
    if isinstance(space, spaces.Dict):
        return any(_outside(part, seen[name]) for name, part in space.items())
    return isinstance(space, spaces.Box) and bool(seen.min() < space.low.min() or seen.max() > space.high.max())


def shows_bytes(model: Any) -> bool:
    """Return whether the environment of a model shows bytes, whatever ``VecNormalize`` makes of them."""
    env = model.get_env() if hasattr(model, "get_env") else None
    return bool((model if env is None else env.unwrapped).observation_space.dtype == np.uint8)


def _moments(moments: Any) -> dict[str, Any]:
    mean, var = np.asarray(moments.mean), np.asarray(moments.var)
    return {"mean": mean.tolist(), "var": var.tolist(), "count": float(moments.count)}
