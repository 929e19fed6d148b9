"""Observations in the shape that an environment gives them, and as Stable-Baselines3 turns pictures for a policy."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

Observe = Callable[[Any, int, Any], None]


def shaped(observe: Observe, seen: Sequence[Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the variants of a game that show arrays in their own shape, by name; none where they differ.

    ``"array"`` is the observation as it comes, and ``"channels_first"`` a picture [height, width, channels] as
    ``VecTransposeImage`` of Stable-Baselines3 shows it to a policy: [channels, height, width].

    Parameters
    ----------
    observe : callable
        Writes an observation, flattened.
    seen : sequence of Space
        What each player observes.
    """
    first = seen[0]
    if not isinstance(first, spaces.Box) or len(first.shape) < 2 or any(space != first for space in seen):
        return {}
    shape = first.shape
    variants: dict[str, Mapping[str, Any]] = {"array": {"observe": observe, "observation_shape": shape}}
    if len(shape) == 3:
        turned = {"observe": _channels_first(observe, shape), "observation_shape": (shape[2], *shape[:2])}
        variants["channels_first"] = turned
    return variants


def bounds(seen: Sequence[Any]) -> Mapping[str, Any]:
    """Return the bounds of observations in bytes; nothing for others."""
    in_bytes = all(isinstance(space, spaces.Box) and space.dtype == np.uint8 for space in seen)
    return {"observation_low": 0.0, "observation_high": 255.0} if in_bytes else {}


def _channels_first(observe: Observe, shape: tuple[int, ...]) -> Observe:
    def turned(state: Any, player: int, out: Any) -> None:
        """Write a picture, its channels first."""
        observe(state, player, out)
        picture = np.array(out, copy=True).reshape(shape)
        out[:] = np.moveaxis(picture, 2, 0).reshape(-1)

    return turned
