"""Environments inside their wrappers."""

from typing import Any

import gymnasium
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import aec_to_parallel_wrapper, parallel_to_aec_wrapper
from pettingzoo.utils.wrappers import BaseParallelWrapper, BaseWrapper, OrderEnforcingWrapper

from agents.wrappers import layers_of


class _InTurns(parallel_to_aec_wrapper):  # type: ignore[misc]
    """Agents to whom a step says nothing have an empty info: PettingZoo ends in a KeyError where one is missing."""

    infos: dict[str, Any]

    def step(self, action: Any) -> None:
        super().step(action)
        told = self.infos or {}
        self.infos = {agent: told.get(agent) or {} for agent in self.agents}


def in_turns(env: ParallelEnv[Any, Any, Any]) -> AECEnv[Any, Any, Any]:
    """Return a parallel environment as one of agents that choose one after the other."""
    return env.aec_env if isinstance(env, aec_to_parallel_wrapper) else OrderEnforcingWrapper(_InTurns(env))


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


def turns_of(env: Any) -> Any:
    """Return the layer that lets those choose in turn who choose at once; None where there is none."""
    layers = down(env) if isinstance(env, AECEnv) else ()
    return next((layer for layer in layers if isinstance(layer, parallel_to_aec_wrapper)), None)


def innermost(env: Any) -> Any:
    """Return what planners copy: the environment inside all wrappers."""
    return down(env)[-1]  # whose unwrapped may be something else, as Jumanji's is
