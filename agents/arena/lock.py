"""One writer for each folder of results."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows has none.
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"


@contextlib.contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Keep all others, in this process and in others of this machine, from writing to a folder.

    The lock ends with the process that holds it. Where the system has no ``flock``, a file stands for the lock; after
    a crash it is to be deleted by hand.

    Raises
    ------
    BlockingIOError
        If another one is writing.
    """
    file = folder / LOCK
    with _locked(file, folder) if fcntl else _created(file, folder):
        yield


@contextlib.contextmanager
def _locked(file: Path, folder: Path) -> Iterator[None]:
    with file.open("ab") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BlockingIOError(_busy(folder, "wait for it")) from error
        yield


@contextlib.contextmanager
def _created(file: Path, folder: Path) -> Iterator[None]:
    try:
        os.close(os.open(file, os.O_CREAT | os.O_EXCL))
    except FileExistsError as error:
        raise BlockingIOError(_busy(folder, f"wait for it, delete {file} if there is none")) from error
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def _busy(folder: Path, cure: str) -> str:
    return f"another comparison is writing to {folder}; {cure}, or choose another folder with --out"
