"""Wording of errors: each names the value, the bound and the cure."""

import difflib
import operator
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Say that a name is not known, which one may have been meant, and which there are."""
    names = sorted(known)
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return (
        f"unknown {kind} {name!r}{hint} Known: {', '.join(names)}"
        if hint
        else (f"unknown {kind} {name!r}; known: {', '.join(names)}")
    )


def require_own_agents(package: Any) -> None:
    """Check that the package imported as ``agents`` is the one that belongs to these environments.

    Raises
    ------
    ImportError
        If it is another one.
    """
    folder = Path(package.__file__ or "").parent
    if not getattr(package, "MCTS_ENVS", False) or (folder / "run.py").exists():
        raise ImportError(
            f"{folder} is not, or not only, the package 'agents' of mcts-envs: openai-agents is imported by the same "
            "name, and the two overwrite each other; install mcts-envs in a virtual environment of its own"
        )


def integer(name: str, value: Any, low: int, high: int) -> int:
    """Return ``value`` as an int in ``[low, high]``.

    Raises
    ------
    TypeError
        If the value is not an integer (booleans are not).
    ValueError
        If it is outside the bounds.
    """
    try:
        number = operator.index(value)  # an array of one integer has an __index__ which raises
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise TypeError(f"{name} {value!r} is {type(value).__name__}, not an integer from {low} to {high}")
    if not low <= number <= high:
        raise ValueError(f"{name} {number} is outside [{low}, {high}]")
    return number


def number(name: str, value: Any, low: float, high: float) -> float:
    """Return ``value`` as a float in ``[low, high]``; raises like :func:`integer`."""
    if isinstance(value, (bool, np.bool_, complex)) or not hasattr(value, "__float__") or np.ndim(value):
        raise TypeError(f"{name} {value!r} is {type(value).__name__}, not a number from {low} to {high}")
    result = float(value)
    if not low <= result <= high:
        raise ValueError(f"{name} {result} is outside [{low}, {high}]")
    return result


def keys(kind: str, given: Iterable[str], required: Iterable[str], optional: Iterable[str] = ()) -> None:
    """Check the keys of a dictionary.

    Raises
    ------
    ValueError
        If a key is missing or unknown.
    """
    given, required = set(given), set(required)
    known = required | set(optional)
    for key in sorted(given - known, key=str):
        raise ValueError(unknown(f"{kind} key", key, known))
    if missing := sorted(required - given):
        raise ValueError(f"{kind} lacks {', '.join(map(repr, missing))}; it needs {', '.join(sorted(required))}")


def flag(name: str, value: Any) -> bool:
    """Return ``value`` as a bool; only booleans, 0 and 1 are accepted.

    Raises
    ------
    TypeError
        For anything else.
    """
    if isinstance(value, (bool, np.bool_)) or (hasattr(value, "__index__") and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{name} {value!r} is not True or False")
