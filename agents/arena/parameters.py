"""Parameters to tune, as people write them on a command line."""

import math
import re
from dataclasses import dataclass
from typing import Any

from agents.spec import parse_value

_EXAMPLES = "c=0.1:2:log, horizon=10:100 or select=ucb1,puct"
_DIGITS = 4


@dataclass(frozen=True)
class Parameter:
    """A setting of an agent, and what it may be: numbers from ``low`` to ``high``, or one of ``choices``.

    Attributes
    ----------
    name : str
    low, high : int or float
        Both whole: whole numbers.
    log : bool
        Whether ratios matter, not differences.
    choices : tuple
    """

    name: str
    low: float = 0.0
    high: float = 0.0
    log: bool = False
    choices: tuple[Any, ...] = ()

    def __str__(self) -> str:
        if self.choices:
            return f"{self.name}={','.join(map(str, self.choices))}"
        return f"{self.name}={self.low}:{self.high}{':log' if self.log else ''}"

    @property
    def ends(self) -> tuple[Any, ...]:
        """Values that it may have: the choices, or the least number and the greatest."""
        return self.choices or (self.low, self.high)

    def of(self, inner: Any) -> Any:
        """Return a value that Optuna chose; of numbers that are not whole, four digits."""
        if self.choices:
            return self.choices[inner]
        return inner if isinstance(self.low, int) else min(max(float(f"{inner:.{_DIGITS}g}"), self.low), self.high)

    def space(self, distributions: Any) -> Any:
        """Return what it may be, given Optuna's module of distributions."""
        if self.choices:
            return distributions.CategoricalDistribution(tuple(range(len(self.choices))))
        whole = isinstance(self.low, int)
        kind = distributions.IntDistribution if whole else distributions.FloatDistribution
        return kind(self.low, self.high, log=self.log)

    def inner(self, value: Any) -> Any:
        """Return a value as Optuna keeps it: choices by their number."""
        return self.choices.index(value) if self.choices else value


def parse_parameter(text: str) -> Parameter:
    """Read ``c=0.1:2``, ``c=0.1:2:log``, ``horizon=10:100`` (whole numbers) or ``select=ucb1,puct``.

    Raises
    ------
    ValueError
        If it is none of these, or allows no more than one value.
    """
    name, equals, allowed = text.strip().partition("=")
    if not equals or not name.isidentifier() or not allowed:
        raise ValueError(f"param {text!r} is none; write for example {_EXAMPLES}")
    if ":" not in allowed:
        choices = tuple(parse_value(part.strip()) for part in allowed.split(",") if part.strip())
        if len({repr(choice) for choice in choices}) < max(2, len(choices)):
            raise ValueError(f"param {text!r} leaves no choice, or one twice; write for example {_EXAMPLES}")
        return Parameter(name, choices=choices)
    found = re.fullmatch(r"([^:,]+):([^:,]+)(:log)?", allowed)
    ends = [parse_value(found[i]) for i in (1, 2)] if found else []
    if len(ends) < 2 or any(type(end) not in (int, float) or not math.isfinite(end) for end in ends):
        raise ValueError(f"param {text!r} has no two numbers with a colon between; write for example {_EXAMPLES}")
    low, high = ends if all(type(end) is int for end in ends) else map(float, ends)
    log = allowed.endswith(":log")
    if low >= high:
        raise ValueError(f"param {text!r}: {low} is not less than {high}; write the lower one first")
    if log and low <= 0:
        raise ValueError(f"param {text!r}: with log the least must be more than 0, and is {low}")
    return Parameter(name, low, high, log)
