"""Objects that stand for something and are known by what they are: copies share them, and nothing that changes."""

from typing import ClassVar

import gymnasium as gym
import pytest
from gymnasium import spaces

import agents


class Mark:
    """Stands for something."""

    def __init__(self, name, other=None):
        self.name, self.other = name, other


class Slotted:
    """Stands for something, and has no dictionary."""

    __slots__ = ("name",)


class Engine:
    """Is kept in a module, and counts."""

    def __init__(self):
        self.steps = 0

    def next(self):
        self.late = getattr(self, "late", 0) + 1
        self.steps += self.late > 20  # not in the few steps of a trial


FREE, SLOTTED = Mark("free"), Slotted()
LISTED = [Mark("a", FREE), Mark("b")]


class Tally:
    """Is kept in a module, and counted on by others."""

    steps = 0


def board():
    """Return a class of its own, for which nothing was found yet."""

    class Board(gym.Env):
        """Each of three fields pays its number, from 1, if it is free."""

        IN_CLASS: ClassVar = Mark("in a class")
        action_space, observation_space = spaces.Discrete(3), spaces.Discrete(10)

        def __init__(self, free, engine=None):
            self.free, self.engine = free, engine

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.fields, self.t = [self.free(type(self))] * 3, 0
            return 0, {}

        def step(self, action):
            is_free = self.fields[action] is self.free(type(self))
            self.fields[action], self.t = None, self.t + 1
            if isinstance(self.engine, Engine):
                self.engine.next()
            elif self.engine and (self.t, action) == (1, 2):  # which is not the line of a trial
                self.engine.steps += 1
            return self.t, is_free * (1.0 + action), self.t == 3, False, {}

    return Board


ENGINE, TALLY = Engine(), Tally()


@pytest.mark.parametrize(
    "free",
    [lambda kind: FREE, lambda kind: SLOTTED, lambda kind: LISTED[0], lambda kind: kind.IN_CLASS],
    ids=["name", "slot", "list", "class"],
)
@pytest.mark.parametrize("engine", [None, ENGINE, TALLY], ids=["alone", "beside an engine", "beside a tally"])
def test_what_stands_for_something_is_the_same_in_copies_and_an_engine_is_not(free, engine, monkeypatch):
    monkeypatch.setattr("agents.bridge.copying.constants.CONSTANTS", {})
    env = board()(free, engine)
    env.reset(seed=0)
    before = dict(vars(ENGINE)), dict(vars(TALLY))
    result = agents.make("mcts", simulations=60, seed=0).search(env)
    assert result.copies.means == "fast copy"
    assert result.values.min() >= 3.0  # nothing is free in a copy that has another mark
    assert (env.t, env.fields) == (0, [free(type(env))] * 3)
    assert (vars(ENGINE), vars(TALLY)) == before
