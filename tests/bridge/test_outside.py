"""Environments whose state lies outside of them: a search must not step the one that is played."""

import random
import uuid
import warnings

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils import EzPickle

import agents
from agents import bridge
from agents.bridge import means
from tests.bridge.worlds import Walk, mcts

WORLD: dict[int, int] = {}


class Kept(Walk):
    """Counts its steps somewhere; up pays 1."""

    def get(self):
        return self.at

    def set(self, at):
        self.at = at

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.set(0)
        return 0, {}

    def step(self, action):
        self.set(self.get() + 1)
        return self.get(), float(action), self.get() >= 20, False, {}


class InModule(Kept):
    """Keeps it in a table of its module, by a number."""

    def __init__(self):
        super().__init__()
        self.client = len(WORLD)

    def get(self):
        return WORLD[self.client]

    def set(self, at):
        WORLD[self.client] = at


class InClass(Kept):
    """Keeps it in an attribute of its class."""

    def get(self):
        return type(self).kept

    def set(self, at):
        type(self).kept = at


class Engine:
    """Stays the same one when it is copied."""

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return "ENGINE"


ENGINE = Engine()


class InEngine(Kept):
    """Keeps it behind a handle."""

    def __init__(self):
        super().__init__()
        self.engine = ENGINE

    def get(self):
        return self.engine.at

    def set(self, at):
        self.engine.at = at


class Itself(Kept):
    """Is its own deep copy."""

    def __deepcopy__(self, memo):
        return self


class Sharing(Kept):
    """Shares its dictionary with its deep copies."""

    def __init__(self):
        super().__init__()
        self.table = {"at": 0}

    def __deepcopy__(self, memo):
        made = type(self)()
        made.table = self.table
        return made

    def get(self):
        return self.table["at"]

    def set(self, at):
        self.table["at"] = at


def begun(env):
    env.reset(seed=0)
    env.step(1)
    return env


@pytest.mark.parametrize("kind", [InModule, InClass, InEngine])
def test_state_outside_is_refused(kind):
    env = begun(kind())
    with pytest.raises(TypeError, match=r"its state lies outside of it.*Adapter\. It may have been stepped"):
        mcts().act(env)
    at = env.get()
    with pytest.raises(TypeError, match=r"its state lies outside of it.*an agents\.bridge\.Adapter$"):
        mcts().act(env)
    assert env.get() == at  # tried once
    report = agents.check_planning(begun(kind()))
    assert report["copies"].verdict == "FAILS"
    assert "outside of it" in report["copies"].evidence


@pytest.mark.parametrize("ways", [2, 3])
def test_state_outside_is_seen_where_steps_cancel_out(ways):
    class Strip(InClass):
        """Left and right, and standing still."""

        def __init__(self):
            super().__init__()
            self.action_space = spaces.Discrete(ways)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.set(10)
            return 10, {}

        def step(self, action):
            self.set(self.get() + (2 * action - 1 if ways == 2 else action - 1))
            return self.get(), 0.0, not 0 < self.get() < 20, False, {}

    env = Strip()
    env.reset(seed=0)
    with pytest.raises(TypeError, match="its state lies outside of it"):
        mcts().act(env)


def test_where_compiled_parts_may_draw_a_warning_says_what_else_it_may_be():
    class Drawing(InClass):
        def __init__(self):
            super().__init__()
            self.turns = iter([1, 2])

    with pytest.warns(UserWarning, match="copies of one state of Drawing .*steps the environment itself"):
        mcts().act(begun(Drawing()))


def test_what_siblings_show_is_compared():
    env = begun(type("Passed", (InClass,), {})())
    bridge.view(env).game.notes["means"] = means.FAST  # as if it had passed a check
    law = agents.check_planning(env)["independence"]
    assert law.verdict == "FAILS"
    assert "another shows something else with the same chance" in law.evidence


def test_snapshots_of_a_state_that_copies_share_are_refused():
    class Saving(InModule):
        def clone_state(self):
            return self.get()

        def restore_state(self, at):
            self.set(at)

    with pytest.raises(TypeError, match=r"its own snapshots: a step of a copy changes the original.*reset it"):
        mcts().act(begun(Saving()))


def test_state_outside_is_replayed_after_another_reset():
    class Made(InModule, EzPickle):
        def __init__(self):
            EzPickle.__init__(self)
            super().__init__()

    env = begun(agents.remember(Made()))
    with pytest.raises(TypeError, match=r"^Made may have been stepped .*; reset it, and replay is tried$"):
        mcts().act(env)
    begun(env)
    result = mcts().search(env)
    assert result.copies.means == means.REPLAY
    assert env.step(1)[0] == 2


def test_a_copy_that_is_the_environment_is_refused_before_a_step():
    env = begun(Itself())
    with pytest.raises(TypeError, match=r"fast copy, copy\.deepcopy: a copy is the environment itself.*clone_state"):
        mcts().act(env)
    assert env.at == 1


def test_copies_that_are_one_object_are_refused():
    env = begun(type("Nothing", (Kept,), {"__deepcopy__": lambda env, memo: None})())
    with pytest.raises(TypeError, match=r"fast copy, copy\.deepcopy: two copies are one object.*clone_state"):
        mcts().act(env)


def test_a_look_that_stepped_the_environment_says_so():
    env = begun(Sharing())
    with pytest.raises(
        TypeError, match=r"stepped .*: a step of a copy changes the original.*; reset it, and copy.deepcopy is tried"
    ):
        mcts().act(env)


@pytest.mark.parametrize(
    "noise",
    [
        random.SystemRandom().random,
        lambda: np.random.default_rng().random(),
        lambda: uuid.uuid4().int / 2**128,
        lambda: random.random(),
    ],
)
def test_chance_of_the_system_is_no_state_outside(noise):
    class Noisy(Walk):
        pass

    env = begun(Noisy(noise=noise))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*global generator.*")
        assert mcts().act(env) in (0, 1)
    assert env.at == 1


class Slow(InClass):
    """Shows its steps by the dozen."""

    def step(self, action):
        _, reward, ended, cut, info = super().step(action)
        return self.get() // 14, reward, ended, cut, info


class Spell(InClass):
    """Pays by a count that is kept outside, for the steps of the third walk of a check."""

    def step(self, action):
        super().step(action)
        return 0, float(2 * means._STEPS < self.get() <= 3 * means._STEPS), False, False, {}


class Thing:
    def __init__(self, number):
        self.number = number


class Drawn(Walk):
    """Draws from a set of objects, whose order is another in every copy."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.bag = {Thing(number) for number in range(60)}
        return 0, {}

    def step(self, action):
        drawn = list(self.bag)[self.np_random.integers(len(self.bag))]
        self.bag.discard(drawn)
        return drawn.number, float(action), len(self.bag) < 40, False, {}


def test_sets_of_objects_are_no_state_outside():
    env = begun(Drawn())
    assert mcts().act(env) == 1
    assert len(env.bag) == 59


def test_what_changes_slowly_outside_is_refused_too():
    with pytest.raises(TypeError, match="its state lies outside of it"):
        mcts().act(begun(Slow()))


def test_what_looks_like_the_order_of_a_set_is_refused_if_it_does_not_come_again():
    with pytest.raises(TypeError, match="its state lies outside of it"):
        mcts().act(begun(Spell()))
