"""What the adapters to the Gymnasium, PettingZoo and batched APIs have in common."""

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from gymnasium import spaces

from mcts_envs.core import errors
from mcts_envs.core.checked import check_bytes
from mcts_envs.core.contract import Game
from mcts_envs.core.rng import MAX_SEED
from mcts_envs.core.typing import Bytes, Floats, Ints

ILLEGAL = ("accept", "raise")
"""What an environment does with an illegal action: the effect that the game documents, or an error."""

_SHOWN = ("observe", "observation_shape", "observation_low", "observation_high", "any_board", "symmetries")


class ActionNames:
    """What actions are called, the same in all APIs."""

    game: Game

    def action_name(self, action: Any) -> str:
        """Return what an action is called.

        Raises
        ------
        TypeError, ValueError
            If it is no action of the game.
        """
        return self.game.action_name(errors.integer("action", action, 0, self.game.actions - 1))

    def action_meanings(self) -> list[str]:
        """Return what the actions are called, in their order [A]."""
        return [self.game.action_name(action) for action in range(self.game.actions)]


class Configured:
    """What an environment was made with, the same in all APIs."""

    _arguments: dict[str, Any]

    @property
    def settings(self) -> dict[str, Any]:
        """What this environment was made with: its own arguments, and the settings of the game that were given.

        A copy, apart from players among the opponents, which the caller may change.
        """
        opponent = self._arguments.get("opponent")
        kept = {id(player): player for player in (opponent if isinstance(opponent, list) else [opponent])}
        return copy.deepcopy(self._arguments, kept)


def configured(make_game: Callable[..., Game], settings: Mapping[str, Any], observation: str) -> Game:
    """Return the game with these settings and this kind of observation; the flat one is a variant of it then.

    A setting ``game`` that is a function from settings to a game takes the others, in place of ``make_game``.

    Raises
    ------
    TypeError
        If there is no such setting, or this makes no game.
    ValueError
        If a setting or the observation is not possible, or it is to show more of a state than there is.
    """
    if callable(own := settings.get("game")):
        make_game, settings = own, {name: value for name, value in settings.items() if name != "game"}
    parameters = defaults(make_game)
    for name in settings:
        if name not in parameters:
            # Python's own words come first: TorchRL's GymEnv looks for them, and leaves out what is not known.
            refused = f"got an unexpected keyword argument {name!r}: "
            none = f"unknown setting {name!r}; this game has none"
            raise TypeError(refused + (errors.unknown("setting", name, parameters) if parameters else none))
    game = make_game(**settings)
    if not isinstance(game, Game):
        raise TypeError(f"game {game!r} is {type(game).__name__}; give a Game, or a function from settings to one")
    check_bytes(game)
    observations = ["flat", *(name for name, change in game.variants.items() if "observe" in change)]
    if isinstance(observation, str) and observation not in observations and parameters.get(observation) is False:
        raise ValueError(f"observation {observation!r} is there with the setting {observation}=True; give it too")
    if errors.choice("observation", observation, observations) == "flat":
        return game
    flat = {name: getattr(game, name) for name in _SHOWN}
    return replace(game, variants={**game.variants, "flat": flat}).variant(observation)


def defaults(make_game: Callable[..., Game]) -> dict[str, Any]:
    """Return the settings of a game with their defaults; ``inspect.Parameter.empty`` for one without."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {p.name: p.default for p in inspect.signature(make_game).parameters.values() if p.kind in named}


def check_illegal(illegal: str) -> bool:
    """Return whether illegal actions raise.

    Raises
    ------
    ValueError
        If this is neither ``"accept"`` nor ``"raise"``.
    """
    return errors.choice("way with illegal actions", illegal, ILLEGAL) == "raise"


def seeds_of(given: Any, n: int) -> list[int | None]:
    """Return a seed for each of n games: those given, or ``s, s + 1, ...`` for one integer.

    Raises
    ------
    TypeError, ValueError
        If they are not integers in range or None, or not n.
    """
    if given is None:
        return [None] * n
    if not np.iterable(given):
        first = errors.integer("seed", given, 0, MAX_SEED - n + 1)
        return list(range(first, first + n))
    seeds = list(given)
    if len(seeds) != n:
        raise ValueError(f"{len(seeds)} seeds for {n} games; give one int, or one seed for each game")
    return [None if seed is None else errors.integer("seed", seed, 0, MAX_SEED) for seed in seeds]


def check_render_mode(render_mode: str | None, modes: list[str]) -> None:
    """Raise ``ValueError`` unless this is None or one of the modes."""
    if render_mode is not None:
        errors.choice("render mode", render_mode, modes)


def observation_space(game: Game, in_bytes: bool = False) -> Any:
    """Return the space of a player's observations."""
    if in_bytes:
        return spaces.Box(0, 255, game.observation_shape, np.uint8)
    return spaces.Box(game.observation_low, game.observation_high, game.observation_shape, np.float32)


def some(actions: Ints) -> str:
    """List a few actions for an error."""
    return ", ".join(map(str, actions[:12])) + (", ..." if len(actions) > 12 else "")


def checked_action(action: Any, game: Game, legal: Ints) -> int:
    """Return an action as an int.

    Raises
    ------
    TypeError
        If it is not an integer.
    ValueError
        If it is out of range.
    """
    if isinstance(action, (bool, np.bool_)):
        raise TypeError(f"action {action!r} is a boolean, not an integer; legal now: {some(legal)}")
    try:
        number = action.__index__()
    except (AttributeError, TypeError):
        whole = isinstance(action, np.ndarray) and action.size == 1 and action.dtype.kind in "iu"
        cure = "give action.item()" if whole else f"legal now: {some(legal)}"
        raise TypeError(f"action {action!r} is {type(action).__name__}, not an integer; {cure}") from None
    if not 0 <= number < game.actions:
        raise ValueError(f"action {number} is outside Discrete({game.actions}); legal now: {some(legal)}")
    return int(number)


def points_at_end(game: Game, state: Bytes, rewards: Floats) -> Floats:
    """Return the points [P] of an ended game; ``rewards`` [P] are those of its last step."""
    points = rewards.copy()
    game.outcome(state, points)
    return points
