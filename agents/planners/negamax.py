"""Alpha-beta search of one fixed depth, as a machine that can be halted after any step of the model.

Negamax with fail-soft bounds (D. Knuth, R. Moore 1975, "An Analysis of Alpha-Beta Pruning"), principal variation
search (A. Reinefeld 1983, "An Improvement to the Scout Tree-Search Algorithm") and a transposition table. There is no
recursion: every position on the way from the root has a *frame*, and one turn of the loop in :func:`search` makes one
step of the model or closes one frame.

Moves come in an order that finds cutoffs early: the one that the transposition table has, two that caused a cutoff at
the same ply (killers), the last good answer to the move before, then the others by what ``evaluate`` says one ply
ahead; next to the depth limit, where that would be the whole search, by how often they have caused cutoffs (history).

Scores are integers, from the point of view of the player to move: what ``evaluate`` says in units of 1 / ``UNIT``, and
so is a difference of points at the end of a game; but ``WIN``, less the number of plies from the root, for a whole win,
and the reverse for a loss. Whoever is to move may be the same player as in the position before.
"""

from typing import Any

import numpy as np
from numba import types

from agents.planners.frames import (
    BEST,
    BEST_SCORE,
    ENTRY,
    EXACT,
    FRAME,
    INFINITY,
    LEAVES,
    LISTED,
    LOWER,
    NONE,
    PLY,
    SETTINGS,
    STEPS,
    UNIT,
    WIN,
    WORK,
    AlphaBetaSettings,
    Work,
    find,
    known,
    store,
)
from mcts_envs.core.compiling.table import TABLE, active_of, evaluate_of, key_of, legal_of, outcome_of, step_of
from mcts_envs.core.contract import EVERYTHING
from mcts_envs.core.kernel import copy, kernel, lowest, row
from mcts_envs.core.rng import combine

MARGIN_DEPTH = 3
"""Plies before the depth limit in which moves are left out that seem hopeless."""


@kernel()
def _clipped(value: float) -> float:
    return min(1.0, max(-1.0, value))


@kernel()
def _try(game: Any, work: Work, ply: int, mover: int, move: int) -> int:
    """Make a move from a position; return who is to move then, as bits."""
    copy(work.states[ply + 1], work.states[ply])
    work.actions[mover] = move
    step_of(game)(work.states[ply + 1], work.actions, work.rewards)
    work.counters[STEPS] += 1
    return int(active_of(game)(work.states[ply + 1]))


@kernel()
def _end_score(game: Any, work: Work, ply: int, player: int) -> int:
    """Return the score of a game that is over at a ply, for a player: the sooner won and the later lost the better."""
    points, state = work.values, work.states[ply]
    for i in range(2):
        points[i] = work.rewards[i]
    outcome_of(game)(state, points)
    difference = points[player] - points[1 - player]
    return WIN - ply if difference >= 1.0 else ply - WIN if difference <= -1.0 else int(UNIT * difference)


@kernel()
def _leaf_score(game: Any, work: Work, ply: int, player: int) -> int:
    """Return what a position that is not over is worth to a player."""
    values = work.values
    evaluate_of(game)(work.states[ply], values)
    return int(UNIT * _clipped(0.5 * (values[player] - values[1 - player])))


@kernel()
def _to_front(work: Work, frame: Any, ply: int, move: int) -> None:
    """Put a move, if it is there, behind those that come first."""
    moves = work.moves[ply]
    for i in range(frame.front, frame.count):
        if moves[i] == move:
            moves[i] = moves[frame.front]
            moves[frame.front] = move
            frame.front += 1
            return


@kernel()
def enter(game: Any, work: Work, ply: int, depth: int, alpha: int, beta: int, key: np.uint64, first: int) -> None:
    """Open a frame for the position at a ply: list its moves, with those first that are likely to be good.

    Parameters
    ----------
    game : function table
    work : Work
        Its ``states[ply]`` is the position.
    ply, depth : int
        Distance from the root, and how many plies to look ahead, at least 1.
    alpha, beta : int
        Window of scores that matter.
    key : uint64
        Of the position, with the player to move.
    first : int
        The move to begin with; -1: none.
    """
    frame, state = row(work.frames, ply, FRAME), work.states[ply]
    mover = lowest(active_of(game)(state))
    moves, order = work.moves[ply], work.order[ply]
    frame.key, frame.mover, frame.depth = key, mover, depth
    frame.alpha = frame.least = alpha
    frame.beta, frame.best, frame.best_move = beta, -INFINITY, NONE
    frame.index = frame.front = frame.length = frame.open = frame.scout = 0
    frame.count = legal_of(game)(state, mover, moves)
    for i in range(frame.count):
        if moves[i] < 0 or moves[i] >= len(moves):
            work.counters[LISTED] = moves[i]
            moves[i] = 0
    if first >= 0:
        _to_front(work, frame, ply, first)
    _to_front(work, frame, ply, work.killers[ply, 0])
    _to_front(work, frame, ply, work.killers[ply, 1])
    if ply > 0:
        before = row(work.frames, ply - 1, FRAME)
        _to_front(work, frame, ply, work.answers[before.mover, work.moves[ply - 1, before.index]])
    frame.scored = frame.front
    if depth == 1:
        frame.scored = frame.count
        for i in range(frame.front, frame.count):
            order[i] = work.history[mover, moves[i]]
    work.counters[PLY] = ply


@kernel()
def _score_next(game: Any, work: Work, frame: Any, ply: int) -> None:
    """Look one ply ahead, to find out what speaks for the next move that has no order."""
    mover, i = frame.mover, frame.scored
    bits = _try(game, work, ply, mover, work.moves[ply, i])
    if bits == 0:
        work.order[ply, i] = _end_score(game, work, ply + 1, mover)
    else:
        work.order[ply, i] = _leaf_score(game, work, ply + 1, mover)
    frame.scored += 1


@kernel()
def _pick(work: Work, frame: Any, ply: int) -> None:
    """Bring the best move of those that are left to the front of them."""
    moves, order, best = work.moves[ply], work.order[ply], frame.index
    for i in range(frame.index + 1, frame.count):
        if order[i] > order[best]:
            best = i
    i = frame.index
    moves[i], moves[best] = moves[best], moves[i]
    order[i], order[best] = order[best], order[i]


@kernel()
def _is_hopeless(settings: AlphaBetaSettings, work: Work, frame: Any, ply: int) -> bool:
    """Return whether no move that is left can be expected to raise alpha; if so, note what they may be worth at most.

    Near the depth limit a move is given up if the score one ply ahead, and ``margin`` for each ply to come, does not
    reach alpha (futility pruning, E. Heinz 1998, "Extended Futility Pruning"). The best of those left is at ``index``.
    """
    if settings.margin < 0 or not 1 < frame.depth <= MARGIN_DEPTH or abs(frame.alpha) > UNIT or ply == 0:
        return False
    hope = work.order[ply, frame.index]
    if hope >= -UNIT:
        hope += settings.margin * (frame.depth - 1)
    if hope > frame.alpha:
        return False
    if hope > frame.best:
        frame.best = hope
        if frame.best_move < 0:
            frame.best_move = work.moves[ply, frame.index]
    frame.open = 1
    return True


@kernel()
def _take(work: Work, frame: Any, ply: int, score: int) -> None:
    """Take in the score of the move at ``index``, for the player to move, or look at it again."""
    if frame.scout > 0 and frame.alpha < score < frame.beta:
        frame.scout = -1
        return
    move = work.moves[ply, frame.index]
    if score > frame.best:
        frame.best = score
        if score > frame.alpha or frame.best_move < 0:
            frame.best_move = move
        if score > frame.alpha:
            frame.alpha = score
            _extend_line(work, frame, ply, move)
    if ply == 0 and frame.best_move >= 0:
        work.counters[BEST], work.counters[BEST_SCORE] = frame.best_move, frame.best
    frame.index += 1
    frame.scout = 0
    if score >= frame.beta:
        _remember(work, frame, ply, move)


@kernel()
def _extend_line(work: Work, frame: Any, ply: int, move: int) -> None:
    """Make a move, and what follows it, the principal variation of a frame."""
    work.line[ply, 0] = move
    below = row(work.frames, ply + 1, FRAME)
    for i in range(below.length):
        work.line[ply, 1 + i] = work.line[ply + 1, i]
    frame.length = 1 + below.length


@kernel()
def _remember(work: Work, frame: Any, ply: int, move: int) -> None:
    """Note that a move caused a cutoff, to try it early in other positions."""
    if work.killers[ply, 0] != move:
        work.killers[ply, 1] = work.killers[ply, 0]
        work.killers[ply, 0] = move
    work.history[frame.mover, move] += frame.depth * frame.depth
    if ply > 0:
        before = row(work.frames, ply - 1, FRAME)
        work.answers[before.mover, work.moves[ply - 1, before.index]] = move


@kernel()
def _leave(work: Work, settings: AlphaBetaSettings, frame: Any, ply: int) -> None:
    """Close a frame and hand its score to the one above."""
    store(work, settings, frame, ply)
    work.counters[PLY] = ply - 1
    if ply > 0:
        above = row(work.frames, ply - 1, FRAME)
        above.open |= frame.open
        _take(work, above, ply - 1, frame.best if above.mover == frame.mover else -frame.best)


@kernel()
def _try_next(game: Any, settings: AlphaBetaSettings, work: Work, frame: Any, ply: int) -> None:
    """Make the next move: score what it leads to, or open a frame for it."""
    if frame.index >= frame.front and frame.scout == 0:
        _pick(work, frame, ply)
        if _is_hopeless(settings, work, frame, ply):
            frame.index = frame.count
            return
    mover = frame.mover
    row(work.frames, ply + 1, FRAME).length = 0
    bits = _try(game, work, ply, mover, work.moves[ply, frame.index])
    if bits != 0 and frame.depth > 1:
        _look_deeper(game, settings, work, frame, ply, bits)
        return
    work.counters[LEAVES] += 1
    if bits == 0:
        score = _end_score(game, work, ply + 1, mover)
    else:
        score = _leaf_score(game, work, ply + 1, mover)
        frame.open = 1
    _take(work, frame, ply, score)


@kernel()
def _look_deeper(game: Any, settings: AlphaBetaSettings, work: Work, frame: Any, ply: int, bits: int) -> None:
    """Find the position after a move in the table, or open a frame for it."""
    alpha, beta, depth = frame.alpha, frame.beta, frame.depth - 1
    if frame.index > 0 and frame.scout == 0 and beta > alpha + 1:
        frame.scout = 1
    if frame.scout > 0:
        beta = alpha + 1
    same = bits >> frame.mover & 1 != 0
    low, high = (alpha, beta) if same else (-beta, -alpha)
    key = _key(game, settings, work, ply + 1, bits)
    index, first = find(work, settings, key), NONE
    if index >= 0:
        entry = row(work.entries, index, ENTRY)
        score, bound = known(entry, ply + 1), entry.bound
        settled = bound == EXACT or (score >= high if bound == LOWER else score <= low)
        if entry.depth >= depth and settled:
            frame.open |= entry.open
            _take(work, frame, ply, score if same else -score)
            return
        first = int(entry.move)
    enter(game, work, ply + 1, depth, low, high, key, first)


@kernel()
def _key(game: Any, settings: AlphaBetaSettings, work: Work, ply: int, bits: int) -> np.uint64:
    """Return the key of a position with the player to move; 0 if there is no table."""
    if settings.buckets == 0:
        return np.uint64(0)
    return combine(key_of(game)(work.states[ply], EVERYTHING), np.uint64(bits))


@kernel(types.void(TABLE, SETTINGS, WORK, types.int64, types.int64))
def begin(game: Any, settings: AlphaBetaSettings, work: Work, depth: int, first: int) -> None:
    """Begin an iteration from ``work.states[0]``; see :func:`enter`."""
    work.counters[BEST] = NONE
    key = _key(game, settings, work, 0, active_of(game)(work.states[0]))
    enter(game, work, 0, depth, -INFINITY, INFINITY, key, first)


@kernel(types.boolean(TABLE, SETTINGS, WORK, types.int64))
def search(game: Any, settings: AlphaBetaSettings, work: Work, limit: int) -> bool:
    """Go on with an iteration until it is done or ``limit`` steps of the model are made; return whether it is done."""
    while True:
        ply = work.counters[PLY]
        frame = row(work.frames, ply, FRAME)
        if frame.index == frame.count or frame.best >= frame.beta:
            _leave(work, settings, frame, ply)
            if ply == 0:
                return True
        elif work.counters[STEPS] >= limit:
            return False
        elif frame.index >= frame.front and frame.scored < frame.count:
            _score_next(game, work, frame, ply)
        else:
            _try_next(game, settings, work, frame, ply)
