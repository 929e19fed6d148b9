"""Every environment of this package: one entry for each id.

Registering imports no game; a game and its compiled code are loaded by the first ``make``.
"""

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import gymnasium

from mcts_envs.core.errors import unknown
from mcts_envs.core.loading import load, parted

if TYPE_CHECKING:
    from mcts_envs.core.contract import Game


@dataclass(frozen=True)
class Entry:
    """One environment id.

    Attributes
    ----------
    id : str
    env : str
        ``"module:Class"`` of the Gymnasium environment; the module also has ``ClassVector``, its batched class.
    settings : dict
        Settings of the game, JSON-able.
    players : int
        Games for two and more are registered with PettingZoo too.
    brings : str or mapping
        The named agents that the game brings, or ``"module:function"`` that returns them with its defaults.
    """

    id: str
    env: str
    settings: dict[str, Any] = field(default_factory=dict)
    players: int = 1
    brings: str | Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @cached_property
    def presets(self) -> Mapping[str, Mapping[str, Any]]:
        """Named agents that the game brings (see ``Game.presets``); reading them loads no compiled code."""
        if not isinstance(self.brings, str):
            return self.brings
        module, name = self.brings.split(":")
        found: dict[str, dict[str, Any]] = getattr(importlib.import_module(module), name)()
        return found

    @property
    def vector(self) -> str:
        """``"module:Class"`` of the batched environment."""
        return "mcts_envs.core.api.vector:GameVectorEnv" if self.env == _ANY_GAME else f"{self.env}Vector"

    def env_class(self) -> Any:
        """Load the environment class."""
        module, name = self.env.split(":")
        return getattr(importlib.import_module(module), name)

    def make_game(self) -> "Callable[..., Game]":
        """Return the function from settings to the game."""
        own = self.settings.get("game")
        made: Callable[..., Game] = own if callable(own) else self.env_class().make_game
        return made

    def game(self, settings: Mapping[str, Any]) -> "Game":
        """Return the game with these settings in place of the entry's; others, of the environment, do not count."""
        from mcts_envs.core.api.adapter import defaults

        make_game, given = self.make_game(), {**self.settings, **settings}
        return make_game(**{name: given[name] for name in defaults(make_game) if name in given})


_STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_TAKEN = {"game", "num_envs", "autoreset_mode", "seat", "opponent", "starts", "illegal", "observation"}
_TAKEN |= {"observation_dtype", "action_mask", "render_mode", "threads"}
"""Arguments of environments, which a setting of the same name would never reach."""

_ANY_GAME = "mcts_envs.core.api.env:GameEnv"
_CLASSIC = "mcts_envs.games.lane_defense.spec.classic:LaneDefense"
_ROSTER = "mcts_envs.games.lane_defense.spec.roster:RosterDefense"
_PAPER = "mcts_envs.games.lane_defense.presets:classic"
_LAWN = "mcts_envs.games.lane_defense.presets:roster"
_WALL = "mcts_envs.games.wall_survival.spec:WallSurvival"
_BOMBER = "mcts_envs.games.bomber_grid.spec:Bomber"
_BOMBERS = "mcts_envs.games.bomber_grid.presets:presets"
_TEAM = {"view": 4, "blast_cap": 4}
_SMALL = {"board_size": 8, "n_rigid": 16, "n_wood": 16, "n_items": 10}
_PLANNING = {"n_rigid": 20, "n_wood": 20, "n_items": 10, "flame_life": 5}
_WALL_PLAYERS = "mcts_envs.games.wall_survival.presets:presets"
_FOOTBALL = "mcts_envs.games.football.spec:Football"
_FOOTBALLERS = "mcts_envs.games.football.presets:presets"

ENTRIES = {
    entry.id: entry
    for entry in (
        Entry("mcts_envs/LaneDefense3x3-v0", _CLASSIC, {"rows": 3, "columns": 3}, brings=_PAPER),
        Entry("mcts_envs/LaneDefense10x10-v0", _CLASSIC, {"rows": 10, "columns": 10}, brings=_PAPER),
        Entry("mcts_envs/LaneDefense5x9-v0", _ROSTER, brings=_LAWN),
        Entry("mcts_envs/WallSurvival-v0", _WALL, players=2, brings=_WALL_PLAYERS),
        Entry("mcts_envs/Bomber-v0", _BOMBER, players=4, brings=_BOMBERS),
        Entry("mcts_envs/BomberTeam-v0", _BOMBER, {"mode": "team", **_TEAM}, players=4, brings=_BOMBERS),
        Entry("mcts_envs/BomberRadio-v0", _BOMBER, {"mode": "radio", **_TEAM}, players=4, brings=_BOMBERS),
        Entry("mcts_envs/BomberDuel-v0", _BOMBER, {"mode": "duel", **_SMALL}, players=2, brings=_BOMBERS),
        Entry("mcts_envs/BomberPlanning-v0", _BOMBER, _PLANNING, players=4, brings=_BOMBERS),
        Entry("mcts_envs/Football1-v0", _FOOTBALL, {"size": 1}, players=2, brings=_FOOTBALLERS),
        Entry("mcts_envs/Football3-v0", _FOOTBALL, {"size": 3}, players=2, brings=_FOOTBALLERS),
        Entry("mcts_envs/Football5-v0", _FOOTBALL, {"size": 5}, players=2, brings=_FOOTBALLERS),
        Entry("mcts_envs/Football7-v0", _FOOTBALL, {"size": 7}, players=2, brings=_FOOTBALLERS),
        Entry("mcts_envs/Football11-v0", _FOOTBALL, {"size": 11}, players=2, brings=_FOOTBALLERS),
    )
}


def full_id(id: str) -> str:
    """Return the id by which Gymnasium knows an environment.

    ``"module:ID"`` and ``"path/to/file.py:ID"`` import the module first, which registers it. An id without namespace is
    one of ours where Gymnasium has none of that name.

    Raises
    ------
    TypeError
        If this is no name.
    ValueError
        If the module cannot be imported, or there is a file and no id.
    """
    if not isinstance(id, str):
        raise TypeError(f"id {id!r} is {type(id).__name__}, not a name such as {next(iter(ENTRIES))!r}")
    source, colon, name = parted(id)
    if name.endswith(".py"):
        raise ValueError(f"environment {id!r} is a file without an id; write {id}:ID-v0 for what it registers")
    if colon:
        try:
            load(source)
        except ValueError as error:
            raise ValueError(f"environment {id!r}: {error}") from error
    return name if "/" in name or name in gymnasium.registry else f"mcts_envs/{name}"


def find(id: str) -> Entry:
    """Return the entry of an environment by its id as :func:`full_id` takes it.

    Raises
    ------
    ValueError, TypeError
        If the id is unknown or no name.
    """
    full = full_id(id)
    if full in ENTRIES:
        return ENTRIES[full]
    if full in gymnasium.registry or _of_others(id):
        raise ValueError(
            f"{id} is an environment of others, and this wants a game of ours or of mcts_envs.register; agents.make, "
            "agents.bridge and scripts/compare.py take any, and a policy from Stable-Baselines3's own learn() is "
            "sb3:PATH there"
        )
    raise ValueError(unknown("environment", parted(id)[2], ENTRIES))


def _of_others(id: str) -> bool:
    """Return whether this names an environment of PettingZoo's, or what makes one in a module or a file."""
    source, colon, name = parted(id)
    if colon:
        return callable(getattr(load(source), name, None))
    return id.startswith("pettingzoo.") or any(id in known for known in registered_with_pettingzoo().values())


def register_all() -> None:
    """Register every entry with Gymnasium, and with PettingZoo those for several players."""
    for entry in ENTRIES.values():
        if entry.id not in gymnasium.registry:
            _register(entry)


def register(id: str, game: "Game | Callable[..., Game]") -> None:
    """Register a game of one's own: ``gymnasium.make(id)``, ``pettingzoo.make``, and all that takes an id here.

    Parameters
    ----------
    id : str
        As in Gymnasium: ``"ConnectFour-v0"`` or ``"namespace/ConnectFour-v0"``. One that was registered by this
        function is replaced.
    game : Game or callable
        See :mod:`mcts_envs.core.contract`; or a function from settings, each with a default, to one: with ``def
        pig(goal=100)``, ``gymnasium.make(id, goal=20)`` is a game of ``pig(goal=20)``. Environments that are pickled
        need it at the top level of a module. Presets of the game become names of agents. The environment's ``spec``
        holds the game or the function itself, so it is no JSON.

    Raises
    ------
    TypeError
        If this is no game and makes none without settings, a setting is named like an argument of the environments, a
        kernel has another signature than the contract's, or the id is no name.
    ValueError
        If the id is taken, or no id, or the game shows the bytes of its state, and more than there are.
    """
    first = _first_game(game)
    _check_own_id(id)
    gymnasium.registry.pop(id, None)
    ENTRIES[id] = Entry(id, _ANY_GAME, {"game": game}, first.players, first.presets)
    _register(ENTRIES[id])


def registered_with_pettingzoo() -> dict[str, dict[str, Any]]:
    """Return what PettingZoo has registered, by ``"aec"`` and ``"parallel"``; nothing before 1.27, which began it."""
    import pettingzoo

    kinds = ("aec", "parallel") if hasattr(pettingzoo, "register") else ()
    return {kind: getattr(pettingzoo, f"{kind}_registry") for kind in kinds}


def _first_game(game: Any) -> "Game":
    """Return the game to register, as it is without settings."""
    from mcts_envs.core.checked import check_bytes, check_decorated, check_functions, check_kernels
    from mcts_envs.core.contract import Game

    made = game
    if callable(game):
        parameters = inspect.signature(game).parameters.values()
        if lacking := [p.name for p in parameters if p.default is p.empty and p.kind not in _STARRED]:
            raise TypeError(f"{game!r} needs {', '.join(lacking)}; give each setting a default: def my_game(size=6)")
        if taken := [p.name for p in parameters if p.name in _TAKEN]:
            raise TypeError(f"{game!r} cannot have {', '.join(taken)}: environments take that; rename the setting")
        made = game()
    if not isinstance(made, Game):
        what = "" if made is game else f" made by {game!r}"
        raise TypeError(
            f"game {made!r}{what} is {type(made).__name__}; give a mcts_envs.core.contract.Game, or a function from "
            "settings to one"
        )
    check_decorated(made)
    check_kernels(made)
    check_bytes(made)
    check_functions(made)
    return made


def _check_own_id(id: str) -> None:
    if not isinstance(id, str):
        raise TypeError(f"id {id!r} is {type(id).__name__}, not a name such as 'ConnectFour-v0'")
    try:
        namespace, _, version = gymnasium.envs.registration.parse_env_id(id)
    except gymnasium.error.Error as error:
        raise ValueError(f"id {id!r} is none that Gymnasium takes: {error}") from None
    if version is None:
        raise ValueError(f"id {id!r} has no version; end it with -v0")
    own = namespace == "mcts_envs" or f"mcts_envs/{id}" in ENTRIES
    if own or ":" in id or (id in gymnasium.registry and id not in ENTRIES):
        raise ValueError(f"id {id!r} is taken, or would be read as another; choose one such as 'my/Game-v0'")


def _register(entry: Entry) -> None:
    # Gymnasium's checker looks at the first reset alone: where that is refused, as for a wrong position, it lets no
    # step pass any more. What it checks, the laws of the contract check.
    gymnasium.register(
        entry.id,
        entry_point=entry.env,
        vector_entry_point=entry.vector,
        kwargs=entry.settings,
        disable_env_checker=True,
    )
    if entry.players > 1:
        _register_with_pettingzoo(entry)


def _register_with_pettingzoo(entry: Entry) -> None:
    import pettingzoo

    for kind, registry in registered_with_pettingzoo().items():
        if entry.id not in registry:
            kwargs = {"id": entry.id}
            pettingzoo.register(kind, entry.id, entry_point=f"mcts_envs:make_{kind}", kwargs=kwargs)
