"""Alpha-beta stack and transposition table: frames of the positions on the way, work arrays, and what was found."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import types

from mcts_envs.core.contract import INTS, Game
from mcts_envs.core.kernel import kernel, record_dtype, row
from mcts_envs.core.typing import Bytes, Floats, Ints

UNIT = 1_000_000
"""The score of a state that ``evaluate`` values at 1: the greatest of a game that is not won."""

WIN = 2 * UNIT
"""The score of a game that is won here and now."""

INFINITY = 4 * UNIT

STEPS, LEAVES, PLY, BEST, BEST_SCORE, GENERATION, LISTED = range(7)
"""Places in ``Work.counters``: steps of the model and lines ended so far; the ply of the present frame; the best move
at the root in this iteration, -1 before one is known, and its score; the number of this search, by which entries of
earlier ones are told; and an action out of range that the game listed, else 0."""

EXACT, LOWER, UPPER = 1, 2, 3
"""What the score of a transposition is: exact, or a lower or an upper bound."""

NONE = -1
"""No move, no entry."""


FRAME = record_dtype(
    [
        *(("key", "u8"), ("mover", "i8"), ("depth", "i8"), ("count", "i8"), ("index", "i8"), ("front", "i8")),
        *(("scored", "i8"), ("alpha", "i8"), ("beta", "i8"), ("least", "i8"), ("best", "i8"), ("best_move", "i8")),
        *(("scout", "i8"), ("open", "i8"), ("length", "i8")),
    ]
)
"""A position on the way from the root: who is to move, how many plies are left to look ahead, and the ``count`` moves,
of which those before ``index`` are done and those before ``front`` need no order; of the others ``scored`` have one.
``least`` is the lower bound that the search came with, ``alpha`` the present one. ``scout`` is 1 while the move at
``index`` is looked at with an empty window, -1 if that has to be done again with the full one. ``open``: a line below
was cut off before the end of the game. ``length`` of the principal variation from here."""

ENTRY = record_dtype(
    [
        ("key", "u8"),
        ("score", "i4"),
        ("move", "i4"),
        ("generation", "i4"),
        ("depth", "i2"),
        ("bound", "u1"),
        ("open", "u1"),
    ]
)
"""A transposition: the score of a position, counted from there, and whether it is exact or a bound."""


class AlphaBetaSettings(NamedTuple):
    """Parameters of the search passed to the kernel.

    Attributes
    ----------
    buckets : int
        Pairs of entries in the transposition table, a power of 2; 0: no table.
    margin : int
        Score that a ply is expected to bring at most, or else a move is left out; -1: none is.
    """

    buckets: int
    margin: int


class Work(NamedTuple):
    """Work arrays of a search up to depth D, for A actions and P players."""

    states: Any  # uint8 [D + 1, size] the position of each frame, and the one that is tried
    frames: Bytes  # [D + 1] frames
    moves: npt.NDArray[np.int64]  # [D + 1, A]
    order: npt.NDArray[np.int64]  # [D + 1, A] what speaks for a move
    line: npt.NDArray[np.int64]  # [D + 1, D + 1] principal variation from each frame
    killers: npt.NDArray[np.int64]  # [D + 1, 2] moves that last caused a cutoff at a ply
    history: npt.NDArray[np.int64]  # [P, A] how often and how deep a move caused one anywhere
    answers: npt.NDArray[np.int64]  # [P, A] the move that last refuted this one
    actions: Ints  # [P]
    rewards: Floats  # [P]
    values: Floats  # [P]
    counters: Ints  # [7]
    entries: Bytes  # [2 * buckets] entries of the transposition table


_GRID = types.int64[:, ::1]
SETTINGS = types.NamedUniTuple(types.int64, 2, AlphaBetaSettings)
WORK = types.NamedTuple(
    (types.uint8[:, ::1], types.uint8[::1], *[_GRID] * 6, INTS, *[types.float64[::1]] * 2, INTS, types.uint8[::1]), Work
)


def new_work(game: Game, depth: int, buckets: int) -> Work:
    """Return work arrays for searches of a game up to a depth."""
    d, a, p = depth + 1, game.actions, game.players
    states: Any = [game.new_state() for _ in range(d)]
    return Work(
        states=np.stack(states) if isinstance(states[0], np.ndarray) else states,
        frames=np.zeros(d * FRAME.itemsize, np.uint8),
        moves=np.zeros((d, a), np.int64),
        order=np.zeros((d, a), np.int64),
        line=np.zeros((d, d), np.int64),
        killers=np.full((d, 2), NONE, np.int64),
        history=np.zeros((p, a), np.int64),
        answers=np.full((p, a), NONE, np.int64),
        actions=np.zeros(p, np.int64),
        rewards=np.zeros(p),
        values=np.zeros(p),
        counters=np.zeros(7, np.int64),
        entries=np.zeros(2 * buckets * ENTRY.itemsize, np.uint8),
    )


@kernel()
def find(work: Work, settings: AlphaBetaSettings, key: np.uint64) -> int:
    """Return the index of a position in the table, or -1."""
    if settings.buckets == 0:
        return NONE
    index = 2 * np.int64(key & np.uint64(settings.buckets - 1))
    for i in range(index, index + 2):
        entry = row(work.entries, i, ENTRY)
        if entry.key == key and entry.generation == work.counters[GENERATION]:
            return int(i)
    return NONE


@kernel()
def store(work: Work, settings: AlphaBetaSettings, frame: Any, ply: int) -> None:
    """Note what came of a frame: in place of the shallower entry of its bucket if that is no deeper, or else the other.

    So of each pair the first keeps the deepest search, and the second the latest.
    """
    if settings.buckets == 0:
        return
    generation = work.counters[GENERATION]
    index = 2 * np.int64(frame.key & np.uint64(settings.buckets - 1))
    first = row(work.entries, index, ENTRY)
    keep = first.generation == generation and first.key != frame.key and first.depth > frame.depth
    entry = row(work.entries, index + 1 if keep else index, ENTRY)
    score = frame.best
    if score > UNIT:
        score += ply
    elif score < -UNIT:
        score -= ply
    entry.key = frame.key
    entry.score = score
    entry.move = frame.best_move
    entry.generation = generation
    entry.depth = frame.depth
    entry.bound = UPPER if frame.best <= frame.least else LOWER if frame.best >= frame.beta else EXACT
    entry.open = frame.open


@kernel()
def known(entry: Any, ply: int) -> int:
    """Return the score of an entry, counted from the root."""
    score = entry.score
    return int(score - ply if score > UNIT else score + ply if score < -UNIT else score)
