"""Rolling horizon evolution as an agent."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from agents.base import Agent, check_turn, view_of
from agents.budget import NO_LIMIT, Budget, read_budget
from agents.planners.evolution import SIMULATIONS, STEPS, Evolution, evolve
from agents.policies.opponents import OPPONENTS, read_information, read_opponents, table_with, variant_name
from agents.ranking import Ranking, best_line
from agents.results import Found
from agents.running import legal_actions
from agents.tree import new_tree, new_work
from mcts_envs.core import errors
from mcts_envs.core.contract import EVERYTHING, Game
from mcts_envs.core.kernel import interpreted
from mcts_envs.core.rng import below, coin, draw
from mcts_envs.core.typing import Ints
from mcts_envs.core.view import Episode, View

MAX_LENGTH, MAX_POPULATION = 1000, 10_000

_SLICE_SECONDS = 0.005


@dataclass(frozen=True, repr=False)
class RheaResult(Found):
    """What an evolution found.

    Attributes
    ----------
    action : int
        The first action of the best individual.
    value : float
        Its mean return when it was tried out.
    genes : int64 array [L]
        The individual: places among the actions that will be legal then, modulo their number.
    simulations, steps : int
        Simulations, and steps of the model.
    seconds : float
        How long it took.
    game : Game
    """

    action: int
    value: float
    genes: Ints
    simulations: int
    steps: int
    seconds: float
    game: Game = field(compare=False)

    def _played(self) -> Game:
        return self.game

    def _found(self) -> str:
        return f"value={self.value:.4g}"

    def _ranking(self, top: int) -> Ranking:
        return best_line(self.game, [self.action], self.value, top)


class Rhea(Agent):
    """Rolling horizon evolution: a sequence of the player's own actions is evolved, and its first one played.

    Parameters
    ----------
    simulations : int, optional
        Budget in simulations; 1000 when no budget is given. The tightest budget ends a search; an individual that is
        being tried out is finished.
    time_limit : float, optional
        Budget in seconds.
    max_steps : int, optional
        Budget in steps of the model.
    length : int
        Actions of the player that are looked ahead.
    population : int
        Individuals. Each child takes the place of the worst of them unless it is worse itself; with 1 that is the
        (1 + 1) evolution strategy.
    mutation : float
        Chance of each gene of a child to be drawn anew.
    shift : bool
        Go on from the population of the last move, moved on by one action (shift buffer: R. Gaina, S. Lucas,
        D. Perez-Liebana 2017, "Rolling Horizon Evolution Enhancements in General Video Game Playing").
    samples : int
        Simulations in which an individual is tried out.
    discount : float
        Discount of rewards a step.
    opponents : {"uniform", "advised"}
        How the others' actions are drawn: uniformly, or as the game advises.
    opponent_model : str, optional
        Variant of the game whose advice they follow.
    information : {"own", "full"}
        What the planner is told: what its player knows, or the whole state but chance to come.
    model : str, optional
        Variant of the game to search in.
    evaluate : str, optional
        Variant of the game that says what an unfinished state is worth; by default the model.
    relative : bool
        Count ``evaluate`` as its change since the root.
    seed : int

    Raises
    ------
    ValueError, TypeError
        If a setting is not possible.
    """

    name = "rhea"
    takes_budget = True
    _transient = ("_kept", "_memory")
    _kept: tuple[Game, Game, Any] | None = None
    _memory: "WeakKeyDictionary[Episode, dict[int, Ints]] | None" = None

    def __init__(
        self,
        *,
        simulations: int | None = None,
        time_limit: float | None = None,
        max_steps: int | None = None,
        length: int = 12,
        population: int = 1,
        mutation: float = 0.5,
        shift: bool = True,
        samples: int = 1,
        discount: float = 1.0,
        opponents: str = "uniform",
        opponent_model: str | None = None,
        information: str = "own",
        model: str | None = None,
        evaluate: str | None = None,
        relative: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__(seed=seed)
        self.budget = read_budget(simulations, time_limit, max_steps) or Budget(simulations=1000)
        self.length = errors.integer("length", length, 1, MAX_LENGTH)
        self.population = errors.integer("population", population, 1, MAX_POPULATION)
        self.mutation = errors.number("mutation", mutation, 0.0, 1.0)
        self.shift = errors.flag("shift", shift)
        self.samples = errors.integer("samples", samples, 1, 10**6)
        self.discount = errors.number("discount", discount, 0.0, 1.0)
        known = tuple(filter(None, OPPONENTS))
        self.opponents, self.opponent_model = read_opponents(opponents, opponent_model, known)
        self.information = read_information(information)
        self.model, self.evaluate = variant_name("model", model), variant_name("evaluate", evaluate)
        self.relative = errors.flag("relative", relative)

    def choose(self, view: View) -> int:
        """Return the only legal action, or the one that evolution finds."""
        legal = view.legal_actions()
        if len(legal) == 1:
            self.last_result = None
            return int(legal[0])
        self.last_result = self._search(view)
        return int(self.last_result.action)

    def search(self, env: Any) -> RheaResult:
        """Search from the present state of an environment or a view, which is left as it is.

        Raises
        ------
        ValueError
            If the player is not to choose.
        """
        return self._search(view_of(env))

    def reseed(self, seed: int) -> None:
        """Start the random stream anew and forget all populations, as at construction."""
        super().reseed(seed)
        self._memory = None

    def _search(self, view: View) -> RheaResult:
        started = time.perf_counter()
        check_turn(view)
        game, table = self._prepared(view.game)
        memory = self._memory_of(view)
        genes = self._first(memory.get(view.player) if memory and self.shift else None, game)
        fitness, counters = np.full(self.population, np.nan), np.zeros(2, np.int64)
        self._evolve(game, table, view, genes, fitness, counters, started)
        order = np.argsort(-np.nan_to_num(fitness, nan=-math.inf), kind="stable")
        best = genes[order[0]].copy()
        if memory is not None:
            memory[view.player] = genes[order]
        legal = legal_actions(game, view)
        simulations, steps = int(counters[SIMULATIONS]), int(counters[STEPS])
        value = float(fitness[order[0]])
        action = int(legal[best[0] % len(legal)])
        return RheaResult(action, value, best, simulations, steps, time.perf_counter() - started, game)

    def _first(self, last: Ints | None, game: Game) -> Ints:
        """Return the first population [N + 1, L]: drawn, or that of the last move without its first action."""
        drawn = [below(self.stream, game.actions) for _ in range(self.population * self.length)]
        genes = np.zeros((self.population + 1, self.length), np.int64)
        genes[:-1] = np.reshape(drawn, (self.population, self.length))
        if last is not None and last.shape == genes[:-1].shape:
            genes[:-1, :-1] = last[:, 1:]
        return genes

    def _evolve(
        self, game: Game, table: Any, view: View, genes: Ints, fitness: Any, counters: Ints, started: float
    ) -> None:
        """Evolve until the budget is spent, in slices of a few milliseconds between which Python can interrupt."""
        viewer = view.player if self.information == "own" else EVERYTHING
        chances = self.samples, self.mutation, self.discount, self.relative
        settings = Evolution(view.player, viewer, OPPONENTS[self.opponents], *chances)
        run = _plain() if isinstance(table, tuple) else evolve
        work = new_work(game, new_tree(game.players, 1, objects=getattr(game, "plain_lists", False)), 1, 1)
        work.searcher[0] = view.player
        budget, deadline = self.budget, started + self.budget.time_limit
        max_steps, count = min(budget.max_steps, NO_LIMIT), 1
        root = view.state.copy()
        while counters[STEPS] < max_steps:
            left = -(-(budget.simulations - int(counters[SIMULATIONS])) // self.samples)
            before = time.perf_counter()
            if left <= 0 or (before >= deadline and counters[SIMULATIONS]):
                break
            count = min(count, left)
            run(table, settings, root, genes, fitness, count, max_steps, counters, work, self.stream)
            now = time.perf_counter()
            rate = count / max(now - before, 1e-9)
            count = max(1, int(rate * min(_SLICE_SECONDS, max(deadline - now, 0.0))))

    def _prepared(self, game: Game) -> tuple[Game, Any]:
        """Return the game as the evolution sees it, and its function table."""
        if self._kept is None or self._kept[0] is not game:
            inside = game.variant(self.model) if self.model else game
            if self.evaluate is not None:
                inside = replace(inside, evaluate=game.variant(self.evaluate, "evaluate").evaluate)
            others = game.variant(self.opponent_model, "advise") if self.opponent_model else None
            table = table_with(inside, others) if others else inside.table
            self._kept = game, inside, table
        return self._kept[1:]

    def _memory_of(self, view: View) -> "dict[int, Ints] | None":
        """Return what is remembered of the episode: the last population of each player; None if there is no episode."""
        if view.episode is None:
            return None
        if self._memory is None:
            self._memory = WeakKeyDictionary()
        return self._memory.setdefault(view.episode, {})


@cache
def _plain() -> Callable[..., None]:
    return interpreted(evolve, (below, coin, draw))
