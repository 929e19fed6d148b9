"""Where episodes are played, in whatever process."""

import os
import traceback
from contextlib import AbstractContextManager, chdir, nullcontext
from typing import Any

from gymnasium.wrappers import NormalizeObservation, NormalizeReward

from agents.arena.faults import agents_code, caught
from agents.arena.plan import Plan, played_on
from agents.arena.replays import Moves, as_far_as_it_went, proved
from agents.arena.rows import Match, Played, Transition
from agents.arena.running import clock
from agents.arena.running.asking import Asked
from agents.arena.running.guarded import made
from agents.arena.running.play import play
from agents.own import NoActionError
from agents.spec import AgentSpec
from agents.wrappers import named
from mcts_envs.core.api.env import GameEnv
from mcts_envs.core.api.multi import GameAECEnv
from mcts_envs.core.compiling.early import compile_at_once
from mcts_envs.core.own_code import is_own
from mcts_envs.core.players import Player

_MISTAKES = (ValueError, TypeError, ImportError, OSError)


class Room:
    """Keeps the environment and the agents between episodes.

    Parameters
    ----------
    plan : Plan
    asked : callable, optional
        See :data:`agents.arena.running.asking.Asked`.
    """

    def __init__(self, plan: Plan, asked: Asked = lambda seat: None) -> None:
        self._plan = plan
        self._asked = asked
        self._env: Any = None
        self._agents: dict[tuple[str, int], Player] = {}
        self._home = os.getcwd()
        compile_at_once()

    def _at_home(self) -> AbstractContextManager[None]:
        """Be in the folder from which files are named, wherever an agent has gone."""
        try:
            return nullcontext() if os.getcwd() == self._home else chdir(self._home)
        except OSError:  # there is no way back to where it has gone
            os.chdir(self._home)
            return nullcontext()

    def play(self, job: Match) -> Played:
        """Play a match; what goes wrong is in its row."""
        row, plan, replay = self._plan.blank_row(job), self._plan, ""
        row.played_on, begun = played_on(), clock.seconds()
        transitions: list[Transition] = []
        moves: Moves = []
        with caught(row, plan.teams):
            if self._env is None:
                self._off_the_clock()
                with self._at_home():
                    env = plan.make_env()
                self._env = _stepped(env)
            kept = transitions if plan.record else None
            play(self._env, job, row, self._seated, kept, self._asked, plan.limits, moves)
            self._off_the_clock()
            if plan.keep:
                position = self._env.unwrapped.position()
                row.kept = {name: position[name] for name in plan.keep}
            if plan.replays and row.truncated is None:
                replay = proved(plan, row, moves, self._env)
        if not plan.scored:  # nobody met anybody, whose rewards would say who won
            for played in row.seats:
                played.outcome = None
        row.took = clock.seconds() - begun
        if row.fault is not None or named(self._env, NormalizeObservation, NormalizeReward):
            self._env = None  # statistics of other episodes change what is shown and paid
        if row.fault is not None:
            for seat, spec in enumerate(job.agents):
                self._agents.pop((spec.label, seat), None)
            transitions = []
        if self._plan.replays and (row.fault is not None or row.truncated is not None):
            replay = as_far_as_it_went(plan, row, moves)
        return Played(row, transitions, replay)

    def _off_the_clock(self) -> None:
        """Say that what follows is no move, and no agent's doing."""
        self._asked(-1)
        self._asked(None)

    def refusal(self, spec: AgentSpec) -> str | None:
        """Let an agent make a move, and return what is wrong with how it is called, None if nothing is.

        That is what making an agent complains about, and what ``mcts_envs`` and ``agents`` themselves refuse when it
        moves. Other exceptions are bugs of the agent, which its episodes will tell, and so is what is raised on the way
        through code of one's own, and what it returns.
        """
        with self._at_home():
            env = self._plan.make_env()
        agent: Player | None = None
        try:
            with self._at_home():
                agent = made(self._plan, spec)
            self._plan.first_move(agent, env)
        except _MISTAKES as error:
            return str(error) if agent is None or _is_refusal(error, spec) else None
        except KeyboardInterrupt:
            raise
        except BaseException:
            return None
        return None

    def _seated(self, spec: AgentSpec, seat: int) -> Player:
        """Return the agent of a seat; what it learns in one seat it does not know in another."""
        if (spec.label, seat) not in self._agents:
            with agents_code(), self._at_home():
                agent = made(self._plan, spec)
            self._agents[spec.label, seat] = self._plan.first_move(agent, self._env)
        return self._agents[spec.label, seat]


def _stepped(env: Any) -> Any:
    """Return an environment after everyone's first move, so that its code is loaded before clocks run; others as is."""
    inner = env.unwrapped
    if isinstance(inner, GameEnv):
        env.reset(seed=0)
        env.step(int(inner.action_masks().argmax()))
    elif isinstance(inner, GameAECEnv):
        env.reset(seed=0)
        for _ in inner.possible_agents:
            mask = inner.infos[inner.agent_selection]["action_mask"]
            env.step(int(mask.argmax()) if mask.any() else None)  # the first move may have been the last
    return env


def _is_refusal(error: Exception, spec: AgentSpec) -> bool:
    """Return whether this project raised an exception itself, asked by no code of one's own: that names a mistake."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, NoActionError) or (spec.own and any(is_own(each.f_code.co_filename) for each in frames)):
        return False
    return frames[-1].f_globals.get("__name__", "").partition(".")[0] in ("mcts_envs", "agents")
