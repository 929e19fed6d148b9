"""Comparisons in games for two: seats, points, intervals, durability, and mistakes."""

import importlib
import json
import math
import re
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import typer
import typer.testing

from agents.arena import Plan, compare, parse_agents, parse_budget, parse_meeting
from agents.arena.formats.duel import ranked
from agents.arena.report.report import Report, report
from agents.arena.report.table import remarks
from agents.arena.rows import row_of, seeds
from agents.arena.running.runner import Crew
from agents.arena.statistics.estimates import mean_points, paired_rates
from agents.arena.storage import EPISODES, TRANSITIONS, default_folder, read_rows, read_transitions
from tests.arena.pairs import AT_ONCE, PAID, THREE, TURNS, by_hand, fakes, make_fake
from tests.arena.reports import figures, printed, rows_of, timeless_rows

ROOT = Path(__file__).resolve().parents[2]
WALL = "WallSurvival-v0"


# Who meets whom


def test_all_meet_on_the_same_boards_from_both_seats() -> None:
    labels = [(tuple(spec.label for spec in match.agents), match.episode) for match in fakes("a", "b", "c").jobs(2)]
    ordered = [("a", "b"), ("b", "a"), ("a", "c"), ("c", "a"), ("b", "c"), ("c", "b")]
    assert labels == [(seats, board) for board in range(2) for seats in ordered]
    assert [match.key for match in fakes("a", "b", "c").jobs(2)] == labels


def test_all_meet_one() -> None:
    plan = fakes("a", "b", "c", against="a")
    met = [tuple(spec.label for spec in match.agents) for match in plan.jobs(1)]
    assert met == [("b", "a"), ("a", "b"), ("c", "a"), ("a", "c")]


def test_the_one_that_all_meet_need_not_be_among_them() -> None:
    limits = parse_budget("simulations=9")
    specs, against = parse_meeting("random,uniform", "mcts", limits)
    assert ([spec.label for spec in specs], against) == (["random", "uniform", "mcts"], "mcts")
    assert specs[2].settings == {"simulations": 9}
    assert parse_meeting("random,mcts", " mcts", limits) == (parse_agents("random,mcts", limits), "mcts")
    assert parse_meeting("random", None) == (parse_agents("random"), None)


def test_seats_have_streams_of_their_own_whoever_sits_there() -> None:
    plan = fakes("a", "b", "c", seed=3)
    rows = [played.row for played in Crew(plan).play(plan.jobs(4))]
    for board in range(4):
        chance = {(row.seed, *(seat.agent_seed for seat in row.seats)) for row in rows if row.episode == board}
        ((start, first, second),) = chance
        assert first != second
        assert (start, first) == seeds(3, board)
    assert len({row.seed for row in rows}) == 4


def test_boards_are_those_of_the_gymnasium_face(tmp_path: Path) -> None:
    plan = Plan(WALL, parse_agents("uniform,random_walk"), {"board_size": 4}, record=True)
    compare(plan, 3, folder=tmp_path)
    env = gymnasium.make(f"mcts_envs/{WALL}", board_size=4)
    for move in read_transitions(tmp_path, 3):
        if move["step"] == 0:
            env.reset(seed=seeds(0, move["episode"])[0])
            assert env.unwrapped.position() == move["state"]


@pytest.mark.parametrize("id", [TURNS, PAID, AT_ONCE])
def test_a_match_can_be_played_again_by_hand(id: str) -> None:
    plan = fakes("a", "b:lowest=true", id=id, seed=7)
    for match in plan.jobs(3):
        row = next(iter(Crew(plan).play([match]))).row
        env, players = plan.make_env(), [make_fake(spec) for spec in match.agents]
        env.reset(seed=row.seed)
        for player, seat in zip(players, row.seats, strict=True):
            player.reseed(seat.agent_seed)
        moves, returns, outcomes = [0, 0], dict.fromkeys(env.possible_agents, 0.0), {}
        for agent in env.agent_iter():
            _, reward, terminated, truncated, info = env.last()
            returns[agent] += reward
            if terminated or truncated:
                outcomes[agent] = info["outcome"]
                env.step(None)
                continue
            seat = env.possible_agents.index(agent)
            moves[seat] += 1
            env.step(players[seat].act(env))
        assert [seat.length for seat in row.seats] == moves
        assert [seat.outcome for seat in row.seats] == list(outcomes.values())
        assert [seat.episode_return for seat in row.seats] == list(returns.values())


def test_costs_are_those_of_each_seat() -> None:
    plan = Plan(TURNS, parse_agents("uniform,mcts", {"simulations": 20}))
    for played in Crew(plan).play(plan.jobs(2)):
        for seat in played.row.seats:
            assert seat.seconds > 0
            assert seat.decisions in (seat.length, seat.length - 1)  # the last cell is no choice
            assert seat.simulations == (20 * seat.decisions if seat.agent == "mcts" else 0)
            assert (seat.model_steps > 0) == (seat.agent == "mcts")


def test_an_opponent_in_the_environment_makes_it_a_game_for_one(tmp_path: Path) -> None:
    plan = Plan(WALL, parse_agents("uniform"), {"board_size": 3, "opponent": "scripted"})
    result = compare(plan, 4, folder=tmp_path)
    assert plan.seats == 1
    assert result.finished
    assert result.summaries[0].games == 4
    assert row_of(rows_of(tmp_path)[0]).agents == ("uniform",)
    assert "matches" not in plan.configuration()
    three = compare(Plan(THREE, parse_agents("uniform"), {"seat": 2}), 2, folder=tmp_path / "three")
    assert three.finished


# Points and their intervals


def test_the_first_to_move_wins_between_equals(tmp_path: Path) -> None:
    result = compare(fakes("a:lowest=true", "b:lowest=true"), 6, folder=tmp_path)
    (pairing,) = result.pairings
    assert (pairing.boards, pairing.wins, pairing.ties, pairing.losses) == (6, 6, 0, 6)
    assert pairing.by_seat == (1.0, 0.0)
    assert [s.win_rate.value for s in result.summaries] == [0.5, 0.5]
    assert [s.length for s in result.summaries] == [3.5, 3.5]


def test_ties_are_half_a_point_and_told_apart(tmp_path: Path) -> None:
    result = compare(fakes("a", "b"), 60, folder=tmp_path)
    (pairing,) = result.pairings
    assert pairing.ties > 4
    assert pairing.wins + pairing.ties + pairing.losses == 120
    assert pairing.points.value == pytest.approx((pairing.wins + pairing.ties / 2) / 120)
    a, b = result.summaries
    assert (a.wins, a.ties, a.losses) == (b.losses, b.ties, b.wins) == (pairing.wins, pairing.ties, pairing.losses)
    assert a.win_rate == pairing.points
    assert b.win_rate == pytest.approx((1 - a.win_rate.value, 1 - a.win_rate.high, 1 - a.win_rate.low))


def test_figures_of_results_by_hand(tmp_path: Path) -> None:
    """The scores of a against b on four boards are 1, 1/2, 1/2, 1; with one more board won by each, n = 6."""
    rows = by_hand({("a", "b"): [1, 1, 0.5, 1], ("b", "a"): [0, 1, 0.5, 0]})
    result = report(fakes("a", "b"), tmp_path, rows, 4, 1, 1.0)
    half = 1.959964 * math.sqrt((4 / 6 - 1 / 9) / 6) / 2
    (pairing,) = result.pairings
    assert pairing.points == pytest.approx((0.75, 2 / 3 - half, 2 / 3 + half))
    assert (pairing.wins, pairing.ties, pairing.losses, pairing.by_seat) == (5, 2, 1, (0.875, 0.625))
    a, b = result.summaries
    assert (a.games, a.errors, a.length, a.model_steps) == (8, 0, 4.0, 15.0)
    assert (a.milliseconds, b.milliseconds) == (pytest.approx(251.0), pytest.approx(251.0))
    assert result.finished


def test_an_agent_is_summed_up_board_by_board(tmp_path: Path) -> None:
    met = {("a", "b"): [1, 0], ("b", "a"): [0, 1], ("a", "c"): [1, 1], ("c", "a"): [0, 0.5]}
    rows = by_hand({**met, ("b", "c"): [0.5, 0.5], ("c", "b"): [0.5, 0.5]})
    result = report(fakes("a", "b", "c"), tmp_path, rows, 2, 1, 1.0)
    assert [s.win_rate for s in result.summaries] == [
        mean_points([1.0, 1.5 / 4]),
        mean_points([1 / 4, 3 / 4]),
        mean_points([1 / 4, 1.5 / 4]),
    ]
    assert [s.agent for s in ranked(result)] == ["a", "b", "c"]
    assert [(p.agent, p.opponent) for p in result.pairings] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert not report(fakes("a", "b", "c"), tmp_path, rows, 3, 1, 1.0).finished


def test_points_are_those_of_all_games_where_a_board_has_fewer(tmp_path: Path) -> None:
    """As after an interruption: a met b on both boards, and lost to c on the first one alone."""
    met = {("a", "b"): [1, 1], ("b", "a"): [0, 0], ("a", "c"): [0], ("c", "a"): [1]}
    rows = by_hand({**met, ("b", "c"): [0], ("c", "b"): [1]})
    a, b, c = report(fakes("a", "b", "c"), tmp_path, rows, 2, 1, 1.0).summaries
    assert (a.games, a.wins, a.losses, a.win_rate.value) == (6, 4, 2, pytest.approx(4 / 6))
    assert (b.win_rate.value, c.win_rate.value) == (0.0, 1.0)
    assert a.win_rate.low < 0.5 < a.win_rate.high


def test_a_board_played_from_one_seat_alone_does_not_count(tmp_path: Path) -> None:
    rows = by_hand({("a", "b"): [1, 1, 1], ("b", "a"): [1, 0]}, broken=("b", "a", 1))
    result = report(fakes("a", "b"), tmp_path, rows, 3, 1, 1.0)
    (pairing,) = result.pairings
    assert (pairing.boards, pairing.wins, pairing.losses, pairing.points.value) == (1, 1, 1, 0.5)
    assert [(s.games, s.errors) for s in result.summaries] == [(2, 1), (2, 0)]
    assert result.missing == 1
    empty = report(fakes("a", "b"), tmp_path, {}, 3, 1, 1.0)
    assert math.isnan(empty.pairings[0].points.value)
    assert "nan" not in printed(empty)


def test_both_losing_is_a_tie(tmp_path: Path) -> None:
    rows = by_hand({("a", "b"): [1.0], ("b", "a"): [0.0]})
    for row in rows.values():
        for seat in row.seats:
            seat.outcome = 0.0
    (pairing,) = report(fakes("a", "b"), tmp_path, rows, 1, 1, 1.0).pairings
    assert (pairing.points.value, pairing.ties) == (0.5, 2)


def test_intervals_cover_and_keep_a_width() -> None:
    rng = np.random.default_rng(5)
    for share in (0.0, 0.5, 1.0):  # how often both games on a board come out alike
        covered = 0
        for _ in range(400):
            luck, own = rng.random((40, 1)), rng.random((40, 2))
            games_won = np.where(rng.random((40, 1)) < share, luck, own) < 0.8
            estimate = mean_points(games_won.mean(1))
            covered += estimate.low <= 0.8 <= estimate.high
        assert covered / 400 > 0.92
    assert mean_points(np.ones(40)) == pytest.approx((1.0, 0.93, 1.0), abs=0.01)
    points = rng.random(9)
    assert paired_rates(points, 1 - points) == pytest.approx([2 * part - 1 for part in mean_points(points)])
    assert all(math.isnan(part) for part in mean_points([]))
    with pytest.raises(ValueError, match="level 95 is not between"):
        mean_points([1.0], 95)


# Playing, accidents, results on disk


@pytest.mark.slow
def test_one_process_or_two_give_the_same(tmp_path: Path) -> None:
    limits = parse_budget("simulations=15")
    plan = Plan(WALL, parse_agents("uniform,greedy,mcts", limits), {"board_size": 3}, budget=limits)
    one = compare(plan, 5, folder=tmp_path / "one")
    two = compare(plan, 5, workers=2, folder=tmp_path / "two")
    assert one.finished
    assert two.finished
    assert figures(one) == figures(two)
    rows = [sorted(map(json.dumps, timeless_rows(tmp_path / name))) for name in ("one", "two")]
    assert rows[0] == rows[1]
    assert [s.games for s in one.summaries] == [20, 20, 20]


def test_an_interrupted_comparison_goes_on(tmp_path: Path) -> None:
    def interrupt(found: Report) -> None:
        raise KeyboardInterrupt

    plan = fakes("a", "b:lowest=true", "c")
    whole = compare(plan, 10, folder=tmp_path / "whole")
    interrupted = compare(plan, 10, folder=tmp_path / "cut", watch=interrupt)
    assert not interrupted.finished
    kept = rows_of(tmp_path / "cut")
    assert 0 < len(kept) < 60
    resumed = compare(plan, 10, folder=tmp_path / "cut")
    assert resumed.finished
    assert resumed.reused == len(kept)
    assert f"{len(kept)} games were there from before" in remarks(resumed)[2]
    assert figures(resumed) == figures(whole)
    file = tmp_path / "cut" / EPISODES
    file.write_bytes(file.read_bytes()[:-30])
    assert compare(plan, 10, folder=tmp_path / "cut").reused == 59
    more = compare(plan, 12, folder=tmp_path / "cut")
    assert (more.reused, more.summaries[0].games) == (60, 48)
    fewer = compare(plan, 10, folder=tmp_path / "cut")
    assert fewer.finished
    assert figures(fewer) == figures(whole)


def test_other_meetings_are_another_configuration(tmp_path: Path) -> None:
    all_meet, one = fakes("a", "b", "c"), fakes("a", "b", "c", against="b")
    assert default_folder(all_meet.configuration()) != default_folder(one.configuration())
    compare(all_meet, 1, folder=tmp_path)
    with pytest.raises(ValueError, match=r"matches .*null.*, now .*\"b\".*--fresh"):
        compare(one, 1, folder=tmp_path)


def test_an_exception_is_put_down_to_its_agent_and_the_other_wins(tmp_path: Path) -> None:
    plan = fakes("good", "bad:accident=raise", "fine", record=True)
    result = compare(plan, 12, folder=tmp_path)
    unlucky = [[seed % 5 == 0 for seed in seeds(0, board, 2)[1:]] for board in range(12)]
    forfeits = 2 * sum(map(sum, unlucky))
    assert result.finished
    assert forfeits > 0
    assert [s.forfeits.get("crash", 0) for s in result.summaries] == [0, forfeits, 0]
    assert [p.boards for p in result.pairings] == [12, 12, 12]
    assert len(result.forfeited) == forfeits
    for row in result.forfeited:
        assert [seat.outcome for seat in row.seats] == [float("bad" not in label) for label in row.agents]
    first = result.forfeited[0]
    assert first.forfeit is not None
    assert (first.forfeit["type"], first.forfeit["message"]) == ("RuntimeError", "the agent broke")
    said = remarks(result)[2]
    assert re.search(
        r"games were lost by forfeit and count as lost; the first: .*board \d+, bad:accident=raise to m", said
    )
    assert re.search(r"crash: RuntimeError: the agent broke \(pairs\.py, line \d+\)$", said)
    again = compare(plan, 12, folder=tmp_path)
    assert figures(again) == figures(result)


@pytest.mark.slow
def test_a_dying_worker_is_survived(tmp_path: Path) -> None:
    plan = fakes("x:accident=die:every=1", "y")
    result = compare(plan, 1, workers=2, folder=tmp_path)
    assert result.finished
    assert [s.forfeits for s in result.summaries] == [{"crash": 2}, {}]  # the fault of who was asked last
    assert {row.forfeit["type"] for row in result.forfeited if row.forfeit} == {"ProcessDied"}


def test_recorded_moves_replay(tmp_path: Path) -> None:
    compare(fakes("a", "b", record=True), 4, folder=tmp_path)
    rows = {(*(seat["agent"] for seat in row["seats"]), row["episode"]): row for row in rows_of(tmp_path)}  # type: ignore
    moves = list(read_transitions(tmp_path, 4))
    assert moves == [json.loads(line) for line in (tmp_path / TRANSITIONS).read_text().splitlines()]
    env = fakes("a", "b").make_env()
    for key, row in rows.items():
        mine = [move for move in moves if (*move["agents"], move["episode"]) == key]
        assert [move["step"] for move in mine] == list(range(sum(seat["length"] for seat in row["seats"])))
        env.reset(seed=row["seed"])
        for move in mine:
            assert env.position() == move["state"]
            assert env.agent_selection == f"player_{move['seat']}"
            env.step(move["action"])
            assert env.position() == move["next_state"]
        assert mine[-1]["terminated"]
        assert mine[-1]["reward"] == [seat["episode_return"] for seat in row["seats"]]


# Mistakes, and the command


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (fakes("a"), "'a' is alone in a game for 2; give another agent to play against, or the setting opponent=NAME"),
        (fakes("a", "a"), "agent 'a' is there twice"),
        (fakes("alpha", "b", against="alpa"), "unknown against 'alpa'; did you mean 'alpha'"),
        (fakes("a", against="a"), "'a' is alone in a game for 2"),
        (fakes("a", "b", id=THREE), "Three-v0 is a game for 3; .* opponent=random"),
        (fakes("a", "b", id="LaneDefense3x3-v0", against="a"), "against 'a': agents meet no other in .*LaneDefense"),
        (fakes("a", "b", id=WALL, settings={"board_size": 3, "seat": 0}, against="a"), "agents meet no other"),
        (Plan(WALL, parse_agents("mobility,mctss"), {"board_size": 3}), "did you mean 'mcts'"),
        (Plan(WALL, parse_agents("mobility,mcts_text"), {"board_size": 3}), "wall_survival has no preset 'mcts_text'"),
        (Plan(WALL, parse_agents("mobility,greedy"), {"board_size": 2}), "board_size 2 is outside"),
        (fakes("a", "b", id=AT_ONCE, record=True), "AtOnce-v0 has no position"),
    ],
)
def test_mistakes_are_found_before_anything_is_played(plan: Plan, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        compare(plan, 5, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    app = typer.Typer()
    app.command()(importlib.import_module("compare").main)
    line = [WALL, "--set", "board_size=4", "--episodes", "3", "--budget", "simulations=10", "--workers", "1"]

    def call(*more: str) -> typer.testing.Result:
        return typer.testing.CliRunner().invoke(app, [*line, *more])

    result = call("--agents", "greedy,mcts", "--against", "uniform", "--plot", "points.png", "--out", "out")
    assert result.exit_code == 0, result.output
    for text in (
        "uniform",
        "board_size=4; 3 boards of seed 0",
        "budget simulations=10 for mcts",
        "2nd",
    ):
        assert text in result.stdout
    assert (tmp_path / "points.png").exists()
    assert re.search(r"\| greedy +\| uniform +\|", (tmp_path / "out" / "report.md").read_text())
    assert (
        "12 games were there" in call("--agents", "greedy,mcts,uniform", "--against", "uniform", "--out", "out").stdout
    )
    for arguments, message in [
        (("--agents", "greedy"), "is alone in a game for 2"),
        (("--agents", "greedy,gredy"), "did you mean 'greedy'"),
        (("--agents", "greedy", "--against", "mobilty"), "did you mean 'mobility'"),
    ]:
        result = call(*arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.stderr.count("\n") == 1
    assert not (tmp_path / "results").exists()


class TestKept:
    def test_rows_keep_entries_of_the_last_position(self, tmp_path):
        agents = parse_agents("random,uniform")
        plan = Plan("Football1-v0", agents, {"turns": 2, "halves": 1}, keep=("score", "half"))
        compare(plan, 2, folder=tmp_path)
        for row in read_rows(tmp_path).values():
            assert set(row.kept) == {"score", "half"}
            outcomes = [0.5 + 0.5 * np.sign(own - other) for own, other in (row.kept["score"], row.kept["score"][::-1])]
            assert [seat.outcome for seat in row.seats] == outcomes
        assert "keep" in plan.configuration()

    def test_nothing_is_kept_unasked(self, tmp_path):
        compare(fakes("x", "y:lowest=true"), 1, folder=tmp_path)
        assert all(row.kept is None for row in read_rows(tmp_path).values())

    def test_unknown_entries_are_refused_before_anything_is_played(self, tmp_path):
        plan = Plan("Football1-v0", parse_agents("random,uniform"), keep=("scroe",))
        with pytest.raises(ValueError, match="did you mean 'score'"):
            compare(plan, 1, folder=tmp_path)
        assert not list(tmp_path.iterdir())
