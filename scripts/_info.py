"""All about an environment or an agent: ``mcts-envs info NAME``."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import _own  # noqa: F401
from _listing import AGENTS, GAMES, WIDTH

import agents
from agents.learning.saved.shipped import FOLDER, made_for
from agents.settings import defaults_of, settings_of, written
from mcts_envs.core.api.adapter import defaults
from mcts_envs.core.errors import unknown
from mcts_envs.registry import ENTRIES, Entry, find

_USAGE = """\
usage: mcts-envs info NAME

Tell all about an environment, an agent, or a game of your own (FILE.py:ID). mcts-envs list names what there is."""


def main(arguments: list[str]) -> int:
    """Print what there is to say.

    Raises
    ------
    ValueError
        If the name is not known, or there is none.
    """
    if arguments in (["--help"], ["-h"]):
        print(_USAGE)
        return 0
    if len(arguments) != 1:
        raise ValueError("info takes the name of one environment or agent; mcts-envs list names what there is")
    (name,) = arguments
    if name in agents.names():
        print("\n".join(_agent(name)))
        return 0
    known = [*(id.removeprefix("mcts_envs/") for id in ENTRIES), *agents.names()]
    if ":" not in name and name not in ENTRIES and f"mcts_envs/{name}" not in ENTRIES:
        if near := [other for other in known if name.lower() in other.lower()]:
            raise ValueError(f"unknown environment or agent {name!r}; did you mean {', '.join(near)}?")
        raise ValueError(unknown("environment or agent", name, known))
    print("\n".join(_environment(find(name), name)))
    return 0


def _environment(entry: Entry, called: str) -> Iterator[str]:
    """Yield what an environment is, who plays it, and its page."""
    short = entry.id.removeprefix("mcts_envs/")
    actions, about = GAMES.get(short, ("", ""))
    yield f"{short}: {about}" if about else short
    yield f"players {entry.players}" + (f", actions {actions}" if actions else "")
    if settings := {key: value for key, value in entry.settings.items() if key != "game"}:
        yield f"set to {', '.join(f'{key}={value!r}' for key, value in settings.items())}"
    if entry.presets:
        yield from ("", "agents of the game; those of every environment play it too")
    yield from (
        f"  {name:{WIDTH}}  {AGENTS.get(name) or _called(preset)}".rstrip() for name, preset in entry.presets.items()
    )
    yield from (
        f"  {file.stem:{WIDTH}}  the policy that is shipped, for {_board(file.parent)}" for file in _shipped(short)
    )
    yield from ("", f"  mcts-envs compare {called if ':' in called else short} --agents random,best --episodes 20", "")
    own = entry.settings.get("game")
    if callable(own):
        yield "settings, as in --set KEY=VALUE, and what they are by default"
        yield from (f"  {key}={value!r}" for key, value in defaults(own).items())
        yield ""
    yield inspect.getdoc(own if callable(own) else entry.env_class()) or ""


def _agent(name: str) -> Iterator[str]:
    """Yield what an agent is, with its settings, or what games take it to be."""
    yield f"{name}: {AGENTS[name]}" if name in AGENTS else name
    if name in agents.NAMES:
        yield from ("", f"settings, as in {name}:setting=value, and what they are by default")
        yield from (f"  {setting}={value}" for setting, value in _settings(name))
        yield from ("", inspect.getdoc(type(agents.make(name))) or "")
    brought = {entry.id: entry.game({}).presets[name] for entry in ENTRIES.values() if name in entry.presets}
    lines: dict[str, list[str]] = {}
    for id, preset in brought.items():
        lines.setdefault(_called(preset), []).append(id.removeprefix("mcts_envs/"))
    for call, ids in lines.items():
        yield from ("", f"in {', '.join(ids)}", f"  {call}")


def _settings(name: str) -> Iterator[tuple[str, Any]]:
    """Yield the settings that an agent takes, those of its policies last, with what they are where nobody says."""
    made, above = agents.make(name), agents.make("mcts")
    usual = dict(reversed(defaults_of(type(made))))  # a class says it better than those above it
    for setting in settings_of(type(made)):
        if _takes(name, setting):
            own = isinstance(made, type(above)) and getattr(made, setting, None) != getattr(above, setting, None)
            yield setting, (written(getattr(made, setting)) if own else usual[setting]).strip("'")
    yield from getattr(made, "parameters", {}).items()


def _takes(name: str, setting: str) -> bool:
    """Return whether an agent takes a setting that its class, or one above it, has."""
    try:
        agents.make(name, **{setting: None})
    except (TypeError, ValueError) as error:
        return f"no setting {setting!r}" not in str(error)
    return True


def _called(preset: object) -> str:
    """Return a preset as one writes an agent on the command line."""
    given = dict(preset)  # type: ignore[call-overload]
    given.pop("takes_budget", None)
    return ":".join([str(given.pop("agent")), *(f"{key}={value}" for key, value in given.items())])


def _shipped(short: str) -> list[Path]:
    return [file for file in sorted(FOLDER.glob("*/*.zip")) if made_for(file.parent)[0] == short]


def _board(folder: Path) -> str:
    settings = made_for(folder)[1]
    return ", ".join(f"{key}={value}" for key, value in settings.items()) or "its default settings"
