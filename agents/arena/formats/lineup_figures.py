"""What a comparison in a game for more than two found: how sides stand, and each agent over all of its seats."""

from collections.abc import Iterable, Sequence
from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from agents.arena.lineups import Teams
from agents.arena.report.doubts import few_boards, separated
from agents.arena.report.figures import Difference, Rating, Standing, Summary, costs, endings
from agents.arena.rows import DIGITS, Row, Rows, Seat
from agents.arena.statistics.estimates import LEVEL, UNKNOWN, Estimate, mean_points, paired_rates
from agents.arena.statistics.rating import from_rankings
from agents.arena.statistics.rating import ratings as elo_ratings

if TYPE_CHECKING:
    from agents.arena.plan import Plan

Boards: TypeAlias = list[list[Row]]
"""All matches of a line-up on a start board, for each of the boards."""

_MOST_RATED = 8
"""Sides in a game whose ties can be averaged over."""


class Reached(NamedTuple):
    """What a side reached in one game, or on average; see :class:`agents.arena.report.figures.Standing`."""

    won: float
    tied: float
    lost: float
    points: float
    rank: float


def whole_boards(plan: "Plan", rows: Rows, numbers: Iterable[int]) -> Boards:
    """Return the boards with these numbers that line-ups have played in all orders of seats without an error."""
    found: Boards = []
    wanted = list(numbers)
    for lineup in plan.lineups:
        for number in wanted:
            labels = [tuple(spec.label for spec in match.agents) for match in plan.board(lineup, number)]
            board = [rows[seats, number] for seats in labels if (seats, number) in rows]
            if len(board) == len(labels) and all(row.error is None for row in board):
                found.append(board)
    return found


def reached(row: Row, teams: Teams, paid: bool = False) -> list[Reached]:
    """Return what each team reached in a match; ``paid`` where those with the most rewards have won it."""
    points = [float(np.mean([_points(row.seats[seat]) for seat in team])) for team in teams]
    by_returns = paid and row.forfeit is None
    places = ranks(row.seats, by_returns) if len(teams) == len(row.seats) else [nan] * len(teams)
    found = []
    for number, own in enumerate(points):
        best = max(points[:number] + points[number + 1 :])
        found.append(Reached(own > best, own == best, own < best, own, places[number]))
    return found


def _reached(plan: "Plan", row: Row) -> list[Reached]:
    return reached(row, plan.teams, paid=plan.discount is None)


def ranks(seats: Sequence[Seat], by_returns: bool = False) -> list[float]:
    """Return the rank of each seat: by points, then by the end of its own game, the later the better; equals share.

    ``by_returns``: where points are rewards compared, returns come before the end.
    """
    order = [(_points(seat), round(seat.episode_return, DIGITS) * by_returns, seat.ended) for seat in seats]
    return [1 + sum(other > own for other in order) + (order.count(own) - 1) / 2 for own in order]


def _points(seat: Seat) -> float:
    assert seat.outcome is not None, seat
    return seat.outcome


def side_name(labels: Iterable[str]) -> str:
    """Name a side by its agents, in whatever seats they are."""
    members = sorted(labels)
    return members[0] if len(set(members)) == 1 else " + ".join(members)


def standings(plan: "Plan", boards: Boards) -> list[Standing]:
    """Sum up how sides did; the unit of the intervals is the board."""
    games = _by_board(plan, boards)
    return [_standing(name, list(by_board.values()), len(plan.teams)) for name, by_board in games.items()]


def difference(plan: "Plan", boards: Boards, agent: str, reference: str) -> Difference:
    """Say how much better an agent did than another against the same others; the unit is the board."""
    games = _by_board(plan, boards)
    ours, theirs = games[agent], games[reference]
    both = [number for number in ours if number in theirs]
    own, other = ([_mean(each[number]).points for number in both] for each in (ours, theirs))
    return Difference(agent, reference, len(both), paired_rates(own, other, LEVEL), UNKNOWN)


def points_on(plan: "Plan", boards: Boards, names: Sequence[str], number: int) -> list[float] | None:
    """Return the mean points of sides on a board; None if one has not played there."""
    games = _by_board(plan, boards)
    if not all(number in games[name] for name in names):
        return None
    return [_mean(games[name][number]).points for name in names]


def ratings(plan: "Plan", boards: Boards, resamples: int) -> tuple[list[Rating], list[str]]:
    """Rate sides by how they ranked, in games for teams by points; and say what is doubtful about it."""
    if len(plan.teams) > _MOST_RATED:
        return [], []
    names = list(_by_board(plan, []))
    by_board: dict[int, list[list[tuple[int, float]]]] = {}
    for row in (row for rows in boards for row in rows):
        results = _reached(plan, row)
        sides = [names.index(side_name(row.seats[seat].agent for seat in team)) for team in plan.teams]
        ranked = [-result.points if isnan(result.rank) else result.rank for result in results]
        by_board.setdefault(row.episode, []).append(list(zip(sides, ranked, strict=True)))
    choices = from_rankings(list(by_board.values()), len(names))
    found = elo_ratings(choices, LEVEL, resamples)
    doubts = few_boards(len(by_board)) + separated([names[agent] for agent in choices.apart])
    return [Rating(name, elo, boards=len(by_board)) for name, elo in zip(names, found, strict=True)], doubts


def _by_board(plan: "Plan", boards: Boards) -> dict[str, dict[int, list[Reached]]]:
    """Return what each side reached, by its name and the number of the board."""
    names = dict.fromkeys(side_name(spec.label for spec in side) for lineup in plan.lineups for side in lineup)
    games: dict[str, dict[int, list[Reached]]] = {name: {} for name in names}
    for row in (row for rows in boards for row in rows):
        for team, result in zip(plan.teams, _reached(plan, row), strict=True):
            name = side_name(row.seats[seat].agent for seat in team)
            games[name].setdefault(row.episode, []).append(result)
    return games


def summary(plan: "Plan", rows: Rows, boards: Boards, agent: str) -> Summary:
    """Sum up what an agent did in all of its seats, in its own team's name."""
    seats: list[Seat] = []
    games: dict[int, list[Reached]] = {}
    for row in (row for rows in boards for row in rows):
        for team, result in zip(plan.teams, _reached(plan, row), strict=True):
            own = [row.seats[seat] for seat in team if row.seats[seat].agent == agent]
            games.setdefault(row.episode, []).extend([result] * len(own))
            seats += own
    by_board = [board for board in games.values() if board]
    played = [result for board in by_board for result in board]
    return Summary(
        agent=agent,
        games=len(played),
        win_rate=mean_points([_mean(board).points for board in by_board], LEVEL, [*map(len, by_board)]),
        mean_return=UNKNOWN,
        **costs(seats),
        **endings(rows, agent),
        wins=sum(result.won == 1.0 for result in played),
        ties=sum(result.tied == 1.0 for result in played),
        losses=sum(result.lost == 1.0 for result in played),
    )


def _standing(name: str, by_board: Sequence[Sequence[Reached]], sides: int) -> Standing:
    means = np.array([_mean(board) for board in by_board]).reshape(-1, len(Reached._fields))
    games = [*map(len, by_board)]
    won, tied, lost, points = (mean_points(means[:, column], LEVEL, games) for column in range(4))
    behind = mean_points((means[:, 4] - 1) / (sides - 1), LEVEL, games)  # 0 for the first, 1 for the last
    rank = Estimate(*(1 + (sides - 1) * part for part in behind))
    return Standing(name, sum(games), won, tied, lost, points, rank)


def _mean(board: Sequence[Reached]) -> Reached:
    return Reached(*np.mean(board, axis=0).tolist())
