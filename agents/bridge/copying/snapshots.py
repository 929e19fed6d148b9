"""Snapshots that environments hand out of themselves: some are what they play on with."""

import gc
from typing import Any

import numpy as np

from agents.bridge.copying.classes import container_of, is_plain, is_shared, lies_elsewhere
from agents.bridge.copying.copies import own


def apart(snapshot: Any, env: Any) -> Any:
    """Return a snapshot as it is, or a copy of one that the environment would change by its steps.

    One of its own is left alone: in a copy, objects that it knows by their identity would be others.
    """
    _, changing = _held_by(snapshot)
    if changing and not changing.isdisjoint(_held_by(env)[0]):
        return own(snapshot)
    return snapshot


def _held_by(value: Any) -> tuple[set[int], set[int]]:
    """Return the identities of what something leads to, and of that of it which may be changed in place.

    Objects inside are not among these, only what they hold: most that are in several places stand for something.
    """
    met, changing, waiting = set[int](), set[int](), [value]
    while waiting:
        part = waiting.pop()
        kind: Any = type(part)
        if id(part) in met or lies_elsewhere(kind):
            continue
        met.add(id(part))
        plain = container_of(kind) is object and is_plain(kind)
        if not issubclass(kind, (tuple, frozenset)) and (part is value or not plain):
            changing.add(id(part))
        held = gc.get_referents(part)
        if kind.__dictoffset__ and id(vars(part)) not in met:
            met.add(id(vars(part)))
            held += vars(part).values()
        if issubclass(kind, np.ndarray):
            held += [part.base, *part.flat] if part.dtype.hasobject else [part.base]
        waiting += [each for each in held if not is_shared(each)]
    return met, changing
