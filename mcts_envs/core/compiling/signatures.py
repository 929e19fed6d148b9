"""The signatures of a game's kernels, as Numba wants them; :mod:`mcts_envs.core.contract` says what each does."""

from numba import types

TABLE = types.uint64[::1]
"""Type of a function table: the addresses of a game's kernels in the order of ``SIGNATURES``."""

BYTES = types.uint8[::1]
INTS = types.int64[::1]
FLOATS = types.float64[::1]
SINGLES = types.float32[::1]

RESET = types.void(BYTES, types.uint64)
ACTIVE = types.int64(BYTES)
LEGAL = types.int64(BYTES, types.int64, INTS)
STEP = types.void(BYTES, INTS, FLOATS)
STATUS = types.int64(BYTES, types.int64)
OUTCOME = types.void(BYTES, FLOATS)
KEY = types.uint64(BYTES, types.int64)
DETERMINIZE = types.void(BYTES, types.int64, types.uint64)
EVALUATE = types.void(BYTES, FLOATS)
ADVISE = types.void(BYTES, types.int64, FLOATS)
OBSERVE = types.void(BYTES, types.int64, SINGLES)

SIGNATURES = {
    "reset": RESET,
    "active": ACTIVE,
    "legal": LEGAL,
    "step": STEP,
    "status": STATUS,
    "outcome": OUTCOME,
    "key": KEY,
    "determinize": DETERMINIZE,
    "evaluate": EVALUATE,
    "advise": ADVISE,
    "observe": OBSERVE,
}
