"""Why the figures of a comparison may mislead."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from agents.arena.report.figures import Summary
from agents.arena.rows import Rows
from agents.arena.statistics.gsprt import Floats

FEW = 20
"""Boards below which intervals are rough."""
_LOPSIDED, _FAR = 0.8, 0.95
_MANY_TRUNCATED = 0.1
_EVERY, _MOST_SEPARATED = "took every point", 3
_SIGNS_OF_ORDER = 3.0
"""Standard errors; three come by chance once in 370 times."""


def few_boards(boards: int, unit: str = "boards") -> list[str]:
    """Doubt intervals of fewer than 20 boards."""
    return [f"few {unit}: {boards}; intervals are rough below {FEW}"] if 0 < boards < FEW else []


def cut_short(summaries: Sequence[Summary]) -> list[str]:
    """Doubt figures of agents many of whose games were truncated: who is quick gets further in them."""
    many = [s.agent for s in summaries if s.games and s.truncated >= _MANY_TRUNCATED * s.games]
    if not many:
        return []
    return [f"truncated: {', '.join(many)} in a tenth of the games or more; a longer --episode-limit lets them end"]


def paid_alike(rows: Rows) -> list[str]:
    """Doubt points that rewards decide, where all players were paid the same in every game."""
    paid = [{seat.episode_return for seat in row.seats} for row in rows.values() if row.fault is None]
    if all(each == {0.0} for each in paid) or any(len(each) > 1 for each in paid):
        return []
    return ["all players were paid the same in every game, so that none is ahead: --cooperative compares how much"]


def unpaid(summaries: Sequence[Summary]) -> list[str]:
    """Doubt returns of agents that have lost episodes by forfeit: those have none, however badly they stood."""
    some = [s.agent for s in summaries if s.forfeits]
    if not some:
        return []
    return [f"forfeits: returns of {', '.join(some)} are of the other episodes alone; --sprt takes the lost as lost"]


def separated(agents: Sequence[str]) -> list[str]:
    """Doubt ratings of those who took all points, or none, from everybody they met."""
    if not agents:
        return []
    return [f"separated: {', '.join(agents)} took every point or none, so that Elo has no end; give nearer rivals"]


def doubts_of_pair(agent: str, other: str, scores: Floats, first_seat: Floats) -> list[str]:
    """Say why the figures of two agents against each other may mislead; nothing if nothing speaks for that.

    Parameters
    ----------
    agent, other : str
        Labels.
    scores : array [n]
        Mean points of the agent on each board, in their order.
    first_seat : array [n]
        Mean points of whoever sat first, on the same boards.

    Returns
    -------
    list of str
        Separation (one took all points, or nearly all) and ties alone, from which no strength can be told; seats that
        decide more than the agents; order effects (one half of the boards against the other).
    """
    if not len(scores):
        return []
    pair, found = f"{agent} - {other}", []
    if scores.min() == 1.0 or scores.max() == 0.0:
        winner = agent if scores.max() == 1.0 else other
        found.append(f"{pair}: {winner} {_EVERY}, which tells only that it is stronger; give it nearer rivals")
    elif (most := max(scores.mean(), 1.0 - scores.mean())) > _FAR:
        winner = agent if scores.mean() > 0.5 else other
        found.append(f"{pair}: {winner} took {most:.1%} of the points; the Elo is rough where the other has so few")
    elif not np.ptp(scores) and first_seat.min() == first_seat.max() == 0.5:
        found.append(f"{pair}: nothing but ties, from which no strength can be told")
    elif (share := max(first_seat.mean(), 1.0 - first_seat.mean())) > _LOPSIDED and len(scores) >= FEW:
        seat = "first" if first_seat.mean() > 0.5 else "second"
        found.append(f"{pair}: the {seat} seat took {share:.0%} of the points, so that seats decide more than agents")
    return found + order_effects(pair, scores)


def few_separated(doubts: Sequence[str]) -> list[str]:
    """Return doubts, in which pairs of whom one took every point are counted where they are many."""
    every = [doubt for doubt in doubts if _EVERY in doubt]
    if len(every) <= _MOST_SEPARATED:
        return list(doubts)
    rest = [doubt for doubt in doubts if _EVERY not in doubt]
    return [*rest, f"in {len(every)} pairs one {_EVERY}, which tells only that it is stronger; give it nearer rivals"]


def order_effects(what: str, scores: Floats) -> list[str]:
    """Doubt that boards come from one experiment where the first half of [n] differs from the second one."""
    halves = np.array_split(scores, 2)
    if len(halves[1]) < FEW // 2:
        return []
    means, errors = ([float(f(half)) for half in halves] for f in (np.mean, lambda half: half.var(ddof=1) / len(half)))
    if abs(means[0] - means[1]) <= _SIGNS_OF_ORDER * sqrt(sum(errors)):
        return []
    return [
        f"{what}: {means[0]:.0%} of the points in the first half of the boards, {means[1]:.0%} in the second: does an "
        "agent learn, or was the machine loaded?"
    ]
