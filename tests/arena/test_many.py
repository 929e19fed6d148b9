"""Comparisons in games for more than two: ranks, teams, figures, durability, tables, and mistakes."""

import importlib
import json
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
import typer.testing

import mcts_envs
from agents.arena import AgentSpec, Plan, compare, parse_agents, parse_meeting
from agents.arena.formats.lineup_figures import ranks, reached, side_name
from agents.arena.report.plot import plot
from agents.arena.report.report import Report, report
from agents.arena.report.table import remarks
from agents.arena.rows import Row, seeds
from agents.arena.running.runner import Crew
from agents.arena.statistics.estimates import mean_points
from agents.arena.storage import EPISODES, TRANSITIONS, default_folder, read_transitions
from mcts_envs.games.bomber_grid.spec import bomber_grid
from tests.arena.quitters import BOMBER, QUIT, TEAM, TURNS, make_quitter, quit_plan, quitters, seat, specs
from tests.arena.reports import figures, printed, rows_of, timeless_rows

ROOT = Path(__file__).resolve().parents[2]


ALONE = ((0,), (1,), (2,), (3,))
PAIRS = ((0, 2), (1, 3))


def test_ranks() -> None:
    def ranked(*reached: tuple[float, int]) -> list[float]:
        return ranks([seat("a", *part) for part in reached])

    assert ranked((0, 4), (1, 12), (0, 12), (0, 8)) == [4, 1, 2, 3]
    assert ranked((0, 8), (1, 12), (0, 8), (0, 12)) == [3.5, 1, 3.5, 2]
    assert ranked((0.5, 12), (0, 12), (0.5, 12), (0, 3)) == [1.5, 3, 1.5, 4]
    assert ranked((0.5, 12), (0.5, 12), (0.5, 12), (0.5, 12)) == [2.5] * 4
    assert ranked((1, 3), (0, 8), (0.5, 5)) == [1, 3, 2]  # who arrives first may leave first


def test_what_sides_reach() -> None:
    row = Row(0, 0, [seat("a", 0.5), seat("b", 0), seat("c", 0.5), seat("d", 0, 3)])
    assert [tuple(part) for part in reached(row, ALONE)] == [
        (False, True, False, 0.5, 1.5),
        (False, False, True, 0.0, 3),
        (False, True, False, 0.5, 1.5),
        (False, False, True, 0.0, 4),
    ]
    first, second = reached(row, PAIRS)
    assert first[:4] == (True, False, False, 0.5)
    assert second[:4] == (False, False, True, 0.0)
    assert math.isnan(first.rank)


def test_the_ends_of_all_players_are_kept() -> None:
    plan = quit_plan("x:at=1,y:at=3,z:at=3,stay:at=0")
    for played in Crew(plan).play(plan.jobs(2)):
        found = {seat.agent: (seat.length, seat.ended, seat.outcome) for seat in played.row.seats}
        assert found == {"x:at=1": (1, 4, 0.0), "y:at=3": (3, 10, 0.0), "z:at=3": (3, 10, 0.0), "stay:at=0": (3, 10, 1)}
    limit = quit_plan("x:at=6,y:at=3,z:at=0,stay:at=0")
    row = next(iter(Crew(limit).play(limit.jobs(1)))).row
    assert {seat.agent: (seat.outcome, seat.ended) for seat in row.seats} == {
        "x:at=6": (0.0, 21),
        "y:at=3": (0.0, 12),
        "z:at=0": (0.5, 21),
        "stay:at=0": (0.5, 21),
    }


@pytest.mark.parametrize(("id", "settings"), [(BOMBER, {"max_steps": 60}), (TEAM, {"max_steps": 60})])
def test_a_match_is_that_of_the_parallel_face(id: str, settings: dict[str, Any]) -> None:
    plan = Plan(id, parse_meeting("random_safe", "rule_based")[0], settings, against="rule_based")
    env = mcts_envs.make_parallel(f"mcts_envs/{id}", **settings)
    for match in plan.jobs(1):
        row = next(iter(Crew(plan).play([match]))).row
        players = {}
        for agent, spec, given in zip(env.possible_agents, match.agents, row.seats, strict=True):
            players[agent] = plan.make(spec)
            players[agent].reseed(given.agent_seed)
        env.reset(seed=row.seed)
        steps, ends = 0, {}
        while env.agents:
            to_choose = [agent for agent in env.agents if len(env.legal_actions(agent))]
            _, _, over, _, infos = env.step({agent: players[agent].act(env.view(agent)) for agent in to_choose})
            steps += 1
            ends |= {agent: (infos[agent]["outcome"], steps) for agent in over if over[agent]}
        assert [given.outcome for given in row.seats] == [ends[agent][0] for agent in env.possible_agents]
        ours, theirs = ([given.ended for given in row.seats], [ends[agent][1] for agent in env.possible_agents])
        assert np.array_equal(np.argsort(ours, kind="stable"), np.argsort(theirs, kind="stable"))
        assert len(set(ours)) == len(set(theirs))


# Figures


def test_figures_of_results_by_hand(tmp_path: Path) -> None:
    """On board 0 a wins all four games, on board 1 two, once tied; b has three seats in each."""
    plan = quit_plan("a", "b")
    rows = {}
    for board, wins in enumerate([(1, 1, 1, 1), (1, 0.5, 0, 0)]):
        for match, own in zip(plan.board(plan.lineups[0], board), wins, strict=True):
            row = Row(board, 0, [seat(spec.label, 0.0, 5) for spec in match.agents])
            mine, *others = sorted(row.seats, key=lambda seat: seat.agent)
            mine.outcome, others[0].outcome = own, 1 - own
            rows[row.key] = row
    result = report(plan, tmp_path, rows, 2, 1, 1.0)
    a, b = result.standings
    assert [s.name for s in (a, b)] == ["a", "b"]
    assert (a.games, b.games) == (8, 24)
    assert a.wins == mean_points([1, 0.25])
    assert a.ties == mean_points([0, 0.25])
    assert a.losses == mean_points([0, 0.5])
    assert a.points == mean_points([1, 1.5 / 4])
    assert b.wins == pytest.approx(mean_points([0, 2 / 12]))
    assert b.ties == pytest.approx(mean_points([0, 1 / 12]))
    assert b.points == pytest.approx(mean_points([0, 2.5 / 12]))
    ranks_of_a = np.array([1.0, (1 + 1.5 + 3 + 3) / 4])
    assert a.rank == pytest.approx([1 + 3 * part for part in mean_points((ranks_of_a - 1) / 3)])
    assert 3 * b.rank.value + a.rank.value == pytest.approx(10)
    mine, theirs = result.summaries
    assert (mine.games, mine.wins, mine.ties, mine.losses) == (8, 5, 1, 2)
    assert (theirs.games, theirs.wins, theirs.ties, theirs.losses) == (24, 2, 1, 21)
    assert (mine.win_rate, mine.length, mine.milliseconds, mine.model_steps) == (a.points, 4.0, 2.0, 15.0)
    assert result.finished
    rows.pop(next(iter(rows)))
    partial = report(plan, tmp_path, rows, 2, 1, 1.0)
    assert (partial.missing, partial.standings[0].games) == (1, 4)
    empty = report(plan, tmp_path, {}, 2, 1, 1.0)
    assert math.isnan(empty.standings[0].wins.value)
    assert "nan" not in printed(empty)


@pytest.mark.parametrize("rate", [0.05, 0.25, 0.65])
def test_intervals_over_boards_of_four_games_cover(rate: float) -> None:
    rng, covered = np.random.default_rng(5), 0
    for _ in range(400):
        luck, own = rng.random((25, 1)), rng.random((25, 4))
        games_won = np.where(rng.random((25, 4)) < 0.5, luck, own) < rate
        estimate = mean_points(games_won.mean(1))
        covered += estimate.low <= rate <= estimate.high
    assert covered / 400 > 0.93


def test_an_agent_that_comes_twice_is_summed_up_once(tmp_path: Path) -> None:
    result = compare(quit_plan("x:at=1,stay:at=0,x:at=1,x:at=2"), 3, folder=tmp_path)
    found = {s.name: s for s in result.standings}
    assert [s.agent for s in result.summaries] == ["x:at=1", "stay:at=0", "x:at=2"]
    assert {name: s.games for name, s in found.items()} == {"x:at=1": 24, "stay:at=0": 12, "x:at=2": 12}
    assert [found[name].rank.value for name in ("stay:at=0", "x:at=2", "x:at=1")] == pytest.approx([1.0, 2.0, 3.5])
    assert found["stay:at=0"].wins.value == found["x:at=1"].losses.value == found["x:at=2"].losses.value == 1.0
    assert result.finished


def test_teams_win_together_and_mates_are_named(tmp_path: Path) -> None:
    whole = compare(quit_plan("x:at=1,stay:at=0", in_teams=True), 3, folder=tmp_path / "whole")
    assert [(s.name, s.games, s.wins.value) for s in whole.standings] == [("x:at=1", 6, 0.0), ("stay:at=0", 6, 1.0)]
    assert [(s.agent, s.games, s.wins, s.losses) for s in whole.summaries] == [
        ("x:at=1", 12, 0, 12),
        ("stay:at=0", 12, 12, 0),
    ]
    mixed = compare(quit_plan("x:at=1,y:at=2,stay:at=0,z:at=3", in_teams=True), 2, folder=tmp_path / "mixed")
    assert [(s.name, s.games, s.wins.value, s.losses.value) for s in mixed.standings] == [
        ("stay:at=0 + x:at=1", 16, 1.0, 0.0),
        ("y:at=2 + z:at=3", 16, 0.0, 1.0),
    ]
    assert all(math.isnan(s.rank.value) for s in mixed.standings)
    assert [(s.agent, s.length, s.wins) for s in mixed.summaries] == [
        ("x:at=1", 1.0, 16),
        ("y:at=2", 2.0, 0),
        ("stay:at=0", 3.0, 16),
        ("z:at=3", 3.0, 0),
    ]
    tied = compare(quit_plan("x:at=2,y:at=2", in_teams=True), 2, folder=tmp_path / "tied")
    assert [s.ties.value for s in tied.standings] == [1.0, 1.0]
    assert side_name("ba") == "a + b"
    assert side_name("aab") == "a + a + b"
    assert side_name("aa") == "a"


def test_three_whole_teams_meet_two_by_two(tmp_path: Path) -> None:
    result = compare(quit_plan("x:at=1,y:at=2,stay:at=0", in_teams=True), 2, folder=tmp_path)
    assert [(s.name, s.games, s.wins.value) for s in result.standings] == [
        ("x:at=1", 8, 0.0),
        ("y:at=2", 8, 0.5),
        ("stay:at=0", 8, 1.0),
    ]
    assert "3 line-ups of 2; seats on each board: all orders (2)" in remarks(result)[0]


def test_games_in_turns_for_three(tmp_path: Path) -> None:
    plan = Plan(TURNS, parse_meeting("random,uniform,uniform", None)[0], record=True)
    result = compare(plan, 4, folder=tmp_path)
    assert [(s.name, s.games) for s in result.standings] == [("random", 12), ("uniform", 24)]
    assert sum(s.wins.value * s.games for s in result.standings) == pytest.approx(12)
    assert result.standings[0].rank.value + 2 * result.standings[1].rank.value == pytest.approx(6)


# The teams of a game


def test_the_teams_of_a_game() -> None:
    assert quitters().teams == ALONE
    assert quitters(in_teams=True).teams == PAIRS
    assert bomber_grid().teams == ALONE
    assert bomber_grid("duel", board_size=8, n_rigid=16, n_wood=16, n_items=10).teams == ((0,), (1,))
    assert bomber_grid("team").teams == bomber_grid("radio").variant("aiide").teams == PAIRS
    for teams in (((0, 1), (2, 4)), ((0, 1, 2), (3,)), ((0, 1), (1, 2)), ((0, 1),)):
        with pytest.raises(
            ValueError, match=r"of quitters do not hold each of the players 0 to 3 once, in teams of eq"
        ):
            replace(quitters(), teams=teams)


def test_quitters_keep_the_laws() -> None:
    for in_teams in (False, True):
        mcts_envs.check_game(replace(quitters(in_teams), position=None), episodes=2, faces=False)


def test_mates_have_the_same_points() -> None:
    plan = Plan(TEAM, parse_meeting("random_safe,rule_based", None)[0], {"max_steps": 100})
    for played in Crew(plan).play(plan.jobs(2)):
        points = [given.outcome for given in played.row.seats]
        assert points[0] == points[2]
        assert points[1] == points[3]
        assert len({given.ended for given in played.row.seats}) == 1


# Playing, accidents, results on disk


@pytest.mark.slow
def test_one_process_or_two_give_the_same(tmp_path: Path) -> None:
    plan = Plan(BOMBER, parse_meeting("random_safe,careful", "rule_based")[0], {"max_steps": 40}, against="rule_based")
    one = compare(plan, 2, folder=tmp_path / "one")
    two = compare(plan, 2, workers=2, folder=tmp_path / "two")
    assert one.finished
    assert two.finished
    assert figures(one) == figures(two)
    rows = [sorted(map(json.dumps, timeless_rows(tmp_path / name))) for name in ("one", "two")]
    assert rows[0] == rows[1]
    assert [s.games for s in one.summaries] == [8, 8, 48]


def test_an_interrupted_comparison_goes_on(tmp_path: Path) -> None:
    def interrupt(found: Report) -> None:
        raise KeyboardInterrupt

    plan = quit_plan("a,b,c,stay:at=0")
    whole = compare(plan, 10, folder=tmp_path / "whole")
    assert not compare(plan, 10, folder=tmp_path / "cut", watch=interrupt).finished
    kept = rows_of(tmp_path / "cut")
    assert 0 < len(kept) < 40
    resumed = compare(plan, 10, folder=tmp_path / "cut")
    assert resumed.finished
    assert resumed.reused == len(kept)
    assert f"{len(kept)} games were there from before" in remarks(resumed)[2]
    assert figures(resumed) == figures(whole)
    file = tmp_path / "cut" / EPISODES
    file.write_bytes(file.read_bytes()[:-30])
    assert compare(plan, 10, folder=tmp_path / "cut").reused == 39
    more = compare(plan, 12, folder=tmp_path / "cut")
    assert (more.reused, more.standings[0].games) == (40, 48)
    assert figures(compare(plan, 10, folder=tmp_path / "cut")) == figures(whole)


def test_other_lineups_are_another_configuration(tmp_path: Path) -> None:
    plans = [quit_plan(text) for text in ("a,a,a,b", "a,a,b,b", "a,b,b,b")]
    plans += [
        quit_plan("a", "b"),
        quit_plan("a", "b,b,b"),
        *(quit_plan(text, in_teams=True) for text in ("a,b", "b,a")),
    ]
    plans += [quit_plan(text, in_teams=True) for text in ("a,b,c,d", "a,c,b,d")]
    assert len({default_folder(plan.configuration()) for plan in plans}) == len(plans)
    compare(plans[0], 1, folder=tmp_path)
    with pytest.raises(ValueError, match=r"lineups .*, now .*--fresh"):
        compare(plans[1], 1, folder=tmp_path)


def test_an_exception_is_put_down_to_its_agent_and_the_others_share_a_point(tmp_path: Path) -> None:
    plan = quit_plan("stay:at=0,bad:at=0:breaks=true", "fine:at=4")
    result = compare(plan, 12, folder=tmp_path)
    unlucky = [[seed % 5 == 0 for seed in seeds(0, board, 4)[1:]] for board in range(12)]
    forfeits = sum(map(sum, unlucky))
    assert result.finished
    assert [s.forfeits.get("crash", 0) for s in result.summaries] == [0, forfeits, 0]
    assert 0 < forfeits == len(result.forfeited)
    for row in result.forfeited:
        assert sorted(seat.outcome for seat in row.seats if seat.outcome is not None) == [0.0, *3 * [1 / 3]]
    assert {s.name: s.games for s in result.standings} == {
        "stay:at=0": 48,
        "bad:at=0:breaks=true": 48,
        "fine:at=4": 3 * (48 + 48),
    }
    said = remarks(result)[2]
    assert "games were lost by forfeit and count as lost; the first: " in said
    assert re.search(r"board \d+, bad:at=0:breaks=true to move: crash: RuntimeError: the agent broke", said)


def test_recorded_moves_replay(tmp_path: Path) -> None:
    compare(quit_plan("a,b,stay:at=0,stay:at=0", record=True), 2, folder=tmp_path)
    by_key = {(*(given["agent"] for given in row["seats"]), row["episode"]): row for row in rows_of(tmp_path)}
    moves = list(read_transitions(tmp_path, 2))
    assert moves == [json.loads(line) for line in (tmp_path / TRANSITIONS).read_text().splitlines()]
    env = quit_plan("a,b,c,d").make_env()
    for key, row in by_key.items():
        mine = [move for move in moves if (*move["agents"], move["episode"]) == key]
        assert [move["step"] for move in mine] == list(range(sum(given["length"] for given in row["seats"])))
        env.reset(seed=row["seed"])
        for move in mine:
            while env.terminations[env.agent_selection]:
                env.step(None)
            assert env.position() == move["state"]
            assert env.agent_selection == f"player_{move['seat']}"
            env.step(move["action"])
            assert env.position() == move["next_state"]


# Tables and pictures

TABLES = """\
 #  agent      games      win rate %          tie rate %         loss rate %         points %
 1  stay:at=0      8  0.0 [0.0,67.4]  100.0 [32.6,100.0]      0.0 [0.0,67.4]  25.0 [0.8,74.2]
 2  x:at=2         8  0.0 [0.0,67.4]      0.0 [0.0,67.4]  100.0 [32.6,100.0]   0.0 [0.0,67.4]
 -  y:at=0        48  0.0 [0.0,67.4]  100.0 [32.6,100.0]      0.0 [0.0,67.4]  29.2 [3.5,75.7]
 agent                  rank  length     ms  steps
 x:at=2     4.00 [1.98,4.00]     2.0  0.000      -
 stay:at=0  2.50 [1.46,3.54]     6.0  0.000      -
 y:at=0     2.25 [1.33,3.42]     6.0  0.000      -
 agent      minus    boards               points
 stay:at=0  x:at=2        2  +25.0 [-57.9,+82.9]
 agent                   Elo
 y:at=0     +481 [-676,+inf]
 stay:at=0  +481 [-627,+inf]
 x:at=2                    0
"""


def test_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.arena.running.clock.seconds", lambda: 0.0)
    text = printed(compare(quit_plan("x:at=2,stay:at=0", "y:at=0"), 2, folder=tmp_path))
    lines = [line.rstrip() for line in text.splitlines() if line.strip() and "─" not in line]
    tables, said = lines[: len(TABLES.splitlines())], " ".join(lines[len(TABLES.splitlines()) :])
    assert tables == TABLES.splitlines()
    assert said.startswith(
        "Quitters-v0; 2 boards of seed 0, the same for all; each against y:at=0 in all other seats; seats on each "
        "board: all orders (4); each agent's own budget; "
    )
    assert " points: as the game gives them; rank: 1 the best, then by the end of one's own" in said
    assert "doubtful: separated: x:at=2 took every point or none, so that Elo has no end; give nearer rivals" in said


@pytest.mark.parametrize("width", [80, 200])
def test_tables_fit_the_terminal(tmp_path: Path, width: int) -> None:
    result = compare(quit_plan("a,a_player_with_a_long_name,c,d"), 3, folder=tmp_path)
    text = printed(result, width)
    assert max(map(len, text.splitlines())) <= width
    assert text.count("[") == text.count("]") == 5 * 4 + 3 + 1  # none is cut off


def test_win_rates_are_drawn(tmp_path: Path) -> None:
    plot(compare(quit_plan("a,b", "c"), 3, folder=tmp_path), tmp_path / "wins.png")
    assert (tmp_path / "wins.png").read_bytes().startswith(b"\x89PNG")


# Mistakes, and the command

FEW = r"is a game for 4; .* cannot fill it: give 4 agents \(the same one several times if you like\)"


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (quit_plan("a,b,c"), f"{FEW}, or --against with who plays the other seats, or .*opponent=random"),
        (quit_plan("a,a,b"), FEW),
        (quit_plan("a,a,b,c,d"), FEW),
        (quit_plan("a", in_teams=True), f"{FEW}, or 2 that play a team each, or --against"),
        (quit_plan("a,a", in_teams=True), FEW),
        (quit_plan("a", "a"), FEW),
        (quit_plan("a,a", "b"), "agent 'a' is there twice"),
        (quit_plan("a", "b,c"), "against b, c: 2 agents for 3 seats; give 1 or 3"),
        (replace(quit_plan("alpha", "beta"), against="alpa"), "unknown against 'alpa'; did you mean 'alpha'"),
        (Plan(BOMBER, ()), "no agent to compare"),
        (Plan(QUIT, (*specs("abc"), AgentSpec("a", "a", {"at": 3})), make=make_quitter), "agent 'a' is there twice"),
        (Plan(BOMBER, 4 * parse_agents("mctss")), "did you mean 'mcts'"),
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
    line = ["--set", "max_steps=30", "--episodes", "1", "--budget", "simulations=5", "--workers", "1"]

    def call(*more: str) -> typer.testing.Result:
        return typer.testing.CliRunner().invoke(app, [*more, *line])

    result = call(BOMBER, "--agents", "mcts:horizon=3,rule_based,rule_based,random_safe", "--out", "out")
    assert result.exit_code == 0, result.output
    for text in ("line-up mcts:horizon=3, rule_based, rule_based, random_safe", "4 orders, everyone in each seat once"):
        assert text in " ".join(result.stdout.split())
    assert re.search(r"\| rule_based +\| +8 \|", (tmp_path / "out" / "report.md").read_text())
    result = call(
        TEAM, "--agents", "careful", "--against", "rule_based,random_safe", "--out", "team", "--plot", "t.png"
    )
    assert result.exit_code == 0, result.output
    assert "random_safe + rule_based" in result.stdout
    assert (tmp_path / "t.png").exists()
    for arguments, message in [
        ((BOMBER, "--agents", "careful,rule_based"), "cannot fill it: give 4 agents"),
        ((BOMBER, "--agents", "careful", "--against", "rule_basd"), "did you mean 'rule_based'"),
        ((BOMBER, "--agents", "careful", "--against", ""), "against '' names no agent"),
    ]:
        result = call(*arguments)
        assert result.exit_code == 2
        assert message in result.stderr
        assert result.stderr.count("\n") == 1
    assert not (tmp_path / "results").exists()
