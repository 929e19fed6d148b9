"""Environments whose steps take long: what they hide is looked for in a few games, and all the same found."""

import io
import time

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.classic.rps import rps
from pettingzoo.classic.tictactoe import tictactoe

from agents import bridge
from agents.bridge import checking, suspicion
from agents.bridge.hidden import HASTY, NOTHING
from agents.bridge.suspicion import hidden_from
from tests.bridge.worlds import mcts


class Table(gym.Env):
    """A card lies face down and is shown some steps later; a mark differs from game to game and never matters."""

    action_space, observation_space = spaces.Discrete(2), spaces.Discrete(7)

    def __init__(self, cards=1, own=1, dealt=0, turned=3, marks=0, seconds=0.0):
        self.cards, self.own, self.dealt, self.turned, self.marks = cards, own, dealt, turned, marks
        self.seconds, self.steps = seconds, np.zeros(1, np.int64)

    def deal(self):
        if self.n == self.dealt:
            self.card = int(self.np_random.integers(self.cards))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.n = 0
        self.mark = int(self.np_random.integers(2**40)) if self.marks else 0
        self.deal()
        return int(self.np_random.integers(self.own)), {}

    def step(self, action):
        time.sleep(self.seconds)
        counted.append(action)
        self.n += 1
        self.deal()
        return self.card if self.n == self.turned else 6, 0.0, self.n == 20, False, {}


counted: list[int] = []


def looked(env, agent=None):
    """Return what a look finds, and how many steps it takes."""
    env.reset(seed=1)
    game = bridge.view(env, agent).game
    bridge.view(env, agent).state.copy()
    counted.clear()
    return hidden_from(game, env.unwrapped, agent), len(counted)


@pytest.fixture
def no_time(monkeypatch):
    monkeypatch.setattr(suspicion, "_SECONDS", 0.0)
    monkeypatch.setattr(suspicion, "_DEAR", 0.0)


@pytest.mark.usefixtures("no_time")
@pytest.mark.parametrize(
    "table",
    [
        {"cards": 2, "turned": 1},
        {"cards": 3, "turned": 4},
        {"cards": 6, "own": 6, "turned": 2},
        {"cards": 3, "dealt": 2, "turned": 4, "marks": 1},
    ],
)
def test_a_card_that_the_next_steps_show_is_found_where_there_is_no_time(table):
    found, steps = looked(Table(**table))
    assert "card" in found
    assert steps < 100


@pytest.mark.usefixtures("no_time")
def test_what_has_been_chosen_is_found_where_there_is_no_time(monkeypatch):
    monkeypatch.setattr("agents.bridge.adapters.SHIPPED", {})
    env = type("Stones", (rps.raw_env,), {})()
    assert looked(env, "player_1")[0] == ("state",)


def test_a_look_takes_few_of_dear_steps_and_says_what_it_is_for(monkeypatch, capsys):
    assert looked(Table(marks=1))[1] > 2000
    monkeypatch.setattr(suspicion, "_SECONDS", 0.1)
    capsys.readouterr()
    found, steps = looked(Table(marks=1, seconds=0.004))
    assert found == ()
    assert steps < 200
    assert capsys.readouterr().err.count("looking for what Table hides, once; searches with information='full' do") == 1


@pytest.mark.parametrize(("every", "cut"), [(20, False), (3, True)])
def test_steps_are_dear_where_many_are_and_not_where_few_wait_for_a_busy_machine(monkeypatch, every, cut):
    class Seldom(Table):
        def step(self, action):
            if len(counted) in range(0, 200, every):
                time.sleep(0.03)
            return super().step(action)

    monkeypatch.setattr(suspicion, "_SECONDS", 0.1)
    assert (looked(Seldom(marks=1))[1] < 200) == cut


def test_who_waits_is_told_at_once_and_not_for_each_player_again(monkeypatch):
    said, env = [], type("Awaited", (Table,), {})()
    monkeypatch.setattr(suspicion, "_SECONDS", 0.0)
    monkeypatch.setattr(suspicion, "print", lambda *_, **__: said.append(len(counted)), raising=False)
    for _ in range(2):
        looked(env)
    assert said == [0]


@pytest.mark.usefixtures("no_time")
def test_a_look_does_without_a_closed_stderr(monkeypatch):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr("sys.stderr", closed)
    assert "card" in looked(type("Unheard", (Table,), {})(cards=2, turned=1))[0]


def test_attributes_are_named_only_where_what_is_hidden_matters(monkeypatch):
    asked, kept = [], suspicion.fingerprint
    monkeypatch.setattr(suspicion, "fingerprint", lambda value: asked.append(value) or kept(value))
    assert looked(Table(marks=1))[0] == ()
    assert not asked
    assert "card" in looked(Table(cards=2, turned=1))[0]
    assert asked


def test_a_result_says_that_the_look_was_hasty(monkeypatch):
    for seconds, hidden in (0.0, NOTHING), (0.004, HASTY):
        if seconds:
            monkeypatch.setattr(suspicion, "_SECONDS", 0.05)
            monkeypatch.setattr(checking, "_SECONDS", 0.05)
        env = type("Dear", (Table,), {})(seconds=seconds)
        env.reset(seed=1)
        assert mcts(2, horizon=2).search(env).copies.hidden == hidden
    assert bridge.check_planning(env)["hidden"].verdict == "open"


@pytest.mark.usefixtures("no_time")
def test_where_several_play_a_warning_says_that_the_look_was_hasty():
    env = type("Noughts", (tictactoe.raw_env,), {})()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="steps take long, and a few games showed nothing of it"):
        assert mcts(2, horizon=2).search(env).copies.hidden == HASTY
