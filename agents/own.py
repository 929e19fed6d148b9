"""Agents of one's own, by the file or the module that has their class: ``my_bot.py:Bot``, ``package.module:Bot``."""

import inspect
import operator
import random
from pathlib import Path
from typing import Any

import numpy as np

from agents.base import Agent
from mcts_envs.core import errors
from mcts_envs.core.loading import file_of, load
from mcts_envs.core.view import View


class NoActionError(TypeError):
    """Raised where an agent returns what is no action."""


class OwnAgent(Agent):
    """Plays as an object of a class with ``act(env)`` does.

    ``env`` is the live environment, wrapped as it is played, or a view of it; the action is one of its action space.
    ``reseed(seed)`` of the object, if it has that, starts its randomness anew for an episode. Without it a new object
    is made for each episode, with ``seed=`` if its class takes that, and the global generators of ``random`` and
    ``numpy.random`` are seeded: the same seed gives the same game whatever was played before.

    Parameters
    ----------
    made_by : type
        The class.
    settings : dict
        What it is called with.
    seed : int
    """

    def __init__(self, made_by: type, settings: dict[str, Any], *, seed: int = 0) -> None:
        super().__init__(seed=seed)
        self.name = made_by.__name__
        self._class, self._settings = made_by, settings
        self._own = self._made(seed)

    def act(self, env: Any) -> int:
        """Return the action that the object chooses.

        Raises
        ------
        NoActionError
            If it is not an integer.
        """
        action = self._own.act(env)
        self.last_result = getattr(self._own, "last_result", None)
        try:
            return operator.index(action)
        except TypeError:
            raise NoActionError(f"{self.name}.act returned {action!r}, which is no action: give an integer") from None

    def choose(self, view: View) -> int:
        """Return the action that the object chooses."""
        return self.act(view)

    def reseed(self, seed: int) -> None:
        """Start the object's randomness anew."""
        super().reseed(seed)
        if hasattr(self._own, "reseed"):
            self._own.reseed(seed)
        else:
            self._own = self._made(seed)

    def _made(self, seed: int) -> Any:
        if not hasattr(self._class, "reseed"):
            random.seed(seed)
            np.random.seed(seed % 2**32)  # noqa: NPY002
        return self._class(**seeded(self._class, self._settings, seed))


def make(path: str, seed: int, settings: dict[str, Any]) -> Agent:
    """Return an agent of a class by where it is; see :class:`OwnAgent`.

    Raises
    ------
    ValueError
        If there is no such file, module or class.
    TypeError
        If it is no class with ``act``, or takes no such setting.
    """
    found = class_of(path)
    _check_settings(path, found, settings)
    if issubclass(found, Agent):
        return found(**seeded(found, settings, seed))
    return OwnAgent(found, settings, seed=seed)


def class_of(path: str) -> type:
    """Return the class of an agent by where it is.

    Raises
    ------
    ValueError
        If there is no such file, module or class.
    TypeError
        If it is no class with ``act``.
    """
    source, _, name = path.rpartition(":")
    module = load(source)
    if not hasattr(module, name):
        classes = [key for key, value in vars(module).items() if isinstance(value, type) and _plays(value)]
        raise ValueError(f"{source}: {errors.unknown('class', name, classes)}")
    found = getattr(module, name)
    if not isinstance(found, type) or not callable(getattr(found, "act", None)):
        raise TypeError(f"{path} is no class with a method act(env)")
    return found


def seeded(made_by: type, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return settings with the seed, if a class takes one."""
    known = _parameters(made_by)
    takes_seed = "seed" in known or (issubclass(made_by, Agent) and _takes_any(known))
    return {"seed": seed, **settings} if takes_seed else settings


def source_of(path: str) -> Path | None:
    """Return the file of an agent's class by where it is, None if it cannot be told."""
    return file_of(path.rpartition(":")[0])


def _parameters(made_by: type) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(made_by).parameters)
    except (ValueError, TypeError):
        return {}


def _check_settings(path: str, made_by: type, settings: dict[str, Any]) -> None:
    known = _parameters(made_by)
    if _takes_any(known):
        return
    for name in settings:
        if name not in known:
            raise TypeError(errors.unknown("setting", name, known))


def _plays(kind: type) -> bool:
    return hasattr(kind, "act") and not inspect.isabstract(kind)


def _takes_any(known: dict[str, inspect.Parameter]) -> bool:
    """Say whether there is a ``**settings`` among parameters, which an agent hands on to its base."""
    return any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
