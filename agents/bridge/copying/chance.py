"""Chance in copies of environments: seeding it anew, and keeping the world's global generators out of it."""

import ctypes
import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, lru_cache
from threading import RLock, get_ident, local
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator, mtrand  # the functions of NumPy's global generator

from agents.bridge.copying.classes import KINDS, name_of
from mcts_envs.core.own_code import warn

_WORD, _LONG_WORD = 2**64 - 1, 2**128 - 1
_PCG64_INCREMENT = 0x5851F42D4C957F2D14057B7EF767814F
_SPREAD = 0x9E3779B97F4A7C15F39CC0605CEDC835
"""Odd 128-bit numbers: the increment of the stream, and a factor that spreads a seed over the state."""

_TRIALS = 16
"""Steps of an environment that are watched closely before it is trusted not to use global generators."""

_TWISTER_WORDS = 624

TORCH = "torch._C.Generator"
"""The class of PyTorch's generators, by name: it is not imported for that."""

GLOBALS = RLock()
"""Held by the thread that has seeded the global generators, until it has put them back."""


def successor(seed: int) -> int:
    """Return the seed after this one: a step of a linear congruential generator (D. Knuth's constants)."""
    return (seed * 6364136223846793005 + 1442695040888963407) & _WORD


def is_generator(value: Any) -> bool:
    """Say whether something is a random generator that can be started anew: none of those that belong to all."""
    kind: Any = type(value)  # a weak proxy says to be an instance
    return are_generators(kind) and value is not random._inst and value is not mtrand._rand


@lru_cache(KINDS)
def are_generators(kind: type) -> bool:
    """Say whether objects of a class are random generators: NumPy's, Python's or PyTorch's."""
    return issubclass(kind, (Generator, np.random.RandomState, random.Random)) or name_of(kind) == TORCH


def reseed(generators: list[Any], seed: int) -> None:
    """Start random generators anew, each from a seed of its own that follows from the given one."""
    for generator in generators:
        seed = successor(seed)
        if isinstance(generator, Generator):
            bits = generator.bit_generator
            if type(bits) is PCG64:  # setting the state takes 1 us, seeding 7 us
                state: Any = {"state": seed * _SPREAD & _LONG_WORD, "inc": _PCG64_INCREMENT}
                bits.state = {"bit_generator": "PCG64", "state": state, "has_uint32": 0, "uinteger": 0}
            else:
                bits.state = type(bits)(seed).state
        elif hasattr(generator, "manual_seed"):  # PyTorch's, whose seed takes none
            generator.manual_seed(seed >> 32)
        else:
            generator.seed(seed >> 32)


class _Whole:
    """The position of a generator as its whole state, where the count cannot be read in place."""

    def __init__(self, state: Callable[[], Any]) -> None:
        self._state = state

    @property
    def raw(self) -> Any:
        return repr(self._state())


@cache
def _python_count() -> Any:
    """Return where to read how far Python's global generator has come.

    It is a Mersenne Twister which counts the words that it has given out. The count and a word that depends on the seed
    tell that it was seeded or has drawn. Reading them in place takes 50 ns, getting the whole state, which serves where
    they are not found, 8 us.
    """
    trial, place, words = random.Random(0), object.__basicsize__, ctypes.c_uint32 * 3
    found = words.from_address(id(trial) + place)
    counts = [found[0]]
    trial.random()
    state = trial.getstate()[1]
    if [*counts, found[0], found[2]] != [_TWISTER_WORDS, state[-1], state[1]]:
        return _Whole(random.getstate)
    return (ctypes.c_char * ctypes.sizeof(words)).from_address(id(vars(random)["_inst"]) + place)


@cache
def _numpy_count(bits: Any) -> Any:
    """Return where to read how far a bit generator has come, NumPy's global one: see :func:`_python_count`."""
    if type(bits) is np.random.MT19937:
        place, state = bits.ctypes.state_address + 4 * (_TWISTER_WORDS - 1), bits.state["state"]
        if list((ctypes.c_uint32 * 2).from_address(place)) == [state["key"][-1], state["pos"]]:
            return (ctypes.c_char * 8).from_address(place)
    return _Whole(lambda: bits.state)


def _of_torch() -> Any:
    """Return PyTorch's global generator; None where PyTorch is not loaded."""
    return getattr(sys.modules.get("torch"), "default_generator", None)


@contextmanager
def torch_apart(seed: int) -> Iterator[None]:
    """Seed PyTorch's global generator, where there is one, and put it back afterwards."""
    generator = _of_torch()
    if generator is None:
        yield
        return
    before = generator.get_state()
    generator.manual_seed(seed)
    try:
        yield
    finally:
        generator.set_state(before)


_NAMES = "random", "numpy.random", "torch"


def _states() -> tuple[Any, ...]:
    """Return the states of Python's and NumPy's global generators."""
    return random.getstate(), mtrand.get_state(legacy=False)


def _all_states() -> tuple[Any, ...]:
    """Return the states of the global generators: those, and PyTorch's if it is loaded."""
    torch = _of_torch()
    return *_states(), None if torch is None else torch.get_state()


def _changed(before: tuple[Any, ...], after: tuple[Any, ...]) -> list[str]:
    """Say which of the global generators have given something out between two states."""
    pairs = zip(_NAMES, before, after, strict=False)
    return [name for name, was, now in pairs if was is not None and _plain(was) != _plain(now)]


def drawn_from_global(what: Callable[[], Any]) -> set[str]:
    """Return which of the global generators give something out while something is done."""
    with GLOBALS:
        before = _all_states()
        what()
        return set(_changed(before, _all_states()))


@contextmanager
def system_apart(draw: Callable[[int], bytes]) -> Iterator[None]:
    """Ask something else, in this thread, where the operating system's source of chance is asked.

    What was imported meanwhile may keep the stand-in, and a forked process has it: they ask the system.
    """
    urandom = os.urandom
    here: Any = get_ident(), os.getpid()

    def drawn(size: int) -> bytes:
        return draw(size) if (get_ident(), os.getpid()) == here else urandom(size)

    try:
        with _in_place_of_system(drawn):
            yield
    finally:
        here = None


@contextmanager
def _in_place_of_system(drawn: Callable[[int], bytes]) -> Iterator[None]:
    places = (os, "urandom"), (random, "_urandom")  # the second serves SystemRandom, secrets and NumPy's seeds
    before = [getattr(*place) for place in places]
    try:
        for module, name in places:
            setattr(module, name, drawn)
        yield
    finally:
        for (module, name), was in zip(places, before, strict=True):
            setattr(module, name, was)


def drawn_from_system(what: Callable[[], Any]) -> bool:
    """Return whether the operating system's source of chance is asked, in any thread, while something is done."""
    asked, urandom = set[bool](), os.urandom

    def noted(size: int) -> bytes:
        asked.add(True)
        return urandom(size)

    with GLOBALS, _in_place_of_system(noted):
        what()
    return bool(asked)


def _plain(state: Any) -> Any:
    if isinstance(state, dict):
        return {name: _plain(value) for name, value in state.items()}
    if hasattr(state, "numpy"):  # PyTorch's
        state = state.numpy()
    return state.tobytes() if isinstance(state, np.ndarray) else state


class Watch:
    """Keeps simulated steps apart from the global generators of ``random``, ``numpy.random`` and PyTorch.

    The first steps run with global generators that were seeded for the purpose, and whose states are put back after
    each. If that shows that an environment draws from one, a warning says so and it stays that way. Otherwise later
    steps are only checked for it, but for PyTorch's, which takes long. Threads take turns where the generators are
    seeded.

    Parameters
    ----------
    name : str
        The environment's, for the warning.
    tried : callable
        Is handed what a step has raised, and the action, before it is raised on.
    """

    def __init__(self, name: str, tried: Callable[[Exception, Any], None] = lambda error, action: None) -> None:
        self._name, self._tried = name, tried
        self._trials = _TRIALS
        self._own = local()
        self._found = self._torch = False
        self.apart = True
        self.begin()

    def begin(self) -> None:
        """Save the states of the global generators, at the start of a search."""
        with GLOBALS:
            self.python, self.numpy = _python_count(), _numpy_count(mtrand.get_bit_generator())
            self._save()

    def determinize(self, seed: int) -> None:
        """Seed what the steps of one simulation may draw, in this thread."""
        self._own.seed = seed

    def step(self, step: Callable[[Any], Any], action: Any) -> Any:
        """Make a step of a simulated environment, and return what it returns."""
        if self._moved():  # the world has gone on, a policy has drawn, or another thread is at a step
            with GLOBALS:
                self._save()
        try:
            if self.apart:
                return self._step_apart(step, action)
            result = step(action)
        except Exception as error:
            self._tried(error, action)
            raise
        if self._moved():
            with GLOBALS:
                drawn = _changed(self._world, _states())
                self._put_back()
            self._warn(drawn)
        return result

    def _save(self) -> None:
        self._world = _states()
        self.python_at, self.numpy_at = self.python.raw, self.numpy.raw

    def _moved(self) -> bool:
        return (self.python.raw, self.numpy.raw) != (self.python_at, self.numpy_at)

    def _put_back(self) -> None:
        random.setstate(self._world[0])
        mtrand.set_state(self._world[1])

    def _step_apart(self, step: Callable[[Any], Any], action: Any) -> Any:
        self._own.seed = seed = successor(getattr(self._own, "seed", 0))
        with GLOBALS, torch_apart(seed >> 32) if self._trials or self._torch else nullcontext():
            random.seed(seed)
            mtrand.seed(seed >> 32)
            before = _all_states() if self._trials else None
            try:
                result = step(action)
                drawn = [] if before is None else _changed(before, _all_states())
            finally:
                self._put_back()
        self._trials = max(0, self._trials - 1)
        self._torch |= "torch" in drawn
        self._warn(drawn)
        self.apart = self._found or self._trials > 0
        return result

    def _warn(self, drawn: list[str]) -> None:
        if drawn and not self._found:
            self._found = self.apart = True
            warn(
                f"{self._name}.step draws from the global generator of {' and '.join(drawn)}, which a copy of the "
                "environment does not hold; the search gives each simulated step a seed of its own and puts the "
                "generator back, which is slow: draw from self.np_random instead",
            )
