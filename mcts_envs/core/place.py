"""Positions: readable descriptions of a state, written and read."""

from collections.abc import Mapping
from typing import Any

from mcts_envs.core import errors
from mcts_envs.core.contract import Game
from mcts_envs.core.rng import MAX_DICE
from mcts_envs.core.typing import Bytes


def position_of(game: Game, state: Bytes) -> dict[str, Any]:
    """Return a state as a readable dictionary, with ``dice`` where some are forced.

    Raises
    ------
    ValueError
        If the game defines no position.
    """
    if game.position is None:
        raise ValueError(f"{game.name} defines no position; give its Game a position and a place function")
    position = game.position(state)
    if state[8]:
        position["dice"] = [int(die) for die in state[9 : 9 + state[8]]]
    return position


def state_from_position(game: Game, position: Any) -> Bytes:
    """Return a state [size] set up from a position; its random stream is that of seed 0.

    Parameters
    ----------
    position : dict
        In the game's terms; ``dice`` (optional) is a list of up to 23 results, 0 to 255, which chance uses first.

    Raises
    ------
    ValueError, TypeError
        If the position violates the rules, or if the game is already over in it.
    """
    if game.place is None:
        raise ValueError(f"{game.name} defines no position; give its Game a position and a place function")
    if not isinstance(position, Mapping):
        raise TypeError(f"position is {type(position).__name__}, not a dictionary such as position() returns")
    dice = position.get("dice", [])
    if not isinstance(dice, (list, tuple)) or len(dice) > MAX_DICE:
        raise ValueError(f"position['dice'] {dice!r} is not a list of at most {MAX_DICE} results")
    dice = [errors.integer(f"position['dice'][{i}]", die, 0, 255) for i, die in enumerate(dice)]
    state = game.new_state()
    game.reset(state, 0)
    game.place(state, {key: value for key, value in position.items() if key != "dice"})
    if game.active(state) == 0:
        raise ValueError("the game is already over in this position; give one in which somebody is to choose")
    state[8 : 9 + len(dice)] = [len(dice), *dice]
    return state


def start_state(game: Game, options: Mapping[str, Any]) -> Bytes | None:
    """Return the state [size] in which the options of a reset say to start; None: the game's own first state.

    Raises
    ------
    ValueError, TypeError
        If these are no options, one is unknown, and like :func:`state_from_position`.
    """
    if not isinstance(options, Mapping):
        raise TypeError(
            f"options {options!r} is {type(options).__name__}, not a dictionary such as {{'position': ...}}"
        )
    errors.keys("option", options, (), ("position",))
    return state_from_position(game, options["position"]) if "position" in options else None


def copy_except_rng(state: Bytes, source: Bytes) -> None:
    """Copy everything but the random stream (the forced dice too)."""
    state[8:] = source[8:]
