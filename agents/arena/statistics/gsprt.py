"""The log-likelihood ratio of a generalised sequential probability ratio test over pairs or blocks of games.

It is the one of fastchess, digit for digit: M. Van den Bergh, "Comments on normalized Elo",
https://www.cantate.be/Fishtest/normalized_elo_practical.pdf, solved as fastchess solves it (app/src/matchmaking/sprt),
with its tolerances. All functions take many tables of counts at once.
"""

from collections.abc import Callable
from math import inf, log, log10, sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

_EMPTY = 1e-3
"""Stands for a count of 0."""
_SCORE_TOLERANCE, _T_TOLERANCE, _P_TOLERANCE = 1e-3, 1e-7, 1e-4
_K1, _N0 = 0.1, 0.99
_MOST_ROUNDS = 1000


def score_of(elo: float) -> float:
    """Return the mean points of an agent that is so many Elo stronger than the other."""
    return float(1.0 / (1.0 + 10.0 ** (-elo / 400.0)))


def elo_of(score: float) -> float:
    """Return by how many Elo an agent with these mean points is stronger than the other; infinite for 0 and for 1."""
    return 400.0 * log10(score / (1.0 - score)) if 0.0 < score < 1.0 else (inf if score >= 1.0 else -inf)


def llr_of_scores(counts: npt.ArrayLike, score0: float, score1: float, points: npt.ArrayLike | None = None) -> Floats:
    """Return the log-likelihood ratio of mean points ``score1`` against ``score0``.

    Parameters
    ----------
    counts : array [..., n]
        How many results had 0, 1/(n-1), ..., 1 points: n is 3 for games, 5 for pairs of games.
    score0, score1 : float
        Mean points, between 0 and 1.
    points : array [n], optional
        Other points, from 0 to 1, in rising order.

    Returns
    -------
    array [...]

    References
    ----------
    Proposition 1.1 of Van den Bergh, after A. Owen (2001), "Empirical Likelihood", chapter 2.
    """
    total, shares, grid = _shares(counts, points)
    return _ratio(total, shares, *(_with_mean(shares, grid, score) for score in (score0, score1)))


def llr_of_t(counts: npt.ArrayLike, t0: float, t1: float, points: npt.ArrayLike | None = None) -> Floats:
    """Return the log-likelihood ratio of ``t1`` against ``t0``, where t is (mean points - 1/2) / standard deviation.

    Parameters
    ----------
    counts : array [..., n]
        As in :func:`llr_of_scores`.
    t0, t1 : float
    points : array [n], optional

    Returns
    -------
    array [...]

    References
    ----------
    Section 4.1 of Van den Bergh.
    """
    total, shares, grid = _shares(counts, points)
    return _ratio(total, shares, *(_with_t(shares, grid, t) for t in (t0, t1)))


def t_of_normalized(elo: float, games: int) -> float:
    """Return the t of a block of so many games whose normalised Elo is this: 800 / ln 10 makes one of a game."""
    return elo * sqrt(games) * log(10.0) / 800.0


def _shares(counts: npt.ArrayLike, points: npt.ArrayLike | None) -> tuple[Floats, Floats, Floats]:
    table = np.asarray(counts, np.float64)
    filled = np.where(table == 0.0, _EMPTY, table)
    total: Floats = filled.sum(-1, keepdims=True)
    grid = np.linspace(0.0, 1.0, table.shape[-1]) if points is None else np.asarray(points, np.float64)
    return total[..., 0], filled / total, grid


def _ratio(total: Floats, shares: Floats, p0: Floats, p1: Floats) -> Floats:
    found: Floats = total * (shares * (np.log(p1) - np.log(p0))).sum(-1)
    return found


def _with_mean(shares: Floats, points: Floats, score: float) -> Floats:
    """Return the likeliest distribution that has this mean."""
    flat, away = shares.reshape(-1, len(points)), points - score
    theta = _tilt(flat, np.broadcast_to(away, flat.shape), _SCORE_TOLERANCE)
    return (flat / (1.0 + theta[:, None] * away)).reshape(shares.shape)


def _with_t(shares: Floats, points: Floats, t: float) -> Floats:
    """Return the likeliest distribution that has this t, by iteration from the uniform one."""
    flat = shares.reshape(-1, len(points))
    found, left = np.full_like(flat, 1.0 / len(points)), np.arange(len(flat))
    for _ in range(_MOST_ROUNDS):
        p = found[left]
        mean = (p * points).sum(-1, keepdims=True)
        deviation = np.sqrt((p * (points - mean) ** 2).sum(-1, keepdims=True))
        phi = points - 0.5 - 0.5 * t * deviation * (1.0 + ((points - mean) / deviation) ** 2)
        found[left] = flat[left] / (1.0 + _tilt(flat[left], phi, _T_TOLERANCE)[:, None] * phi)
        left = left[np.abs(found[left] - p).max(-1) >= _P_TOLERANCE]
        if not len(left):
            break
    return found.reshape(shares.shape)


def _tilt(shares: Floats, phi: Floats, tolerance: float) -> Floats:
    """Return the theta at which the mean of phi / (1 + theta phi) is 0."""

    def slope(theta: Floats, of: npt.NDArray[np.bool_]) -> Floats:
        found: Floats = (shares[of] * phi[of] / (1.0 + theta[:, None] * phi[of])).sum(-1)
        return found

    return _root(slope, -1.0 / phi.min(-1), -1.0 / phi.max(-1), tolerance)


def _root(
    slope: Callable[[Floats, npt.NDArray[np.bool_]], Floats], negative: Floats, positive: Floats, tolerance: float
) -> Floats:
    """Return a root of each of many functions between an end where it is negative and one where it is positive.

    References
    ----------
    I. F. D. Oliveira and R. H. C. Takahashi (2021), "An enhancement of the bisection method average performance
    preserving minmax optimality" (ITP), ACM Trans. Math. Softw. 47(1).
    """
    a, b = negative.copy(), positive.copy()
    at_a, at_b = np.full_like(a, -inf), np.full_like(b, inf)
    most = np.ceil(np.log2(np.abs(b - a) / (2.0 * tolerance))) + _N0
    for turn in range(_MOST_ROUNDS):
        wide = np.abs(b - a) > 2.0 * tolerance
        if not wide.any():
            break
        low, high, at_low, at_high = a[wide], b[wide], at_a[wide], at_b[wide]
        with np.errstate(invalid="ignore", over="ignore"):
            half, width = (low + high) / 2.0, high - low
            straight = (at_high * low - at_low * high) / (at_high - at_low)
            side = np.sign(half - straight)
            moved = np.where(_K1 * width**2 <= np.abs(half - straight), straight + side * _K1 * width**2, half)
            reach = tolerance * 2.0 ** (most[wide] - turn) - width / 2.0
            guess = np.where(np.abs(moved - half) <= reach, moved, half - side * reach)
        value = slope(guess, wide)
        below, above = value <= 0.0, value >= 0.0  # a root itself becomes both ends
        a[wide], at_a[wide] = np.where(below, guess, low), np.where(below, value, at_low)
        b[wide], at_b[wide] = np.where(above, guess, high), np.where(above, value, at_high)
    return (a + b) / 2.0
