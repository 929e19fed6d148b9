"""The two players that need nothing but a game, random and scripted, and how any opponent is named.

A player is an object with ``act(view) -> action`` and ``reseed(number)``. Agents are players too, so an opponent may be
given as an object, or as an entry point that is resolved late: ``"agents:mcts"``, or ``"my_module:MyBot"``, where MyBot
is a class whose objects are players, or a player. Nothing else is called: a function does not say beforehand whether it
makes players, so ``"os:abort"`` would abort. A player that has ``check_seat(game, at_once)``, as agents have, is asked
where it is named whether it can play: it raises an error if not.
"""

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numba import types

from mcts_envs.core import errors
from mcts_envs.core.compiling.early import called_on, tables_at_hand
from mcts_envs.core.compiling.table import TABLE, advise_of, legal_of
from mcts_envs.core.contract import BYTES, FLOATS, INTS, Game
from mcts_envs.core.kernel import kernel
from mcts_envs.core.rng import below, choose_among, new_stream, reseed
from mcts_envs.core.typing import Bytes, Floats, Ints
from mcts_envs.core.view import View

PLAY = types.int64(TABLE, BYTES, types.int64, INTS, FLOATS, BYTES)
"""Signature of a built-in player: (game, state, player, actions[A], weights[A], stream) -> action."""


@kernel(PLAY)
def play_random(game: Any, state: Bytes, player: int, actions: Ints, weights: Floats, stream: Bytes) -> int:
    """Choose uniformly among the legal actions."""
    count = legal_of(game)(state, player, actions)
    return int(actions[below(stream, count)])


@kernel(PLAY)
def play_scripted(game: Any, state: Bytes, player: int, actions: Ints, weights: Floats, stream: Bytes) -> int:
    """Choose among the legal actions in proportion to the game's ``advise``."""
    count = legal_of(game)(state, player, actions)
    advise_of(game)(state, player, weights)
    return choose_among(stream, weights, actions, count)


BUILT_IN: dict[str, Callable[..., int]] = {"random": play_random, "scripted": play_scripted}
"""Players that the core knows by itself."""


class Player(Protocol):
    """Whoever chooses actions."""

    def act(self, env: Any) -> int:
        """Return an action for the player whose view or environment this is."""

    def reseed(self, seed: int) -> None:
        """Start the player's randomness anew."""


def scripted_players(game: Game) -> dict[str, str | None]:
    """Return the variant that each scripted player of a game follows, by name; None: the game itself."""
    presets = game.presets.items()
    return {"scripted": None, **{name: p.get("model") for name, p in presets if p["agent"] == "scripted"}}


def random_model(game: Game) -> str | None:
    """Return the variant of a game in which its random player is uniform (preset ``random``); None: the game itself."""
    model = game.presets.get("random", {}).get("model")
    return None if model is None else str(model)


class BuiltIn:
    """A player made of one kernel: ``random`` or ``scripted``, in the game or in a variant of it."""

    def __init__(self, name: str, seed: int = 0, model: str | None = None) -> None:
        self.name, self._model = name, model
        self._seen: tuple[Game, Game] | None = None
        self._play = BUILT_IN[name]
        self._stream = new_stream(seed)

    def reseed(self, seed: int) -> None:
        """Start the player's stream anew."""
        reseed(self._stream, seed)

    def act(self, env: Any) -> int:
        """Return an action for the player whose view or environment this is."""
        view: View = env.unwrapped.view()
        if self._seen is None or self._seen[0] is not view.game:
            self._seen = view.game, view.game.variant(self._model) if self._model else view.game
        game = self._seen[1]
        actions, weights = np.empty(game.actions, np.int64), np.empty(game.actions)
        (table,) = tables_at_hand(game)
        play = called_on(table, self._play)
        return int(play(table, view.state, view.player, actions, weights, self._stream))


def player(
    given: Any, scripted: Mapping[str, str | None] = MappingProxyType({"scripted": None}), random: str | None = None
) -> Player:
    """Return the player that an ``opponent`` argument names.

    Parameters
    ----------
    given : str or Player
        ``"random"``, the name of a scripted player, an entry point, or a player. Of entry points ``"agents:mcts"``
        asks ``agents.make("mcts")``, ``"agents:mcts:simulations=50"`` gives it settings, ``"sb3:PATH"`` is a saved
        policy, and ``"module:Name"`` names a class, which is called without arguments, or a player; a function that
        makes players is not called: pass what it returns.
    scripted : dict
        As :func:`scripted_players` returns it.
    random : str, optional
        As :func:`random_model` returns it.

    Raises
    ------
    ValueError
        If a name is unknown or its module cannot be imported.
    TypeError
        If it is neither a name nor a player, or an entry point leads to something else than a player or a class of
        players.
    """
    if isinstance(given, str):
        if given == "random":
            return BuiltIn(given, model=random)
        if given in scripted:
            return BuiltIn("scripted", model=scripted[given])
        if given.startswith("sb3:"):
            return _entry_point("agents", given)
        module, colon, name = given.partition(":")
        if not colon:
            known = ["random", *scripted, "agents:NAME", "sb3:PATH", "module:Name"]
            meant = f"agents:{given}" if given in _planners() else errors.saved(given)
            raise ValueError(errors.unknown("opponent", given, known, meant))
        return _entry_point(module, name)
    if isinstance(given, type) and _plays(given):
        raise TypeError(f"opponent {given!r} is a class; give an object of it, such as {given.__name__}()")
    if not _plays(given):
        cure = errors.unsaved(given) or "; opponent='agents:my_bot.py:Bot' takes a class or function of a file as it is"
        raise TypeError(f"opponent {given!r} is no player: it needs act(view) and reseed(seed){cure}")
    found: Player = given
    return found


def seated(player: Any, game: Game, *, at_once: bool = False) -> Any:
    """Return a player, after asking it whether it can play a game, or many games of it at once."""
    if hasattr(player, "check_seat"):
        player.check_seat(game, at_once)
    return player


def _plays(given: Any) -> bool:
    """Say whether this has the methods of a player, or is a class whose objects have."""
    return all(callable(getattr(given, name, None)) for name in ("act", "reseed"))


def _planners() -> list[str]:
    """Return the names of the agents of the package beside this one, if it is there."""
    try:
        package = importlib.import_module("agents")
        errors.require_own_agents(package)
    except ImportError:
        return []
    names: list[str] = package.names()
    return names


def _entry_point(module: str, name: str) -> Player:
    try:
        loaded = importlib.import_module(module)
    except ImportError as error:
        cure = f"; write agents:{module}:{name}" if module.endswith(".py") else ""
        raise ValueError(f"opponent {module}:{name}: cannot import {module} ({error}){cure}") from error
    if module == "agents":
        errors.require_own_agents(loaded)
        described = importlib.import_module("agents.spec").parse_agent(name)
        made: Player = loaded.make(described.name, **described.settings)
        return made
    if not hasattr(loaded, name):
        raise ValueError(f"opponent {module}:{name}: {module} has no {name}")
    given = getattr(loaded, name)
    if not _plays(given):
        raise TypeError(
            f"opponent {module}:{name} is {given!r}, neither a player nor a class of players: those have act(view) and "
            "reseed(seed); a function is not called: pass the player that it returns"
        )
    found: Player = given() if isinstance(given, type) else given
    return found
