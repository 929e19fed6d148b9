"""Which code is a user's own: neither this project's, nor Python's, nor an installed package's."""

import re
import sysconfig
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
