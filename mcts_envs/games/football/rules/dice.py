"""Dice: each is one draw of the stream, or one forced die with its natural value."""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import below
from mcts_envs.games.football.rules.layout import (
    BLOCK_DIE,
    D3,
    D6,
    D8,
    MAX_ROLLS,
    STATE,
)

_FACE_OF = np.array([4, 0, 1, 2, 2, 3], np.int64)
"""Face of a block die by its draw below 6: forced, 1 attacker down, 2 both, 3 and 4 push, 5 stumble, 6 down."""


@kernel(types.int64(BYTES, types.int64, types.int64))
def _thrown(state, kind, sides):
    """Throw a die of 1 to ``sides`` and note it among the dice of this step."""
    drawn = below(state, sides)
    value = drawn if drawn > 0 else sides
    s = record(state, STATE)
    if s.rolled < MAX_ROLLS:
        s.rolls[s.rolled] = 16 * kind + value
        s.rolled += 1
    return value


@kernel()
def d3(state):
    """Throw a die of three sides."""
    return _thrown(state, D3, 3)


@kernel()
def d6(state):
    """Throw a die of six sides."""
    return _thrown(state, D6, 6)


@kernel()
def d8(state):
    """Throw a die of eight sides."""
    return _thrown(state, D8, 8)


@kernel()
def block_die(state):
    """Throw a block die; return its face."""
    return _FACE_OF[_thrown(state, BLOCK_DIE, 6) % 6]


@kernel()
def die_of(state, sides):
    """Throw a die of three or six sides."""
    return d3(state) if sides == 3 else d6(state)


@kernel()
def forget_rolls(state):
    """Begin a new list of dice."""
    s = record(state, STATE)
    for i in range(s.rolled):
        s.rolls[i] = 0
    s.rolled = 0
