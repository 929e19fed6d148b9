"""What environments of others call their actions."""

from enum import Enum
from typing import Any

import numpy as np
from gymnasium import spaces

from agents.bridge.around import inward


def names_of(env: Any) -> tuple[str, ...]:
    """Return the names of an environment's actions, the first first; empty where it does not say them.

    It says them by ``get_action_meanings()``, as those of ALE do, or by ``actions``, an enumeration from 0 on, as those
    of MiniGrid do.
    """
    try:
        if callable(tell := getattr(env, "get_action_meanings", None)):
            return tuple(map(str, tell()))
        listed = getattr(env, "actions", None)
    except Exception:  # whatever its code raises: names are worth no error
        return ()
    if isinstance(listed, type) and issubclass(listed, Enum):
        numbered = {each.value: each.name for each in listed if isinstance(each.value, int)}
        if sorted(numbered) == list(range(len(numbered))):
            return tuple(numbered[number] for number in range(len(numbered)))
    return ()


def names_within(around: Any, env: Any) -> tuple[str, ...]:
    """Return what actions that wrappers change are to the environment inside: its names or its numbers."""
    names, space = names_of(env), around.action_space
    try:
        given = [inward(around, action) for action in range(int(space.start), int(space.start + space.n))]
        if isinstance(env.action_space, spaces.Discrete):
            return tuple(names[int(each - env.action_space.start)] for each in given) if names else ()
        return tuple(" ".join(f"{number:g}" for number in np.round(np.ravel(each), 3) + 0.0) for each in given)
    except Exception:  # whatever its code raises
        return ()


def name_of(start: int, names: tuple[str, ...], action: int) -> str:
    """Return what an action is called, counted from 0: its name, or its number in a space that begins at ``start``."""
    return names[action] if action < len(names) else str(action + start)
