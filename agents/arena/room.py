"""Where episodes are played, in whatever process."""

import traceback
from collections.abc import Callable
from typing import Any

from agents.arena.plan import Plan
from agents.arena.play import caught, play
from agents.arena.replays import Moves, as_far_as_it_went, proved
from agents.arena.rows import Match, Played, Transition, blank_row
from agents.arena.spec import AgentSpec
from mcts_envs.core.players import Player

_MISTAKES = (ValueError, TypeError, ImportError, OSError)


class Room:
    """Keeps the environment and the agents between episodes.

    Parameters
    ----------
    plan : Plan
    asked : callable, optional
        See :func:`agents.arena.play.play`.
    """

    def __init__(self, plan: Plan, asked: Callable[[int], None] = lambda seat: None) -> None:
        self._plan = plan
        self._asked = asked
        self._env: Any = None
        self._agents: dict[tuple[str, int], Player] = {}

    def play(self, job: Match) -> Played:
        """Play a match; what it raises is in its row."""
        row, replay = blank_row(job, self._plan.seed), ""
        transitions: list[Transition] = []
        moves: Moves = []
        with caught(row):
            if self._env is None:
                self._env = self._plan.make_env()
            play(self._env, job, row, self._seated, transitions if self._plan.record else None, self._asked, moves)
            if self._plan.keep:
                position = self._env.unwrapped.position()
                row.kept = {name: position[name] for name in self._plan.keep}
            if self._plan.replays:
                replay = proved(self._plan, row, moves, self._env)
        if row.error is not None:
            self._env = None
            for seat, spec in enumerate(job.agents):
                self._agents.pop((spec.label, seat), None)
            transitions = []
            replay = as_far_as_it_went(self._plan, row, moves) if self._plan.replays else ""
        return Played(row, transitions, replay)

    def refusal(self, spec: AgentSpec) -> str | None:
        """Let an agent make a move, and return what is wrong with how it is called, None if nothing is.

        That is what making an agent complains about, and what ``mcts_envs`` and ``agents`` themselves refuse when it
        moves. Other exceptions are bugs of the agent, which its episodes will tell.
        """
        env = self._plan.make_env()
        agent: Player | None = None
        try:
            agent = self._plan.make(spec)
            self._plan.first_move(agent, env)
        except _MISTAKES as error:
            return str(error) if agent is None or _is_refusal(error) else None
        except KeyboardInterrupt:
            raise
        except BaseException:
            return None
        return None

    def _seated(self, spec: AgentSpec, seat: int) -> Player:
        """Return the agent of a seat; what it learns in one seat it does not know in another."""
        if (spec.label, seat) not in self._agents:
            self._agents[spec.label, seat] = self._plan.first_move(self._plan.make(spec), self._env)
        return self._agents[spec.label, seat]


def _is_refusal(error: Exception) -> bool:
    """Return whether this project raised an exception itself: it names a mistake then."""
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_globals.get("__name__", "").partition(".")[0] in ("mcts_envs", "agents")
