"""How each kind of what an environment holds is copied into a :class:`agents.bridge.copying.copies.Copy`."""

import collections
import contextlib
import functools
import gc
import io
import random
import threading
import types
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from gymnasium import Env, Wrapper
from gymnasium.spaces import Discrete, Space

from agents.bridge.copying.chance import TORCH, is_generator
from agents.bridge.copying.classes import (
    container_of,
    has_table,
    is_plain,
    is_shared,
    name_of,
    never_changes,
    quiet,
    slots_of,
)
from agents.bridge.copying.mujoco import copy_array, copy_physics, is_physics
from agents.bridge.copying.opaque import copy_buffer, copy_opaque
from agents.bridge.copying.pictures import copy_drawn, drawn
from agents.bridge.copying.tables import copy_index, copy_table, is_index, is_table
from agents.bridge.copying.tensors import copy_tensor, in_memory_of_tensor, is_tensor
from agents.bridge.copying.weakrefs import WEAK

Maker: TypeAlias = Callable[[Any, Any], Any]
"""``(into, value)``: return the copy of a value, and note in the Copy ``into`` how it is brought back."""


def _copy_list(into: Any, value: Any) -> Any:
    made: list[Any] = []
    into._memo[id(value)] = made
    made.extend(map(into.of, value))
    into._sliced.append((made, made.copy()))
    return made


def _copy_dict(into: Any, value: Any) -> Any:
    made: dict[Any, Any] = {}
    into._memo[id(value)] = made
    for key, item in value.items():
        made[into.of(key)] = into.of(item)
    into._dicts.append((made, made.copy()))
    return made


def _copy_tuple(into: Any, value: Any) -> Any:
    parts = [into.of(part) for part in value]
    if all(part is old for part, old in zip(parts, value, strict=True)):
        return value
    if id(value) in into._memo:  # it contains itself, by way of a list or an object
        return into._memo[id(value)]
    base: Any = tuple if isinstance(value, tuple) else frozenset
    return base.__new__(type(value), parts)


def _copy_array(into: Any, value: Any) -> Any:
    owner = value.base
    if type(owner) is np.ndarray:
        offset = value.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        memory = into.of(owner)
        if not memory.flags.c_contiguous:  # a buffer is in the order of memory
            memory = memory.transpose(np.argsort([-stride for stride in memory.strides], kind="stable"))
        view: Any = np.ndarray(value.shape, value.dtype, memory, offset, value.strides)
        view.flags.writeable = value.flags.writeable
        return view
    if owner is not None and (view := _over_buffer(into, value, owner)) is not None:
        return view
    made = in_memory_of_tensor(into, value)
    if made is None:
        made = value.copy(order="K")
        into._memo["memory", value.__array_interface__["data"][0]] = made
    into._memo[id(value)] = made
    if value.dtype.hasobject:
        made[...] = np.fromiter(map(into.of, value.flat), object, value.size).reshape(value.shape)
    if value.flags.writeable:
        if made.ndim:
            into._sliced.append((made, made.copy()))
        else:
            into._others.append((np.copyto, (made, made.copy())))
    made.flags.writeable = value.flags.writeable
    return made


def _over_buffer(into: Any, value: Any, owner: Any) -> Any:
    """Return a view of the copy of what an array looks into, as one of ``ctypes``; None where that has no buffer."""
    if (view := copy_array(into, value)) is not None:
        return view
    try:
        old = np.frombuffer(owner, np.uint8)
        memory = into.of(owner)
        held = memory.base if isinstance(memory, np.void) else None  # a record lends no buffer that can be written to
        new = np.frombuffer(memory, np.uint8) if held is None else held
    except (AttributeError, BufferError, TypeError, ValueError):
        return None
    if memory is owner or (value.flags.writeable and not new.flags.writeable):  # it never changes
        return None
    offset = value.__array_interface__["data"][0] - old.__array_interface__["data"][0]
    view = np.ndarray(value.shape, value.dtype, new, offset, value.strides)
    view.flags.writeable = value.flags.writeable
    return view


def _copy_record(into: Any, value: Any) -> Any:
    """Copy a record of a structured array: it looks into that."""
    owner = value.base
    memory = into.of(owner)
    if not isinstance(owner, np.ndarray) or not (owner.flags.c_contiguous and memory.flags.c_contiguous):
        return copy_opaque(into, value)
    offset = value.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    return np.ndarray((), value.dtype, memory, offset)[()]


def _copy_space(into: Any, value: Any) -> Any:
    """Copy a space: one of Gymnasium's never changes, but for the generator that it samples with."""
    made: Any = object.__new__(type(value))
    into._memo[id(value)] = made
    for name, item in vars(value).items():
        if name != "contains":
            vars(made)[name] = item if isinstance(item, np.ndarray) and never_changes(value) else into.of(item)
    if not never_changes(value):
        into._dicts.append((vars(made), vars(made).copy()))
    into._seeding.append(made)
    if type(made) is Discrete:
        _hasten(made)
    return made


def _hasten(space: Any) -> None:
    """Let a copied space tell in 0.1 us instead of 3 us whether it contains an integer: many a step asserts it."""
    known = range(int(space.start), int(space.start + space.n))
    vars(space)["contains"] = lambda x: x in known if type(x) is int else Discrete.contains(space, x)


def _copy_generator(into: Any, value: Any) -> Any:
    made = np.random.Generator(into.of(value.bit_generator))
    into.generators.append(made)
    return made


def _copy_bits(into: Any, value: Any) -> Any:
    made = type(value)(0)
    made.state = value.state
    return made


def _copy_random_state(into: Any, value: Any) -> Any:
    if not is_generator(value):
        return value
    made = np.random.RandomState(0)
    made.set_state(value.get_state())
    into.generators.append(made)
    return made


def _copy_random(into: Any, value: Any) -> Any:
    if not is_generator(value):
        return value
    kind: Any = type(value)
    made: Any = random.Random.__new__(quiet(kind))
    _fill(into, value, made)
    random.Random.setstate(made, random.Random.getstate(value))  # a class of its own may have others
    into.generators.append(made)
    return made


def _copy_torch_generator(into: Any, value: Any) -> Any:
    made = type(value)(value.device)
    made.set_state(value.get_state())
    into.generators.append(made)
    return made


def _copy_method(into: Any, value: Any) -> Any:
    return types.MethodType(value.__func__, into.of(value.__self__))


def _copy_builtin(into: Any, value: Any) -> Any:
    owner = value.__self__
    return value if owner is None or is_shared(owner) else getattr(into.of(owner), value.__name__)


def _copy_partial(into: Any, value: Any) -> Any:
    return functools.partial(into.of(value.func), *map(into.of, value.args), **into.of(value.keywords))


def _copy_function(into: Any, value: Any) -> Any:
    named: Any = value.__kwdefaults__ or {}
    holds = value.__closure__, value.__defaults__, tuple(named.values())
    cells, defaults, given = copied = _copy_tuple(into, holds)
    if copied is holds:
        return value
    made = types.FunctionType(value.__code__, value.__globals__, value.__name__, defaults, cells)
    made.__kwdefaults__ = dict(zip(named, given, strict=True)) or None
    vars(made).update(vars(value))
    return made


def _copy_cell(into: Any, value: Any) -> Any:
    made = types.CellType()
    into._memo[id(value)] = made
    with contextlib.suppress(ValueError):  # an empty cell
        made.cell_contents = into.of(value.cell_contents)
        into._others.append((setattr, (made, "cell_contents", made.cell_contents)))
    return made


def _copy_cached(into: Any, value: Any) -> Any:
    """Copy a function with a cache, what an unbounded one holds included: that may be a die that was cast."""
    inside = into.of(value.__wrapped__)
    if inside is value.__wrapped__:
        return value
    if id(value) in into._memo:  # it is among what its function holds
        return into._memo[id(value)]
    size = value.cache_parameters()["maxsize"]
    made = functools.lru_cache(**value.cache_parameters())(inside)
    if size is None:
        known, table = (next(each for each in gc.get_referents(one) if type(each) is dict) for one in (value, made))
        table.update({into.of(key): into.of(result) for key, result in known.items()})
        into._dicts.append((table, table.copy()))
    else:
        into._others.append((made.cache_clear, ()))
    return made


def _copy_constant_dict(into: Any, value: Any) -> Any:
    return types.MappingProxyType(into.of(gc.get_referents(value)[0]))


def _copy_thread(into: Any, value: Any) -> Any:
    if value.is_alive():
        raise TypeError(f"it holds a running {name_of(type(value))}, which does not run on in a copy")
    for name in ("_handle", "_os_thread_handle", "_context"):  # from Python 3.13 and 3.14 on: of what has run
        part = vars(value).get(name)
        into._memo[id(part)] = part
    return _copy_object(into, value)


def _copy_condition(into: Any, value: Any) -> Any:
    if value._waiters:  # as of a queue that a thread fills, or empties: without it, a copy would wait for ever
        into.awaited = name_of(type(value))
    return _copy_object(into, value)


def _copy_memoryview(into: Any, value: Any) -> Any:
    made = memoryview(into.of(value.obj))
    if (made.format, made.shape, made.strides) != (value.format, value.shape, value.strides):
        return copy_opaque(into, value)  # of a part
    return made


def _copy_object(into: Any, value: Any) -> Any:
    kind: Any = type(value)
    base = container_of(kind)
    try:
        made = base.__new__(quiet(kind))
    except TypeError:  # compiled code makes its objects
        return copy_opaque(into, value)
    if base is not object:
        into._memo[id(value)] = made
        _copy_contents(into, base, value, made)
    _fill(into, value, made)
    if isinstance(made, Env) and not isinstance(made, Wrapper):
        into._seeding.append(made)
    return made


def _fill(into: Any, value: Any, made: Any) -> None:
    """Copy what an object has in its slots and its ``__dict__``."""
    kind: Any = type(value)
    into._memo[id(value)] = made
    for slot in slots_of(kind):
        if hasattr(value, slot.__name__):
            slot.__set__(made, into.of(slot.__get__(value)))
            into._others.append((slot.__set__, (made, slot.__get__(made))))
        else:
            into._others.append((_unset, (slot, made)))
    if hasattr(value, "__dict__"):
        names, constant = vars(made), has_table(kind)
        for name, item in vars(value).items():
            names[name] = item if constant and name == "P" else into.of(item)
        if names.get("render_mode") == "human":
            names["render_mode"] = None
        into._dicts.append((names, names.copy()))


def _unset(slot: Any, made: Any) -> None:
    with contextlib.suppress(AttributeError):
        slot.__delete__(made)


def _copy_contents(into: Any, base: Any, value: Any, made: Any) -> None:
    """Copy what is in a container of a class that is not simply a list or a dict."""
    kept: Any
    if base is bytearray:  # cleared, it would part with what looks into it
        kept = bytes(value)
        base.extend(made, kept)
        into._others.append((base.__setitem__, (made, slice(None), kept)))
        return
    if base is collections.deque:
        base.__init__(made, maxlen=value.maxlen)
    if issubclass(base, dict):
        if base is collections.defaultdict:
            made.default_factory = into.of(value.default_factory)
        for key, item in base.items(value):
            base.__setitem__(made, into.of(key), into.of(item))
        kept = list(base.items(made))
        add = base.update
    else:
        kept = [into.of(item) for item in base.__iter__(value)]
        add = base.update if base is set else base.extend
        add(made, kept)
    into._others.append((_refill, (base.clear, add, made, kept)))


def _refill(clear: Any, add: Any, container: Any, kept: Any) -> None:
    clear(container)
    add(container, kept)


_MAKERS: dict[Any, Maker] = {
    dict: _copy_dict,
    frozenset: _copy_tuple,
    functools.partial: _copy_partial,
    io.BytesIO: copy_buffer,
    io.StringIO: copy_buffer,
    type(functools.lru_cache(is_shared)): _copy_cached,
    list: _copy_list,
    memoryview: _copy_memoryview,
    np.ndarray: _copy_array,
    np.random.Generator: _copy_generator,
    np.random.RandomState: _copy_random_state,
    tuple: _copy_tuple,
    types.BuiltinMethodType: _copy_builtin,
    types.CellType: _copy_cell,
    types.FunctionType: _copy_function,
    types.MappingProxyType: _copy_constant_dict,
    types.MethodType: _copy_method,
    **WEAK,
}

_MAKERS_OF_SUBCLASSES: tuple[tuple[type, Maker], ...] = (
    (Space, _copy_space),
    (np.void, _copy_record),
    (tuple, _copy_tuple),
    (random.Random, _copy_random),
    (np.random.BitGenerator, _copy_bits),
    (threading.Condition, _copy_condition),
    (threading.Thread, _copy_thread),
)


def maker_of(value: Any) -> Maker:
    """Return what copies a value of its kind."""
    kind: Any = type(value)
    if kind in _MAKERS:
        return _MAKERS[kind]
    for base, maker in _MAKERS_OF_SUBCLASSES:
        if issubclass(kind, base):  # a weak proxy says to be an instance
            return maker
    if drawn(kind):
        return copy_drawn
    if name_of(kind) == TORCH:
        return _copy_torch_generator
    if is_tensor(kind):
        return copy_tensor
    if is_table(kind):
        return copy_table
    if is_index(kind):
        return copy_index
    if is_physics(kind):
        return copy_physics
    return _copy_object if is_plain(kind) else copy_opaque
