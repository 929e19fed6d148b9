"""Sequential tests of two agents: stop as soon as it is clear which of two differences in strength is nearer."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import ceil, inf, log, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from agents.arena.statistics.estimates import LEVEL, checked_points
from agents.arena.statistics.gsprt import Floats, llr_of_scores, llr_of_t, score_of, t_of_normalized
from agents.spec import parse_settings
from mcts_envs.core import errors

LOGISTIC, NORMALIZED = "logistic", "normalized"
_MOST_ELO = 2000.0
_FINE = 1e-9
POWER = 0.8
"""How often a difference is found in so many boards as :func:`boards_needed` says."""


@dataclass(frozen=True)
class Sprt:
    """A generalised sequential probability ratio test of whether the first agent is ``elo1`` stronger, or ``elo0``.

    It looks at the results of boards (pairs of games, or blocks), one after the other, and stops when their
    log-likelihood ratio leaves ``bounds``. Being at most ``elo0`` stronger, the first agent is taken to be ``elo1``
    stronger with a probability of about ``alpha`` at most; being at least ``elo1`` stronger, to be ``elo0`` stronger
    with one of about ``beta`` at most.

    Attributes
    ----------
    elo0, elo1 : float
        By how much the first agent is stronger than the second, in Elo.
    alpha, beta : float
        Probabilities of error.
    model : str
        ``"logistic"``: Elo is what ratings are, ``400 log10(score / (1 - score))``. ``"normalized"``: Elo that counts
        a difference in standard deviations of a game, so that as many games are needed whatever the share of ties.

    Raises
    ------
    ValueError, TypeError
        If ``elo0`` is not less than ``elo1``, a probability not between 0 and 1/2, or there is no such model.

    References
    ----------
    A. Wald (1945), "Sequential tests of statistical hypotheses", Ann. Math. Stat. 16(2), for the bounds; M. Van den
    Bergh, "Comments on normalized Elo", https://www.cantate.be/Fishtest/normalized_elo_practical.pdf.
    """

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    beta: float = 0.05
    model: str = LOGISTIC

    def __post_init__(self) -> None:
        for name, least, most in (
            ("elo0", -_MOST_ELO, _MOST_ELO),
            ("elo1", -_MOST_ELO, _MOST_ELO),
            ("alpha", 1e-9, 0.499),
            ("beta", 1e-9, 0.499),
        ):
            errors.number(f"sprt {name}", getattr(self, name), least, most)
        errors.choice("sprt model", self.model, (LOGISTIC, NORMALIZED))
        if self.elo0 >= self.elo1:
            raise ValueError(
                f"sprt elo0={self.elo0:g} is not less than elo1={self.elo1:g}; give for example elo0=0,elo1=20"
            )

    def __str__(self) -> str:
        numbers = ",".join(f"{field.name}={getattr(self, field.name):g}" for field in fields(self)[:4])
        return numbers + (f",model={self.model}" if self.model != LOGISTIC else "")

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which the log-likelihood ratio leaves it open; Wald's."""
        return log(self.beta / (1.0 - self.alpha)), log((1.0 - self.beta) / self.alpha)

    def llr(self, scores: Sequence[float] | Floats, games: int = 2) -> float:
        """Return the log-likelihood ratio of ``elo1`` against ``elo0``.

        Parameters
        ----------
        scores : array [n]
            Mean points of the first agent on each board, in [0, 1].
        games : int
            How many games it plays on a board: 2 for pairs.

        Raises
        ------
        ValueError
            If a score is outside [0, 1], or NaN.
        """
        given = checked_points(scores)
        if not given.size:
            return 0.0
        counts, points = tally(given, games)
        return float(self.llr_of_counts(counts, games, points))

    def llr_of_counts(self, counts: npt.ArrayLike, games: int = 2, points: npt.ArrayLike | None = None) -> Floats:
        """Return the log-likelihood ratios of tables of counts [..., n].

        See :func:`agents.arena.statistics.gsprt.llr_of_scores`.
        Five counts are pairs of games, as fastchess has them: both lost, ..., both won.
        """
        if self.model == NORMALIZED:
            return llr_of_t(counts, t_of_normalized(self.elo0, games), t_of_normalized(self.elo1, games), points)
        return llr_of_scores(counts, score_of(self.elo0), score_of(self.elo1), points)

    def verdict(self, llr: float) -> str | None:
        """Return ``"H1"`` (``elo1`` it is), ``"H0"`` (``elo0`` it is), or None where it is open."""
        low, high = self.bounds
        return "H1" if llr >= high else "H0" if llr <= low else None

    def boards_expected(self, games: int = 2) -> tuple[int, int]:
        """Return about how many boards it takes on average: at ``elo0`` or ``elo1``, and at worst, half way between.

        Games are taken to be independent and without ties; with ties it takes fewer.

        References
        ----------
        Wald (1945), sections 4 and 5, for normal increments of the ratio.
        """
        variance, gap = _spread(self.elo0, self.elo1, self.model) / games, _gap(self.elo0, self.elo1, self.model)
        low, high = self.bounds
        step = gap * gap / variance
        at_ends = [
            ((1.0 - error) * abs(right) - error * abs(wrong)) / (step / 2.0)
            for error, right, wrong in ((self.alpha, low, high), (self.beta, high, low))
        ]
        return ceil(max(at_ends)), ceil(-low * high / step)


def parse_sprt(text: str) -> Sprt:
    """Read a test, ``elo0=0,elo1=20,alpha=0.05,beta=0.05``; what is left out is as here, ``model=logistic`` too.

    Raises
    ------
    ValueError, TypeError
        If there is no such setting, or a value is none.
    """
    parts = errors.text("sprt", text, "elo0=0,elo1=20").split(",")
    given = parse_settings([part for part in parts if part.strip()])
    for name in given:
        if name not in (known := [field.name for field in fields(Sprt)]):
            raise ValueError(errors.unknown("sprt setting", name, known))
    return Sprt(**given)


def tally(scores: Sequence[float] | Floats, games: int) -> tuple[Floats, Floats]:
    """Return how often there were which points: those of wins, ties and losses, or where there are others, those.

    Returns
    -------
    counts, points : array [n]
    """
    found, grid = np.asarray(scores, np.float64), np.linspace(0.0, 1.0, 2 * games + 1)
    nearest = np.rint(found * 2 * games)
    if np.abs(found * 2 * games - nearest).max(initial=0.0) < _FINE:
        return np.bincount(nearest.astype(int), minlength=len(grid)).astype(np.float64), grid
    points, counts = np.unique(np.concatenate([found, [0.0, 1.0]]), return_counts=True)
    counts[[0, -1]] -= 1
    return counts.astype(np.float64), points


def boards_needed(elo: float, games: float = 2, level: float = LEVEL, power: float = POWER) -> int:
    """Return how many boards are needed for an interval without 0 where an agent is so much stronger.

    Games are taken to be independent and without ties; with ties it takes fewer.

    Parameters
    ----------
    elo : float
        The difference, more than 0.
    games : float
        On a board: 2 for pairs; half as many where the two do not meet, but play as many each against the same others.
    level : float
        Of the interval.
    power : float
        How often the interval is to be without 0.

    Raises
    ------
    ValueError, TypeError
        If the difference is not more than 0, or a probability not between 0 and 1.

    References
    ----------
    J. L. Fleiss, B. Levin and M. C. Paik (2003), "Statistical Methods for Rates and Proportions", section 4.2, for the
    sample size; for one sample.
    """
    errors.number("elo", elo, 1e-3, _MOST_ELO)
    quantiles = [_quantile("level", 0.5 + level / 2, level), _quantile("power", power, power)]
    gap = score_of(elo) - 0.5
    deviations = 0.5, sqrt(score_of(elo) * score_of(-elo))
    return ceil((sum(q * d for q, d in zip(quantiles, deviations, strict=True)) / gap) ** 2 / games)


def games_needed(elo: float, level: float = LEVEL, power: float = POWER) -> int:
    """Return how many games, in pairs, are needed; see :func:`boards_needed`."""
    return 2 * boards_needed(elo, 2, level, power)


def difference_found(boards: int, games: float = 2) -> float:
    """Return the least difference in Elo that so many boards are enough for, or infinity; see :func:`boards_needed`."""
    low, high = 1e-3, _MOST_ELO
    if boards_needed(high, games) > boards:
        return inf
    while high - low > 0.01:
        middle = (low + high) / 2
        low, high = (low, middle) if boards_needed(middle, games) <= boards else (middle, high)
    return high


def _quantile(name: str, share: float, given: float) -> float:
    if not 0.0 < given < 1.0:
        raise ValueError(f"{name} {given} is not between 0 and 1")
    return NormalDist().inv_cdf(share)


def _gap(elo0: float, elo1: float, model: str) -> float:
    """Return the difference of the mean points, or of t for a game."""
    ends = [t_of_normalized(elo, 1) if model == NORMALIZED else score_of(elo) for elo in (elo0, elo1)]
    return ends[1] - ends[0]


def _spread(elo0: float, elo1: float, model: str) -> float:
    """Return the variance of a game half way between, in the units of :func:`_gap`."""
    middle = score_of((elo0 + elo1) / 2)
    return 1.0 if model == NORMALIZED else middle * (1.0 - middle)
