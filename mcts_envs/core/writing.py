"""Files that appear whole or not at all."""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import sleep

_TRIES, _SECONDS_BETWEEN_TRIES = 20, 0.1


def _replace(temporary: Path, path: Path) -> None:
    """Put a file in its place; on Windows that waits a little where somebody is reading the one that is there."""
    for _ in range(_TRIES if sys.platform == "win32" else 0):
        with contextlib.suppress(PermissionError):
            os.replace(temporary, path)
            return
        sleep(_SECONDS_BETWEEN_TRIES)
    os.replace(temporary, path)


@contextlib.contextmanager
def naming(path: Path, temporary: Path | None = None) -> Iterator[None]:
    """Let an error that a file could not be written name it, and not what is written first.

    That of a full disk names none.
    """
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename in (None, str(temporary)):
            error.filename = str(path)
        raise


def write_whole(path: Path, content: bytes) -> None:
    """Write a file; whatever interrupts this leaves the one that was there.

    What is no file, such as /dev/null, keeps its place.
    """
    write_together({path: content})


def write_together(contents: Mapping[Path, bytes]) -> None:
    """Write files that belong together; an error, as that of a full disk, leaves all those that were there.

    They come to their places in their order, at once, when all are written. What is no file, such as a
    device, keeps its place and is written to before.

    Raises
    ------
    OSError
        If one cannot be written, as where a folder lies in its place.
    """
    for path in contents:
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a folder, where a file is to be written; move it away")
    devices = [path for path in contents if path.exists() and not path.is_file()]
    temporaries = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in contents if path not in devices}
    try:
        for path, temporary in temporaries.items():
            with naming(path, temporary), temporary.open("wb") as file:
                file.write(contents[path])
                file.flush()
                os.fsync(file.fileno())
        for path in devices:
            with naming(path), path.open("wb") as device:
                device.write(contents[path])
        for path, temporary in temporaries.items():
            _replace(temporary, path)
    finally:
        for temporary in temporaries.values():
            with contextlib.suppress(FileNotFoundError):
                temporary.unlink()
