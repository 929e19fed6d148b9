"""The figures that a report is made of."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Any, Protocol

from agents.arena.rows import Rows
from agents.arena.statistics.estimates import UNKNOWN, Estimate
from agents.arena.statistics.sprt import Sprt


@dataclass(frozen=True)
class Summary:
    """Figures of one agent over the games that count: in games for one, those that ended without an error.

    In games for several a board counts if all games of the same agents on it ended without an error. An agent that had
    several seats in a game of more than two counts once for each of them.

    Attributes
    ----------
    agent : str
        Label.
    games, errors : int
        Games that count, and those that ended in an error of this agent.
    win_rate : Estimate
        Mean points, a tie being half a point; with Wilson's interval in games for one, and with an interval over the
        boards in games for several.
    mean_return : Estimate
        Discounted by the game's own discount, with Student's interval; NaN in games for several.
    length : float
        Moves a game.
    milliseconds, simulations, model_steps : float
        Cost of a move at which there was a choice; NaN if there was none.
    wins, ties, losses : int
        In games for several.
    forfeits : dict of str to int
        How many of the games it has lost otherwise than by the rules, by reason.
    truncated : int
        How many of its games were longer than the plan allows, counted as ``games`` are; they count.
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
    wins: int = 0
    ties: int = 0
    losses: int = 0
    forfeits: Mapping[str, int] = field(default_factory=dict)
    truncated: int = 0


@dataclass(frozen=True)
class Difference:
    """How much better an agent did than another in the same episodes, or against the same others on the same boards.

    Attributes
    ----------
    agent, reference : str
        Labels.
    pairs : int
        Episodes, in games for several boards, that ended without an error for both.
    win_rate, mean_return : Estimate
        Means of the agent's figure minus the reference's; in games for several of the points, without a return (NaN).
    """

    agent: str
    reference: str
    pairs: int
    win_rate: Estimate
    mean_return: Estimate


@dataclass(frozen=True)
class Pairing:
    """How an agent did against another in a game for two.

    Attributes
    ----------
    agent, opponent : str
        Labels.
    boards : int
        Start boards of which both games ended without an error; the others do not count.
    points : Estimate
        Mean points of the agent, a tie being half a point, with an interval over the boards.
    by_seat : tuple of float
        Mean points of the agent in the first and in the second seat; NaN without a board.
    wins, ties, losses : int
        Games.
    """

    agent: str
    opponent: str
    boards: int
    points: Estimate
    by_seat: tuple[float, float]
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class Standing:
    """How a side did in games for more than two: a player for itself, or a team; all intervals are over the boards.

    Attributes
    ----------
    name : str
        Label of its agent; ``"a + b"`` where mates differ.
    games : int
        Counted once for each side of this name.
    wins, ties, losses : Estimate
        Shares of the games: nobody else has as many points; somebody else has as many; somebody else has more.
    points : Estimate
        Mean points in [0, 1], as the game gives them.
    rank : Estimate
        Mean rank: 1 for the most points, among equals for the most rewards in environments of others, then for who was
        in the game longest, and those who ended together share theirs. NaN in games for teams.
    """

    name: str
    games: int
    wins: Estimate
    ties: Estimate
    losses: Estimate
    points: Estimate
    rank: Estimate


@dataclass(frozen=True)
class Rating:
    """How strong an agent is, in Elo more than the first one.

    Attributes
    ----------
    agent : str
        Label; in games for more than two the name of a side.
    elo : Estimate
        Of all games, by Bradley and Terry's model, in games for more than two by Plackett and Luce's; with a bootstrap
        interval over the boards, whose ends may be infinite. NaN if no games lead from the first agent to this one.
    anytime : Estimate
        In games for two: of the games with the first agent alone, with an interval that holds however often one looks,
        and whenever one stops. NaN elsewhere.
    boards : int
        How many start boards all games are on that were rated.
    """

    agent: str
    elo: Estimate
    anytime: Estimate = UNKNOWN
    boards: int = 0


@dataclass(frozen=True)
class Trial:
    """Where a sequential test of two agents stands.

    Attributes
    ----------
    sprt : Sprt
    agent, reference : str
        Labels of the first and of the second.
    boards : int
        How many boards it has looked at, in their order.
    counted : int
        How many of them ended without an error.
    llr : float
        Log-likelihood ratio.
    verdict : str, optional
        ``"H1"``: ``elo1``; ``"H0"``: ``elo0``; None: open.
    """

    sprt: Sprt
    agent: str
    reference: str
    boards: int
    counted: int
    llr: float
    verdict: str | None


class _Played(Protocol):
    length: int
    decisions: int
    seconds: float
    simulations: int
    model_steps: int


def costs(played: Iterable[_Played]) -> dict[str, Any]:
    """Return length, milliseconds, simulations and model steps of a summary."""
    rows = list(played)
    decisions = sum(row.decisions for row in rows)
    return {
        "length": _ratio(sum(row.length for row in rows), len(rows)),
        "milliseconds": _ratio(1000.0 * sum(row.seconds for row in rows), decisions),
        "simulations": _ratio(sum(row.simulations for row in rows), decisions),
        "model_steps": _ratio(sum(row.model_steps for row in rows), decisions),
    }


def endings(rows: Rows, agent: str) -> dict[str, Any]:
    """Return errors, forfeits and truncated games of a summary: those that an agent has not ended by the rules."""
    return {
        "errors": sum(row.blames(agent) for row in rows.values()),
        "forfeits": dict(Counter(filter(None, (row.forfeited_by(agent) for row in rows.values())))),
        "truncated": sum(row.agents.count(agent) for row in rows.values() if row.cut_short),
    }


def _ratio(total: float, count: int) -> float:
    return total / count if count else nan
