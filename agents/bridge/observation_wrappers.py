"""What observation wrappers make of what an environment shows: policies were trained behind them."""

import copy
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import gymnasium
from gymnasium.spaces import Dict, Tuple
from gymnasium.wrappers import DelayObservation, NormalizeObservation, TransformObservation
from pettingzoo import ParallelEnv
from pettingzoo.utils.wrappers import BaseWrapper

from agents.bridge.copying.classes import slots_of
from agents.wrappers import layers_of

_EMPTY = CellType()
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
        elif looks or _another_space(layer):
            return found, place
    return found, -1


def lenses_in_turn(layers: Sequence[Any]) -> list[Any]:
    """Return the wrappers of PettingZoo with an ``observe`` of their own, from the innermost on.

    They end where one has a ``step`` of its own too: it may keep something of the past.
    """
    found = []
    for layer in reversed(layers[:-1]):
        if isinstance(layer, BaseWrapper) and _may_hide(layer):
            if not type(layer).step.__module__.startswith("pettingzoo."):
                break
            found.append(layer)
    return found


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
    return isinstance(layer, NormalizeObservation) or _another_space(layer)


def _another_space(layer: Any) -> bool:
    inside = layer.env.observation_space
    return layer.observation_space is not inside and bool(layer.observation_space != inside)  # pictures compare slowly


def _may_hide(layer: Any) -> bool:
    """Say whether a wrapper shows something else than what is inside, but for statistics."""
    kind: Any = type(layer)
    if isinstance(layer, BaseWrapper):
        return kind.observe is not BaseWrapper.observe and not kind.observe.__module__.startswith("pettingzoo.")
    return isinstance(layer, gymnasium.ObservationWrapper) and not isinstance(layer, NormalizeObservation)


class _Said:
    """An environment in which all choose at once, as wrappers of turns look at it: it shows what it said last."""

    def __init__(self, env: Any, seen: Any) -> None:
        self._env, self._seen = env, seen

    def observe(self, agent: Any) -> Any:
        """Return what the agent who looks was shown."""
        return self._seen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._env, name)


def through(lenses: Sequence[Any], env: Any, seen: Any, agent: Any = None) -> Any:
    """Return what is seen of an environment through wrappers, which are left as they are.

    Parameters
    ----------
    lenses : sequence of ObservationWrapper or BaseWrapper
        Of the live environment.
    env : Env
        The copy that they are to look at.
    seen : object
        What it showed.
    agent : object
        Who looks, in PettingZoo.
    """
    if lenses and isinstance(env, ParallelEnv):
        env = _Said(env, seen)
    for lens in lenses:
        own = detached(lens, env)
        if isinstance(own, BaseWrapper):
            env, seen = own, own.observe(agent)
            continue
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
    known, inside = {id(inner): env for inner in layers_of(layer)[1:-1]}, layer.unwrapped
    known |= {id(layer): own, id(inside): env.unwrapped}

    def stand_in(value: Any) -> Any:
        around = id(value) not in known and isinstance(value, gymnasium.Wrapper) and value.unwrapped is inside
        return own if around else known.get(id(value))

    met: dict[int, Any] = {}
    kept = {name: _kept(_asking(value, stand_in, met)) for name, value in vars(layer).items() if name != "env"}
    vars(own).update(kept, env=env)
    return own


def _asking(value: Any, stand_in: Callable[[Any], Any], met: dict[int, Any]) -> Any:
    """Return what a wrapper holds for one like it: whatever asks its environment, or it, asks what stands in."""
    if id(value) in met:
        return met[id(value)]
    if (other := stand_in(value)) is not None or isinstance(value, gymnasium.Env):
        return value if other is None else other
    if isinstance(value, FunctionType):
        return _function(value, stand_in, met)
    if isinstance(value, MethodType):
        whose = _asking(value.__self__, stand_in, met)
        return value if whose is value.__self__ else MethodType(value.__func__, whose)
    if isinstance(value, partial):
        given = {name: _asking(part, stand_in, met) for name, part in value.keywords.items()}
        function, *args = [_asking(part, stand_in, met) for part in (value.func, *value.args)]
        return partial(function, *args, **given)
    held = {} if isinstance(value, (type, ModuleType)) else getattr(value, "__dict__", {})
    if asks := {name: other for name, part in held.items() if (other := stand_in(part)) is not None}:
        value = copy.copy(value)
        vars(value).update(asks)
    return value


def _function(value: FunctionType, stand_in: Callable[[Any], Any], met: dict[int, Any]) -> FunctionType:
    """Return a function that asks what stands in; itself where it asks for nothing."""
    around = {name: other for name, part in _globals(value).items() if (other := stand_in(part)) is not None}
    cells, given = value.__closure__ or (), (value.__defaults__ or (), value.__kwdefaults__ or {})
    own = tuple(CellType() for _ in cells)
    names = value.__globals__ | around if around else value.__globals__
    made = met[id(value)] = FunctionType(value.__code__, names, value.__name__, closure=own or None)  # may hold itself
    made.__defaults__ = tuple(_asking(part, stand_in, met) for part in given[0])
    made.__kwdefaults__ = {name: _asking(part, stand_in, met) for name, part in given[1].items()}
    for cell, was in zip(own, cells, strict=True):
        with suppress(ValueError):  # it is empty
            cell.cell_contents = _asking(was.cell_contents, stand_in, met)
    if not around and _held_by(value) == [id(value) if part == id(made) else part for part in _held_by(made)]:
        made = met[id(value)] = value
    return made


def _held_by(function: FunctionType) -> list[int]:
    """Return the identities of what a function holds."""
    held = [cell.cell_contents for cell in function.__closure__ or () if cell != _EMPTY]
    return [*map(id, (*held, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()))]


def _globals(function: FunctionType) -> dict[str, Any]:
    """Return what a function may look up in its module, as an environment of a script."""
    names, around = function.__code__.co_names, function.__globals__
    return {name: around[name] for name in names if isinstance(around.get(name), gymnasium.Env)}


def _asks(lens: Any) -> bool:
    """Say whether a function given to a wrapper asks an environment; Gymnasium's own ask for spaces alone."""
    function = getattr(lens, "func", None)
    if not isinstance(lens, TransformObservation) or getattr(function, "__module__", "").startswith("gymnasium."):
        return False
    asked: list[Any] = []

    def note(value: Any) -> Any:
        asked.extend([value] if isinstance(value, gymnasium.Env) else [])

    _asking(function, note, {})
    return bool(asked)


def _kept(value: Any) -> Any:
    """Return what a wrapper holds, containers and statistics copied: it may write in them when it looks."""
    if callable(value) or isinstance(value, (gymnasium.Env, gymnasium.Space)):
        return value
    try:
        return copy.copy(value)
    except TypeError:  # a lock, say
        return value
