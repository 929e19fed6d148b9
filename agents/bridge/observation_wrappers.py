"""What observation wrappers make of what an environment shows: policies were trained behind them."""

import copy
import math
from collections.abc import Sequence
from types import CellType, FunctionType, MethodType
from typing import Any

import gymnasium
from gymnasium.spaces import Dict, Tuple
from gymnasium.wrappers import DelayObservation, NormalizeObservation, TransformObservation
from pettingzoo.utils.wrappers import BaseWrapper

from agents.bridge.copying.classes import slots_of
from agents.wrappers import layers_of

_PICTURE = 10_000
"""As many numbers or more are taken for a picture."""


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


def looking(lenses: Sequence[Any]) -> Sequence[Any]:
    """Return the wrappers up to the last that may show more than what it is given: it looks at the environment itself.

    Those of Gymnasium do not, but for what their functions ask; pictures, which would be drawn at every step, are left.
    """
    for place in range(len(lenses), 0, -1):
        lens = lenses[place - 1]
        looks = not isinstance(lens, (TransformObservation, NormalizeObservation)) or _asks(lens)
        if looks and _numbers(lens.observation_space) < _PICTURE:
            return lenses[:place]
    return ()


def _numbers(space: Any) -> int:
    """Return how many numbers the arrays of a space hold."""
    if isinstance(space, (Dict, Tuple)):
        return sum(map(_numbers, space.values() if isinstance(space, Dict) else space.spaces))
    return math.prod(space.shape or ())


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
    stand_ins = {id(layer): own} | {id(inner): env for inner in layers_of(layer)[1:-1]}
    stand_ins[id(layer.unwrapped)] = env.unwrapped
    kept = {name: _of(value, stand_ins) for name, value in vars(layer).items()}
    vars(own).update(kept, env=env)
    return own


def _of(value: Any, stand_ins: dict[int, Any]) -> Any:
    """Return what a wrapper holds for one like it: functions that ask its environment, or it, ask what stands in."""
    if isinstance(value, FunctionType) and value.__closure__:
        cells = [(cell, stand_ins.get(id(_held_by(cell)))) for cell in value.__closure__]
        closure = tuple(cell if stand_in is None else CellType(stand_in) for cell, stand_in in cells)
        function = FunctionType(value.__code__, value.__globals__, value.__name__, value.__defaults__, closure)
        function.__kwdefaults__ = value.__kwdefaults__
        return function
    if isinstance(value, MethodType) and id(value.__self__) in stand_ins:
        return MethodType(value.__func__, stand_ins[id(value.__self__)])
    return _kept(value)


def _held_by(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


def _asks(lens: Any) -> bool:
    """Say whether a function given to a wrapper asks an environment; Gymnasium's own ask for spaces alone."""
    function = getattr(lens, "func", None)
    if not isinstance(lens, TransformObservation) or getattr(function, "__module__", "").startswith("gymnasium."):
        return False
    return any(isinstance(_held_by(cell), gymnasium.Env) for cell in getattr(function, "__closure__", None) or ())


def _kept(value: Any) -> Any:
    """Return what a wrapper holds, containers and statistics copied: it may write in them when it looks."""
    if callable(value) or isinstance(value, (gymnasium.Env, gymnasium.Space)):
        return value
    try:
        return copy.copy(value)
    except TypeError:  # a lock, say
        return value
