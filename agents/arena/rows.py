"""Matches to be played, and the rows that are kept of them. A game for one is a match of one seat."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from agents.arena.schema import Count, Points, Seconds, read
from agents.spec import AgentSpec
from mcts_envs.core import errors

Transition: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[tuple[str, ...], int]
"""Labels by seat, and the number of the episode."""

DIGITS = 9
"""Of returns that are compared: sums of fractions differ in the last ones by the order in which they were added up."""


class Match(NamedTuple):
    """A game to be played: who sits where, and which episode it is."""

    agents: tuple[AgentSpec, ...]
    episode: int

    @property
    def key(self) -> Key:
        """That of its row."""
        return tuple(spec.label for spec in self.agents), self.episode


@dataclass(slots=True)
class Seat:
    """What is kept of one seat of a match.

    Attributes
    ----------
    agent : str
        Label of who sat there.
    agent_seed : int
        Argument of ``agent.reseed(...)``: the same for whoever sits there, another one for each seat.
    outcome : float, optional
        Points in [0, 1], as the game says; 0 if it was cut off from outside. None in environments that are not ours.
    ended : int
        In games for several, how many moves of all seats had been made when its own game ended: equal for those who end
        together.
    episode_return, discounted_return : float
        Sum of rewards; the same, discounted by the game's own discount for each move of the seat.
    is_success : bool
    length : int
        Moves of the agent.
    decisions : int
        Those with more than one legal action. All that follows is about these.
    seconds : float
        Time spent in ``agent.act``.
    simulations, model_steps : int
        What searches did in total; 0 for agents that do not search.
    p99, slowest : float
        Seconds of the 99th percentile of these moves, and of the slowest.
    overruns : int
        Those that took over 20 % more than the agent's time limit.
    cpu : float
        Seconds of a processor that this process had in them; 0 where an earlier release wrote the row.
    """

    agent: str
    agent_seed: Count
    outcome: Points | None = 0.0
    ended: Count = 0
    episode_return: float = 0.0
    discounted_return: float = 0.0
    is_success: bool = False
    length: Count = 0
    decisions: Count = 0
    seconds: Seconds = 0.0
    simulations: Count = 0
    model_steps: Count = 0
    p99: Seconds = 0.0
    slowest: Seconds = 0.0
    overruns: Count = 0
    cpu: Seconds = 0.0


@dataclass(slots=True)
class Row:
    """What is kept of a match: one row of the results.

    Attributes
    ----------
    episode : int
        Number of the episode, in games for several of the start board; the same number is the same start for all.
    seed : int
        Argument of ``env.reset(seed=...)``.
    seats : list of Seat
        In the order of the game's players.
    last_asked : int, optional
        Seat whose agent was asked last; after an error it is that agent's. None where nobody knows.
    error : dict, optional
        ``type``, ``message`` and ``traceback`` of the exception that ended the match, if it is nobody's fault. The
        figures then say how far it had come, and are left out of all statistics.
    forfeit : dict, optional
        Of a match that the agent of ``last_asked`` has lost otherwise than by the rules: ``reason`` (``"time"``,
        ``"crash"``, ``"illegal"``, ``"memory"``), and what an error has. The outcomes count; returns do not.
    truncated : str, optional
        Of a match that was longer than ``Limits.episode``. It counts with its returns so far; where several
        play, those who were still in the game share its point, and alone it is not won.
    transitions : list of int, optional
        ``[offset, size]``, in bytes, of the match in the file of transitions.
    kept : dict, optional
        What the plan wishes to keep of the last position.
    replay : str, optional
        Seal of the match's replay, where :func:`agents.arena.replays.file_of` says.
    played_on : str
        The machine, and the releases of what played; "" where an earlier release wrote the row.
    took : float
        Seconds of the whole match, from making agents ready to its end.
    """

    episode: Count
    seed: Count
    seats: list[Seat]
    last_asked: Count | None = None
    error: dict[str, str] | None = None
    transitions: list[Count] | None = None
    kept: dict[str, Any] | None = None
    replay: str | None = None
    forfeit: dict[str, str] | None = None
    truncated: str | None = None
    played_on: str = ""
    took: Seconds = 0.0

    @property
    def agents(self) -> tuple[str, ...]:
        """Labels by seat."""
        return tuple(seat.agent for seat in self.seats)

    @property
    def key(self) -> Key:
        """What tells this row from all others."""
        return self.agents, self.episode

    @property
    def where(self) -> dict[str, Any]:
        """What the transitions say of the match that they belong to."""
        who = {"agents": list(self.agents)} if len(self.seats) > 1 else {"agent": self.seats[0].agent}
        return {**who, "episode": self.episode}

    @property
    def fault(self) -> dict[str, str] | None:
        """What ended the match from outside the game: an error or a forfeit."""
        return self.error or self.forfeit

    @property
    def cut_short(self) -> bool:
        """Whether the match was longer than the plan allows, and nothing else ended it."""
        return self.truncated is not None and self.fault is None

    def blames(self, label: str) -> bool:
        """Whether an error is put down to an agent: to all who sat there, where nobody knows."""
        seats = self.seats if self.last_asked is None else [self.seats[self.last_asked]]
        return self.error is not None and any(seat.agent == label for seat in seats)

    def forfeited_by(self, label: str) -> str | None:
        """Return the reason for which an agent has lost this match otherwise than by the rules; None if it has not."""
        if self.forfeit is None or self.last_asked is None or self.seats[self.last_asked].agent != label:
            return None
        return self.forfeit["reason"]


Rows: TypeAlias = Mapping[Key, Row]
"""Rows by their keys."""


class Played(NamedTuple):
    """A finished match, with its transitions if they are recorded, and what its replay says if that is kept."""

    row: Row
    transitions: list[Transition]
    replay: str = ""


def seeds(seed: int, episode: int, seats: int = 1) -> tuple[int, ...]:
    """Return the seeds, 32 bits each, for an episode of a comparison with this seed: the environment's, each seat's."""
    return tuple(map(int, np.random.SeedSequence((seed, episode)).generate_state(1 + seats, np.uint32)))


def own_seed(seed: int, spec: AgentSpec) -> int:
    """Return the seed of an agent in a seat: the seat's, or if the agent is written with a seed, one made of both."""
    own = spec.settings.get("seed")
    return seed if own is None else int(np.random.SeedSequence((seed, own)).generate_state(1, np.uint32)[0])


def blank_row(match: Match, seed: int, bits: int = 32) -> Row:
    """Return the row of a match of a comparison with this seed, not yet begun; its own seed has so many bits."""
    first, *others = seeds(seed, match.episode, len(match.agents))
    seats = [Seat(spec.label, own_seed(given, spec)) for given, spec in zip(others, match.agents, strict=True)]
    return Row(match.episode, first % 2**bits, seats)


def row_of(given: Mapping[str, Any], scored: bool = False) -> Row:
    """Return a row that was written as JSON; where games are ``scored``, every seat of it has points.

    Raises
    ------
    ValueError, TypeError
        If it is none.
    """
    row = read(Row, given if "seats" in given else _with_seat(given))
    if row.last_asked is not None:
        errors.integer("last_asked", row.last_asked, 0, len(row.seats) - 1)
    if row.transitions is not None and len(row.transitions) != 2:
        raise ValueError(f"transitions has {len(row.transitions)} numbers, not an offset and a size")
    if row.forfeit is not None:
        errors.keys("forfeit", row.forfeit, ("reason", "type", "message"), ("traceback",))
    if scored and (lacking := [seat.agent for seat in row.seats if seat.outcome is None]):
        raise ValueError(f"the outcome of {lacking[0]} is null, in a game that is won or lost: it is in [0, 1]")
    return row


def _with_seat(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a game for one in today's form; releases up to 0.4.0 wrote it without a list of seats."""
    names = [field.name for field in fields(Seat)]
    seat = {name: given[name] for name in names if name in given}
    return {**{name: given[name] for name in given if name not in names}, "seats": [seat]}
