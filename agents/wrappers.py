"""Wrappers around an environment: planners play what is inside, whatever is done to its actions and rewards."""

import functools
import warnings
from typing import Any

import gymnasium
from gymnasium.wrappers import NormalizeReward

_REPEATING = {"AtariPreprocessing", "MaxAndSkipEnv", "MaxAndSkipObservation", "RepeatAction"}
"""Wrappers that repeat an action, Gymnasium's and Stable-Baselines3's, by name: which there are depends on releases."""

_KNOWN = ("agents.", "gymnasium.", "mcts_envs.", "pettingzoo.", "stable_baselines3.common.monitor")
"""Modules whose other wrappers leave it at what the environment inside does, but for rewards and actions."""


def layers_of(env: Any) -> list[Any]:
    """Return an environment's wrappers, from the outermost on, and itself."""
    layers = [env]
    while isinstance(layers[-1], gymnasium.Wrapper):
        layers.append(layers[-1].env)
    return layers


def named(env: Any, *kinds: type) -> list[str]:
    """Return the names of the wrappers of some kinds around an environment, from the outermost on."""
    return [type(layer).__name__ for layer in layers_of(env) if isinstance(layer, kinds)]


def check_wrappers(env: Any) -> None:
    """Refuse a wrapper that changes actions; warn, once for each class, of one that may change what a step does.

    These change rewards, repeat actions, say what is legal, or have a ``step`` of their own.

    Raises
    ------
    TypeError
        If there is one that changes actions.
    """
    inside = type(getattr(env, "unwrapped", env)).__name__
    for name in named(env, gymnasium.ActionWrapper):
        raise TypeError(
            f"{name} changes actions on their way to {inside}, and planners play the environment inside it: plan in "
            f"that one, or write the change into {inside}"
        )
    for name in named(env, gymnasium.RewardWrapper, NormalizeReward):
        _warn(f"{name} changes the rewards of", inside, "for those")
    check_steps(layers_of(env))
    for layer in layers_of(env)[:-1]:
        name, names = type(layer).__name__, {kind.__name__ for kind in type(layer).__mro__}
        if names & _REPEATING and getattr(layer, "frame_skip", 2) > 1:
            _warn(f"{name} repeats actions in", inside, "single steps")
        if hasattr(type(layer), "action_masks") and not hasattr(env.unwrapped, "action_masks"):
            _warn(f"{name} says what is legal in", inside, "all actions")


def check_steps(layers: list[Any]) -> None:
    """Warn, once for each class, of a wrapper with a ``step`` of its own, from the outermost of some layers on."""
    for layer in layers[:-1]:
        kind: Any = type(layer)
        if not kind.step.__module__.startswith(_KNOWN) and not {base.__name__ for base in kind.__mro__} & _REPEATING:
            _warn(f"{kind.__name__} has a step of its own around", type(layers[-1]).__name__, "those")


@functools.cache
def _warn(what: str, inside: str, planned: str) -> None:
    warnings.warn(
        f"{what} {inside}; the search plans {planned} of the environment inside it: write the change into {inside} if "
        "it is to count",
        stacklevel=5,
    )
