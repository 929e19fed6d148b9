"""What can be said of a game's kernels before they are compiled: Numba would say it late, and in many lines."""

import math

from mcts_envs.core import errors
from mcts_envs.core.contract import SIGNATURES, Game
from mcts_envs.core.defaults import default_observe
from mcts_envs.core.rng import CHANCE_BYTES


def check_kernels(game: Game) -> None:
    """Check that each kernel was declared with its signature, and takes as many arguments.

    Raises
    ------
    TypeError
        If one was not, or does not. Functions that are no kernels, as those of an interpreted game, are let be.
    """
    own = {name: getattr(game, name) for name in SIGNATURES}
    for name, function in [item for change in (own, *game.variants.values()) for item in change.items()]:
        if name not in SIGNATURES or not hasattr(function, "overloads"):
            continue
        signature = SIGNATURES[name]
        source = function.py_func.__code__
        where = f'File "{source.co_filename}", line {source.co_firstlineno}'
        declared = getattr(function, "declared", None)
        if declared != signature:
            found = "another signature" if declared is not None else "no signature"
            raise TypeError(f"{name} has {found}; decorate it with @kernel({name.upper()})\n  {where}")
        if source.co_argcount != len(signature.args):
            taken = ", ".join(source.co_varnames[: source.co_argcount])
            raise TypeError(
                f"{name}({taken}) takes {source.co_argcount} arguments, and {name.upper()} has "
                f"{len(signature.args)}: {name}{_ARGUMENTS[name]}\n  {where}"
            )


def check_decorated(game: Game) -> None:
    """Check that each kernel was decorated, or none, as in an interpreted game.

    Raises
    ------
    TypeError
        If one was not, or is no function: compiled code could not call it.
    """
    own = {name: getattr(game, name) for name in SIGNATURES}
    compiled = any(hasattr(function, "overloads") for function in own.values())
    for name, function in own.items():
        if not callable(function) or (compiled and not hasattr(function, "overloads")):
            declaration = f"@kernel({name.upper()}) and def {name}{_ARGUMENTS[name]}"
            raise TypeError(f"{name} of {game.name} is {function!r}, no kernel; define it with {declaration}")


def check_functions(game: Game) -> None:
    """Check that what people look at comes of functions.

    Raises
    ------
    TypeError
        If not, as where names of actions are a list.
    """
    for name in ("position", "place", "picture", "text", "where", "action_name"):
        given = getattr(game, name)
        if given is not None and not callable(given):
            cure = ", as its __getitem__" if isinstance(given, (tuple, list, dict)) else ""
            raise TypeError(f"{name} of {game.name} is {given!r}, no function; give one{cure}")


def check_bytes(game: Game) -> None:
    """Check that what a game says of the bytes of its state is there, and that it shows no more of them than there are.

    Raises
    ------
    ValueError
        If not: compiled code would read beyond the state.
    """
    size, layout = game.template.size, game.layout
    if layout is not None and size < layout.itemsize:
        raise ValueError(
            f"the template of {game.name} has {size} bytes, and its layout {layout.itemsize}: make it with "
            "blank(STATE), where STATE is the layout"
        )
    if game.first_field:
        known = () if layout is None else tuple(layout.fields)
        errors.choice(f"first_field of {game.name}, in layout=STATE", game.first_field, known)
    shown, there = math.prod(game.observation_shape), size - CHANCE_BYTES
    if game.observe is default_observe and shown > there:
        raise ValueError(
            f"observation_shape {game.observation_shape} of {game.name} has {shown} numbers, and without an observe of "
            f"its own a game shows the {there} bytes of its state; give one, or leave the shape out"
        )


_ARGUMENTS = {
    "reset": "(state, seed)",
    "active": "(state)",
    "legal": "(state, player, actions)",
    "step": "(state, actions, rewards)",
    "status": "(state, player)",
    "outcome": "(state, points)",
    "key": "(state, observer)",
    "determinize": "(state, observer, seed)",
    "evaluate": "(state, values)",
    "advise": "(state, player, weights)",
    "observe": "(state, player, out)",
}
