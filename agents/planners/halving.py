"""Sequential halving: spend the budget in rounds, and drop the worse half of the actions after each."""

import math
import time
from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np

from agents.budget import NO_LIMIT, Budget, Clock
from agents.mcts import MCTS
from agents.policies.paired import COUNT, PAIRED, SQUARES, SUM, paired
from agents.search.running import Search
from agents.search.tree import root_edge
from mcts_envs.core import errors
from mcts_envs.core.kernel import row
from mcts_envs.core.rng import below
from mcts_envs.core.typing import Floats, Ints


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
    margin : float, optional
        Ask the game for advice, and play another action than the advised one only if it is ahead by so many standard
        errors of their paired difference. Of many actions that are about equally good one always looks better by luck;
        with a margin, luck does not overrule good advice. By default no advice is asked.
    **settings
        Those of :class:`agents.mcts.MCTS`, which it is with a tree of depth 1 and an open loop, unless ``tree_depth``
        and ``loop`` say otherwise: then ``select`` chooses below the root. A ``time_limit`` is shared between the
        rounds. A pass over all actions may take longer than its round's share, but is cut off at the end of the limit:
        where there is no time to try each action once, those that were tried are ranked.
    """

    name = "halving"
    shares_budget = True

    def __init__(self, *, common_chance: bool = True, margin: float | None = None, **settings: Any) -> None:
        if "recommend" in settings:
            raise TypeError("halving has no setting 'recommend'; it plays the best of those that are left at the end")
        if margin is not None and settings.setdefault("backup", paired) is not paired:
            raise ValueError(f"margin keeps statistics of its own and leaves no room for backup={settings['backup']!r}")
        super().__init__(**{"tree_depth": 1, "loop": "open", **settings})
        self.common_chance = errors.flag("common_chance", common_chance)
        self.margin = None if margin is None else errors.number("margin", margin, 0.0, 1e6)

    def spending(self, search: Search, clock: Clock) -> Iterator[None]:
        """Spend a budget in rounds."""
        margin = self.margin
        control = None if margin is None else search.advised()
        arms = self._ordered(search.legal, control)
        if control is not None:
            for tree in search.trees:
                row(tree.backup.parameters, 0, PAIRED).control = control
        arms = yield from halve(search, clock, arms, lambda arms: _better_half(arms, search.statistics()[1], control))
        search.choice = int(arms[0])
        if margin is not None and control is not None and len(arms) > 1 and _ahead(search, int(arms[1])) > margin:
            search.choice = int(arms[1])

    def _ordered(self, arms: Ints, control: int | None) -> Ints:
        """Return the actions in random order, which decides between equals, the control first."""
        arms = arms.copy()
        for last in range(len(arms) - 1, 0, -1):
            other = below(self.stream, last + 1)
            arms[last], arms[other] = arms[other], arms[last]
        return arms if control is None else np.concatenate([[control], arms[arms != control]])


def halve(search: Search, clock: Clock, arms: Ints, better: Callable[[Ints], Ints]) -> Generator[None, None, Ints]:
    """Spend a budget on first actions in rounds, of equal shares; return the actions that are left, best first.

    Yields when the search waits for answers (:meth:`agents.search.running.Search.spending`).

    Parameters
    ----------
    search : Search
    clock : Clock
        Of the budget; its time is shared between the rounds too.
    arms : int64 array
        Of which those beyond the number of simulations are left out.
    better : callable
        ``arms -> arms``: which go on to the next round, best first.
    """
    budget = clock.budget
    arms, left, end = arms[: budget.simulations], budget.simulations, search.steps + budget.max_steps
    for rounds in range(max(1, math.ceil(math.log2(len(arms)))), 0, -1):
        if left < len(arms) or search.steps >= end:
            break
        simulations = NO_LIMIT if left == NO_LIMIT else max(1, left // rounds // len(arms)) * len(arms)
        left = left if left == NO_LIMIT else left - simulations
        now = time.perf_counter()
        seconds = max(0.0, clock.deadline - now) / rounds
        steps = NO_LIMIT if budget.max_steps == NO_LIMIT else -(-(end - search.steps) // rounds)
        share = Budget(simulations, seconds, steps, budget.steady)
        yield from search.spending(Clock(share, now), arms, until=clock.deadline)
        arms = better(arms)
    return arms


def _better_half(arms: Ints, values: Floats, control: int | None) -> Ints:
    """Return the better half of the actions; the control always stays, and has a challenger as long as possible."""
    kept = max(-(-len(arms) // 2), min(2, len(arms)) if control is not None else 1)
    ranked = arms[np.argsort(-np.nan_to_num(values[arms], nan=-math.inf), kind="stable")]
    if control is None:
        return ranked[:kept]
    return np.concatenate([[control], ranked[ranked != control][: kept - 1]])


def _ahead(search: Search, action: int) -> float:
    """Return by how many standard errors an action is ahead of the control, over all passes that both were in.

    One pass says nothing of the error.
    """
    count, total, squares = 0, 0.0, 0.0
    for tree in search.trees:
        edge = root_edge(tree, search.player, action)
        if edge:
            kept = tree.backup.per_edge[edge]
            count += int(kept[COUNT])
            total += kept[SUM]
            squares += kept[SQUARES]
    if count < 2:
        return 0.0
    spread = count * squares - total * total
    return total * math.sqrt(count / spread) if spread > 0.0 else math.copysign(math.inf, total) if total else 0.0
