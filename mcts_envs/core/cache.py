"""Where compiled code is kept: a directory named after a hash of the sources.

Numba alone looks at the file of a function, and does not see changes in *imported* files.
"""

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_announced = False
_DAY = 86_400.0


def announce(directory: Path, module: str) -> None:
    """Say once a machine, before the first compilation, why the first use takes some seconds."""
    global _announced
    marker = directory / f"{module}.compiled"
    if marker.exists():
        return
    if not _announced:
        _announced = True
        print("mcts_envs: compiling for this machine, once; this takes some seconds.", file=sys.stderr, flush=True)
    marker.touch()


def cache_directory(source: Path) -> Path | None:
    """Return the directory for compiled code of a source file, named after a hash of all that it may import.

    None if the source is no file, or no directory can be written to. ``MCTS_ENVS_CACHE_DIR`` says where, then
    ``NUMBA_CACHE_DIR``, then the user's cache directory.
    """
    if not source.is_file():
        return None
    package = source.resolve().parent
    while (package.parent / "__init__.py").exists():
        package = package.parent
    own = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256((source_digest(own) + source_digest(package)).encode()).hexdigest()[:16]
    for root in _cache_roots():
        directory = root / digest
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
    """Drop the directories of sources that nobody has used for a month; nothing else that may lie there."""
    for marker in root.glob("*/mcts_envs.core.rng.compiled"):
        directory = marker.parent
        if not directory.is_symlink() and time.time() - directory.stat().st_mtime > 30 * _DAY:
            shutil.rmtree(directory, ignore_errors=True)


def source_digest(package: Path) -> str:
    """Hash the Python sources of a package, or of the one folder that holds a single file outside any package."""
    files = package.rglob("*.py") if (package / "__init__.py").exists() else package.glob("*.py")
    digest = hashlib.sha256()
    for file in sorted(files):
        with contextlib.suppress(OSError):
            stat = file.stat()
            digest.update(_file_digest(file, stat.st_mtime_ns, stat.st_size))
    return digest.hexdigest()


@cache
def _file_digest(file: Path, modified: int, size: int) -> bytes:
    return hashlib.sha256(file.name.encode() + file.read_bytes()).digest()
