"""Which code is a user's own: neither this project's, nor Python's, nor an installed package's."""

import re
import sys
import sysconfig
import traceback
import warnings
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_OTHERS = (
    *(_ROOT / name for name in ("agents", "mcts_envs", "scripts")),
    *{Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "purelib", "platlib")},
)
_INSTALLED = re.compile(r"\b(site|dist)-packages\b")


def is_own(file: str) -> bool:
    """Say whether a file that a traceback names is code of one's own."""
    if file.startswith("<") or _INSTALLED.search(file):
        return False
    return not any(Path(file).resolve().is_relative_to(folder) for folder in _OTHERS)


def warn(said: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and point at the line of one's own that led here, as a warning of this project's innards helps nobody."""
    caller = sys._getframe(1)
    frames = (frame for frame, _ in traceback.walk_stack(caller))
    own = (each for each in frames if is_own(each.f_code.co_filename) or each.f_globals.get("__name__") == "__main__")
    frame = next(own, caller)
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    module = frame.f_globals.get("__name__")
    warnings.warn_explicit(said, category, frame.f_code.co_filename, frame.f_lineno, module, registry)
