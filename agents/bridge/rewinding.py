"""Replays that are rewound: of environments whose world lies in memory that can be saved and put back."""

import gc
from collections.abc import Callable
from typing import Any

import numpy as np

from agents.bridge.chance import is_generator
from agents.bridge.classes import container_of, slots_of
from agents.bridge.cloning import Replay, drawing_of, drawn_from, lies_elsewhere
from agents.bridge.layers import innermost
from agents.bridge.remembering import History
from agents.bridge.worlds import Memory, is_world


def holds_world(env: Any) -> bool:
    """Say whether an environment, or something that it holds, has a world of Box2D."""
    held = [*getattr(env, "__dict__", {}).values()]
    return any(map(is_world, held)) or any(map(is_world, (v for each in held for v in _attributes(each).values())))


def _attributes(value: Any) -> dict[str, Any]:
    return getattr(value, "__dict__", {}) if not isinstance(value, type) else {}


class Kept:
    """What an environment holds, as it is now: what is in its containers, its worlds, and where its chance stands.

    Parameters
    ----------
    env : object
        The environment, unwrapped.

    Raises
    ------
    TypeError
        If a world does not lie in memory as expected.
    """

    def __init__(self, env: Any) -> None:
        self._dicts: list[tuple[Any, Any]] = []
        self._others: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        worlds: list[Memory] = []
        met: set[int] = set()
        waiting = [env]
        while waiting:
            value = waiting.pop()
            kind: Any = type(value)
            if id(value) in met or lies_elsewhere(kind):
                continue
            met.add(id(value))
            if is_generator(value):
                self._others.append(_chance_of(value))
                continue
            if is_world(value):
                worlds.append(Memory(value))
                waiting += worlds[-1].data
            self._note(value, kind)
            inside = [vars(value)] if hasattr(value, "__dict__") else []
            waiting += reversed(inside + gc.get_referents(value))
        self._others += [(world.restore, ()) for world in worlds]

    def restore(self) -> None:
        """Bring the environment back."""
        for table, kept in self._dicts:
            if table.keys() != kept.keys():
                table.clear()
            table.update(kept)
        for put, given in self._others:
            put(*given)

    def _note(self, value: Any, kind: Any) -> None:
        """Note what a container holds, and what is in the slots of an object."""
        base = container_of(kind)
        if issubclass(base, dict):
            self._dicts.append((value, dict(value)))
        elif base in (list, bytearray) or (isinstance(value, np.ndarray) and value.flags.writeable):
            whole = slice(None) if base is not object or value.ndim else ()
            self._others.append((kind.__setitem__, (value, whole, value.copy())))
        elif base is not object:
            add = base.update if base is set else base.extend
            self._others += [(base.clear, (value,)), (add, (value, list(value)))]
        for slot in slots_of(kind) if base is object else ():
            if hasattr(value, slot.__name__):
                self._others.append((slot.__set__, (value, slot.__get__(value))))


def _chance_of(generator: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return what puts a random generator back where it stands."""
    if isinstance(generator, np.random.Generator):
        bits = generator.bit_generator
        return setattr, (bits, "state", bits.state)
    if hasattr(generator, "setstate"):  # Python's
        return generator.setstate, (generator.getstate(),)
    return generator.set_state, (generator.get_state(),)


class Rewind(Replay):
    """Another environment in which everything was done that was done with the first, once, and which is rewound then.

    When a search is done with it, the next one goes on from there.

    Parameters
    ----------
    history : History
        What :func:`agents.remember` has kept.
    source : object
        The environment, unwrapped.
    anew : bool
        Whether it is made anew where it shows something else, as for a replay.
    then : tuple
        Steps and seeds that came later.

    Raises
    ------
    TypeError
        If no other environment like it can be made, or its world does not lie in memory as expected.
    """

    _start: Kept | None = None

    def __init__(self, history: History, source: Any, anew: bool = True, then: tuple[Any, ...] = ()) -> None:
        super().__init__(history, source, anew, then)

    def __del__(self) -> None:
        """Leave the environment to the next search."""
        if self._start is not None:
            self._history.twins.append((self._chain, self._start, self._at))

    def _bring_back(self) -> None:
        if self._start is not None:
            self._start.restore()
            return
        now = len(self._history.actions)
        start = self._gone_on(now)
        if start is None:
            super()._bring_back()
            start = Kept(self.env)
        self._start, self._at, self._generators = start, now, drawn_from(self.env)

    def _drawn_from(self) -> list[Any]:
        return self._generators

    def _gone_on(self, now: int) -> Kept | None:
        """Take over an environment of an earlier search, and do there what was done since; None if there is none."""
        try:
            twin: tuple[Any, Kept, int] = self._history.twins.pop()
        except IndexError:
            return None
        self._chain, start, at = twin
        start.restore()
        self.env = innermost(self._chain)
        if at == now:
            return start
        self._history.repeat(self._chain, drawing_of(self.env), at)
        return Kept(self.env)
