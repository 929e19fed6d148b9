"""The compiled part of the Gymnasium API: one player's turn, and what that player sees after it.

What changes a live game holds the GIL, so that a search in another thread never copies a state that is half written:
kernels check no bounds, and may run on for ever in one.
"""

from typing import Any

from numba import types

from mcts_envs.core.compiling.table import TABLE, active_of, legal_of, observe_of, status_of, step_of
from mcts_envs.core.contract import BYTES, FLOATS, INTS, RUNNING, SINGLES
from mcts_envs.core.kernel import kernel
from mcts_envs.core.players import play_random, play_scripted
from mcts_envs.core.typing import Bytes, Floats, Ints, Masks, Singles

MASKS = types.int8[::1]
NO_ACTION = -1
EXTERNAL, RANDOM, SCRIPTED, RANDOM_IN_MODEL = range(4)
"""How a seat is played: from outside, or by a built-in player; the last is uniform in a model of the game."""


@kernel(
    types.float64(TABLE, TABLE, INTS, BYTES, types.int64, types.int64, INTS, FLOATS, INTS, FLOATS, BYTES), nogil=False
)
def play_turn(
    game: Any,
    advised: Any,
    seats: Ints,
    state: Bytes,
    seat: int,
    action: int,
    actions: Ints,
    rewards: Floats,
    legal: Ints,
    weights: Floats,
    stream: Bytes,
) -> float:
    """Play an action for a seat (``NO_ACTION``: none), and the others until that seat is to choose or has ended.

    Parameters
    ----------
    game, advised : function tables
        The game, and the model of it in which the last two of the built-in players choose.
    seats : int64 array [P]
        How each seat is played, by one of these; the entry of ``seat`` is not read.
    state, stream : uint8 arrays
        Changed in place; the built-in players draw from ``stream``.
    actions [P], rewards [P], legal [A], weights [A] : work arrays

    Returns
    -------
    float
        Sum of the seat's rewards.
    """
    total = 0.0
    while status_of(game)(state, seat) == RUNNING:
        bits = active_of(game)(state)
        if bits >> seat & 1:
            if action == NO_ACTION:
                break
            actions[seat] = action
            action = NO_ACTION
        for player in range(seats.shape[0]):
            if player != seat and bits >> player & 1:
                if seats[player] == RANDOM:
                    actions[player] = play_random(game, state, player, legal, weights, stream)
                elif seats[player] == SCRIPTED:
                    actions[player] = play_scripted(advised, state, player, legal, weights, stream)
                else:
                    actions[player] = play_random(advised, state, player, legal, weights, stream)
        step_of(game)(state, actions, rewards)
        total += float(rewards[seat])  # NumPy's where nothing is compiled
    return total


@kernel(types.int64(TABLE, BYTES, types.int64, INTS, MASKS, SINGLES))
def fill_mask_and_observation(game: Any, state: Bytes, seat: int, legal: Ints, mask: Masks, out: Singles) -> int:
    """Fill in the mask [A] and the observation of a seat; return its status."""
    mask[:] = 0
    if active_of(game)(state) >> seat & 1:
        for i in range(legal_of(game)(state, seat, legal)):
            mask[legal[i]] = 1
    observe_of(game)(state, seat, out)
    return int(status_of(game)(state, seat))


@kernel(types.int64(TABLE, BYTES, types.int64, INTS, FLOATS, INTS, MASKS, SINGLES), nogil=False)
def step_alone(
    game: Any,
    state: Bytes,
    action: int,
    actions: Ints,
    rewards: Floats,
    legal: Ints,
    mask: Masks,
    out: Singles,
) -> int:
    """Play an action of a game for one player, and fill in what it sees; return its status."""
    actions[0] = action
    step_of(game)(state, actions, rewards)
    return int(fill_mask_and_observation(game, state, 0, legal, mask, out))
