"""Coins that were tossed beforehand: whatever holds them, a search foresees none, or says so."""

import random
import secrets
import zlib
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo import ParallelEnv

import agents
from agents import bridge
from agents.bridge.copying.copies import Copy
from agents.bridge.copying.digest import digest
from agents.bridge.hidden import AS_IT_IS, NOTHING, SAMPLED, SINCE, UNKNOWN
from agents.bridge.means import DEEP, REPLAY
from tests.bridge.test_hidden import Cups
from tests.bridge.worlds import mcts

_FACTOR, _SUM, _WORD = 6364136223846793005, 1442695040888963407, 2**64


class Coins(gym.Env):
    """Pays who guesses the next coin, which follows from a number that the reset has drawn."""

    action_space = spaces.Discrete(2)
    observation_space = spaces.Discrete(100)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        self.hold(int(self.np_random.integers(2**31)))
        return 0, {}

    def hold(self, number):
        self.number = number

    def toss(self):
        self.number = (self.number * _FACTOR + _SUM) % _WORD
        return self.number >> 40 & 1

    def step(self, action):
        self.t += 1
        return self.t, float(action == self.toss()), self.t >= 30, False, {}


def followed(env, steps):
    """Return the step of a game at which what it hides is seen as it is."""
    for step in range(steps):
        found = mcts(20, horizon=3).search(env).copies.hidden
        if found != SAMPLED:
            assert found == AS_IT_IS
            return step
        env.step(0)
    return -1


def test_what_the_cure_leaves_open_is_said_too():
    env = Coins()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="wrap it in agents.remember"):
        mcts(20, horizon=3).search(env)
    env = agents.remember(Coins())
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="Coins hides something.* none of 2000 other courses of the game fits"):
        assert followed(env, 14) > 3
    assert agents.check_planning(env)["hidden"].verdict == "FAILS"
    env.step(0)
    assert mcts(20, horizon=3).search(env).copies.hidden == SINCE
    law = agents.check_planning(env)["hidden"]
    assert (law.verdict, law.evidence.split(";")[0]) == ("FAILS", SINCE)
    env.reset(seed=1)
    assert mcts(20, horizon=3).search(env).copies.hidden == SAMPLED


class Machine:
    def __init__(self, number):
        self.number = number

    def toss(self, factor=_FACTOR):
        self.number = (self.number * factor + _SUM) % _WORD
        return self.number >> 40 & 1


def enclosed(number):
    """Return a function that keeps its number to itself."""

    def toss():
        nonlocal number
        number = (number * _FACTOR + _SUM) % _WORD
        return number >> 40 & 1 if toss else 0  # it holds itself, too

    return toss


def by_default(number):
    return lambda kept=[number]: kept.append((kept.pop() * _FACTOR + _SUM) % _WORD) or kept[0] >> 40 & 1


FUNCTIONS = [
    pytest.param(enclosed, id="closure"),
    pytest.param(by_default, id="default"),
    pytest.param(lambda number: partial(Machine(number).toss, _FACTOR), id="partial"),
    pytest.param(lambda number: Machine(number).toss, id="method"),
]


class Tossing(Coins):
    """What it draws from is held by a function alone."""

    def __init__(self, made):
        self.made = made

    def hold(self, number):
        self.toss = self.made(number)


@pytest.mark.parametrize("made", FUNCTIONS)
def test_what_functions_hold_is_not_foreseen_in_silence(made):
    env = Tossing(made)
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="Tossing hides something from its player, in toss, and planning foresees"):
        assert mcts(20, horizon=3).search(env).copies.hidden == AS_IT_IS
    env = agents.remember(env)
    env.reset(seed=0)
    assert mcts(20, horizon=3).search(env).copies.hidden == SAMPLED


@pytest.mark.parametrize("made", FUNCTIONS)
def test_functions_are_told_apart_by_what_they_hold(made):
    one, other = made(1), made(1)
    assert digest(one) == digest(other) != digest(made(2))
    one()
    assert digest(one) != digest(other)


class Buried(Coins):
    """It holds something that can be copied, but not be looked into."""

    def hold(self, number):
        self.number, self.log = number, zlib.compressobj()


def test_what_cannot_be_looked_at_is_found_by_what_it_leads_to():
    env = Buried()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match=r"Buried hides something from its player, in number, log, and"):
        assert mcts(20, horizon=3).search(env).copies.hidden == AS_IT_IS
    env = agents.remember(Buried())
    env.reset(seed=0)
    assert mcts(20, horizon=3).search(env).copies.hidden == SAMPLED


class Seeded(Coins):
    """Tosses each coin by the seed of its reset, which Gymnasium keeps for it."""

    def hold(self, number):
        pass

    def toss(self):
        return random.Random(self.np_random_seed * 100 + self.t).getrandbits(1)


def test_what_the_seed_of_a_reset_still_decides_is_not_foreseen_in_silence():
    env = Seeded()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="Seeded hides something from its player, in what its seed decides, and"):
        assert mcts(20, horizon=3).search(env).copies.hidden == AS_IT_IS
    env = agents.remember(Seeded())
    env.reset(seed=0)
    assert mcts(20, horizon=3).search(env).copies.hidden == SAMPLED


class Elsewhere(Coins):
    """Tosses by chance of all, and holds a number from which nothing follows."""

    def __init__(self, draw):
        self.draw = draw

    def toss(self):
        return self.draw(2)


@pytest.mark.filterwarnings("ignore:Elsewhere.step draws from the global generator")
@pytest.mark.parametrize(
    "draw",
    [random.randrange, np.random.randint, secrets.randbelow, lambda n: np.random.default_rng().integers(n)],
    ids=["random", "numpy", "system", "numpy's seeds"],
)
def test_chance_of_all_is_not_taken_for_something_hidden(draw):
    env = Elsewhere(lambda n: draw(n))
    env.reset(seed=0)
    assert mcts(20, horizon=3).search(env).copies.hidden == NOTHING


def test_keys_of_jax_are_told_apart_by_their_numbers():
    jax = pytest.importorskip("jax")
    one, same, other = (jax.random.key(seed) for seed in (0, 0, 1))
    assert digest([one]) == digest([same]) != digest([other])


class Keyed(Coins):
    """Tosses by a key of JAX that it keeps, plain or typed, and in what it holds."""

    def __init__(self, kind, place):
        self.jax, self.kind, self.place = pytest.importorskip("jax"), kind, place

    def hold(self, number):
        key = getattr(self.jax.random, self.kind)(number)
        self.held = State(key) if self.place == "state" else {"rng": key}
        self.rng = key

    def toss(self):
        kept = vars(self.held) if self.place == "state" else vars(self) if self.place == "itself" else self.held
        kept["rng"], now = self.jax.random.split(kept["rng"])
        return int(self.jax.random.bernoulli(now))


@dataclass(frozen=True)
class State:
    rng: Any


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("place", ["itself", "state", "dictionary"])
@pytest.mark.parametrize("kind", ["PRNGKey", "key"])
def test_keys_of_jax_are_drawn_anew(kind, place):
    env = Keyed(kind, place)
    env.reset(seed=0)
    kept = repr((env.rng, env.held))
    report = agents.check_planning(env)
    assert report
    assert report["hidden"].evidence == "nothing found"
    assert report["chance"].verdict == "holds"
    assert report["chance"].evidence.startswith("16 futures of 16 seeds")
    found = [mcts(30, horizon=3).search(env).values for _ in range(2)]
    assert found[0].tolist() == found[1].tolist()
    assert repr((env.rng, env.held)) == kept
    env.rng = env.jax.random.fold_in(env.rng, 1)
    env.held = State(env.rng) if place == "state" else {"rng": env.rng}
    assert mcts(30, horizon=3).search(env).values.tolist() == found[0].tolist()


def test_two_numbers_by_another_name_are_no_key():
    numpy = pytest.importorskip("jax").numpy
    numbers = {"at": [2**31, 4], "key_pos": [2**31, 4], "key": [3, 4]}  # that of a door, say
    held = {name: numpy.array(item, numpy.uint32) for name, item in numbers.items()}
    made = Copy({**held, "rng": numpy.array([3.0, 4.0])})
    made.seed(1)
    assert {name: item.tolist() for name, item in made.env.items()} == {**numbers, "rng": [3.0, 4.0]}
    moved = {**held, "key": numpy.array([3, 5], numpy.uint32)}
    assert digest(held) != digest(moved)


class Streamed(Coins):
    """Has tossed for a whole game, and lays the coins open by a generator of Python's, which nobody can copy."""

    def hold(self, number):
        dice = random.Random(number)
        tosses = [dice.getrandbits(1) for _ in range(99)]
        self.stream = (toss for toss in tosses)

    def toss(self):
        return next(self.stream)


class Dicing(Coins):
    """Tosses by a generator of Python's as it goes on."""

    def hold(self, number):
        dice = random.Random(number)
        self.stream = (dice.getrandbits(1) for _ in range(99))

    def toss(self):
        return next(self.stream)


def test_chance_inside_of_what_is_replayed_is_not_foreseen():
    env = agents.remember(Dicing())
    env.reset(seed=3)
    found = mcts(200, horizon=2).search(env)
    assert found.copies[:2] == (REPLAY, UNKNOWN)
    assert 0.6 < found.values.min() <= found.values.max() < 1.6  # half a coin a step, or a little more by choice


class Peeping(Dicing):
    """Has tossed the next coin already; who chooses 2 leaves the toss alone and never sees it."""

    action_space = spaces.Discrete(3)

    def hold(self, number):
        super().hold(number)
        self.next = next(self.stream)

    def toss(self):
        coin, self.next = self.next, next(self.stream)
        return coin


def test_what_a_replayed_game_hides_is_found_by_whichever_action_shows_it():
    env = agents.remember(Peeping())
    env.reset(seed=3)
    with pytest.warns(UserWarning, match="Peeping is replayed, and planning foresees what it hides from its player"):
        assert mcts(10, horizon=2).search(env).copies[:2] == (REPLAY, AS_IT_IS)


class Held:
    """Makes its handle anew in deep copies, which nothing else copies."""

    def __init__(self):
        self.__setstate__({})

    def __getstate__(self):
        return {}

    def __setstate__(self, state):
        self.handle = (each for each in ())


class Holding(Coins):
    def hold(self, number):
        super().hold(number)
        self.held = Held()


def test_what_deep_copies_hide_is_not_foreseen_in_silence():
    env = Holding()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="Holding is copied by copy.deepcopy, and planning foresees what it hides"):
        assert mcts(10, horizon=3).search(env).copies[:2] == (DEEP, AS_IT_IS)


class Named(Streamed):
    def __init__(self, name):
        self.name = name


def test_what_a_class_without_arguments_makes_is_replayed():
    env = agents.remember(Streamed())
    env.reset(seed=3)
    with pytest.warns(
        UserWarning, match="Streamed is replayed, and planning foresees what it hides from its player, or"
    ):
        assert mcts(10, horizon=2).search(env).copies[:2] == (REPLAY, AS_IT_IS)
    for t in range(3):
        assert env.step(0)[0] == t + 1
        assert mcts(10, horizon=2).search(env).copies.means == REPLAY
    assert agents.check_planning(env)["fidelity"].verdict == "holds"
    env = agents.remember(Named("coin"))
    env.reset(seed=3)
    with pytest.raises(TypeError, match=r"; replay, replay in new environments: no other Named can.*EzPickle"):
        mcts(10).search(env)


def test_another_one_that_cannot_be_made_speaks_against_no_copy():
    class Only(Coins):
        made = 0

        def __init__(self):
            Only.made += 1
            if Only.made > 1:
                raise OSError("the port is in use")

    env = Only()
    env.reset(seed=0)
    law = agents.check_planning(env)["fidelity"]
    assert law == ("fidelity", "open", "no other Only can be made (OSError: the port is in use)")


def test_a_graph_says_what_became_of_what_is_hidden():
    """It said "seen as it is" of everything."""
    env = agents.remember(gym.make("FrozenLake-v1"))
    env.reset(seed=1)
    assert agents.make("graph", simulations=20, seed=1).search(env).copies.hidden == "nothing found"


class Secluded(ParallelEnv):
    """Three choose at once, four times, and see the round alone; who first chooses least leaves. A card pays."""

    metadata = {"name": "secluded_v0", "render_modes": []}  # noqa: RUF012
    render_mode = None

    def __init__(self):
        self.possible_agents = ["a", "b", "c"]

    def observation_space(self, agent):
        return spaces.Discrete(5)

    def action_space(self, agent):
        return spaces.Discrete(3)

    def reset(self, seed=None, options=None):
        self.agents, self.round = self.possible_agents[:], 0
        self.card = np.random.default_rng(seed).integers(3)
        return dict.fromkeys(self.agents, 0), {agent: {} for agent in self.agents}

    def step(self, actions):
        assert set(actions) == set(self.agents)
        self.round += 1
        out = min(self.agents, key=actions.get) if self.round == 1 else None
        over = {agent: self.round >= 4 or agent == out for agent in self.agents}
        self.agents = [agent for agent in self.agents if not over[agent]]
        paid = {agent: float(self.round == 4 and actions[agent] == self.card) for agent in over}
        return dict.fromkeys(over, self.round), paid, over, dict.fromkeys(over, False), {agent: {} for agent in over}


def test_courses_of_the_game_have_those_in_it_who_are():
    env = bridge.remember(Secluded())
    env.reset(seed=0)
    env.step({"a": 2, "b": 0, "c": 1})
    view = bridge.view(env, "a")
    assert mcts(60).search(view).copies.hidden == "drawn by replay"
    state = view.state.copy()
    for seed in range(64):
        view.game.determinize(state, 0, seed << 20)
        assert state.env.agents == ["a", "c"]


def test_what_is_hidden_is_drawn_by_the_seed_of_the_search():
    drawn = []
    for seed in (1, 1, 2, 3):
        env = agents.remember(Cups())
        env.reset(seed=7)
        mcts(10, seed=seed).search(env)
        drawn.append([course.env.ball for course in env.history.pools[None].particles])
    assert drawn[0] == drawn[1]
    assert drawn[1] != drawn[2] != drawn[3]
    assert all(balls.count(ball) > 15 for balls in drawn for ball in range(3))


class Begun(Holding):
    """Begins each game somewhere else."""

    begun = 0

    def reset(self, *, seed=None, options=None):
        Begun.begun += 1
        super().reset(seed=seed)
        return self.number % 90, {}


def test_games_that_never_begin_alike_are_begun_once():
    env = Begun()
    env.reset(seed=0)
    assert mcts(5, horizon=2).search(env).copies[:2] == (DEEP, UNKNOWN)
    assert Begun.begun == 1 + 8
