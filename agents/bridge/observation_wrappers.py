"""What observation wrappers make of what an environment shows: policies were trained behind them."""

import copy
from collections.abc import Sequence
from typing import Any

import gymnasium
from gymnasium.wrappers import DelayObservation, NormalizeObservation
from pettingzoo.utils.wrappers import BaseWrapper

from agents.bridge.copying.classes import slots_of


def lenses_of(layers: Sequence[Any]) -> tuple[list[Any], int]:
    """Return the observation wrappers among the layers of an environment, from the innermost on, and where they end.

    They end where a wrapper keeps something of the past, as one that stacks frames, counts steps or delays what is
    shown does: that is not copied. Its place among the layers is returned; -1 if there is none.
    """
    found = []
    for place in range(len(layers) - 2, -1, -1):
        layer = layers[place]
        looks = isinstance(layer, gymnasium.ObservationWrapper) and not isinstance(layer, DelayObservation)
        if looks and type(layer).step is gymnasium.ObservationWrapper.step:
            found.append(layer)
        elif looks or layer.observation_space != layer.env.observation_space:
            return found, place
    return found, -1


def veils_of(layers: Sequence[Any]) -> tuple[Any, ...]:
    """Return the wrappers among the layers of an environment that may hide what it shows, from the outermost on.

    They end where one of Gymnasium's that is not among them shows something else, as stacked frames or statistics do:
    what is outside of it looks at that.
    """
    found: list[Any] = []
    for layer in reversed(layers[:-1]):
        if _may_hide(layer):
            found.insert(0, layer)
        elif isinstance(layer, gymnasium.Wrapper) and _shows_another(layer):
            break
    return tuple(found)


def _shows_another(layer: Any) -> bool:
    return isinstance(layer, NormalizeObservation) or bool(layer.observation_space != layer.env.observation_space)


def _may_hide(layer: Any) -> bool:
    """Say whether a wrapper shows something else than what is inside, but for statistics."""
    kind: Any = type(layer)
    if isinstance(layer, BaseWrapper):
        return kind.observe is not BaseWrapper.observe and not kind.observe.__module__.startswith("pettingzoo.")
    return isinstance(layer, gymnasium.ObservationWrapper) and not isinstance(layer, NormalizeObservation)


def through(lenses: Sequence[Any], env: Any, seen: Any) -> Any:
    """Return what is seen of an environment through wrappers, which are left as they are.

    Parameters
    ----------
    lenses : sequence of ObservationWrapper
        Of the live environment.
    env : Env
        The copy that they are to look at.
    seen : object
        What it showed.
    """
    for lens in lenses:
        own = detached(lens, env)
        if isinstance(own, NormalizeObservation):
            own.update_running_mean = False
        env, seen = own, own.observation(seen)
    return seen


def detached(layer: Any, env: Any) -> Any:
    """Return a wrapper like another one, around a copy of its environment."""
    kind: Any = type(layer)
    own = object.__new__(kind)
    for slot in slots_of(kind):
        if hasattr(layer, slot.__name__):
            slot.__set__(own, _kept(slot.__get__(layer)))
    vars(own).update({name: _kept(value) for name, value in vars(layer).items()}, env=env)
    return own


def _kept(value: Any) -> Any:
    """Return what a wrapper holds, containers and statistics copied: it may write in them when it looks."""
    if callable(value) or isinstance(value, (gymnasium.Env, gymnasium.Space)):
        return value
    try:
        return copy.copy(value)
    except TypeError:  # a lock, say
        return value
