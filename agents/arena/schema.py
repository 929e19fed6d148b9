"""Reading rows back: what a dataclass says of its fields must hold for what was written."""

import math
from collections.abc import Mapping
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
_ANY_INTEGER, _ANY_NUMBER = (-(2**63), 2**63 - 1), (-math.inf, math.inf)


def read(kind: type[_Row], given: Mapping[str, Any]) -> _Row:
    """Return an instance of a dataclass, made of what was written of one.

    Raises
    ------
    ValueError, TypeError
        If a field is missing or unknown, or its value is not of its type or within its bounds.
    """
    hints: dict[str, Any] = _hints(kind)  # type: ignore[arg-type]
    required = [field.name for field in fields(kind) if field.default is MISSING]  # type: ignore[arg-type]
    errors.keys("row", given, required, hints)
    return kind(**{name: _value(name, value, hints[name]) for name, value in given.items()})


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _value(name: str, value: Any, hint: Any) -> Any:
    """Return a value as its type hint wants it."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return None if value is None else _value(name, value, next(part for part in parts if part is not NoneType))
    if origin is Annotated:
        return (errors.integer if parts[0] is int else errors.number)(name, value, *parts[1])
    if hint is int:
        return errors.integer(name, value, *_ANY_INTEGER)
    if hint is float:
        return errors.number(name, value, *_ANY_NUMBER)
    if hint is Any:
        return value
    if not isinstance(value, origin or hint) and not hasattr(hint, "__dataclass_fields__"):
        raise TypeError(f"{name} {value!r} is {type(value).__name__}, not {(origin or hint).__name__}")
    if origin is list:
        return [_value(f"{name}[{number}]", item, parts[0]) for number, item in enumerate(value)]
    if origin is dict:
        return {_value(name, key, parts[0]): _value(f"{name}[{key!r}]", item, parts[1]) for key, item in value.items()}
    return read(hint, value) if hasattr(hint, "__dataclass_fields__") else value
