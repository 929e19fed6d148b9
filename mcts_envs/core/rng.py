"""The random stream that lives inside every state, and the hash under every key.

The first 32 bytes of a state are its *chance header*: a 64-bit stream, and a short queue of forced dice that are used
before the stream, so that a test can decide what chance decides. All functions take the state itself; a bare header
(:func:`new_stream`) serves where a search or an opponent needs a stream of its own.
"""

import numpy as np
from numba import types

from mcts_envs.core.kernel import kernel, record, record_dtype, word
from mcts_envs.core.typing import Bytes, Floats, Ints

MAX_DICE = 23
MAX_SEED = 2**64 - 1
CHANCE_FIELDS = [("stream", "u8"), ("dice_left", "u1"), ("dice", "u1", MAX_DICE)]
CHANCE = record_dtype(CHANCE_FIELDS)
CHANCE_BYTES = CHANCE.itemsize

_BYTES = types.uint8[::1]
_LOW = np.uint64(0xFFFFFFFF)
_FACTOR_1 = np.uint64(0x9E3779B1)
_FACTOR_2 = np.uint64(0x85EBCA77)
_OFFSET = np.uint64(0x5BD1E995)
_START = np.uint64(0x9E3779B97F4A7C15)
_ZERO = np.uint64(0)
_OUTSIDE = np.uint64(0xA5A512349D8C7B6F)


@kernel(types.uint64(types.uint64))
def _mixed(value: np.uint64) -> np.uint64:
    """Mix 64 bits with two 32 x 32 -> 64 bit products, which cannot overflow in either mode."""
    low, high = value & _LOW, value >> np.uint64(32)
    product = (low ^ (high >> np.uint64(15)) ^ _OFFSET) * _FACTOR_1
    return product ^ ((high * _FACTOR_2) << np.uint64(32)) ^ (high >> np.uint64(7)) ^ (product >> np.uint64(29))


@kernel(types.uint64(types.uint64))
def scramble(value: np.uint64) -> np.uint64:
    """Hash 64 bits: every bit of the value changes about half of the bits of the result."""
    return _mixed(_mixed(_mixed(value)))


@kernel(types.uint64(types.uint64, types.uint64))
def combine(key: np.uint64, value: np.uint64) -> np.uint64:
    """Fold one more 64-bit word into a hash."""
    return _mixed(_mixed(((key << np.uint64(23)) | (key >> np.uint64(41))) ^ value))


@kernel(types.void(_BYTES, types.uint64))
def seed_stream(state: Bytes, seed: np.uint64) -> None:
    """Start the stream of a state from a seed and empty its queue of forced dice."""
    chance = record(state, CHANCE)
    stream = scramble(np.uint64(seed) ^ _START)
    chance.stream = stream if stream != _ZERO else _START
    chance.dice_left = 0


@kernel(types.uint64(_BYTES))
def draw(state: Bytes) -> np.uint64:
    """Return 64 random bits: xorshift64 (Marsaglia 2003, "Xorshift RNGs", triple 13, 7, 17), scrambled."""
    stream = word(state, 0)
    stream ^= stream << np.uint64(13)
    stream ^= stream >> np.uint64(7)
    stream ^= stream << np.uint64(17)
    record(state, CHANCE).stream = stream
    return _mixed(stream)


@kernel(types.int64(_BYTES))
def _forced(state: Bytes) -> int:
    """Take the next forced die."""
    chance = record(state, CHANCE)
    die = np.int64(chance.dice[0])
    chance.dice_left -= 1
    for i in range(chance.dice_left):
        chance.dice[i] = chance.dice[i + 1]
    return int(die)


@kernel(types.int64(_BYTES, types.int64))
def below(state: Bytes, bound: int) -> int:
    """Return a uniform integer in ``0 .. bound - 1``; a forced die counts modulo ``bound``."""
    if state[8] != 0:
        return int(_forced(state) % bound)
    return int(np.int64(((draw(state) >> np.uint64(33)) * np.uint64(bound)) >> np.uint64(31)))


@kernel(types.float64(_BYTES))
def uniform(state: Bytes) -> float:
    """Return a uniform number in [0, 1), a multiple of 2^-53; forced dice are not used."""
    return float(np.float64(draw(state) >> np.uint64(11)) * 1.1102230246251565e-16)


@kernel(types.boolean(_BYTES, types.float64))
def coin(state: Bytes, probability: float) -> bool:
    """Return True with the given probability; a forced die is True unless it is 0."""
    if state[8] != 0:
        return _forced(state) != 0
    return bool(uniform(state) < probability)


@kernel(types.int64(_BYTES, types.float64[::1], types.int64))
def choose(state: Bytes, weights: Floats, count: int) -> int:
    """Return an index in ``0 .. count - 1`` with probability proportional to ``weights``; uniform if all are 0."""
    total = 0.0
    for i in range(count):
        total += weights[i]
    if total <= 0.0 or state[8] != 0:
        return below(state, count)
    point = uniform(state) * total
    last = 0
    for i in range(count):
        if weights[i] > 0.0:
            last = i
            point -= weights[i]
            if point < 0.0:
                break
    return last


@kernel(types.int64(_BYTES, types.float64[::1], types.int64[::1], types.int64))
def choose_among(state: Bytes, weights: Floats, items: Ints, count: int) -> int:
    """Return one of the first ``count`` items, with probability proportional to ``weights[item]``."""
    total = 0.0
    for i in range(count):
        total += weights[items[i]]
    if total <= 0.0 or state[8] != 0:
        return int(items[below(state, count)])
    point = uniform(state) * total
    last = items[0]
    for i in range(count):
        if weights[items[i]] > 0.0:
            last = items[i]
            point -= weights[last]
            if point < 0.0:
                break
    return int(last)


def new_stream(seed: int) -> Bytes:
    """Return a bare chance header [32 bytes] for a stream outside any state; see :func:`reseed`."""
    stream = np.zeros(CHANCE_BYTES, np.uint8)
    reseed(stream, seed)
    return stream


def reseed(stream: Bytes, seed: int) -> None:
    """Start a stream outside any state: unrelated to that of a state with the same seed.

    Were they the same, a random player and a game that are both seeded with 1 would move in step.
    """
    seed_stream(stream, combine(_OUTSIDE, np.uint64(seed)))
