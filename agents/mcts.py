"""Monte Carlo tree search as an agent."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numba.core.config import DISABLE_JIT

from agents import policies
from agents.base import Agent, check_turn, view_of
from agents.policies.signatures import SIGNATURES
from agents.search import search
from agents.tree import SIMULATIONS, STEPS, Tree, new_tree, new_work, root_statistics
from mcts_envs.core import errors
from mcts_envs.core.contract import Game
from mcts_envs.core.kernel import function_table
from mcts_envs.core.typing import Floats, Ints
from mcts_envs.core.view import View

NO_LIMIT = 2**62
MAX_HORIZON = 10_000
"""Longest simulation in steps: compiled code cannot be interrupted, and a game may have no end."""

MAX_DEPTH = 1000
"""Longest path of a tree; deeper states are rolled out."""

MAX_NODES = 500_000
"""Nodes of a tree (about 60 MB for one player) when the number of simulations does not bound it."""

_SLICE_SECONDS = 0.005


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Attributes
    ----------
    visits : int64 array [A]
        Visits of the player's actions at the root.
    values : float64 array [A]
        Their mean returns, in units of reward; NaN without a visit.
    action : int
        The recommended action.
    tree : Tree
    simulations, steps : int
        Simulations, and steps of the model in tree and rollouts.
    seconds : float
    """

    visits: Ints
    values: Floats
    action: int
    tree: Tree
    simulations: int
    steps: int
    seconds: float


class MCTS(Agent):
    """Monte Carlo tree search: UCT by default.

    Parameters
    ----------
    simulations : int, optional
        Budget in simulations; 1000 when no budget is given. The tightest budget ends a search.
    time_limit : float, optional
        Budget in seconds.
    max_steps : int, optional
        Budget in steps of the model.
    select, simulate : kernel or str
        Policies of :mod:`agents.policies`: who is looked at next, and how a leaf is played on.
    recommend : callable or str
        Policy that picks the final move.
    c : float
        Exploration constant of ``select``.
    normalize : bool
        Scale ``c`` by the range of the returns seen so far, so that it does not depend on the size of rewards.
    discount : float
        Discount of rewards a step.
    horizon : int, optional
        Steps from the root after which simulations are cut off and evaluated; None plays to the end, which is cut off
        after 10,000 steps.
    tree_depth : int, optional
        Steps from the root that the tree covers at most.
    closed_loop : bool
        Give every outcome of chance a node of its own, instead of one node for an action whatever came of it.
    model, rollout_model : str, optional
        Variants of the game (``Game.variants``) to search in, and to roll out in (default: the model).
    evaluate : kernel or str, optional
        What a state is worth at the horizon, ``(state, values[P])``, or the variant of the game that says so; by
        default the game's own ``evaluate``.
    max_nodes : int
        Bound on the nodes of a tree (there are always as many as actions); when it is full, simulations go on without
        it growing.
    seed : int

    Raises
    ------
    ValueError, TypeError
        If a setting is not possible.
    """

    name = "mcts"
    _transient = ("_models", "_policies")
    _models: tuple[Game, Game, Game] | None = None

    def __init__(
        self,
        *,
        simulations: int | None = None,
        time_limit: float | None = None,
        max_steps: int | None = None,
        select: Callable[..., int] | str = "ucb1",
        simulate: Callable[..., int] | str = "uniform",
        recommend: Callable[..., int] | str = "max_visits",
        c: float = 0.5,
        normalize: bool = True,
        discount: float = 1.0,
        horizon: int | None = None,
        tree_depth: int | None = None,
        closed_loop: bool = False,
        model: str | None = None,
        rollout_model: str | None = None,
        evaluate: Callable[..., None] | str | None = None,
        max_nodes: int = MAX_NODES,
        seed: int = 0,
    ) -> None:
        super().__init__(seed=seed)
        if simulations is None and time_limit is None and max_steps is None:
            simulations = 1000
        self.simulations = None if simulations is None else errors.integer("simulations", simulations, 1, NO_LIMIT)
        self.time_limit = None if time_limit is None else errors.number("time_limit", time_limit, 1e-6, 1e6)
        self.max_steps = None if max_steps is None else errors.integer("max_steps", max_steps, 1, NO_LIMIT)
        self.select = _policy("select", select, policies.SELECTION)
        self.simulate = _policy("simulate", simulate, policies.SIMULATION)
        self.recommend = _policy("recommend", recommend, policies.RECOMMENDATION)
        self.c = errors.number("c", c, 0.0, 1e9)
        self.normalize = errors.flag("normalize", normalize)
        self.discount = errors.number("discount", discount, 0.0, 1.0)
        self.horizon = MAX_HORIZON if horizon is None else errors.integer("horizon", horizon, 1, MAX_HORIZON)
        self.tree_depth = MAX_DEPTH if tree_depth is None else errors.integer("tree_depth", tree_depth, 1, MAX_DEPTH)
        self.closed_loop = errors.flag("closed_loop", closed_loop)
        self.model, self.rollout_model = model, rollout_model
        self.evaluate = evaluate if evaluate is None or isinstance(evaluate, str) else _policy("evaluate", evaluate, {})
        self.max_nodes = errors.integer("max_nodes", max_nodes, 1, 2**30)
        self._policies  # noqa: B018  (a policy with another signature is refused now)

    @cached_property
    def _policies(self) -> Any:
        return function_table({"select": self.select, "simulate": self.simulate}, SIGNATURES)

    def choose(self, view: View) -> int:
        """Return the only legal action, or the one that a search recommends."""
        legal = view.legal_actions()
        if len(legal) == 1:
            self.last_result = None
            return int(legal[0])
        self.last_result = self._search(view)
        return int(self.last_result.action)

    def search(self, env: Any) -> SearchResult:
        """Search from the present state of an environment or a view, which is left as it is.

        Raises
        ------
        ValueError
            If the player is not to choose.
        """
        return self._search(view_of(env))

    def _search(self, view: View) -> SearchResult:
        started = time.perf_counter()
        check_turn(view)
        model, rollout_model = self._game_models(view.game)
        legal = _legal_actions(model, view)
        simulations = NO_LIMIT if self.simulations is None else self.simulations
        tree = new_tree(model.players, max(min(simulations, self.max_nodes), model.actions))
        work = new_work(model, min(self.tree_depth, self.horizon))
        max_steps = NO_LIMIT if self.max_steps is None else self.max_steps
        limits = max_steps, self.tree_depth, self.horizon
        scales, ways = (self.c, self.discount), (self.normalize, self.closed_loop)

        def add(count: int) -> None:
            tables = model.table, rollout_model.table, self._policies
            search(*tables, view.state, view.player, count, *limits, *scales, *ways, self.stream, work, tree)

        self._add_until(started + (self.time_limit or math.inf), simulations, max_steps, tree, add)
        visits, values = root_statistics(tree, view.player, model.actions)
        action = int(self.recommend(visits, values, legal))
        if action not in legal:
            raise ValueError(f"recommend {self.recommend!r} returned {action}, which is not legal; legal now: {legal}")
        done = int(tree.counters[SIMULATIONS]), int(tree.counters[STEPS])
        return SearchResult(visits, values, action, tree, *done, time.perf_counter() - started)

    def _add_until(
        self, deadline: float, simulations: int, max_steps: int, tree: Tree, add: Callable[[int], None]
    ) -> None:
        """Add simulations in slices of a few milliseconds, between which Python can be interrupted."""
        count = 8
        while simulations > 0 and tree.counters[STEPS] < max_steps:
            before = time.perf_counter()
            if before >= deadline:
                break
            add(min(count, simulations))
            simulations -= count
            now = time.perf_counter()
            rate = count / max(now - before, 1e-9)
            count = max(1, int(rate * min(_SLICE_SECONDS, max(deadline - now, 0.0))))

    def _game_models(self, game: Game) -> tuple[Game, Game]:
        """Return the game as the tree sees it, and as rollouts do."""
        if self._models is None or self._models[0] is not game:
            inside = game.variant(self.model) if self.model else game
            outside = game.variant(self.rollout_model) if self.rollout_model else inside
            if self.evaluate is not None:
                given = self.evaluate
                evaluate = game.variant(given).evaluate if isinstance(given, str) else given
                inside, outside = replace(inside, evaluate=evaluate), replace(outside, evaluate=evaluate)
            self._models = game, inside, outside
        return self._models[1:]


def _policy(kind: str, given: Any, known: Mapping[str, Any]) -> Any:
    if isinstance(given, str):
        if given not in known:
            raise ValueError(errors.unknown(f"{kind} policy", given, known))
        return known[given]
    if not callable(given):
        raise TypeError(f"{kind} {given!r} is neither a function nor one of {', '.join(sorted(known))}")
    if kind in (*SIGNATURES, "evaluate") and not (DISABLE_JIT or hasattr(given, "overloads")):
        raise TypeError(f"{kind} {given!r} is not compiled; decorate it with @kernel({kind.upper()})")
    return given


def _legal_actions(model: Game, view: View) -> Ints:
    """Return the legal actions [k] that the model considers too; all legal ones if it considers none of them."""
    legal = view.legal_actions()
    actions = np.empty(model.actions, np.int64)
    considered = actions[: model.legal(view.state, view.player, actions)]
    both = considered[np.isin(considered, legal)]
    return both if len(both) else legal
