"""What can be done, by name, and how it is begun. Nothing heavy is imported before it is known what is wanted."""

import errno
import importlib
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
OWN = {"list": "_listing", "info": "_info", "doctor": "_doctor", "completion": "_completion"}
"""Commands that are no scripts, by module."""

ALIASES = {"warm": "compile"}
EXTRAS = {"train": "rl", "train-all": "rl", "expert-iteration": "rl", "tune": "tune", "play": "play"}
"""What a command needs that needs more than ``commands``, said at once where nothing is installed yet."""

FULL = errno.ENOSPC, errno.EDQUOT, errno.EFBIG
"""Errors of a disk that takes no more."""


def scripts() -> list[str]:
    """Return the scripts of this folder by name, as one writes commands: with hyphens."""
    return sorted(file.stem.replace("_", "-") for file in FOLDER.glob("[!_]*.py"))


def module_of(script: str) -> str:
    """Return the module that a script is, by its name."""
    return script.replace("-", "_")


def usage() -> str:
    """Return what there is, a line each."""
    files = {
        name: FOLDER / f"{module}.py"
        for name, module in {**OWN, **{name: module_of(name) for name in scripts()}}.items()
    }
    width = max(map(len, files)) + 2
    lines = [f"  {name:{width}}{_about(file)}" for name, file in files.items()]
    return "\n".join(
        [
            "usage: mcts-envs COMMAND ...    mcts-envs COMMAND --help says what a command takes",
            "",
            *lines,
            "",
            *(f"  {other:{width}}the same as {name}" for other, name in ALIASES.items()),
            f"  {'--version':{width}}the release",
        ]
    )


def _about(file: Path) -> str:
    """Return the first line of a module's docstring, which may go on."""
    with file.open(encoding="utf-8") as source:
        return source.readline().strip().strip('"').partition(": ``")[0].rstrip(".:")


def run(name: str, arguments: Sequence[str]) -> int:
    """Run a command, and return its exit status; a script may end the process itself.

    Raises
    ------
    ValueError
        If there is none of this name.
    """
    if name in OWN:
        status: int = importlib.import_module(OWN[name]).main(list(arguments))
        return status
    script = ALIASES.get(name, name.replace("_", "-"))
    if script not in scripts():
        from mcts_envs.core.errors import unknown

        raise ValueError(f"{unknown('command', name, [*OWN, *scripts(), *ALIASES])}; mcts-envs --help tells of each")
    sys.argv = [f"mcts-envs {name}", *arguments]
    main = importlib.import_module(module_of(script)).main
    from _line import begin  # a script has asked for Typer by now, and its absence been told

    begin(main)
    return 0


def missing(name: str, module: str) -> str:
    """Say that a command needs a module, and what installs it."""
    from _requirements import cure, install

    extra = EXTRAS.get(name.replace("_", "-")) if module == "typer" else None
    return f"{name} needs {module}, which is not installed: {install(extra) if extra else cure(module)}"


def cut_short(error: EOFError) -> str:
    """Say which file of compiled code is not whole, as Python leaves it where a disk was full, and what to do."""
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if file := frame.f_locals.get("bytecode_path"):
            return f"{file} is cut short, as by a disk that was full when Python wrote it; delete it"
    return "".join(traceback.format_exception(error)).rstrip()


def require_folder() -> None:
    """End with a line where the present folder was deleted: some libraries ask for it as they are imported."""
    try:
        os.getcwd()
    except FileNotFoundError:
        print("error: the present folder is not there any more; cd to one that is", file=sys.stderr)
        sys.exit(2)


def _is_closed(error: OSError) -> bool:
    """Return whether an error is that of a pipe that is closed, as when `head` has seen enough."""
    return error.errno == (errno.EINVAL if sys.platform == "win32" else errno.EPIPE)


def main() -> None:
    """Run the command that is named; without one, say what there is."""
    require_folder()
    name, *arguments = sys.argv[1:] or ["--help"]
    status: int | None = None
    try:
        if name in ("--help", "-h", "help"):
            print(usage())
        elif name == "--version":
            from mcts_envs import __version__

            print(f"mcts-envs {__version__}")
        else:
            status = run(name, arguments)
        print(end="", flush=True)  # here, where it is told what cannot be written
    except ModuleNotFoundError as error:
        print(f"error: {missing(name, error.name or '')}", file=sys.stderr)
        sys.exit(2)
    except (EOFError, ValueError) as error:
        print(f"error: {cut_short(error) if isinstance(error, EOFError) else error}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        gone = error.filename is None and _is_closed(error)
        if not gone and error.errno not in FULL:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not gone:
            from mcts_envs.core.errors import room

            print(f"error: {error.strerror}: what is printed cannot be written; {room(error)}", file=sys.stderr)
            sys.exit(2)
    if status is not None:
        sys.exit(status)
