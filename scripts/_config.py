"""Options from a file: what stands there need not be typed, and what is typed goes before it."""

import inspect
import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, get_args

import _own  # noqa: F401
import typer

from mcts_envs.core.errors import unknown

_NOT_HERE = ("config", "help", "list")
_NUMBERS = {int: "an integer", float: "a number"}


def read(context: typer.Context, file: Path | None) -> Path | None:
    """Take the options of a command from a file in YAML, as if they were typed; the callback of ``--config``.

    Raises
    ------
    typer.BadParameter
        If it cannot be read, or a key or a value is none of the command's; it names file and key.
    """
    if file is None:
        return None
    kinds = _kinds(context)
    found = {}
    for key, value in _read(file).items():
        if key not in kinds:
            raise typer.BadParameter(f"{file}: {unknown('key', key, kinds)}")
        name, kind = kinds[key]
        try:
            found[name] = _value(value, kind)
        except ValueError as error:
            raise typer.BadParameter(f"{file}, {key}: {error}; write it as after --{key}") from None
    context.default_map = {**(context.default_map or {}), **found}
    return file


def _kinds(context: typer.Context) -> dict[str, tuple[str, Any]]:
    """Return the names of a command's parameters as functions have them, and their types, by how they are written."""
    command = context.command
    taken = inspect.signature(command.callback).parameters  # type: ignore[arg-type]
    written = {str(p.name): p.opts[-1].lstrip("-") for p in command.params if p.name in taken}
    kinds = {name: get_args(taken[name].annotation)[0] for name in written}
    return {key: (name, kinds[name]) for name, key in written.items() if key not in _NOT_HERE}


def _read(file: Path) -> Mapping[str, Any]:
    import yaml

    try:
        text = file.read_text(encoding="utf-8")
        given, written = yaml.safe_load(text), yaml.compose(text, yaml.SafeLoader)
    except OSError as error:
        raise typer.BadParameter(f"{file} cannot be read ({error.strerror}); write options as lines into it") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise typer.BadParameter(f"{file} is no YAML ({' '.join(str(error).split())})") from None
    if not isinstance(given, dict):
        raise typer.BadParameter(f"{file} holds no keys; write options as lines, such as episodes: 100")
    keys = [key.value for key, _ in written.value]
    for key in given:
        if keys.count(str(key)) > 1:
            raise typer.BadParameter(f"{file} has {key} twice, of which the last alone would count; write it once")
    return {str(key): value for key, value in given.items()}


def _value(value: Any, kind: Any) -> Any:
    """Return a value as it is typed: lists of agents with commas, settings as pairs; checked where it is a number."""
    kinds = {kind, *get_args(kind)}
    several = any(getattr(each, "__origin__", None) is list for each in kinds)
    if isinstance(value, bool) or bool in kinds:
        if bool not in kinds:
            raise ValueError(f"{json.dumps(value)} is no value")
        if not isinstance(value, bool):
            raise ValueError(f"{json.dumps(value)} is neither true nor false")
        return value
    if isinstance(value, dict):
        value = [f"{name}={_written(each)}" for name, each in value.items()]
    if isinstance(value, list):
        texts = [_written(each) for each in value]
        return texts if several else ",".join(texts)
    for number, called in _NUMBERS.items():
        if number in kinds:
            try:
                found = number(value)
                if found == value or not isinstance(value, float):  # half an episode is none
                    return found
            except (TypeError, ValueError, OverflowError):
                pass
            raise ValueError(f"{json.dumps(value, default=str)} is not {called}")
    if value is None:
        raise ValueError("nothing is there")
    return [_written(value)] if several else _written(value)


def _written(value: Any) -> str:
    """Return a value as it is typed."""
    return str(value) if isinstance(value, str | date) else json.dumps(value, default=str)
