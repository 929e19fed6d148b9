"""The array types that appear in signatures."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Bytes: TypeAlias = npt.NDArray[np.uint8]
Ints: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
Singles: TypeAlias = npt.NDArray[np.float32]
Masks: TypeAlias = npt.NDArray[np.int8]
Order: TypeAlias = Sequence[int] | Ints
Looks: TypeAlias = Order | Callable[[Singles], Singles]
Symmetries: TypeAlias = Sequence[tuple[Looks, Order]]
"""Turned boards: which number of the observation stands in each place, or a function that turns observations [b, N]
where numbers change; and what each action is there."""
