"""What a comparison of two agents says at its end: who is better, by how much, how sure, and what next."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.arena import Plan, Sprt, parse_agents, parse_meeting
from agents.arena.course import Course
from agents.arena.page import page
from agents.arena.report.conclusion import conclusion
from agents.arena.report.report import Report, report
from agents.arena.report.table import write_markdown
from agents.arena.rows import blank_row
from agents.arena.storage import EPISODES
from tests.arena.reports import printed


def played(
    id: str,
    won: float,
    boards: int,
    folder: Path,
    agents: str = "new=random,old=uniform",
    slow: float = 0.03,
    **more: Any,
) -> Report:
    """A comparison in which the first agent wins so many of its games, in every stretch of twenty boards."""
    plan = Plan(id, parse_meeting(agents, None)[0], **more)
    rows = {}
    for job in plan.jobs(boards):
        row = rows[job.key] = blank_row(job, 0)
        wins = 7 * job.episode % 20 < 20 * won
        for seat in row.seats:
            ours = seat.agent == "new"
            seat.outcome = float(wins == ours) if len(row.seats) > 1 else float(wins if ours else job.episode % 2)
            seat.decisions, seat.seconds = 10, slow if ours else 0.01
    (folder / EPISODES).write_text('{"configuration": {}}\n')
    return report(plan, folder, rows, boards, 1, 1.0)


DUEL = {"settings": {"board_size": 3}}


def test_a_look_before_the_end_is_one_of_many(tmp_path: Path) -> None:
    whole = played("WallSurvival-v0", 0.7, 200, tmp_path, **DUEL)
    early = report(whole.plan, tmp_path, whole.rows, 400, 1, 1.0)
    assert not early.finished
    said = conclusion(early)
    assert said.startswith("so far: new is better than old, at a confidence of 95% for those who look once: 70.0 [")


def test_an_early_look_at_a_line_up_is_of_the_boards_that_were_played(tmp_path: Path) -> None:
    whole = played("Bomber-v0", 0.5, 20, tmp_path, "new=random,old=uniform,old=uniform,old=uniform")
    early = conclusion(report(whole.plan, tmp_path, whole.rows, 5000, 1, 1.0))
    assert early.startswith("so far: 20 boards leave open whether new or old is better")
    assert early == conclusion(whole).replace("in short", "so far")


def test_clear_figures_say_who_is_better_and_slower(tmp_path: Path) -> None:
    found = played("WallSurvival-v0", 0.7, 200, tmp_path, **DUEL)
    said = conclusion(found)
    assert said.startswith("in short: new is better than old, at a confidence of 95%: 70.0 [")
    assert said.endswith(" Elo. new takes 3 times as long for a move")
    much = conclusion(played("WallSurvival-v0", 0.7, 200, tmp_path, slow=12.34, **DUEL))
    assert much.endswith("new takes 1,200 times as long for a move")
    assert " % of the points, +147 [+" in said
    write_markdown(found, tmp_path / "report.md")
    for text in (
        printed(found, 400),
        (tmp_path / "report.md").read_text(encoding="utf-8").replace("\n", " "),
        page(found),
    ):
        assert "in short: new is better than old" in text
    assert conclusion(played("WallSurvival-v0", 0.3, 200, tmp_path, **DUEL)).startswith(
        "in short: new is worse than old"
    )


def test_open_figures_say_what_would_settle_it(tmp_path: Path) -> None:
    said = conclusion(played("WallSurvival-v0", 0.55, 60, tmp_path, **DUEL))
    assert "60 boards leave open whether new or old is better" in said
    assert "about 760 boards show it: --episodes 760 adds" in said
    assert "Each look errs anew in 5% of the cases; --sprt may look at every board" in said
    said = conclusion(played("WallSurvival-v0", 0.5, 60, tmp_path, **DUEL))
    assert "Four times as many boards make the interval half as wide: --episodes 240" in said
    assert said.count("Each look errs anew in 5% of the cases; --sprt may look at every board") == 1


def test_games_for_one_speak_of_wins_or_returns(tmp_path: Path) -> None:
    said = conclusion(played("LaneDefense3x3-v0", 0.9, 100, tmp_path))
    assert said.startswith("in short: new is better than old, at a confidence of 95%: +40.0 [+")
    assert " points of a hundred" in said
    assert "against old: +0.0 [" in conclusion(played("LaneDefense3x3-v0", 0.5, 20, tmp_path))
    assert "against new: +0.0 [" in conclusion(played("LaneDefense3x3-v0", 0.5, 20, tmp_path, "old=uniform,new=random"))


def test_who_took_every_point_is_better_however_far_that_may_be(tmp_path: Path) -> None:
    four = "new=random,old=uniform,new=random,old=uniform"
    said = conclusion(played("Bomber-v0", 1.0, 10, tmp_path, four))
    assert said.startswith("in short: new is better than old, at a confidence of 95%: +")
    assert ",+inf] Elo" in said
    assert "2 boards leave open whether new or old is better" in conclusion(played("Bomber-v0", 1.0, 2, tmp_path, four))


@pytest.mark.parametrize(("episodes", "said"), [(2, "2 episodes leave open"), (6, "new is better than old")])
def test_a_few_returns_that_differ_alike_show_nothing(episodes: int, said: str, tmp_path: Path) -> None:
    plan = Plan("CartPole-v1", parse_meeting("new=random,old=uniform", None)[0])
    rows = {}
    for job in plan.jobs(episodes):
        row = rows[job.key] = blank_row(job, 0)
        row.seats[0].outcome, row.seats[0].discounted_return = None, float(row.seats[0].agent == "new")
    assert conclusion(report(plan, tmp_path, rows, episodes, 1, 1.0)).startswith(f"in short: {said}")


def test_of_more_than_two_or_of_nothing_nothing_is_said(tmp_path: Path) -> None:
    assert conclusion(played("LaneDefense3x3-v0", 0.9, 20, tmp_path, "new=random,old=uniform,c=random")) == ""
    plan = Plan("LaneDefense3x3-v0", parse_agents("random,uniform"))
    assert conclusion(report(plan, tmp_path, {}, 5, 1, 1.0)) == ""


@pytest.mark.parametrize(
    ("won", "test", "expected"),
    [
        (
            0.8,
            Sprt(0, 50),
            "new is better than old, and such tests err in about 5 % of the cases at most: take new. new against",
        ),
        (
            0.3,
            Sprt(0, 50, beta=0.01),
            "new is not 50 Elo better than old, and such tests err in about 1 % of the cases at most",
        ),
        (0.8, Sprt(-20, 0), "new is less than 20 Elo worse than old, and "),
        (
            0.2,
            Sprt(-20, 0),
            "new is worse than old, and such tests err in about 5 % of the cases at most: keep old. new against",
        ),
        (0.5, Sprt(0, 1), "the test is undecided after 100 boards; new against old: 50.0 ["),
    ],
)
def test_tests_say_what_to_do(won: float, test: Sprt, expected: str, tmp_path: Path) -> None:
    from dataclasses import replace

    found = played("WallSurvival-v0", won, 100, tmp_path, **DUEL)
    course = Course(found.plan, test, 100, ())
    course.follow(found.rows)
    assert expected in conclusion(replace(found, trial=course.trial))


def test_a_test_of_returns_says_what_it_counts(tmp_path: Path) -> None:
    """The new one has one more in three episodes of four, and a hundred less in the fourth."""
    plan = Plan("CartPole-v1", parse_agents("new=random,old=uniform"))
    rows = {}
    for job in plan.jobs(100):
        row = rows[job.key] = blank_row(job, 0)
        lost = 100.0 * (row.episode % 4 == 0)
        row.seats[0].outcome, row.seats[0].discounted_return = None, 1.0 - lost if row.agents == ("new",) else 0.0
    course = Course(plan, Sprt(0, 100), 100, [])
    course.follow(rows)
    found = replace(report(plan, tmp_path, rows, course.boards, 1, 1.0), trial=course.trial)
    said = conclusion(found)
    assert said.startswith(
        "in short: new is better than old (by who has more in an episode, not by how much), and such"
    )
    assert " such tests err in about 5 % of the cases at most: but its mean return is lower. new against old: -" in said


def test_returns_without_those_of_forfeits_are_doubted(tmp_path: Path) -> None:
    plan = Plan("CartPole-v1", parse_meeting("new=random,old=uniform", None)[0])
    rows = {}
    for job in plan.jobs(40):
        row = rows[job.key] = blank_row(job, 0)
        row.seats[0].outcome, row.seats[0].discounted_return = None, float(job.episode % 3)
        if row.seats[0].agent == "new" and row.episode >= 30:
            row.last_asked, row.forfeit = 0, {"reason": "crash", "type": "RuntimeError", "message": "lost"}
    text = printed(report(plan, tmp_path, rows, 40, 1, 1.0), 400)
    assert "10 episodes were lost by forfeit and have no return; the first: new, episode 30" in text
    assert "doubtful: forfeits: returns of new are of the other episodes alone; --sprt takes the lost as lost" in text
    assert "few" not in printed(
        report(plan, tmp_path, {k: r for k, r in rows.items() if r.agents == ("old",)}, 40, 1, 1)
    )
    some = {key: row for key, row in rows.items() if row.agents == ("old",) and row.episode < 5}
    assert "doubtful: few episodes: 5" in printed(report(plan, tmp_path, some, 40, 1, 1.0))


def test_so_are_they_beside_win_rates_in_which_forfeits_count(tmp_path: Path) -> None:
    found = played("LaneDefense3x3-v0", 0.5, 40, tmp_path)
    assert found.doubts == []
    lost = next(row for row in found.rows.values() if row.agents == ("new",))
    lost.last_asked, lost.forfeit = 0, {"reason": "crash", "type": "RuntimeError", "message": "lost"}
    again = report(found.plan, tmp_path, found.rows, 40, 1, 1.0)
    assert again.summaries[0].games == 40
    assert again.doubts == ["forfeits: returns of new are of the other episodes alone; --sprt takes the lost as lost"]


def test_truncated_games_and_few_episodes_are_doubted(tmp_path: Path) -> None:
    found = played("LaneDefense3x3-v0", 0.5, 10, tmp_path)
    assert found.doubts == ["few episodes: 10; intervals are rough below 20"]
    next(iter(found.rows.values())).truncated = "no end within 1 s (--episode-limit)"
    again = report(found.plan, tmp_path, found.rows, 10, 1, 1.0)
    assert "truncated: new in a tenth of the games or more" in again.doubts[1]


def test_games_with_several_seats_are_truncated_for_each_of_them_as_they_are_counted(tmp_path: Path) -> None:
    found = played("Bomber-v0", 0.3, 20, tmp_path, "new=random,old=uniform,old=uniform,old=uniform")
    for row in found.rows.values():
        row.truncated = "no end within 1 s (--episode-limit)" if row.episode < 3 else None
    again = report(found.plan, tmp_path, found.rows, 20, 1, 1.0)
    assert [(each.games, each.truncated) for each in again.summaries] == [(80, 12), (240, 36)]
    assert "truncated: new, old in a tenth of the games or more" in again.doubts[-1]
