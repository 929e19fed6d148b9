"""What a game does where it brings no kernel of its own."""

import numpy as np

from mcts_envs.core.compiling.signatures import ADVISE, DETERMINIZE, EVALUATE, KEY, OBSERVE, OUTCOME
from mcts_envs.core.kernel import kernel, word
from mcts_envs.core.rng import CHANCE_BYTES, combine, seed_stream
from mcts_envs.core.typing import Bytes, Floats, Singles

_HASH_START = np.uint64(0x243F6A8885A308D3)
_FIRST_WORD = CHANCE_BYTES // 8


@kernel(KEY)
def default_key(state: Bytes, observer: int) -> np.uint64:
    """Hash every byte after the chance header."""
    key = _HASH_START
    for i in range(_FIRST_WORD, state.shape[0] // 8):
        key = combine(key, word(state, i))
    return key


@kernel(DETERMINIZE)
def default_determinize(state: Bytes, observer: int, seed: np.uint64) -> None:
    """Start a new random stream: right for games in which players see everything but future chance."""
    seed_stream(state, seed)


@kernel(EVALUATE)
def default_evaluate(state: Bytes, values: Floats) -> None:
    """Value every unfinished state at 0."""
    for player in range(len(values)):
        values[player] = 0.0


@kernel(ADVISE)
def default_advise(state: Bytes, player: int, weights: Floats) -> None:
    """Prefer no action over another."""
    for action in range(len(weights)):
        weights[action] = 1.0


@kernel(OBSERVE)
def default_observe(state: Bytes, player: int, out: Singles) -> None:
    """Show every byte after the chance header, scaled to [0, 1]."""
    for i in range(len(out)):
        out[i] = np.float32(state[CHANCE_BYTES + i]) / np.float32(255.0)


@kernel(OUTCOME)
def default_outcome(state: Bytes, points: Floats) -> None:
    """Turn the rewards of the last step, which are handed over in ``points``, into points.

    1 to the best reward, shared between equals, 0 to the others; a single player has 1 if its reward is positive.
    """
    best, equals = points[0], 0
    for player in range(len(points)):
        best = max(best, points[player])
    for player in range(len(points)):
        equals += points[player] == best
    for player in range(len(points)):
        points[player] = 1.0 / equals if points[player] == best else 0.0
    if len(points) == 1:
        points[0] = 1.0 if best > 0.0 else 0.0
