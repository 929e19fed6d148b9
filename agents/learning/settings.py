"""Settings of the environment of a training, as those read them who play without it."""

from collections.abc import Mapping
from typing import Any

from mcts_envs.core.api.mixture import SELF


def to_evaluate_in(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of an environment to evaluate in.

    Its opponents are those that are there without a training, random where none is, and games start where they do by
    themselves.
    """
    found = {name: value for name, value in settings.items() if name != "starts"}
    opponent = found.get("opponent")
    if isinstance(opponent, Mapping):
        rest = {name: weight for name, weight in opponent.items() if name != SELF}
        found["opponent"] = rest if any(rest.values()) else "random"
    elif opponent == SELF:
        found["opponent"] = "random"
    return found
