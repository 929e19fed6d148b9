"""Ratings of agents on the Elo scale: Bradley-Terry for games of two, Plackett-Luce for games of more.

Both are Luce's choice axiom: of those who are still there, each is the next best with a probability that is
proportional to its strength, 10^(Elo/400). Intervals are by a bootstrap over boards, whose games depend on each other.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, inf, log, nan, sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agents.arena.statistics import LEVEL, Estimate

Floats: TypeAlias = npt.NDArray[np.float64]

ELO = 400.0 / log(10.0)
"""Elo of a factor e in strength."""
RESAMPLES = 1000
"""Of the bootstrap."""
_BATCH_CELLS = 250_000
"""Of a bootstrap at once: a few MB, however many games there are."""
_MOST_STEPS, _LONGEST_STEP, _ACCURACY = 200, 1.0, 1e-12
_MOST_TIED = 8
_MOST_AT_ONCE, _TIES, _NOTHING = 500, 2.0, 1e-6


@dataclass(frozen=True)
class Choices:
    """What games say about ``k`` agents, board by board, in the terms of Luce's choice axiom.

    Attributes
    ----------
    wins : array [boards, k]
        How often each was chosen from a set.
    sets : array [s, k]
        How many seats each agent has in each set.
    times : array [boards, s]
        How often something was chosen from each set.
    beaten : array [k, k]
        Points of each (row) against each other one, over all boards.
    """

    wins: Floats
    sets: Floats
    times: Floats
    beaten: Floats

    @property
    def met(self) -> Floats:
        """Points that each (row) and each other one played for, array [k, k]."""
        return self.beaten + self.beaten.T

    @property
    def separated(self) -> bool:
        """Whether some agents took all points, or none, against all the others: no strengths are the likeliest then."""
        return not bool(_reached(self.beaten).all())

    @property
    def apart(self) -> list[int]:
        """Those who took all points, or none, from everybody they met."""
        taken, given = self.beaten * (1 - np.eye(len(self.beaten))), self.met * (1 - np.eye(len(self.beaten)))
        own, there = taken.sum(1), given.sum(1)
        return np.flatnonzero((there > 0) & ((own == 0) | (own == there))).tolist()

    def of(self, agents: npt.NDArray[np.intp]) -> "Choices":
        """Return what they say about some agents who have met no others."""
        own = self.sets[:, agents].any(1)
        beaten = self.beaten[np.ix_(agents, agents)]
        return Choices(self.wins[:, agents], self.sets[own][:, agents], self.times[:, own], beaten)

    @property
    def pairs(self) -> Floats:
        """Sets of two agents that have met, array [p, k]."""
        k = len(self.beaten)
        both = [np.isin(range(k), pair) for pair in combinations(range(k), 2) if self.met[pair]]
        return np.array(both, np.float64).reshape(-1, k)

    def hedged(self) -> "Choices":
        """Return them with more boards: of each two that have met one takes both games on one, the other on another."""
        pairs, n = self.pairs, len(self.pairs)
        ends = np.eye(len(self.beaten))[np.array([pairs.argmax(1), (pairs.cumsum(1) == 2).argmax(1)]).ravel()]
        times = np.zeros((len(self.wins) + 2 * n, len(self.sets) + n))
        times[: len(self.times), : len(self.sets)] = self.times
        times[len(self.times) :, len(self.sets) :] = 2.0 * np.tile(np.eye(n), (2, 1))
        return Choices(np.concatenate([self.wins, 2.0 * ends]), np.concatenate([self.sets, pairs]), times, self.beaten)

    def drawn(self, boards: Floats, ties: float = 0.0) -> tuple[Floats, Floats, Floats]:
        """Return wins, sets and times, as :func:`strengths` takes them, when each board came so often.

        Parameters
        ----------
        boards : array [n, boards]
        ties : float
            So many games more, all tied, between each two that have met.
        """
        pairs = self.pairs
        wins, always = boards @ self.wins + 0.5 * ties * pairs.sum(0), np.full((len(boards), len(pairs)), ties)
        return wins, np.concatenate([self.sets, pairs]), np.concatenate([boards @ self.times, always], 1)


def from_points(points: npt.ArrayLike) -> Choices:
    """Return what games of two say: Bradley and Terry's model, a tie being half a win for each.

    Parameters
    ----------
    points : array [boards, k, k]
        Points of each agent (row) against each other one (column) on each board; of one of no games, 0 both ways.
    """
    table = np.asarray(points, np.float64)
    k = table.shape[-1]
    pairs = list(combinations(range(k), 2))
    sets = np.zeros((len(pairs), k))
    for row, pair in enumerate(pairs):
        sets[row, list(pair)] = 1.0
    times = np.stack([table[:, i, j] + table[:, j, i] for i, j in pairs], 1) if pairs else np.zeros((len(table), 0))
    return Choices(table.sum(2), sets, times, table.sum(0))


def from_rankings(boards: Sequence[Sequence[Sequence[tuple[int, float]]]], k: int) -> Choices:
    """Return what games of several say: Plackett and Luce's model, in which the best is chosen, then the next, ...

    Of those who tie, all orders are taken to be equally likely; for two players that makes a tie half a win.

    Parameters
    ----------
    boards : sequence of sequence of sequence of (int, float)
        For each board its games, for each game its players: number of the agent, from 0 to ``k - 1``, and rank, where
        less is better.
    k : int
        How many agents there are.

    Raises
    ------
    ValueError
        If more than 8 players tie.
    """
    found: list[Counter[tuple[int, ...]]] = []
    wins, beaten = np.zeros((len(boards), k)), np.zeros((k, k))
    for number, games in enumerate(boards):
        found.append(Counter())
        for game in games:
            _choose(game, found[-1], wins[number], beaten)
    known = sorted({group for counter in found for group in counter})
    sets = np.array([np.bincount(group, minlength=k) for group in known], np.float64).reshape(len(known), k)
    times = np.array([[counter[group] for group in known] for counter in found], np.float64)
    times = times.reshape(len(found), len(known))
    return Choices(wins, sets, times, beaten)


def _choose(game: Sequence[tuple[int, float]], sets: "Counter[tuple[int, ...]]", wins: Floats, beaten: Floats) -> None:
    """Add the choices of one game."""
    for (a, first), (b, second) in combinations(game, 2):
        beaten[a, b] += (first < second) + 0.5 * (first == second)
        beaten[b, a] += (second < first) + 0.5 * (first == second)
    for rank in sorted({rank for _, rank in game}):
        tied = [agent for agent, own in game if own == rank]
        behind = [agent for agent, own in game if own > rank]
        if len(tied) > _MOST_TIED:
            raise ValueError(f"{len(tied)} players tie, and only {_MOST_TIED} are averaged over; rate fewer of them")
        np.add.at(wins, tied, 1.0)
        for left in range(1, len(tied) + 1):
            for group in combinations(tied, left):
                sets[tuple(sorted((*group, *behind)))] += 1.0 / comb(len(tied), left)  # type: ignore[assignment]


def strengths(wins: Floats, sets: Floats, times: Floats) -> Floats:
    """Return the likeliest logarithms of strengths, those of the first agent 0, of many sets of games at once.

    Newton's method, which climbs to the only top there is where nobody is separated.

    Parameters
    ----------
    wins : array [n, k]
    sets : array [s, k]
    times : array [n, s]
        As in :class:`Choices`, but for each set of games.

    Returns
    -------
    array [n, k]

    References
    ----------
    D. R. Hunter (2004), "MM algorithms for generalized Bradley-Terry models", The Annals of Statistics 32(1): the
    likelihoods, and when they have a maximum.
    """
    found = np.zeros(wins.shape)
    for _ in range(_MOST_STEPS):
        weights = sets * np.exp(found)[:, None, :]
        shares = weights / weights.sum(-1, keepdims=True)
        slope = wins - (times[:, :, None] * shares).sum(1)
        scaled = times[:, :, None] * shares
        bend = -np.einsum("nsi,nsj->nij", scaled, shares)
        bend[:, range(bend.shape[1]), range(bend.shape[1])] += scaled.sum(1)
        step = np.linalg.solve(bend[:, 1:, 1:], slope[:, 1:, None])[..., 0]
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(np.abs(step).max(-1, initial=0.0), 1e-300))[:, None]
        found[:, 1:] += step
        if np.abs(step).max(initial=0.0) < _ACCURACY:
            break
    return found


def ratings(choices: Choices, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0) -> list[Estimate]:
    """Return Elo ratings, against the first agent's 0, with intervals over the boards.

    An interval is that of Student's t with the bootstrap's standard error. In it, and where somebody is separated in
    the estimate too, each two that have met tie two games more, so that there always are likeliest strengths. Where
    somebody is separated, or all boards came out alike, the interval is the bootstrap's of the data and two boards
    more for each two that have met, one won by each, so that it keeps a width; see
    :func:`agents.arena.statistics.paired_rates`. Of an agent from which the first took no point, not even by way of
    others, the upper end is infinite; the lower one, of an agent that took none from the first.

    Parameters
    ----------
    choices : Choices
        From :func:`from_points` or :func:`from_rankings`.
    level : float
    resamples, seed : int
        Of the bootstrap.

    Returns
    -------
    list of Estimate
        One for each agent. NaN for one that has not met the first, not even by way of others; and NaN for the ends of
        intervals where there is one board alone.

    References
    ----------
    B. Efron and R. Tibshirani (1993), "An Introduction to the Bootstrap", chapters 6 and 12.
    """
    boards, k = choices.wins.shape
    result = [Estimate(nan, nan, nan)] * k
    kept = np.flatnonzero(_reached(choices.met)[0] & (boards > 0))
    if len(kept) < 2:
        return result
    own = choices.of(kept)
    value = _elo(own, np.ones((1, boards)), _TIES if own.separated else 0.0)[0]
    ends = _ends(own, level, resamples, seed) if boards > 1 else np.full((2, len(kept)), nan)
    for agent, elo, low, high in zip(kept.tolist(), value.tolist(), *ends.tolist(), strict=True):
        result[agent] = Estimate(elo, min(low, elo), max(high, elo))
    return result


def _ends(choices: Choices, level: float, resamples: int, seed: int) -> Floats:
    """Return the ends of the intervals, array [2, k]."""
    from scipy.special import stdtrit  # Late: workers need no statistics.

    if not choices.separated:
        boards = len(choices.wins)
        errors = _bootstrap(choices, resamples, seed).std(0) * sqrt(boards / (boards - 1))
        if errors.max() > _NOTHING:
            half = stdtrit(boards - 1, 0.5 + level / 2) * errors
            centre = _elo(choices, np.ones((1, boards)), _TIES)
            return np.concatenate([centre - half, centre + half])
    found: Floats = np.quantile(_bootstrap(choices.hedged(), resamples, seed), [0.5 - level / 2, 0.5 + level / 2], 0)
    reach = _reached(choices.beaten)
    return np.stack([np.where(reach[:, 0], found[0], -inf), np.where(reach[0], found[1], inf)])


def _bootstrap(choices: Choices, resamples: int, seed: int) -> Floats:
    """Return Elo ratings for resamples of the boards, array [resamples, k]."""
    boards, rng = len(choices.wins), np.random.default_rng(seed)
    even = np.full(boards, 1.0 / boards)
    most = min(_MOST_AT_ONCE, max(1, _BATCH_CELLS // boards))
    sizes = [min(most, resamples - start) for start in range(0, resamples, most)]
    return np.concatenate([_elo(choices, rng.multinomial(boards, even, n).astype(np.float64), _TIES) for n in sizes])


def _elo(choices: Choices, boards: Floats, ties: float) -> Floats:
    return ELO * strengths(*choices.drawn(boards, ties))


def _reached(met: Floats) -> npt.NDArray[np.bool_]:
    """Return who (row) is led to whom (column) by those who have met; everybody to itself."""
    reach = (met > 0) | np.eye(len(met), dtype=bool)
    for _ in met:
        reach = reach @ reach
    return reach
