"""Rolling horizon evolution as an agent."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from agents.budget import NO_LIMIT, Clock
from agents.inspection.ranking import Ranking, best_line
from agents.planner import Planner, variant_of
from agents.planners.evolution import SIMULATIONS, STEPS, Evolution, draw_genes, evolve
from agents.policies.opponents import OPPONENTS, read_information, read_opponents, table_with, variant_name
from agents.results import Found
from agents.search.given import evaluation_of
from agents.search.records import new_work
from agents.search.running import legal_actions
from mcts_envs.core import errors
from mcts_envs.core.contract import EVERYTHING, Game
from mcts_envs.core.kernel import interpreted
from mcts_envs.core.rng import below, coin, draw
from mcts_envs.core.typing import Floats, Ints
from mcts_envs.core.view import View

MAX_LENGTH, MAX_POPULATION = 1000, 10_000


@dataclass(frozen=True, eq=False, repr=False)
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
    view : View, optional
        The state that was searched from, as it was.
    """

    action: int
    value: float
    genes: Ints
    simulations: int
    steps: int
    seconds: float
    game: Game
    view: View | None = None

    def _found(self) -> str:
        return f"value={self.value:.4g}"

    def _ranking(self, top: int) -> Ranking:
        return best_line(self.game, [self.action], self.value, top, self._player)


class Rhea(Planner[RheaResult]):
    """Rolling horizon evolution: a sequence of the player's own actions is evolved, and its first one played.

    Parameters
    ----------
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
    evaluate : kernel or str, optional
        What an unfinished state is worth, ``(state, values[P])``, given itself or by its file, or the variant of the
        game that says so; by default the model's.
    relative : bool
        Count ``evaluate`` as its change since the root.
    reevaluate : bool
        Try all individuals out anew beside each child, which then takes the place of the worst only if it is better:
        a lucky value does not stand, and nothing changes where all is equal.
    **budget
        ``simulations`` (1000 when no budget is given; a generation that has begun is finished),
        ``time_limit``, ``max_steps`` and ``seed`` as in :class:`agents.planner.Planner`.

    Raises
    ------
    ValueError, TypeError
        If a setting is not possible.
    """

    name = "rhea"

    def __init__(
        self,
        *,
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
        evaluate: Callable[..., None] | str | None = None,
        relative: bool = False,
        reevaluate: bool = False,
        **budget: Any,
    ) -> None:
        super().__init__(**budget)
        self.length = errors.integer("length", length, 1, MAX_LENGTH)
        self.population = errors.integer("population", population, 1, MAX_POPULATION)
        self.mutation = errors.number("mutation", mutation, 0.0, 1.0)
        self.shift = errors.flag("shift", shift)
        self.samples = errors.integer("samples", samples, 1, 10**6)
        self.discount = errors.number("discount", discount, 0.0, 1.0)
        known = tuple(name for name in OPPONENTS if name not in (None, "mixed"))  # who has no tree does not search
        self.opponents, self.opponent_model = read_opponents(opponents, opponent_model, known)
        self.information = read_information(information)
        self.model, self.evaluate = variant_name("model", model), evaluation_of(evaluate, compiled=True)
        self.relative = errors.flag("relative", relative)
        self.reevaluate = errors.flag("reevaluate", reevaluate)

    def plan(self, view: View, clock: Clock) -> RheaResult:
        """Return what evolution finds."""
        game, table = self.prepared(view.game)
        memory = self.memory(view)
        genes = self._first(memory.get("genes") if self.shift else None, self.moved(view, memory), game)
        fitness = np.full(self.population, np.nan)
        legal = legal_actions(game, view)
        self._evolve(game, table, view, legal, genes, fitness, clock)
        order = np.argsort(-np.nan_to_num(fitness, nan=-math.inf), kind="stable")
        memory["genes"] = genes[order]
        best, value = genes[order[0]].copy(), float(fitness[order[0]])
        action = int(legal[best[0] % len(legal)])
        return RheaResult(action, value, best, clock.simulations, clock.steps, clock.seconds, game, view.copied())

    def _first(self, last: Ints | None, moved: int, game: Game) -> Ints:
        """Return the first population [N + 1, L]: drawn, or the last one without the actions that were made."""
        genes = np.zeros((self.population + 1, self.length), np.int64)
        draw_genes(genes, game.actions, self.stream)
        if last is not None and last.shape == genes[:-1].shape:
            genes[:-1, : max(0, self.length - moved)] = last[:, moved:]
        return genes

    def _evolve(
        self, game: Game, table: Any, view: View, legal: Ints, genes: Ints, fitness: Floats, clock: Clock
    ) -> None:
        """Evolve until the budget is spent."""
        viewer = view.player if self.information == "own" else EVERYTHING
        chances = self.samples, self.mutation, self.discount, self.relative, self.reevaluate
        settings = Evolution(view.player, viewer, OPPONENTS[self.opponents], *chances)
        run = _plain() if isinstance(table, tuple) else evolve
        work = new_work(game, self.stream, 1, plain=game.plain_lists)
        root, counters, max_steps = view.state.copy(), np.zeros(2, np.int64), min(clock.budget.max_steps, NO_LIMIT)
        while count := clock.slice():
            individuals = -(-count // self.samples)
            run(table, settings, root, legal, genes, fitness, individuals, max_steps, counters, work)
            clock.spend(int(counters[SIMULATIONS]) - clock.simulations, int(counters[STEPS]) - clock.steps)

    def prepare(self, game: Game) -> tuple[Game, Any]:
        """Return the game as the evolution sees it, and its function table."""
        model = variant_of(game, self.model, self.evaluate)
        others = game.variant(self.opponent_model, "advise") if self.opponent_model else None
        return model, table_with(model, others) if others else model.table


@cache
def _plain() -> Callable[..., None]:
    return interpreted(evolve, (below, coin, draw))
