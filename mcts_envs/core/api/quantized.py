"""Observations in bytes: numbers from 0 to 1 as multiples of 1 / 255, a quarter of the memory of float32."""

from typing import Any

import numpy as np
from numba import types

from mcts_envs.core import errors
from mcts_envs.core.api.batch import BYTE_ROWS, SAME_STEP, SINGLE_ROWS, step_all, step_signature
from mcts_envs.core.contract import BYTES, SINGLES, Game
from mcts_envs.core.kernel import kernel
from mcts_envs.core.typing import Bytes, Floats, Ints, Masks, Singles

DTYPES = ("float32", "uint8")
"""What the numbers of an observation may be."""


def check_dtype(game: Game, dtype: Any) -> bool:
    """Return whether a game's observations are to be bytes.

    Raises
    ------
    ValueError
        If there is no such type, or the observations do not lie in [0, 1].
    """
    word = errors.choice("observation_dtype", dtype.name if isinstance(dtype, np.dtype) else dtype, DTYPES)
    low, high = game.observation_low, game.observation_high
    if word == "uint8" and (low, high) != (0.0, 1.0):
        raise ValueError(
            f"observation_dtype 'uint8' is for observations in [0, 1], and these of {game.name} lie in "
            f"[{low:g}, {high:g}]; leave it out, or choose another observation"
        )
    return word == "uint8"


@kernel(types.void(SINGLES, BYTES))
def quantize(source: Singles, target: Bytes) -> None:
    """Write numbers x from 0 to 1 as the whole numbers that are nearest to 255 x."""
    for i in range(target.shape[0]):
        target[i] = np.uint8(source[i] * np.float32(255.0) + np.float32(0.5))


def quantized(observation: Singles) -> Bytes:
    """Return an observation in bytes, in its shape; see :func:`quantize`."""
    out: Bytes = np.empty(observation.shape, np.uint8)
    quantize(observation.reshape(-1), out.reshape(-1))
    return out


def as_bytes(game: Game, observations: Singles) -> Bytes:
    """Return observations of a game in bytes, in their shape: those that go to 255 as they are, others as multiples."""
    return observations.astype(np.uint8) if game.observation_high == 255.0 else quantized(observations)


@kernel(step_signature(BYTE_ROWS, SINGLE_ROWS, SINGLE_ROWS))
def step_all_quantized(
    game: Any,
    advised: Any,
    template: Bytes,
    seats: Ints,
    states: Bytes,
    streams: Bytes,
    seat: int,
    mode: int,
    chosen: Ints,
    status: Ints,
    actions: Ints,
    pending: Floats,
    last: Floats,
    legal: Ints,
    weights: Floats,
    rewards: Floats,
    observations: Bytes,
    masks: Masks,
    final_observations: Bytes,
    final_masks: Masks,
    points: Floats,
    seen: Singles,
    seen_last: Singles,
) -> None:
    """Do what :func:`mcts_envs.core.api.batch.step_all` does, with observations in bytes.

    Parameters
    ----------
    seen, seen_last : float32 arrays [1, n]
        Work arrays: what one game shows, which stays near the processor.
    """
    for i in range(states.shape[0]):
        one = slice(i, i + 1)
        step_all(
            game,
            advised,
            template,
            seats,
            states[one],
            streams[one],
            seat,
            mode,
            chosen[one],
            status[one],
            actions,
            pending[one],
            last[one],
            legal,
            weights,
            rewards[one],
            seen,
            masks[one],
            seen_last,
            final_masks[one],
            points[one],
        )
        quantize(seen[0], observations[i])
        if mode == SAME_STEP and status[i] != 0:
            quantize(seen_last[0], final_observations[i])
