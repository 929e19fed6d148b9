"""What an agent of one's own is shown: a copy of the environment without what its player cannot know."""

import random
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from agents.apart import Streams, apart
from agents.arena.plan import Plan
from agents.bridge.shown import redrawn
from agents.spec import AgentSpec
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.multi import GameAECEnv
from mcts_envs.core.own_code import warn
from mcts_envs.core.players import Player


def made(plan: Plan, spec: AgentSpec) -> Player:
    """Return a new agent of a plan; one of one's own is shown no more than its player may know."""
    if not spec.own:
        return plan.make(spec)
    streams = Streams()
    streams.flow()
    return Guarded(plan.make(spec), plan.make_env, str(spec.source()), streams)


class Guarded:
    """An agent that is shown copies: what it does with them changes no game, and what they hide is drawn anew.

    All chance to come is drawn anew too, so that looking ahead in a copy foresees nothing. An environment of others is
    shown as the bridge copies it, inside all wrappers (:mod:`agents.bridge`); one that cannot be copied is shown as it
    is, and a warning says so.

    Parameters
    ----------
    agent : Player
    make_env : callable
        Makes an environment like the one that is played.
    file : str
        Where it is from.
    streams : Streams
        Its global ones.
    """

    def __init__(self, agent: Player, make_env: Callable[[], Any], file: str, streams: Streams) -> None:
        self.agent = agent
        self._make_env = make_env
        self._file, self._streams = file, streams
        self._twin: Any = None
        self._begun, self._chance = False, random.Random(0)

    def reseed(self, seed: int) -> None:
        """Start the agent's randomness anew, for another episode."""
        self._begun, self._chance = False, random.Random(seed)
        with self.apart():
            self.agent.reseed(seed)

    def act(self, env: Any) -> int:
        """Return the action that the agent chooses when shown a copy."""
        shown = self.look(env)
        with self.apart():
            return self.agent.act(shown)

    def apart(self) -> AbstractContextManager[None]:
        """Return what the agent is asked in: what it sets for the whole process holds for nobody else."""
        self._streams.flow()
        return apart(self._file)

    def look(self, env: Any) -> Any:
        """Return what the agent is shown in place of a live environment."""
        inner: Any = env.unwrapped
        if not isinstance(inner, GameEnv | GameAECEnv):
            return self._copied(env)
        if self._twin is None:
            self._twin = self._make_env()
        if not self._begun:
            self._twin.reset(seed=self._chance.getrandbits(32))
            self._begun = True
        twin: Any = self._twin.unwrapped
        twin.restore_state(inner.clone_state(include_rng=False))
        twin.redraw(self._chance.getrandbits(63))
        return self._twin

    def _copied(self, env: Any) -> Any:
        """Return a copy of an environment of others; the environment itself if it cannot be copied."""
        if getattr(self.agent, "observes", False):
            return env
        try:
            return redrawn(env, self._chance)
        except TypeError as error:
            warn(f"an agent of one's own is shown the live environment: {error}")
            return env
