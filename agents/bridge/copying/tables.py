"""Copies of tables, series and labels of pandas."""

import copy
import functools
from typing import Any

from agents.bridge.copying.classes import KINDS, module_of, name_of

_TABLES = ("pandas.DataFrame", "pandas.Series", "pandas.core.frame.DataFrame", "pandas.core.series.Series")
_INDICES = ("pandas.Index", "pandas.core.indexes.base.Index")
"""Before pandas 3 classes had the name of their module."""


@functools.lru_cache(KINDS)
def is_table(kind: type) -> bool:
    """Say whether a class is one of those of pandas; of its own, it may hold more."""
    return name_of(kind) in _TABLES


@functools.lru_cache(KINDS)
def is_index(kind: type) -> bool:
    """Say whether a class is one of those of pandas whose objects are the labels of a table."""
    return any(name_of(base) in _INDICES for base in kind.__mro__) and module_of(kind).startswith("pandas")


def copy_table(into: Any, value: Any) -> Any:
    """Copy a table or a series; where it is brought back, it takes over what a copy of its own has kept."""
    made, kept = value.copy(), value.copy()
    into._others.append((_put_back, (made, kept)))
    return made


def _put_back(made: Any, kept: Any) -> None:
    made._update_inplace(kept.copy())
    made.attrs = copy.deepcopy(kept.attrs)
    if hasattr(kept, "name"):
        made.name = kept.name


def copy_index(into: Any, value: Any) -> Any:
    """Copy the labels of a table, which stay; where they are brought back, their names and frequency are."""
    made = value.copy(deep=True)
    into._others.append((_name_again, (made, list(value.names), getattr(value, "freq", None))))
    return made


def _name_again(made: Any, names: list[Any], freq: Any) -> None:
    made.names = names
    if getattr(made, "freq", None) != freq:
        made.freq = freq
