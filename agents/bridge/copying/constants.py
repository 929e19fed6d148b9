"""Objects that stand for something, as a free field does: known by what they are, and never changed.

In a copy each would be another one, and ``field is FREE`` no longer true. None says of itself that it is a constant:
an engine may be kept in a module as well. So they are tried (:func:`changed_by`), and noted where copies are to share
them.
"""

import dis
import functools
import gc
import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from agents.bridge.copying.classes import KINDS, container_of, is_plain, is_shared, lies_elsewhere, module_of, slots_of

_MAKING = "__init__", "__new__", "__setstate__"
"""Methods that make an object."""

_SETTING = "STORE_ATTR", "DELETE_ATTR"
"""What sets an attribute, in byte code."""

CONSTANTS: dict[int, Any] = {}
"""What copies share, by its identity; the module or class that names it keeps it alive as well."""


def note(constants: Iterable[Any]) -> None:
    """Let copies made from now on share these."""
    CONSTANTS.update((id(each), each) for each in constants)


def named_in(env: Any) -> list[Any]:
    """Return what may stand for something: a module or a class names it, and it holds but what copies share."""
    met: dict[int, Any] = {}
    waiting = [env]
    while waiting:
        part = waiting.pop()
        kind: Any = type(part)
        if id(part) not in met and id(part) not in CONSTANTS and not lies_elsewhere(kind):
            met[id(part)] = part
            waiting += [each for each in gc.get_referents(part) if not is_shared(each)]
    names = _names(set(map(type, met.values())))
    found = {
        at: each for at, each in met.items() if at in names and each is not env and _may_be_constant(each.__class__)
    }
    while mixed := [at for at, each in found.items() if not all(map(is_shared, _held(each, found)))]:
        for at in mixed:
            del found[at]
    return list(found.values())


def changed_by(walk: Callable[[], Any], constants: list[Any]) -> tuple[Any, list[Any]]:
    """Return what a walk in a copy that shares these returns, and which it has changed; they are put back."""
    before = [(each, _contents(each)) for each in constants]
    try:
        shown = walk()
    finally:
        changed = [each for each, was in before if not _same(_contents(each), was)]
        for each, was in before:
            if any(each is other for other in changed):
                _put_back(each, was)
    return shown, changed


def _names(kinds: set[Any]) -> set[int]:
    """Return the identities of what the classes and their modules name, and of what is in such lists."""
    spaces: dict[int, Any] = {}
    for base in {base for kind in kinds for base in kind.__mro__}:
        module = sys.modules.get(module_of(base))
        spaces |= {id(each): vars(each).values() for each in (base, module) if each is not None}
    names = set[int]()
    for values in spaces.values():
        for value in list(values):
            names.add(id(value))
            if isinstance(value, (list, tuple, set, frozenset, dict)):
                names |= set(map(id, value.values() if isinstance(value, dict) else value))
    return names


@functools.lru_cache(KINDS)
def _may_be_constant(kind: Any) -> bool:
    """Say whether objects of a class hold nothing that cannot be seen, and have no method that sets an attribute."""
    methods = {name: each for base in kind.__mro__ for name, each in vars(base).items() if name not in _MAKING}
    codes = [each.__code__ for each in methods.values() if isinstance(each, FunctionType)]
    sets = any(each.opname in _SETTING for code in codes for each in dis.get_instructions(code))
    return container_of(kind) is object and is_plain(kind) and not sets


def _contents(value: Any) -> dict[Any, Any]:
    """Return what an object holds, by name, and by slot."""
    kind: Any = type(value)
    slots = {slot: slot.__get__(value) for slot in slots_of(kind) if hasattr(value, slot.__name__)}
    return {**(vars(value) if kind.__dictoffset__ else {}), **slots}


def _held(value: Any, others: dict[int, Any]) -> list[Any]:
    """Return what something holds, but for constants and what may be one."""
    return [each for each in _contents(value).values() if id(each) not in others and id(each) not in CONSTANTS]


def _same(one: dict[Any, Any], other: dict[Any, Any]) -> bool:
    return one.keys() == other.keys() and all(one[name] is other[name] for name in one)


def _put_back(value: Any, was: dict[Any, Any]) -> None:
    kind: Any = type(value)
    if kind.__dictoffset__:
        vars(value).clear()
        vars(value).update((name, held) for name, held in was.items() if isinstance(name, str))
    for slot in slots_of(kind):
        if slot in was:
            slot.__set__(value, was[slot])
        elif hasattr(value, slot.__name__):
            slot.__delete__(value)
