"""Folders that one process at a time writes to."""

import errno
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock

LOCK = ".lock"
_NO_LOCKS = errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP
"""What file systems without locks say, such as some of networks."""


@contextmanager
def only_writer(folder: Path, what: str, option: str = "--out", lock: str = LOCK) -> Iterator[None]:
    """Keep all others, in this process and in others, from writing to a folder that is there.

    Parameters
    ----------
    folder : Path
    what : str
        What others would be, for the message: ``"comparison"``.
    option : str
        What names another folder.
    lock : str
        The file that is locked: another one for those who write to other files of the folder.

    Raises
    ------
    BlockingIOError
        If another one is writing to it.
    """
    held = filelock.FileLock(folder / lock)
    try:
        held.acquire(blocking=False)
    except filelock.Timeout as error:
        raise BlockingIOError(
            f"another {what} is writing to {folder}; wait for it, or choose another folder with {option}"
        ) from error
    except (NotImplementedError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in _NO_LOCKS:
            raise
        warnings.warn(f"{folder} cannot be locked ({error}); see that no other {what} writes there", stacklevel=3)
    try:
        yield
    finally:
        held.release()
