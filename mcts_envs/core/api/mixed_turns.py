"""The compiled part of batches in which anybody may play the other seats: games go on until somebody is to be asked."""

from typing import Any

import numpy as np
from numba import types

from mcts_envs.core.api.batch import BYTE_ROWS, SINGLE_ROWS
from mcts_envs.core.api.turn import EXTERNAL, SCRIPTED, fill_mask_and_observation
from mcts_envs.core.compiling.table import TABLE, active_of, outcome_of, status_of, step_of
from mcts_envs.core.contract import BYTES, FLOATS, INTS, RUNNING
from mcts_envs.core.kernel import copy, kernel
from mcts_envs.core.players import play_random, play_scripted
from mcts_envs.core.rng import choose, draw
from mcts_envs.core.typing import Bytes, Floats, Ints, Masks, Singles

_TABLES = types.uint64[:, ::1]
_INT_ROWS = types.int64[:, ::1]
_FLOAT_ROWS = types.float64[:, ::1]
_MASK_ROWS = types.int8[:, ::1]
_SEEDS = types.uint64[:, ::1]


@kernel(types.void(BYTES, FLOATS, types.int64, INTS))
def draw_opponents(stream: Bytes, weights: Floats, seat: int, who: Ints) -> None:
    """Draw for each other seat who plays it in this game, with probability proportional to weights [K]."""
    for player in range(who.shape[0]):
        if player != seat:
            who[player] = choose(stream, weights, weights.shape[0])


@kernel(
    types.int64(
        TABLE,
        _TABLES,
        INTS,
        INTS,
        BYTES,
        BYTES,
        types.int64,
        types.int64,
        INTS,
        types.uint64[::1],
        INTS,
        FLOATS,
    )
)
def _advance(
    game: Any,
    tables: Any,
    kinds: Ints,
    who: Ints,
    state: Bytes,
    stream: Bytes,
    seat: int,
    chosen: int,
    actions: Ints,
    seeds: Any,
    legal: Ints,
    weights: Floats,
) -> int:
    """Choose for the built-in players who are to choose and have not; return the bits of those who are to be asked.

    Where nobody is to be asked, all have chosen: the caller steps the game.
    """
    asked = 0
    bits = active_of(game)(state) & ~chosen
    for player in range(who.shape[0]):
        if player != seat and bits >> player & 1:
            kind = kinds[who[player]]
            if kind == EXTERNAL:
                seeds[player] = draw(stream)
                asked |= 1 << player
            elif kind == SCRIPTED:
                actions[player] = play_scripted(tables[who[player]], state, player, legal, weights, stream)
            else:
                actions[player] = play_random(tables[who[player]], state, player, legal, weights, stream)
    return asked


@kernel(
    types.void(
        TABLE,
        _TABLES,
        INTS,
        _INT_ROWS,
        BYTE_ROWS,
        BYTE_ROWS,
        INTS,
        INTS,
        INTS,
        _INT_ROWS,
        _SEEDS,
        _FLOAT_ROWS,
        FLOATS,
        INTS,
        FLOATS,
    )
)
def go_on(
    game: Any,
    tables: Any,
    kinds: Ints,
    who: Ints,
    states: Bytes,
    streams: Bytes,
    seats: Ints,
    waits: Ints,
    chosen: Ints,
    actions: Ints,
    seeds: Any,
    last: Floats,
    totals: Floats,
    legal: Ints,
    weights: Floats,
) -> None:
    """Play N games on, each until its seat is to choose or has ended, or somebody who is not built in is to be asked.

    Parameters
    ----------
    game : function table
        Of the game.
    tables [K], kinds [K]
        The function tables that the K opponents follow, and how they play (:mod:`mcts_envs.core.api.turn`).
    who : int64 array [N, P]
        Which of the K plays each seat.
    states [N, size], streams [N, 32]
        Changed in place; built-in players draw from their game's stream, and so do the seeds of the others.
    seats : int64 array [N]
        Whose environment each game is.
    waits : int64 array [N]
        In: not 0 for games that are to go on. Out: the bits of the seats that are to be asked now.
    chosen : int64 array [N]
        Bits of those whose action of this step is in ``actions`` [N, P]; cleared by a step.
    seeds : uint64 array [N, P]
        Filled in for the seats that are to be asked: where their randomness starts.
    last [N, P], totals [N]
        The last rewards, and the sums of the seat's rewards, to which is added.
    legal [A], weights [A]
        Work arrays.
    """
    for i in range(states.shape[0]):
        if waits[i] == 0:
            continue
        state, seat = states[i], seats[i]
        waits[i] = 0
        while status_of(game)(state, seat) == RUNNING:
            if active_of(game)(state) & ~chosen[i] & (1 << seat):
                break
            asked = _advance(
                game,
                tables,
                kinds,
                who[i],
                state,
                streams[i],
                seat,
                chosen[i],
                actions[i],
                seeds[i],
                legal,
                weights,
            )
            if asked:
                waits[i] = asked
                chosen[i] = active_of(game)(state)
                break
            step_of(game)(state, actions[i], last[i])
            totals[i] += last[i, seat]
            chosen[i] = 0


@kernel(types.void(TABLE, BYTE_ROWS, INTS, INTS, INTS, _FLOAT_ROWS, _FLOAT_ROWS, _MASK_ROWS, SINGLE_ROWS))
def look(
    game: Any,
    states: Bytes,
    seats: Ints,
    status: Ints,
    legal: Ints,
    last: Floats,
    points: Floats,
    masks: Masks,
    observations: Singles,
) -> None:
    """Fill in what the seats of N games see: status [N], masks [N, A], observations [N, n]; at an end points [N, P]."""
    for i in range(states.shape[0]):
        state = states[i]
        status[i] = fill_mask_and_observation(game, state, seats[i], legal, masks[i], observations[i])
        if status[i] != RUNNING:
            copy(points[i], last[i])
            outcome_of(game)(state, points[i])


@kernel(types.void(TABLE, BYTE_ROWS, INTS, INTS, _MASK_ROWS, SINGLE_ROWS))
def show(game: Any, states: Bytes, players: Ints, legal: Ints, masks: Masks, observations: Singles) -> None:
    """Fill in what players [k] of k states see: masks [k, A], observations [k, n]."""
    for i in range(states.shape[0]):
        fill_mask_and_observation(game, states[i], players[i], legal, masks[i], observations[i])


def shown(game: Any, states: Bytes, players: Ints) -> tuple[Any, Any]:
    """Return observations [k, ...] (float32) and masks [k, A] (bool) of players [k] who look at states [k, size]."""
    observations = np.empty((len(states), int(np.prod(game.observation_shape))), np.float32)
    masks, legal = np.empty((len(states), game.actions), np.int8), np.empty(game.actions, np.int64)
    show(game.bare.table, states, players, legal, masks, observations)
    return observations.reshape(len(states), *game.observation_shape), masks.astype(np.bool_)


def drawn(weights: Any, seeds: Any) -> Ints:
    """Return an index [k] for each row of weights [k, A], with probability in proportion to them; seeds [k] decide."""
    sums = weights.cumsum(1)
    points = (seeds >> np.uint64(11)).astype(np.float64) * 2.0**-53 * sums[:, -1]
    found: Ints = (sums <= points[:, None]).sum(1)
    return found
