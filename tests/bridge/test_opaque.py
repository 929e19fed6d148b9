"""What compiled code holds: its copies refer to the copy of the environment, in functions too."""

import datetime
import functools
import io
import types

import pytest

from agents.bridge.copying.copies import Copy
from agents.bridge.copying.digest import digest
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


def test_dates_are_shared_and_tell_states_apart():
    env = Walk()
    env.now, env.step_of_it = datetime.datetime(2024, 2, 28), datetime.timedelta(1)
    made = Copy(env)
    assert not made.opaque
    assert digest(made.env) == digest(env)
    made.env.now += made.env.step_of_it
    assert digest(made.env) != digest(env)
    made.restore()
    assert made.env.now == env.now


class Clock(datetime.datetime):
    pass


def test_a_date_of_ones_own_which_may_hold_more_is_not_shared():
    env = Walk()
    env.clock = Clock(2024, 2, 28)
    mine = Copy(env).env.clock
    assert mine is not env.clock
    assert mine == env.clock


def test_tables_of_pandas_are_brought_back_in_place():
    pandas = pytest.importorskip("pandas")
    env = Walk()
    env.table = pandas.DataFrame({"price": [1.0, 2.0], "name": ["a", "b"]}, index=pandas.date_range("2024", periods=2))
    env.prices, env.same = env.table["price"].copy(), env.table
    made, before = Copy(env), digest(env)
    assert not made.opaque
    mine = made.env.table
    for _ in range(3):
        mine.loc[mine.index[0], "price"] = 5.0
        mine["sold"] = True
        made.env.prices.iloc[1] = 7.0
        assert digest(made.env) != digest(env) == before
        made.restore()
        assert made.env.table is made.env.same is mine
        assert digest(made.env) == before
    assert list(env.table.columns) == ["price", "name"]


def test_names_notes_and_arrays_of_tables_are_brought_back_too():
    pandas = pytest.importorskip("pandas")
    env = Walk()
    env.prices = pandas.Series([1.0, 2.0], pandas.date_range("2024", periods=2, name="day"), name="price")
    env.days, env.prices.attrs = env.prices.index.copy(deep=True), {"seen": []}
    made = Copy(env)
    assert not made.opaque
    for _ in range(2):
        mine = made.env
        mine.prices.name, mine.days.name, mine.days.freq = "cost", "night", None
        mine.prices.attrs["seen"].append(1)
        mine.prices.array[0] = 9.0
        made.restore()
        for each in (mine, env):
            assert (each.prices.name, each.days.name, each.days.freqstr) == ("price", "day", "D")
            assert (each.prices.attrs, each.prices.tolist()) == ({"seen": []}, [1.0, 2.0])
