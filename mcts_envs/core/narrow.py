"""Records that tell of numbers for which a field has no room.

Compiled code loses the upper bits of integers and the fractions of floats without a word.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from mcts_envs.core.kernel import Record, record, row
from mcts_envs.core.typing import Bytes

_ALL_BITS = 8
"""Bytes of a field in which every integer of a kernel has room, perhaps as a pattern of bits."""


class NoRoomError(OverflowError):
    """A field of a record was assigned a number that it cannot hold."""


def _narrow(kind: Any) -> bool:
    return kind.kind in "iu" and kind.itemsize < _ALL_BITS


def _whole(value: Any) -> bool:
    """Say whether a number, or each of an array, has no fraction."""
    numbers = np.asarray(value)
    return numbers.dtype.kind != "f" or bool((numbers == np.trunc(numbers)).all())


def _integer(value: Any) -> bool:
    return isinstance(value, int) or getattr(getattr(value, "dtype", None), "kind", "") in ("i", "u")


def _assign(write: Any, read: Any, key: Any, value: Any, kind: Any, name: str) -> None:
    """Assign, and compare what is there then; a Python integer without room NumPy refuses by itself."""
    if kind.kind in "iu" and not _whole(value):
        cure = "make the field a float, 'f8', or cut the fraction off, as np.int64(...) does"
        raise NoRoomError(f"{value} is assigned to {name!r}, of {kind.name}, and loses its fraction; {cure}")
    if not (_narrow(kind) and _integer(value)):
        write(key, value)
        return
    wide = np.asarray(value).astype(np.int64)
    write(key, wide.astype(kind))
    if (read(key) != wide).any():
        cure = "make the field wider in state_dtype, or keep the number small, as & 255 does"
        raise NoRoomError(
            f"{value} is assigned to {name!r}, of {kind.name}, and compiled code keeps {read(key)}; {cure}"
        )


class _Elements(np.ndarray):
    """An array field; ``field`` is its name."""

    field = ""

    def __setitem__(self, key: Any, value: Any) -> None:
        _assign(super().__setitem__, super().__getitem__, key, value, self.dtype, self.field)

    def __array_finalize__(self, source: Any) -> None:
        self.field = getattr(source, "field", "")


class _Telling(Record):  # type: ignore[misc]
    """A record as interpreted code sees it, which tells what does not fit."""

    __slots__ = ()

    def __getitem__(self, name: Any) -> Any:
        value = Record.__getitem__(self, name)
        if not (isinstance(value, np.ndarray) and value.dtype.kind in "iu"):
            return value
        elements = value.view(_Elements)
        elements.field = name
        return elements

    def __setattr__(self, name: Any, value: Any) -> None:
        kind = np.void.__getitem__(self, name).dtype
        _assign(super().__setitem__, super().__getitem__, name, value, kind, name)


@cache
def _telling(dtype: Any) -> Any:
    return np.dtype((_Telling, dtype))


def _record(raw: Bytes, dtype: Any) -> Any:
    return record(raw, _telling(dtype))


def _row(raw: Any, index: Any, dtype: Any) -> Any:
    return row(raw, index, _telling(dtype))


TELLING: dict[Callable[..., Any], Any] = {record: _record, row: _row}
"""What stands in interpreted kernels in place of the primitives, for them to raise :class:`NoRoomError`."""
