"""Copies of what MuJoCo simulates in compiled code, and keys of it.

Data are brought back whole, and not by positions and velocities alone: the solver goes on from where it ended, and what
a step has derived belongs to the positions before it, from which the next step may be paid. A model is brought back
too, since steps may change the wind, or where a goal is drawn; its meshes and textures are not.
"""

import copy
import gc
import importlib
import types
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.lib.stride_tricks import as_strided

from agents.bridge.copying.classes import KINDS, are_shared, name_of
from agents.bridge.copying.weakrefs import behind

_COMPILED = "mujoco._structs."
_DATA, _MODEL = f"{_COMPILED}MjData", f"{_COMPILED}MjModel"
_VIEWER = "gymnasium.envs.mujoco.mujoco_rendering.BaseRender"

_INDEXER = "dm_control.mujoco.index.make_struct_indexer.<locals>.StructIndexer"
"""What finds the numbers of data or a model by name: its class holds them, one class for each."""

_LARGE = 10_000
"""Bytes from which on an array of a model is a mesh, a field of heights or a texture."""

_PARTS = ("opt", "warning", "timer", "solver")
"""What data or models hold besides, with arrays of its own."""

_ALIGNED = 64
"""Bytes between the beginnings of two arrays in the buffer of a model are a multiple of this."""

_CAPSULE = "PyCapsule"
"""The class of what owns the memory of compiled code, by name: Python has none for it before 3.13."""


@lru_cache(KINDS)
def is_physics(kind: type) -> bool:
    """Say whether objects of a class are MuJoCo's, or show what it simulates."""
    name = name_of(kind)
    return name == _INDEXER or name.startswith(_COMPILED) or any(name_of(base) == _VIEWER for base in kind.__mro__)


def copy_physics(into: Any, value: Any) -> Any:
    """Copy what is MuJoCo's into a :class:`agents.bridge.copying.copies.Copy`.

    Raises
    ------
    TypeError
        If it is part of something else, which cannot be found.
    """
    kind: Any = type(value)
    name = name_of(kind)
    if name == _MODEL:
        made = copy.copy(value)
        _PIECES[made] = _pieces_of(value)
        into._sliced += [(memory, memory.copy()) for memory in (*_memory_of(made), *_arrays(made.opt).values())]
        into._others += [(setattr, (made.opt, *each)) for each in _numbers(made.opt).items()]
        return made
    if name == _DATA:
        import mujoco  # the environment has imported it

        model = into.of(value.model)
        if not hasattr(mujoco, "mj_copyData"):  # before MuJoCo 3.5
            into.opaque = True
            return copy.copy(value)
        made, kept = mujoco.MjData(model), mujoco.MjData(model)
        for each in made, kept:
            mujoco.mj_copyData(each, model, value)
        into._others.append((mujoco.mj_copyData, (made, model, kept)))
        return made
    if name == _INDEXER:
        return _copy_indexer(into, value)
    if hasattr(value, "id"):  # a part of it by name, as data.body("torso")
        array = next(each for each in map(value.__getattribute__, dir(value)) if isinstance(each, np.ndarray))
        holder = _holder_of(into._source, array.base)
        part = kind.__name__.removeprefix("_MjData").removeprefix("_MjModel").removesuffix("Views").lower()
        if holder is not None:
            return getattr(into.of(holder), part)(value.id)
    if not name.startswith(_COMPILED):  # a window: where the copy is drawn, another one is opened
        return None
    if name.startswith(f"{_COMPILED}Mjv"):  # how it is looked at
        return value
    raise TypeError(f"it holds a {name}; keep the data or the model that it belongs to, and ask that for it")


def _copy_indexer(into: Any, value: Any) -> Any:
    """Return what finds the numbers of a copy by name, as dm_control has it."""
    fields = value._asdict()
    memories = (behind(each._field).base for each in fields.values())
    made = into.of(next(filter(None, (_holder_of(into._source, memory) for memory in memories))))
    index: Any = importlib.import_module(type(value).__module__)
    return index.make_struct_indexer({name: type(each)(made, name, each._axes) for name, each in fields.items()})


def copy_array(into: Any, value: Any) -> Any:
    """Return a view of the copy of what an array looks into, as of ``data.qpos``; None where that is not MuJoCo's.

    Raises
    ------
    TypeError
        If it looks at what each step puts elsewhere.
    """
    holder = _holder_of(into._source, value.base) if type(value.base).__name__ == _CAPSULE and value.size else None
    if holder is None:
        return None
    made, at = into.of(holder), _address(value)
    parts = [(holder, made)]
    parts += [(getattr(holder, part), getattr(made, part)) for part in _PARTS if hasattr(holder, part)]
    for old, new in parts:
        for name, array in _arrays(old).items():
            if at == _address(array) and (value.shape, value.strides) == (array.shape, array.strides):
                return getattr(new, name)
            if 0 <= at - _address(array) < array.nbytes and array.flags.contiguous:
                return np.ndarray(value.shape, value.dtype, getattr(new, name), at - _address(array), value.strides)
    raise TypeError("it holds an array that MuJoCo puts elsewhere in each step, as of contacts; ask the data for it")


def token_of(value: Any) -> Any:
    """Return plain data that is equal for equal states of data; None for all else, which seldom changes."""
    if name_of(type(value)) != _DATA:
        return None
    import mujoco  # the environment has imported it

    what = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mujoco.mj_stateSize(value.model, what))
    mujoco.mj_getState(value.model, value, state, what)
    return state.tobytes()


_PIECES: "WeakKeyDictionary[Any, list[tuple[str, int]]]" = WeakKeyDictionary()
"""Of models, where their memory lies: the name of an array in which a piece begins, and its length in bytes."""


def _memory_of(model: Any) -> list[Any]:
    """Return all that a model holds but for what is large, in few arrays of bytes."""
    begun = [(getattr(model, name).reshape(-1).view(np.uint8), length) for name, length in _pieces_of(model)]
    return [as_strided(array, (length,), (1,)) for array, length in begun]


def _pieces_of(model: Any) -> list[tuple[str, int]]:
    """Return where the memory of a model lies: its arrays are side by side in one buffer."""
    if model not in _PIECES:
        small = [(_address(each), each.nbytes, name) for name, each in _arrays(model).items() if each.nbytes <= _LARGE]
        pieces: list[tuple[str, int]] = []
        start = end = -_ALIGNED
        for address, size, name in sorted(small):
            if address - end >= _ALIGNED:
                pieces.append((name, 0))
                start = address
            end = address + size
            pieces[-1] = pieces[-1][0], end - start
        _PIECES[model] = pieces
    return _PIECES[model]


def _arrays(holder: Any) -> dict[str, Any]:
    """Return the arrays of data, of a model or of its options, empty ones left out."""
    kind: Any = type(holder)
    found = {name: getattr(holder, name) for name in _names(kind)}
    return {name: array for name, array in found.items() if isinstance(array, np.ndarray) and array.size}


def _numbers(options: Any) -> dict[str, float]:
    """Return the options that are a number each, as the time step."""
    kind: Any = type(options)
    found = {name: getattr(options, name) for name in _names(kind)}
    return {name: number for name, number in found.items() if isinstance(number, (int, float))}


@lru_cache(KINDS)
def _names(kind: type) -> list[str]:
    return [name for name in dir(kind) if not name.startswith("_") and not callable(getattr(kind, name))]


def _address(array: Any) -> int:
    return int(array.ctypes.data)


def _holder_of(root: Any, memory: Any) -> Any:
    """Return what an environment holds of data or models whose arrays lie in a piece of memory; None if nothing."""
    one = {_DATA: "xpos", _MODEL: "body_pos"}  # never empty: the world is a body
    return next((each for each in _held_by(root) if getattr(each, one[name_of(type(each))]).base is memory), None)


def _held_by(root: Any) -> Iterator[Any]:
    """Find the data and the models that something holds."""
    met: set[int] = set()
    waiting = [root]
    while waiting:
        value = waiting.pop()
        kind: Any = type(value)
        if id(value) not in met and not are_shared(kind) and not issubclass(kind, types.FunctionType):
            met.add(id(value))
            if name_of(kind) in (_DATA, _MODEL):
                yield value
            waiting += gc.get_referents(value)
