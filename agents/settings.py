"""What settings a class of agents takes, and how they are written."""

import functools
import inspect
from pathlib import PurePath
from typing import Any


def written(value: Any) -> str:
    """Return a setting as one writes it: functions by name, files as text."""
    if isinstance(value, PurePath):
        return repr(str(value))
    return str(value.__name__) if hasattr(value, "__name__") else repr(value)


@functools.lru_cache(100)
def settings_of(kind: type) -> tuple[str, ...]:
    """Return the names of the settings of a class of agents, those that its bases take included, each once."""
    return tuple(dict.fromkeys(parameter.name for parameter in _settings(kind)))


def defaults_of(kind: type) -> list[tuple[str, str]]:
    """Return the settings of a class and those above it with their defaults, as they are written."""
    return [(parameter.name, written(parameter.default)) for parameter in _settings(kind)]


def _settings(kind: type) -> list[inspect.Parameter]:
    named: list[inspect.Parameter] = []
    for init in (vars(each)["__init__"] for each in kind.__mro__[:-1] if "__init__" in vars(each)):
        own = list(inspect.signature(init).parameters.values())[1:]
        named += [each for each in own if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)]
        if not any(each.kind is each.VAR_KEYWORD for each in own):
            break  # it hands nothing on to the class above
    return [each for each in named if each.name != "default"]  # which a planner tells its base class
