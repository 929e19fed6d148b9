"""Agents of one's own, by the file or the module they are in: ``my_bot.py:Bot``, ``package.module:bot``.

A class has ``act(env)``, or Stable-Baselines3's ``predict(observation)``; a function is ``act(env)`` itself.
"""

import inspect
import operator
import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from agents.apart import apart
from agents.base import Agent, view_of
from agents.reading import read
from mcts_envs.core import errors
from mcts_envs.core.loading import file_of, parted
from mcts_envs.core.view import Episode, View

_NAMED = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


class NoActionError(TypeError):
    """Raised where an agent returns what is no action."""


class OwnAgent(Agent):
    """Plays as an object of a class with ``act(env)`` or ``predict(observation)`` does, or as a function does.

    ``env`` is the environment, wrapped as it is played, or a view of it; the action is one of its action space.
    ``reseed(seed)`` of the object, if it has that, starts its randomness anew for an episode. Else the global
    generators of ``random``, ``numpy.random`` and PyTorch are seeded, and ``reset()`` (``reset(seed=...)`` if it takes
    that) is called; without either a new object is made for each episode, with ``seed=`` if its class takes that. So
    the same seed gives the same game whatever was played before.

    ``predict`` is given what the player observes, and of ``state``, ``episode_start``, ``deterministic`` and
    ``action_masks`` those that it takes; it returns an action, or one and its next ``state``, as in Stable-Baselines3.
    There is one state for each player of each episode; where nothing tells episodes apart, one from ``reseed`` on.

    Parameters
    ----------
    made_by : type or function
        The class; of a function, each call is a move.
    settings : dict
        What it is called with.
    file : str
        Where it is from: what it sets for the whole process holds for what is from there (:mod:`agents.apart`).
    seed : int

    Attributes
    ----------
    observes : bool
        Whether it is given observations alone.
    held_to_mask : bool
        Whether it can tell what is legal, so that something else is a mistake of its own.
    """

    _transient = ("_memory",)
    _memory: WeakKeyDictionary[Any, dict[int, Any]] | None = None

    def __init__(self, made_by: Callable[..., Any], settings: dict[str, Any], file: str = "", *, seed: int = 0) -> None:
        super().__init__(seed=seed)
        self._file = file
        self.name = made_by.__name__
        self._class, self._settings = made_by, settings
        self._own = self._made(seed)
        self.observes = isinstance(made_by, type) and not hasattr(made_by, "act")
        self._takes = _parameters(self._own.predict) if self.observes else {}
        self.held_to_mask = not self.observes or "action_masks" in self._takes

    def act(self, env: Any) -> int:
        """Return the action that it chooses.

        Raises
        ------
        NoActionError
            If it is not an integer, nor an array of one.
        """
        with apart(self._file):
            action = self._predicted(env) if self.observes else self._own.act(env)
        self.last_result = getattr(self._own, "last_result", None)
        try:
            return operator.index(action.item() if isinstance(action, np.ndarray) and action.size == 1 else action)
        except TypeError:
            call = f"{self.name}.predict" if self.observes else f"{self.name}.act"
            call = call if isinstance(self._class, type) else self.name
            raise NoActionError(f"{call} returned {action!r}, which is no action: give an integer") from None

    def choose(self, view: View) -> int:
        """Return the action that it chooses."""
        return self.act(view)

    def reseed(self, seed: int) -> None:
        """Start the object's randomness anew."""
        super().reseed(seed)
        self._memory = None
        with apart(self._file):
            if hasattr(self._own, "reseed"):
                self._own.reseed(seed)
            elif hasattr(self._own, "reset"):
                _seed_all(seed)
                self._own.reset(**({"seed": seed} if "seed" in _parameters(self._own.reset) else {}))
            else:
                self._own = self._made(seed)

    def _predicted(self, env: Any) -> Any:
        """Return the action that ``predict`` says, without its next state."""
        view = view_of(env)
        seen, mask = observed(env, view)
        if self._memory is None:
            self._memory = WeakKeyDictionary()
        states = self._memory.setdefault(_episode(view) or type(self), {})
        given = {"state": states.get(view.player), "episode_start": np.array([view.player not in states])}
        given |= {"deterministic": True, "action_masks": mask}
        said = self._own.predict(seen, **{name: value for name, value in given.items() if name in self._takes})
        said, states[view.player] = said if isinstance(said, tuple) else (said, None)
        return said

    def _made(self, seed: int) -> Any:
        if not hasattr(self._class, "reseed"):
            _seed_all(seed)
        if not isinstance(self._class, type):
            return _Moves(partial(self._class, **self._settings))
        return self._class(**seeded(self._class, self._settings, seed))


class _Moves:
    """An object whose ``act`` is a function."""

    def __init__(self, act: Callable[[Any], Any]) -> None:
        self.act = act


def _episode(view: View) -> Episode | None:
    """Return the token of the episode that a view is of, if it is the same at the next move."""
    live: Any = view.state
    counts = isinstance(live, np.ndarray) or (hasattr(live, "elapsed") and live.elapsed() is not None)
    return view.episode if counts or live.history is not None else None


def observed(env: Any, view: View) -> tuple[Any, Any]:
    """Return what the player to move observes, and which actions are legal, as booleans [A]; all where nobody says.

    Raises
    ------
    ValueError
        If nobody says what is observed.
    """
    state: Any = view.state
    if isinstance(state, np.ndarray):
        return view.observe(), view.action_masks()
    if hasattr(env, "possible_agents"):
        seen = env.observe(env.agent_selection)
    else:
        seen = state.shown if hasattr(state, "shown") else state.seen
        if seen is None:
            raise ValueError(
                f"nothing remembers what {state.game.name} showed last; put agents.remember(env) around all its "
                "wrappers before reset"
            )
    mask = view.action_masks()[: state.game.seats[view.player].actions]
    if mask.all() and isinstance(seen, dict) and "action_mask" in seen:  # outside of what keeps something of the past
        mask = np.asarray(seen["action_mask"], np.bool_)
    return seen, mask


def make(path: str, seed: int, settings: dict[str, Any]) -> Agent:
    """Return an agent of a class or a function by where it is; see :class:`OwnAgent`.

    Raises
    ------
    ValueError
        If there is no such file, module, class or function.
    TypeError
        If it is no class with ``act`` or ``predict`` and no function, or takes no such setting.
    """
    found = class_of(path)
    _check_settings(found, settings)
    file = str(source_of(path))
    with apart(file):
        if isinstance(found, type) and issubclass(found, Agent):
            return found(**seeded(found, settings, seed))
        return OwnAgent(found, settings, file, seed=seed)


def class_of(path: str) -> Callable[..., Any]:
    """Return the class or the function of an agent by where it is.

    Raises
    ------
    ValueError
        If there is no such file, module, class or function.
    TypeError
        If it is no class with ``act`` or ``predict``, and no function of an environment.
    """
    source, _, name = parted(path)
    with apart(str(source_of(path)), read=True):
        module = read(source)
    if not hasattr(module, name):
        source_name = module.__name__
        known = [key for key, value in vars(module).items() if _plays(value) and value.__module__ == source_name]
        if not known:
            raise ValueError(
                f"{source} has no class or function {name!r}, and none that plays; write a class with act(env) or "
                "predict(observation) in it, or a function of an environment"
            )
        raise ValueError(f"{source}: {errors.unknown('class or function', name, known)}")
    found: Callable[..., Any] = getattr(module, name)
    if not _plays(found):
        for call in ("act(env)", "predict(observation)"):
            if not isinstance(found, type) and hasattr(found, call.partition("(")[0]):
                raise TypeError(f"{path} is an object with {call}, and no class; write one, whose {call} asks it")
        raise TypeError(
            f"{path} is no class with a method act(env) or predict(observation), and no function of an environment"
        )
    return found


def seeded(made_by: type, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return settings with the seed, if a class takes one."""
    known = _parameters(made_by)
    takes_seed = "seed" in known or (issubclass(made_by, Agent) and _takes_any(known))
    return {"seed": seed, **settings} if takes_seed else settings


def source_of(path: str) -> Path | None:
    """Return the file of an agent by where it is, None if it cannot be told."""
    source = parted(path)[0]
    script = getattr(sys.modules["__main__"], "__file__", None) if source == "__main__" else None
    return file_of(source) if script is None else Path(script)


def _seed_all(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    if (torch := sys.modules.get("torch")) is not None:
        torch.manual_seed(seed)


def _parameters(called: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(called).parameters)
    except (ValueError, TypeError):
        return {}


def _check_settings(found: Callable[..., Any], settings: dict[str, Any]) -> None:
    known = _parameters(found)
    names = list(known)[not isinstance(found, type) :]  # the first parameter of a function is the environment
    for name in settings:
        if name not in names and not _takes_any(known):
            raise TypeError(errors.unknown("setting", name, names))
    for name in names:
        required = known[name].default is inspect.Parameter.empty and known[name].kind in _NAMED
        if required and name not in ("seed", *settings):
            own = found.__name__
            raise TypeError(f"{own} needs the setting {name!r}; give it, as in {own}:{name}=VALUE")


def _plays(found: Any) -> bool:
    """Say whether this is a class of agents, or a function that may be one."""
    if isinstance(found, type):
        return any(callable(getattr(found, name, None)) for name in ("act", "predict")) and not inspect.isabstract(
            found
        )
    return inspect.isfunction(found) and bool(_parameters(found))


def _takes_any(known: dict[str, inspect.Parameter]) -> bool:
    """Say whether there is a ``**settings`` among parameters, which an agent hands on to its base."""
    return any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
