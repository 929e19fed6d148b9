"""What can be told from the class of an object: whether copies share it, and where its state is."""

import collections
import datetime
import functools
import inspect
import io
import logging
import numbers
import random
import threading
import types
from enum import Enum
from typing import Any

import numpy as np
from gymnasium.envs.registration import EnvSpec

KINDS = 200
"""Classes of which is kept what was found out, the latest: a reset, or a cell of a notebook, may make one each time."""

_ATOMS = frozenset({bool, bytes, float, int, str, type(None), np.float32, np.float64, np.int64, type, object})

DATES = (datetime.date, datetime.time, datetime.timedelta)
"""Of the standard library, and of pandas, which inherits from them."""

_OF_DATES = ("datetime", "pandas")
"""Packages whose dates never change: a class of somebody's own may hold more."""

_SHARED = (
    *(Enum, bytes, numbers.Number, property, range, slice, str, type, type(...), type(NotImplemented)),
    *(EnvSpec, io.IOBase, logging.Logger, np.dtype, np.generic, np.ufunc, random.SystemRandom),
    *(types.CodeType, types.ModuleType, type(threading.Lock()), type(threading.RLock())),
)
"""What cannot change, or does not belong to the state of a game."""

_SHARED_MODULES = (
    *("pygame.time", "pygame.font", "pygame.freetype", "pygame.mixer", "PIL.ImageFont"),
    *("pyglet", "matplotlib", "tkinter", "cv2", "glfw", "mujoco.render", "mujoco._render", "mujoco.viewer"),
)
"""Modules whose objects only show or sound a game."""

_IMMUTABLE_MODULES = ("jax.", "jaxlib.")
"""Modules whose objects never change: arrays and compiled functions of JAX."""

_TABLES = "gymnasium.envs.toy_text."
"""Classes whose attribute ``P`` is documented to be the table of all transitions, which never changes."""

_CONTAINERS = (collections.OrderedDict, collections.defaultdict, dict, list, set, collections.deque, bytearray)


def is_shared(value: Any) -> bool:
    """Say whether a copy holds the very object that the original holds."""
    kind: Any = type(value)
    return kind in _ATOMS or are_shared(kind)


@functools.lru_cache(KINDS)
def are_shared(kind: type) -> bool:
    """Say whether copies hold the very objects of a class that the originals hold."""
    if issubclass(kind, (np.void, io.StringIO, io.BytesIO)):  # a record looks into its array; a file in memory is state
        return False
    immutable = module_of(kind).startswith(_IMMUTABLE_MODULES) or name_of(kind) == "torch.device"
    immutable |= issubclass(kind, DATES) and module_of(kind).partition(".")[0] in _OF_DATES
    return immutable or issubclass(kind, _SHARED) or module_of(kind).startswith(_SHARED_MODULES)


@functools.lru_cache(KINDS)
def lies_elsewhere(kind: type) -> bool:
    """Say whether objects of a class lead from an environment to all that Python has loaded, or to the original.

    Functions do, those of Cython and Numba too, which have ``__get__`` since they may become methods.
    """
    bound = hasattr(kind, "__get__") and not issubclass(kind, functools.partial)  # a partial has it from 3.13 on
    called = issubclass(kind, (types.BuiltinFunctionType, types.FrameType, types.MethodType))
    return are_shared(kind) or called or bound


def never_changes(space: Any) -> bool:
    """Say whether a space is of a class of Gymnasium's: those of others may hold what is legal now, say."""
    return module_of(type(space)).startswith("gymnasium.")


def module_of(kind: type) -> str:
    """Return the name of the module of a class; empty where compiled code gave it none, as SWIG does."""
    return str(getattr(kind, "__module__", ""))


def name_of(kind: type) -> str:
    """Return the full name of a class."""
    return f"{module_of(kind)}.{kind.__qualname__}".removeprefix(".")


@functools.lru_cache(KINDS)
def slots_of(kind: type) -> tuple[Any, ...]:
    """Return the descriptors of the slots of a class and its bases."""
    return tuple(v for base in kind.__mro__ for v in vars(base).values() if isinstance(v, types.MemberDescriptorType))


@functools.lru_cache(KINDS)
def container_of(kind: type) -> Any:
    """Return the built-in container that a class is or inherits from; ``object`` if there is none."""
    return next((base for base in _CONTAINERS if issubclass(kind, base)), object)


@functools.lru_cache(KINDS)
def is_plain(kind: type) -> bool:
    """Say whether all that an instance holds is in its ``__dict__``, its slots and a built-in container.

    It is not where a class has memory that only compiled code can read, or says itself how to be copied.
    """
    return not has_memory(kind) and not hasattr(kind, "__deepcopy__")


@functools.lru_cache(KINDS)
def is_open(kind: type) -> bool:
    """Say whether all that an instance holds can be seen, however it is copied.

    It is not where a class says itself how to be pickled besides: what it is then, as an engine's handle, it knows.
    """
    said = any("__reduce__" in vars(base) or "__reduce_ex__" in vars(base) for base in kind.__mro__[:-1])
    return is_plain(kind) or not (said or has_memory(kind))


@functools.lru_cache(KINDS)
def has_memory(kind: type) -> bool:
    """Say whether a class has memory that only compiled code can read, beside that of a built-in container."""
    base = container_of(kind)
    pointers = len(slots_of(kind)) - len(slots_of(base))
    pointers += (kind.__dictoffset__ > 0) - (base.__dictoffset__ > 0)
    pointers += (kind.__weakrefoffset__ > 0) - (base.__weakrefoffset__ > 0)
    return bool(kind.__basicsize__ > base.__basicsize__ + 8 * pointers)


@functools.lru_cache(KINDS)
def has_table(kind: type) -> bool:
    """Say whether instances have a constant table of transitions (see ``_TABLES``)."""
    return any(module_of(base).startswith(_TABLES) for base in kind.__mro__)


@functools.lru_cache(KINDS)
def quiet(kind: type) -> Any:
    """Return a class like this one whose objects do nothing when they go: what they would close is the original's."""
    if getattr(kind, "__del__", _do_nothing) is _do_nothing:
        return kind
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__slots__": ()}
    return type(kind)(kind.__name__, (kind,), {**names, "__del__": _do_nothing})


@functools.lru_cache(KINDS)
def takes_arguments(kind: type) -> bool:
    """Say whether objects of a class may be made in several ways."""
    try:
        return bool(inspect.signature(kind).parameters)
    except (TypeError, ValueError):  # as of classes of compiled extensions
        return True


def _do_nothing(value: Any) -> None:
    pass
