"""Who meets whom, and who sits where: line-ups, and the orders of seats in which they play a start board."""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice, product
from typing import TypeAlias, TypeVar

import numpy as np

from agents.spec import AgentSpec

Agents: TypeAlias = tuple[AgentSpec, ...]
Lineup: TypeAlias = tuple[Agents, ...]
"""Those who meet, side by side; a side is a team, or a player for itself."""
Teams: TypeAlias = Sequence[tuple[int, ...]]
"""The seats of each team, as :class:`mcts_envs.core.contract.Game` has them."""

MOST_SEATINGS = 8
"""Up to so many orders of seats are all played on every board."""

_Item = TypeVar("_Item")


def sides(agents: Agents, teams: Teams) -> Lineup:
    """Return who plays in each team: given one agent for each seat, in their order, or one for each team, or for all.

    Raises
    ------
    ValueError
        If there are as many agents as none of these.
    """
    seats = sorted(seat for team in teams for seat in team)
    if len(agents) == len(seats):
        at = dict(zip(seats, agents, strict=True))
        return tuple(tuple(at[seat] for seat in team) for team in teams)
    if len(agents) not in (1, len(teams)):
        known = " or ".join(str(count) for count in sorted({1, len(teams), len(seats)}))
        raise ValueError(f"{len(agents)} agents for {len(seats)} seat{'s' * (len(seats) > 1)}; give {known}")
    whole = agents if len(agents) == len(teams) else len(teams) * agents
    return tuple(len(team) * (agent,) for agent, team in zip(whole, teams, strict=True))


def lineups(agents: Agents, teams: Teams, against: Sequence[str] = ()) -> list[Lineup]:
    """Return who meets: as many agents as seats are one line-up, else all groups with an agent for each team are.

    With ``against`` each agent has a side of its own against the agents with these labels, who play in no other way.

    Raises
    ------
    ValueError
        If ``against`` has more or fewer labels than :func:`sides` takes for the other teams.
    """
    if against:
        named = {spec.label: spec for spec in agents}
        others = sides(tuple(named[label] for label in against), teams[1:])
        return [(*sides((spec,), teams[:1]), *others) for spec in agents if spec.label not in against]
    groups = [agents] if len(agents) == sum(map(len, teams)) else combinations(agents, len(teams))
    return [sides(group, teams) for group in groups]


def seatings(lineup: Lineup, teams: Teams, seed: Sequence[int]) -> list[Agents]:
    """Return the orders of seats in which a line-up plays a start board, each as its agents by seat.

    These are all that there are, up to :data:`MOST_SEATINGS` of them. Where there are more, it is a cyclic Latin square
    drawn for this board, so that everyone plays in every seat once. Mates stay mates.

    Parameters
    ----------
    lineup : tuple of tuple of AgentSpec
    teams : sequence of tuple of int
    seed : sequence of int
        Of the draw.
    """
    return all_seatings(lineup, teams) or list(dict.fromkeys(_latin_square(lineup, teams, seed)))


def all_seatings(lineup: Lineup, teams: Teams) -> list[Agents]:
    """Return all distinct orders of seats; none if they are more than :data:`MOST_SEATINGS`."""
    few = list(islice(_many_seatings(lineup, teams), MOST_SEATINGS + 1))
    return few if len(few) <= MOST_SEATINGS else []


def _many_seatings(lineup: Lineup, teams: Teams) -> Iterator[Agents]:
    """Yield distinct seatings; of a side with very many orders not all."""
    for order in _orders(_by_label(lineup)):
        for inside in product(*(islice(_orders(side), MOST_SEATINGS + 1) for side in order)):
            yield seated(inside, teams)


def _by_label(lineup: Lineup) -> list[Agents]:
    """Return the sides, mates by label, so that sides of the same agents are equal."""
    return [tuple(sorted(side, key=lambda spec: spec.label)) for side in lineup]


def _orders(items: Sequence[_Item]) -> Iterator[tuple[_Item, ...]]:
    """Yield all distinct orders of items, first the one that they come in."""
    if not items:
        yield ()
    for first in dict.fromkeys(items):
        rest = list(items)
        rest.remove(first)
        for order in _orders(rest):
            yield (first, *order)


def _latin_square(lineup: Lineup, teams: Teams, seed: Sequence[int]) -> Iterator[Agents]:
    """Yield as many seatings as there are seats: sides go round the teams, and mates round the seats of theirs.

    They are the same in whatever order the agents were named.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    named = sorted(_by_label(lineup), key=lambda side: [spec.label for spec in side])
    drawn = [[named[i][j] for j in rng.permutation(len(named[i]))] for i in rng.permutation(len(named))]
    for turn in range(len(teams)):
        for shift in range(len(teams[0])):
            moved = [side[shift:] + side[:shift] for side in drawn]
            yield seated(moved[turn:] + moved[:turn], teams)


def seated(lineup: Sequence[Sequence[AgentSpec]], teams: Teams) -> Agents:
    """Return the agents by seat when the first side plays in the first team."""
    at = {seat: spec for team, side in zip(teams, lineup, strict=True) for seat, spec in zip(team, side, strict=True)}
    return tuple(at[seat] for seat in sorted(at))
