"""The plain Python form of kernels."""

import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def interpreted(
    function: Function, compiled: Iterable[Any] = (), instead: Mapping[Callable[..., Any], Any] | None = None
) -> Function:
    """Return the plain Python form of a kernel, in which every kernel that it calls is plain Python as well.

    Functions that are not kernels come back unchanged, and so do those that are to stay compiled; in place of some
    others may stand ``instead``.
    """
    done = {id(kept): kept for kept in compiled}
    done |= {id(original): other for original, other in (instead or {}).items()}
    return cast(Function, _interpret(function, done))


def _interpret(function: Any, done: dict[int, Any]) -> Any:
    source = getattr(function, "py_func", None)
    if source is None:
        return done.get(id(function), function)
    if id(function) not in done:
        scope = dict(source.__globals__)
        cells = tuple(types.CellType() for _ in source.__closure__ or ())
        plain = types.FunctionType(source.__code__, scope, source.__name__, source.__defaults__, cells)
        plain.__kwdefaults__ = source.__kwdefaults__
        done[id(function)] = plain
        for cell, original in zip(cells, source.__closure__ or (), strict=True):
            cell.cell_contents = _interpret(original.cell_contents, done)
        for name in source.__code__.co_names:
            if isinstance(scope.get(name), types.ModuleType):
                scope[name] = _interpret_module(scope[name], source.__code__.co_names, done)
            elif name in scope:
                scope[name] = _interpret(scope[name], done)
    return done[id(function)]


def _interpret_module(module: types.ModuleType, names: Iterable[str], done: dict[int, Any]) -> Any:
    """Return a module in which the kernels among some names are plain Python; the module itself if there are none."""
    kernels = [name for name in names if hasattr(getattr(module, name, None), "py_func")]
    if not kernels:
        return module
    twin = types.ModuleType(module.__name__)
    vars(twin).update(vars(module))
    vars(twin).update({name: _interpret(getattr(module, name), done) for name in kernels})
    return twin
