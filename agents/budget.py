"""How long a search may take."""

import math
from dataclasses import dataclass
from typing import Any

from mcts_envs.core import errors

NO_LIMIT = 2**62
LIMITS = ("simulations", "time_limit", "max_steps")


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
    """

    simulations: int = NO_LIMIT
    time_limit: float = math.inf
    max_steps: int = NO_LIMIT

    def limits(self) -> dict[str, float]:
        """Return the limits that there are, by name."""
        return {name: value for name, value in vars(self).items() if value not in (NO_LIMIT, math.inf)}

    def share(self, part: int, parts: int, unit: int = 1) -> "Budget":
        """Return the budget of one of several that work at the same time, its simulations in full units."""
        passes = self.simulations if self.simulations == NO_LIMIT else -(-self.simulations // unit)
        simulations = min(_share(passes, part, parts) * unit, NO_LIMIT)
        return Budget(simulations, self.time_limit, _share(self.max_steps, part, parts))


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
        limits["time_limit"] = errors.number("time_limit", time_limit, 1e-6, 1e6)
    if max_steps is not None:
        limits["max_steps"] = errors.integer("max_steps", max_steps, 1, NO_LIMIT)
    return Budget(**limits) if limits else None


def _share(amount: int, part: int, parts: int) -> int:
    return amount if amount == NO_LIMIT else amount // parts + (part < amount % parts)
