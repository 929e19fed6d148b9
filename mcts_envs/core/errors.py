"""Wording of errors: each names the value, the bound and the cure."""

import difflib
import errno
import linecache
import math
import operator
import os
import re
from collections.abc import Collection, Iterable, Mapping, Set
from pathlib import Path
from typing import Any

import numpy as np


def unknown(kind: str, name: object, known: Iterable[str], meant: str | None = None) -> str:
    """Say that a name is not known, which one may have been meant, and which there are."""
    names, start = sorted(known), str(name)[:3]
    close = [meant] if meant else []
    close += [other for other in names if other.lower() == str(name).lower()]
    close += difflib.get_close_matches(str(name), names, 1, 0.65)  # one that shares fewer letters was hardly meant
    close += [other for other in names if len(start) == 3 and other.startswith(start)]
    if close:
        return f"unknown {kind} {name!r}; did you mean {close[0]!r}? Known: {', '.join(names)}"
    return f"unknown {kind} {name!r}; known: {', '.join(names) or 'none'}"


def saved(name: str) -> str | None:
    """Return how a policy is named as an agent or an opponent, where a name is the file of one."""
    return f"sb3:{name}" if name.lower().endswith((".zip", ".npz")) else None


def unsaved(given: Any) -> str:
    """Say what to do with a model in memory that is given as a player; nothing of what is no model."""
    return "; save the model, and name its file: 'sb3:PATH'" if hasattr(given, "predict") else ""


def choice(kind: str, given: Any, known: Collection[str]) -> str:
    """Return ``given``, one of some words.

    Raises
    ------
    ValueError
        If it is none of them, or no word: an array or a list of some.
    """
    if not isinstance(given, str) or given not in known:
        raise ValueError(unknown(kind, given, known))
    return given


_CURES = (  # for what Numba's words do not tell those who do not know it
    (r"global name '(\w+)'.*<class 'function'>", r"decorate \1 with @kernel(): a kernel calls no plain function"),
    (r"global name '\w+'.*<class 'type'>", "a kernel makes no objects: what they would hold are fields of the state"),
    (r"global name '\w+'.*<class 'dict'>|to variable '\w+' in globals", "make it a tuple or an array of NumPy"),
    (r"use of yield in a closure", "write a loop"),
    (r"exception_match|Exception object cannot be stored", "test for it before, in place of try"),
    (r"STORE_GLOBAL", "what changes in a game is a field of its state"),
    (
        r"numba/np/arrayobj\.py|NRT required|typeddict_empty",
        "a kernel allocates nothing, so np.zeros, lists and the like are unknown in it: use arrays that are passed in, "
        "and mcts_envs.core.kernel.copy to copy one over another",
    ),
)


def compilation(kernel: str, error: Exception) -> str:
    """Say in a few lines why Numba cannot compile a kernel, and where; Numba itself takes a hundred."""
    text = str(error)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    gist = [line for line in lines if not line.startswith(("Failed in", "During: Pass"))]
    end = next((i for i, line in enumerate(gist) if line.startswith(("File ", "During:", "There are"))), len(gist))
    why = " ".join(gist[:end])
    if returned := re.search(r"No conversion from (.+) to (\w+) for '\$\d+return_value", text):
        why = _returns(*returned.groups())
    cures = (found.expand(cure) for pattern, cure in _CURES if (found := re.search(pattern, text, re.DOTALL)))
    why = "; ".join([why.removesuffix("."), *list(cures)[:1]])
    places = re.findall(r"(?:at|from) (\S+\.py) \((\d+)\)", text) or re.findall(r'File "(.+?)", line (\d+)', text)
    own = [(file, int(line)) for file, line in places if "/numba/" not in file.replace(os.sep, "/")]
    where = "".join(f'\n  File "{file}", line {n}\n    {linecache.getline(file, n).strip()}' for file, n in own[:1])
    return f"kernel {kernel} does not compile: {why}{where}\n  NUMBA_FULL_TRACEBACKS=1 shows all that Numba says"


def _returns(found: str, wanted: str) -> str:
    """Say of two of Numba's types that a kernel returns one, and should return the other."""
    if wanted == "none":
        return f"it returns {found}, and is to return nothing: it writes into the arrays that it is given"
    if found == "none":
        return f"it ends without a return, or returns None, in some cases; in each it is to return a number ({wanted})"
    return f"it returns {found}, and is to return a number ({wanted})"


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
    try:  # an array of one integer has an __index__ which raises
        number = None if isinstance(value, (bool, np.bool_)) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        cure = f"; write {value:.0f}" if isinstance(value, float) and value.is_integer() else ""
        raise TypeError(f"{name} {value!r} is {type(value).__name__}, not an integer from {low} to {high}{cure}")
    if not low <= number <= high:
        raise ValueError(f"{name} {number} is outside [{low}, {high}]")
    return number


def is_list(given: Any) -> bool:
    """Return whether these are entries one after the other, in Python or in an array."""
    return isinstance(given, (list, tuple)) or (isinstance(given, np.ndarray) and given.ndim > 0)


def listed(game: str, action: int, actions: int) -> str:
    """Say that a game lists an action as legal that it does not have."""
    return (
        f"legal of {game} lists action {action}, outside [0, {actions - 1}]; correct it, or give the Game more actions "
        "(mcts_envs.check_game tells more)"
    )


def number(name: str, value: Any, low: float, high: float) -> float:
    """Return ``value`` as a float in ``[low, high]``; raises like :func:`integer`."""
    kind = value.dtype.kind if isinstance(value, (np.generic, np.ndarray)) else "f"  # text has a __float__ there
    if isinstance(value, (bool, complex)) or kind not in "iuf" or not hasattr(value, "__float__") or np.ndim(value):
        raise TypeError(f"{name} {value!r} is {type(value).__name__}, not a number from {low} to {high}")
    try:
        result = float(value)
    except OverflowError:  # an integer of hundreds of digits
        result = math.inf if value > 0 else -math.inf
    if not low <= result <= high:
        raise ValueError(f"{name} {result} is outside [{low}, {high}]")
    return result


def keys(kind: str, given: Iterable[str], required: Iterable[str], optional: Iterable[str] = ()) -> None:
    """Check the keys of a dictionary, which may be given alone.

    Raises
    ------
    TypeError
        If there is no dictionary.
    ValueError
        If a key is missing or unknown.
    """
    if not isinstance(given, (Mapping, Set)):
        raise TypeError(f"{kind} {given!r} is {type(given).__name__}, not a dictionary")
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
    if isinstance(value, (bool, np.bool_)) or (hasattr(value, "__index__") and not np.ndim(value) and value in (0, 1)):
        return bool(value)
    raise TypeError(f"{name} {value!r} is not True or False")


def text(name: str, given: Any, such: str) -> str:
    """Return ``given``, which is text; raises ``TypeError`` with such a text, if it is not."""
    if not isinstance(given, str):
        raise TypeError(f"{name} {given!r} is {type(given).__name__}, not text such as {such!r}")
    return given


def path(name: str, given: Any) -> Path:
    """Return ``given`` as a path; raises ``TypeError`` if it is none."""
    if not isinstance(given, (str, os.PathLike)):
        raise TypeError(f"{name} {given!r} is {type(given).__name__}, not a path such as 'results/one'")
    return Path(given)


def able(name: str, given: Any, cure: str, method: str = "__call__") -> None:
    """Check that an object has a method, by default that it can be called; raises ``TypeError`` if it has none."""
    if not callable(getattr(given, method, None)) or (isinstance(given, type) and method != "__call__"):
        raise TypeError(f"{name} {given!r} is {type(given).__name__}; give {cure}")


def room(error: OSError) -> str:
    """Return what to do where a file cannot grow: on a full disk, by a limit on its size, or for want of leave."""
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "give leave to write there"
    return "raise the limit on the size of files (ulimit -f)" if error.errno == errno.EFBIG else "make room"


def writable(name: str, path: Path, folder: bool = False) -> None:
    """Check, before anything is done that would be lost, that a file or a folder can be written; parents may lack.

    Raises
    ------
    OSError
        If it cannot.
    """
    above = (path.absolute(), *path.absolute().parents)
    there = next((parent for parent in above if parent.exists()), None)
    whole = there == path.absolute()
    lost = [link for link in above if link.is_symlink() and not link.exists() and (folder or link != above[0])]
    if lost:
        wrong = f"{lost[0]} is a link to {lost[0].readlink()}, which is not there"
    elif there is None:
        wrong = f"there is no {path.absolute().anchor}"  # a drive of Windows, or a share
    elif there.is_dir() != (folder or not whole):
        wrong = f"{there} is a {'folder' if there.is_dir() else 'file'}"
    elif not os.access(there, os.W_OK):
        wrong = f"there is no leave to write to {there}"
    else:
        return
    raise OSError(f"{name} {path} cannot be written: {wrong}; give a {'folder' if folder else 'file'} of yours")
