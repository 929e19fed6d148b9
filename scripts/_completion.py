"""What makes a shell complete words: ``mcts-envs completion bash``, ``zsh`` or ``fish`` prints it.

The shell asks ``mcts-envs completion words ...`` for each word; so what lands later is completed too.
"""

import importlib
from collections.abc import Iterable, Sequence

from _commands import ALIASES, OWN, module_of, scripts

_BASH = """\
_mcts_envs() {
    local IFS=$'\\n'
    COMPREPLY=($(mcts-envs completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _mcts_envs mcts-envs"""
SHELLS = {
    "bash": _BASH,
    "zsh": f"autoload -U +X bashcompinit && bashcompinit\n{_BASH}",
    "fish": "complete -c mcts-envs -a '(mcts-envs completion words (commandline -opc)[2..] (commandline -ct))'",
}
_USAGE = """\
usage: mcts-envs completion bash|zsh|fish

Print what makes a shell complete commands, options, environments and agents:
  bash  eval "$(mcts-envs completion bash)"  in ~/.bashrc
  zsh   eval "$(mcts-envs completion zsh)"   in ~/.zshrc, after compinit
  fish  mcts-envs completion fish > ~/.config/fish/completions/mcts-envs.fish"""
_AGENTS = ("--agents", "--against", "--agent", "--opponent")
"""Options that take agents, with commas between them."""


def main(arguments: list[str]) -> int:
    """Print the script of a shell, or, for the shell, the words that may come next."""
    if arguments[:1] == ["words"]:
        print("\n".join(words(arguments[1:])))
        return 0
    if len(arguments) == 1 and arguments[0] in SHELLS:
        print(SHELLS[arguments[0]])
        return 0
    print(_USAGE)
    return 0 if arguments in (["--help"], ["-h"]) else 2


def words(typed: Sequence[str]) -> list[str]:
    """Return what the last of these words may become."""
    *before, last = typed or [""]
    if not before:
        return _starting(last, [*OWN, *scripts(), *ALIASES])
    command = ALIASES.get(before[0], before[0])
    if before[-1] in _AGENTS:
        import agents

        done, comma, begun = last.rpartition(",")
        return [f"{done}{comma}{name}" for name in _starting(begun, agents.names())]
    if last.startswith("-"):
        return _starting(last, _options(command))
    return _starting(last, _names(command)) if len(before) == 1 else []


def _starting(begun: str, known: Iterable[str]) -> list[str]:
    return [name for name in known if name.startswith(begun)]


def _options(command: str) -> list[str]:
    if command not in scripts():
        return ["--help"]
    import typer

    app = typer.Typer(add_completion=False)
    app.command()(importlib.import_module(module_of(command)).main)
    parameters = typer.main.get_command(app).params
    return [*(name for parameter in parameters for name in parameter.opts if name.startswith("--")), "--help"]


def _names(command: str) -> list[str]:
    """Return what a command is told first."""
    if command == "completion":
        return [*SHELLS]
    if command == "reproduce":
        return [*importlib.import_module("reproduce").PAPERS]
    if command == "benchmark":
        return [*importlib.import_module("benchmark").Part]
    if command == "compile":
        return [*importlib.import_module("_packages").packages()]
    if command in ("list", "doctor"):
        return []
    import agents
    from mcts_envs.registry import ENTRIES

    ids = [id.removeprefix("mcts_envs/") for id in ENTRIES]
    return [*ids, *agents.names()] if command == "info" else ids
