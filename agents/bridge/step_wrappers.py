"""What wrappers make of a step: the action, whether it is legal, the reward, and how often it is made."""

from collections.abc import Sequence
from typing import Any

import gymnasium
from gymnasium.wrappers import NormalizeReward, StickyAction

from agents.bridge.copying.copies import Copy
from agents.bridge.copying.digest import digest
from agents.bridge.layers import innermost
from agents.bridge.observation_wrappers import detached
from agents.wrappers import layers_of, named, repeats_of, teller


def changing(layers: Sequence[Any]) -> tuple[Any, ...]:
    """Return the wrappers among the layers of an environment that change what a step does, from the outermost on.

    They change actions or rewards, each by itself, repeat a step, or say what is legal.
    """
    return tuple(
        layer for layer in layers[:-1] if _acts(layer) or _pays(layer) or repeats_of(layer) > 1 or _tells(layer)
    )


def dressed(env: Any, wrappers: Sequence[Any]) -> Any:
    """Return an environment, which may be a copy, in wrappers like these, the outermost first; they are not touched."""
    for layer in reversed(wrappers):
        env = Repeated(env, repeats_of(layer)) if repeats_of(layer) > 1 else detached(layer, env)
    return env


def inward(env: Any, action: Any, inside: Any = None) -> Any:
    """Return what an action of an environment so dressed is to the one inside, or to another of its layers."""
    for layer in layers_of(env):
        if layer is inside:
            break
        if isinstance(layer, gymnasium.ActionWrapper):
            action = layer.action(action)
    return action


def acted_on(env: Any) -> bool:
    """Say whether a wrapper of an environment so dressed changes actions."""
    return bool(named(env, gymnasium.ActionWrapper))


def worn(env: Any, wrappers: Sequence[Any]) -> Copy:
    """Return a copy of wrappers, the outermost first, around another environment than theirs.

    What they know of theirs is that one to the copy, and all that they hold is its own, but for what cannot be copied,
    as a log.
    """
    inside = innermost(wrappers[0])
    chain, within = dressed(env, wrappers), {id(inside): env, id(env): env}
    try:
        return Copy(chain, within)
    except TypeError:
        held = [value for layer in layers_of(chain)[:-1] for value in vars(layer).values() if value is not layer.env]
        return Copy(chain, within | {id(value): value for value in held if not _copied(value)})


def in_nothing(env: Any, wrappers: Sequence[Any]) -> Any:
    """Return wrappers like these around an environment that has the spaces of another one, and nothing else."""
    nothing: Any = gymnasium.Env()
    nothing.action_space, nothing.observation_space = Copy((env.action_space, env.observation_space)).env
    return worn(nothing, wrappers).env


class KeepsError(TypeError):
    """A wrapper keeps something from step to step."""


def held_around(env: Any) -> list[int | None]:
    """Return hashes of what the wrappers of an environment so dressed hold; None for what cannot be looked into."""
    return [_held(layer) for layer in layers_of(env)[:-1]]


def check_kept(env: Any, before: list[int | None]) -> None:
    """Raise :class:`KeepsError` if wrappers of an environment so dressed hold something else than before its steps."""
    for layer, held, was in zip(layers_of(env), held_around(env), before, strict=False):
        if held != was:
            raise KeepsError(
                f"{type(layer).__name__} keeps something from step to step, which is not copied: write it into "
                f"{type(innermost(env)).__name__}, or plan in that one"
            )


class Repeated(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Makes a step several times, or to the end, for all that is paid.

    Parameters
    ----------
    env : gymnasium.Env
    times : int
    """

    def __init__(self, env: Any, times: int) -> None:
        super().__init__(env)
        self.times = times

    def step(self, action: Any) -> Any:
        """Make the steps."""
        total = 0.0
        for _ in range(self.times):
            seen, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        return seen, total, terminated, truncated, info


def _acts(layer: Any) -> bool:
    known = isinstance(layer, gymnasium.ActionWrapper) and type(layer).step is gymnasium.ActionWrapper.step
    return known and not isinstance(layer, StickyAction)


def _tells(layer: Any) -> bool:
    """Return whether a wrapper alone says what is legal, as sb3-contrib's ActionMasker, and keeps nothing for it."""
    return teller(layer) is layer and type(layer).step is gymnasium.Wrapper.step


def _pays(layer: Any) -> bool:
    kind: Any = type(layer)
    if kind.__name__ == "LinearReward" and kind.__module__.startswith("mo_gymnasium."):  # has a step of its own
        return True
    known = isinstance(layer, gymnasium.RewardWrapper) and kind.step is gymnasium.RewardWrapper.step
    return known and not isinstance(layer, NormalizeReward)


def _held(layer: Any) -> int | None:
    """Return a hash of what a wrapper holds besides environments; None if it cannot be looked into.

    Its functions may hold the environment inside, as one that asks for the action space does.
    """
    held = {name: value for name, value in vars(layer).items() if not isinstance(value, gymnasium.Env)}
    try:
        return digest(held, innermost(layer))
    except TypeError:
        return None


def _copied(value: Any) -> bool:
    try:
        Copy(value)
    except TypeError:
        return False
    return True
