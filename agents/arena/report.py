"""What a comparison found: figures with intervals for each agent, and of each pair of agents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.arena import many, pairs
from agents.arena.episode import Episode
from agents.arena.figures import Difference, Pairing, Standing, Summary, costs
from agents.arena.match import Matches, Row
from agents.arena.plan import Plan
from agents.arena.spec import AgentSpec
from agents.arena.statistics import LEVEL, RESAMPLES, bootstrap_mean, paired_difference, paired_rates, wilson

Episodes = Mapping[tuple[str, int], Episode]
_OVERRUN = 1.2


@dataclass(frozen=True)
class Report:
    """A comparison, finished or not.

    Attributes
    ----------
    plan : Plan
    folder : Path
        Where the results are.
    episodes : int
        How many each agent is to play; in games for several, on how many start boards each line-up.
    workers : int
        Processes.
    discount : float
        Of the returns.
    summaries : list of Summary
        In the order of the agents.
    differences : list of Difference
        Of all others against the first agent, then against the best one, each pair once: in games for one, and in games
        for several of the agents that play against the same others.
    failed : list of Episode or MatchRow
        Those that ended in an error.
    missing : int
        How many are still to be played.
    pairings : list of Pairing
        In games for two: each pair that meets, once.
    standings : list of Standing
        In games for more: each side once.
    reused : int
        How many had been played before.
    signal : int, optional
        What ended the playing early: ``SIGINT`` (Ctrl-C) or ``SIGTERM``.
    """

    plan: Plan
    folder: Path
    episodes: int
    workers: int
    discount: float
    summaries: list[Summary]
    differences: list[Difference]
    failed: list[Row]
    missing: int
    pairings: list[Pairing] = field(default_factory=list)
    standings: list[Standing] = field(default_factory=list)
    reused: int = 0
    signal: int | None = None

    @property
    def finished(self) -> bool:
        """Whether everything has been played."""
        return self.missing == 0


def report(
    plan: Plan,
    folder: Path,
    rows: Mapping[Any, Any],
    episodes: int,
    workers: int,
    discount: float,
    resamples: int = RESAMPLES,
) -> Report:
    """Sum up the first ``episodes`` episodes of the plan.

    Parameters
    ----------
    plan, folder, episodes, workers, discount
        See :class:`Report`.
    rows : mapping
        ``key -> row``, as :class:`agents.arena.storage.Results` has them.
    resamples : int
        Those of the bootstrap.
    """
    keys = {match.key for match in plan.jobs(episodes)}
    played = {key: row for key, row in sorted(rows.items()) if key in keys}
    failed = [row for row in played.values() if row.error is not None]
    found = Report(plan, folder, episodes, workers, discount, [], [], failed, len(keys) - len(played))
    if plan.seats == 1:
        return _of_agents(found, played, resamples)
    return _of_pairs(found, played) if plan.seats == 2 else _of_many(found, played)


def overruns(report: Report) -> dict[str, tuple[float, float]]:
    """Return milliseconds a move and the time limit, by label, of agents that took over 20 % more than they have."""
    limits = {spec.label: 1000.0 * spec.settings["time_limit"] for spec in report.plan.agents if _timed(spec)}
    taken = {s.agent: s.milliseconds for s in report.summaries}
    return {label: (taken[label], limit) for label, limit in limits.items() if taken[label] > _OVERRUN * limit}


def _timed(spec: AgentSpec) -> bool:
    limit = spec.settings.get("time_limit")
    return isinstance(limit, (int, float)) and limit > 0


def _of_pairs(found: Report, played: Matches) -> Report:
    met = [(first.label, second.label) for (first,), (second,) in found.plan.lineups]
    labels = [spec.label for spec in found.plan.agents]
    opponents = {label: [pair[pair[0] == label] for pair in met if label in pair] for label in labels}
    boards = pairs.boards_of(played, met, found.episodes)
    summaries = [pairs.summary(played, boards, label, others) for label, others in opponents.items()]
    pairings = [pairs.pairing(boards, *pair) for pair in met]
    differences = [
        pairs.difference(boards, *pair, host)
        for host in found.plan.opponents
        for pair in _compared([s for s in summaries if s.agent != host])
    ]
    return replace(found, summaries=summaries, pairings=pairings, differences=differences)


def _of_many(found: Report, played: Matches) -> Report:
    boards = many.whole_boards(found.plan, played, found.episodes)
    labels = dict.fromkeys(spec.label for spec in found.plan.agents)
    summaries = [many.summary(found.plan, played, boards, label) for label in labels]
    differences = [
        many.difference(found.plan, boards, *pair)
        for pair in _compared([s for s in summaries if s.agent not in found.plan.opponents])
        if found.plan.against
    ]
    return replace(found, summaries=summaries, standings=many.standings(found.plan, boards), differences=differences)


def _of_agents(found: Report, played: Episodes, resamples: int) -> Report:
    labels = [spec.label for spec in found.plan.agents]
    good = {key: row for key, row in played.items() if row.error is None}
    failed = {label: [row for row in played.values() if row.error and row.agent == label] for label in labels}
    summaries = [_summary(label, good, len(failed[label]), resamples) for label in labels]
    differences = [_difference(*pair, good, resamples) for pair in _compared(summaries)]
    return replace(found, summaries=summaries, differences=differences)


def _compared(summaries: Sequence[Summary]) -> list[tuple[str, str]]:
    """Return who is compared with whom: all others with the first agent, then with the best one, each pair once."""
    if not summaries:
        return []
    best = max(summaries, key=lambda s: (s.games > 0, np.nan_to_num(s.win_rate.value), s.mean_return.value)).agent
    first, *others = [s.agent for s in summaries]
    return [(label, first) for label in others] + [(label, best) for label in others if best not in (label, first)]


def _summary(label: str, good: Episodes, errors: int, resamples: int) -> Summary:
    rows = [row for (agent, _), row in good.items() if agent == label]
    return Summary(
        agent=label,
        games=len(rows),
        errors=errors,
        win_rate=wilson(sum(outcomes := _outcomes(rows)), len(outcomes), LEVEL),
        mean_return=bootstrap_mean([row.discounted_return for row in rows], LEVEL, resamples),
        **costs(rows),
    )


def _outcomes(rows: Sequence[Episode]) -> list[float]:
    """Return the points of episodes; none of an environment that gives none."""
    return [row.outcome for row in rows if row.outcome is not None]


def _difference(label: str, reference: str, good: Episodes, resamples: int) -> Difference:
    numbers = [number for agent, number in good if agent == label and (reference, number) in good]

    ours, theirs = ([good[agent, number] for number in numbers] for agent in (label, reference))
    rates = paired_rates(_outcomes(ours), _outcomes(theirs), LEVEL)
    our_returns, their_returns = ([row.discounted_return for row in rows] for rows in (ours, theirs))
    means = paired_difference(our_returns, their_returns, LEVEL, resamples)
    return Difference(label, reference, len(numbers), rates, means)
