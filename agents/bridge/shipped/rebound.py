"""The code of an environment, in which some names mean something else."""

from types import FunctionType
from typing import Any


def rebound(function: Any, **names: Any) -> Any:
    """Return a function of the same code that finds these things by names of its module."""
    made = FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__, function.__defaults__)
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def derived(kind: type, **methods: Any) -> type:
    """Return a class that is called as the one that it is derived from, with other methods."""
    named = {name: getattr(kind, name) for name in ("__doc__", "__module__", "__qualname__")}
    return type(kind.__name__, (kind,), {**named, **methods})
