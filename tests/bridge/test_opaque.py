"""What compiled code holds: its copies refer to the copy of the environment, in functions too."""

import functools
import io
import types

import pytest

from agents.bridge.copying.copies import Copy
from agents.bridge.means import FAST
from tests.bridge.worlds import Walk, mcts


class Feeding(Walk):
    """Pays what comes next of what it holds, which asks its counter or its dice."""

    def __init__(self, feed):
        super().__init__()
        self.feed = feed

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.next = self.feed(self)
        return self.at, {}

    def step(self, action):
        self.at += 1
        return self.at, float(self.next()), self.at >= 9, False, {}


def _asking(env):
    return lambda *_: env.at


FEEDS = {
    "map": lambda env: map(_asking(env), range(99)).__next__,
    "filter": lambda env: filter(lambda number: number >= env.at, range(99)).__next__,
    "nested": lambda env: map(_asking(env), enumerate(zip(range(99), strict=True))).__next__,
    "until": lambda env: iter(_asking(env), -1).__next__,
    "namespace": lambda env: functools.partial(_ask, types.SimpleNamespace(what=_asking(env))),
}


def _ask(held):
    return held.what()


@pytest.mark.parametrize("feed", FEEDS)
def test_functions_that_iterators_and_the_like_hold_are_those_of_the_copy(feed):
    env = Feeding(FEEDS[feed])
    env.reset(seed=0)
    made = Copy(env)
    shown = []
    for _ in range(2):
        shown.append([made.env.step(0)[1] for _ in range(4)])
        made.restore()
    assert shown == [[env.step(0)[1] for _ in range(4)]] * 2


def test_dice_that_iterators_ask_are_those_of_the_copy():
    env = Feeding(lambda env: map(env.np_random.integers, range(1000, 1099)).__next__)
    env.reset(seed=0)
    before = env.np_random.bit_generator.state
    assert mcts(20).search(env).copies.means == FAST
    assert env.np_random.bit_generator.state == before
    copies = [Copy(env), Copy(env)]
    for seed, each in enumerate(copies):
        each.seed(seed)
    assert len({each.env.step(0)[1] for each in copies}) == 2


@pytest.mark.parametrize("kind", [io.StringIO, io.BytesIO])
def test_files_in_memory_belong_to_the_copy(kind):
    env = Walk()
    env.log = kind()
    written = "up" if kind is io.StringIO else b"up"
    env.log.write(written)
    made = Copy(env)
    for _ in range(2):
        assert made.env.log.write(written) == 2
        assert made.env.log.getvalue() == written * 2
        made.restore()
    assert env.log.getvalue() == written
    assert made.env.log.tell() == 2


@pytest.mark.parametrize("kind", [io.StringIO, io.BytesIO])
def test_files_in_memory_are_as_closed_as_the_original(kind):
    env = Walk()
    env.log, env.old = kind(), kind()
    env.old.close()
    made = Copy(env)
    for _ in range(2):
        assert made.env.old.closed
        made.env.log.close()
        made.restore()
        assert made.env.log.tell() == 0
    assert not env.log.closed
    env.reset(seed=0)
    assert mcts(20).search(env).copies.means == FAST
