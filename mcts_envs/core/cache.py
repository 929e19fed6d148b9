"""The compiled code of kernels on disk: one file each, sealed, in a directory named after a hash of the sources.

The file is named after what the kernel was compiled from as it stood in memory, which the sources on disk do not tell.
Numba's own cache sees changes in the file of a function alone, fails where the disk is full, and runs what a damaged
file holds.
"""

import contextlib
import hashlib
import os
import pickle
import re
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from mcts_envs.core.meaning import meaning
from mcts_envs.core.sources import closure_digest

_DAY = 86_400.0
_DIRECTORY = re.compile(r"[\w.]+-[0-9a-f]{16}")
_SUFFIX = ".kernel"


@cache
def _say(message: str) -> None:
    """Say something on stderr, once a process."""
    print(f"mcts_envs: {message}", file=sys.stderr, flush=True)


class KernelCache(NullCache):  # type: ignore[misc]
    """What Numba asks for compiled code: sealed files of one function's signatures.

    A file that cannot be written or is damaged costs a compilation, never an import.

    Parameters
    ----------
    function : callable
        The function, not compiled.
    directory : Path
        As :func:`cache_directory` returns it.
    """

    def __init__(self, function: Callable[..., Any], directory: Path) -> None:
        self._function, self._directory = function, directory

    @property
    def cache_path(self) -> str:
        """Where the files lie."""
        return str(self._directory)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature; None if it is not kept, or damaged."""
        target_context.refresh()
        file = self._file(signature, target_context.codegen())
        try:
            sealed = file.read_bytes()
        except OSError:
            sealed = b""
        if sealed:
            seal, payload = sealed[:32], sealed[32:]
            if hashlib.sha256(payload).digest() == seal:
                return CompileResult._rebuild(target_context, *pickle.loads(payload))
            _say(f"a file of compiled code in {self._directory} is damaged; it is compiled again.")
        _say(f"compiling {_part(self._function.__module__)} for this machine, once (10 to 60 seconds).")
        return None

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep the compiled code for a signature, if it can be kept."""
        if result.library.has_dynamic_globals:
            return
        file = self._file(signature, result.codegen)
        try:
            payload = dumps(result._reduce())
        except RuntimeError:
            return  # Ctrl-C while LLVM handed the object code over: the kernel works, but there is none to keep
        temporary = file.with_name(f"{uuid.uuid4().hex}.tmp")
        try:
            self._directory.mkdir(exist_ok=True)
            temporary.write_bytes(hashlib.sha256(payload).digest() + payload)
            temporary.replace(file)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            _say(
                f"compiled code cannot be kept in {self._directory.parent} ({error.strerror}); every process compiles"
                " anew until there is room, or MCTS_ENVS_CACHE_DIR names another directory."
            )

    def _file(self, signature: Any, codegen: Any) -> Path:
        machine = codegen.magic_tuple(), sys.implementation.cache_tag
        key = repr((str(signature), machine, meaning(self._function))).encode()
        name = re.sub(r"[^\w.]", "", self._function.__qualname__)
        return self._directory / f"{name}-{hashlib.sha256(key).hexdigest()[:16]}{_SUFFIX}"


def cache_directory(source: Path, module: str = "") -> Path | None:
    """Return the directory for compiled code of a source file, named after its module and a hash.

    The hash is that of the source with all that it imports here, and of the versions of NumPy and Numba. None if the
    source is no file, or no directory can be written to. ``MCTS_ENVS_CACHE_DIR`` says where, then ``NUMBA_CACHE_DIR``,
    then the user's cache directory.
    """
    if not source.is_file():
        return None
    versions = f"{np.__version__} {numba.__version__}"
    digest = hashlib.sha256((closure_digest(source) + versions).encode()).hexdigest()[:16]
    for root in _cache_roots():
        directory = root / f"{module or source.stem}-{digest}"
        try:
            if not directory.exists():
                root.mkdir(mode=0o700, parents=True, exist_ok=True)
                if _is_ours(root):
                    _prune(root)
                directory.mkdir(exist_ok=True)
            if os.access(directory, os.W_OK) and _is_ours(directory) and (_is_ours(root) or not _is_temporary(root)):
                os.utime(directory)
                return directory
        except OSError:
            continue
    _say("compiled code cannot be kept anywhere; every process compiles anew until MCTS_ENVS_CACHE_DIR names a folder.")
    return None


def _part(module: str) -> str:
    """Return what a person knows of a module: the game, or the package."""
    first, *rest = module.removeprefix("mcts_envs.games.").split(".")
    return rest[0] if first == "mcts_envs" and len(rest) > 1 else first


def _is_ours(directory: Path) -> bool:
    """Say whether a directory belongs to this user: compiled code that others may exchange is not to be run."""
    return os.name == "nt" or directory.stat().st_uid == os.getuid()


def _is_temporary(root: Path) -> bool:
    return root.parent == Path(tempfile.gettempdir())


def _cache_roots() -> Iterator[Path]:
    for variable, below in (
        ("MCTS_ENVS_CACHE_DIR", ""),
        ("NUMBA_CACHE_DIR", "mcts_envs"),
        ("XDG_CACHE_HOME", "mcts_envs"),
        ("LOCALAPPDATA", "mcts_envs"),
    ):
        if value := os.environ.get(variable):
            yield Path(value) / below
            break
    else:
        with contextlib.suppress(RuntimeError):
            yield Path.home() / ".cache" / "mcts_envs"
    yield Path(tempfile.gettempdir()) / f"mcts_envs-{os.getuid() if os.name != 'nt' else 'cache'}"


def _prune(root: Path) -> None:
    """Drop the code of sources that nobody has used for a month; nothing else that may lie there."""
    for directory in root.iterdir():
        stale = time.time() - directory.lstat().st_mtime > 30 * _DAY
        if stale and _DIRECTORY.fullmatch(directory.name) and directory.is_dir() and not directory.is_symlink():
            with contextlib.suppress(OSError):
                for file in (*directory.glob(f"*{_SUFFIX}"), *directory.glob("*.tmp")):
                    file.unlink()
                directory.rmdir()
