"""The compiled part of the batched API: many games stepped, observed and reset in one call."""

from typing import Any

import numpy as np
from numba import types

from mcts_envs.core.api.turn import NO_ACTION, fill_mask_and_observation, play_turn
from mcts_envs.core.compiling.table import TABLE, outcome_of, reset_of, step_of
from mcts_envs.core.contract import BYTES, FLOATS, INTS
from mcts_envs.core.kernel import copy, kernel
from mcts_envs.core.rng import draw, seed_stream
from mcts_envs.core.typing import Bytes, Floats, Ints, Masks, Singles

NEXT_STEP, SAME_STEP, DISABLED = range(3)
"""Autoreset modes, as Gymnasium's."""

BYTE_ROWS = types.uint8[:, ::1]
_FLOAT_ROWS = types.float64[:, ::1]
SINGLE_ROWS = types.float32[:, ::1]
_MASK_ROWS = types.int8[:, ::1]


@kernel(types.float64(TABLE, TABLE, BYTES, INTS, BYTES, BYTES, types.int64, types.uint64, INTS, FLOATS, INTS, FLOATS))
def start(
    game: Any,
    advised: Any,
    template: Bytes,
    seats: Ints,
    state: Bytes,
    stream: Bytes,
    seat: int,
    seed: np.uint64,
    actions: Ints,
    rewards: Floats,
    legal: Ints,
    weights: Floats,
) -> float:
    """Reset one game and let the others play until the seat is to choose; return the seat's reward from that."""
    copy(state, template)
    reset_of(game)(state, seed)
    seed_stream(stream, draw(state))
    rewards[:] = 0.0
    return play_turn(game, advised, seats, state, seat, NO_ACTION, actions, rewards, legal, weights, stream)


@kernel(types.int64(_MASK_ROWS, INTS, types.boolean[::1]))
def find_illegal(masks: Masks, chosen: Ints, illegal: Any) -> int:
    """Say which of N actions are illegal where anything is legal; return the first out of range, N if none is."""
    for i in range(chosen.shape[0]):
        illegal[i] = False
        if chosen[i] < 0 or chosen[i] >= masks.shape[1]:
            return i
        if masks[i, chosen[i]] == 0:
            for action in range(masks.shape[1] - 1, -1, -1):  # doing nothing, if legal, is mostly the last action
                if masks[i, action] != 0:
                    illegal[i] = True
                    break
    return int(chosen.shape[0])


def step_signature(rows: Any, *work: Any) -> Any:
    """Return the signature of a step of a batch that shows observations in rows of a type, with work arrays."""
    return types.void(
        TABLE,
        TABLE,
        BYTES,
        INTS,
        BYTE_ROWS,
        BYTE_ROWS,
        types.int64,
        types.int64,
        INTS,
        INTS,
        INTS,
        FLOATS,
        _FLOAT_ROWS,
        INTS,
        FLOATS,
        FLOATS,
        rows,
        _MASK_ROWS,
        rows,
        _MASK_ROWS,
        _FLOAT_ROWS,
        *work,
    )


@kernel(step_signature(SINGLE_ROWS))
def step_all(
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
    observations: Singles,
    masks: Masks,
    final_observations: Singles,
    final_masks: Masks,
    points: Floats,
) -> None:
    """Step N games for one seat and reset those that ended as the autoreset mode says.

    Parameters
    ----------
    game, advised, seats
        As for :func:`mcts_envs.core.api.turn.play_turn`.
    template : uint8 array [size]
        What a reset starts from; it is not changed.
    states [N, size], streams [N, 32]
        Changed in place.
    chosen : int64 array [N]
    status : int64 array [N]
        In: the status after the step before; out: after this one (before a reset in the same step).
    pending [N], last [N, P]
        Changed in place: rewards from before the seat's first choice, paid with its first step; the last rewards.
    actions [P], legal [A], weights [A]
        Work arrays.
    rewards [N], observations [N, n], masks [N, A]
        Filled in.
    final_observations [N, n], final_masks [N, A], points [N, P]
        Filled in for games that end now: what the seat saw at the end (same-step mode), and the outcome.
    """
    alone = seats.shape[0] == 1
    for i in range(states.shape[0]):
        state, stream = states[i], streams[i]
        if mode == NEXT_STEP and status[i] != 0:
            seed = draw(state)
            pending[i] = start(
                game, advised, template, seats, state, stream, seat, seed, actions, last[i], legal, weights
            )
            fill_mask_and_observation(game, state, seat, legal, masks[i], observations[i])
            rewards[i], status[i] = 0.0, 0
            continue
        if alone:
            actions[0] = chosen[i]
            step_of(game)(state, actions, last[i])
            rewards[i] = last[i, 0]
        else:
            reward = play_turn(game, advised, seats, state, seat, chosen[i], actions, last[i], legal, weights, stream)
            rewards[i], pending[i] = reward + pending[i], 0.0
        status[i] = fill_mask_and_observation(game, state, seat, legal, masks[i], observations[i])
        if status[i] != 0:
            copy(points[i], last[i])
            outcome_of(game)(state, points[i])
            if mode == SAME_STEP:
                copy(final_observations[i], observations[i])
                copy(final_masks[i], masks[i])
                seed = draw(state)
                pending[i] = start(
                    game, advised, template, seats, state, stream, seat, seed, actions, last[i], legal, weights
                )
                fill_mask_and_observation(game, state, seat, legal, masks[i], observations[i])
