"""What an environment holds without owning it, or lets go: weak references, threads, and what it closes at its end."""

import functools
import gc
import threading
import time
import weakref
from queue import Queue
from typing import ClassVar

import pytest

import agents
from agents.bridge.copying.copies import Copy
from agents.bridge.copying.digest import digest
from tests.bridge.worlds import Walk, mcts


class Piece:
    """Counts, and knows its owner."""

    def __init__(self, owner):
        self.owner, self.count = owner, 0

    def add(self, number):
        self.count += number
        return self.count

    def __call__(self):
        return self.count


OUTSIDE = Piece(None)


class Weakly(Walk):
    """Refers to its pieces in all weak ways."""

    def reset(self, *, seed=None, options=None):
        self.piece = piece = Piece(weakref.proxy(self))
        self.called = weakref.proxy(piece)
        self.method = weakref.WeakMethod(piece.add)
        self.keys = weakref.WeakKeyDictionary({piece: [1]})
        self.values = weakref.WeakValueDictionary(a=piece)
        self.others = weakref.ref(OUTSIDE)
        return super().reset(seed=seed)

    def step(self, action):
        self.method()(action)
        self.keys[self.piece].append(action)
        self.values["a"].add(action)
        self.called.add(action)
        at, _, *rest = super().step(action)
        self.piece.owner.paid = float(self.called() + len(self.keys[self.piece]) + self.others().count)
        return at, self.paid, *rest


def test_what_is_referred_to_weakly_is_that_of_the_copy():
    env = Weakly()
    env.reset(seed=0)
    made = Copy(env)
    gc.collect()
    for _ in range(2):
        assert [made.env.step(action)[1] for action in (1, 0, 1)] == [5.0, 6.0, 10.0]
        assert made.env.values["a"] is made.env.piece
        made.restore()
    assert env.piece.count == 0
    assert env.keys[env.piece] == [1]
    assert mcts().act(env) == 1
    assert env.step(1)[1] == 5.0


def test_what_is_behind_a_proxy_tells_states_apart():
    piece = Piece(None)
    proxy = weakref.proxy(piece)
    before = digest([proxy])
    piece.add(1)
    assert digest([proxy]) != before
    del piece
    assert digest([proxy]) == digest([None])
    assert Copy([proxy]).env == [proxy]


class Client(Walk):
    """Is a client of an engine until it goes."""

    connected: ClassVar = set()

    def reset(self, *, seed=None, options=None):
        self.number = 1
        self.connected.add(self.number)
        return super().reset(seed=seed)

    def step(self, action):
        assert self.number in self.connected, "the engine knows no such client"
        return super().step(action)

    def __del__(self):
        self.connected.discard(self.number)


def test_a_copy_that_goes_closes_nothing():
    env = Client()
    env.reset(seed=0)
    report = agents.check_planning(env)
    assert report, report
    for _ in range(3):
        gc.collect()
        assert not env.step(mcts().act(env))[2]
    del env
    gc.collect()
    assert not Client.connected


class Served(Walk):
    """Has a thread that counts for it."""

    def reset(self, *, seed=None, options=None):
        self.asked, self.told = Queue(), Queue()
        self.server = threading.Thread(target=self.serve, args=(self.asked, self.told), daemon=True)
        self.server.start()
        return super().reset(seed=seed)

    @staticmethod
    def serve(asked, told):
        while (number := asked.get()) is not None:
            told.put(number)

    def step(self, action):
        self.asked.put(action)
        at, _, *rest = super().step(action)
        return at, float(self.told.get()), *rest


def test_a_running_thread_is_refused_and_not_waited_for():
    env = Served()
    env.reset(seed=0)
    with pytest.raises(TypeError, match=r"it holds a running threading\.Thread, which does not run on in a copy"):
        mcts().act(env)
    env.asked.put(None)
    env.server.join()
    assert Copy(env).env.server is not env.server


class Fed(Walk):
    """Draws from a queue that a thread fills, which it does not hold."""

    def reset(self, *, seed=None, options=None):
        self.drawn = Queue(2)
        feed = self.drawn.put
        threading.Thread(target=lambda: [feed(number) for number in range(20)], daemon=True).start()
        while not self.drawn.not_full._waiters:
            time.sleep(0.001)
        return super().reset(seed=seed)

    def step(self, action):
        at, _, *rest = super().step(action)
        return at, float(self.drawn.get(timeout=20)), *rest


def test_a_queue_for_which_a_thread_waits_is_refused():
    env = Fed()
    env.reset(seed=0)
    with pytest.raises(
        TypeError, match=r"it holds a threading\.Condition for which a thread waits, which does not run"
    ):
        mcts().act(env)
    assert env.step(0)[1] == 0.0


class Cached(Walk):
    """Keeps what was computed: where it is, a die for each step, and a sum."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.ahead = functools.lru_cache(maxsize=8)(lambda t, action: self.at + 1 + action)
        self.die = functools.cache(self.cast)
        self.hooks = [self.die]
        self.owner = object.__new__(Walk)
        self.sum = functools.cache(sum)
        return self.at, {}

    def cast(self, t):
        return int(self.np_random.integers(1000))

    def step(self, action):
        self.at = self.ahead(self.at, action)
        return self.at, float(self.die(self.at)), self.at >= 5, False, {}


def test_what_is_kept_of_a_function_of_an_environment_is_that_of_the_copy():
    env = Cached()
    env.reset(seed=0)
    shown, of_owner = env.die(0), env.die(t=env.owner)
    made = Copy(env)
    copy = made.env
    assert copy.die is copy.hooks[0] is not env.die
    assert (copy.die(0), copy.die(t=copy.owner)) == (shown, of_owner)
    assert copy.sum is env.sum
    for _ in range(2):
        copy.step(0)
        copy.step(1)
        assert (copy.at, env.at) == (3, 0)
        assert env.die.cache_info().currsize == 2
        assert copy.die.cache_info().currsize == 4
        made.restore()
        assert copy.die.cache_info().currsize == 2
        assert copy.ahead.cache_info().currsize == 0
    env.at = 1
    assert env.ahead(1, 0) == 2
    mcts(50).act(env)
    assert env.die.cache_info().currsize == 2
