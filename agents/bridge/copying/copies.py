"""Copies of environments that can be brought back, fast and again and again, to where they were made.

While an environment is copied, every container in the copy is noted together with what it holds. To bring the copy back
is to put these contents into the same containers again. So whatever refers to the same thing goes on doing so (views of
arrays, cycles, bound methods), and it takes a microsecond or two where a deep copy takes a hundred.

What only shows, logs or describes is shared with the original: clocks, fonts, arrays in spaces, specs. Surfaces of
pygame are copied once and not brought back: they are drawn over. Random generators are copied, and left to be seeded
anew. Classes and modules are not copied, nor is what they keep.
"""

import types
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from agents.bridge.copying import constants
from agents.bridge.copying.chance import is_generator, reseed
from agents.bridge.copying.classes import is_shared
from agents.bridge.copying.jax_keys import drawn_anew, is_key
from agents.bridge.copying.makers import maker_of


class Copy:
    """A copy of an environment, made without its help.

    Parameters
    ----------
    source : object
        The environment; it must not change as long as the copy is used.
    within : mapping, optional
        What stands in the copy in place of something else, by the identity of that.

    Attributes
    ----------
    env : object
        The copy. It opens no window: None in place of a ``render_mode`` of ``"human"``. Other modes stay: what is
        observed may be what is drawn.
    generators : list
        The NumPy and Python random generators in it.
    keys : list
        Where it keeps keys of JAX: tables, each with a name in it.
    opaque : bool
        Whether it holds something whose inside cannot be seen.
    awaited : str
        What a thread waits for that is none of its parts.
    held : list
        What is referred to weakly.

    Raises
    ------
    TypeError
        If something in the environment cannot be copied.
    """

    def __init__(self, source: Any, within: Mapping[int, Any] = types.MappingProxyType({})) -> None:
        self._source = source
        self._surfaces: dict[int, Any] = dict(within)
        self._make()

    def _make(self) -> None:
        self.generators: list[Any] = []
        self._memo: dict[int, Any] = constants.CONSTANTS | self._surfaces
        self._seeding: list[Any] = []
        self._sliced: list[tuple[Any, Any]] = []
        self._dicts: list[tuple[Any, Any]] = []
        self._others: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        self.held: list[Any] = []
        self.opaque, self.awaited = False, ""
        self.env = self.of(self._source)
        if self.awaited:
            raise TypeError(f"it holds a {self.awaited} for which a thread waits, which does not run on in a copy")
        known = set(map(id, self.generators))  # those in what was deep-copied are not
        self.generators += [made for made in self._memo.values() if is_generator(made) and id(made) not in known]
        self._lend_generator()
        self.keys = [(table, name) for table, kept in self._dicts for name, item in kept.items() if is_key(name, item)]
        self._memo = {}

    def restore(self) -> None:
        """Bring the copy back to where it was made; its random generators go on."""
        if self.opaque:
            self._make()
            return
        for items, kept in self._sliced:
            items[:] = kept
        for table, kept in self._dicts:
            table.clear()
            table.update(kept)
        for put, given in self._others:
            put(*given)

    def seed(self, seed: int) -> None:
        """Start all random generators of the copy anew, and draw its keys anew."""
        reseed(self.generators, seed)
        for number, (table, name) in enumerate(self.keys, 1):
            table[name] = drawn_anew(table[name], seed ^ number)

    def surface_of(self, surface: Any) -> Any:
        """Return what the copy draws on in place of a surface of the original; None if it holds no such one."""
        return self._surfaces.get(id(surface))

    def again(self) -> "Copy":
        """Return another copy of what this one has become."""
        return Copy(self.env)

    def of(self, value: Any) -> Any:
        """Return the copy of something that belongs to the environment."""
        if is_shared(value):
            return value
        if id(value) not in self._memo:
            self._memo[id(value)] = maker_of(value)(self, value)
        return self._memo[id(value)]

    def _lend_generator(self) -> None:
        """Let whatever would draw a first seed from the operating system use a generator of the copy."""
        without = [each for each in self._seeding if each._np_random is None]
        lent = next((found for found in self.generators if isinstance(found, np.random.Generator)), None)
        if without and lent is None:
            lent = np.random.default_rng(0)
            self.generators.append(lent)
        for each in without:
            each._np_random = lent
            self._others.append((setattr, (each, "_np_random", lent)))  # what an environment holds is put back


def own(value: Any) -> Any:
    """Return a copy of what an environment may write over, take out or go on with; itself where there is none."""
    try:
        return Copy(value).env
    except Exception:  # of a generator in infos, say, or whatever its parts raise
        return value
