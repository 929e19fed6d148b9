"""Replays that are rewound: of environments whose world lies in memory that can be saved and put back."""

import contextlib
import dis
import functools
import gc
import re
import weakref
from collections.abc import Callable
from datetime import date, time, timedelta
from types import BuiltinFunctionType, CodeType, FunctionType, MappingProxyType, MethodType
from typing import Any

import numpy as np

from agents.bridge.cloning import Replay, drawing_of, drawn_from
from agents.bridge.copying.box2d import Memory, is_world
from agents.bridge.copying.chance import is_generator
from agents.bridge.copying.classes import container_of, has_memory, is_shared, lies_elsewhere, name_of, slots_of
from agents.bridge.layers import innermost

_NEVER_CHANGE = (
    *(tuple, frozenset, np.ndarray, weakref.ref, functools.partial, MappingProxyType),
    *(re.Pattern, date, time, timedelta, BaseException),
)
"""What has memory of compiled code that need not be put back: nothing changes it, or it has been noted."""

_LIE_ELSEWHERE = ("SwigPyObject", "pygame.surface.Surface")
"""What has memory that is put back with a world, or drawn over."""

_FUNCTIONS = (FunctionType, MethodType, BuiltinFunctionType)

_EMPTY = object()


def holds_world(env: Any) -> bool:
    """Say whether an environment, or something that it holds, has a world of Box2D."""
    held = [*getattr(env, "__dict__", {}).values()]
    return any(map(is_world, held)) or any(map(is_world, (v for each in held for v in _attributes(each).values())))


def _attributes(value: Any) -> dict[str, Any]:
    return getattr(value, "__dict__", {}) if not isinstance(value, type) else {}


class Kept:
    """What an environment holds, as it is now: what is in its containers, its worlds, and where its chance stands.

    Parameters
    ----------
    env : object
        The environment, unwrapped.

    Raises
    ------
    TypeError
        If a world does not lie in memory as expected.
    """

    def __init__(self, env: Any) -> None:
        self._dicts: list[tuple[Any, Any, Any]] = []
        self._others: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        worlds: list[Memory] = []
        met: set[int] = set()
        functions: list[Any] = []
        waiting = [env]
        while waiting:
            value = waiting.pop()
            kind: Any = type(value)
            if isinstance(value, _FUNCTIONS):
                functions.append(value)
            if id(value) in met or lies_elsewhere(kind):
                continue
            met.add(id(value))
            if is_generator(value):
                self._others.append(_chance_of(value))
                continue
            if is_world(value):
                worlds.append(Memory(value))
                waiting += worlds[-1].data
            self._note(value, kind)
            for slot in slots_of(kind):
                self._note_slot(slot, value)
            waiting += reversed(_inside(value))
        self._others += [(world.restore, ()) for world in worlds]
        _check_functions(functions, met)

    def restore(self) -> None:
        """Bring the environment back."""
        for base, table, kept in self._dicts:
            if [*table] != [*kept]:
                base.clear(table)
            base.update(table, kept)
        for put, given in self._others:
            put(*given)

    def _note(self, value: Any, kind: Any) -> None:
        """Note what a container holds."""
        base, name = container_of(kind), name_of(kind)
        if issubclass(base, dict):
            self._dicts.append((base, value, dict(value)))
        elif base in (list, bytearray):
            self._others.append((base.__setitem__, (value, slice(None), base.__getitem__(value, slice(None)))))
        elif base is not object:
            add = base.update if base is set else base.extend
            self._others += [(base.clear, (value,)), (add, (value, list(value)))]
        elif isinstance(value, np.ndarray) and value.flags.writeable:
            self._others.append((kind.__setitem__, (value, slice(None) if value.ndim else (), value.copy())))
        elif name == "Box2D.Box2D.b2Vec2" and value.thisown:
            self._others.append((value.Set, tuple(value)))
        elif has_memory(kind) and not issubclass(kind, _NEVER_CHANGE) and name not in _LIE_ELSEWHERE:
            raise TypeError(f"it holds a {name}, which cannot be rewound")

    def _note_slot(self, slot: Any, value: Any) -> None:
        """Note what is in a slot, if anything is; those of compiled code may be only to read."""
        held = _in_slot(slot, value)
        with contextlib.suppress(AttributeError, TypeError):
            _fill(slot, value, held)
            self._others.append((_fill, (slot, value, held)))


def _check_functions(functions: list[Any], met: set[int]) -> None:
    """Refuse functions that change what they alone know: it may be the original's too, so that it is not put back."""
    waiting, seen = functions, set(met)
    while waiting:
        value = waiting.pop()
        kind: Any = type(value)
        if id(value) in seen or is_shared(value):
            continue
        seen.add(id(value))
        if isinstance(value, FunctionType):
            if _varies(value.__code__):
                raise TypeError(f"it holds the function {value.__qualname__}, whose variables cannot be rewound")
            waiting += gc.get_referents(*value.__closure__ or ())
        elif isinstance(value, (MethodType, BuiltinFunctionType)):
            waiting.append(value.__self__)
        elif isinstance(value, tuple):
            waiting += value
        elif not lies_elsewhere(kind):
            raise TypeError(f"it holds a function that alone knows of a {name_of(kind)}, which cannot be rewound")


@functools.cache
def _varies(code: CodeType) -> bool:
    """Say whether a function sets variables of the one around it."""
    return any(each.opname == "STORE_DEREF" and each.argval in code.co_freevars for each in dis.get_instructions(code))


def _in_slot(slot: Any, value: Any) -> Any:
    try:
        return slot.__get__(value)
    except AttributeError:
        return _EMPTY


def _fill(slot: Any, value: Any, held: Any) -> None:
    if held is not _EMPTY:
        slot.__set__(value, held)
    elif _in_slot(slot, value) is not _EMPTY:
        slot.__delete__(value)


def _inside(value: Any) -> list[Any]:
    """Return what something holds; Python does not ask arrays for that."""
    held = [vars(value)] if hasattr(value, "__dict__") else []
    items = value.ravel().tolist() if isinstance(value, np.ndarray) and value.dtype.hasobject else []
    return held + items + gc.get_referents(value)


def _chance_of(generator: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return what puts a random generator back where it stands."""
    if isinstance(generator, np.random.Generator):
        bits = generator.bit_generator
        return setattr, (bits, "state", bits.state)
    if hasattr(generator, "setstate"):  # Python's
        return generator.setstate, (generator.getstate(),)
    return generator.set_state, (generator.get_state(),)


class Rewind(Replay):
    """Another environment in which everything was done that was done with the first, once, and which is rewound then.

    When a search is done with it, the next one goes on from there. Parameters and errors are those of a replay; there
    is a TypeError too if a world does not lie in memory as expected.
    """

    _start: Kept | None = None

    def __del__(self) -> None:
        """Leave the environment to the next search."""
        if self._start is not None:
            self._history.twins.append((self._chain, self._start, self._at))

    def _bring_back(self) -> None:
        if self._start is not None:
            self._start.restore()
            return
        now = len(self._history.actions)
        start = self._gone_on(now)
        if start is None:
            super()._bring_back()
            start = Kept(self.env)
        self._start, self._at, self._generators = start, now, drawn_from(self.env)

    def _drawn_from(self) -> list[Any]:
        return self._generators

    def _gone_on(self, now: int) -> Kept | None:
        """Take over an environment of an earlier search, and do there what was done since; None if there is none."""
        try:
            twin: tuple[Any, Kept, int] = self._history.twins.pop()
        except IndexError:
            return None
        self._chain, start, at = twin
        start.restore()
        self.env = innermost(self._chain)
        if at == now:
            return start
        self._history.repeat(self._chain, drawing_of(self.env), at)
        return Kept(self.env)
