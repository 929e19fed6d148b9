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

from agents.arena.statistics.estimates import LEVEL, UNKNOWN, Estimate

Floats: TypeAlias = npt.NDArray[np.float64]

ELO = 400.0 / log(10.0)
"""Elo of a factor e in strength."""
RESAMPLES = 1000
"""Of the bootstrap."""
_BATCH_CELLS = 250_000
"""Of a bootstrap at once: a few MB, however many games and agents there are."""
_MOST_STEPS, _LONGEST_STEP, _ACCURACY = 200, 1.0, 1e-12
_MOST_TIED = 8
_MOST_AT_ONCE, _TIES, _SEPARATED = 500, 2.0, 0.1


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
    beaten : array [boards, k, k]
        Points of each (row) against each other one.
    """

    wins: Floats
    sets: Floats
    times: Floats
    beaten: Floats

    @property
    def met(self) -> Floats:
        """Points that each (row) and each other one played for, array [k, k]."""
        taken: Floats = self.beaten.sum(0)
        return taken + taken.T

    @property
    def apart(self) -> list[int]:
        """Those who took all points, or none, from everybody they met."""
        others = 1 - np.eye(self.wins.shape[1])
        own, there = (self.beaten.sum(0) * others).sum(1), (self.met * others).sum(1)
        return np.flatnonzero((there > 0) & ((own == 0) | (own == there))).tolist()

    def reached(self, boards: Floats) -> npt.NDArray[np.bool_]:
        """Return who (row) took points from whom (column), or from others who did, array [n, k, k].

        Where not everybody from everybody, no strengths are the likeliest.

        Parameters
        ----------
        boards : array [n, boards]
            How often each board came.
        """
        k = self.wins.shape[1]
        return _reached((boards @ self.beaten.reshape(-1, k * k)).reshape(-1, k, k))

    def of(self, agents: npt.NDArray[np.intp]) -> "Choices":
        """Return what they say about some agents who have met no others."""
        own = self.sets[:, agents].any(1)
        beaten = self.beaten[:, agents][:, :, agents]
        return Choices(self.wins[:, agents], self.sets[own][:, agents], self.times[:, own], beaten)

    @property
    def pairs(self) -> Floats:
        """Sets of two agents that have met, array [p, k]."""
        k = self.wins.shape[1]
        first, second = np.nonzero(np.triu(self.met, 1))
        one: Floats = np.eye(k)
        both: Floats = one[first] + one[second]
        return both

    def hedged(self) -> "Choices":
        """Return them with a board more for each agent, on which it beats all whom it has met.

        Two meet on it as often as on a board on average, by the number of others whom they have met.
        """
        k, pairs, met = self.wins.shape[1], self.pairs, self.met / len(self.wins)
        others = ((met > 0) & ~np.eye(k, dtype=bool)).sum(1)
        games, beaten = np.zeros(len(pairs)), np.zeros((k, k, k))
        for number, (i, j) in enumerate(map(np.flatnonzero, pairs)):
            games[number] = beaten[i, i, j] = beaten[j, j, i] = met[i, j] / min(others[i], others[j])
        own = pairs.T * games
        times = np.zeros((len(self.wins) + k, len(self.sets) + len(pairs)))
        times[: len(self.times), : len(self.sets)] = self.times
        times[len(self.times) :, len(self.sets) :] = own
        wins, sets = np.concatenate([self.wins, np.diag(own.sum(1))]), np.concatenate([self.sets, pairs])
        return Choices(wins, sets, times, np.concatenate([self.beaten, beaten]))

    def drawn(self, boards: Floats, ties: Floats) -> tuple[Floats, Floats, Floats]:
        """Return wins, sets and times, as :func:`strengths` takes them, when each board came so often.

        Parameters
        ----------
        boards : array [n, boards]
        ties : array [n]
            So many games more, all tied, between each two that have met.
        """
        pairs = self.pairs
        always = np.repeat(ties[:, None], len(pairs), 1)
        wins = boards @ self.wins + 0.5 * always @ pairs
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
    return Choices(table.sum(2), sets, times, table)


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
    wins, beaten = np.zeros((len(boards), k)), np.zeros((len(boards), k, k))
    for number, games in enumerate(boards):
        found.append(Counter())
        for game in games:
            _choose(game, found[-1], wins[number], beaten[number])
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
    from scipy.sparse import csr_array  # Late: workers need no statistics.

    n, k = wins.shape
    most = int(np.count_nonzero(sets, 1).max(initial=0))
    members = np.argsort(sets == 0, 1, kind="stable")[:, :most]  # and others, who have no seats in a set of fewer
    seats, pairs = np.take_along_axis(sets, members, 1), members[:, :, None] * k + members[:, None, :]
    by_agent, by_pair = (  # few of many meet in a set: dense products take as long as all of them would
        csr_array((np.ones(to.size), (to.ravel(), np.arange(to.size))), shape=(rows, to.size))
        for to, rows in ((members, k), (pairs, k * k))
    )
    found = np.zeros(wins.shape)
    for _ in range(_MOST_STEPS):
        weights = seats * np.exp(found)[:, members]
        shares = weights / weights.sum(-1, keepdims=True)
        scaled = times[:, :, None] * shares
        chosen = (by_agent @ scaled.reshape(n, -1).T).T
        slope = wins - chosen
        bend = -(by_pair @ (scaled[..., None] * shares[:, :, None]).reshape(n, -1).T).T.reshape(n, k, k)
        bend[:, range(k), range(k)] += chosen
        step = np.linalg.solve(bend[:, 1:, 1:], slope[:, 1:, None])[..., 0]
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(np.abs(step).max(-1, initial=0.0), 1e-300))[:, None]
        found[:, 1:] += step
        if np.abs(step).max(initial=0.0) < _ACCURACY:
            break
    return found


def ratings(choices: Choices, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0) -> list[Estimate]:
    """Return Elo ratings, against the first agent's 0, with intervals over the boards.

    An interval is of the bootstrap's percentiles, of the data and a board more for each agent, which wins it: so it
    keeps a width where all boards came out alike, as that of :func:`agents.arena.statistics.estimates.paired_rates`
    does. Among more than two, where these boards weigh less, the percentiles are expanded to be as far apart as
    Student's. Where in a tenth of the resamples the first took no point from an agent, not even by way of others, the
    upper end is infinite: so few points, of two boards or fewer as a rule, do not say how far it is ahead; the lower
    one, of an agent that took none from the first. Where some are separated so, in the estimate or in a resample, each
    two that have met tie two games more, so that there are likeliest strengths.

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
    T. C. Hesterberg (2015), "What teachers should know about the bootstrap", The American Statistician 69(4): expanded
    percentile intervals, which are as wide as Student's.
    """
    boards, k = choices.wins.shape
    result = [UNKNOWN] * k
    kept = np.flatnonzero(_reached(choices.met)[0] & (boards > 0))
    if len(kept) < 2:
        return result
    own = choices.of(kept)
    (value,) = _elo(own, np.ones((1, boards)))
    ends = _ends(own, level, resamples, seed) if boards > 1 else np.full((2, len(kept)), nan)
    for agent, elo, low, high in zip(kept.tolist(), value.tolist(), *ends.tolist(), strict=True):
        result[agent] = Estimate(elo, min(low, elo), max(high, elo))
    return result


def _ends(choices: Choices, level: float, resamples: int, seed: int) -> Floats:
    """Return the ends of the intervals, array [2, k]."""
    from scipy.special import ndtr, stdtrit  # Late: workers need no statistics.

    hedged, rng = choices.hedged(), np.random.default_rng(seed)
    own, boards = len(choices.wins), len(hedged.wins)
    cells = max(boards, 4 * int(np.count_nonzero(hedged.sets)))
    most = min(_MOST_AT_ONCE, max(1, _BATCH_CELLS // cells))
    sizes = [min(most, resamples - start) for start in range(0, resamples, most)]

    def resampled(n: int) -> tuple[Floats, npt.NDArray[np.bool_]]:
        drawn = rng.multinomial(boards, np.full(boards, 1.0 / boards), n).astype(np.float64)
        return _elo(hedged, drawn), choices.reached(drawn[:, :own])

    values, reached = map(np.concatenate, zip(*map(resampled, sizes), strict=True))
    reach = reached.mean(0) > 1.0 - _SEPARATED
    two = len(choices.beaten[0]) == 2  # their own two boards weigh enough
    tail = 0.5 - level / 2 if two else float(ndtr(-sqrt(boards / (boards - 1)) * stdtrit(boards - 1, 0.5 + level / 2)))
    low, high = np.quantile(values, tail, 0, method="lower"), np.quantile(values, 1.0 - tail, 0, method="higher")
    return np.stack([np.where(reach[:, 0], low, -inf), np.where(reach[0], high, inf)])


def _elo(choices: Choices, boards: Floats) -> Floats:
    """Return Elo, array [n, k], when each board [n, boards] came so often."""
    separated = ~choices.reached(boards).all((1, 2))
    ties: Floats = np.where(separated, _TIES, 0.0)
    return ELO * strengths(*choices.drawn(boards, ties))


def _reached(met: Floats) -> npt.NDArray[np.bool_]:
    """Return who (row) is led to whom (column) by those who have met, array [..., k, k]; everybody to itself."""
    reach = (met > 0) | np.eye(met.shape[-1], dtype=bool)
    for _ in range(met.shape[-1].bit_length()):
        reach = reach @ reach
    return reach
