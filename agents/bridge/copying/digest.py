"""Keys of environments: equal where everything but future chance is equal."""

import contextlib
import marshal
import numbers
import pickle
import sys
import weakref
from collections.abc import Callable
from enum import Enum
from functools import partial
from operator import itemgetter
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np
from gymnasium import Space
from numpy.random import BitGenerator

from agents.bridge.copying.chance import are_generators
from agents.bridge.copying.classes import (
    DATES,
    container_of,
    has_table,
    is_open,
    is_plain,
    is_shared,
    name_of,
    never_changes,
    slots_of,
)
from agents.bridge.copying.jax_keys import is_key, is_of_jax
from agents.bridge.copying.mujoco import is_physics, token_of
from agents.bridge.copying.pictures import PIXELS, drawn
from agents.bridge.copying.weakrefs import behind

_AS_IT_IS = frozenset({bool, bytes, complex, float, int, str, type(None)})
_LEFT_OUT = ("_np_random", "_np_random_seed", "render_mode")
_EMPTY = CellType()
_POSITIVE = 2**63 - 1
_LARGE = 10_000
_SORTING = 0
"""No id: in place of one among what was met while the items of a set are looked into one by one."""


def digest(value: Any, without: Any = None) -> int:
    """Return a 63-bit hash of what an environment or an observation holds, without its random generators and keys.

    Nothing that ``without`` holds is looked at in it.

    Raises
    ------
    TypeError
        If something in it can be neither looked into nor pickled.
    """
    met = {} if without is None else {id(without): -1}
    return hash(marshal.dumps(_token(value, met), 2)) & _POSITIVE


def contents(env: Any) -> int | None:
    """Return the hash of all that an environment holds; None if it cannot be looked into."""
    try:
        return digest(env)
    except TypeError:
        return None


def _token(value: Any, met: dict[int, int]) -> Any:
    """Return plain data that is equal for equal values."""
    kind: Any = type(value)
    if kind in _AS_IT_IS:
        return value + 0.0 if kind is float else value  # -0.0 equals 0.0, and is shown as it
    reader = _READERS.get(kind)
    if reader is not None:
        return reader(value, met)
    if isinstance(value, np.generic):
        return _memory(value)
    if isinstance(value, Enum):
        return str(value)
    if isinstance(value, BitGenerator) or are_generators(kind) or drawn(kind) in PIXELS:
        return None
    if isinstance(value, Space) and never_changes(value):
        return None
    if drawn(kind):
        return bytes(value)
    if callable(value) and not is_open(kind):  # a function, a method or a class: some keep their phase in one
        return _function(value, met)
    if isinstance(value, tuple) and hasattr(kind, "_fields"):  # pickle knows none of a class inside a function
        return kind.__qualname__, _items(value, met)
    if kind.__name__ == "Parameter" and getattr(value, "requires_grad", False):  # of a network, which stays as it is
        return None
    if hasattr(kind, "__array__"):  # of JAX, say; tables of pandas have labels beside
        return _items((_numbers(value), *map(np.asarray, getattr(value, "axes", ()))), met)
    if is_shared(value):
        return repr(value) if isinstance(value, (numbers.Number, str, bytes, range, slice, *DATES)) else None
    if id(value) in met:
        return met[id(value)]
    met[id(value)] = len(met)
    if is_physics(kind):
        return token_of(value)
    if callable(value):
        return _called(value, met)
    if is_plain(kind):
        return _object(value, met)
    if is_open(kind):
        with contextlib.suppress(TypeError):  # it may be pickled without what cannot be looked into
            return _object(value, met)
    if getattr(value, "closed", None) is True:  # a file in memory, of which nothing is left
        return None
    try:
        return pickle.dumps(value)
    except Exception as error:
        raise TypeError(f"no key can be made of a {name_of(kind)} ({error}); search with loop='open'") from error


def _numbers(value: Any) -> Any:
    """Return an array of another library as one of NumPy's; of JAX's keys, which are none, their numbers."""
    if hasattr(value, "detach"):  # PyTorch's: it may have a gradient, lie on a device, or be of a type of its own
        value = value.detach().to_dense().cpu().resolve_conj()
        value = value.double() if value.is_floating_point() and value.itemsize < 4 else value
    try:
        return np.asarray(value)
    except TypeError:
        kind: Any = type(value)
        if not is_of_jax(kind):
            raise
        return np.asarray(sys.modules["jax"].random.key_data(value))


def _function(value: Any, met: dict[int, int]) -> Any:
    """Return the name of a function, a method or a class, and what it holds that may change, as in a closure."""
    name = str(getattr(value, "__qualname__", ""))
    held = _held_by(value)
    if not held:
        return name
    if id(value) in met:  # a function may hold itself
        return met[id(value)]
    met[id(value)] = len(met)
    try:
        return name, _items(held, met)
    except (RuntimeError, TypeError):
        return name


def _held_by(value: Any) -> tuple[Any, ...]:
    if isinstance(value, FunctionType):
        cells = value.__closure__ or ()
        kept = [cell.cell_contents for cell in cells if cell != _EMPTY]
        return *kept, *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()
    if isinstance(value, partial):
        return value.func, value.args, value.keywords
    return (value.__self__,) if isinstance(value, MethodType) else ()


def _called(value: Any, met: dict[int, int]) -> Any:
    """Look into an object that can be called, as an opponent with a memory; into no network of PyTorch's."""
    try:
        return _object(value, met)
    except (RuntimeError, TypeError):
        return None


def _items(value: Any, met: dict[int, int]) -> Any:
    return tuple([_token(item, met) for item in value])


def _pairs(value: Any, met: dict[int, int]) -> Any:
    return tuple([(_token(key, met), _token(item, met)) for key, item in value.items() if not is_key(key, item)])


def _unordered(value: Any, met: dict[int, int]) -> Any:
    """Sort what is alike in two copies; objects are numbered as they are met, so they are met in that order too."""
    if all(map(_is_data, value)):
        return tuple(sorted(marshal.dumps(_token(item, met), 2) for item in value))
    if _SORTING in met:  # a graph would be walked on each of its paths
        return len(value)
    known, apart = len(met), []
    for item in value:
        met[_SORTING] = known
        try:
            apart.append((marshal.dumps(_token(item, met), 2), item))
        finally:
            while len(met) > known:
                met.popitem()
    return _items([item for _, item in sorted(apart, key=itemgetter(0))], met)


def _is_data(value: Any) -> bool:
    return type(value) in _AS_IT_IS or (type(value) is tuple and all(map(_is_data, value)))


def _proxy(value: Any, met: dict[int, int]) -> Any:
    return _token(behind(value), met)


def _memory(value: Any) -> bytes:
    """Return the memory of an array or a number of NumPy's, in which no zero is negative."""
    memory: bytes = (value + 0 if value.dtype.kind in "fc" else value).tobytes()
    return memory


def _array(value: Any, met: dict[int, int]) -> Any:
    if value.dtype.hasobject:
        return _items(value.flat, met)
    memory = _memory(value)
    return memory if len(memory) < _LARGE else hash(memory)  # to pass it on takes several times as long


def _object(value: Any, met: dict[int, int]) -> Any:
    kind: Any = type(value)
    base = container_of(kind)
    token: list[Any] = [kind.__qualname__]
    if base is not object:
        token.append(_pairs(value, met) if issubclass(base, dict) else _items(value, met))
    token += [_token(slot.__get__(value), met) for slot in slots_of(kind) if hasattr(value, slot.__name__)]
    if hasattr(value, "__dict__"):
        left_out = (*_LEFT_OUT, "P") if has_table(kind) else _LEFT_OUT
        for name, item in vars(value).items():
            noting = name == "step" and callable(item)  # a replay notes steps by one
            if name not in left_out and not noting and not is_key(name, item):
                token.append((name, _token(item, met)))
    return tuple(token)


_READERS: dict[type, Callable[[Any, dict[int, int]], Any]] = {
    dict: _pairs,
    frozenset: _unordered,
    list: _items,
    np.ndarray: _array,
    set: _unordered,
    tuple: _items,
    weakref.CallableProxyType: _proxy,
    weakref.ProxyType: _proxy,
}
