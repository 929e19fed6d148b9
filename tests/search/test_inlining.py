"""Interpreted searches on objects: accessors of one line stand in their callers, and the trees are the same."""

import importlib
import os
import sys
import traceback
from dataclasses import replace

import pytest

from agents import policies
from agents.mcts import MCTS
from agents.search.inlining import interpreted_on_objects
from agents.search.search import search
from mcts_envs.core.contract import ADVISE
from mcts_envs.core.kernel import interpreted, kernel, row
from mcts_envs.core.view import View
from tests.search.contents import as_lists, contents
from tests.search.lanes import home_of, lane
from tests.toys import Stakes, Tron

ACCESSORS = {"row", "nth", "seat_of", "step_of_path", "chooses", "several", "is_leaf", "active_of", "legal_of"}

OWN = '''
from mcts_envs.core.contract import ADVISE
from mcts_envs.core.kernel import kernel, row

KIND = None
SHIFT = 2


def first(counters):
    return row(counters, 0, KIND)


@kernel()
def shifted(rows, i):
    """Return a record."""
    return row(rows, i + SHIFT, KIND)


@kernel()
def twice(i):
    return i * i


@kernel()
def popped(left):
    return left.pop()


@kernel()
def read(rows, i):
    SHIFT = 1
    return (
        shifted(rows, i).value,
        shifted(rows, len(rows) - 4).value + SHIFT,
        shifted(i=i, rows=rows).value,
        twice(popped([3])),
        twice(i + 1),
        first(rows).value,
    )


@kernel()
def broken(rows):
    i = 0

    return shifted(rows, i).missing


@kernel()
def shadowed(rows, shifted):
    return shifted(rows, 0)
'''


class Record:
    def __init__(self, value):
        self.value = value


@pytest.fixture
def own(tmp_path, monkeypatch):
    (tmp_path / "own_accessors.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("own_accessors")
    del sys.modules["own_accessors"]


ROWS = [Record(10 * i) for i in range(5)]


def reached(function, seen):
    """Return all names that a plain function, and those that it reaches by its globals, look up."""
    if id(function) in seen or not hasattr(function, "__code__"):
        return set()
    seen.add(id(function))
    names = set(function.__code__.co_names)
    return names.union(*(reached(function.__globals__.get(name), seen) for name in names))


class TestAccessors:
    @pytest.mark.parametrize("name", [None, *policies.names("select")])
    def test_none_is_called_in_a_search(self, name):
        function = search if name is None else policies.load("select", name)
        assert reached(interpreted(function), set()) & ACCESSORS
        assert not reached(interpreted_on_objects(function), set()) & ACCESSORS

    def test_what_is_put_in_is_the_same(self, own):
        plain = interpreted_on_objects(own.read)
        assert plain(ROWS, 1) == interpreted(own.read)(ROWS, 1) == (30, 31, 30, 9, 4, 0)
        # By keyword, with an argument that does something, or with one that would be computed twice they stay calls.
        assert {"shifted", "twice", "popped"} <= set(plain.__code__.co_names)
        assert not {"row", "first", "KIND", "SHIFT"} & set(plain.__code__.co_names)

    def test_a_variable_of_that_name_is_left_alone(self, own):
        assert interpreted_on_objects(own.shadowed)(ROWS, lambda rows, i: i - 7) == -7

    def test_nobody_else_sees_it(self, own):
        before = own.first.__code__, own.read.py_func.__code__, dict(vars(own))
        interpreted_on_objects(own.read)
        assert (own.first.__code__, own.read.py_func.__code__, dict(vars(own))) == before

    def test_errors_tell_their_line(self, own):
        with pytest.raises(AttributeError, match="missing") as error:
            interpreted_on_objects(own.broken)(ROWS)
        last = traceback.extract_tb(error.tb)[-1]
        assert (os.path.basename(last.filename), last.name) == ("own_accessors.py", "broken")
        assert last.line == "return shifted(rows, i).missing"

    def test_a_file_that_was_edited_since_is_not_read(self, own, tmp_path):
        expected = interpreted(own.read)(ROWS, 1)
        (tmp_path / "own_accessors.py").write_text(OWN.replace("i + SHIFT", "i + 1").replace("* i", "+ i"))
        assert interpreted_on_objects(own.read)(ROWS, 1) == expected

    def test_without_a_source(self):
        scope = {"kernel": kernel, "row": row, "__name__": "nowhere"}
        exec("@kernel()\ndef value(rows, i):\n    return row(rows, i, None).value", scope)
        assert interpreted_on_objects(scope["value"])(ROWS, 3) == 30


class TestTrees:
    @pytest.mark.parametrize("loop", ["open", "closed"])
    @pytest.mark.parametrize("select", sorted({*policies.names("select")} - {"double_progressive_widening"}))
    def test_in_objects_as_in_bytes(self, select, loop):
        assert_same(home_of(select), select=select, loop=loop)

    @pytest.mark.parametrize("simulate", sorted({*policies.names("simulate")} - {"decisive"}))
    def test_rollouts(self, simulate):
        assert_same(lane(3, seed=3).unwrapped, simulate=simulate, loop="closed")

    @pytest.mark.parametrize("policy", [{"simulate": "decisive"}, {"select": "double_progressive_widening"}])
    def test_some_need_states_of_bytes(self, policy):
        with pytest.raises(ValueError, match="is for games of ours, whose"):
            assert_same(lane(3, seed=3).unwrapped, **policy)

    @pytest.mark.parametrize("settings", [{}, {"opponents": "uniform"}, {"max_nodes": 10}, {"loop": "open"}])
    @pytest.mark.parametrize("toy", [Tron, Stakes])
    def test_several_players(self, toy, settings):
        env = toy()
        env.reset(seed=2)
        assert_same(env, **{"loop": "closed", **settings})


@kernel(ADVISE)
def rising(state, player, weights):
    """Advise, in arrays as in lists, the later actions more."""
    for action in range(len(weights)):
        weights[action] = 1.0 + action


def assert_same(env, **settings):
    view = env.view()
    game = replace(view.game, advise=rising)
    ours, theirs = (
        MCTS(simulations=80, seed=5, **settings).search(View(game, view.state, view.player))
        for game in (game, as_lists(game))
    )
    assert ours.steps == theirs.steps
    assert contents(ours.tree.trees[0]) == contents(theirs.tree.trees[0])
