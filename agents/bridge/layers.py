"""Environments inside their wrappers."""

from typing import Any

import gymnasium
from pettingzoo.utils.conversions import parallel_to_aec_wrapper
from pettingzoo.utils.wrappers import BaseParallelWrapper, BaseWrapper

from agents.wrappers import layers_of


def peeled(env: Any) -> tuple[list[Any], Any]:
    """Return the layers down to the environment that is to be copied, and who is to choose if that cannot tell.

    An environment of agents that choose at once, dressed up as one in turns, is copied as what it is: else those who
    come later would know what the others are about to do.
    """
    layers, chooser = [env], None
    while isinstance(layers[-1], (BaseWrapper, BaseParallelWrapper, parallel_to_aec_wrapper)):
        if isinstance(layers[-1], parallel_to_aec_wrapper):
            chooser = getattr(layers[-1], "agent_selection", None)
        layers.append(layers[-1].env)
    return layers, chooser


def down(env: Any) -> list[Any]:
    """Return the layers of an environment, from the outermost on."""
    return layers_of(env) if isinstance(env, gymnasium.Env) else peeled(env)[0]


def innermost(env: Any) -> Any:
    """Return what planners copy: the environment inside all wrappers."""
    return down(env)[-1]  # whose unwrapped may be something else, as Jumanji's is
