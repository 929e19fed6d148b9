"""Agents and budgets as people write them: on a command line, or as an opponent."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents import own, takes_budget
from mcts_envs.core import errors
from mcts_envs.core.loading import COLON, file_of, parted

_SETTING = re.compile(r"\s*[A-Za-z_]\w*\s*=")
_POLICIES = "select", "simulate", "backup", "noise", "option", "recommend", "evaluate", "policy"
_OWN_POLICY = re.compile(rf"\s*({'|'.join(_POLICIES)})\s*=.*")
_LABEL = re.compile(r"([\w.-]+)=(.*)")
_SPACED = re.compile(r"[^=/\\]*\s[^=/\\]*(?==)")
_LAST_COLON = re.compile(r":(?=[^\s:,{}\[\]]*[,}]|[{\[])")
_WORDS = {"True": True, "False": False, "None": None}
_BUDGETS = {"simulations": "simulations", "time": "time_limit", "steps": "max_steps"}


@dataclass(frozen=True)
class AgentSpec:
    """An agent to be made by ``agents.make(name, **settings)``.

    Attributes
    ----------
    label : str
        How it was written, or the name that it was given; names it in tables and results.
    name : str
    settings : dict
        JSON-able. ``seed`` tells streams of randomness apart: the same agent with another seed is another player.
    """

    label: str
    name: str
    settings: dict[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        errors.text("label", self.label, "mine")
        errors.text("name", self.name, "mcts")
        _check_mapping("settings", self.settings, "{'simulations': 500}")

    @property
    def own(self) -> bool:
        """Whether the name points to a class or a function of one's own."""
        return bool(parted(self.name)[1]) and not self.name.startswith("sb3:")

    @property
    def lacks_budget(self) -> bool:
        """Whether it takes a budget, and has none of its own."""
        return takes_budget(self.name) and not self.settings.keys() & set(_BUDGETS.values())

    def source(self) -> Path | None:
        """Return the file of the class that the name points to, None if it points to none."""
        return own.source_of(self.name) if self.own else None

    def policies(self) -> dict[str, Path]:
        """Return the files of policies of one's own (``mcts:select=FILE.py:NAME``), by the setting."""
        own_ones = {kind: str(self.settings.get(kind, "")) for kind in _POLICIES}
        files = {kind: file_of(parted(path)[0]) for kind, path in own_ones.items() if parted(path)[1]}
        return {kind: file for kind, file in files.items() if file is not None and file.is_file()}

    def policy(self) -> Path | None:
        """Return the file of the policy that plays (``sb3:PATH``) or is consulted (``mcts:policy=PATH``), if any."""
        kind, _, rest = self.name.partition(":")
        path = Path(os.path.expanduser(rest if kind == "sb3" else str(self.settings.get("policy") or "")))
        files = (path, path.with_name(f"{path.name}.zip")) if path.name else ()
        return next((file for file in files if file.is_file()), None)


def _check_mapping(name: str, given: Any, such: str) -> None:
    if not isinstance(given, Mapping):
        raise TypeError(f"{name} {given!r} is {type(given).__name__}, not a dictionary such as {such}")


def parse_value(text: str) -> Any:
    """Read the value of a setting: JSON (or Python's True, False, None) where possible, else the text itself.

    Words in braces and brackets may lack their quotation marks, which the shells of Windows take away:
    ``{self: 2, scripted: 1}``.
    """
    if text in _WORDS:
        return _WORDS[text]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return _unquoted(text) if text[:1] in ("{", "[") else text


def _unquoted(text: str) -> Any:
    """Read JSON whose words have no quotation marks, as YAML has it; else return the text itself."""
    try:
        import yaml
    except ImportError:  # of an extra: opponents are named without
        return text
    if text[0] == "{" and ": " not in text:  # as JSON may be written, of which YAML would read {"self:2": null}
        text = _LAST_COLON.sub(": ", text)
    try:
        return json.loads(json.dumps(yaml.safe_load(text)))
    except (yaml.YAMLError, TypeError, ValueError):
        return text


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Read ``["key=value", ...]``.

    Raises
    ------
    ValueError, TypeError
        If one is not of this form, or a key comes twice, or this is no list.
    """
    if not errors.is_list(pairs):
        raise TypeError(f"settings {pairs!r} are {type(pairs).__name__}, not a list of texts such as ['board_size=4']")
    result: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = map(str.strip, errors.text("setting", pair, "board_size=4").partition("="))
        if not equals or not key.isidentifier():
            raise ValueError(f"setting {pair!r} is not of the form key=value")
        if key in result:
            raise ValueError(f"setting {key!r} is given twice: {result[key]!r} and {text!r}")
        result[key] = parse_value(text)
    return result


def parse_budget(text: str | None) -> dict[str, Any]:
    """Read a budget for each move, ``simulations=1000``, ``time=0.1`` (seconds) or ``steps=20000`` (of the model).

    Returns
    -------
    dict
        Settings of agents: ``simulations``, ``time_limit``, ``max_steps``. Several budgets, separated by commas, hold
        together.

    Raises
    ------
    ValueError, TypeError
        If there is no such budget, or its value is not a positive number.
    """
    pairs = _split(errors.text("budget", text, "simulations=1000"), ",") if text not in (None, "") else []
    if bare := [pair for pair in pairs if "=" not in pair]:
        amounts = "write simulations=1000, time=0.1 (seconds) or steps=20000 (of the model)"
        raise ValueError(f"budget {bare[0]!r} does not say of what; {amounts}")
    given = parse_settings(pairs)
    for name in given:
        if name not in _BUDGETS:
            raise ValueError(errors.unknown("budget", name, _BUDGETS))
    bounded = {
        name: errors.number("budget time in seconds", given[name], 1e-6, 1e6)
        if name == "time"
        else errors.integer(f"budget {name}", given[name], 1, 10**12)
        for name in given
    }
    return {_BUDGETS[name]: limit for name, limit in bounded.items()}


def parse_part(text: str | None) -> tuple[int, int]:
    """Read which part of a comparison is played: ``2/4`` is the second of four, None all of it.

    Raises
    ------
    ValueError, TypeError
        If it is none, or no text.
    """
    found = re.fullmatch(r"(\d+)/(\d+)", errors.text("part", text or "1/1", "2/4"))
    number, parts = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= number <= parts:
        raise ValueError(f"part {text!r} is none; write 2/4 for the second of four")
    return number, parts


def parse_agent(text: str, limits: Mapping[str, Any] | None = None) -> AgentSpec:
    """Read an agent: ``mcts``, ``mcts:simulations=500:c=1.4``, ``sb3:PATH:deterministic=false``, ``mine=mcts:c=0.5``.

    A search policy of one's own is named by its file: ``mcts:select=my_policy.py:bold``.

    Parameters
    ----------
    text : str
        A name, then settings, separated by colons; before all, ``label=`` if it is to be called otherwise.
    limits : mapping, optional
        A budget from :func:`parse_budget` for agents that take one; an agent with one of its own keeps to that alone.

    Raises
    ------
    ValueError, TypeError
        If there is no name, the label has spaces, a setting is malformed, or this is no text, or ``limits`` no mapping.
    """
    errors.text("agent", text, "mcts:simulations=500")
    if limits is not None:
        _check_mapping("limits", limits, "parse_budget('simulations=1000')")
    label, parts = text.strip(), _parts(text.strip())
    if given := _LABEL.fullmatch(parts[0]):
        label, parts[0] = given.groups()
    elif spaced := _SPACED.match(parts[0]):
        fitting = re.sub(r"[^\w.-]+", "_", spaced[0].strip()) + text.strip()[spaced.end() :]
        raise ValueError(f"agent {text!r}: a label has letters, digits, _ . and - alone; write {fitting}")
    count, least = len(parts), 2 if parts[0] == "sb3" else 1  # a path may look like a setting: sb3:lr=0.1/a.zip
    while count > least and _SETTING.match(parts[count - 1]):
        count -= 1
    name = ":".join(parts[:count]).strip()
    if not name or name[0].isdigit() or _SETTING.match(name):
        raise ValueError(f"agent {text!r} has no name; write for example mcts:simulations=500")
    own = parse_settings(parts[count:])
    spec = AgentSpec(label, name, own)
    return AgentSpec(label, name, {**limits, **own}) if limits and spec.lacks_budget else spec


def parse_agents(text: str, limits: Mapping[str, Any] | None = None) -> tuple[AgentSpec, ...]:
    """Read several agents, separated by commas.

    Raises
    ------
    ValueError, TypeError
        If one is malformed, or comes twice, or this is no text.
    """
    specs = _several(text, limits)
    require_distinct(specs)
    return specs


def parse_meeting(
    text: str, against: str | None, limits: Mapping[str, Any] | None = None
) -> tuple[tuple[AgentSpec, ...], str | tuple[str, ...] | None]:
    """Read agents and the one, or those, that they play against, who need not be among them.

    Returns
    -------
    agents : tuple of AgentSpec
        All of them; those that come twice too, since games for more than two take them.
    against : str or tuple of str, optional
        Label of that one, or labels of those.

    Raises
    ------
    ValueError
        If one is malformed.
    """
    specs = _several(text, limits)
    if against is None:
        return specs, None
    named = {spec.label: spec for spec in specs}
    opponents = [named.get(spec.label, spec) for spec in _several(against, limits)]
    if not opponents:
        raise ValueError(f"against {against!r} names no agent; write for example mcts")
    labels = tuple(spec.label for spec in opponents)
    others = tuple(spec for spec in dict.fromkeys(opponents) if spec not in specs)
    return (*specs, *others), labels if len(labels) > 1 else labels[0]


def _several(text: str, limits: Mapping[str, Any] | None) -> tuple[AgentSpec, ...]:
    """Read agents, separated by commas."""
    if not isinstance(text, str):
        raise TypeError(f"agents {text!r} are {type(text).__name__}, not text such as 'random,mcts:simulations=500'")
    return tuple(parse_agent(part, limits) for part in _split(text, ",") if part.strip())


def require_distinct(specs: Sequence[AgentSpec]) -> None:
    """Check that there are agents, and that their labels tell them apart.

    Raises
    ------
    ValueError
        If not.
    """
    if not specs:
        raise ValueError("no agent to compare; write for example random,mcts")
    labels = [spec.label for spec in specs]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"agent {label!r} is there twice; give each agent once")


def _parts(text: str) -> list[str]:
    """Split an agent at its colons, but for that in ``select=FILE.py:NAME`` or ``select=MODULE:NAME``."""
    parts: list[str] = []
    for part in _split(text, ":"):
        if len(parts) > 1 and _OWN_POLICY.fullmatch(parts[-1]) and not _SETTING.match(part):
            parts[-1] += f":{part}"
        else:
            parts.append(part)
    return parts


def _split(text: str, separator: str) -> list[str]:
    """Split a text where the separator is not inside brackets or braces, nor the colon of a drive."""
    parts, depth = [""], 0
    for at, character in enumerate(text):
        depth += (character in "[{(") - (character in "]})")
        if character == separator and depth <= 0 and (character != ":" or COLON.match(text, at)):
            parts.append("")
        else:
            parts[-1] += character
    return parts
