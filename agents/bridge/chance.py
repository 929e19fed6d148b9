"""Chance in copies of environments: seeding it anew, and keeping the world's global generators out of it."""

import ctypes
import random
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

_WORD = 2**64 - 1
_PCG64_INCREMENT = 0x5851F42D4C957F2D14057B7EF767814F
_SPREAD = 0x9E3779B97F4A7C15F39CC0605CEDC835
"""Odd 128-bit numbers: the increment of the stream, and a factor that spreads a seed over the state."""

_TRIALS = 16
"""Steps of an environment that are watched closely before it is trusted not to use global generators."""

_TWISTER_WORDS = 624


def reseed(generators: list[Any], seed: int) -> None:
    """Start random generators anew, each from a seed of its own that follows from the given one."""
    for generator in generators:
        seed = (seed * 6364136223846793005 + 1442695040888963407) & _WORD
        if isinstance(generator, np.random.Generator):
            bits = generator.bit_generator
            if type(bits) is np.random.PCG64:  # setting the state takes 1 us, seeding 7 us
                state = {"state": seed * _SPREAD % 2**128, "inc": _PCG64_INCREMENT}
                bits.state = {"bit_generator": "PCG64", "state": state, "has_uint32": 0, "uinteger": 0}
            else:
                bits.state = type(bits)(seed).state
        else:
            generator.seed(seed >> 32)


class _Whole:
    """The position of a generator as its whole state, where the count cannot be read in place."""

    def __init__(self, state: Callable[[], Any]) -> None:
        self._state = state

    @property
    def value(self) -> Any:
        return repr(self._state())


@cache
def _python_count() -> Any:
    """Return where to read how far Python's global generator has come.

    It is a Mersenne Twister which counts the words that it has given out. Reading the count in place takes 30 ns,
    getting the whole state, which serves where the count is not found, 8 us.
    """
    trial, place = random.Random(0), object.__basicsize__
    count = ctypes.c_uint32.from_address(id(trial) + place)
    values = [count.value]
    trial.random()
    if [*values, count.value] != [_TWISTER_WORDS, trial.getstate()[1][-1]]:
        return _Whole(random.getstate)
    return ctypes.c_uint32.from_address(id(vars(random)["_inst"]) + place)


@cache
def _numpy_count(bits: Any) -> Any:
    """Return where to read how far a bit generator has come, NumPy's global one: see :func:`_python_count`."""
    if type(bits) is np.random.MT19937:
        count = ctypes.c_uint32.from_address(bits.ctypes.state_address + 4 * _TWISTER_WORDS)
        if count.value == bits.state["state"]["pos"]:
            return count
    return _Whole(lambda: bits.state)


def _states() -> dict[str, Any]:
    """Return the states of both global generators as plain values that can be compared."""
    numpy_state: Any = np.random.get_state(legacy=False)
    key = numpy_state["state"]["key"].tobytes() if "key" in numpy_state["state"] else None
    return {"random": random.getstate(), "numpy.random": (key, repr(numpy_state))}


class Watch:
    """Keeps the steps of simulated environments apart from the global generators of ``random`` and ``numpy.random``.

    The first steps run with global generators that were seeded for the purpose, and whose states are put back after
    each. If that shows that an environment draws from one, a warning says so and it stays that way. Otherwise later
    steps are only checked for it.

    Parameters
    ----------
    name : str
        The environment's, for the warning.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._trials = _TRIALS
        self._seed = 0
        self._found = False

    def begin(self) -> None:
        """Save the states of the global generators, at the start of a search."""
        self._python, self._numpy = _python_count(), _numpy_count(np.random.get_bit_generator())
        self._save()

    def determinize(self, seed: int) -> None:
        """Seed what the steps of one simulation may draw."""
        self._seed = seed
        if self._moved():  # the world has gone on since the search began
            self._save()

    def step(self, step: Callable[[Any], Any], action: Any) -> Any:
        """Make a step of a simulated environment, and return what it returns."""
        if self._trials or self._found:
            return self._step_apart(step, action)
        result = step(action)
        if self._moved():
            drawn = [name for name, state in _states().items() if state != self._before[name]]
            self._put_back()
            self._warn(drawn)
        return result

    def _save(self) -> None:
        self._world = random.getstate(), np.random.get_state(legacy=False)
        self._before = _states()
        self._at = self._python.value, self._numpy.value

    def _moved(self) -> bool:
        return (self._python.value, self._numpy.value) != self._at

    def _put_back(self) -> None:
        random.setstate(self._world[0])
        np.random.set_state(self._world[1])

    def _step_apart(self, step: Callable[[Any], Any], action: Any) -> Any:
        self._seed = (self._seed * 6364136223846793005 + 1442695040888963407) & _WORD
        random.seed(self._seed)
        np.random.seed(self._seed >> 32)
        before = _states() if self._trials else {}
        try:
            result = step(action)
            drawn = [name for name, state in before.items() if state != _states()[name]]
        finally:
            self._put_back()
        self._trials = max(0, self._trials - 1)
        self._warn(drawn)
        return result

    def _warn(self, drawn: list[str]) -> None:
        if drawn and not self._found:
            self._found = True
            warnings.warn(
                f"{self._name}.step draws from the global generator of {' and '.join(drawn)}, which a copy of the "
                "environment does not hold; the search gives each simulated step a seed of its own and puts the "
                "generator back, which is slow: draw from self.np_random instead",
                stacklevel=2,
            )
