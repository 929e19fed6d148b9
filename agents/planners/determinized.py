"""Determinized search: several guesses at what is hidden, a tree for each, and the sum of their visits."""

import inspect
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from agents.budget import Budget, Clock
from agents.inspection.search_tree import SearchTree
from agents.mcts import MCTS
from agents.results import SearchResult, copies_of
from agents.search.running import Search
from mcts_envs.core import errors
from mcts_envs.core.rng import draw
from mcts_envs.core.view import View


class Determinized(MCTS):
    """Determinized UCT: draw what is hidden, search as if it were known, and add up the visits of several such trees.

    The other way to plan where something is hidden, beside one tree over information sets, which ``mcts`` builds. Each
    tree gets its share of the budget, and plays as if its player would know the hidden things from then on, and the
    others too: it gains nothing by finding out, and believes that it can choose by what nobody knows (strategy fusion;
    I. Frank, D. Basin 1998). Dice that are yet to fall stay unknown in each tree.

    P. Cowling, E. Powley, D. Whitehouse, "Information Set Monte Carlo Tree Search" (2012), for both and for their
    comparison; M. Ginsberg, "GIB: Imperfect Information in a Computationally Challenging Game" (2001).

    Parameters
    ----------
    samples : int
        How many trees. A budget of fewer simulations makes as many as it has.
    **settings
        Those of :class:`agents.mcts.MCTS` but ``information`` and ``reuse``; ``loop`` is ``"closed"`` by default.
    """

    name = "determinized"
    shares_budget = True

    def __init__(self, *, samples: int = 10, **settings: Any) -> None:
        for name in ("information", "reuse"):
            if name in settings:
                raise TypeError(f"determinized has no setting {name!r}; each tree is told what was drawn for it")
        super().__init__(**{"loop": "closed", **settings}, information="full")
        if len(inspect.signature(self.recommend).parameters) > 4:
            raise ValueError(f"recommend={self.recommend.__name__!r} looks at one search; determinized adds several up")
        self.samples = errors.integer("samples", samples, 1, 10**6)

    def plan(self, view: View, clock: Clock) -> SearchResult:
        """Return what the trees find together."""
        self.memory(view)["trees"] = None
        samples = min(self.samples, clock.budget.simulations, clock.budget.max_steps)
        root = View(view.game, view.state.copy(), view.player)
        searches: list[Search] = []
        for i in range(samples):
            now = time.perf_counter()
            if searches and now >= clock.deadline:
                break
            share = clock.budget.share(i, samples)
            limit = max(clock.deadline - now, 0.0) / (samples - i)
            searches += self._searches([(self._drawn(root), Clock(Budget(share.simulations, limit, share.max_steps)))])
        return self._together(root, searches, clock)

    def _drawn(self, root: View) -> View:
        """Return the view of somebody to whom the hidden things are as they were drawn."""
        state = root.state.copy()
        root.game.determinize(state, root.player, draw(self.stream))
        return View(root.game, state, root.player)

    def _together(self, root: View, searches: Sequence[Search], clock: Clock) -> SearchResult:
        """Return the sum of the visits, and mean returns to which every tree contributes alike."""
        results = [search.result() for search in searches]
        visits = np.sum([result.visits for result in results], axis=0)
        sums = np.sum([np.nan_to_num(result.values) for result in results], axis=0)
        with np.errstate(invalid="ignore"):
            values = sums / np.sum([result.visits > 0 for result in results], axis=0)
        first, trees = searches[0], [tree for search in searches for tree in search.trees]
        action = first.recommended(visits, values)
        spent = sum(result.simulations for result in results), sum(result.steps for result in results), clock.seconds
        return SearchResult(
            *(visits, values, action, SearchTree(trees, root.game), *spent),
            prior=results[0].prior,
            evaluator=results[0].evaluator,
            view=root,
            copies=copies_of(root.state, root.player),
        )
