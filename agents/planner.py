"""What planners have in common: a budget, the only legal move, and what they keep of a game."""

import math
from abc import abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from agents.base import Agent, check_turn, view_of
from agents.budget import Budget, Clock, read_budget
from agents.search.patience import hurry, warn_if_late
from mcts_envs.core.contract import Game
from mcts_envs.core.view import Episode, View

_DEFAULT = Budget(simulations=1000)

_FORESIGHT = 0.05
"""Share of a move's time in which the outcomes of the action are looked at, so that they are known again."""


class Planned(Protocol):
    """What a planner returns: at least the action to play. :class:`agents.results.Found` can show itself besides."""

    @property
    def action(self) -> int:
        """A legal action."""


Result = TypeVar("Result", bound=Planned)


class Planner(Agent, Generic[Result]):
    """Base of agents that search for as long as their budget allows.

    A planner of your own defines :meth:`plan`; ``examples/one_ply.py`` is a whole one. It looks at the game by
    ``view.game`` (:class:`mcts_envs.core.contract.Game`), in copies of ``view.state``, each redrawn by
    ``game.determinize(state, view.player, draw(self.stream))`` so that it knows no more than its player does. For each
    slice of ``clock`` it does so many simulations and says how many steps of the model they took::

        def plan(self, view, clock):
            while count := clock.slice():
                steps = search(view.game.table, view.state, count, ..., self.stream)  # compiled code, say
                clock.spend(count, steps)
            return Result(action=..., simulations=clock.simulations, steps=clock.steps, seconds=clock.seconds)

    It has from here: the budget and the limits of time, interrupts between slices, a search only where there is a
    choice, ``search(env)`` and ``last_result``, what it remembers of an episode (:meth:`memory`) and what it makes once
    for a game (:meth:`prepare`); and, from :class:`agents.base.Agent`, ``act``, ``predict``, copies and pickles, in
    which what it remembers and has prepared stays behind.

    Parameters
    ----------
    simulations : int, optional
        Budget in simulations. The tightest budget ends a search.
    time_limit : float, optional
        Budget in seconds, from the call on; what the first search of a game compiles and loads is not in it.
    max_steps : int, optional
        Budget in steps of the model.
    default : Budget
        The budget when none is given.
    seed : int

    Raises
    ------
    ValueError, TypeError
        If a limit is no number, or not positive.
    """

    takes_budget = True
    _transient: tuple[str, ...] = ("_memory", "_loaded")
    _memory: "WeakKeyDictionary[Episode, dict[int, dict[str, Any]]] | None" = None
    _loaded: frozenset[str] = frozenset()

    def __init__(
        self,
        *,
        simulations: int | None = None,
        time_limit: float | None = None,
        max_steps: int | None = None,
        default: Budget = _DEFAULT,
        seed: int = 0,
    ) -> None:
        super().__init__(seed=seed)
        self.budget = read_budget(simulations, time_limit, max_steps) or default

    @property
    def recognizes(self) -> bool:
        """Whether what it keeps of an episode is found again by what is observed."""
        return False

    @abstractmethod
    def plan(self, view: View, clock: Clock) -> Result:
        """Return what a search from this view, which is left as it is, finds while the clock gives it slices."""

    def budget_for(self, view: View) -> Budget:
        """Return the budget of a search from this view."""
        return self.budget

    def choose(self, view: View) -> int:
        """Return the only legal action, or the one that a search finds."""
        legal = view.legal_actions()
        if len(legal) > 1:
            self.last_result = self.search(view)
            return int(self.last_result.action)
        self.last_result = None
        if memory := self.memory(view):
            _asked(view, memory)
        self._foresee(view, legal[0])
        return int(legal[0])

    def search(self, env: Any) -> Result:
        """Search from the present state of an environment or a view, which is left as it is.

        Raises
        ------
        ValueError
            If the player is not to choose, or the planner does not play such a game.
        """
        view = view_of(env).still()
        check_turn(view)
        budget = self.budget_for(view)
        if budget.time_limit < math.inf:
            self.load(view)
        clock = Clock(budget)
        hurry(view, clock, self.stream)
        result = self.plan(view, clock)
        warn_if_late(view, result, clock.budget.time_limit)
        self._foresee(view, result.action)
        return result

    def _foresee(self, view: View, action: int) -> None:
        """Let a live environment that nothing remembers be known again after an action, if something is kept for it."""
        live: Any = view.state
        if view.episode is None or not hasattr(live, "foresee") or not (self.recognizes or live.elapsed() is None):
            return
        if any(kept is not None for kept in self.memory(view).values()):
            live.foresee(int(action), _FORESIGHT * self.budget.time_limit)

    def load(self, view: View) -> None:
        """Before an agent's first search of a game, search once in vain: what that compiles and loads is off the clock.

        The random stream and what is kept of episodes stay as they are; what goes wrong the search itself will say. In
        environments of others kernels are written out as Python, copies are checked, and what is hidden is looked for.
        """
        if hasattr(view.state, "time_limit"):
            notes: dict[Any, Any] = view.game.notes  # type: ignore[attr-defined]
            if "means" not in notes:
                view.state.copy()  # by a means that is checked the first time
            loaded = notes.setdefault("loaded", WeakValueDictionary())  # by id: planners may compare as they like
            if id(self) in loaded or (budget := self.budget_for(view)).time_limit == math.inf:
                return
            loaded[id(self)] = self
            hurry(view, Clock(budget), self.stream)
        elif (named := view.game.fingerprint) in self._loaded:
            return
        else:
            self._loaded |= {named}
        stream, memory = self.stream.copy(), self._memory
        self._memory = None
        try:
            with suppress(Exception):
                self.plan(view, Clock(Budget(simulations=1)))
        finally:
            self.stream[:], self._memory = stream, memory

    def memory(self, view: View) -> dict[str, Any]:
        """Return what the planner keeps for this player until the episode ends: empty at first, to be written to.

        Where a view belongs to no episode, nothing is kept. Plans of actions that are kept move on by :meth:`moved`.
        """
        if view.episode is None:
            return {}
        if self._memory is None:
            self._memory = WeakKeyDictionary()
        return self._memory.setdefault(view.episode, {}).setdefault(view.player, {})

    def moved(self, view: View, memory: dict[str, Any]) -> int:
        """Return how many actions were made since the last search: 0 where it was of this very state.

        In environments of others two searches of one state are not told from a move between them that changes nothing.
        """
        _asked(view, memory)
        made: int = memory.pop("made", 0)
        return made

    def check_alone(self, game: Game) -> None:
        """Refuse games for several, for planners of one player.

        Raises
        ------
        ValueError
            If the game is for several players.
        """
        if game.players != 1:
            raise ValueError(f"{self.name} plays games of one player; {game.name} has {game.players}: use mcts")

    def reseed(self, seed: int) -> None:
        """Start the random stream anew and forget all episodes, as at construction."""
        super().reseed(seed)
        self._memory = None

    def _limits(self) -> dict[str, Any]:
        return self.budget.limits()


def _asked(view: View, memory: dict[str, Any]) -> None:
    """Count an action as made where this is another state than that of the last move or search."""
    here = view.state.tobytes() if isinstance(view.state, np.ndarray) else None
    if here is None or here != memory.get("asked"):
        memory["made"] = memory.get("made", 0) + 1
    memory["asked"] = here


def variant_of(game: Game, model: str | None, evaluate: Callable[..., None] | str | None) -> Game:
    """Return a game in a model, with another evaluation: variants of it by their names, or a kernel."""
    inside = game.variant(model) if model else game
    if isinstance(evaluate, str):
        evaluate = game.variant(evaluate, "evaluate").evaluate
    return inside if evaluate is None else replace(inside, evaluate=evaluate)
