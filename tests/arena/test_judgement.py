"""Judgement: ratings against evalica and choix, tests against fastchess, promises against simulated experiments."""

import math
import tracemalloc
from itertools import combinations

import numpy as np
import pytest

from agents.arena import (
    Sprt,
    boards_needed,
    confidence_sequence,
    from_points,
    from_rankings,
    games_needed,
    parse_sprt,
    ratings,
)
from agents.arena.report.doubts import doubts_of_pair, few_boards, order_effects
from agents.arena.statistics.anytime import anytime
from agents.arena.statistics.gsprt import elo_of, llr_of_scores, score_of
from agents.arena.statistics.rating import ELO
from agents.arena.statistics.sprt import difference_found

# Test cases of fastchess, app/tests/sprt_test.cpp, whose own tolerance is 1 %; the digits are what its code
# (app/src/matchmaking/sprt/sprt.cpp) computes for them: counts of 0, 1/2, 1 points of games, or 0, ..., 1 of pairs.
FASTCHESS = [
    ("normalized", 0, 2, (36027, 68692, 36433), 0.92, 0.923293449220697),
    ("normalized", -1.75, 0.25, (10650, 20431, 10871), 2.30, 2.29750040956968),
    ("normalized", 0, 10, (0, 0, 4250), 120.56, 120.548267741204),
    ("logistic", 0.5, 2.5, (21184, 40708, 21404), -1.57, -1.57203160975929),
    ("logistic", 0, 2, (57030, 106593, 57433), -2.59, -2.59333136395006),
    ("normalized", 0, 2, (365, 16618, 36229, 16974, 390), 2.25, 2.25036770354585),
    ("normalized", -1.75, 0.25, (127, 4883, 10712, 5150, 104), 3.01, 3.01015420480197),
    ("normalized", 0, 5, (0, 0, 0, 0, 5550), 111.82, 111.797555086714),
    ("logistic", 0.5, 2.5, (223, 9863, 21279, 10037, 246), -3.07, -3.07442285973681),
    ("logistic", 0, 2, (871, 26175, 55983, 26678, 821), -4.98, -4.97961187201654),
]


@pytest.mark.parametrize(("model", "elo0", "elo1", "counts", "said", "exact"), FASTCHESS)
def test_log_likelihood_ratios_are_those_of_fastchess(
    model: str, elo0: float, elo1: float, counts: tuple[int, ...], said: float, exact: float
) -> None:
    found = float(Sprt(elo0, elo1, model=model).llr_of_counts(counts, games=len(counts) // 2))
    assert found == pytest.approx(exact, rel=0, abs=1e-9)
    assert found == pytest.approx(said, rel=0.01)


@pytest.mark.parametrize(
    ("elo0", "elo1", "counts", "said"),
    [(0, 2, (68526, 128429, 68965), -1.26), (0.5, 2.5, (21484, 41111, 21629), -1.13)],
)
def test_bayesian_ratios_of_fastchess_are_those_of_other_scores(
    elo0: float, elo1: float, counts: tuple[int, ...], said: float
) -> None:
    lost, _, won = np.array(counts) / sum(counts)
    ties = 200 * math.log10((1 - lost) / lost * (1 - won) / won)
    scores = [0.5 * (score_of(elo - ties) + 1 - score_of(-elo - ties)) for elo in (elo0, elo1)]
    assert float(llr_of_scores(counts, *scores)) == pytest.approx(said, rel=0.01)


def test_many_ratios_at_once_are_those_of_each() -> None:
    counts = np.random.default_rng(0).multinomial(30, [0.1, 0.2, 0.3, 0.25, 0.15], 50)
    scores = [np.repeat(np.linspace(0, 1, 5), own) for own in counts]
    for model in ("logistic", "normalized"):
        test = Sprt(-10, 30, model=model)
        assert test.llr_of_counts(counts) == pytest.approx([test.llr(own) for own in scores], abs=1e-9)
    assert Sprt(0, 50).llr([]) == 0.0
    unusual = [0.31, 0.62, 0.62, 0.9]  # points that no wins and ties make
    assert Sprt(0, 50).llr(unusual) == pytest.approx(-Sprt(-50, 0).llr([1 - score for score in unusual]), abs=1e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("elo0=5,elo1=2", "elo0=5 is not less than elo1=2; give for example"),
        ("alpha=0.6", r"alpha 0.6 is outside \[1e-09, 0.499\]"),
        ("elo2=5", "unknown sprt setting 'elo2'; did you mean"),
        ("model=bayesian", "unknown sprt model 'bayesian'"),
        ("elo1=much", "not a number"),
        ("elo1", "not of the form key=value"),
    ],
)
def test_tests_refuse_nonsense(text: str, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        parse_sprt(text)


def test_tests_are_read_and_written() -> None:
    test = parse_sprt("elo0=-5,elo1=20,alpha=0.1,model=normalized")
    assert test == Sprt(-5, 20, 0.1, 0.05, "normalized")
    assert parse_sprt(str(test)) == test
    assert parse_sprt("") == Sprt(0.0, 20.0, 0.05, 0.05)
    assert Sprt().bounds == pytest.approx((-math.log(19), math.log(19)))


def pairs(rng: np.random.Generator, shape: tuple[int, ...], elo: float, ties: float) -> np.ndarray:
    """Quarters of points of pairs of games of agents so many Elo apart, with this share of ties if there can be."""
    score = score_of(elo)
    tied = min(ties, 2 * (1 - score), 2 * score)
    drawn = rng.random((*shape, 2))
    return np.sum(np.where(drawn < score - tied / 2, 2, np.where(drawn < score + tied / 2, 1, 0)), axis=-1)


def errors(test: Sprt, elo: float, ties: float, tests: int, budgets: list[int], wrong: str) -> list[float]:
    """The share of simulated tests that are decided wrongly within each budget of pairs."""
    played = pairs(np.random.default_rng(1), (tests, budgets[-1]), elo, ties)
    counts, open_ones, found = np.zeros((tests, 5)), np.arange(tests), np.zeros(budgets[-1])
    low, high = test.bounds
    for pair in range(budgets[-1]):
        counts[open_ones, played[open_ones, pair]] += 1
        llr = test.llr_of_counts(counts[open_ones])
        found[pair] = np.sum(llr >= high) if wrong == "H1" else np.sum(llr <= low)
        open_ones = open_ones[(llr > low) & (llr < high)]
        if not len(open_ones):
            break
    return [float(found[:budget].sum() / tests) for budget in budgets]


def test_errors_keep_their_promise() -> None:
    for elo in (100, 200):
        for truth, wrong in ((0, "H1"), (elo, "H0")):
            assert max(errors(Sprt(0, elo), truth, 0.3, 1000, [10, 50, 100], wrong)) < 0.065  # 2 standard errors more


@pytest.mark.slow
@pytest.mark.parametrize("model", ["logistic", "normalized"])
@pytest.mark.parametrize("elo", [20, 50, 100, 200])
def test_errors_keep_their_promise_in_ten_thousand_tests(elo: int, model: str, capsys: pytest.CaptureFixture) -> None:
    budgets = [10, 25, 50, 100, 200]
    for ties in (0.0, 0.3, 0.6):
        truth = float(elo)
        if model == "normalized":  # the Elo at which the difference is so many standard deviations of a game
            scores = np.linspace(0.5, 1 - ties / 2, 100_001)[:-1]
            t = (scores - 0.5) / np.sqrt(scores * (1 - scores) - ties / 4)
            truth = elo_of(float(scores[np.searchsorted(t, elo / 2 / ELO)]))
        test = Sprt(0, elo, model=model)
        first = errors(test, 0.0, ties, 10_000, budgets, "H1")
        second = errors(test, truth, ties, 10_000, budgets, "H0")
        with capsys.disabled():
            print(f"\n{model} {elo}, {ties:.0%} ties, within {budgets} pairs: I {first}, II {second}", end="")
        assert max(first + second) < 0.06


def test_differences_that_are_needed_are_found() -> None:
    assert boards_needed(20) == pytest.approx((1.959964 + 0.841621) ** 2 * 0.25 / 0.028751**2 / 2, rel=0.002)
    assert games_needed(50) == 2 * boards_needed(50)
    assert boards_needed(difference_found(100)) <= 100 < boards_needed(difference_found(100) - 0.1)
    played = pairs(np.random.default_rng(2), (2000, boards_needed(100)), 100, 0.0) / 4
    won = played.mean(1) - 1.959964 * played.std(1, ddof=1) / math.sqrt(played.shape[1]) > 0.5
    assert won.mean() == pytest.approx(0.8, abs=0.04)
    with pytest.raises(ValueError, match=r"outside \[0.001"):
        boards_needed(0)
    with pytest.raises(ValueError, match=r"power 1\.5 is not between"):
        boards_needed(10, power=1.5)


def test_a_confidence_sequence_is_true_whenever_one_looks() -> None:
    rng, missed = np.random.default_rng(3), 0
    for _ in range(100):
        missed += any(not e.low <= 0.5 <= e.high for e in confidence_sequence(rng.integers(0, 5, 100) / 4))
    assert missed <= 10
    far = confidence_sequence(rng.binomial(4, 0.7, 400) / 4)
    assert far[99].low > 0.5
    widths = [e.high - e.low for e in far]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.12
    assert anytime([0.5, 1.0]).value == 0.75
    assert math.isnan(anytime([]).value)
    with pytest.raises(ValueError, match=r"outside \[0, 1\]"):
        confidence_sequence([1.5])


def duels(rng: np.random.Generator, boards: int, elos: list[float]) -> np.ndarray:
    points = np.zeros((boards, len(elos), len(elos)))
    for i, j in combinations(range(len(elos)), 2):
        points[:, i, j] = pairs(rng, (boards,), elos[i] - elos[j], 0.3) / 2
        points[:, j, i] = 2 - points[:, i, j]
    return points


def test_ratings_by_hand() -> None:
    three_of_four = ratings(from_points([[[0, 1], [1, 0]], [[0, 2], [0, 0]]]))
    assert three_of_four[0] == (0, 0, 0)
    assert three_of_four[1].value == pytest.approx(400 * math.log10(1 / 3))
    assert three_of_four[1].low < three_of_four[1].value < 0 < three_of_four[1].high
    alone = ratings(from_points([[[0, 1.5], [0.5, 0]]]))
    assert alone[1].value == pytest.approx(400 * math.log10(1 / 3))
    assert math.isnan(alone[1].low)
    assert all(math.isnan(r.value) for r in ratings(from_points(np.zeros((0, 2, 2)))))
    strangers = ratings(from_points([[[0, 1, 0], [1, 0, 0], [0, 0, 0]]] * 3))
    assert strangers[1].value == pytest.approx(0)
    assert math.isnan(strangers[2].value)


def test_ratings_of_those_who_took_every_point_are_finite_and_their_intervals_have_one_end() -> None:
    choices = from_points([[[0, 2], [0, 0]]] * 20)
    assert not choices.reached(np.ones((1, 20))).all()
    assert choices.apart == [0, 1]
    _, loser = ratings(choices)
    assert -1000 < loser.value < loser.high < -200
    assert loser.low == -math.inf
    in_a_row = [[[0, 0, 0], [2, 0, 1], [0, 1, 0]]] * 20  # the last met the first by way of the second alone
    assert [rating.high for rating in ratings(from_points(in_a_row))] == [0, math.inf, math.inf]
    assert all(math.isfinite(rating.low) for rating in ratings(from_points(in_a_row)))


def test_ties_in_a_ranking_of_two_are_half_wins() -> None:
    ranked = ratings(
        from_rankings([[[(0, 1), (1, 1)], [(0, 1), (1, 2)]]] * 9 + [[[(0, 2), (1, 1)], [(0, 1), (1, 1)]]], 2)
    )
    scored = ratings(from_points([[[0, 1.5], [0.5, 0]]] * 9 + [[[0, 0.5], [1.5, 0]]]))
    assert np.array(ranked) == pytest.approx(np.array(scored), abs=1e-6)
    three = ratings(from_rankings([[[(0, 1), (1, 1), (2, 1)]]] * 5, 3))
    assert [r.value for r in three] == pytest.approx([0, 0, 0], abs=1e-9)
    assert three[1].low < -10 < 10 < three[1].high
    with pytest.raises(ValueError, match="9 players tie"):
        from_rankings([[[(agent, 1) for agent in range(9)]]], 9)


def covered(boards: int, elos: list[float], experiments: int, resamples: int = 200) -> float:
    """The share of simulated intervals in which the true difference is."""
    rng, hits = np.random.default_rng(5), 0
    for _ in range(experiments):
        found = ratings(from_points(duels(rng, boards, elos)), resamples=resamples)[1:]
        hits += sum(r.low <= elo - elos[0] <= r.high for r, elo in zip(found, elos[1:], strict=True))
    return hits / experiments / (len(elos) - 1)


def test_intervals_of_ratings_cover() -> None:
    assert covered(40, [0, 60], 100) > 0.88


@pytest.mark.parametrize(("boards", "elos"), [(20, [0, 600]), (20, [0, -300, 300, 600, -600])])
def test_intervals_of_ratings_cover_where_some_are_far_stronger(boards: int, elos: list[float]) -> None:
    assert covered(boards, elos, 300 if len(elos) == 2 else 25) > 0.9


def test_intervals_of_ratings_have_no_end_where_a_single_tie_gives_it() -> None:
    _, weaker = ratings(from_points([[[0, 2], [0, 0]]] * 19 + [[[0, 1.5], [0.5, 0]]]))
    assert weaker.low == -math.inf
    assert weaker.value < weaker.high < -200
    table = duels(np.random.default_rng(1), 30, [0, 50, 0, 100, 0])
    table[:, 4], table[:, :, 4] = 2, 0  # the last wins everything
    assert [math.isinf(rating.high) for rating in ratings(from_points(table))] == [False] * 4 + [True]


@pytest.mark.parametrize(("boards", "agents"), [(20_000, 2), (4, 24)])
def test_intervals_of_ratings_take_little_memory_however_many_boards_and_agents(boards: int, agents: int) -> None:
    choices = from_points(duels(np.random.default_rng(1), boards, [0, 50] * (agents // 2)))
    tracemalloc.start()
    ratings(choices, resamples=300)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 25e6  # all resamples at once are 48 MB, and of 24 agents in dense arrays 300


@pytest.mark.slow
@pytest.mark.parametrize("elos", [[0, 0], [0, 100], [0, 200], [0, 50, 100, 200]])
@pytest.mark.parametrize("boards", [20, 50, 200])
def test_intervals_of_ratings_cover_as_they_say(boards: int, elos: list[float], capsys: pytest.CaptureFixture) -> None:
    share = covered(boards, elos, 1000 if len(elos) == 2 else 300)
    with capsys.disabled():
        print(f"\n{boards} boards, {elos}: {share:.1%}", end="")
    assert 0.93 < share < 0.985


@pytest.mark.slow
def test_bradley_and_terrys_ratings_are_those_of_evalica() -> None:
    evalica = pytest.importorskip("evalica", reason="make test-all installs it")
    points = duels(np.random.default_rng(6), 50, [0, 40, 80, 150])
    found = [r.value for r in ratings(from_points(points), resamples=10)]
    won = points.sum(0)
    result = evalica.bradley_terry(*games_of(won, evalica), tolerance=1e-14, limit=100_000)
    theirs = [ELO * math.log(result.scores[agent] / result.scores[0]) for agent in range(4)]
    assert found == pytest.approx(theirs, abs=1e-6)


def games_of(won: np.ndarray, evalica: object) -> tuple[list[int], list[int], list[object]]:
    """Games with as many points: wins, and a tie for what is left over."""
    first, second, winners = [], [], []
    for i, j in combinations(range(len(won)), 2):
        for points, winner in ((won[i, j], evalica.Winner.X), (won[j, i], evalica.Winner.Y)):  # type: ignore[attr-defined]
            winners += [winner] * int(points)
        winners += [evalica.Winner.Draw] * int(won[i, j] % 1 > 0)  # type: ignore[attr-defined]
        first += [i] * (len(winners) - len(first))
        second += [j] * (len(winners) - len(second))
    return first, second, winners


@pytest.mark.slow
def test_plackett_and_luces_ratings_are_those_of_choix() -> None:
    choix = pytest.importorskip("choix", reason="make test-all installs it")
    rng, strengths = np.random.default_rng(7), np.array([0.0, 0.5, 1.0, 0.2])
    orders = [[tuple(map(int, np.argsort(-strengths - rng.gumbel(size=4)))) for _ in range(4)] for _ in range(60)]
    boards = [[list(zip(order, range(4), strict=True)) for order in board] for board in orders]
    found = [r.value for r in ratings(from_rankings(boards, 4), resamples=10)]
    theirs = choix.opt_rankings(4, [order for board in orders for order in board], alpha=0.0, tol=1e-12)
    assert found == pytest.approx(ELO * (theirs - theirs[0]), abs=1e-4)


def test_doubts() -> None:
    rng = np.random.default_rng(8)
    fair = pairs(rng, (60,), 30, 0.3) / 4
    assert not doubts_of_pair("a", "b", fair, np.full(60, 0.55))
    assert not doubts_of_pair("a", "b", np.zeros(0), np.zeros(0))
    assert few_boards(7) == ["few boards: 7; intervals are rough below 20"]
    assert not few_boards(0) + few_boards(20)
    (every,) = doubts_of_pair("a", "b", np.zeros(30), np.full(30, 0.5))
    assert every.startswith("a - b: b took every point")
    (nearly,) = doubts_of_pair("a", "b", np.repeat([0.5, 1.0], [1, 39]), np.full(40, 0.5))
    assert nearly.startswith("a - b: a took 98.8% of the points; the Elo is rough where the other has so few")
    (ties,) = doubts_of_pair("a", "b", np.full(30, 0.5), np.full(30, 0.5))
    assert "nothing but ties" in ties
    (seats,) = doubts_of_pair("a", "b", fair, np.full(60, 0.1))
    assert "the second seat took 90% of the points" in seats
    (order,) = order_effects("a", np.repeat([0.25, 0.75, 0.5, 1.0], 10))
    assert order.startswith("a: 50% of the points in the first half of the boards, 75% in the second")
