"""Errors in the terms of a command line."""

import re
from collections.abc import Mapping
from types import MappingProxyType

_SETTING = re.compile(r"\b(\w+)=(?:'([^']*)'|(True|False|None)\b)")


def said(error: Exception, options: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return what an error says with settings as one writes them here: ``loop=closed``, not ``loop='closed'``.

    Settings that are options of the command are written as these: ``--algo ppo``.
    """

    def written(found: re.Match[str]) -> str:
        name, text, word = found.groups()
        value = text if word is None else word.lower() if word != "None" else word
        return f"{options[name]} {value}" if name in options else f"{name}={value}"

    return _SETTING.sub(written, str(error))
