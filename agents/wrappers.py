"""Wrappers around an environment: planners play what is inside, and follow some of what is done to its steps."""

import contextlib
import functools
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import (
    VectorActionWrapper,
    VectorEnv,
    VectorObservationWrapper,
    VectorRewardWrapper,
    VectorWrapper,
)
from gymnasium.wrappers import Autoreset, DelayObservation, NormalizeReward
from gymnasium.wrappers.vector import NormalizeReward as NormalizeRewards

from mcts_envs.core.own_code import warn
from mcts_envs.core.view import View

OF_OBSERVATIONS = gymnasium.ObservationWrapper, VectorObservationWrapper
OF_ACTIONS = gymnasium.ActionWrapper, VectorActionWrapper
OF_REWARDS = gymnasium.RewardWrapper, NormalizeReward, VectorRewardWrapper, NormalizeRewards

_REPEATING = {
    "AtariPreprocessing": "frame_skip",
    "MaxAndSkipEnv": "_skip",
    "MaxAndSkipObservation": "_skip",
    "RepeatAction": "num_repeats",
    "Repeated": "times",
}
"""Wrappers that repeat an action, Gymnasium's and Stable-Baselines3's, by name, since which there are depends on
releases, and how often they do."""

_KNOWN = ("agents.", "gymnasium.", "mcts_envs.", "pettingzoo.", "stable_baselines3.common.monitor")
"""Modules whose other wrappers leave it at what the environment inside does, but for rewards and actions."""


def layers_of(env: Any) -> list[Any]:
    """Return the wrappers of an environment, or of a batch, from the outermost on, and itself."""
    layers = [env]
    while isinstance(layers[-1], (gymnasium.Wrapper, VectorWrapper)):
        layers.append(layers[-1].env)
    return layers


def resets_next(env: Any) -> bool:
    """Return whether the next step of an environment resets it, whatever the action, as that of Gymnasium's wrapper."""
    return any(isinstance(layer, Autoreset) and layer.autoreset for layer in layers_of(env))


def named(env: Any, *kinds: type) -> list[str]:
    """Return the names of the wrappers of some kinds around an environment, from the outermost on."""
    return [type(layer).__name__ for layer in layers_of(env) if isinstance(layer, kinds)]


def teller(env: Any) -> Any:
    """Return the outermost layer of an environment that says what is legal, a wrapper or itself; None if none does."""
    return next((layer for layer in layers_of(env) if hasattr(layer, "action_masks")), None)


def masks_of(env: Any) -> Any:
    """Return what an environment with ``action_masks`` says to be legal, a method or not."""
    masks = env.action_masks
    return masks() if callable(masks) else masks


def repeats_of(layer: Any) -> int:
    """Return how often a wrapper makes each step."""
    return max(_repeats(layer), default=1)


def _repeats(layer: Any) -> list[int]:
    """Return how often a wrapper makes each step; nothing if it is none of those that say so."""
    names = {kind.__name__ for kind in type(layer).__mro__} & _REPEATING.keys()
    return [int(getattr(layer, _REPEATING[name])) for name in names if hasattr(layer, _REPEATING[name])]


def check_wrappers(env: Any, followed: Sequence[Any] = ()) -> None:
    """Refuse a wrapper that changes actions; warn, once for each class, of one that may change what a step does.

    These change rewards, repeat actions, say what is legal, or have a ``step`` of their own.

    Parameters
    ----------
    env : gymnasium.Env or gymnasium.vector.VectorEnv
    followed : sequence
        Its wrappers whose changes planners follow.

    Raises
    ------
    TypeError
        If there is one that changes actions.
    """
    for said in unfollowed(env, followed):
        _warn(said)


def unfollowed(env: Any, followed: Sequence[Any] = ()) -> list[str]:
    """Say what wrappers do that planners do not follow, and refuse one, as :func:`check_wrappers` does."""
    inside, said = _inside(getattr(env, "unwrapped", env)), []
    layers = layers_of(env)
    left = [layer for layer in layers if not any(layer is each for each in followed)]
    for layer in left[:-1]:
        name = type(layer).__name__
        if isinstance(layer, OF_ACTIONS):
            raise TypeError(
                f"{name} changes actions on their way to {inside}, and planners play the environment inside it: plan "
                f"in that one, or write the change into {inside}"
            )
        if isinstance(layer, OF_REWARDS):
            said.append(_instead(f"{name} changes the rewards of", inside, "for those"))
        if repeats_of(layer) > 1:
            said.append(_instead(f"{name} repeats actions in", inside, "single steps"))
    if not hasattr(layers[-1], "action_masks") and any(layer is teller(env) for layer in left[:-1]):
        said.append(_instead(f"{type(teller(env)).__name__} says what is legal in", inside, "all actions"))
    for layer in layers[:-1]:
        name = type(layer).__name__
        if vars(layer).get("terminal_on_life_loss"):
            said.append(_instead(f"{name} ends episodes of", inside, "whole ones"))
    return said + own_steps(left)


def check_steps(layers: list[Any]) -> None:
    """Warn, once for each class, of a wrapper with a ``step`` of its own, from the outermost of some layers on."""
    for said in own_steps(layers):
        _warn(said)


def check_around(env: Any, inner: Any) -> None:
    """Check the wrappers around an environment of ours, as :func:`check_wrappers` does, and those of PettingZoo.

    One that shows late what was observed is warned of, too, and a class derived from ours with a ``step`` of its own.

    Raises
    ------
    TypeError
        If there is one that changes actions.
    """
    check_wrappers(env)
    for name in named(env, DelayObservation):
        _warn(f"{name} shows late what {_inside(inner)} shows; the search plans from what is so now")
    _check_derived(type(inner))
    layers = [env]
    while layers[-1] is not inner and not isinstance(layers[-1], (gymnasium.Env, VectorEnv)):
        within = getattr(layers[-1], "env", None) or getattr(layers[-1], "aec_env", None)  # of a conversion
        if within is None:
            return
        layers.append(within)
    check_steps(layers)


def check_masks(env: Any, inner: Any, view: View) -> None:
    """Warn, once for each class, of a wrapper around an environment of ours that forbids some of what is legal now."""
    for layer in layers_of(env)[:-1]:
        mask: Any = ()
        with contextlib.suppress(Exception):  # it may want arguments, or fail: nobody plays by it here
            mask = np.ravel(masks_of(layer))
        if len(mask) == view.game.actions and not mask[view.legal_actions()].all():
            _warn(_instead(f"{type(layer).__name__} forbids what is legal in", _inside(inner), "all actions"))


def _check_derived(kind: type) -> None:
    """Warn, once for each class, of one that is derived from an environment of ours and steps otherwise."""
    steps = [base.__module__ for base in kind.__mro__ if "step" in vars(base)]
    if steps and not steps[0].startswith(_KNOWN) and any(each.startswith("mcts_envs.") for each in steps):
        _warn(
            f"{kind.__name__} has a step of its own; the search plans by the game inside it: write the change into its "
            "rules or settings if it is to count"
        )


def own_steps(layers: list[Any]) -> list[str]:
    """Say which wrappers have a ``step`` of their own, from the outermost of some layers on."""
    kinds: list[Any] = [type(layer) for layer in layers[:-1] if not _repeats(layer)]
    inside = _inside(layers[-1])
    return [
        _instead(f"{kind.__name__} has a step of its own around", inside, "those")
        for kind in kinds
        if not kind.step.__module__.startswith(_KNOWN)
    ]


def _inside(inner: Any) -> str:
    """Return the class of what planners play: of a batch of environments, that of the first."""
    envs = getattr(inner, "envs", ()) if hasattr(inner, "num_envs") else ()
    return type(envs[0].unwrapped if envs else inner).__name__


def _instead(what: str, inside: str, planned: str) -> str:
    return (
        f"{what} {inside}; the search plans {planned} of the environment inside it: write the change into {inside} if "
        "it is to count"
    )


_warn = functools.cache(warn)
