"""Files of people's own, read again where they were edited since this process read them, as beside a notebook."""

import contextlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from mcts_envs.core.compiling.sources import closure_digest, closure_of
from mcts_envs.core.loading import file_of, load

_ROOTS = tuple(str(Path(__file__).resolve().parents[1] / name) for name in ("agents", "mcts_envs"))

_read: dict[Path, str] = {}
"""The digest of each file, and of what it imports from beside it, when it was read."""

_known: WeakKeyDictionary[Any, str] = WeakKeyDictionary()
"""The digest of the file of each function and class when it was first asked for."""


def digest_of(made: Any, file: Path) -> str:
    """Return the digest of a file when a function or class from it was first asked about: an edit does not change it.

    That of a module which is imported again is another one.
    """
    return _known.setdefault(made, closure_digest(file))


def read(source: str) -> ModuleType:
    """Import a module by its name or its file, like :func:`mcts_envs.core.loading.load`, as it is now.

    Raises
    ------
    ValueError
        Like ``load``.
    """
    file = file_of(source)
    if file is None or not file.is_file():
        return load(source)
    digest = closure_digest(file)
    if _read.get(file, digest) != digest:
        _forget(file)
    module = load(source)
    _read[file] = digest
    return module


def _forget(file: Path) -> None:
    """Have Python read a file again, and what it imports from beside it."""
    stale = {name for name in closure_of(file) if not name.startswith(_ROOTS)}
    for name in stale:
        with contextlib.suppress(OSError):  # Python takes bytecode of the same second and length for that of the file
            os.remove(importlib.util.cache_from_source(name))
    for name, module in list(sys.modules.items()):
        there = getattr(module, "__file__", None)
        if name != "__main__" and there is not None and str(Path(there).resolve()) in stale:
            del sys.modules[name]
