"""Observations that are no arrays: a search shows them flattened, a policy takes them as they were."""

from typing import Any

import numpy as np
from gymnasium import spaces

from agents.learning.saved.frames import Shape
from mcts_envs.core.typing import Singles


def flat_shape(space: Any) -> Shape:
    """Return the shape in which observations are shown: an array's own, anything else flattened."""
    return tuple(space.shape or ()) if isinstance(space, spaces.Box) else (spaces.flatdim(space),)


def restored(space: Any, observations: Singles) -> Any:
    """Return flattened observations [n, size] as a policy takes them: an array [n, ...], or a dictionary of some.

    Parameters
    ----------
    space : Space
        ``Discrete``, ``MultiDiscrete``, ``MultiBinary``, or a ``Dict`` of these and ``Box``.
    observations : float32 array
    """
    if isinstance(space, spaces.Box):
        return observations.reshape(len(observations), *space.shape)  # as they are: float32 may exceed its integers
    if not isinstance(space, spaces.Dict):
        return np.stack([spaces.unflatten(space, row) for row in observations])
    found, first = {}, 0
    for name, part in space.items():
        last = first + spaces.flatdim(part)
        found[name] = restored(part, observations[:, first:last])
        first = last
    return found
