"""Words as they are typed in a shell."""

import re
import shlex
import sys

_PLAIN = re.compile(r"[\w@%+=:,./\\-]+")


def quoted(word: str) -> str:
    """Return a word as shells take it; on Windows a backslash is plain, and cmd knows double quotes alone."""
    if sys.platform != "win32":
        return shlex.quote(word)
    return word if _PLAIN.fullmatch(word) else '"{}"'.format(word.replace('"', r"\""))
