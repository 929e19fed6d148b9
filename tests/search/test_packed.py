"""Calls whose arguments stay in memory."""

from typing import NamedTuple

import numpy as np
import pytest
from numba import types

from agents.evaluator.packed import Packed
from mcts_envs.core.kernel import kernel


class Pair(NamedTuple):
    grid: object
    share: float
    on: bool


PAIR = types.NamedTuple((types.int32[:, ::1], types.float64, types.boolean), Pair)


@kernel(types.void(types.float64[::1], PAIR, types.int64))
def fill(out, pair, number):
    if number < 0:
        raise ValueError("it is negative")
    out[0] = pair.share
    out[1] = pair.on
    out[2] = number
    for i in range(pair.grid.shape[0]):
        for j in range(pair.grid.shape[1]):
            out[3] += 10**i * pair.grid[i, j]


def test_it_calls_with_what_it_was_given_and_what_was_put():
    out, grid = np.zeros(4), np.arange(6, dtype=np.int32).reshape(2, 3)
    call = Packed(fill, out, Pair(grid, -0.25, True), 7)
    call()
    assert out.tolist() == [-0.25, 1.0, 7.0, 123.0]
    grid[:] = 1  # seen, as it is the same memory
    call.put(2, 2**40)
    call()
    assert out.tolist() == [-0.25, 1.0, 2.0**40, 123.0 + 33.0]
    call.put(1, Pair(np.zeros((0, 3), np.int32), np.inf, False))
    call()
    assert out.tolist() == [np.inf, 0.0, 2.0**40, 156.0]


def test_what_the_kernel_raises():
    call = Packed(fill, np.zeros(4), Pair(np.zeros((1, 1), np.int32), 0.0, False), -1)
    with pytest.raises(ValueError, match="it is negative"):
        call()
