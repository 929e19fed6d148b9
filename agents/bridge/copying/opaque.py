"""Copies of what compiled code holds, as far as it says what it is: by the protocols of ``copy`` and ``pickle``."""

import copy
import copyreg
from typing import Any

from agents.bridge.copying.classes import name_of


def copy_opaque(into: Any, value: Any) -> Any:
    """Copy by the object's own means; the whole environment is copied anew for every simulation then."""
    if getattr(value, "grad_fn", None) is not None:  # a tensor of PyTorch's with a graph, of which there is no copy
        value = value.detach()
    try:
        made = copy.deepcopy(value, into._memo) if hasattr(value, "__deepcopy__") else _rebuilt(into, value)
    except Exception as error:
        raise TypeError(f"it holds a {name_of(type(value))} ({error})") from error
    into.opaque |= made is not value
    return made


def _rebuilt(into: Any, value: Any) -> Any:
    """Build what pickle would from copies of its parts: ``copy.deepcopy`` leaves functions to the original."""
    kind: Any = type(value)
    reduce = copyreg.dispatch_table.get(kind)
    said: Any = value.__reduce_ex__(4) if reduce is None else reduce(value)
    if isinstance(said, str):
        return value
    into._memo.setdefault(id(into._memo), []).append(said)  # parts that are made for this keep their identity
    build, given = said[:2]
    state, items, pairs = (*said[2:5], None, None, None)[:3]
    made = build(*map(into.of, given))
    into._memo[id(value)] = made
    if state is not None:
        _put_state(made, into.of(state))
    for item in items or ():
        made.append(into.of(item))
    for key, item in pairs or ():
        made[into.of(key)] = into.of(item)
    return made


def _put_state(made: Any, state: Any) -> None:
    """Give an object what pickle keeps of it beside what it was built with."""
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
        return
    held, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    vars(made).update(held or {})
    for name, item in (slots or {}).items():
        setattr(made, name, item)


def copy_buffer(into: Any, value: Any) -> Any:
    """Copy a file in memory: what is written there belongs to the game, and whether it is closed."""
    made, kept = type(value)(), None if value.closed else value.__getstate__()
    _put_buffer(made, kept)
    into._others.append((_put_buffer, (made, kept)))
    return made


def _put_buffer(made: Any, kept: Any) -> None:
    """Give a file in memory what it held, open again if it was closed since; close it for None."""
    if kept is None:
        made.close()
        return
    made.__init__(kept[0])  # which opens it
    made.__setstate__(kept)
