"""Settings of the environment of a training, as those read them who play without it."""

from collections.abc import Mapping
from typing import Any

from mcts_envs.core.mixture import SELF


def without_selves(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of an environment with the opponents that are there without a training; random where none is."""
    found = dict(settings)
    opponent = found.get("opponent")
    if isinstance(opponent, Mapping):
        rest = {name: weight for name, weight in opponent.items() if name != SELF}
        found["opponent"] = rest if any(rest.values()) else "random"
    elif opponent == SELF:
        found["opponent"] = "random"
    return found
