"""Observations in the shape that an environment gives them, and as Stable-Baselines3 turns pictures for a policy."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

Observe = Callable[[Any, int, Any], None]


def shaped(observe: Observe, seen: Sequence[Any]) -> Mapping[str, Mapping[str, Any]]:
    """Return the variants of a game that show arrays in their own shape, by name; none where players see other shapes.

    ``"array"`` is the observation as it comes, and ``"channels_first"`` a picture [height, width, channels] as
    ``VecTransposeImage`` of Stable-Baselines3 shows it to a policy, alone or in a dictionary: [channels, height,
    width]. Of PettingZoo's dictionary of an observation and an action mask a policy is shown the observation:
    ``"unmasked"``, flattened.

    Parameters
    ----------
    observe : callable
        Writes an observation, flattened.
    seen : sequence of Space
        What each player observes.
    """
    first = seen[0]
    if any(space != first for space in seen):
        return {}
    variants: dict[str, Mapping[str, Any]] = {}
    if isinstance(first, spaces.Dict) and _is_masked(first):
        observe, first = _unmasked(observe, first), first["observation"]
        variants["unmasked"] = {"observe": observe, "observation_shape": (spaces.flatdim(first),)}
    if isinstance(first, spaces.Dict):
        turned_space = spaces.Dict([(name, _turned_space(part)) for name, part in first.items()])  # in its order
        variants["channels_first"] = {"observe": _turned_inside(observe, first), "structure": turned_space}
    if not isinstance(first, spaces.Box) or len(first.shape) < 2:
        return variants
    shape = first.shape
    variants["array"] = {"observe": observe, "observation_shape": shape}
    if len(shape) == 3:
        turned = {"observe": _channels_first(observe, shape), "observation_shape": (shape[2], *shape[:2])}
        variants["channels_first"] = turned
    return variants


def structure(seen: Sequence[Any]) -> Any:
    """Return the space of what all players see, if it is no array; None if it is one, or they see other things."""
    return None if isinstance(seen[0], spaces.Box) or any(space != seen[0] for space in seen) else seen[0]


def bounds(seen: Sequence[Any]) -> Mapping[str, Any]:
    """Return the least and the greatest that arrays may hold, of bytes 0 and 255; nothing where not all see arrays."""
    if not all(isinstance(space, spaces.Box) for space in seen):
        return {}
    if all(space.dtype == np.uint8 for space in seen):
        return {"observation_low": 0.0, "observation_high": 255.0}
    low = min((float(space.low.min()) for space in seen if space.low.size), default=0.0)
    high = max((float(space.high.max()) for space in seen if space.low.size), default=1.0)
    return {"observation_low": low, "observation_high": high} if low <= high else {}


def _channels_first(observe: Observe, shape: tuple[int, ...]) -> Observe:
    def turned(state: Any, player: int, out: Any) -> None:
        """Write a picture, its channels first."""
        observe(state, player, out)
        picture = np.array(out, copy=True).reshape(shape)
        out[:] = np.moveaxis(picture, 2, 0).reshape(-1)

    return turned


def _unmasked(observe: Observe, space: spaces.Dict) -> Observe:
    whole, length = spaces.flatdim(space), spaces.flatdim(space["observation"])
    first = 0 if next(iter(space)) == "observation" else whole - length

    def unmasked(state: Any, player: int, out: Any) -> None:
        """Write what is observed, without the mask."""
        both = np.zeros(whole, np.float32)
        observe(state, player, both)
        out[:length] = both[first : first + length]

    return unmasked


def _turned_inside(observe: Observe, space: spaces.Dict) -> Observe:
    def turned(state: Any, player: int, out: Any) -> None:
        """Write a dictionary of which the pictures have their channels first."""
        observe(state, player, out)
        first = 0
        for part in space.values():
            last = first + spaces.flatdim(part)
            if _is_picture(part):
                out[first:last] = np.moveaxis(np.array(out[first:last]).reshape(part.shape), 2, 0).reshape(-1)
            first = last

    return turned


def _turned_space(space: Any) -> Any:
    if not _is_picture(space):
        return space
    return spaces.Box(np.moveaxis(space.low, 2, 0), np.moveaxis(space.high, 2, 0), dtype=np.uint8)


def _is_picture(space: Any) -> bool:
    if not isinstance(space, spaces.Box) or len(space.shape) != 3 or space.dtype != np.uint8:
        return False
    return bool((space.low == 0).all() and (space.high == 255).all())  # others are not turned


def _is_masked(space: spaces.Dict) -> bool:
    return {*space} == {"observation", "action_mask"} and isinstance(space["observation"], spaces.Box)
