"""The games of a batch in parts, each for a thread of its own."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Floats, Ints, Singles


class Part(NamedTuple):
    """Some games of a batch, and arrays to work with.

    Attributes
    ----------
    rows : slice
        The games.
    games : list of arrays
        Their rows of the batch's own arrays.
    actions [P], legal [A], weights [A], seen
        Work arrays of compiled code; ``seen`` are those that an observation in bytes needs.
    """

    rows: slice
    games: list[Any]
    actions: Ints
    legal: Ints
    weights: Floats
    seen: Sequence[Singles]


def parts_of(game: Game, threads: int, arrays: Sequence[Any], in_bytes: bool) -> list[Part]:
    """Return the games of a batch, whose own arrays [N, ...] these are, in as many parts as there are threads, or N."""
    size, games = int(np.prod(game.observation_shape)), len(arrays[0])
    ends = np.linspace(0, games, min(threads, games) + 1).astype(int).tolist()
    return [
        Part(
            slice(first, end),
            [array[first:end] for array in arrays],
            np.zeros(game.players, np.int64),
            np.zeros(game.actions, np.int64),
            np.zeros(game.actions),
            [np.empty((1, size), np.float32) for _ in range(2 if in_bytes else 0)],
        )
        for first, end in pairwise(ends)
    ]


def for_each(parts: Sequence[Part], work: Callable[[Part], object]) -> None:
    """Call a function for each part, for all of them at the same time; the first one's thread is this one.

    No thread works on when this is over, also where it was interrupted or one of them failed.
    """
    first, *others = parts
    if not others:
        work(first)
        return
    begun: list[Future[object]] = []
    try:
        begun.extend(_crew(os.getpid(), len(others)).submit(work, part) for part in others)
        work(first)
    finally:
        _wait(begun)
    for each in begun:
        each.result()


def _wait(begun: list[Future[object]]) -> None:
    """Wait until all is done, also where this is interrupted meanwhile."""
    try:
        wait(begun)
    except BaseException:
        _wait(begun)
        raise


@cache
def _crew(process: int, threads: int) -> ThreadPoolExecutor:
    """Return threads of a process: those of another, of which this one is a fork, are not here."""
    return ThreadPoolExecutor(threads, "batch")
