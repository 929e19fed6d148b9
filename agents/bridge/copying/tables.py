"""Copies of tables and series of pandas."""

import functools
import sys
from typing import Any

from agents.bridge.copying.classes import KINDS, name_of

_TABLES = ("pandas.DataFrame", "pandas.Series", "pandas.core.frame.DataFrame", "pandas.core.series.Series")
"""Before pandas 3 classes had the name of their module."""

_LAZY = 3
"""From this version on a copy shares memory with its original until one of them is written to."""


@functools.lru_cache(KINDS)
def is_table(kind: type) -> bool:
    """Say whether a class is one of those of pandas; of its own, it may hold more."""
    return name_of(kind) in _TABLES


def copy_table(into: Any, value: Any) -> Any:
    """Copy a table or a series; where it is brought back, it takes over what a copy of its own has kept."""
    made, kept = value.copy(), value.copy()
    deep = int(sys.modules["pandas"].__version__.partition(".")[0]) < _LAZY
    into._others.append((_put_back, (made, kept, deep)))
    return made


def _put_back(made: Any, kept: Any, deep: bool) -> None:
    made._update_inplace(kept.copy(deep=deep))
