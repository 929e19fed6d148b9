"""What a comparison is: everything that its results depend on."""

import os
import platform
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

import gymnasium

import agents
import mcts_envs
from agents.arena.episode import Job, MakeAgent
from agents.arena.spec import AgentSpec
from mcts_envs.core import errors
from mcts_envs.core.env import GameEnv
from mcts_envs.core.players import Player

_MISTAKES = (ValueError, TypeError, ImportError, FileNotFoundError)
_PACKAGES = ("gymnasium", "numpy", "numba", "stable-baselines3", "torch")


def make_agent(spec: AgentSpec) -> Player:
    """Make an agent by ``agents.make``."""
    return agents.make(spec.name, **spec.settings)


@dataclass(frozen=True)
class Plan:
    """Agents that play the same episodes of an environment.

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
    """

    environment: str
    agents: tuple[AgentSpec, ...]
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    budget: dict[str, Any] = field(default_factory=dict)
    record: bool = False
    make: MakeAgent = make_agent

    @property
    def id(self) -> str:
        """Full id of the environment."""
        name = self.environment
        return name if "/" in name or name in gymnasium.registry else f"mcts_envs/{name}"

    def make_env(self) -> Any:
        """Make the environment.

        Raises
        ------
        ValueError
            If there is no such environment, or a setting is out of its bounds.
        TypeError
            If there is no such setting, or the environment is no game of the contract.
        """
        if self.id not in gymnasium.registry and ":" not in self.id:
            raise ValueError(errors.unknown("environment", self.environment, mcts_envs.environment_ids()))
        env = gymnasium.make(self.id, disable_env_checker=True, **self.settings)
        if not isinstance(env.unwrapped, GameEnv):
            raise TypeError(f"{self.id} is {type(env.unwrapped).__name__}; agents play games of mcts_envs.core alone")
        return env

    def check(self) -> None:
        """Let every agent make a move, so that mistakes are found before anything is played.

        Raises
        ------
        ValueError, TypeError, ImportError, OSError
            If the environment or an agent cannot be made, or an agent cannot play in the environment.
        """
        errors.integer("seed", self.seed, 0, 2**63 - 1)
        env = self.make_env()
        for spec in self.agents:
            env.reset(seed=0)
            if self.record:
                env.unwrapped.position()
            try:
                self.first_move(spec, env)
            except _MISTAKES as error:
                raise type(error)(f"agent {spec.label!r}: {error}") from error
            except Exception:
                continue  # A bug of the agent: its episodes will tell.

    def first_move(self, spec: AgentSpec, env: Any) -> Player:
        """Return an agent that has made a move in an environment, so that it is loaded and compiled."""
        agent = self.make(spec)
        env.reset(seed=0)
        agent.reseed(0)
        agent.act(env)
        return agent

    def jobs(self, episodes: int) -> list[Job]:
        """Return all there is to play, episode by episode, so that unfinished results are paired too."""
        return [Job(spec, episode) for episode in range(episodes) for spec in self.agents]

    def configuration(self) -> dict[str, Any]:
        """Return, JSON-able, what must be equal for episodes to belong to the same results."""
        return {
            "environment": self.id,
            "settings": self.settings,
            "agents": {spec.label: {"name": spec.name, "settings": spec.settings} for spec in self.agents},
            "files": {spec.label: digest for spec in self.agents if (digest := spec.digest())},
            "seed": self.seed,
            "budget": self.budget,
            "record": self.record,
            "version": mcts_envs.__version__,
        }


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
