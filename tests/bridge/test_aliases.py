"""Things of an environment that lie where copies may miss them, with games whose values are known."""

import copy
import math
import time
from collections import deque
from threading import Lock

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils import EzPickle

import agents
from agents.bridge import remember, view
from agents.bridge.cloning import Replay
from agents.bridge.copying.copies import Copy
from agents.bridge.copying.digest import digest
from agents.bridge.live import foreign_view
from agents.bridge.pool import Pool


class Three(gym.Env):
    """Three steps; what the two actions pay is for others to say."""

    def __init__(self):
        self.action_space, self.observation_space = spaces.Discrete(2), spaces.Discrete(4)
        self.at = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        self.begin()
        return self.at, {}

    def begin(self):
        pass

    def step(self, action):
        self.at += 1
        return self.at, float(self.pay(action)), self.at == 3, False, {}


class Cards(Three):
    """Pays for a guess of a card that is drawn at the reset, where it is a secret, and is 0 else."""

    def __init__(self, secret):
        super().__init__()
        self.secret = secret

    def begin(self):
        self.card = int(self.np_random.integers(2)) if self.secret else 0

    def pay(self, action):
        return action == self.card


class Numbers(Cards):
    """Shows a number of a thousand after a step; the mask is one array, written anew at each step."""

    def __init__(self):
        super().__init__(True)
        self.mask = np.ones(2, np.int8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.number = int(self.np_random.integers(1000))
        return 0, self.said()

    def step(self, action):
        self.at += 1
        return (self.number if self.at == 1 else 1000), 0.0, self.at == 3, False, self.said()

    def said(self):
        self.mask[:] = [(1, 0), (1, 1), (0, 1), (0, 1)][self.at]
        return {"action_mask": self.mask}


class Dealt(Cards, EzPickle):
    """The highest card is an option, which is taken out of the options."""

    def __init__(self):
        EzPickle.__init__(self)
        super().__init__(True)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.card = int(self.np_random.integers(options.pop("cards") if options else 2))
        return 0, {}

    def step(self, action):
        return (self.card, *super().step(action)[1:])


class Secretive:
    """Can be called, and holds what it says."""

    def __init__(self, card):
        self.card = card

    def __call__(self):
        return self.card


class Asked(Cards):
    """The card is held by such an object."""

    def begin(self):
        super().begin()
        self.ask, self.card = Secretive(self.card), None

    def pay(self, action):
        return action == self.ask()


def searched(env, simulations=200):
    return agents.make("mcts", simulations=simulations, seed=0).search(env)


class Unseeded(Three):
    """Draws from a generator that nothing has seeded."""

    def reset(self, *, seed=None, options=None):
        self.at = 0
        return 0, {}

    def pay(self, action):
        return self.np_random.random()


class Around(Three):
    """Has such an environment inside."""

    def begin(self):
        self.inner = Unseeded()
        self.inner.reset()

    def pay(self, action):
        return self.inner.step(action)[1]


class AroundWrapped(Around):
    """Has such an environment inside, and a wrapper around that."""

    def begin(self):
        self.inner = gym.wrappers.TimeLimit(Unseeded(), 100)
        self.inner.reset()


@pytest.mark.parametrize("kind", [Unseeded, Around, AroundWrapped])
def test_chance_that_was_never_seeded_is_that_of_the_copy(kind):
    env = kind()
    env.reset()
    first, again = searched(env), searched(env)
    assert first.copies.means == "fast copy"
    np.testing.assert_array_equal(first.values, again.values)
    assert env._np_random is None, "nothing was drawn in the environment"


class Deck:
    """Says itself how it is copied."""

    def __init__(self, chance):
        self.chance = chance

    def __deepcopy__(self, memo):
        return Deck(copy.deepcopy(self.chance, memo))


class Shuffled(Three):
    """Pays for a guess of what a generator in such an object draws."""

    def begin(self):
        self.deck = Deck(np.random.default_rng(5))

    def pay(self, action):
        return action == self.deck.chance.integers(2)


def test_chance_inside_of_what_copies_itself_is_not_foreseen():
    env = Shuffled()
    env.reset()
    assert searched(env, 400).values.max() < 2.0, "a guess is worth 1.5"


class ByDefault(Three):
    """Functions reach the environment by their defaults: to wait, and then to dig twice, pays 12."""

    def begin(self):
        self.gold = [1]
        self.worth = lambda action, env=self, *, gold=self.gold: env.gold[0] * action if gold is env.gold else 100

    def pay(self, action):
        paid = self.worth(action)
        self.gold[0] += 0 if action else 5
        return paid


def test_functions_that_hold_the_environment_in_their_defaults_hold_the_copy():
    env = ByDefault()
    env.reset()
    result = searched(env, 400)
    assert (result.action, result.principal_variation) == (0, [0, 1, 1])
    assert 10.0 < result.values[0] <= 12.0


class Limited(Three):
    """Keeps a limit of its own under the name that ``TimeLimit`` uses, and counts steps under another."""

    def __init__(self):
        super().__init__()
        self._max_episode_steps = 3

    def pay(self, action):
        return action


def test_a_limit_of_its_own_is_no_time_limit():
    env = Limited()
    env.reset()
    assert searched(env).action == 1
    limited = gym.wrappers.TimeLimit(env, 2)
    limited.reset()
    assert searched(limited).values[1] <= 2.0


def test_an_environment_made_in_another_way_may_hide_something():
    found = []
    for secret in (False, True):
        env = remember(Cards(secret))
        env.reset(seed=1)
        found.append(searched(env).copies.hidden)
    assert found == ["nothing found", "drawn by replay"]


def test_what_can_be_called_may_hide_something():
    env = remember(Asked(True))
    env.reset(seed=1)
    assert searched(env).copies.hidden == "drawn by replay"


class Stacked(gym.ObservationWrapper):
    """Shows the last two observations."""

    def __init__(self, env):
        super().__init__(env)
        self.frames = deque([0, 0], maxlen=2)
        self.observation_space = spaces.Box(0, 4, (2,), np.int64)

    def observation(self, observation):
        self.frames.append(observation)
        return np.array(self.frames)


class Idle(Three):
    def pay(self, action):
        return 0.0


@pytest.mark.parametrize("wrapper", [Stacked, lambda env: gym.wrappers.DelayObservation(env, 1)])
def test_looking_through_a_wrapper_writes_nothing_into_it(wrapper):
    wrapped = wrapper(Idle())
    wrapped.lock = Lock()  # which cannot be copied
    wrapped.reset()
    wrapped.step(0)
    kept = wrapped.frames if isinstance(wrapped, Stacked) else wrapped.observation_queue
    before, state = list(kept), view(wrapped).state.copy()
    state.game.step(state, [0], [0.0])
    state.game.observe(state, 0, np.zeros(state.game.observation_shape, np.float32))
    assert list(kept) == before


def test_courses_of_the_game_keep_what_was_said_though_the_environment_writes_over_it():
    env = remember(Numbers())
    env.reset(seed=1)
    env.step(0)
    env.step(0)
    live = foreign_view(env).state
    pool = Pool(live.game, live.history, None, 0)
    pool.extend()
    assert 0 < pool.kept < pool.tried
    assert all(course.infos["action_mask"].tolist() == [0, 1] for course in pool.particles)


def test_options_of_a_reset_are_kept_though_the_environment_takes_them_out():
    env = remember(Dealt())
    env.reset(seed=1, options={"cards": 100})
    env.step(0)
    live = foreign_view(env).state
    pool = Pool(live.game, live.history, None, 0)
    pool.extend()
    assert env.unwrapped.card > 1
    assert {course.env.unwrapped.card for course in pool.particles} == {env.unwrapped.card}
    Replay(live.history, env.unwrapped, anew=False)  # which would show something else


def test_options_that_cannot_be_copied_are_given_as_they_are():
    env = remember(Cards(True))
    env.reset(seed=1, options={"lock": Lock()})
    assert searched(env).copies.hidden == "drawn by replay"


class Dealer(Cards):
    """Shows one of thirty marks at the reset, and takes its time to deal."""

    def __init__(self):
        super().__init__(True)
        self.observation_space = spaces.Discrete(40)

    def reset(self, *, seed=None, options=None):
        time.sleep(0.001)
        super().reset(seed=seed)
        return int(self.np_random.integers(10, 40)), {}


@pytest.mark.filterwarnings("error")
def test_what_is_hidden_is_drawn_though_finding_it_out_took_more_than_the_time():
    env = remember(Dealer())
    env.reset(seed=1)
    assert agents.make("mcts", time_limit=0.05).search(env).copies.hidden == "drawn by replay"


class Painted(Cards):
    """Shows a part of a picture whose columns lie one after another, as those of pygame do."""

    def __init__(self):
        super().__init__(True)
        self.observation_space = spaces.Box(0, 255, (2, 3, 3), np.uint8)
        self.picture = np.zeros((3, 4, 3), np.uint8).transpose(1, 0, 2).copy(order="K")

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.picture[1:3], {}

    def step(self, action):
        _, *rest = super().step(action)
        self.picture[self.at, action] = 7
        return self.picture[1:3], *rest


def test_a_part_of_an_array_in_another_order_is_copied_with_it():
    env = remember(Painted())
    env.reset(seed=1)
    assert searched(env).copies.hidden == "drawn by replay"
    made = Copy(env.unwrapped.picture[1:3]).env
    assert not env.unwrapped.picture.flags.c_contiguous
    np.testing.assert_array_equal(made, env.unwrapped.picture[1:3])
    made.base[...] = 5
    assert (made == 5).all()
    assert not env.unwrapped.picture.any()


class Lane:
    """What sets of a map have in common; ``other`` are its neighbours."""

    def __init__(self, name):
        self.name, self.others = name, set()


def lanes(order):
    """Return the sets of a map of eight lanes, each of them in several, made in an order."""
    made = [Lane(place) for place in range(8)]
    for lane in made:
        lane.others = {made[(lane.name + step) % 8] for step in order}
    return {made[place] for place in order}, frozenset({made[0], made[5]}), [made[5], made[3]]


def test_sets_of_objects_are_the_same_in_whatever_order_they_hold_them():
    some = [lanes(order) for order in ([1, 3, 5], [5, 3, 1], [3, 1, 5])]
    assert len({digest(each) for each in (*some, *(copy.deepcopy(each) for each in some))}) == 1
    some[0][2][0] = some[0][2][1]
    some[1][2][1].name = 9
    assert len({digest(each) for each in some}) == 3


def test_a_graph_of_sets_is_walked_once():
    made = [Lane(place) for place in range(60)]
    for lane in made:
        lane.others = set(made)
    assert digest(made) == digest(copy.deepcopy(made))


class Weighed(Cards):
    """A first step of no weight, and then guesses of a secret sign: nothing times a sign is 0.0 or -0.0."""

    def __init__(self):
        super().__init__(secret=True)

    def pay(self, action):
        weight = 0.0 if self.at == 1 else 1.0
        return weight * (1 if action == self.card else -1)


def test_nothing_that_was_paid_tells_no_secret_by_its_sign():
    for seed in range(4):
        env = remember(Weighed())
        env.reset(seed=seed)
        env.step(0)
        result = agents.make("flat_mc", horizon=1, simulations=800, seed=seed).search(env)
        assert result.copies.hidden == "drawn by replay"
        assert np.abs(result.values).max() < 0.5  # a guess: 1 or -1


def test_zeros_of_both_signs_are_equal():
    positive = 0.0, [0.0], np.zeros(3, np.float32), np.float64(0.0), np.zeros((2, 2), complex)
    assert digest(positive) == digest((-0.0, [-0.0], -positive[2], -positive[3], -positive[4]))
    assert digest((np.float64(math.nan), 1.5, -1.5)) == digest((np.float64(math.nan), 1.5, -1.5))
    assert digest((1.5, np.ones(2))) != digest((-1.5, np.ones(2))) != digest((-1.5, -np.ones(2)))
