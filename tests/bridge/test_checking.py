"""The check of planning in environments of others: every law is named, with what speaks for it."""

import copy
import importlib
import random
import sqlite3
import weakref
from typing import ClassVar

import gymnasium as gym
import pytest
from gymnasium.utils import EzPickle
from pettingzoo.classic.rps import rps
from pettingzoo.classic.tictactoe import tictactoe

import agents
from tests.bridge.test_hidden import Cups
from tests.bridge.worlds import TAXI, Machine, Walk, playing

LAWS = ["actions", "copies", "independence", "restoring", "fidelity", "chance", "observations", "hidden"]


def checked(env):
    env.reset(seed=1)
    return agents.check_planning(env)


@pytest.mark.parametrize("env_id", ["FrozenLake-v1", "CartPole-v1", "Blackjack-v1", "CliffWalking-v1"])
def test_what_keeps_all_laws_passes(env_id):
    report = checked(gym.make(env_id))
    assert report
    assert [law.name for law in report.laws] == [*LAWS, "adapter", "masks", "truncation", "wrappers", "cost"]
    untold = ["hidden"] if env_id == "CartPole-v1" else []
    assert [law.name for law in report.laws if law.verdict != "holds"] == untold, str(report)
    assert env_id in str(report)


def test_games_for_several_pass():
    for env in (rps.env(), tictactoe.env()):
        report = checked(env)
        assert report, str(report)
        assert report["fidelity"].verdict == "holds"


def test_the_environment_is_left_as_it_is():
    env, other = playing("FrozenLake-v1", seed=3), playing("FrozenLake-v1", seed=3)
    state = random.getstate()
    agents.check_planning(env)
    assert random.getstate() == state
    for action in (1, 2, 1, 2):
        assert env.step(action) == other.step(action)


def test_of_an_episode_that_is_over_nothing_is_said_to_be_hidden():
    env = agents.remember(Cups())
    env.reset(seed=1)
    while not env.over:
        env.step(0)
    assert agents.check_planning(env)["hidden"][1:] == ("open", "the episode is over")


class SaysHow(Walk):
    """Says itself how it is copied, and is pickled in other bytes when it was."""

    def __init__(self):
        super().__init__()
        self.observation_space = gym.spaces.Box(0, 6, (1,), "float32")

    def __deepcopy__(self, memo):
        made = memo[id(self)] = type(self)()
        vars(made).update(copy.deepcopy(vars(self), memo))
        return made


class InDatabase(Walk):
    """Keeps what was done in a database."""

    def __init__(self):
        super().__init__()

    def reset(self, *, seed=None, options=None):
        self.base = sqlite3.connect(":memory:")
        self.base.execute("create table done (action)")
        return super().reset(seed=seed)

    def step(self, action):
        self.base.execute("insert into done values (?)", (int(action),))
        at, _, *rest = super().step(action)
        return at, float(self.base.execute("select sum(action) from done").fetchone()[0]), *rest


@pytest.mark.parametrize(("kind", "means"), [(SaysHow, "fast copy"), (InDatabase, "replay")])
def test_copies_are_in_the_state_of_the_original_whatever_they_are_made_by(kind, means):
    report = checked(agents.remember(kind()))
    assert report["copies"].evidence == f"by {means}"
    assert report["fidelity"].verdict == "holds", str(report)


def test_where_chance_comes_from_is_named():
    with pytest.warns(UserWarning, match="draws from the global generator of random"):
        report = checked(type("Own", (Walk,), {})(noise=lambda: random.random()))
    assert "16 futures of 16 seeds" in report["chance"].evidence
    assert report["chance"].evidence.endswith("the global generator of random")
    system = random.SystemRandom()
    report = checked(type("System", (Walk,), {})(noise=lambda: system.random()))
    assert not report
    assert report["chance"].verdict == "FAILS"
    assert "as the system's" in report["chance"].evidence
    assert report["restoring"].verdict == "open"


def test_what_is_hidden_is_named():
    with pytest.warns(UserWarning, match="hides something"):
        report = checked(type("Bare3", (Cups,), {})())
    assert not report
    assert report["hidden"].evidence == "seen as it is; games that show the same differ in ball"
    report = checked(agents.remember(Cups()))
    assert report
    assert report["hidden"].evidence.startswith("drawn by replay; games that show the same differ in ball; 100 courses")


class Shared(Walk):
    """Keeps what it does in a list of its class."""

    done = []  # noqa: RUF012

    def step(self, action):
        at, _, *rest = super().step(action)
        self.done.append(action)
        return at, float(len(self.done)), *rest


class Changing(Walk):
    """Shows something else whenever it is looked at after a redraw."""

    def action_masks(self):
        return [self.np_random.random() < 0.5, True]


class Tired(Walk):
    """Counts its steps in a table outside, where every copy has a line of its own, and pays no more after many."""

    counts: ClassVar = weakref.WeakKeyDictionary()

    def step(self, action):
        super().step(action)
        self.counts[self] = self.counts.get(self, 0) + 1
        return 0, float(self.counts[self] < 35), self.at >= 50, False, {}


def test_what_is_not_brought_back_fails():
    report = checked(Tired())
    assert report["copies"].verdict == "holds"
    assert report["restoring"].verdict == "FAILS"
    assert "something is not brought back" in report["restoring"].evidence
    secret = checked(type("Secret", (Walk,), {})(noise=random.SystemRandom().random))
    assert secret["restoring"].verdict == "open"


def test_laws_that_are_broken_are_named():
    report = checked(gym.make("Pendulum-v1"))
    assert (report.laws[-1].name, report.laws[-1].verdict) == ("actions", "FAILS")
    report = checked(Machine())
    assert (report.laws[-1].name, report.laws[-1].verdict) == ("copies", "FAILS")
    assert "agents.remember(env)" in report["copies"].evidence
    replayed = checked(agents.remember(Machine()))
    assert replayed["copies"].evidence == "by replay"
    assert replayed["chance"].verdict == "open"  # an engine's dice would look the same
    assert "or it lies where no seed reaches" in replayed["chance"].evidence
    report = checked(Shared())
    assert not report
    assert "cannot be copied" in report["copies"].evidence or report["restoring"].verdict != "holds"
    report = checked(Changing())
    assert report["observations"].verdict == "FAILS"


@pytest.mark.parametrize("wrap", [lambda env: env, agents.remember], ids=["bare", "remembered"])
def test_an_environment_without_spaces_says_so(wrap):
    env = Walk()
    del env.observation_space
    law = checked(wrap(env))["actions"]
    assert law.evidence == "Walk has no observation_space; set self.observation_space in its __init__"


class Capped(gym.Wrapper):
    """Ends an episode by a count of its own."""

    def reset(self, **given):
        self.count = 0
        return self.env.reset(**given)

    def step(self, action):
        self.count += 1
        seen, reward, ended, cut, info = self.env.step(action)
        return seen, reward, ended, cut or self.count >= 3, info


@pytest.mark.filterwarnings("ignore:Capped has a step of its own:UserWarning")
def test_wrappers_that_are_not_followed_are_named_each_time():
    for _ in range(2):  # a warning names them once
        law = checked(Capped(Walk()))["wrappers"]
        assert law.verdict == "open"
        assert law.evidence.startswith("Capped has a step of its own around Walk; the search plans those of the env")
    assert checked(gym.wrappers.TimeLimit(Walk(), 9))["wrappers"].verdict == "holds"
    assert checked(tictactoe.env())["wrappers"].verdict == "holds"


def test_another_environment_that_cannot_be_reset_speaks_against_no_copy():
    class Sent(Walk, EzPickle):
        where = None  # told by whoever made it, and not by its arguments

        def __init__(self):
            EzPickle.__init__(self)
            super().__init__()

        def reset(self, **given):
            assert self.where is not None
            return super().reset(**given)

    env = Sent()
    env.where = "there"
    law = checked(env)["fidelity"]
    assert law.verdict == "open"
    assert law.evidence.startswith("another one, made in the same way, cannot be reset (AssertionError: ")


def test_a_step_that_raises_is_evidence():
    class Broken(Walk):
        def step(self, action):
            if self.at == 3:
                raise RuntimeError("the third step hurts")
            return super().step(action)

    report = checked(Broken())
    assert not report
    assert "the third step hurts" in str(report)


@pytest.mark.slow
def test_copies_of_a_hundred_thousand_steps_are_those_of_the_originals(monkeypatch):
    monkeypatch.setattr("agents.bridge.checking._WALKS", 2000)
    for env_id in ("FrozenLake-v1", "CartPole-v1", "Blackjack-v1", "CliffWalking-v1"):
        law = checked(gym.make(env_id))["fidelity"]
        assert law.verdict == "holds", law.evidence


MANY = {
    "gymnasium": ["FrozenLake8x8-v1", TAXI, "MountainCar-v0", "Acrobot-v1"],
    "Box2D": ["LunarLander-v3"],
    "minigrid": [
        *("MiniGrid-Empty-5x5-v0", "MiniGrid-DoorKey-5x5-v0", "MiniGrid-FourRooms-v0", "MiniGrid-LavaGapS5-v0"),
        *("MiniGrid-Dynamic-Obstacles-5x5-v0", "MiniGrid-MemoryS7-v0", "MiniGrid-MultiRoom-N2-S4-v0"),
        "BabyAI-GoToObj-v0",
    ],
    "ale_py": ["ALE/Pong-v5", "ALE/Seaquest-v5"],
    "pettingzoo": ["connect_four.connect_four", "go.go"],
    "chess": ["chess.chess"],
    "rlcard": ["rlcard_envs.leduc_holdem", "rlcard_envs.texas_holdem"],
}


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("package", "name"), [(package, name) for package in MANY for name in MANY[package]])
def test_no_law_fails_in_environments_of_others(package, name):
    module = pytest.importorskip(package)
    if package == "ale_py":
        gym.register_envs(module)
    if package in ("pettingzoo", "chess", "rlcard"):
        env = importlib.import_module(f"pettingzoo.classic.{name}").env()
    else:
        env = gym.make(name)
    env = agents.remember(env)
    report = checked(env)
    assert report, str(report)
    env.step(agents.make("mcts", simulations=5, horizon=10).act(env))
