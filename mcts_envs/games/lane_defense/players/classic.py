"""Scripted players of the classic game, as ``advise`` kernels: weight 1 for what they may do, 0 for the rest."""

import numpy as np

from mcts_envs.core.contract import ADVISE
from mcts_envs.core.kernel import count_bits, kernel, lowest, record
from mcts_envs.games.lane_defense.rules.classic import STATE, free, lane_bits


@kernel()
def _clear(state, weights):
    """Zero the weights; return whether a plant may be planted, else advise to do nothing."""
    s = record(state, STATE)
    cells = s.rows * s.columns
    weights[:] = 0.0
    if not s.can_plant:
        weights[cells] = 1.0
        return False
    return True


@kernel()
def _zombies(state, lane):
    """Return the columns of a lane that hold a zombie, as bits."""
    return lane_bits(state, 1, lane) | lane_bits(state, 2, lane) | lane_bits(state, 3, lane)


@kernel()
def _free(state, lane):
    """Return the empty columns of a lane, as bits."""
    return np.int64((free(state, lane >> 2) >> np.uint64(16 * (lane & 3))) & np.uint64(0xFFFF))


@kernel()
def _most_urgent_lane(state):
    """Return the unprotected lane whose leftmost zombie arrives first by 2 z - hits left; -1 if all are protected.

    Unprotected: a zombie, and no plant left of the leftmost one, which stands at z >= 1. Ties go to more zombies.
    """
    s = record(state, STATE)
    urgent, least, most = -1, 1000, 0
    for lane in range(s.rows):
        column = lowest(_zombies(state, lane))
        if column == 64 or column == 0 or lowest(lane_bits(state, 0, lane)) < column:
            continue
        hits = 2 if lane_bits(state, 2, lane) >> column & 1 else 1
        urgency, number = 2 * column - hits, count_bits(_zombies(state, lane))
        if urgency < least or (urgency == least and number > most):
            urgent, least, most = lane, urgency, number
    return urgent


@kernel()
def _advise_bare_lanes(state, weights):
    """Weigh the leftmost free cell of every lane without plants; return how many there are."""
    s = record(state, STATE)
    found = 0
    for lane in range(s.rows):
        if lane_bits(state, 0, lane) == 0 and _free(state, lane):
            weights[lane * s.columns + lowest(_free(state, lane))] = 1.0
            found += 1
    return found


@kernel()
def _advise_any_cell(state, weights):
    """Weigh all free cells alike, or doing nothing if there are none."""
    s = record(state, STATE)
    rows, columns = s.rows, s.columns
    found = 0
    for lane in range(rows):
        for column in range(columns):
            if _free(state, lane) >> column & 1:
                weights[lane * columns + column] = 1.0
                found += 1
    if not found:
        weights[rows * columns] = 1.0


@kernel(ADVISE)
def advise_urgent(state, player, weights):
    """H1: the urgent lane first, then a lane without plants, then the lane of the most advanced zombie."""
    if not _clear(state, weights):
        return
    s = record(state, STATE)
    lane = _most_urgent_lane(state)
    if lane < 0:
        if _advise_bare_lanes(state, weights):
            return
        nearest = 64
        for other in range(s.rows):
            column = lowest(_zombies(state, other))
            if column < nearest:
                lane, nearest = other, column
    if lane >= 0 and _free(state, lane):
        weights[lane * s.columns + lowest(_free(state, lane))] = 1.0
    else:
        _advise_any_cell(state, weights)


@kernel(ADVISE)
def advise_bare_lanes(state, player, weights):
    """H0: column 0 of a random lane without plants; any free cell when every lane has one."""
    if _clear(state, weights) and not _advise_bare_lanes(state, weights):
        _advise_any_cell(state, weights)
