"""Folders that one process at a time writes to."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

from mcts_envs.core.own_code import warn

LOCK = ".lock"
_NO_LOCKS = errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP
"""What file systems without locks say, such as some of networks."""


@contextmanager
def only_writer(folder: Path, what: str) -> Iterator[None]:
    """Keep all others, in this process and in others, from writing to a folder that is there.

    Parameters
    ----------
    folder : Path
    what : str
        What others would be, for the message: ``"comparison"``.

    Raises
    ------
    BlockingIOError
        If another one is writing to it.
    """
    lock = filelock.FileLock(folder / LOCK)
    try:
        lock.acquire(blocking=False)
    except filelock.Timeout as error:
        raise BlockingIOError(
            f"another {what} is writing to {folder}; wait for it, or choose another folder with --out"
        ) from error
    except (NotImplementedError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in _NO_LOCKS:
            raise
        warn(f"{folder} cannot be locked ({error}); see that no other {what} writes there")
    try:
        yield
    finally:
        lock.release()


@contextmanager
def staying(folder: Path, cure: str) -> Iterator[None]:
    """Let an error say that the folder that a training writes to is no longer there, and the cure."""
    try:
        yield
    except FileNotFoundError as error:
        if folder.is_dir():
            raise
        raise FileNotFoundError(f"{folder} was moved or deleted while a training wrote to it; {cure}") from error
