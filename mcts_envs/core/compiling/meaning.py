"""What a kernel would be compiled from, as it stands in memory: its code, that of all kernels it calls, and constants.

Numba takes the values of globals and closures for constants when it compiles. Sources on disk do not tell them: they
may come from a command line or a factory, and the file may have been edited since it was imported.
"""

import dis
import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numba.core.serialize import dumps

_GLOBALS = "LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"
_ATTRIBUTES = "LOAD_ATTR", "LOAD_METHOD"

_parts: "WeakKeyDictionary[Callable[..., Any], tuple[bytes, tuple[Any, ...]]]" = WeakKeyDictionary()


def meaning(function: Callable[..., Any]) -> str:
    """Return a hash of a plain function, of the kernels that it calls, directly or not, and of their constants.

    It is the same in every process. Python's own functions count by name and code, classes by name and by what Numba
    takes from them: the members of an enumeration, the fields of a named tuple.
    """
    found, left, digest = {function}, [function], hashlib.sha256()
    while left:
        part, called = _part(left.pop())
        digest.update(part)
        for other in called:
            if other not in found:
                found.add(other)
                left.append(other)
    return digest.hexdigest()


def _part(function: Callable[..., Any]) -> tuple[bytes, tuple[Any, ...]]:
    """Return a hash of one function and its constants, and the functions of the kernels among these."""
    if function not in _parts:
        words: list[bytes] = []
        called: list[Any] = []
        code = function.__code__
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        scope, names = function.__globals__, tuple(_names(code))
        used = [(name, scope[name]) for name in names if name in scope]
        for value in (code, function.__defaults__, function.__kwdefaults__, cells, used):
            words.extend(_words(value, names, called, partial(_reads, function)))
        digest = hashlib.sha256()
        for word in words:
            digest.update(len(word).to_bytes(8, "little") + word)
        _parts[function] = digest.digest(), tuple(called)
    return _parts[function]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _reads(function: Any, name: str, module: ModuleType) -> bool:
    """Return whether a function reads a module from another one, and has it not among its own globals besides."""
    return function.__globals__.get(name) is not module and name in _read_of_globals(function.__code__)


def _read_of_globals(code: CodeType) -> set[str]:
    """Return the names of what code reads of globals, or of what it has read of them, and not of its own variables."""
    found, follows = set(), False
    for instruction in (each for each in dis.get_instructions(code) if each.opname != "EXTENDED_ARG"):
        if follows and instruction.opname in _ATTRIBUTES:
            found.add(instruction.argval)
        else:
            follows = instruction.opname in _GLOBALS
    return found.union(*(_read_of_globals(inner) for inner in code.co_consts if isinstance(inner, CodeType)))


def _words(
    value: Any, names: Iterable[str], called: list[Any], reads: Callable[[str, ModuleType], bool]
) -> Iterator[bytes]:
    """Yield what tells one constant from another; note the functions of kernels in ``called``.

    Parameters
    ----------
    value : object
    names : iterable of str
        All that the code uses, of what it takes from modules.
    called : list
    reads : callable
        Whether the code reads a module from another one. Whether a package has a submodule depends on who imported it:
        one that is called like a variable's attribute is none of the constants.
    """
    yield type(value).__name__.encode()
    if hasattr(value, "py_func"):
        called.append(value.py_func)
        yield str(getattr(value, "declared", "")).encode()
    elif isinstance(value, CodeType):
        yield value.co_code
        yield from _words((value.co_consts, value.co_names, value.co_varnames), names, called, reads)
    elif isinstance(value, np.ndarray):
        yield repr((value.dtype, value.shape)).encode()
        if value.dtype.names is None:
            yield value.tobytes()
        else:  # between the fields of a record may lie anything
            for field in value.dtype.names:
                yield from _words(np.asarray(value[field]), names, called, reads)
    elif isinstance(value, (tuple, list)):
        yield str(len(value)).encode()
        for part in value:
            yield from _words(part, names, called, reads)
    elif isinstance(value, (dict, frozenset, set)):
        yield repr(sorted(map(repr, value.items() if isinstance(value, dict) else value))).encode()
    elif isinstance(value, (FunctionType, type)):
        yield f"{value.__module__}:{value.__qualname__}".encode()
        members = [(name, member.value) for name, member in getattr(value, "__members__", {}).items()]
        inside = [getattr(value, name, None) for name in ("_fields", "_field_defaults", "__code__")]
        yield from _words([members, *inside], names, called, reads)
    elif isinstance(value, ModuleType):
        yield value.__name__.encode()
        for name in sorted({*names} & {*vars(value)}):
            inner, fewer = vars(value)[name], {*names} - {name}  # modules lead round in circles
            if not isinstance(inner, ModuleType) or reads(name, inner):
                yield from _words(inner, fewer, called, reads)
    elif isinstance(value, (int, float, complex, str, bytes, np.generic, np.dtype, type(None), type(...))):
        yield repr(value).encode()
    else:
        yield _pickled(value)


def _pickled(value: Any) -> bytes:
    """Return the pickle of any other value, such as a type of Numba; its name where there is none."""
    try:
        return bytes(dumps(value))
    except Exception:
        return repr(type(value)).encode()
