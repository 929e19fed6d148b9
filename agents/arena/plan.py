"""What a comparison is: everything that its results depend on."""

import hashlib
import json
import os
import platform
import traceback
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

import agents
import mcts_envs
from agents.arena.episode import MakeAgent
from agents.arena.match import Match, groups, schedule
from agents.arena.spec import AgentSpec, require_distinct
from agents.learning.shipped import shipped_for
from mcts_envs.core import errors
from mcts_envs.core.contract import Game
from mcts_envs.core.env import GameEnv
from mcts_envs.core.kernel import source_digest
from mcts_envs.core.multi import GameAECEnv
from mcts_envs.core.players import Player

_MISTAKES = (ValueError, TypeError, ImportError, FileNotFoundError)
_ONE_SEAT = ("opponent", "seat")
_PACKAGES = ("gymnasium", "numpy", "numba", "stable-baselines3", "torch")


def make_agent(spec: AgentSpec) -> Player:
    """Make an agent by ``agents.make``."""
    return agents.make(spec.name, **spec.settings)


@dataclass(frozen=True)
class Plan:
    """Agents that play the same episodes of an environment: alone, or, in games for two, against each other.

    In a game for two every pair of agents plays every start board from both seats. Settings that say who plays the
    other seats (``opponent``, ``seat``) make it a game for one.

    Attributes
    ----------
    environment : str
        Id, with or without ``mcts_envs/``.
    agents : tuple of AgentSpec
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
    against : str, optional
        Label of the agent that all others play against; by default all play against all.
    """

    environment: str
    agents: tuple[AgentSpec, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    budget: dict[str, Any] = field(default_factory=dict)
    record: bool = False
    make: MakeAgent = make_agent
    against: str | None = None

    @property
    def id(self) -> str:
        """Full id of the environment."""
        name = self.environment
        return name if "/" in name or name in gymnasium.registry else f"mcts_envs/{name}"

    @cached_property
    def seats(self) -> int:
        """How many agents meet in a match."""
        env = self.make_env()
        return len(env.possible_agents) if isinstance(env, GameAECEnv) else 1

    @property
    def groups(self) -> list[tuple[AgentSpec, ...]]:
        """Who meets: each agent alone, or pairs."""
        return groups(self.agents, self.seats, self.against)

    def make_env(self) -> Any:
        """Make the environment: its Gymnasium face, where agents meet its AEC face.

        Raises
        ------
        ValueError
            If there is no such environment, a setting is out of its bounds, or the game is for more than two.
        TypeError
            If there is no such setting, or the environment is no game of the contract.
        """
        if self.id not in gymnasium.registry and ":" not in self.id:
            raise ValueError(errors.unknown("environment", self.environment, mcts_envs.environment_ids()))
        env = gymnasium.make(self.id, disable_env_checker=True, **self.settings)
        if not isinstance(env.unwrapped, GameEnv):
            raise TypeError(f"{self.id} is {type(env.unwrapped).__name__}; agents play games of mcts_envs.core alone")
        players = env.unwrapped.game.players
        if players == 1 or not self.settings.keys().isdisjoint(_ONE_SEAT):
            return env
        if players > 2:
            raise ValueError(
                f"{self.id} is a game for {players}; agents are compared in games for one and for two. Say who plays "
                "the other seats, for example with the setting opponent=random, to compare agents in one of them"
            )
        spec: Any = env.spec
        return GameAECEnv(type(env.unwrapped), **spec.kwargs)

    def check(self) -> None:
        """Let every agent make a move, so that mistakes are found before anything is played.

        Mistakes are what making an agent complains about, and what ``mcts_envs`` and ``agents`` themselves refuse when
        it moves. Other exceptions are bugs of the agent, which its episodes will tell.

        Raises
        ------
        ValueError, TypeError, ImportError, OSError
            If there is no agent or one twice, or one alone in a game for two, or the environment cannot be made;
            ValueError if an agent cannot be made, or cannot play in the environment.
        """
        errors.integer("seed", self.seed, 0, 2**63 - 1)
        require_distinct(self.agents)
        env = self.make_env()
        self._check_seats()
        env.reset(seed=0)
        if self.record:
            env.unwrapped.position()
        for spec in self.agents:
            agent: Player | None = None
            try:
                agent = self.make(spec)
                self.first_move(agent, env)
            except _MISTAKES as error:
                if agent is None or _is_refusal(error):
                    raise ValueError(f"agent {spec.label!r}: {error}") from error
            except Exception:
                continue

    @staticmethod
    def first_move(agent: Player, env: Any) -> Player:
        """Return an agent after a move in an environment, so that it is loaded and compiled."""
        env.reset(seed=0)
        agent.reseed(0)
        agent.act(env)
        return agent

    def _check_seats(self) -> None:
        """Check that there is somebody to meet."""
        labels = [spec.label for spec in self.agents]
        if self.seats == 1:
            if self.against is not None:
                raise ValueError(f"against {self.against!r}: agents meet no other in {self.id} as it is set up here")
            return
        if self.against is not None and self.against not in labels:
            raise ValueError(errors.unknown("against", self.against, labels))
        if len(labels) < self.seats:
            raise ValueError(
                f"{labels[0]!r} is alone in a game for {self.seats}; give another agent to play against, or the "
                "setting opponent=NAME for a player of the environment"
            )

    def jobs(self, episodes: int) -> list[Match]:
        """Return all there is to play, episode by episode."""
        return schedule(self.groups, episodes)

    def configuration(self) -> dict[str, Any]:
        """Return, as it is written to JSON, what must be equal for episodes to belong to the same results.

        Raises
        ------
        TypeError
            If a setting cannot be written to JSON.
        """
        game = self.make_env().unwrapped.game
        configuration = {
            "environment": self.id,
            "settings": self.settings,
            "agents": {spec.label: {"name": spec.name, "settings": spec.settings} for spec in self.agents},
            "files": {spec.label: digests for spec in self.agents if (digests := _digests(spec, game))},
            "seed": self.seed,
            "budget": self.budget,
            "record": self.record,
            "version": mcts_envs.__version__,
            "code": "-".join(source_digest(Path(str(p.__file__)).parent)[:16] for p in (mcts_envs, agents)),
        }
        if self.seats > 1:
            configuration["matches"] = {"seats": self.seats, "against": self.against}
        found: dict[str, Any] = json.loads(json.dumps(configuration, default=_plain))
        return found


def _is_refusal(error: Exception) -> bool:
    """Return whether this project raised an exception itself: it names a mistake then."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_globals.get("__name__", "").partition(".")[0] in ("mcts_envs", "agents")


def _digests(spec: AgentSpec, game: Game) -> dict[str, str]:
    """Hash the files of an agent's policy, given by path or shipped for the game; none if it has no policy."""
    try:
        policy = spec.policy() or shipped_for(game, spec.name)
    except ValueError:
        return {}
    files = [file for file in (policy, policy.with_suffix(".json")) if file.is_file()]
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:16] for file in files}


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
    machine = {"system": platform.platform(), "cores": os.cpu_count()}
    return {"python": platform.python_version(), "versions": versions, **machine}
