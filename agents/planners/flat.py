"""Planners without a tree: the trials are shared equally between the actions."""

from typing import Any

from agents.budget import LIMITS, Budget, Clock
from agents.mcts import MCTS
from agents.running import Search, legal_actions
from mcts_envs.core import errors
from mcts_envs.core.view import View


class FlatMonteCarlo(MCTS):
    """Flat Monte Carlo: equally many rollouts for every action, then the action with the best mean.

    Parameters
    ----------
    **settings
        Those of :class:`agents.mcts.MCTS`, which it is with a tree of depth 1 and an open loop.
    """

    name = "flat_mc"

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            **{"select": "least_visited", "recommend": "max_value", "tree_depth": 1, "loop": "open", **settings}
        )

    def spend(self, search: Search, clock: Clock) -> None:
        """Spend a budget on all actions in turn."""
        search.spend(clock, search.legal, whole_passes=False)


class OneStep(FlatMonteCarlo):
    """One-step lookahead: look at what each action leads to, evaluate it, and take the best on average.

    Parameters
    ----------
    samples : int
        How many outcomes of each action are looked at.
    **settings
        Those of :class:`agents.mcts.MCTS`, which it is with a horizon of 1; the samples are its budget.
    """

    name = "one_step"
    takes_budget = False

    def __init__(self, *, samples: int = 8, **settings: Any) -> None:
        for budget in (*LIMITS, "first_move"):
            if budget in settings:
                raise TypeError(f"one_step has no setting {budget!r}; its budget is samples, a number for each action")
        super().__init__(**{"horizon": 1, **settings})
        self.samples = errors.integer("samples", samples, 1, 10**6)

    def budget_for(self, view: View) -> Budget:
        """Return the samples of all actions that the model considers."""
        return Budget(simulations=self.samples * len(legal_actions(self.prepared(view.game).inside, view)))

    def _limits(self) -> dict[str, Any]:
        return {"samples": self.samples}
