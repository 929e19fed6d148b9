"""A network that anything may run: the search waits for it, and what several searches ask is answered together."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import RLock
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from agents.evaluator.bound import Bound
from agents.evaluator.consult import QUESTIONS, TRAIL, take_in
from agents.evaluator.memory import ROOM
from agents.evaluator.table import TableEvaluator
from mcts_envs.core.api.quantized import as_bytes
from mcts_envs.core.contract import Game
from mcts_envs.core.typing import Floats, Singles

_ROOM, _ANSWERS, _TRAIL = 256, 4096, 16_384
AHEAD = 4
"""Simulations that one tree begins before it waits."""


class Consulted(Protocol):
    """What is asked of a policy: see :class:`agents.learning.saved.policy.Policy`."""

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """Shape of its observations."""

    @property
    def in_bytes(self) -> bool:
        """Whether it was trained on observations in bytes."""

    def consulted(self, observations: Any, masks: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Return the probability of each action [n, A], and what observations are worth [n]."""


def consult(
    policy: Consulted, game: Game, observations: Singles, masks: npt.NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Return the probability of each action [n, A] and the values [n] that a policy says of observations of a game.

    Raises
    ------
    ValueError
        If they are not finite.
    """
    shown = observations.reshape(len(observations), *policy.observation_shape)
    prior, values = policy.consulted(as_bytes(game, shown) if policy.in_bytes else shown, masks)
    if not (np.isfinite(values).all() and np.isfinite(prior).all()):
        raise ValueError("the policy says what is not finite: its training has diverged; take an earlier checkpoint")
    return prior, values


class _Answered(Bound):
    """A kernel that asks; called from Python, it is answered at once, unless its owner only notes questions."""

    def __call__(self, *args: Any) -> Any:
        """Call the kernel until it has all answers."""
        self._owner.told(partial(super().__call__, *args))


class BatchedEvaluator(TableEvaluator):
    """A policy that is asked for many states at once, while the searches that need them wait.

    A simulation that needs what is not known yet notes the question and is dropped; once :meth:`answer` has asked the
    policy it is made again with the same chance, and so is what it would have been. Trees are those of a search that
    asks a compiled network, but for rounding.

    Parameters
    ----------
    policy : Policy
    game : Game
        As for :class:`agents.evaluator.table.TableEvaluator`.

    Attributes
    ----------
    questions, batches : int
        How many were answered, and in how many batches.
    lock : lock
        To be held while compiled code may ask: searches in several threads note their questions in one place.
    """

    name = "batched"
    _bound = _Answered

    def __init__(self, policy: Consulted, game: Game) -> None:
        if game.actions > ROOM // 2:
            raise ValueError(f"{game.name} has {game.actions} actions, and a search with a policy room for {ROOM // 2}")
        self._policy, self._game, self._next, self.lock = policy, game, 0, RLock()
        self.questions = self.batches = 0
        self._noting = False
        inputs = int(np.prod(game.observation_shape))
        self._keys, self._answered = np.zeros(_ROOM, np.uint64), np.zeros(_ANSWERS, np.uint64)
        self._observations, self._masks = np.zeros((_ROOM, inputs), np.float32), np.zeros((_ROOM, game.actions), bool)
        self._answers = np.zeros((_ANSWERS, 2 * (1 + game.actions // 2)), np.float32)
        asked = (self._keys, self._observations, self._masks)
        known = (self._answered, self._answers)
        places = (*(array.ctypes.data for array in asked), _ANSWERS, *(array.ctypes.data for array in known))
        self._trail = np.zeros(_TRAIL, TRAIL)
        noted = AHEAD, 0, _TRAIL, self._trail.ctypes.data
        self._asked = np.array([(0, 0, _ROOM, *places, *noted)], QUESTIONS)
        self.waits = int(self._asked.ctypes.data)
        super().__init__(game, questions=self.waits, unit=1.0)

    @property
    def ahead(self) -> int:
        """Simulations that a tree begins before it waits (:mod:`agents.search.speculation`)."""
        return int(self._asked["ahead"][0])

    @ahead.setter
    def ahead(self, simulations: int) -> None:
        self._asked["ahead"] = simulations

    @contextmanager
    def noting(self) -> Iterator[None]:
        """While it is open, calls from Python note what they ask, and say nothing, so that all is answered at once."""
        with self.lock:
            self._noting = True
            try:
                yield
            finally:
                self._noting = False

    def told(self, call: Callable[[], None]) -> None:
        """Call a kernel until it has all answers; what others have asked waits on where it lacks none."""
        with self.lock:
            while self._lacks(call) and not self._noting:
                self.answer()

    def _lacks(self, call: Callable[[], None]) -> bool:
        self._asked["missed"] = 0
        call()
        lacks = bool(self._asked["missed"][0])
        self._asked["missed"] = 0
        return lacks

    def answer(self) -> bool:
        """Ask the policy what was asked since the last time; return whether that was anything."""
        with self.lock:
            return self._answer()

    def _answer(self) -> bool:
        n = int(self._asked["count"][0])
        self._asked["count"] = self._asked["missed"] = 0
        if n == 0:
            return False
        masks = self._masks[:n]
        prior, values = consult(self._policy, self._game, self._observations[:n], masks)
        places = (self._next + np.arange(n)) % _ANSWERS
        self._answered[places] = 0  # an interrupt between these lines leaves no key beside another's answer
        self._answers[places] = 0.0
        self._answers[places, 0] = values
        self._answers[places, 1 : 1 + prior.shape[1]] = np.where(masks, prior, 0.0)
        self._answered[places] = self._keys[:n]
        take_in(self._address, self._next, n)
        self._next = (self._next + n) % _ANSWERS
        self.questions, self.batches = self.questions + n, self.batches + 1
        return True

    def forget(self) -> None:
        """Empty the table: the network, or the game, has changed."""
        super().forget()
        self._answered[:] = 0
