"""Exact values of small boards of wall survival: against plain minimax, and what the page says of them."""

import gzip
import signal
from functools import cache

import numpy as np
import pytest
import solve
import typer
from exact.judging import check, judge, on_walls
from exact.page import Page
from exact.solving import Solver, state_of
from exact.wall import boards, game_of, played_from, position
from typer.testing import CliRunner

from agents.arena import parse_agents


def minimax(game):
    """Return a function that says what a state is worth to the player to move, by looking at everything."""

    @cache
    def worth(state):
        at = np.frombuffer(state, np.uint8).copy()
        mover, legal = int(game.active(at)) >> 1, np.zeros(game.actions, np.int64)
        best = -1
        for action in legal[: game.legal(at, mover, legal)]:
            after, points = at.copy(), np.zeros(2)
            game.step(after, np.full(2, action), np.zeros(2))
            if game.active(after):
                best = max(best, -worth(after.tobytes()))
            else:
                game.outcome(after, points)
                best = max(best, int(np.sign(points[mover] - points[1 - mover])))
        return best

    return lambda state: worth(state.tobytes())


def test_boards_stand_for_all():
    assert (len(boards(4)), sum(boards(4).values())) == (133, 1020)


def test_boards_are_those_that_are_drawn():
    game, drawn, state = game_of(3), set(), game_of(3).new_state()
    for seed in range(2000):
        game.restart(state, seed)
        at = game.position(state)
        drawn.add((at["walls"], *at["p0"], *at["p1"]))
    places = [position(board, 3) for board in boards(3)]
    assert {(at["walls"], *at["p0"], *at["p1"]) for at in places} <= drawn
    assert len(drawn) == sum(boards(3).values()) == 116


def test_every_board_of_three_is_worth_what_minimax_says():
    game = game_of(3)
    solver, plain = Solver(game, 10**6), minimax(game)
    for board in boards(3):
        state = state_of(game, position(board, 3))
        assert solver.worth(state).value == plain(state)
        for at in played_from(game, state, np.random.default_rng(0)):
            moves = solver.moves(at)
            assert max(moves.values()) == plain(at) == solver.worth(at).value


def test_what_is_not_solved_is_left_open():
    game = game_of(4)
    states = [state_of(game, position(board, 4)) for board in boards(4)]
    assert {Solver(game, 20_000).worth(state).value for state in states} == {None, -1}


def test_a_question_has_a_wrong_move_and_agents_are_judged_by_it():
    asked = [*on_walls(3, 10, 0, 10**6)]
    assert len(asked) == 10
    assert all(len({*question.moves.values()}) > 1 for question in asked)
    chance, perfect, random = judge(game_of(3), asked, parse_agents("alpha_beta:depth=20,random"), lambda line: None)
    assert perfect.best.value == 1.0
    assert perfect.regret.value == 0.0
    assert 0.0 < chance.best.value < 1.0
    assert random.regret.value > 0.1
    assert chance.regret.value > 0.1


def test_the_page_goes_on_where_it_was(tmp_path, monkeypatch):
    Page(tmp_path).solve(3, 10**6, lambda line: None)
    text = (tmp_path / "exact.md").read_text()
    assert "| 3 x 3 | 116 | 17 | 17 | 72.4 % | 27.6 % | 0.0 % | 3 plies |\n" in text
    monkeypatch.setattr(Solver, "worth", lambda self, state: pytest.fail("it is solved"))
    Page(tmp_path).solve(3, 10**6, lambda line: None)
    assert (tmp_path / "exact.md").read_text() == text


def test_what_two_processes_found_is_kept_and_each_agent_at_once(tmp_path, monkeypatch):
    one, other = Page(tmp_path), Page(tmp_path)
    one.solve(3, 10**6, lambda line: None)
    specs = parse_agents("random,alpha_beta:depth=20")

    def stopped(line):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        other.judge(3, specs, 2, 0, 10**6, lambda line: "alpha_beta" in line and stopped(line))
    kept = Page(tmp_path)._kept
    assert kept["boards"]["3"]
    assert [*kept["judged"]["3, 2 of seed 0"]] == ["a random move", "random"]


def test_it_says_how_far_making_and_judging_are(tmp_path, monkeypatch):
    monkeypatch.setattr("exact.judging._SECONDS_BETWEEN_LINES", 0.0)
    said = []
    Page(tmp_path).judge(3, parse_agents("random"), 3, 0, 10**6, said.append)
    assert [line for line in said if line.endswith("2 of 3 positions")] == [
        "made: 2 of 3 positions",
        "random: 2 of 3 positions",
    ]


def test_boards_are_kept_while_others_are_solved(tmp_path, monkeypatch):
    monkeypatch.setattr("exact.page._SECONDS_BETWEEN_WRITES", 0.0)
    there, worth = [], Solver.worth

    def noted(self, state):
        there.append(len(Page(tmp_path)._kept["boards"].get("3", {})))
        return worth(self, state)

    monkeypatch.setattr(Solver, "worth", noted)
    Page(tmp_path).solve(3, 10**6, lambda line: None)
    assert there == [*range(len(there))]


def test_a_run_that_is_terminated_keeps_what_it_solved_and_says_how_to_go_on(tmp_path, monkeypatch):
    worth = Solver.worth

    def terminated(self, state):
        if len(asked) == 2:
            signal.raise_signal(signal.SIGTERM)
        asked.append(state)
        return worth(self, state)

    asked = []
    monkeypatch.setattr(Solver, "worth", terminated)
    app = typer.Typer()
    app.command()(solve.main)
    ended = CliRunner().invoke(app, ["wall", "--size", "3", "--pages", str(tmp_path)])
    assert ended.exit_code == 143
    assert "what was solved is kept, and the same command goes on from here" in ended.stderr
    assert len(Page(tmp_path)._kept["boards"]["3"]) == 2


def test_the_page_is_the_same_in_one_run_and_in_two(tmp_path):
    pages = []
    for folder, rounds in ((tmp_path / "one", 1), (tmp_path / "two", 2)):
        for _ in range(rounds):
            page = Page(folder)
            page.solve(3, 10**6, print)
            page.judge(3, parse_agents("random,greedy"), 5, 0, 10**6, print)
        pages.append((folder / "exact.md").read_text())
    Page(tmp_path / "one").solve(3, 10**6, print)
    assert {*pages, (tmp_path / "one" / "exact.md").read_text()} == {pages[0]}


@pytest.mark.parametrize("content", [b"hello", b"[]", b"{}", b"\xff\xfe", b'{"boards": [], "judged": {}}'])
def test_data_that_are_none_of_ours_are_named_with_the_cure(tmp_path, content):
    data = tmp_path / "data" / "exact.json.gz"
    data.parent.mkdir()
    data.write_bytes(gzip.compress(content))
    with pytest.raises(ValueError, match=r"exact\.json\.gz is damaged \(.*\); restore it, or delete it: "):
        Page(tmp_path)


def test_a_folder_where_the_data_go_is_told_before_anything_is_solved(tmp_path, monkeypatch):
    (tmp_path / "data" / "exact.json.gz").mkdir(parents=True)
    monkeypatch.setattr(Page, "solve", lambda *_: pytest.fail("solved"))
    app = typer.Typer()
    app.command()(solve.main)
    said = CliRunner().invoke(app, ["wall", "--size", "3", "--pages", str(tmp_path)])
    assert (said.exit_code, said.stderr.count("exact.json.gz is a folder; give a file of yours")) == (2, 1)


def test_agents_are_looked_at_before_anything_is_solved():
    check(game_of(3), parse_agents("random"))
    with pytest.raises(ValueError, match="nobody"):
        check(game_of(3), parse_agents("nobody"))
