"""A first look at a game waits for nothing: before its kernels are compiled they run in plain Python.

To compile what a game is played with takes up to half a minute, and a step of it in plain Python some milliseconds;
what comes out is the same. So where no machine code is kept, what Python calls runs as it is written until that has
taken :data:`SECONDS`: whoever plays on wants speed, and waits for it once. A search or a batch is given
:attr:`~mcts_envs.core.contract.Game.table`, which is compiled from the first step on.
"""

import time
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import repeat
from operator import setitem
from typing import Any

import numpy as np
from numba import types

from mcts_envs.core.compiling.signatures import SIGNATURES, TABLE

SECONDS = 3.0
"""How long a process may spend in plain Python: a game or two."""

_OURS = "mcts_envs."
"""Kernels of this package are known to compile. Those of a game of one's own show at once what keeps them from it."""

_NUMBERS = bool, int, float, np.bool_, np.integer, np.floating

_spent = 0.0


def compile_at_once() -> None:
    """Have no more first looks in this process, as who measures time wants it."""
    global _spent
    _spent = SECONDS


def serves(kernel: Any) -> bool:
    """Say whether a kernel may run in plain Python, should there be no machine code of it."""
    return _spent < SECONDS and str(kernel.__module__).startswith(_OURS)  # None in a doctest


def takes_table(kernel: Any) -> bool:
    """Say whether a kernel takes function tables, and so runs in plain Python with early ones alone."""
    return TABLE in kernel.declared.args


def in_python(kernel: Any) -> Callable[..., Any]:
    """Return what takes and returns what a kernel does, and is plain Python.

    States change when it ends, at once: no other thread finds half a step, nor does who catches an exception. What only
    looks at a state leaves it alone, whatever another thread has done to it since.
    """

    def call(*given: Any) -> Any:
        global _spent
        began = time.perf_counter()
        own = [_taken(kind, each) for kind, each in zip(kernel.declared.args, given, strict=True)]
        states = [(theirs, mine, mine.tobytes()) for theirs, mine in zip(given, own, strict=True) if _is_state(theirs)]
        try:
            with np.errstate(all="ignore"):
                result = kernel.plain(*own)
        finally:
            _spent += time.perf_counter() - began
        changed = [(theirs.data, mine.data) for theirs, mine, before in states if mine.tobytes() != before]
        into, new = [to for to, _ in changed], [what for _, what in changed]
        # All within one call of C, in which Python neither heeds a signal nor turns to another thread.
        deque(map(setitem, into, repeat(slice(None)), new), maxlen=0)
        return _as_python(kernel.declared.return_type, result)

    return call


def fits(kernel: Any, given: Any) -> bool:
    """Say whether compiled code would take these arguments of a kernel without tables: it checks all but numbers."""
    kinds = zip(kernel.declared.args, given, strict=True)
    return all(
        kernel.typeof_pyval(each) == kind if isinstance(kind, types.Array) else isinstance(each, _NUMBERS)
        for kind, each in kinds
    )


def _is_state(given: Any) -> bool:
    return isinstance(given, np.ndarray) and given.dtype == np.uint8 and given.flags.writeable


def _taken(kind: Any, given: Any) -> Any:
    """Return an argument as the kernel finds it."""
    if _is_state(given):
        return given.copy()
    number = _as_python(kind, given)
    return np.uint64(number) if kind == types.uint64 else number


def _as_python(kind: Any, value: Any) -> Any:
    """Return a number as compiled code takes it from Python, and gives it; anything else as it is."""
    for family, python in ((types.Boolean, bool), (types.Integer, int), (types.Float, float)):
        if isinstance(kind, family):
            return python(value)
    return value


class EarlyTable:
    """The function table of a game in plain Python."""

    def __init__(self, game: Any) -> None:
        self._game = game
        self._kernels = [getattr(game, name) for name in SIGNATURES]
        self._over = False

    def __getitem__(self, index: int) -> Callable[..., Any]:
        plain: Callable[..., Any] = self._kernels[index].plain
        return plain

    @property
    def wanted(self) -> bool:
        """Whether the game is to be played in plain Python: its kernels may be, and one has no machine code."""
        if not self._over:  # which it stays: time goes on, and machine code is not lost
            early = all(hasattr(kernel, "at_hand") and serves(kernel) for kernel in self._kernels)
            self._over = not early or all(kernel.at_hand() for kernel in self._kernels)
        return not self._over

    @property
    def compiled(self) -> Any:
        """The table of machine code, in place of this one."""
        return self._game.table


def tables_at_hand(*games: Any) -> tuple[Any, ...]:
    """Return the function tables of games for a first look: all in plain Python where that of one is to be."""
    try:
        return tuple([vars(game)["table"] for game in games])
    except KeyError:  # of one that was not asked for
        early = tuple(EarlyTable(game) for game in games)
    if not any(table.wanted for table in early):
        return tuple(game.table for game in games)
    games[0].step.tell_of_first_look()
    return early


def is_early(table: Any) -> bool:
    """Say whether a function table is in plain Python for a first look."""
    return isinstance(table, EarlyTable)


def called_on(table: Any, kernel: Any) -> Any:
    """Return a kernel as it is called with such tables: compiled code takes no early ones."""
    return partial(_call, kernel) if is_early(table) else kernel


def _call(kernel: Any, *given: Any) -> Any:
    if any(table.wanted for table in given if is_early(table)):
        return in_python(kernel)(*given)
    return kernel(*(table.compiled if is_early(table) else table for table in given))
