"""One episode of one agent: what it did, what it cost, and what went wrong."""

import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from agents.arena.interrupt import Interrupted
from agents.arena.schema import Count, Points, Seconds
from agents.arena.spec import AgentSpec
from mcts_envs.core import errors
from mcts_envs.core.env import GameEnv
from mcts_envs.core.players import Player
from mcts_envs.core.typing import Masks

Transition: TypeAlias = dict[str, Any]
MakeAgent: TypeAlias = Callable[[AgentSpec], Player]
Asked: TypeAlias = Callable[[int], None]

_TRACEBACK_LINES = 12
_MOST_CHARACTERS = 4000
_FINITE = (-sys.float_info.max, sys.float_info.max)
_SOME = np.ones(2, np.int8)
"""Stands for a mask where nobody needs to know what is legal."""


@dataclass
class Episode:
    """What is kept of an episode: one row of the results.

    Attributes
    ----------
    agent : str
        Label of the agent.
    episode : int
        Number of the episode; episodes with the same number have the same seeds for all agents.
    seed, agent_seed : int
        Arguments of ``env.reset(seed=...)`` and ``agent.reseed(...)``.
    outcome : float, optional
        Points in [0, 1]; 0 if the game was cut off from outside. None in environments that are not ours and give none.
    is_success : bool
    episode_return, discounted_return : float
        Sum of rewards; the same, discounted by the game's own discount.
    length : int
        Moves of the agent.
    decisions : int
        Those with more than one legal action. All that follows is about these.
    seconds : float
        Time spent in ``agent.act``.
    simulations, model_steps : int
        What searches did in total; 0 for agents that do not search.
    error : dict, optional
        ``type``, ``message`` and ``traceback`` of the exception that ended the episode. The figures then say how far it
        had come, and are left out of all statistics.
    transitions : list of int, optional
        ``[offset, size]``, in bytes, of the episode in the file of transitions.
    kept : dict, optional
        What the plan wishes to keep of the last position.
    """

    agent: str
    episode: Count
    seed: Count
    agent_seed: Count
    outcome: Points | None = 0.0
    is_success: bool = False
    episode_return: float = 0.0
    discounted_return: float = 0.0
    length: Count = 0
    decisions: Count = 0
    seconds: Seconds = 0.0
    simulations: Count = 0
    model_steps: Count = 0
    error: dict[str, str] | None = None
    transitions: list[Count] | None = None
    kept: dict[str, Any] | None = None

    @property
    def key(self) -> tuple[str, int]:
        """What tells this row from all others."""
        return self.agent, self.episode

    @property
    def name(self) -> str:
        """Who played what, for people."""
        return f"{self.agent}, episode {self.episode}"

    @property
    def where(self) -> dict[str, Any]:
        """What the transitions say of the episode that they belong to."""
        return {"agent": self.agent, "episode": self.episode}


class Costs(Protocol):
    """Whatever adds up what an agent's decisions cost."""

    decisions: int
    seconds: float
    simulations: int
    model_steps: int


def seeds(seed: int, episode: int, seats: int = 1) -> tuple[int, ...]:
    """Return the seeds, 32 bits each, for an episode of a comparison with this seed: the environment's, each seat's."""
    return tuple(map(int, np.random.SeedSequence((seed, episode)).generate_state(1 + seats, np.uint32)))


def own_seed(seed: int, spec: AgentSpec) -> int:
    """Return the seed of an agent in a seat: the seat's, or if the agent is written with a seed, one made of both."""
    own = spec.settings.get("seed")
    return seed if own is None else int(np.random.SeedSequence((seed, own)).generate_state(1, np.uint32)[0])


def play_alone(
    env: Any, agent: Player, row: Episode, transitions: list[Transition] | None = None, asked: Asked = lambda seat: None
) -> None:
    """Play the episode of a row and fill the row in.

    Parameters
    ----------
    env : gymnasium.Env
        An environment around a :class:`mcts_envs.core.env.GameEnv`, or another one in
        :class:`agents.bridge.Remember`.
    agent : Player
    row : Episode
        From :func:`agents.arena.match.blank_row`.
    transitions : list, optional
        Takes a dictionary for each move: ``state``, ``action``, ``reward``, ``next_state``, ``terminated``,
        ``truncated``, with states in the terms of ``position()``.
    asked : callable
        ``asked(0)`` is called before each question to the agent.
    """
    inner: Any = env.unwrapped
    ours = isinstance(inner, GameEnv)
    row.outcome = 0.0 if ours else None
    factor = inner.game.discount if ours else 1.0
    _, info = env.reset(seed=row.seed)
    agent.reseed(row.agent_seed)
    state = inner.position() if transitions is not None else {}
    discount, over = 1.0, False
    while not over:
        asked(0)
        action = ask(env, agent, info["action_mask"] if ours else _SOME, row)
        _, reward, terminated, truncated, info = env.step(action)
        over = terminated or truncated
        row.length += 1
        reward = errors.number("reward", reward, *_FINITE)
        row.episode_return += reward
        row.discounted_return += discount * reward
        discount *= factor
        if transitions is not None:
            after = inner.position()
            move = {"state": state, "action": int(action), "reward": reward, "next_state": after}
            transitions.append({**move, "terminated": terminated, "truncated": truncated})
            state = after
    if ours:
        row.outcome = float(info.get("outcome", 0.0))
    row.is_success = bool(info.get("is_success", False))


def ask(env: Any, agent: Player, mask: Masks, costs: Costs) -> int:
    """Ask an agent for an action; where there is a choice by the mask [A], add up what it costs.

    Nobody is asked in a game that was over before the agent's first move: the next step ends it, whatever it is.
    """
    choices = np.count_nonzero(mask)
    if choices < 2:
        return agent.act(env) if choices else 0
    started = time.perf_counter()
    action = agent.act(env)
    costs.seconds += time.perf_counter() - started
    costs.decisions += 1
    if (result := getattr(agent, "last_result", None)) is not None:
        costs.simulations += int(result.simulations)
        costs.model_steps += int(result.steps)
    return action


@contextmanager
def caught(row: Any) -> Iterator[None]:
    """Write an exception into a row instead of raising it, also one that would end the program.

    Where the person at the keyboard interrupts, it is :class:`agents.arena.interrupt.Interrupted`, and passes.
    """
    try:
        yield
    except Interrupted:
        raise
    except BaseException as error:
        try:
            message = str(error)
        except BaseException as another:
            message = f"(its message raises {type(another).__name__})"
        tail = traceback.format_exc().strip().splitlines()[-_TRACEBACK_LINES:]
        row.error = {"type": type(error).__name__, "message": message[:_MOST_CHARACTERS]}
        row.error["traceback"] = "\n".join(tail)[-_MOST_CHARACTERS:]
