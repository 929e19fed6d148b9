"""Errors in the terms of a command line."""

import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import gymnasium
import typer
from _commands import FULL

from mcts_envs.core import errors
from mcts_envs.core.own_code import is_own
from mcts_envs.core.shell import quoted

HOST = "mcts-envs"
"""The command that runs scripts as its own commands."""

_MISTAKES = (ValueError, TypeError, ImportError, OSError, RuntimeError, gymnasium.error.Error)
"""Errors of those who wrote a command. Whatever the environments and agents that it names raise is one too."""

_SCRIPT = re.compile(r"(?:python )?scripts/(\w+)\.py")
_SETTING = re.compile(r"\b(\w+)=(?:'([^']*)'|(True|False|None)\b)")


def said(
    error: Exception, options: Mapping[str, str] = MappingProxyType({}), again: Callable[[], str] | None = None
) -> str:
    """Return what an error says with settings as one writes them here: ``loop=closed``, not ``loop='closed'``.

    Settings that are options of the command are written as these: ``--algo ppo``; other scripts as this one was begun:
    ``mcts-envs train``, not ``scripts/train.py``. Where a disk is full, what to do is added: what ``again`` returns,
    or to give the same command.
    """

    def written(found: re.Match[str]) -> str:
        name, text, word = found.groups()
        value = text if word is None else word.lower() if word != "None" else word
        return f"{options[name]} {value}" if name in options else f"{name}={value}"

    text = _SETTING.sub(written, str(error))
    if isinstance(error, OSError) and error.errno in FULL and errors.room(error) not in text:
        cure = again() if again else f"give {going_on('--fresh' in sys.argv)} again"
        text += f"; {errors.room(error)}, then {cure}"
    return _SCRIPT.sub(lambda found: command(found[1]), text) if _hosted() else text


def refusal(
    error: Exception, options: Mapping[str, str] = MappingProxyType({}), again: Callable[[], str] | None = None
) -> typer.Exit:
    """Print what an error says, as :func:`said` has it, and where in code of one's own; return how a command ends.

    Raises
    ------
    Exception
        The error itself, if it is none of those that a command, or code of one's own, may lead to.
    """
    kind, where = _place(error)
    if not where and not isinstance(error, _MISTAKES):
        raise error
    notes = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
    typer.secho(f"error: {kind}{said(error, options, again)}{where}{notes}", err=True, fg="red")
    return typer.Exit(2)


def _place(error: Exception) -> tuple[str, str]:
    """Return the kind of an error that arose in code of one's own, and the line of that; nothing for others.

    What this package or a library refuses there has a line, but speaks for itself; not so a ``KeyError``.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if is_own(frame.filename)]
    if not own:
        return "", ""
    speaks = own[-1] is not frames[-1] and isinstance(error, _MISTAKES)
    kind = "" if speaks else f"{type(error).__name__}: "
    return kind, f" ({own[-1].filename}, line {own[-1].lineno})"


@contextmanager
def binding(port: int) -> Iterator[None]:
    """Name the port of this machine that cannot be had, and the cure.

    Raises
    ------
    OSError
        If the block raises it.
    """
    try:
        yield
    except OSError as error:
        raise OSError(f"port {port} cannot be had ({error.strerror}); give another --port, or 0 for any") from error


def _hosted() -> bool:
    """Return whether this is a command of :data:`HOST`, as whoever began it wrote."""
    return sys.argv[0].startswith(f"{HOST} ")


def command(name: str | None = None) -> str:
    """Return how this script, or another one by its name, is begun where this one was: as typed, or as a file."""
    if _hosted():
        return f"{HOST} {name.replace('_', '-')}" if name else sys.argv[0]
    return f"python scripts/{name or Path(sys.argv[0]).stem}.py"


def going_on(fresh: bool) -> str:
    """Return which command goes on with what is kept: not one that throws it away."""
    return "the same command without --fresh" if fresh else "the same command"


def typed() -> str:
    """Return the whole line that began this process."""
    return " ".join(map(quoted, [*command().split(), *sys.argv[1:]]))
