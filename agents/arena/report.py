"""What a comparison found: figures with intervals for each agent, and paired differences between agents."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from pathlib import Path

from agents.arena.episode import Episode
from agents.arena.plan import Plan
from agents.arena.statistics import (
    LEVEL,
    RESAMPLES,
    Estimate,
    bootstrap_mean,
    paired_difference,
    paired_rates,
    wilson,
)

Episodes = Mapping[tuple[str, int], Episode]


@dataclass(frozen=True)
class Summary:
    """Figures of one agent over the episodes that ended without an error.

    Attributes
    ----------
    agent : str
        Label.
    games, errors : int
        Episodes that ended regularly, and those that ended in an error.
    win_rate : Estimate
        Mean points, with Wilson's interval.
    mean_return : Estimate
        Discounted by the game's own discount, with a bootstrap interval.
    length : float
        Moves an episode.
    milliseconds, simulations, model_steps : float
        Cost of a move at which there was a choice; NaN if there was none.
    """

    agent: str
    games: int
    errors: int
    win_rate: Estimate
    mean_return: Estimate
    length: float
    milliseconds: float
    simulations: float
    model_steps: float


@dataclass(frozen=True)
class Difference:
    """How much better an agent did than another in the same episodes.

    Attributes
    ----------
    agent, reference : str
        Labels.
    pairs : int
        Episodes that ended without an error for both.
    win_rate, mean_return : Estimate
        Means of the agent's figure minus the reference's.
    """

    agent: str
    reference: str
    pairs: int
    win_rate: Estimate
    mean_return: Estimate


@dataclass(frozen=True)
class Report:
    """A comparison, finished or not.

    Attributes
    ----------
    plan : Plan
    folder : Path
        Where the results are.
    episodes : int
        How many each agent is to play.
    workers : int
        Processes.
    discount : float
        Of the returns.
    summaries : list of Summary
        In the order of the agents.
    differences : list of Difference
        Of all others against the first agent, then against the best one, each pair once.
    failed : list of Episode
        Those that ended in an error.
    reused : int
        How many episodes had been played before.
    """

    plan: Plan
    folder: Path
    episodes: int
    workers: int
    discount: float
    summaries: list[Summary]
    differences: list[Difference]
    failed: list[Episode]
    reused: int = 0

    @property
    def finished(self) -> bool:
        """Whether every episode has been played."""
        return sum(s.games + s.errors for s in self.summaries) == self.episodes * len(self.summaries)


def report(
    plan: Plan, folder: Path, rows: Episodes, episodes: int, workers: int, discount: float, resamples: int = RESAMPLES
) -> Report:
    """Sum up the first ``episodes`` episodes of each agent; ``resamples`` are those of the bootstrap."""
    labels = [spec.label for spec in plan.agents]
    played = {key: row for key, row in sorted(rows.items()) if key[0] in labels and key[1] < episodes}
    failed = [row for row in played.values() if row.error is not None]
    good = {key: row for key, row in played.items() if row.error is None}
    summaries = [_summary(label, good, sum(row.agent == label for row in failed), resamples) for label in labels]
    best = max(summaries, key=lambda s: (s.games > 0, s.win_rate.value, s.mean_return.value)).agent
    against_first = [_difference(label, labels[0], good, resamples) for label in labels[1:]]
    against_best = [_difference(label, best, good, resamples) for label in labels[1:] if best not in (label, labels[0])]
    differences = against_first + against_best
    return Report(plan, folder, episodes, workers, discount, summaries, differences, failed)


def _summary(label: str, good: Episodes, errors: int, resamples: int) -> Summary:
    rows = [row for (agent, _), row in good.items() if agent == label]
    decisions = sum(row.decisions for row in rows)
    return Summary(
        agent=label,
        games=len(rows),
        errors=errors,
        win_rate=wilson(sum(row.outcome for row in rows), len(rows), LEVEL),
        mean_return=bootstrap_mean([row.discounted_return for row in rows], LEVEL, resamples),
        length=_ratio(sum(row.length for row in rows), len(rows)),
        milliseconds=_ratio(1000.0 * sum(row.seconds for row in rows), decisions),
        simulations=_ratio(sum(row.simulations for row in rows), decisions),
        model_steps=_ratio(sum(row.model_steps for row in rows), decisions),
    )


def _difference(label: str, reference: str, good: Episodes, resamples: int) -> Difference:
    numbers = [number for agent, number in good if agent == label and (reference, number) in good]

    ours, theirs = ([good[agent, number] for number in numbers] for agent in (label, reference))
    rates = paired_rates([row.outcome for row in ours], [row.outcome for row in theirs], LEVEL)
    our_returns, their_returns = ([row.discounted_return for row in rows] for rows in (ours, theirs))
    means = paired_difference(our_returns, their_returns, LEVEL, resamples)
    return Difference(label, reference, len(numbers), rates, means)


def _ratio(total: float, count: int) -> float:
    return total / count if count else nan
