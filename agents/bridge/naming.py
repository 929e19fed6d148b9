"""What environments of others call their actions."""

from collections.abc import Sequence
from enum import Enum
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from gymnasium import spaces

from agents.bridge.copying.classes import name_of as class_name
from agents.bridge.step_wrappers import in_nothing, inward
from agents.bridge.trial import chance_apart

KNOWN = {
    "gymnasium.envs.box2d.lunar_lander.LunarLander": ("nothing", "left engine", "main engine", "right engine"),
    "gymnasium.envs.classic_control.acrobot.AcrobotEnv": ("torque -1", "torque 0", "torque +1"),
    "gymnasium.envs.classic_control.cartpole.CartPoleEnv": ("left", "right"),
    "gymnasium.envs.classic_control.mountain_car.MountainCarEnv": ("left", "nothing", "right"),
    "gymnasium.envs.toy_text.blackjack.BlackjackEnv": ("stick", "hit"),
    "gymnasium.envs.toy_text.cliffwalking.CliffWalkingEnv": ("up", "right", "down", "left"),
    "gymnasium.envs.toy_text.frozen_lake.FrozenLakeEnv": ("left", "down", "right", "up"),
    "gymnasium.envs.toy_text.taxi.TaxiEnv": ("south", "north", "east", "west", "pick up", "drop off"),
    "pettingzoo.classic.rlcard_envs.leduc_holdem.raw_env": ("call", "raise", "fold", "check"),
    "pettingzoo.classic.rlcard_envs.texas_holdem.raw_env": ("call", "raise", "fold", "check"),
    "pettingzoo.classic.rlcard_envs.texas_holdem_no_limit.raw_env": (
        "fold",
        "check or call",
        "raise half the pot",
        "raise the pot",
        "all in",
    ),
    "pettingzoo.classic.rps.rps.raw_env": ("rock", "paper", "scissors", "spock", "lizard"),
    "pettingzoo.classic.tictactoe.tictactoe.raw_env": (
        "top left",
        "left",
        "bottom left",
        "top",
        "centre",
        "bottom",
        "top right",
        "right",
        "bottom right",
    ),
}
"""Names that only their pages tell, by class: not those of classes derived from them, whose actions may be others."""

_MOST = 1000
"""Actions that are named where wrappers change them: to ask after each takes some 0.1 ms."""


def names_of(env: Any) -> tuple[str, ...]:
    """Return the names of an environment's actions, the first first; empty where it does not say them.

    It says them by ``get_action_meanings()``, as those of ALE do, or by ``actions``, an enumeration from 0 on, as those
    of MiniGrid do. For a few that are played much, :data:`KNOWN` says them.
    """
    try:
        if callable(tell := getattr(env, "get_action_meanings", None)):
            return tuple(map(str, tell()))
        listed = getattr(env, "actions", None)
    except Exception:  # whatever its code raises: names are worth no error
        return ()
    if isinstance(listed, type) and issubclass(listed, Enum):
        numbered = {each.value: each.name for each in listed if isinstance(each.value, int)}
        if sorted(numbered) == list(range(len(numbered))):
            return tuple(numbered[number] for number in range(len(numbered)))
    return KNOWN.get(class_name(type(env)), ())


def names_within(wrappers: Sequence[Any], env: Any) -> tuple[str, ...]:
    """Return what actions that wrappers change are to the environment inside: its names or its numbers.

    There are none where they are left to chance or depend on the environment, nor for very many actions.
    """
    outermost = wrappers[0]
    if type(outermost).__hash__ is None:
        return _within(wrappers, env)
    if outermost not in _NAMES:
        _NAMES[outermost] = _within(wrappers, env)
    return _NAMES[outermost]


_NAMES: "WeakKeyDictionary[Any, tuple[str, ...]]" = WeakKeyDictionary()


def _within(wrappers: Sequence[Any], env: Any) -> tuple[str, ...]:
    space, tried = wrappers[0].action_space, set()
    if not space.n <= _MOST:
        return ()
    try:
        for seed in range(2):
            around = in_nothing(env, wrappers)
            with chance_apart(seed):
                given = [inward(around, action) for action in range(int(space.start), int(space.start + space.n))]
            tried.add(_called(given, env))
    except Exception:  # whatever their code raises in nothing
        return ()
    return tried.pop() if len(tried) == 1 else ()


def _called(given: list[Any], env: Any) -> tuple[str, ...]:
    """Return what actions of an environment are called, as it names or numbers them."""
    if isinstance(env.action_space, spaces.Discrete):
        names, numbers = names_of(env), [int(each - env.action_space.start) for each in given]
        return tuple(names[number] for number in numbers) if names and min(numbers) >= 0 else ()
    return tuple(" ".join(f"{number:g}" for number in np.round(np.ravel(each), 3) + 0.0) for each in given)


def name_of(start: int, names: tuple[str, ...], action: int) -> str:
    """Return what an action is called, counted from 0: its name, or its number in a space that begins at ``start``."""
    return names[action] if action < len(names) else str(action + start)
