"""Reading rows back: what a dataclass says of its fields must hold for what was written."""

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

from mcts_envs.core import errors

Count: TypeAlias = Annotated[int, (0, 2**63 - 1)]
Seconds: TypeAlias = Annotated[float, (0.0, math.inf)]
Points: TypeAlias = Annotated[float, (0.0, 1.0)]
"""Numbers with their bounds."""

_Row = TypeVar("_Row")
_Reader: TypeAlias = Callable[[str, Any], Any]
_BOUNDS: dict[Any, tuple[float, float]] = {int: (-(2**63), 2**63 - 1), float: (-math.inf, math.inf)}


def read(kind: type[_Row], given: Mapping[str, Any]) -> _Row:
    """Return an instance of a dataclass, made of what was written of one.

    Raises
    ------
    ValueError, TypeError
        If a field is missing or unknown, or its value is not of its type or within its bounds.
    """
    readers, required = _form(kind)  # type: ignore[arg-type]
    errors.keys("row", given, required, readers)
    return kind(**{name: readers[name](name, value) for name, value in given.items()})


@cache
def _form(kind: Any) -> tuple[dict[str, _Reader], list[str]]:
    """Return what reads each field of a dataclass, and the fields that have no default."""
    required = [field.name for field in fields(kind) if field.default is MISSING]
    return {name: _reader(hint) for name, hint in get_type_hints(kind, include_extras=True).items()}, required


@cache
def _reader(hint: Any) -> _Reader:
    """Return a function of a name and a value that returns the value as a type hint wants it."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        (one,) = [_reader(part) for part in parts if part is not NoneType]
        return lambda name, value: None if value is None else one(name, value)
    if hint in (int, float) or origin is Annotated:
        kind, (low, high) = parts if parts else (hint, _BOUNDS[hint])
        check: Any = errors.integer if kind is int else errors.number
        return lambda name, value: check(name, value, low, high)
    if hint is Any:
        return lambda name, value: value
    if hasattr(hint, "__dataclass_fields__"):
        return lambda name, value: read(hint, value)
    plain, inner = origin or hint, [_reader(part) for part in parts]

    def whole(name: str, value: Any) -> Any:
        if not isinstance(value, plain):
            raise TypeError(f"{name} {value!r} is {type(value).__name__}, not {plain.__name__}")
        if plain is list:
            return [inner[0](f"{name}[{number}]", item) for number, item in enumerate(value)]
        if plain is dict:
            return {inner[0](name, key): inner[1](f"{name}[{key!r}]", item) for key, item in value.items()}
        return value

    return whole
