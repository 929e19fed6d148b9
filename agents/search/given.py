"""What a search is given, read: limits, the budget of a first move, policies by name or as functions."""

from collections.abc import Mapping
from typing import Any

from numba.core.config import DISABLE_JIT

from agents import policies
from agents.budget import LIMITS, Budget, read_budget
from agents.policies.signatures import SIGNATURES, check_form
from agents.reading import read
from mcts_envs.core import errors
from mcts_envs.core.contract import EVALUATE
from mcts_envs.core.kernel import function_table
from mcts_envs.core.loading import parted


def limit(name: str, given: int | None, low: int, high: int) -> int:
    """Return a limit in steps; the greatest that there is for None."""
    return high if given is None else errors.integer(name, given, low, high)


def first_budget(given: Mapping[str, Any]) -> Budget:
    """Return the budget of a game's first search.

    Raises
    ------
    TypeError, ValueError
        If it is no mapping of limits, or has none.
    """
    if not isinstance(given, Mapping):
        raise TypeError(f"first_move {given!r} is {type(given).__name__}; give a mapping such as {{'time_limit': 5.0}}")
    errors.keys("first_move", given, (), LIMITS)
    budget = read_budget(**given)
    if budget is None:
        raise ValueError("first_move has no limit; give simulations, time_limit or max_steps")
    return budget


def policy_of(kind: str, given: Any) -> Any:
    """Return the policy of a kind that is meant: one of :mod:`agents.policies` by its name, or a function.

    A function is given itself, or by where it is: ``FILE.py:NAME`` or ``package.module:NAME``.

    Raises
    ------
    TypeError, ValueError
        If there is none of that name, or the function is not compiled or takes something else.
    """
    known = policies.names(kind)
    if isinstance(given, str) and parted(given)[1]:
        given = named(f"{kind} policy", given)
    elif isinstance(given, str):
        if given not in known:
            raise ValueError(errors.unknown(f"{kind} policy", given, [*known, "FILE.py:NAME"]))
        return policies.load(kind, given)
    if not callable(given):
        names = ", ".join(sorted(known)) or "the game's variants"
        raise TypeError(f"{kind} {given!r} is neither a function nor one of {names}")
    if kind in SIGNATURES:
        _check_compiled(kind, given, given, "policy")
    if kind == "simulate" and not hasattr(given, "needs"):
        raise TypeError(f"simulate {given!r} is not in the loop of a rollout; decorate it with @policy(SIMULATE)")
    if kind in SIGNATURES:
        check_form(kind, given)
    return given


def evaluation_of(given: Any, compiled: bool = False) -> Any:
    """Return what is to value states: a variant of the game by its name, or a function, as it is or by where it is.

    Raises
    ------
    TypeError, ValueError
        If it is neither, or to be compiled and is not, or takes something else.
    """
    if given is None or (isinstance(given, str) and not parted(given)[1]):
        return given
    function = policy_of("evaluate", given)
    if compiled:
        _check_compiled("evaluate", given, function, "kernel")
    function_table({"evaluate": function}, {"evaluate": EVALUATE})
    return function


def _check_compiled(kind: str, given: Any, function: Any, decorator: str) -> None:
    if not (DISABLE_JIT or hasattr(function, "overloads")):
        raise TypeError(f"{kind} {given!r} is not compiled; decorate it with @{decorator}({kind.upper()})")


def named(what: str, path: str) -> Any:
    """Return something of one's own by where it is, ``FILE.py:NAME`` or ``package.module:NAME``.

    Raises
    ------
    ValueError
        If there is nothing of that name.
    """
    source, _, name = parted(path)
    module = read(source)
    if not hasattr(module, name):
        known = [key for key, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
        raise ValueError(f"{source}: {errors.unknown(what, name, known)}")
    return getattr(module, name)
