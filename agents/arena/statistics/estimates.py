"""Estimates with intervals: win rates, means and paired differences."""

from collections.abc import Sequence
from math import nan, sqrt
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LEVEL = 0.95


class Estimate(NamedTuple):
    """A value with the ends of its confidence interval; NaN where the data say nothing."""

    value: float
    low: float
    high: float


UNKNOWN = Estimate(nan, nan, nan)
"""Of nothing."""

Values = Sequence[float] | npt.NDArray[np.float64]


def wilson(wins: float, games: int, level: float = LEVEL) -> Estimate:
    """Return a win rate with its score interval.

    Parameters
    ----------
    wins : float
        Points won, of at most 1 a game. Ties may count in part: the variance of points in [0, 1] is at most that of
        wins and losses with the same mean, so that the interval is then rather too wide than too narrow.
    games : int
    level : float

    Raises
    ------
    ValueError
        If the wins are not from 0 to ``games``, or the level is not between 0 and 1.

    References
    ----------
    E. B. Wilson (1927), "Probable inference, the law of succession, and statistical inference", JASA 22.
    """
    z = _normal_quantile(level)
    if not 0 <= wins <= games:
        raise ValueError(f"wins {wins} is outside [0, {games}], the number of games")
    if games == 0:
        return UNKNOWN
    rate = wins / games
    centre = (rate + z * z / (2 * games)) / (1 + z * z / games)
    half = z / (1 + z * z / games) * sqrt(rate * (1 - rate) / games + z * z / (4 * games * games))
    return Estimate(rate, min(max(centre - half, 0.0), rate), max(min(centre + half, 1.0), rate))


def student_mean(values: Values, level: float = LEVEL) -> Estimate:
    """Return the mean of values [n] with Student's t interval.

    It holds what it says for few values too, where a percentile bootstrap is too narrow (of 95 % it covers 75 with 3
    normal values, 85 with 5, 90 with 10). It believes what it saw: where one value in a hundred is another it covers 62
    with 100, 91 with 400. One value alone has no interval (NaN); equal values have one of no width.

    Raises
    ------
    ValueError
        If the level is not between 0 and 1.

    References
    ----------
    Student (1908), "The probable error of a mean", Biometrika 6(1). T. C. Hesterberg (2015), "What teachers should know
    about the bootstrap", The American Statistician 69(4): how narrow that is.
    """
    from scipy.special import stdtrit  # Late: workers need no statistics.

    _normal_quantile(level)
    sample = np.asarray(values, np.float64)
    n = len(sample)
    if n < 2:
        return Estimate(float(sample[0]) if n else nan, nan, nan)
    mean = float(sample.mean())
    if np.ptp(sample) == 0.0:
        return Estimate(mean, mean, mean)
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * float(sample.std(ddof=1)) / sqrt(n)
    return Estimate(mean, mean - half, mean + half)


def paired_difference(a: Values, b: Values, level: float = LEVEL) -> Estimate:
    """Return the mean of ``a - b`` over pairs [n] with Student's t interval; see :func:`student_mean`.

    Raises
    ------
    ValueError
        If there are not as many of one as of the other.
    """
    return student_mean(_differences(a, b), level)


def paired_rates(a: Values, b: Values, level: float = LEVEL) -> Estimate:
    """Return the difference between two win rates over pairs [n] with an adjusted Wald interval.

    The interval is that of the data and one more pair won by each side. Unlike Student's it keeps its width when all
    the few pairs there are came out alike.

    Parameters
    ----------
    a, b : array [n]
        Points in [0, 1]; ties may count in part.
    level : float

    Raises
    ------
    ValueError
        If there are not as many of one as of the other, or the level is not between 0 and 1.

    References
    ----------
    D. G. Bonett and R. M. Price (2012), "Adjusted Wald confidence interval for a difference of binomial proportions
    based on paired data", Journal of Educational and Behavioral Statistics 37(4).
    """
    z = _normal_quantile(level)
    differences = _differences(a, b)
    if len(differences) == 0:
        return UNKNOWN
    adjusted = np.append(differences, [1.0, -1.0])
    half = z * float(adjusted.std()) / sqrt(len(adjusted))
    value, centre = float(differences.mean()), float(adjusted.mean())
    return Estimate(value, max(centre - half, -1.0), min(centre + half, 1.0))


def checked_points(scores: Values) -> npt.NDArray[np.float64]:
    """Return mean points of boards as an array [n].

    Raises
    ------
    ValueError
        If one is outside [0, 1], or NaN.
    """
    given = np.asarray(scores, np.float64)
    if given.size and not (given.min() >= 0.0 and given.max() <= 1.0):
        raise ValueError("a score is outside [0, 1]; give mean points of boards")
    return given


def mean_points(points: Values, level: float = LEVEL, games: Sequence[int] | None = None) -> Estimate:
    """Return the mean of points in [0, 1] with an adjusted Wald interval, for two seats or more.

    The interval is that of the data and of one more board that each side wins; see :func:`paired_rates`.

    Parameters
    ----------
    points : array [n]
        Mean points of a player in all its games on a start board. Games on the same board depend on each other, boards
        do not.
    level : float
    games : sequence of int, optional
        How many games those are, where not as many on each board: the mean is then that of all games, and each board
        deviates from it as a ratio estimate does.

    Raises
    ------
    ValueError
        If the level is not between 0 and 1.

    References
    ----------
    W. G. Cochran (1977), "Sampling Techniques", section 9A: clusters of unequal sizes.
    """
    won = np.asarray(points, np.float64)
    if games is not None and len(set(games)) > 1:
        mean = np.average(won, weights=games)
        won = mean + (won - mean) * np.asarray(games) / np.mean(games)
    return Estimate(*(0.5 + 0.5 * part for part in paired_rates(won, 1.0 - won, level)))


def _differences(a: Values, b: Values) -> npt.NDArray[np.float64]:
    if len(a) != len(b):
        raise ValueError(f"{len(a)} and {len(b)} values make no pairs; give the same episodes of both")
    return np.asarray(a, np.float64) - np.asarray(b, np.float64)


def _normal_quantile(level: float) -> float:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level {level} is not between 0 and 1; 0.95 is usual")
    return NormalDist().inv_cdf(0.5 + level / 2)
