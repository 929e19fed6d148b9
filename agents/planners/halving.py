"""Sequential halving: spend the budget in rounds, and drop the worse half of the actions after each."""

import math
import time
from typing import Any

import numpy as np

from agents.budget import NO_LIMIT, Budget
from agents.mcts import MCTS
from agents.running import Search
from mcts_envs.core import errors
from mcts_envs.core.rng import below
from mcts_envs.core.typing import Ints


class SequentialHalving(MCTS):
    """Sequential halving at the root, with common random numbers.

    The budget is shared equally between rounds; in a round all actions that are left are tried equally often, and the
    better half goes on to the next (Z. Karnin, T. Koren, O. Somekh 2013, "Almost Optimal Exploration in Multi-Armed
    Bandits"; in trees: T. Pepels et al. 2014, "Minimizing Simple and Cumulative Regret in Monte-Carlo Tree Search").
    All actions of a pass meet the same chance, in the game and in the rollouts, so that luck does not decide between
    them; a discount below 1 makes them depend less on what lies far ahead, which luck decides all the same.

    Parameters
    ----------
    common_chance : bool
        Let all actions of a pass meet the same chance.
    **settings
        Those of :class:`agents.mcts.MCTS`, which it is with a tree of depth 1, unless ``tree_depth`` says otherwise:
        then ``select`` chooses below the root.
    """

    name = "halving"

    def __init__(self, *, common_chance: bool = True, **settings: Any) -> None:
        super().__init__(**{"tree_depth": 1, **settings})
        self.common_chance = errors.flag("common_chance", common_chance)

    def start(self, env: Any) -> Search:
        """Refuse: the rounds need to know the budget.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("halving shares a known budget between its rounds; call search(env), or start an 'mcts' agent")

    def _spend(self, search: Search, budget: Budget, started: float) -> None:
        arms = self._shuffled(search.legal)[: budget.simulations]
        left = budget.simulations
        for rounds in range(max(1, math.ceil(math.log2(len(arms)))), 0, -1):
            if left < len(arms):
                break
            simulations = NO_LIMIT if left == NO_LIMIT else max(1, left // rounds // len(arms)) * len(arms)
            left = left if left == NO_LIMIT else left - simulations
            now = time.perf_counter()
            seconds = max(0.0, started + budget.time_limit - now) / rounds
            steps = NO_LIMIT if budget.max_steps == NO_LIMIT else max(1, (budget.max_steps - search.steps) // rounds)
            search.spend(Budget(simulations, seconds, steps), now, arms)
            values = np.nan_to_num(search.statistics()[1][arms], nan=-math.inf)
            arms = arms[np.argsort(-values, kind="stable")[: -(-len(arms) // 2)]]

    def _shuffled(self, arms: Ints) -> Ints:
        """Return the actions in random order, which decides between equals."""
        arms = arms.copy()
        for last in range(len(arms) - 1, 0, -1):
            other = below(self.stream, last + 1)
            arms[last], arms[other] = arms[other], arms[last]
        return arms
