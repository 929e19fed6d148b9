"""Which files are read without a word: those of this package, and those that this process or its own have written."""

from pathlib import Path

from agents.learning.saved.notices import notice
from agents.learning.saved.shipped import FOLDER

_written: set[Path] = set()


def written(path: Path) -> None:
    """Note that this process, or one that it began, has written a file."""
    _written.add(path.resolve())


def warn_of_pickles(path: Path) -> None:
    """Say, once for each file, that reading it runs what it says; a sidecar beside it proves nothing."""
    whole = path.resolve()
    if whole not in _written and FOLDER.resolve() not in whole.parents:
        notice(
            f"{path} holds pickles: reading it can result in arbitrary code execution. "
            "Load only files from a source that you trust"
        )
