"""Memory for large arrays that are given away at every step."""

import weakref
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

LARGE = 2**20
"""Bytes from which an array takes memory from the pool: so much comes from the system anew each time, and is cleared
page by page when it is first written, which takes ten times as long as writing it."""

_KEPT = 3


class Pool:
    """Arrays of one shape, not initialised, whose memory is used again when nobody holds them or a part of them.

    Parameters
    ----------
    shape : tuple of int
    dtype : data-type
        Shape and type of the arrays.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any = np.float32) -> None:
        self._shape, self._dtype = shape, np.dtype(dtype)
        self._lent: list[tuple[memoryview, weakref.ref[Any]]] = []
        self._lock = Lock()

    def __reduce__(self) -> Any:
        return Pool, (self._shape, self._dtype)

    def take(self) -> npt.NDArray[Any]:
        """Return an array that shares its memory with none that is still held."""
        with self._lock:
            for i, (memory, array) in enumerate(self._lent):
                if array() is None:
                    return self._lend(memory, i)
            new: npt.NDArray[Any] = np.empty(self._shape, self._dtype)
            if new.nbytes < LARGE or len(self._lent) == _KEPT:
                return new
            return self._lend(new.reshape(-1).data, len(self._lent))

    def _lend(self, memory: memoryview, i: int) -> npt.NDArray[Any]:
        # Every view has this array as its base, not the memory, since that is no array: so all of them keep it alive.
        array: npt.NDArray[Any] = np.frombuffer(memory, self._dtype)
        self._lent[i : i + 1] = [(memory, weakref.ref(array))]
        return array.reshape(self._shape)
