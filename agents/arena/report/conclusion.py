"""What a comparison of two agents has found, in plain words: who is better, by how much, how sure, and what next."""

from math import ceil, isinf, isnan
from statistics import NormalDist
from typing import NamedTuple

from agents.arena.report.cells import elo, percent, plain
from agents.arena.report.figures import Trial
from agents.arena.report.report import Report
from agents.arena.statistics.estimates import LEVEL, Estimate
from agents.arena.statistics.sprt import NORMALIZED, POWER

_MOST_TIMES = 100
_SLOWER, _NOTHING = 1.25, 0.1  # times; milliseconds


class Lead(NamedTuple):
    """How far one of two agents is ahead of the other.

    Attributes
    ----------
    agent, reference : str
        Labels.
    boards : int
        Those, or in games for one the episodes, that it stands on.
    gap : Estimate
        More than 0 where the agent is ahead.
    said : str
        The same for people.
    """

    agent: str
    reference: str
    boards: int
    gap: Estimate
    said: str


def conclusion(report: Report) -> str:
    """Return what a comparison of two agents has found; an empty text where there are more, or nothing is known yet."""
    found = lead(report)
    if found is None:
        return ""
    told = _estimated(report, found) if report.trial is None else _tested(report, report.trial, found)
    return f"{'in short' if report.finished else 'so far'}: {told}{_slower(report, found)}"


def lead(report: Report) -> Lead | None:
    """Return how far the first of two agents is ahead; None where there are more, or nothing is known."""
    try:
        agent, reference = report.plan.format.contest(report.plan)
    except ValueError:
        return None
    found = _met(report, agent, reference) or _paired(report, agent, reference) or _rated(report, agent, reference)
    return found if found is not None and not any(map(isnan, found.gap)) else None


def _met(report: Report, agent: str, reference: str) -> Lead | None:
    """Return the lead of agents that played against each other in games for two."""
    for p in report.pairings:
        if (p.agent, p.opponent) == (agent, reference):
            gap = Estimate(*(part - 0.5 for part in p.points))
            strength = _rated(report, agent, reference)
            more = f", {strength.said}" if strength is not None else ""
            return Lead(agent, reference, p.boards, gap, f"{percent(p.points).plain} % of the points{more}")
    return None


def _paired(report: Report, agent: str, reference: str) -> Lead | None:
    """Return the lead of agents that played the same episodes, or against the same others."""
    for d in report.differences:
        if {d.agent, d.reference} == {agent, reference}:
            gap = d.win_rate if report.plan.scored else d.mean_return
            gap = gap if d.agent == agent else _turned(gap)
            unit = " points of a hundred" if report.plan.scored else " of return"
            text = percent(gap, "+") if report.plan.scored else plain(gap, "+")
            return Lead(agent, reference, d.pairs, gap, f"{text.plain}{unit}")
    return None


def _rated(report: Report, agent: str, reference: str) -> Lead | None:
    """Return the lead in Elo."""
    rated = {rating.agent: rating for rating in report.ratings}
    first = report.ratings[0] if report.ratings else None
    if first is None or first.agent not in (agent, reference) or not {agent, reference} <= rated.keys():
        return None
    gap = rated[agent].elo if first.agent == reference else _turned(rated[reference].elo)
    return None if isnan(gap.low) else Lead(agent, reference, first.boards, gap, f"{elo(gap).plain} Elo")


def _turned(estimate: Estimate) -> Estimate:
    return Estimate(0.0 - estimate.value, 0.0 - estimate.high, 0.0 - estimate.low)  # -0.0 would be written so


def _estimated(report: Report, found: Lead) -> str:
    """Say what figures with intervals tell, where there is no test."""
    agent, reference, boards, gap, said = found
    if (gap.low > 0 or gap.high < 0) and not _by_chance(found):
        how = "better" if gap.low > 0 else "worse"
        once = "" if report.finished else " for those who look once"
        return f"{agent} is {how} than {reference}, at a confidence of {LEVEL:.0%}{once}: {said}"
    one, more = report.plan.format.episode, _needed(found)
    few = f"1 {one} leaves" if boards == 1 else f"{boards:,} {one}s leave"
    text = f"{few} open whether {agent} or {reference} is better; {agent} against {reference}: {said}"
    if more > _MOST_TIMES * boards:
        how = "narrower" if isinf(gap.low) or isinf(gap.high) else "half as wide"
        advice = f"Four times as many {one}s make the interval {how}: --episodes {4 * boards}"
    else:
        advice = f"If it is as large as it looks, about {more:,} {one}s show it: --episodes {more} adds what is missing"
    return f"{text}. {advice}. Each look errs anew in {1 - LEVEL:.0%} of the cases; --sprt may look at every {one}"


def _by_chance(found: Lead) -> bool:
    """Return whether differences that all are alike, so that their interval has no width, are so few that chance does.

    Of two equal agents that always differ by as much, either is ahead each time in 2^(1 - n) of the cases.
    """
    return found.gap.low == found.gap.high and 2.0 ** (1 - found.boards) > 1.0 - LEVEL


def _needed(found: Lead) -> float:
    """Return how many boards show a difference that is as large as this one looks, about four times in five."""
    value, low, high = found.gap
    if not value:
        return float("inf")
    near, normal = value - low if value > 0 else high - value, NormalDist()
    half = min((high - low) / 2, near)  # the other end may be infinite
    wider = 1.0 + normal.inv_cdf(POWER) / normal.inv_cdf(0.5 + LEVEL / 2)
    return _round(found.boards * max(2.0, min(wider * half / abs(value), 1e6) ** 2))


def _round(count: float) -> int:
    """Round up to two digits."""
    step: int = 10 ** max(0, len(str(int(count))) - 2)
    return ceil(count / step) * step


def _tested(report: Report, trial: Trial, found: Lead) -> str:
    """Say what a sequential test has found."""
    agent, reference, test = trial.agent, trial.reference, trial.sprt
    unit = "normalised Elo" if test.model == NORMALIZED else "Elo"
    if trial.verdict is None:
        shape = report.plan.format
        usual, _ = test.boards_expected(shape.games(report.plan))
        more = _round(max(2 * trial.boards, usual))
        after = f"the test is undecided after {trial.counted:,} {shape.episode}s"
        goes_on = f"More {shape.episode}s, such as {more} in all, go on from here"
        return f"{after}; {agent} against {reference}: {found.said}. {goes_on}"
    if trial.verdict == "H1":
        how = "better than" if test.elo0 >= 0 else f"less than {-test.elo0:g} {unit} worse than"
        lower = not report.plan.scored and found.gap.high < 0
        often, advice = test.alpha, "but its mean return is lower" if lower else f"take {agent}"
    else:
        how = "worse than" if test.elo1 <= 0 else f"not {test.elo1:g} {unit} better than"
        often, advice = test.beta, f"keep {reference}"
    by = "" if report.plan.scored else " (by who has more in an episode, not by how much)"
    errs = f"such tests err in about {100 * often:g} % of the cases at most"
    return f"{agent} is {how} {reference}{by}, and {errs}: {advice}. {agent} against {reference}: {found.said}"


def _slower(report: Report, found: Lead) -> str:
    """Say who took clearly longer for a move."""
    taken = {s.agent: s.milliseconds for s in report.summaries}
    quick, slow = sorted((found.agent, found.reference), key=lambda label: taken[label])
    if not taken[quick] > 0 or not taken[slow] > max(_NOTHING, _SLOWER * taken[quick]):
        return ""
    ratio = float(f"{taken[slow] / taken[quick]:.2g}")
    return f". {slow} takes {ratio:{',.0f' if ratio >= 10 else 'g'}} times as long for a move"
