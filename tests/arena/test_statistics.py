"""Statistics of comparisons: intervals against published ones, SciPy, and simulated experiments."""

import math

import numpy as np
import pytest

from agents.arena.statistics.estimates import mean_points, paired_difference, paired_rates, student_mean, wilson


@pytest.mark.parametrize(
    ("wins", "games", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_newcombes_published_intervals(wins: int, games: int, low: float, high: float) -> None:
    """R. G. Newcombe (1998), Statistics in Medicine 17, table I, method 3."""
    estimate = wilson(wins, games)
    assert estimate == pytest.approx((wins / games, low, high), abs=5e-5)


def test_wilson_agrees_with_scipy_and_takes_ties() -> None:
    from scipy import stats  # Here and below: late, because worker processes import this file.

    for wins, games, level in [(0, 1, 0.95), (1, 1, 0.95), (7, 10, 0.9), (333, 1000, 0.99)]:
        expected = stats.binomtest(wins, games).proportion_ci(level, method="wilson")
        assert wilson(wins, games, level)[1:] == pytest.approx((expected.low, expected.high))
    assert wilson(2, 10).low < wilson(2.5, 10).low < wilson(3, 10).low
    assert all(math.isnan(part) for part in wilson(0, 0))


@pytest.mark.parametrize("call", [lambda: wilson(3, 2), lambda: wilson(-1, 2), lambda: wilson(1, 2, 95)])
def test_wilson_refuses_nonsense(call: object) -> None:
    with pytest.raises(ValueError, match=r"outside|between"):
        call()  # type: ignore[operator]


def test_means_have_students_interval() -> None:
    """The data are Student's own (1908), of Cushny and Peebles: hours of sleep more by one drug than by another."""
    from scipy import stats

    slept = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4]
    assert student_mean(slept) == pytest.approx((1.58, 0.7001, 2.4599), abs=5e-5)
    for level in (0.5, 0.9, 0.99):
        expected = stats.t.interval(level, 9, np.mean(slept), stats.sem(slept))
        assert student_mean(slept, level)[1:] == pytest.approx(expected)
    assert student_mean([2.0, 2.0, 2.0]) == (2.0, 2.0, 2.0)
    assert student_mean([2.0]).value == 2.0
    assert math.isnan(student_mean([2.0]).low)
    assert math.isnan(student_mean([]).value)


@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_means_cover_with_few_values_too(n: int) -> None:
    samples = np.random.default_rng(n).normal(10.0, 3.0, (2000, n))
    covered = sum(found.low <= 10.0 <= found.high for found in map(student_mean, samples))
    assert 0.935 < covered / 2000 < 0.965


def test_paired_differences_use_the_pairs() -> None:
    common = np.random.default_rng(2).normal(0.0, 100.0, 200)
    estimate = paired_difference(common + 1.0, common)
    assert estimate == pytest.approx((1.0, 1.0, 1.0))
    with pytest.raises(ValueError, match="pairs"):
        paired_difference([1.0], [1.0, 2.0])


def test_paired_rates_are_bonett_and_prices() -> None:
    """By hand: 40 pairs, 12 won by the first alone, 3 by the second alone."""
    a, b = np.zeros(40), np.zeros(40)
    a[:12], b[12:15] = 1.0, 1.0
    first, second = 13 / 42, 4 / 42
    half = 1.959964 * math.sqrt((first + second - (first - second) ** 2) / 42)
    assert paired_rates(a, b) == pytest.approx((9 / 40, first - second - half, first - second + half))
    assert paired_rates(np.ones(5), np.zeros(5)).low < 0.5


def test_means_of_boards_with_fewer_games_cover() -> None:
    """Half of the boards have three times the games, and on those the agent is weaker."""
    rng, covered = np.random.default_rng(5), 0
    for _ in range(1000):
        games = rng.choice([2, 6], 40)
        points = [float(rng.binomial(n, 0.8 if n == 2 else 0.4)) / n for n in games]
        found = mean_points(points, games=games.tolist())
        assert found.value == pytest.approx(np.dot(points, games) / games.sum())
        covered += found.low <= (2 * 0.8 + 6 * 0.4) / 8 <= found.high
    assert 0.93 <= covered / 1000 <= 0.98
    assert mean_points([1.0, 0.5], games=[4, 4]) == mean_points([1.0, 0.5])


def test_paired_rates_cover() -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(600):
        luck = rng.random(30)
        a, b = (luck < 0.7).astype(float), (np.where(rng.random(30) < 0.5, luck, rng.random(30)) < 0.4).astype(float)
        estimate = paired_rates(a, b)
        covered += estimate.low <= 0.3 <= estimate.high
    assert covered / 600 > 0.92
