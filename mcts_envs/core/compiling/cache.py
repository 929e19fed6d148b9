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
from functools import cached_property
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.serialize import dumps

from mcts_envs.core.compiling.compiled import Machine, inner_of, inner_parts, machine_of, machine_parts
from mcts_envs.core.compiling.meaning import meaning
from mcts_envs.core.compiling.signals import heed
from mcts_envs.core.compiling.sources import closure_digest, kernels_in

fcntl: Any
try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None

_DAY = 86_400.0
_DIRECTORY = re.compile(r"[\w.]+-[0-9a-f]{16}")
_LOCK = "lock"
_PATIENCE = 120.0  # seconds
_SECONDS = 0.07  # for a kernel: a part of a game's are compiled at first, some of them longer than others
_SUFFIX, _INNER = ".kernel", ".inner"
"""Of machine code, and of what other kernels are compiled with."""
_SHIPPED = Path(__file__).parents[2] / "_compiled"
"""Machine code that came with a wheel, for every processor of its kind; there is none in a checkout."""
_ANY_PROCESSOR = "generic", ""
"""What Numba calls the processor with nothing special, and its special features."""


_PAUSE = 2.0  # seconds in which nothing was compiled, after which somebody waits anew
_said: set[str] = set()
_compiled: dict[str, float] = {}
"""When a kernel of a part was last compiled in this process, by :func:`time.monotonic`."""


def _say(message: str) -> None:
    """Say something on stderr, once a process."""
    if message not in _said:
        _said.add(message)
        _print(message)


def _print(message: str) -> None:
    with contextlib.suppress(OSError):  # nobody reads it: workers compile as they are imported, before they settle
        print(f"mcts_envs: {message}", file=sys.stderr, flush=True)


class KernelCache(NullCache):  # type: ignore[misc]
    """What Numba asks for compiled code: sealed files of one function's signatures.

    A file that cannot be written or is damaged costs a compilation, never an import.

    Parameters
    ----------
    function : callable
        The function, not compiled.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        # Loading cached code imports the module that it names: what a script compiled as __main__ lies apart.
        self._of = Path(function.__code__.co_filename), function.__module__

    @cached_property
    def _directory(self) -> Path | None:
        """Where code is kept: asked for, and made, where none was shipped."""
        return cache_directory(*self._of)

    @property
    def cache_path(self) -> str:
        """Where the files lie."""
        return str(self._directory)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from compiling kernels of this module, so that they wait and find them here.

        The system gives a lock back when its holder ends, however it does. Who has waited for too long goes on, and so
        does everyone where there are no locks.
        """
        directory = self._directory
        if directory is None or fcntl is None or directory in _locked:
            yield
            return
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):
                file = stack.enter_context((directory / _LOCK).open("a"))
                end = time.monotonic() + _PATIENCE
                while not _lock(file) and time.monotonic() < end:
                    _say(f"waiting for another process that compiles {_part(self._function)}.")
                    time.sleep(0.05)
                    heed()
            _locked.add(directory)
            try:
                yield
            finally:
                _locked.discard(directory)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return the compiled code for a signature; None if it is not kept, or damaged."""
        target_context.refresh()
        parts = self._load(signature, target_context, _INNER)
        if parts is None:
            self.tell()
            return None
        return inner_of(target_context, parts)

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep the compiled code for a signature, if it can be kept."""
        if not result.library.has_dynamic_globals:
            self._save(signature, result.target_context, _INNER, lambda: inner_parts(result))
        self._note()

    def tell(self) -> None:
        """Say that kernels are compiled: when the first of a part is, and when more are after a while."""
        source = self._of[0]
        if self._directory is None:
            if source.is_file():
                where = "until MCTS_ENVS_CACHE_DIR names a folder"
                _say(f"compiled code cannot be kept anywhere; every process compiles anew {where}.")
            return
        part = _part(self._function)
        if part not in _compiled:
            whole = next((up for up in source.parents if up.name == part and (up / "__init__.py").exists()), source)
            seconds = max(2, round(_SECONDS * kernels_in(whole)))
            _print(f"compiling {part} for this machine, once (about {seconds} seconds).")
        elif time.monotonic() - max(_compiled.values()) > _PAUSE:
            _print(f"compiling more of {part} for this machine, once.")
        self._note()

    def tell_of_first_look(self) -> None:
        """Say that what is to be compiled runs in plain Python for now, and how to compile it."""
        part = _part(self._function)
        _say(f"a first look at {part} is in plain Python, slow and short; to compile it now: mcts-envs warm {part}")

    def _note(self) -> None:
        """Note that a kernel of this part is being compiled, where code is kept and so spoken of."""
        if self._directory is not None:
            _compiled[_part(self._function)] = time.monotonic()

    def load_machine(self, signature: Any, target_context: Any) -> Machine | None:
        """Return the machine code for a signature; None if it is not kept, or damaged."""
        parts = self._load(signature, target_context, _SUFFIX)
        return None if parts is None else machine_of(target_context, parts)

    def save_machine(self, machine: Machine, signature: Any, target_context: Any) -> None:
        """Keep the machine code for a signature, if it can be kept."""
        if not machine.library.has_dynamic_globals:
            self._save(signature, target_context, _SUFFIX, lambda: machine_parts(machine))
        self._note()

    def _load(self, signature: Any, target_context: Any, suffix: str) -> Any:
        for file in self._files(signature, target_context.codegen(), suffix):
            try:
                sealed = file.read_bytes()
            except OSError:
                continue
            seal, payload = sealed[:32], sealed[32:]
            if hashlib.sha256(payload).digest() == seal:
                return pickle.loads(payload)
            if sealed:
                _say(f"a file of compiled code in {file.parent} is damaged; it is compiled again.")
        return None

    def _files(self, signature: Any, codegen: Any, suffix: str) -> Iterator[Path]:
        """Yield the files to look for code in: what was shipped, then what may only be read, then what is kept."""
        system, *processor = codegen.magic_tuple()
        if _SHIPPED.is_dir():
            yield _SHIPPED / _named(*self._of) / self._file(signature, (system, *_ANY_PROCESSOR), suffix)
        name = self._file(signature, (system, *processor), suffix)
        for directory in (*filled_directories(*self._of), self._directory):
            if directory is not None:
                yield directory / name

    def _save(self, signature: Any, target_context: Any, suffix: str, parts: Callable[[], Any]) -> None:
        if self._directory is None:
            return
        file = self._directory / self._file(signature, target_context.codegen().magic_tuple(), suffix)
        payload = dumps(parts())
        temporary = file.with_name(f"{uuid.uuid4().hex}.tmp")
        try:
            self._directory.mkdir(exist_ok=True)
            temporary.write_bytes(hashlib.sha256(payload).digest() + payload)
            temporary.replace(file)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink()
            if file.exists():  # another process has kept it, and on Windows somebody is reading it
                return
            _say(
                f"compiled code cannot be kept in {self._directory.parent} ({error.strerror}); every process compiles "
                "anew until there is room, or MCTS_ENVS_CACHE_DIR names another directory.",
            )

    def _file(self, signature: Any, target: tuple[str, ...], suffix: str) -> str:
        machine = target, sys.implementation.cache_tag
        key = repr((str(signature), machine, meaning(self._function))).encode()
        name = re.sub(r"[^\w.]", "", self._function.__qualname__)
        return f"{name}-{hashlib.sha256(key).hexdigest()[:16]}{suffix}"


_locked: set[Path] = set()
"""Directories that this process has locked; one of its threads compiles at a time."""


def _lock(file: Any) -> bool:
    """Lock an open file, unless another process has; say whether it is locked."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def cache_directory(source: Path, module: str = "") -> Path | None:
    """Return the directory for compiled code of a source file, named after its module and a hash.

    The hash is that of the source with all that it imports here, and of the versions of NumPy and Numba. None if the
    source is no file, or no directory can be written to. ``MCTS_ENVS_CACHE_DIR`` says where, then ``NUMBA_CACHE_DIR``,
    then the user's cache directory.
    """
    if not source.is_file():
        return None
    name = _named(source, module)
    for root in _cache_roots():
        directory = root / name
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
    return None


def filled_directories(source: Path, module: str = "") -> list[Path]:
    """Return directories with compiled code of a source file that may be read and not be written to.

    Such a cache was filled by this user, or by the system's, for all.
    """
    if not source.is_file():
        return []
    name = _named(source, module)
    found = [directory for root in _cache_roots() if (directory := root / name).is_dir()]
    return [each for each in found if not os.access(each, os.W_OK) and (_is_ours(each) or each.stat().st_uid == 0)]


def _named(source: Path, module: str) -> str:
    versions = f"{np.__version__} {numba.__version__}"
    digest = hashlib.sha256((closure_digest(source) + versions).encode()).hexdigest()[:16]
    return f"{module or source.stem}-{digest}"


def _part(function: Any) -> str:
    """Return what a person knows of where a kernel is from: the game, the package, or the file that is run."""
    module: str = function.__module__
    if module == "__main__":
        return Path(function.__code__.co_filename).stem
    first, *rest = module.removeprefix("mcts_envs.games.").split(".")
    return rest[0] if first == "mcts_envs" and len(rest) > 1 else first


def _is_ours(directory: Path) -> bool:
    """Say whether a directory belongs to this user: compiled code that others may exchange is not to be run."""
    return os.name == "nt" or directory.stat().st_uid == os.getuid()


def _temporary() -> Path | None:
    """Return the system's folder for temporary files; None where no such folder can be written to."""
    with contextlib.suppress(OSError):
        return Path(tempfile.gettempdir())
    return None


def _is_temporary(root: Path) -> bool:
    return root.parent == _temporary()


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
    if temporary := _temporary():
        yield temporary / f"mcts_envs-{os.getuid() if os.name != 'nt' else 'cache'}"


def _prune(root: Path) -> None:
    """Drop the code of sources that nobody has used for a month; nothing else that may lie there."""
    for directory in root.iterdir():
        with contextlib.suppress(OSError):  # another process may drop it at the same time
            stale = time.time() - directory.lstat().st_mtime > 30 * _DAY
            if stale and _DIRECTORY.fullmatch(directory.name) and directory.is_dir() and not directory.is_symlink():
                for file in [f for suffix in (_SUFFIX, _INNER, ".tmp", _LOCK) for f in directory.glob(f"*{suffix}")]:
                    file.unlink()
                directory.rmdir()
