"""What observation wrappers make of what an environment shows: policies were trained behind them."""

from collections.abc import Sequence
from typing import Any

import gymnasium
from gymnasium.wrappers import NormalizeObservation


def lenses_of(layers: Sequence[Any]) -> list[Any]:
    """Return the observation wrappers among the layers of an environment, from the innermost on.

    They end where a wrapper keeps something of the past, as one that stacks frames or counts steps does: that is not
    copied.
    """
    found = []
    for layer in reversed(layers[:-1]):
        looks = isinstance(layer, gymnasium.ObservationWrapper)
        if looks and type(layer).step is gymnasium.ObservationWrapper.step:
            found.append(layer)
        elif looks or layer.observation_space != layer.env.observation_space:
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
