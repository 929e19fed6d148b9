"""Policy search: what looks at an observation and acts, kept from move to move and bettered by chance."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from agents.budget import Clock
from agents.planner import Planner
from agents.planners.runs import MAX_HORIZON, RunsResult, Trial
from mcts_envs.core import errors
from mcts_envs.core.rng import draw
from mcts_envs.core.view import View

_KEPT = 4
"""Plans that are bred from."""

_WALKS = 10
"""Simulations of an episode that act in runs at random, by which the scale of observations is known."""

_FRESH, _CUT, _RUN = 0.1, 0.3, 0.4
"""Of children: share of those that are drawn anew, that change their policy on the way, and for a run of one action."""

_LONGEST = 4.5
"""Longest run, as a power of two."""

_SMALLEST, _LARGEST = -2.0, 0.3
"""Sizes of a mutation, as powers of ten, in standard deviations of what is observed."""


class Plan(NamedTuple):
    """Policies that follow one another, and what came of them.

    Attributes
    ----------
    value : float
        The return when it was last tried; -inf where it began with another action than was made.
    policies : list of (float, ndarray)
        The step before which each ends, and its weights: ``[actions, numbers observed + 1]``, the last for a 1.
    line : list of int
        The actions that they chose.
    paid : list of float
        What each of them was paid.
    fresh : bool
        Whether it was tried from the present state. Chance may have led to another than it met before, in which it is
        worth something else, and its first action may not be legal.
    """

    value: float
    policies: list[tuple[float, Any]]
    line: list[int]
    paid: list[float]
    fresh: bool = True


class Scale:
    """Mean and standard deviation of what was observed, number by number."""

    def __init__(self, size: int) -> None:
        self._count, self._sum, self._squares = 0, np.zeros(size), np.zeros(size)

    def add(self, seen: list[Any]) -> None:
        """Take observations into account."""
        rows = np.array(seen)
        self._count += len(rows)
        self._sum += rows.sum(0)
        self._squares += (rows * rows).sum(0)

    def weights(self, drawn: Any) -> Any:
        """Return weights for what is observed that do as those drawn do for what is standardized."""
        if not self._count:
            return drawn
        mean = self._sum / self._count
        deviation = np.sqrt(np.maximum(self._squares / self._count - mean * mean, 0.0))
        inside = drawn[:, :-1] / np.where(deviation > 1e-6, deviation, 1.0)
        return np.column_stack([inside, drawn[:, -1] - inside @ mean])


class PolicySearch(Planner[RunsResult]):
    """Evolution of linear policies that follow one another: each acts by the greatest of as many sums as actions.

    Where a body is to be steered, acting at random gets nowhere, and a line of actions does not answer what it meets. A
    linear policy of what is observed may (H. Mania, A. Guy and B. Recht 2018, "Simple random search of static linear
    policies is competitive for reinforcement learning"), and needs to be good only from here on. The best plans are
    kept until the episode ends, shifted by the action that was made; none is played that was not tried again from where
    the game is now. Children of them, in which another policy takes over or an action is done several times in a row,
    take the place of worse ones: a (4 + 1) evolution strategy. It is for games of one player in which chance decides
    little, and in which numbers are observed.

    Parameters
    ----------
    horizon : int
        Steps that are looked ahead.
    discount : float
        Discount of rewards a step.
    **budget
        ``simulations`` (1000 when no budget is given), ``time_limit``, ``max_steps`` and ``seed`` as in
        :class:`agents.planner.Planner`.

    Raises
    ------
    ValueError, TypeError
        If a setting is not possible.
    """

    name = "policy_search"

    def __init__(self, *, horizon: int = 300, discount: float = 1.0, **budget: Any) -> None:
        super().__init__(**budget)
        self.horizon = errors.integer("horizon", horizon, 1, MAX_HORIZON)
        self.discount = errors.number("discount", discount, 0.0, 1.0)

    def plan(self, view: View, clock: Clock) -> RunsResult:
        """Return what the search finds.

        Raises
        ------
        ValueError
            If the game is for several players.
        """
        game, memory = view.game, self.memory(view)
        self.check_alone(game)
        trial = Trial(view, self.stream, self.horizon, self.discount)
        breeding = _Breeding(self, view, memory)
        while clock.slice(1):
            before = trial.steps
            breeding.simulate(trial)
            clock.spend(1, trial.steps - before)
        best = breeding.best()
        memory["kept"] = [best, *(plan for plan in breeding.kept if plan is not best)]
        spent = clock.simulations, clock.steps, clock.seconds
        return RunsResult(best.line[0], best.value, best.line, trial.copies(), *spent, game, view.copied())


class _Breeding:
    """Plans from one state, the best first."""

    def __init__(self, planner: PolicySearch, view: View, memory: dict[str, Any]) -> None:
        self._game, self._player, self._horizon = view.game, view.player, planner.horizon
        self._blind = getattr(view.state, "seen", self) is None  # the environment does not say again what it showed
        self._chance = np.random.default_rng(int(draw(planner.stream)))
        self._seen = np.zeros(math.prod(view.game.observation_shape) + 1, np.float32)
        self._seen[-1] = 1.0
        self._memory = memory
        self._scale: Scale = memory.setdefault("scale", Scale(len(self._seen) - 1))
        self.kept: list[Plan] = memory.get("kept", [])
        for _ in range(planner.moved(view, memory)):
            self.kept = _shifted(self.kept, planner.discount)
        self.kept = [plan._replace(fresh=False) for plan in self.kept]
        self._last: Plan | None = None

    def best(self) -> Plan:
        """Return the best plan of those tried from this state."""
        assert self._last is not None
        return next((plan for plan in self.kept if plan.fresh), self._last)

    def simulate(self, trial: Trial) -> None:
        """Try the best plan again, if that is one of before, or a child."""
        if self.kept and not self.kept[0].fresh:
            best = self.kept.pop(0)
            policies, first = best.policies, best.line[0]
        else:
            policies, first = self._child()
        rows: list[Any] = []
        value, line = trial.follow(self._acting(policies, first, rows))
        if rows:
            self._scale.add(rows)
        self._last = Plan(value, policies, line, trial.paid)
        self.kept.append(self._last)
        self.kept.sort(key=lambda plan: (-plan.value, not plan.fresh))
        del self.kept[_KEPT:]

    def _acting(self, policies: list[Any], first: int, rows: list[Any]) -> Callable[[Any, list[int]], int]:
        """Return what acts by policies, and keeps in rows what it observes."""
        game, player, seen, left = self._game, self._player, self._seen, iter(policies)
        until, weights = next(left)

        def choose(state: Any, made: list[int]) -> int:
            nonlocal until, weights
            if not made and self._blind:
                return first
            while len(made) >= until:
                until, weights = next(left)
            game.observe(state, player, seen[:-1])
            rows.append(seen[:-1].copy())
            return int(np.vecdot(weights, seen).argmax())  # dot warns at times of what BLAS reads beyond an array

        return choose

    def _child(self) -> tuple[list[Any], int]:
        """Return policies like others, and what is done first where nothing is seen."""
        chance, walks = self._chance, self._memory.get("walks", 0)
        first = int(chance.integers(self._game.actions))
        if walks < _WALKS:
            self._memory["walks"] = walks + 1
            return self._walk(), first
        if not self.kept or chance.random() < _FRESH:
            return [(math.inf, self._drawn())], first
        parent = self.kept[0 if chance.random() < 0.5 else int(chance.integers(len(self.kept)))]
        kind, at = chance.random(), int(chance.integers(len(parent.line)))
        at = at if kind < _CUT + _RUN else 0
        first = parent.line[0] if at else first
        before = [(min(until, at), weights) for until, weights in parent.policies]
        kept = [before[i] for i in range(len(before)) if (before[i - 1][0] if i else 0) < before[i][0]]
        after = [(until, weights) for until, weights in parent.policies if until > at]
        if kind < _RUN:
            end = at + self._length()
            return [*kept, (end, self._constant()), *(each for each in after if each[0] > end)], first
        size = 10 ** chance.uniform(_SMALLEST, _LARGEST)
        share = (1.0, 0.3, 0.1)[int(chance.integers(3))]
        return [*kept, (math.inf, after[0][1] + self._drawn(size, share))], first

    def _drawn(self, size: float = 1.0, share: float = 1.0) -> Any:
        """Return weights at random, of which a share is not 0."""
        shape = self._game.actions, len(self._seen)
        weights = size * self._chance.normal(size=shape) * (self._chance.random(shape) < share)
        return self._scale.weights(weights).astype(np.float32)

    def _walk(self) -> list[Any]:
        """Return policies that do one action for a while, then another."""
        policies, at = [], 0
        while at < self._horizon:
            at += self._length()
            policies.append((at, self._constant()))
        return [*policies[:-1], (math.inf, policies[-1][1])]

    def _length(self) -> int:
        return int(2 ** self._chance.uniform(0.0, _LONGEST))

    def _constant(self) -> Any:
        """Return weights that choose an action whatever is seen."""
        weights = np.zeros((self._game.actions, len(self._seen)), np.float32)
        weights[int(self._chance.integers(self._game.actions)), -1] = 1.0
        return weights


def _shifted(kept: list[Plan], discount: float) -> list[Plan]:
    """Return plans after the first action of the best was made."""
    shifted = []
    for plan in kept:
        value = (plan.value - plan.paid[0]) / (discount or 1.0) if plan.line[0] == kept[0].line[0] else -math.inf
        if len(plan.line) > 1:
            policies = [(until - 1, weights) for until, weights in plan.policies if until > 1]
            shifted.append(Plan(value, policies, plan.line[1:], plan.paid[1:]))
    return shifted
