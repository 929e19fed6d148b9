"""Modules as PettingZoo's users know them: ``from mcts_envs import bomber_v0``, then ``bomber_v0.parallel_env()``.

There is one for every id for several players, made from the registry: no file, and no game is loaded by it.
"""

import re
import sys
from collections.abc import Callable
from functools import partial
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from types import ModuleType
from typing import Any

from mcts_envs.registry import ENTRIES, Entry


def modules(make_aec: Callable[..., Any], make_parallel: Callable[..., Any]) -> dict[str, ModuleType]:
    """Return the modules by name, after making them known to ``import``."""
    made = {_name(entry.id): entry for entry in ENTRIES.values() if entry.players > 1}
    return {name: _module(name, entry, make_aec, make_parallel) for name, entry in made.items()}


def _name(id: str) -> str:
    """Return ``"bomber_team_v0"`` for ``"mcts_envs/BomberTeam-v0"``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|-", "_", id.rpartition("/")[2]).lower()


def _module(name: str, entry: Entry, make_aec: Callable[..., Any], make_parallel: Callable[..., Any]) -> ModuleType:
    module = module_from_spec(ModuleSpec(f"mcts_envs.{name}", None))
    module.__doc__ = (
        f"``{entry.id}`` for PettingZoo: ``env()`` and ``raw_env()`` in turns (AEC; they check actions and their order "
        "by themselves), ``parallel_env()`` all at once. Arguments: those of ``mcts_envs.make_aec``."
    )
    vars(module)["env"] = vars(module)["raw_env"] = partial(make_aec, entry.id)
    vars(module)["parallel_env"] = partial(make_parallel, entry.id)
    sys.modules[module.__name__] = module
    return module
