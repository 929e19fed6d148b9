"""How long a search may take, and how its time is spent."""

import math
import time
from dataclasses import dataclass, replace
from typing import Any

from mcts_envs.core import errors

NO_LIMIT = 2**62
LIMITS = ("simulations", "time_limit", "max_steps")

SLICE_SECONDS = 0.005
"""Compiled code runs for about as long before Python looks at the clock and at interrupts again."""

_STEADY_SLICE = 1024

_WORTHWHILE = 0.5
"""Another simulation is begun where there is time for this share of it: the end is missed by half of one at most."""


@dataclass(frozen=True)
class Budget:
    """Limits of a search, of which the tightest ends it.

    Attributes
    ----------
    simulations : int
    time_limit : float
        In seconds.
    max_steps : int
        Steps of the model.
    steady : bool
        Without a limit of time, slices are of one size, whatever the time that they take: so searches that wait for a
        network ask it the same questions in the same batches, which decide how its sums are rounded.
    """

    simulations: int = NO_LIMIT
    time_limit: float = math.inf
    max_steps: int = NO_LIMIT
    steady: bool = False

    def limits(self) -> dict[str, float]:
        """Return the limits that there are, by name."""
        return {name: value for name in LIMITS if (value := getattr(self, name)) not in (NO_LIMIT, math.inf)}

    def share(self, part: int, parts: int, unit: int = 1) -> "Budget":
        """Return the budget of one of several that work at the same time, its simulations in full units."""
        passes = self.simulations if self.simulations == NO_LIMIT else -(-self.simulations // unit)
        simulations = min(_share(passes, part, parts) * unit, NO_LIMIT)
        return replace(self, simulations=simulations, max_steps=_share(self.max_steps, part, parts))


def read_budget(
    simulations: int | None = None, time_limit: float | None = None, max_steps: int | None = None
) -> Budget | None:
    """Return the budget with these limits; None if there are none.

    Raises
    ------
    TypeError, ValueError
        If a limit is no number, or not positive.
    """
    limits: dict[str, Any] = {}
    if simulations is not None:
        limits["simulations"] = errors.integer("simulations", simulations, 1, NO_LIMIT)
    if time_limit is not None:
        limits["time_limit"] = errors.number("time_limit in seconds", time_limit, 1e-6, 1e6)
    if max_steps is not None:
        limits["max_steps"] = errors.integer("max_steps", max_steps, 1, NO_LIMIT)
    return Budget(**limits) if limits else None


class Clock:
    """A budget that is being spent, in slices.

    ::

        while count := clock.slice():
            ...  # so many simulations
            clock.spend(count, steps)

    A slice takes a few milliseconds, and no more than half of the time that is left, as far as the last one tells how
    long a simulation takes; it is at most twice as large as the last, since later simulations may take longer. So
    compiled code can be interrupted, and overruns a limit of time by little more than one simulation.

    Parameters
    ----------
    budget : Budget
    started : float, optional
        When its time began, as ``time.perf_counter`` counts; by default now.
    begun : bool
        Whether there is something to show already. Else there is one slice, however short the time.
    least : int
        Unless it has begun, so many simulations are made, however short the time.

    Attributes
    ----------
    budget : Budget
    started, deadline : float
        When its time began and ends.
    simulations, steps : int
        What has been spent: simulations, and steps of the model.
    """

    def __init__(self, budget: Budget, started: float | None = None, begun: bool = False, least: int = 1) -> None:
        self.budget, self._least = budget, 0 if begun else least
        self.started = time.perf_counter() if started is None else started
        self.deadline = self.started + budget.time_limit
        self.simulations = self.steps = 0
        self._begun, self._count, self._most, self._rate = begun, 0, 1, 0.0
        self._slice_began = self.started

    @property
    def seconds(self) -> float:
        """The time since it began."""
        return time.perf_counter() - self.started

    def until_fewer_than(self, lead: int, longest: int) -> int:
        """Return how many simulations it takes at least until fewer are left than so many and those; 0 if they are.

        Parameters
        ----------
        lead : int
        longest : int
            Steps of the model that a simulation takes at most. How long one takes is told by the last slice.
        """
        time_left = max(self.deadline - time.perf_counter(), 0.0)
        by_time = self._rate * time_left if time_left < math.inf else math.inf
        simulations = min(self.budget.simulations - self.simulations, by_time)
        steps = self.budget.max_steps - self.steps
        if lead > min(simulations, steps):
            return 0
        return 1 + int(min((simulations - lead) // 2, (steps - lead) // (1 + longest)))

    def slice(self, most: int = NO_LIMIT, unit: int = 1) -> int:
        """Return how many simulations to do now, up to ``most``; 0 when the budget is spent.

        As each takes a step of the model at least, they are no more than the steps that are left. Where whole units fit
        into a slice, it is made of these.
        """
        now = time.perf_counter()
        left = min(self.budget.simulations - self.simulations, self.budget.max_steps - self.steps, most)
        if left <= 0 or (self._begun and self.simulations >= self._least and not self._worthwhile(now)):
            return 0
        if self.budget.steady and self.deadline == math.inf:
            count = min(_STEADY_SLICE, max(unit, self._most), left)
        else:
            fit = int(self._rate * min(SLICE_SECONDS, max(self.deadline - now, 0.0) / 2))
            count = min(max(1, fit), self._most, left)
        self._slice_began, self._count = now, count if count < unit else count - count % unit
        return self._count

    def _worthwhile(self, now: float) -> bool:
        """Say whether half a simulation has time; the first one, which prepares much, does not tell."""
        if now >= self.deadline:
            return False
        return self.simulations < 2 or self._rate <= 0.0 or self._rate * (self.deadline - now) >= _WORTHWHILE

    def resumed(self, since: float, done: int) -> bool:
        """Leave out of a slice, of which ``done`` are done, the time that it waited; return whether it may go on."""
        now = time.perf_counter()
        self._slice_began += now - since
        return now < self.deadline or not (self._begun or done)

    def spend(self, simulations: int, steps: int, done: int | None = None) -> None:
        """Count the simulations and the steps of a slice; ``done`` of it, where it is not counted in simulations."""
        self.simulations += simulations
        self.steps += steps
        self._rate = (simulations if done is None else done) / max(time.perf_counter() - self._slice_began, 1e-9)
        self._begun, self._most = True, 2 * self._count


def _share(amount: int, part: int, parts: int) -> int:
    return amount if amount == NO_LIMIT else amount // parts + (part < amount % parts)
