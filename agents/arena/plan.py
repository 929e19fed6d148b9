"""What a comparison is: everything that its results depend on."""

import contextlib
import hashlib
import json
import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

import agents
import mcts_envs
from agents.arena import environments
from agents.arena.faults import agents_code
from agents.arena.formats import Format, format_of
from agents.arena.limits import Limits
from agents.arena.lineups import Lineup, Teams
from agents.arena.replays import begun
from agents.arena.rows import Match, Row, blank_row
from agents.learning.saved.network import SUFFIX
from agents.learning.saved.normalizing import chosen
from agents.learning.saved.shipped import shipped_for
from agents.spec import AgentSpec, parse_agent
from mcts_envs.core import errors
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.multi import GameAECEnv
from mcts_envs.core.compiling.sources import closure_digest, source_digest
from mcts_envs.core.contract import Game
from mcts_envs.core.players import Player

MakeAgent: TypeAlias = Callable[[AgentSpec], Player]

Files: TypeAlias = Mapping[str, Mapping[str, str]]

NAMED = ":"
"""Between a setting and the file that it names, in what digests are kept by."""

_SEEDS_TO_TRY = 100
"""An opponent that moves first may end a game before an agent's first move."""

_PACKAGES = ("gymnasium", "pettingzoo", "numpy", "numba", "stable-baselines3", "torch")


def make_agent(spec: AgentSpec) -> Player:
    """Make an agent by ``agents.make``."""
    return agents.make(spec.name, **spec.settings)


@dataclass(frozen=True)
class Plan:
    """Agents that play the same episodes of an environment: alone, or, in games for several, against each other.

    In a game for two every pair of agents plays every start board from both seats. In games for more the agents are one
    line-up if they are as many as the players, and otherwise every group of as many as there are teams is one, each
    agent playing a whole team. A line-up plays every start board in all orders of seats, or, if these are more than
    :data:`agents.arena.lineups.MOST_SEATINGS`, in as many as there are seats, everyone in each seat once.

    With ``cooperative`` each agent plays all seats of a game, and what the players are paid in the mean is compared.
    Settings that say who plays the other seats (``opponent``, ``seat``) make it a game for one.

    Attributes
    ----------
    environment : str
        Any id of Gymnasium with discrete actions; ours with or without ``mcts_envs/``. ``module:ID`` and
        ``path/to/file.py:ID`` import the module that registers it, in worker processes too; ``module:function`` makes
        one. A module of PettingZoo, ``pettingzoo.classic.tictactoe_v3``: whoever has the most rewards wins there.
    agents : tuple of AgentSpec
        Distinct, except that a line-up of as many as the players may have an agent several times.
    settings : dict
        Settings of the environment, JSON-able.
    seed : int
        All randomness comes from it: of the environment, and of the agents.
    budget : dict
        The budget that the agents were read with; for the record.
    record : bool
        Whether transitions are kept.
    make : callable
        ``make(spec) -> agent``; a function of a module when several processes play.
    against : str or tuple of str, optional
        Label of the agent that all others play against, alone or with their team; in games for more than two, of those
        who play in the other teams. By default all play against all.
    keep : tuple of str
        Entries of the last ``position()`` of a game that its row keeps, such as football's ``"score"``.
    limits : Limits
        What ends an episode from outside. Results are not told by it: it may be another one when they are gone on with.
    cooperative : bool
        Whether one agent plays all seats, in a game whose players are paid together, each by its own object, which
        sees what its player does.
    replays : bool
        Whether a replay of each game is kept (:mod:`agents.arena.replays`). Games that were played without stay so.
    """

    environment: str
    agents: tuple[AgentSpec, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    budget: dict[str, Any] = field(default_factory=dict)
    record: bool = False
    make: MakeAgent = make_agent
    against: str | tuple[str, ...] | None = None
    keep: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    replays: bool = False
    cooperative: bool = False

    @property
    def id(self) -> str:
        """Full id of the environment; a module named with it has been imported then."""
        return environments.id_of(self.environment)

    @property
    def opponents(self) -> tuple[str, ...]:
        """Labels of those whom all others play against."""
        return (self.against,) if isinstance(self.against, str) else self.against or ()

    @cached_property
    def teams(self) -> Teams:
        """The seats of each team that agents play for; one seat where an agent plays alone."""
        env = self.make_env()
        apart = tuple((seat,) for seat in range(len(getattr(env, "possible_agents", (None,)))))
        teams = env.game.teams if isinstance(env, GameAECEnv) else apart
        return (tuple(range(len(apart))),) if self.cooperative else teams

    @cached_property
    def discount(self) -> float | None:
        """Of the returns; None for an environment that is not ours."""
        inner = self.make_env().unwrapped
        return float(inner.game.discount) if isinstance(inner, (GameEnv, GameAECEnv)) else None

    @property
    def seats(self) -> int:
        """How many agents play in a match."""
        return sum(map(len, self.teams))

    @property
    def scored(self) -> bool:
        """Whether games are won and lost, as all of ours are, and all where agents meet; else only returns count."""
        return self.discount is not None or self.format.rated

    @property
    def format(self) -> Format:
        """How agents meet, and how what came of it is summed up and shown."""
        return format_of(self.seats, self.cooperative)

    @property
    def lineups(self) -> list[Lineup]:
        """Who meets, as the format says."""
        return self.format.lineups(self)

    def make_env(self) -> Any:
        """Make the environment: a Gymnasium one, or an AEC one where agents meet.

        Raises
        ------
        ValueError, TypeError
            Like :func:`agents.arena.environments.make`.
        """
        return environments.make(self.environment, self.settings)

    def check(self) -> None:
        """Check all but whether each agent can play, which :meth:`agents.arena.running.runner.Crew.check` does.

        Raises
        ------
        ValueError, TypeError, ImportError, OSError
            If there is no agent, or one twice, or too few for the game, or one without the budget; a field has another
            type; or the environment cannot be made.
        """
        errors.text("environment", self.environment, "LaneDefense3x3-v0")
        errors.integer("seed", self.seed, 0, 2**63 - 1)
        for name in ("record", "replays", "cooperative"):
            errors.flag(name, getattr(self, name))
        errors.able("make", self.make, "a function that makes an agent of an AgentSpec")
        if not errors.is_list(self.keep):
            raise TypeError(f"keep {self.keep!r} is {type(self.keep).__name__}; give a tuple of names, as ('score',)")
        if not errors.is_list(self.agents):  # a set has no order, and an iterator is read once
            written = self.agents if isinstance(self.agents, str) else "random,my_bot.py:Bot"
            raise TypeError(f"agents {self.agents!r} are {type(self.agents).__name__}; give parse_agents({written!r})")
        for name, kind in (("settings", Mapping), ("budget", Mapping), ("limits", Limits)):
            if not isinstance(given := getattr(self, name), kind):
                cure = "Limits(move=5.0), in seconds" if kind is Limits else "a dictionary such as {'board_size': 4}"
                raise TypeError(f"{name} {given!r} is {type(given).__name__}; give {cure}")
        for spec in self.agents:
            if not isinstance(spec, AgentSpec):
                kind = type(spec).__name__
                raise TypeError(f"agent {spec!r} is {kind}, no AgentSpec; give parse_agents('random,my_bot.py:Bot')")
            if self.budget and spec.lacks_budget:
                cure = f"give it as these are read: parse_agents({spec.label!r}, {self.budget!r})"
                raise ValueError(f"budget {self.budget!r} is for the record, and {spec.label!r} has none; {cure}")
        environments.read_again(self.environment)
        env = self.make_env()
        self.format.check(self)
        env.reset(seed=0)
        if self.replays:
            begun(self)
        if self.record or self.keep:
            if self.discount is None or env.unwrapped.game.position is None:
                raise ValueError(f"{self.id} has no position() to record or keep; leave that out")
            position = env.unwrapped.position()
            errors.keys("keep", dict.fromkeys(self.keep), (), position)

    @staticmethod
    def first_move(agent: Player, env: Any) -> Player:
        """Return an agent after a move in an environment, so that it is loaded and compiled."""
        with agents_code():
            agent.reseed(0)
        for seed in range(_SEEDS_TO_TRY):
            env.reset(seed=seed)
            if not isinstance(env.unwrapped, GameEnv | GameAECEnv) or env.unwrapped.action_masks().any():
                with agents_code():
                    agent.act(env)
                break
        return agent

    def blank_row(self, match: Match) -> Row:
        """Return the row of a match that has not begun; compiled environments of others take 31 bits as a seed."""
        return blank_row(match, self.seed, 32 if self.discount is not None else 31)

    def board(self, lineup: Lineup, episode: int) -> list[Match]:
        """Return all matches of a line-up on a start board."""
        return self.format.board(self, lineup, episode)

    def jobs(self, episodes: int) -> list[Match]:
        """Return all there is to play, board by board, so that what is unfinished can be compared too."""
        return self.format.jobs(self, episodes)

    def configuration(self) -> dict[str, Any]:
        """Return, as it is written to JSON, what must be equal for episodes to belong to the same results.

        Raises
        ------
        TypeError
            If a setting cannot be written to JSON.
        """
        played = self._digests()
        configuration = {
            "environment": self.id,
            "settings": self.settings,
            "agents": {spec.label: {"name": spec.name, "settings": spec.settings} for spec in self.agents},
            "files": played["files"],
            "seed": self.seed,
            "budget": self.budget,
            "record": self.record,
            "version": mcts_envs.__version__,
            "code": played["code"],
        }
        if self.keep:
            configuration["keep"] = self.keep
        configuration |= self.format.configuration(self)
        found: dict[str, Any] = json.loads(json.dumps(configuration, default=_plain))
        return found

    def unwritten(self, configuration: Mapping[str, Any]) -> dict[str, Any]:
        """Return a configuration without those files that settings name and that have changed since it was made.

        Such as a log that an agent has written to in its first move: results do not depend on it.
        """
        files = configuration["files"]
        if all(NAMED not in name for digests in files.values() for name in digests):
            return dict(configuration)
        now = self._digests()["files"]

        def stays(label: str, name: str) -> bool:
            return NAMED not in name or _digest_in(now, label, name) == files[label][name]

        return {**configuration, "files": files_where(files, stays)}

    def changed_since(self, configuration: Mapping[str, Any]) -> list[str]:
        """Return which files, and whether the code here, are no longer what a configuration of this plan says."""
        now, before = self._digests(), configuration
        code = [] if now["code"] == before["code"] else ["the code of mcts_envs or agents"]
        changed = {
            name: None
            for label, digests in before["files"].items()
            for name, digest in digests.items()
            if _digest_in(now["files"], label, name) != digest
        }
        return [*sorted(changed), *code]

    def _digests(self) -> dict[str, Any]:
        """Hash what is played by: files of agents by label, that of the environment, and the code here."""
        game = getattr(self.make_env().unwrapped, "game", None)
        files = {spec.label: digests for spec in self.agents if (digests := _digests(spec, game))}
        files |= _digests_of_environment(self.environment, self.settings, game)
        code = "-".join(source_digest(Path(str(p.__file__)).parent)[:16] for p in (mcts_envs, agents))
        return {"files": files, "code": code}


def files_where(files: Files, kept: Callable[[str, str], bool]) -> Files:
    """Return those digests of files, by label and name, of which ``kept(label, name)`` is true."""
    found = {label: {n: digest for n, digest in names.items() if kept(label, n)} for label, names in files.items()}
    return {label: names for label, names in found.items() if names}


def _digest_in(files: Files, label: str, name: str) -> str | None:
    return files.get(label, {}).get(name)


def _digests(spec: AgentSpec, game: Game | None) -> dict[str, str]:
    """Hash the files of an agent: of its class, or of its policy and its normalisation, and of search policies."""
    own = {f"{kind}={file.name}": closure_digest(file)[:16] for kind, file in spec.policies().items()}
    return own | _digests_of_agent(spec, game)


def _digests_of_environment(name: str, settings: Mapping[str, Any], game: Game | None) -> dict[str, dict[str, str]]:
    """Hash the files of an environment, those that its settings name, and those of who plays inside it."""
    inside = settings.get("opponent")
    found = {name: environments.digests_of(name) | _digests_of_settings(settings)}
    for opponent in inside if isinstance(inside, (list, tuple)) else [inside]:
        if isinstance(opponent, str):
            found[f"opponent={opponent}"] = _digests(parse_agent(opponent.removeprefix("agents:")), game)
    return {label: digests for label, digests in found.items() if digests}


def _digests_of_settings(settings: Mapping[str, Any]) -> dict[str, str]:
    """Hash the files that settings name, such as a policy that an agent of one's own loads, with or without .zip."""
    texts = {name: str(value) for name, value in settings.items() if isinstance(value, (str, Path))}
    files = {name: next(filter(os.path.isfile, (text, f"{text}.zip")), None) for name, text in texts.items()}
    return {f"{name}{NAMED}{Path(file).name}": _digest(Path(file)) for name, file in files.items() if file is not None}


def _digests_of_agent(spec: AgentSpec, game: Game | None) -> dict[str, str]:
    if (source := spec.source()) is not None:
        own = {source.name: closure_digest(source)[:16]} if source.is_file() else {}
        return own | _digests_of_settings(spec.settings)
    if spec.name.startswith("__main__:"):
        file, bot = "my_bot.py", spec.name.partition(":")[2]
        raise ValueError(
            f"agent {spec.name!r} is in no file, by which results would know whether it was edited: write it to one, "
            f"in a notebook by %%writefile {file}, and give {file}:{bot}"
        )
    try:
        name = str(spec.settings.get("policy", spec.name))
        policy = spec.policy() or (shipped_for(game, name) if isinstance(game, Game) else None)
    except ValueError:
        return {}
    if policy is None:
        return {}
    beside = () if policy.suffix == SUFFIX else (policy.with_suffix(".json"),)
    files = [file for file in (policy, *beside) if file.is_file()]
    with contextlib.suppress(FileNotFoundError):
        files += filter(None, [chosen(policy, spec.settings.get("normalization"))])
    return {file.name: _digest(file) for file in files}


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()[:16]


def _plain(value: Any) -> Any:
    """Return the plain form of a setting that JSON does not know."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(
        f"setting {value!r} is {type(value).__name__}, which results cannot keep; settings are numbers, texts, lists "
        "and dictionaries, and what else an agent needs belongs into the plan's make function"
    )


def circumstances() -> dict[str, Any]:
    """Return versions of what is installed, and the machine: for the record alone."""
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    machine = {"host": platform.node(), "system": platform.platform(), "cores": os.cpu_count()}
    return {"python": platform.python_version(), "versions": versions, **machine}


@cache
def played_on() -> str:
    """Return the same in a line, for each row: results of several machines may lie in one file."""
    found = circumstances()
    releases = ", ".join(f"{package} {release}" for package, release in found["versions"].items())
    where = f"{found['host']}, {found['system']}, {found['cores']} cores"
    return f"{where}; mcts-envs {mcts_envs.__version__}, python {found['python']}, {releases}"
