"""What a comparison of agents that play against each other found: pairings, and each agent over all of its own."""

from collections.abc import Iterable, Sequence
from math import nan
from typing import TypeAlias

import numpy as np

from agents.arena.report.doubts import doubts_of_pair, few_boards, few_separated
from agents.arena.report.figures import Difference, Pairing, Rating, Summary, costs, endings
from agents.arena.rows import Rows, Seat
from agents.arena.statistics.anytime import anytime
from agents.arena.statistics.estimates import LEVEL, UNKNOWN, Estimate, mean_points, paired_rates
from agents.arena.statistics.gsprt import elo_of
from agents.arena.statistics.rating import from_points
from agents.arena.statistics.rating import ratings as elo_ratings

Board: TypeAlias = tuple[tuple[Seat, Seat], tuple[Seat, Seat]]
"""The two games on a start board, as (own, the other's) of an agent that sits first in the first of them."""
Boards: TypeAlias = dict[tuple[str, str], dict[int, Board]]
"""By agent and opponent, then by the number of the board."""


def score(own: Seat, other: Seat) -> float:
    """Return the points of a game for two: 1 won, 0.5 tied, 0 lost, and both players' points always add up to 1."""
    assert own.outcome is not None, own
    assert other.outcome is not None, other
    return 0.5 + 0.5 * (own.outcome - other.outcome)


def boards_of(rows: Rows, met: Iterable[tuple[str, str]], episodes: int) -> Boards:
    """Return the boards that pairs of agents have played from both seats without an error, seen by each of the two."""
    found: Boards = {}
    for agent, opponent in met:
        ours, theirs = (found.setdefault(pair, {}) for pair in ((agent, opponent), (opponent, agent)))
        for number in range(episodes):
            if (board := board_of(rows, agent, opponent, number)) is not None:
                (a, b), (d, c) = board
                ours[number], theirs[number] = board, ((c, d), (b, a))
    return found


def board_of(rows: Rows, agent: str, opponent: str, number: int) -> Board | None:
    """Return a board, None if a game on it is missing or ended in an error."""
    first, second = (rows.get((pair, number)) for pair in ((agent, opponent), (opponent, agent)))
    if first is None or second is None or first.error is not None or second.error is not None:
        return None
    (a, b), (c, d) = first.seats, second.seats
    return (a, b), (d, c)


def points_of(board: Board) -> float:
    """Return the mean points of an agent on a board."""
    return float(np.mean([score(*game) for game in board]))


def ratings(rows: Rows, boards: Boards, labels: Sequence[str], episodes: int, resamples: int) -> list[Rating]:
    """Rate agents by all their games, and beside it by those with the first agent."""
    numbers = {number: row for row, number in enumerate(sorted({n for of in boards.values() for n in of}))}
    points, place = np.zeros((len(numbers), len(labels), len(labels))), {label: i for i, label in enumerate(labels)}
    for (agent, opponent), of in boards.items():
        for number, board in of.items():
            points[numbers[number], place[agent], place[opponent]] = 2.0 * points_of(board)
    found = elo_ratings(from_points(points), LEVEL, resamples)
    often = [_anytime(rows, each, labels[0], episodes) if (each, labels[0]) in boards else UNKNOWN for each in labels]
    return [Rating(*figures, len(numbers)) for figures in zip(labels, found, often, strict=True)]


def _anytime(rows: Rows, agent: str, reference: str, episodes: int) -> Estimate:
    """Return Elo with an interval that holds at any time: of the boards in their order, up to one that is missing."""
    scores = []
    for number in range(episodes):
        if ((agent, reference), number) not in rows or ((reference, agent), number) not in rows:
            break
        if (board := board_of(rows, agent, reference, number)) is not None:
            scores.append(points_of(board))
    return Estimate(*(elo_of(part) if part == part else nan for part in anytime(scores, LEVEL)))


def doubts(boards: Boards, met: Sequence[tuple[str, str]]) -> list[str]:
    """Say why figures may mislead."""
    found = few_boards(min((len(boards[pair]) for pair in met if boards[pair]), default=0))
    for pair in met:
        games = [board for _, board in sorted(boards[pair].items())]
        seats = np.array([[score(*game) for game in board] for board in games]).reshape(-1, 2)
        found += doubts_of_pair(*pair, seats.mean(1), (seats[:, 0] + 1.0 - seats[:, 1]) / 2.0)
    return few_separated(found)


def pairing(boards: Boards, agent: str, opponent: str) -> Pairing:
    """Sum up how an agent did against another."""
    games = boards[agent, opponent].values()
    scores = np.array([[score(*game) for game in board] for board in games]).reshape(-1, 2)
    first, second = map(float, scores.mean(0)) if len(scores) else (nan, nan)
    points = mean_points(scores.mean(1), LEVEL)
    return Pairing(agent, opponent, len(scores), points, (first, second), *_tally(scores.ravel().tolist()))


def difference(boards: Boards, agent: str, reference: str, opponent: str) -> Difference:
    """Say how much better an agent did than another against the same opponent; the unit is the board."""
    ours, theirs = boards[agent, opponent], boards[reference, opponent]
    both = [number for number in ours if number in theirs]
    own, other = ([float(np.mean([score(*game) for game in each[n]])) for n in both] for each in (ours, theirs))
    return Difference(agent, reference, len(both), paired_rates(own, other, LEVEL), UNKNOWN)


def summary(rows: Rows, boards: Boards, agent: str, opponents: Sequence[str]) -> Summary:
    """Sum up how an agent did against all of its opponents; the unit of the interval is the board."""
    by_board: dict[int, list[float]] = {}
    seats: list[Seat] = []
    for opponent in opponents:
        for number, games in boards[agent, opponent].items():
            by_board.setdefault(number, []).extend(score(*game) for game in games)
            seats += [own for own, _ in games]
    played = list(by_board.values())
    scores = [points for board in played for points in board]
    wins, ties, losses = _tally(scores)
    return Summary(
        agent=agent,
        games=len(scores),
        win_rate=mean_points([float(np.mean(board)) for board in played], LEVEL, [*map(len, played)]),
        mean_return=UNKNOWN,
        **costs(seats),
        **endings(rows, agent),
        wins=wins,
        ties=ties,
        losses=losses,
    )


def _tally(scores: Sequence[float]) -> tuple[int, int, int]:
    """Count wins, ties and losses."""
    return sum(s > 0.5 for s in scores), sum(s == 0.5 for s in scores), sum(s < 0.5 for s in scores)
