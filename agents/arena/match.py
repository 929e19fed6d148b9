"""Matches: agents by seat. A game for one has one seat."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from agents.arena.episode import Asked, Episode, Transition, ask, own_seed, play_alone, seeds
from agents.arena.schema import Count, Points, Seconds, read
from agents.arena.spec import AgentSpec
from mcts_envs.core.players import Player


class Match(NamedTuple):
    """A game to be played: who sits where, and which episode it is."""

    agents: tuple[AgentSpec, ...]
    episode: int

    @property
    def key(self) -> "Key":
        """That of its row."""
        labels = tuple(spec.label for spec in self.agents)
        return labels if len(labels) > 1 else labels[0], self.episode


@dataclass
class Seat:
    """What is kept of one seat of a match.

    Attributes
    ----------
    agent : str
        Label of who sat there.
    agent_seed : int
        Argument of ``agent.reseed(...)``: the same for whoever sits there, another one for each seat.
    outcome : float
        Points in [0, 1], as the game says.
    episode_return : float
        Sum of rewards.
    ended : int
        How many moves of all seats had been made when its own game ended: equal for those who end together.
    length, decisions, seconds, simulations, model_steps
        As in :class:`agents.arena.episode.Episode`.
    """

    agent: str
    agent_seed: Count
    outcome: Points = 0.0
    ended: Count = 0
    episode_return: float = 0.0
    length: Count = 0
    decisions: Count = 0
    seconds: Seconds = 0.0
    simulations: Count = 0
    model_steps: Count = 0


@dataclass
class MatchRow:
    """What is kept of a match: one row of the results.

    Attributes
    ----------
    episode : int
        Number of the start board; matches with the same number start from the same board.
    seed : int
        Argument of ``env.reset(seed=...)``.
    seats : list of Seat
        In the order of the game's players.
    last_asked : int, optional
        Seat whose agent was asked last; after an error it is that agent's. None where nobody knows.
    error, transitions, kept : optional
        As in :class:`agents.arena.episode.Episode`.
    """

    episode: Count
    seed: Count
    seats: list[Seat]
    last_asked: Count | None = None
    error: dict[str, str] | None = None
    transitions: list[Count] | None = None
    kept: dict[str, Any] | None = None

    @property
    def agents(self) -> tuple[str, ...]:
        """Labels by seat."""
        return tuple(seat.agent for seat in self.seats)

    @property
    def key(self) -> tuple[tuple[str, ...], int]:
        """What tells this row from all others."""
        return self.agents, self.episode

    @property
    def name(self) -> str:
        """Who played what, for people."""
        asked = "" if self.last_asked is None else f", {self.seats[self.last_asked].agent} to move"
        return f"{' - '.join(self.agents)}, board {self.episode}{asked}"

    @property
    def where(self) -> dict[str, Any]:
        """What the transitions say of the match that they belong to."""
        return {"agents": list(self.agents), "episode": self.episode}

    def blames(self, label: str) -> bool:
        """Whether an error is put down to an agent: to all who sat there, where nobody knows."""
        seats = self.seats if self.last_asked is None else [self.seats[self.last_asked]]
        return self.error is not None and any(seat.agent == label for seat in seats)


Matches: TypeAlias = Mapping[tuple[tuple[str, ...], int], MatchRow]
"""Rows by their keys."""
Row: TypeAlias = Episode | MatchRow
Key: TypeAlias = tuple[str | tuple[str, ...], int]
Seated: TypeAlias = Callable[[AgentSpec, int], Player]
"""``seated(spec, seat) -> agent``."""


class Played(NamedTuple):
    """A finished match, with its transitions if they are recorded."""

    row: Row
    transitions: list[Transition]


def blank_row(match: Match, seed: int) -> Row:
    """Return the row of a match that has not begun, in a comparison with this seed."""
    first, *others = seeds(seed, match.episode, len(match.agents))
    others = [own_seed(given, spec) for given, spec in zip(others, match.agents, strict=True)]
    if len(match.agents) == 1:
        return Episode(match.agents[0].label, match.episode, first, others[0])
    seats = [Seat(spec.label, own) for spec, own in zip(match.agents, others, strict=True)]
    return MatchRow(match.episode, first, seats)


def row_of(given: Mapping[str, Any]) -> Row:
    """Return a row that was written as JSON.

    Raises
    ------
    ValueError, TypeError
        If it is none.
    """
    return read(MatchRow, given) if "seats" in given else read(Episode, given)


def play(
    env: Any,
    match: Match,
    row: Row,
    seated: Seated,
    transitions: list[Transition] | None = None,
    asked: Asked = lambda seat: None,
) -> None:
    """Play a match and fill its row in.

    Parameters
    ----------
    env : environment
        From :meth:`agents.arena.plan.Plan.make_env`.
    match : Match
    row : Episode or MatchRow
        From :func:`blank_row`.
    seated : callable
        ``seated(spec, seat) -> agent``.
    transitions : list, optional
        Takes a dictionary for each move: see :func:`agents.arena.episode.play_alone`; with several seats, ``seat`` says
        whose move it was, and ``reward`` is a list of all seats' rewards.
    asked : callable
        ``asked(seat)`` is called before each question to an agent, ``asked(-1 - seat)`` before it is made ready.
    """
    if isinstance(row, Episode):
        asked(-1)
        play_alone(env, seated(match.agents[0], 0), row, transitions, asked)
        return
    players = []
    for seat, spec in enumerate(match.agents):
        row.last_asked = seat
        asked(-1 - seat)
        players.append(seated(spec, seat))
        players[seat].reseed(row.seats[seat].agent_seed)
    row.last_asked = None
    env.reset(seed=row.seed)
    while env.agents:
        seat = env.possible_agents.index(env.agent_selection)
        if env.terminations[env.agent_selection] or env.truncations[env.agent_selection]:
            row.seats[seat].outcome = float(env.infos[env.agent_selection]["outcome"])
            row.seats[seat].ended = sum(place.length for place in row.seats)
            env.step(None)
            continue
        row.last_asked = seat
        asked(seat)
        _move(env, players[seat], row, transitions)


def _move(env: Any, player: Player, row: MatchRow, transitions: list[Transition] | None) -> None:
    """Play one move of the agent whose turn it is."""
    name, before = env.agent_selection, env.position() if transitions is not None else {}
    seat = env.possible_agents.index(name)
    action = ask(env, player, env.infos[name]["action_mask"], row.seats[seat])
    env.step(action)
    row.seats[seat].length += 1
    rewards = [float(env.rewards.get(agent, 0.0)) for agent in env.possible_agents]
    for paid, reward in zip(row.seats, rewards, strict=True):
        paid.episode_return += reward
    if transitions is not None:
        ended = {"terminated": env.terminations[name], "truncated": env.truncations[name]}
        move = {"state": before, "seat": seat, "action": int(action), "reward": rewards, "next_state": env.position()}
        transitions.append({**move, **ended})
