"""A game that is over is reviewed where it was played: what a search would have done in place of each choice."""

import pytest

from agents.playing import text_play
from agents.playing.session import Session
from tests.pages.test_playing import until
from tests.pages.test_playing_others import choose


@pytest.fixture
def finished():
    """Begin a session, in which whoever sits there takes the first action that is legal until the game is over."""
    sessions = []

    def begin(hint, id="WallSurvival-v0", seats=("human", "greedy"), number=0):
        settings = {"board_size": 4} if id == "WallSurvival-v0" else {}
        sessions.append(Session(id, list(seats), seed=2, hint=hint, offered=["mcts"], **settings))
        while not sessions[-1].over:
            until(sessions[-1], lambda: sessions[-1].people() or sessions[-1].over)
            if sessions[-1].people():
                choose(sessions[-1], number)
        return sessions[-1]

    yield begin
    for each in sessions:
        each.close()


def decisions(session):
    return [each for frame in session.since()["frames"] for each in frame["decisions"]]


def test_each_choice_is_reviewed_and_people_are_told(finished):
    session = finished("mcts:simulations=300")
    before, epoch, serial = decisions(session), session.since()["epoch"], session.since()["serial"]
    assert not any("search" in each for each in before)  # greedy does not search
    session.ask({"do": "hint"})
    assert session.since()["thinking"] == "the review"
    assert session.since()["serial"] > serial  # pages that wait for news are told
    until(session, lambda: not session.since()["thinking"])
    after = decisions(session)
    assert session.since()["epoch"] == epoch + 1  # pages load it anew
    assert [each["action"] for each in after] == [each["action"] for each in before]
    assert {each["search"]["simulations"] for each in after} == {300}
    assert any("better" in each for each in after)
    assert session.said.startswith("human: ")
    assert "greedy" not in session.said
    session.ask({"do": "undo"})
    assert session.people() == [0]


def test_agents_that_searched_keep_what_they_found(finished):
    session = finished("alpha_beta:depth=2", seats=["human", "mcts:simulations=20"])
    session.ask({"do": "hint"})
    until(session, lambda: not session.since()["thinking"])
    found = {player: [each["search"] for each in decisions(session) if each["player"] == player] for player in (0, 1)}
    assert all("heat" not in each for each in found[0])
    assert [each["simulations"] for each in found[1]] == [20] * len(found[1])


def test_who_begins_a_new_game_waits_for_no_review(finished):
    session = finished("mcts:time_limit=0.4")
    session.ask({"do": "hint"})
    session.ask({"do": "new", "seed": 7})
    until(session, lambda: session.people() and not session.since()["thinking"], seconds=5.0)
    assert (session.said, len(session.since()["frames"])) == ("", 1)


def test_what_cannot_review_says_so(finished):
    session = finished("random")
    session.ask({"do": "hint"})
    until(session, lambda: not session.since()["thinking"])
    assert session.said.startswith("the review failed: ValueError: ")
    assert session.said.endswith("name an agent that does, such as mcts")
    others = finished("mcts:simulations=10", "tests.pages.strangers:Path", ["human"], 1)
    with pytest.raises(ValueError, match="environment of others, whose games"):
        others.ask({"do": "hint"})


def test_after_the_end_a_terminal_says_what_can_be_done(finished):
    said, lines = [], iter(["list", "0", "quit"])
    text_play.play(finished("mcts:simulations=50"), lambda prompt: next(lines), said.append)
    assert said.count("the game is over: undo, hint (a review), new or quit") == 2


def test_in_a_terminal(finished):
    session = finished("mcts:simulations=50")
    said, lines = [], iter(["hint", "quit"])
    text_play.play(session, lambda prompt: next(lines), said.append)
    assert any(line.startswith("human: ") and " choices stand" in line for line in said)
