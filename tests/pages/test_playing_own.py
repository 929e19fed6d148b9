"""Agents of people's own in a game with people, and whatever such agents do."""

import copy
import json

import pytest

from agents.own import class_of
from agents.playing.session import Session
from tests.pages.test_playing import choose_first, until

BOTS = '''
import sys
import time


class Ahead:
    """Plays the last action, after it has looked what would come of it."""

    told = []

    def act(self, env):
        game = env.unwrapped
        before, here = game.clone_state(), game.position()
        action = int(game.legal_actions()[-1]) if hasattr(game, "legal_actions") else int(legal(game)[-1])
        env.step(action)
        Ahead.told.append((here, game.position()))
        game.restore_state(before)
        self.last_result = type("Spent", (), {"simulations": 1, "steps": 1})
        return action


def legal(game):
    return game.action_masks().nonzero()[0]


class Quits:
    def act(self, env):
        sys.exit("enough")


class Slow:
    over = []

    def act(self, env):
        time.sleep(0.3)
        Slow.over.append(True)
        return int(legal(env.unwrapped)[0])


class Lawless:
    def act(self, env):
        return 10**6


class Odd:
    """Says of its moves what no page can show."""

    def act(self, env):
        self.last_result = type("Odd", (), {"action": "up", "simulations": "many"})
        return int(legal(env.unwrapped)[0])


class Mute(Exception):
    def __str__(self):
        return self.reason


class Speechless:
    def act(self, env):
        raise Mute


class Misnamed:
    def act(self, env):
        open(b"no file \\xff".decode("utf-8", "surrogateescape"))


class Tabled:
    """Says of its moves what is no text."""

    def act(self, env):
        self.last_result = type("Tabled", (), {"simulations": 1, "steps": 1, "table": lambda self: {1, 2}})()
        return int(legal(env.unwrapped)[0])


class Astray:
    """Expects what is no action."""

    def act(self, env):
        action = int(legal(env.unwrapped)[0])
        self.last_result = type("Line", (), {"principal_variation": [action, 10**6, 0], "action": action})
        return action


class Once:
    """Plays one game only, unless it is told that another one begins."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.moves = 0

    def act(self, env):
        self.moves += 1
        if self.moves > 1:
            raise RuntimeError("what was the game before?")
        return int(legal(env.unwrapped)[0])


class Tries:
    """Searches in its first move only."""

    last_result = None

    def act(self, env):
        if self.last_result is None:
            self.last_result = type("Spent", (), {"simulations": 1, "steps": 1})
        return int(legal(env.unwrapped)[0])
'''


@pytest.fixture
def bots(tmp_path):
    file = tmp_path / "bots_that_play.py"
    file.write_text(BOTS)
    return file


@pytest.fixture
def begun():
    """Begin sessions, which end with the test."""
    sessions = []

    def begin(*given, **more):
        sessions.append(Session(*given, **more))
        return sessions[-1]

    yield begin
    for session in sessions:
        session.close()


def test_a_closed_session_waits_a_moment_for_who_thinks(begun, bots):
    session = begun("WallSurvival-v0", [f"{bots}:Slow", "human"], board_size=4)
    until(session, lambda: session.since()["thinking"])
    session.close()
    assert class_of(f"{bots}:Slow").over == [True]


def test_choices_of_one_moment_are_told_by_seats(begun):
    session = begun("BomberDuel-v0", ["human", "random"])
    until(session, lambda: session.people() == [0] and session._now)  # the agent has chosen
    choose_first(session)
    assert [each["player"] for each in session._frames[0]["decisions"]] == [0, 1]


@pytest.mark.parametrize(
    ("id", "people", "settings"),
    [
        ("LaneDefense3x3-v0", 0, {}),
        ("WallSurvival-v0", 1, {"board_size": 4}),
        ("BomberTeam-v0", 2, {"max_steps": 5}),
    ],
)
def test_they_look_ahead_and_see_no_dice(begun, bots, id, people, settings):
    names = ["human"] * people + [f"{bots}:Ahead"] * (4 - people if "Bomber" in id else 1)
    session = begun(id, names, seed=4, **settings)
    for _ in range(100):
        until(session, lambda: session.people() or session.replay.over or session.stuck)
        if session.replay.over or session.stuck:
            break
        choose_first(session)
    assert (session.stuck, session.said) == (False, "")
    assert "search" in session.since()["frames"][0]["decisions"][-1] or people
    if people == 0:
        told = type(session._agents[0].agent._own).told
        states = [state.copy() for state in session.replay.states()]
        position = session.replay.game.position
        assert [here for here, _ in told] == [position(state) for state in states[:-1]]
        assert [there for _, there in told] != [position(state) for state in states[1:]]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Quits", "failed: SystemExit: enough"),
        ("Lawless", "failed: ValueError: it chose 1000000, which is not legal"),
        ("Odd", "failed: ValueError: invalid literal"),
        ("Speechless", "failed: Mute: (its message raises AttributeError)"),
        ("Misnamed", "failed: FileNotFoundError: [Errno 2] No such file or directory: 'no file \\udcff'"),
    ],
)
def test_whatever_an_agent_does_the_game_can_go_on(begun, bots, name, said):
    session = begun("WallSurvival-v0", ["human", f"{bots}:{name}"], hint=f"{bots}:{name}", board_size=4)
    session.ask({"do": "hint"})
    until(session, lambda: said in session.said)
    choose_first(session)
    until(session, lambda: session.stuck)
    assert said in session.said
    session.ask({"do": "seat", "player": 1, "agent": "human"})
    choose_first(session)
    assert len(session.replay.actions) == 2


def test_what_an_agent_says_of_its_search_is_sent_as_text(begun, bots):
    session = begun("WallSurvival-v0", ["human", f"{bots}:Tabled"], board_size=4)
    choose_first(session)
    until(session, lambda: session.people() or session.stuck)
    assert json.loads(json.dumps(session.since()))["frames"][1]["decisions"][0]["search"]["text"] == "{1, 2}"


def test_a_line_ends_before_what_is_no_action(begun, bots):
    session = begun("WallSurvival-v0", ["human", f"{bots}:Astray"], board_size=4)
    choose_first(session)
    until(session, lambda: session.people() or session.stuck)
    assert not session.stuck, session.said
    assert len(session.since()["frames"][1]["decisions"][0]["search"]["line"]) == 1


def test_they_are_told_that_another_game_begins(begun, bots):
    session = begun("WallSurvival-v0", ["human", f"{bots}:Once"], board_size=4)
    for _ in range(3):
        choose_first(session)
        until(session, lambda: session.people() or session.stuck)
        assert not session.stuck, session.said
        session.ask({"do": "new", "seed": None})


class Broken:
    """Gives a session a game with a mistake: the next step is half done, or is not to be drawn."""

    def __init__(self, session, how):
        self._sound, self.session = session.replay.game, session
        game, now = copy.copy(self._sound), session.replay.state.tobytes()

        def fail(state, *_):
            if state.tobytes() == now and how == "picture":
                return self._sound.picture(state)
            state[:] = 0
            raise ZeroDivisionError(how)

        object.__setattr__(game, how, fail)
        session.replay.game = game

    def mend(self):
        self.session.replay.game = self._sound


@pytest.mark.parametrize("how", ["step", "picture"])
def test_a_step_that_fails_leaves_everything_as_it_was(begun, how):
    session = begun("WallSurvival-v0", ["human", "human"], seed=2, board_size=6)
    choose_first(session)
    broken, before = Broken(session, how), copy.deepcopy((session.since(), session.saved(), session.position()))
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match=how):
            choose_first(session)
        assert (session.since(), session.saved(), session.position()) == before
    broken.mend()
    choose_first(session)
    assert len(session.replay.actions) == 2 == len(session.since()["frames"]) - 1
    session.ask({"do": "undo"})
    assert session.since()["frames"] == before[0]["frames"]


@pytest.mark.parametrize("how", ["step", "picture"])
def test_a_step_of_an_agent_that_fails_is_told_and_the_session_goes_on(begun, bots, how):
    session = begun("WallSurvival-v0", ["human", f"{bots}:Tries"], seed=2, offered=["greedy"], board_size=6)
    with session._changed:  # the agent waits until the game is broken
        choose_first(session)
        broken = Broken(session, how)
    until(session, lambda: session.stuck)
    assert session.said == f"the game failed: ZeroDivisionError: {how}; take it back, or seat somebody else"
    assert (len(session.replay.actions), len(session.since()["frames"])) == (1, 2)
    broken.mend()
    session.ask({"do": "seat", "player": 1, "agent": "greedy"})
    until(session, session.people)
    assert (len(session.replay.actions), len(session.since()["frames"])) == (2, 3)


def test_a_search_is_shown_beside_the_move_that_it_was_for(begun, bots):
    session = begun("LaneDefense5x9-v0", [f"{bots}:Tries"], seed=4, max_steps=8)
    until(session, lambda: session.replay.over or session.stuck)
    assert session.said == ""
    shown = [each for frame in session.since()["frames"] for each in frame["decisions"]]
    assert len(shown) > 2
    assert ["search" in each for each in shown] == [True] + [False] * (len(shown) - 1)
