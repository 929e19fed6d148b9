"""What may be asked of a session."""

from typing import Any

from mcts_envs.core import errors

COMMANDS: dict[str, tuple[str, ...]] = {
    "choose": ("player", "action", "step"),
    "undo": (),
    "hint": (),
    "new": ("seed",),
    "seat": ("player", "agent"),
    "position": ("position",),
    "open": ("game",),
}
"""What may be asked for, and what has to be said with it."""


def read(asked: Any) -> tuple[str, dict[str, Any]]:
    """Return what is asked for, one of :data:`COMMANDS`, and what is said with it.

    Raises
    ------
    ValueError, TypeError
        If it is no such request.
    """
    if not isinstance(asked, dict) or not isinstance(asked.get("do"), str):
        raise TypeError("a request is a dictionary with 'do'")
    if asked["do"] not in COMMANDS:
        raise ValueError(errors.unknown("request", asked["do"], COMMANDS))
    errors.keys("part of a request", set(asked) - {"do"}, COMMANDS[asked["do"]])
    return asked["do"], {name: value for name, value in asked.items() if name != "do"}
