"""An agent in its seat: asked for its moves, by the clock, and held to what is legal."""

import math
import operator
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from time import process_time
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from agents.arena.faults import IllegalMoveError, LateError, agents_code
from agents.arena.limits import Limits
from agents.arena.rows import Seat
from agents.arena.running import clock
from agents.arena.running.guarded import Guarded
from mcts_envs.core import errors
from mcts_envs.core.api.adapter import some
from mcts_envs.core.players import Player

Asked: TypeAlias = Callable[[int | None], None]
"""``asked(seat)`` before a question to an agent, ``asked(-1 - seat)`` before it is made ready, ``asked(None)`` then."""

_MOST = 10**12

OVERRUN = 1.2
"""Of an agent's own time limit: what takes longer is noted."""


class Chair:
    """An agent in its seat.

    Parameters
    ----------
    number : int
        The seat.
    seat : Seat
        Takes what moves cost.
    agent : Player
    asked : callable
    limits : Limits
        A move that takes longer than they allow loses the match.
    own_limit : float
        Seconds of a move that the agent's settings allow it.
    """

    def __init__(
        self, number: int, seat: Seat, agent: Player, asked: Asked, limits: Limits, own_limit: float = math.inf
    ) -> None:
        self.seat = seat
        self._number, self._asked = number, asked
        self._look = agent.look if isinstance(agent, Guarded) else None
        self._apart: Callable[[], AbstractContextManager[None]]
        self._apart = agent.apart if isinstance(agent, Guarded) else nullcontext
        self._agent = agent = agent.agent if isinstance(agent, Guarded) else agent
        (self._limit, self._option), self._own_limit = limits.of_a_move, OVERRUN * own_limit
        self._clock: list[float] = []
        self._held = getattr(agent, "held_to_mask", False)

    def ask(self, env: Any, actions: range, mask: npt.NDArray[Any] | None, strict: bool = False) -> int:
        """Return the agent's action; where there is a choice, add up what it costs.

        Nobody is asked in a game that was over before the agent's first move: the next step ends it, whatever it is.

        Parameters
        ----------
        env : environment
        actions : range
            The action space.
        mask : array [A], optional
            Which of them are legal; None where nobody says.
        strict : bool
            Whether an illegal action loses whoever plays it; else it loses those alone who are told what is legal, and
            policies that are not go on with what the game makes of it.

        Raises
        ------
        BaseException
            What the agent raises; :class:`agents.arena.faults.LateError` if its move took too long, and
            :class:`agents.arena.faults.IllegalMoveError` if it may not choose that.
        """
        choices = 2 if mask is None else np.count_nonzero(mask)
        if not choices:
            return actions[0]
        if self._look is not None:
            env = self._look(env)
        self._asked(self._number)
        with agents_code(), self._apart():
            started, used = clock.seconds(), process_time()
            action = self._agent.act(env)
            seconds, cpu = clock.seconds() - started, process_time() - used
            if choices > 1:
                self._note(seconds, cpu)
            if seconds > self._limit:  # and still thinking, for whoever ends this process meanwhile
                raise LateError(f"a move took {seconds:.3g} s, more than {self._limit:g} ({self._option})")
            self._asked(None)
            _check(action, actions, mask if strict or self._held else None)
        return action

    def stand_up(self) -> None:
        """Sum up the clock."""
        if self._clock:
            clock = sorted(self._clock)
            self.seat.p99, self.seat.slowest = clock[math.ceil(0.99 * len(clock)) - 1], clock[-1]

    def _note(self, seconds: float, cpu: float) -> None:
        self._clock.append(seconds)
        seat = self.seat
        seat.seconds += seconds
        seat.cpu += cpu
        seat.decisions += 1
        seat.overruns += seconds > self._own_limit
        if (result := getattr(self._agent, "last_result", None)) is not None:
            seat.simulations += errors.integer("simulations of last_result", int(result.simulations), 0, _MOST)
            seat.model_steps += errors.integer("steps of last_result", int(result.steps), 0, _MOST)


def _check(action: Any, actions: range, mask: npt.NDArray[Any] | None) -> None:
    """Raise unless an action is one of the space, and legal by the mask."""
    try:
        number = operator.index(action)
    except TypeError:
        raise IllegalMoveError(f"{action!r} is no action; give an integer of {_space(actions)}") from None
    if number not in actions:
        raise IllegalMoveError(f"action {number} is none of {_space(actions)}")
    if mask is not None and not mask[number - actions[0]]:
        legal = np.flatnonzero(mask) + actions[0]
        raise IllegalMoveError(f"action {number} is illegal; legal now: {some(legal)}")


def _space(actions: range) -> str:
    return f"{actions[0]} to {actions[-1]}"
