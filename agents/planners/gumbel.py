"""Gumbel AlphaZero's search: draw actions from the prior without replacement, then halve them by what is found."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from agents.budget import Clock
from agents.mcts import MCTS, POLICY
from agents.planners.halving import halve
from agents.policies.gumbel import gumbel, improve
from agents.policies.signatures import Candidates
from agents.search.records import CANDIDATE, compiled, rows
from agents.search.running import Search
from mcts_envs.core import errors
from mcts_envs.core.kernel import interpreted
from mcts_envs.core.rng import uniform
from mcts_envs.core.typing import Floats, Ints


class Gumbel(MCTS):
    """Planning with Gumbel: a policy is improved with as few simulations as there are.

    ``considered`` actions are drawn from the prior without replacement, by adding Gumbel noise to its logits and taking
    the greatest (Gumbel-top-k). Sequential halving shares the budget between them and drops the worse half by noise +
    logit + value; the best at the end is played. In the tree actions are chosen without chance, in proportion to the
    policy that the values improve (I. Danihelka, A. Guez, J. Schrittwieser, D. Silver 2022, "Policy improvement by
    planning with Gumbel"). That the action played is better than the prior's on average is proved where values are
    right, for any number of simulations.

    Parameters
    ----------
    considered : int
        Actions that are drawn at the root; the budget should allow some simulations for each.
    gumbel_scale : float
        Scale of the noise; 0 takes the most probable actions, for play without chance.
    policy : str, Path, model or callable, optional
        A trained policy, as for :class:`agents.mcts.MCTS`; its value is that of leaves unless ``evaluate`` says
        otherwise. Without one the prior is what the game advises.
    **settings
        Those of :class:`agents.mcts.MCTS` but for ``select`` and ``recommend``; ``visit_scale``, ``value_scale`` and
        ``rescale`` weigh values against logits (:mod:`agents.policies.gumbel`).
    """

    name = "gumbel"
    shares_budget = True

    def __init__(self, *, considered: int = 16, gumbel_scale: float = 1.0, policy: Any = None, **settings: Any) -> None:
        for given in ("select", "recommend"):
            if given in settings:
                raise TypeError(f"gumbel has no setting {given!r}; take an 'mcts' agent with select='gumbel'")
        if policy is not None:
            settings.setdefault("evaluate", POLICY)
        super().__init__(select=gumbel, policy=policy, **settings)
        self.common_chance = True  # arms of a pass are alike, and can wait for one batch
        self.considered = errors.integer("considered", considered, 1, 2**20)
        self.gumbel_scale = errors.number("gumbel_scale", gumbel_scale, 0.0, 1e6)

    def spending(self, search: Search, clock: Clock) -> Iterator[None]:
        """Spend a budget in rounds on the actions drawn."""
        noise = np.array([-np.log(-np.log(max(uniform(self.stream), 1e-300))) for _ in search.legal])
        noise *= self.gumbel_scale

        if search.plan.settings.waits:  # roots of several searches are asked together
            with search.plan.evaluator.noting():
                search.advice()
            yield
        prior, worth = search.advice(), search.worth()

        def best_first(arms: Ints) -> Ints:
            among = np.zeros(search.plan.model.actions, np.bool_)
            among[arms] = True
            kept = among[search.legal]
            order = np.argsort(-(noise + improved_logits(search, prior, worth))[kept], kind="stable")
            return search.legal[kept][order]

        drawn = best_first(search.legal)[: self.considered]
        arms = yield from halve(search, clock, drawn, lambda arms: best_first(arms)[: -(-len(arms) // 2)])
        search.choice = int(arms[0])
        logits = improved_logits(search, prior, worth)
        weights = np.exp(logits - logits.max())
        search.improved = np.zeros(search.plan.model.actions)
        search.improved[search.legal] = weights / weights.sum()


def improved_logits(search: Search, prior: Floats, worth: float) -> Floats:
    """Return the logits [k] of the policy that a search makes of its prior [A] for the legal actions at the root.

    ``worth`` is what the root is worth to the player before it is searched.
    """
    (visits, values), plan = search.statistics(), search.plan
    low, high = search.returns()
    known = np.zeros(len(search.legal), CANDIDATE)
    sums = np.where(visits > 0, visits * values, 0.0)
    for name, given in ("visits", visits), ("sums", sums), ("prior", prior):
        known[name] = given[search.legal]
    known["action"] = search.legal
    offered = rows(CANDIDATE, known.tolist(), plain=True) if plan.plain else known.view(np.uint8)
    candidates = Candidates(
        k=len(known),
        actions=len(prior),
        player=search.player,
        depth=0,
        searching=True,
        low=low,
        high=high,
        worth=worth,
        rows=offered,
    )
    store = search.trees[0].select
    if plan.interpreted:
        interpreted(improve)(candidates, store)
    else:
        improve(compiled(candidates), compiled(store))
    return np.array([each.prior for each in offered]) if plan.plain else known["prior"]
