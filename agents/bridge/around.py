"""What wrappers make of a step: the action that they change, the reward, and how often the environment is stepped."""

import contextlib
from collections.abc import Sequence
from typing import Any

import gymnasium
from gymnasium.wrappers import NormalizeReward, StickyAction

from agents.bridge.digest import digest
from agents.bridge.lenses import detached
from agents.wrappers import repeats_of


def changing(layers: Sequence[Any]) -> tuple[Any, ...]:
    """Return the wrappers among the layers of an environment that change what a step does, from the outermost on.

    They change actions or rewards, each by itself, or repeat a step.
    """
    return tuple(layer for layer in layers[:-1] if _acts(layer) or _pays(layer) or repeats_of(layer) > 1)


def dressed(env: Any, wrappers: Sequence[Any]) -> Any:
    """Return an environment, which may be a copy, in wrappers like these, the outermost first; they are not touched."""
    for layer in reversed(wrappers):
        env = Repeated(env, repeats_of(layer)) if repeats_of(layer) > 1 else detached(layer, env)
    return env


def inward(env: Any, action: Any) -> Any:
    """Return what an action of an environment so dressed is to the one inside."""
    while isinstance(env, gymnasium.Wrapper):
        action = env.action(action) if isinstance(env, gymnasium.ActionWrapper) else action
        env = env.env
    return action


def acted_on(env: Any) -> bool:
    """Say whether a wrapper of an environment so dressed changes actions."""
    while isinstance(env, gymnasium.Wrapper):
        if isinstance(env, gymnasium.ActionWrapper):
            return True
        env = env.env
    return False


def in_nothing(env: Any, wrappers: Sequence[Any]) -> Any:
    """Return wrappers like these around an environment that has the spaces of another one, and nothing else."""
    nothing: Any = gymnasium.Env()
    nothing.action_space, nothing.observation_space = env.action_space, env.observation_space
    return dressed(nothing, wrappers)


def check_wrapped(around: Any, env: Any, action: int) -> None:
    """Raise ``TypeError`` if a wrapper around nothing, as around an environment, keeps something of what it changes."""
    given: Any = action
    while isinstance(around, gymnasium.Wrapper):
        before = _held(around)
        with contextlib.suppress(Exception):  # whatever their code raises in nothing: steps of a copy will tell
            if isinstance(around, gymnasium.ActionWrapper):
                given = around.action(given)
            elif isinstance(around, gymnasium.RewardWrapper):
                around.reward(0.0)
        if _held(around) != before:
            raise TypeError(
                f"{type(around).__name__} keeps something from step to step, which is not copied: write it into "
                f"{type(env).__name__}, or plan in that one"
            )
        around = around.env


class Repeated(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Makes a step several times, or to the end, for all that is paid.

    Parameters
    ----------
    env : gymnasium.Env
    times : int
    """

    def __init__(self, env: Any, times: int) -> None:
        super().__init__(env)
        self._times = times

    def step(self, action: Any) -> Any:
        """Make the steps."""
        total = 0.0
        for _ in range(self._times):
            seen, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        return seen, total, terminated, truncated, info


def _acts(layer: Any) -> bool:
    known = isinstance(layer, gymnasium.ActionWrapper) and type(layer).step is gymnasium.ActionWrapper.step
    return known and not isinstance(layer, StickyAction)


def _pays(layer: Any) -> bool:
    known = isinstance(layer, gymnasium.RewardWrapper) and type(layer).step is gymnasium.RewardWrapper.step
    return known and not isinstance(layer, NormalizeReward)


def _held(layer: Any) -> Any:
    """Return a hash of what a wrapper holds besides its environment; None if it cannot be looked into."""
    try:
        return digest({name: value for name, value in vars(layer).items() if name != "env"})
    except TypeError:
        return None
