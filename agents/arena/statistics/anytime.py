"""A confidence sequence: intervals that hold for those who look at them as often, and stop, as they like."""

from collections.abc import Sequence
from math import log, sqrt

import numpy as np
import numpy.typing as npt

from agents.arena.statistics.estimates import LEVEL, UNKNOWN, Estimate, checked_points

_GRID = 1001
_BOLDEST = 0.5


def confidence_sequence(scores: Sequence[float] | npt.NDArray[np.float64], level: float = LEVEL) -> list[Estimate]:
    """Return the mean after each board with an interval; all of them hold together with this probability.

    It is what is left of the means in [0, 1] when against each of them somebody bets on higher, somebody else on lower
    scores, and those go at which either has made a fortune. Nothing else is supposed than that boards are independent
    and their scores in [0, 1].

    Parameters
    ----------
    scores : array [n]
        Points of boards in [0, 1], in the order in which they were to be played.
    level : float

    Returns
    -------
    list of Estimate
        ``n`` of them. The ends are multiples of 0.001, rounded outwards.

    Raises
    ------
    ValueError
        If a score is not in [0, 1], or the level not between 0 and 1.

    References
    ----------
    I. Waudby-Smith and A. Ramdas (2024), "Estimating means of bounded random variables by betting", J. R. Stat. Soc. B
    86(1): the hedged capital process, with predictable plug-in bets.
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level {level} is not between 0 and 1; 0.95 is usual")
    given = checked_points(scores)
    means = np.linspace(0.0, 1.0, _GRID)
    most_up, most_down = _BOLDEST / np.maximum(means, 1e-9), _BOLDEST / np.maximum(1.0 - means, 1e-9)
    up, down = np.zeros(_GRID), np.zeros(_GRID)
    fortune = log(2.0 / (1.0 - level))
    total, squares, low, high = 0.5, 0.25, 0.0, 1.0
    found = []
    for count, score in enumerate(given.tolist(), 1):
        bet = sqrt(2.0 * fortune / (squares * log(count + 1.0)))
        up += np.log1p(np.minimum(bet, most_up) * (score - means))
        down += np.log1p(-np.minimum(bet, most_down) * (score - means))
        left = np.flatnonzero(np.maximum(up, down) < fortune)
        if len(left):
            step = 1.0 / (_GRID - 1)
            low, high = max(low, means[left[0]] - step), min(high, means[left[-1]] + step)
        total += score
        squares += (score - total / (count + 1)) ** 2
        found.append(Estimate(float(given[:count].mean()), float(low), float(high)))
    return found


def anytime(scores: Sequence[float] | npt.NDArray[np.float64], level: float = LEVEL) -> Estimate:
    """Return the last interval of :func:`confidence_sequence`; NaN where there is no board."""
    return confidence_sequence(scores, level)[-1] if len(scores) else UNKNOWN
