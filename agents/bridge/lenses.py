"""What observation wrappers make of what an environment shows: policies were trained behind them."""

from collections.abc import Sequence
from typing import Any

import gymnasium
from gymnasium.wrappers import NormalizeObservation


def lenses_of(layers: Sequence[Any]) -> list[Any]:
    """Return the observation wrappers among the layers of an environment, from the innermost on.

    They end where another kind of wrapper shows something else, as one that stacks frames does: what it keeps of the
    past is not copied.
    """
    found = []
    for layer in reversed(layers[:-1]):
        if isinstance(layer, gymnasium.ObservationWrapper):
            found.append(layer)
        elif layer.observation_space != layer.env.observation_space:
            break
    return found


def through(lenses: Sequence[Any], env: Any, seen: Any) -> Any:
    """Return what is seen of an environment through wrappers, which are left as they are.

    Parameters
    ----------
    lenses : sequence of ObservationWrapper
        Of the live environment.
    env : Env
        The copy that they are to look at.
    seen : object
        What it showed.
    """
    for lens in lenses:
        own = object.__new__(type(lens))
        vars(own).update(vars(lens), env=env)
        if isinstance(own, NormalizeObservation):
            own.update_running_mean = False
        env, seen = own, own.observation(seen)
    return seen
