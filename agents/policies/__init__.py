"""The ideas that a search is put together from: one file for each, its source cited.

A policy is passed to :class:`agents.mcts.MCTS` as a function, or by the name of the function in this package: then its
module is loaded when an agent asks for it. A new idea is a new file here, and nothing else.
"""

import importlib
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcts_envs.core import loading

_POLICY = re.compile(r"^@policy\((\w+).*?^def (\w+)", re.MULTILINE | re.DOTALL)
_FUNCTION = re.compile(r"^def ([a-z]\w*)", re.MULTILINE)


@cache
def names(kind: str) -> dict[str, str]:
    """Return the modules of this package by the name of the policy in them.

    Parameters
    ----------
    kind : {"select", "noise", "simulate", "backup", "option", "recommend"}

    Raises
    ------
    ImportError
        If the sources are not there, by which policies are found.
    """
    found: dict[str, str] = {}
    folder = Path(__file__).parent
    if not (files := sorted(folder.glob("*.py"))):
        raise ImportError(
            f"{folder} has no Python files, by which policies are found: a program that is packed takes them along, "
            "with PyInstaller by collect_all('agents')"
        )
    for file in files:
        if file.stem == "recommend":
            policies = [("recommend", name) for name in _FUNCTION.findall(file.read_text("utf-8"))]
        else:
            policies = [(given.lower(), name) for given, name in _POLICY.findall(file.read_text("utf-8"))]
        found |= {name: file.stem for given, name in policies if given == kind}
    return found


def load(kind: str, name: str) -> Any:
    """Return a policy of this package."""
    return getattr(importlib.import_module(f"agents.policies.{names(kind)[name]}"), name)


if not TYPE_CHECKING:
    __getattr__ = loading.named_modules(__name__)
