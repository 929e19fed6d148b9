"""What a search says of a game that others played: where it would have chosen otherwise, and what that is worth."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import typer
import watch as watching
from connect_four import GAME
from typer.testing import CliRunner

import agents
from agents.inspection.review import better, review, settle, told
from agents.watching import replayed
from mcts_envs.core.view import View
from mcts_envs.replay import Replay


def start():
    state = GAME.new_state()
    GAME.reset(state, np.uint64(0))
    return View(GAME, state, 0)


def test_what_is_better_and_by_how_much():
    found = SimpleNamespace(
        tree=None, action=3, visits=np.array([2, 0, 9, 80, 9, 0, 0]), values=np.array([-0.5, 0, 0.1, 0.4, 0.4, 0, 0])
    )
    assert better(found, start(), 0) == {"player": 0, "action": 3, "name": "3", "place": None, "by": 0.9}
    assert better(found, start(), 2)["by"] == pytest.approx(0.3)
    assert better(found, start(), 3) is None  # it is what was played
    assert better(found, start(), 4) is None  # as good
    assert better(found, start(), 5)["by"] is None  # not looked at
    assert better(SimpleNamespace(simulations=9), start(), 5) is None  # it does not say what it would do
    assert better(SimpleNamespace(action=3, value=0.4, principal_variation=[3]), start(), 0)["by"] is None


def decided(player, by=0.0, **given):
    other = {"better": {"name": "other", "by": by}} if by != 0.0 else {}
    return {"player": player, "name": "this", "search": {}} | other | given


def test_each_player_is_told_of():
    frames = [[decided(0, 0.2)], [decided(1, None)], [decided(0)], [decided(1, 0.5)], [decided(0, 0.7)], []]
    players = [
        {"agent": "anna", "seat": "first"},
        {"agent": None, "seat": "second"},
        {"agent": "carl", "seat": "third"},
    ]
    document = {"players": players, "frames": [{"decisions": each} for each in frames]}
    anna, second = rows = review(document)  # nobody looked at what carl did
    assert (anna["who"], anna["moves"], anna["same"], anna["loss"]) == ("anna", 3, 1, pytest.approx(0.3))
    assert anna["worst"] == (4, frames[4][0])
    assert (second["who"], second["same"], math.isnan(second["loss"]), second["worst"][0]) == ("second", 0, True, 3)
    assert told(rows).splitlines() == [
        "anna: 1 of 3 choices stand, 0.3 of reward given away each;",
        "  most at 4, this: other is better by 0.7",
        "second: 0 of 2 choices stand;",
        "  most at 3, this: other is better by 0.5",
    ]


@pytest.mark.parametrize(("visits", "said"), [(57, "tried each action 5.8 times; a larger budget"), (257, None)])
def test_of_few_simulations_it_says_that_they_are_rough(visits, said):
    search = {"actions": [{"visits": 40}, {"visits": 20}], "omitted": {"actions": 18, "visits": visits}}
    search = search if said else search | {"omitted": {"actions": 10, "visits": visits}}
    document = {"players": [{"agent": "anna", "seat": "first"}], "frames": [{"decisions": [decided(0, search=search)]}]}
    (_, *more) = told(review(document)).splitlines()
    assert (said in more[0]) if said else not more


def test_who_sits_in_several_seats_is_told_by_seat():
    players = [
        {"agent": "anna", "seat": "first"},
        {"agent": "anna", "seat": "second"},
        {"agent": "ben", "seat": "third"},
    ]
    rows = review({"players": players, "frames": [{"decisions": [decided(seat) for seat in range(3)]}]})
    assert [row["who"] for row in rows] == ["anna, first", "anna, second", "ben"]


@pytest.fixture
def blunder(tmp_path):
    """A game of connect four in which the first player, with three in a row, does not win, and the second wins."""
    replay = Replay("ConnectFour-v0", players=["anna", "ben"])
    for column in (0, 6, 1, 6, 2, 6, 5, 6):
        replay.play({replay.choosing[0]: column})
    assert replay.outcome == [0.0, 1.0]
    replay.save(tmp_path / "game.json")
    return replay


def test_a_win_that_was_not_seen_is_the_largest_loss(blunder):
    document = replayed(blunder, agents.make("mcts", simulations=3000))
    decision = document["frames"][6]["decisions"][0]
    assert (decision["action"], decision["better"]["action"]) == (5, 3)
    assert review(document)[0]["worst"] == (6, decision)
    assert decision["better"]["by"] > 0.7
    assert all("better" not in each for frame in replayed(blunder)["frames"] for each in frame["decisions"])


def test_alpha_beta_finds_out_a_step_later(blunder):
    document = replayed(blunder, agents.make("alpha_beta", depth=4))
    anna, ben = review(document)
    assert (anna["worst"][0], anna["worst"][1]["better"]) == (
        6,
        {"player": 0, "action": 3, "name": "3", "place": None, "by": 2.0},
    )
    assert "better" not in document["frames"][7]["decisions"][0]  # he wins
    assert ben["worst"][0] == 5  # where he let her win


def test_alpha_beta_at_the_end():
    """Whoever ends the game, and is not the winner, gave away what the search expected."""
    searched = {"search": {"line": [], "value": 0.5}}
    for points, by in (([0.0, 1.0], 1.5), ([0.5, 0.5], 0.5), ([1.0, 0.0], None)):
        frame = {"decisions": [decided(0, None, **searched)]}
        settle(frame, {"decisions": [], "points": points})
        (decision,) = frame["decisions"]
        assert decision.get("better", {}).get("by") == by
    open_end = {"decisions": [decided(0, None, **searched)]}
    settle(open_end, {"decisions": []})
    assert open_end["decisions"][0]["better"]["by"] is None


def test_the_command_tells_what_was_given_away(blunder, tmp_path):
    app = typer.Typer()
    app.command()(watching.main)
    words = [str(tmp_path / "game.json"), "--agents", "mcts:simulations=3000", "--out", str(tmp_path / "game.html")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "anna: " in done.output
    assert "  most at 6, 5: 3 is better by " in done.output
