"""Copies of foreign environments: nothing is shared, everything is brought back, and what cannot be copied is named."""

import array
import collections
import copy
import ctypes
import functools
import random
import types

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.classic.connect_four import connect_four
from pettingzoo.classic.tictactoe import tictactoe

from agents.bridge.cloning import drawn_from
from agents.bridge.copying.copies import Copy
from agents.bridge.copying.digest import digest
from agents.bridge.means import FAST
from tests.bridge.worlds import TAXI, Walk, mcts, playing

try:
    import torch
except ImportError:
    torch = None


class Things:
    """One of everything that a copy has to get right."""

    __slots__ = ("__dict__", "slot", "unset")

    def __init__(self):
        self.board = np.arange(6.0)
        self.row = self.board.reshape(2, 3)[1]
        self.list = [1, [2, 3], {"a": {4}}]
        self.alias = self.list[1]
        self.me = self
        self.slot = [5]
        self.queue = collections.deque([1, 2], maxlen=3)
        self.table = collections.defaultdict(list, {"x": [1]})
        self.ordered = collections.OrderedDict(b=[1], a=[2])
        self.pair = (1, [6])
        self.empty = np.array(3)
        self.objects = np.array([[1], "x", None], object)
        self.memory = memoryview(self.board.data)
        self.draws = np.random.default_rng(3)
        self.draw = self.draws.random
        self.bound = self.push
        self.part = functools.partial(self.push, 9)
        count = 0

        def counted():
            nonlocal count
            count += 1
            self.list.append(count)
            return count

        self.counted = counted

    def push(self, item):
        self.list.append(item)

    def change(self):
        self.board[3] = -1
        self.row[1] = -2
        self.alias.append(99)
        self.list[2]["a"].add(5)
        self.slot.append(1)
        self.unset = 1
        self.queue.extend([3, 4])
        self.table["y"].append(2)
        self.ordered["c"] = 1
        self.ordered.move_to_end("b")
        self.pair[1].clear()
        self.empty[...] = 7
        self.memory[5] = 1.5
        self.objects[0].append(2)
        self.objects[1] = "y"
        self.bound(7)
        self.part()
        self.counted()
        self.new = self.board
        self.board = None


def looks(things):
    return (
        things.row.tolist(),
        repr(things.list),
        things.alias is things.list[1],
        things.me is things,
        things.slot,
        hasattr(things, "unset"),
        list(things.queue),
        dict(things.table),
        list(things.ordered.items()),
        things.pair,
        int(things.empty),
        things.objects.tolist(),
        None if things.board is None else things.board.tolist(),
        hasattr(things, "new"),
    )


def test_a_copy_is_brought_back_whatever_was_done_to_it():
    source = Things()
    before = copy.deepcopy(looks(source))
    made = Copy(source)
    thing = made.env
    assert looks(thing) == before
    assert thing.bound.__self__ is thing
    assert thing.draw.__self__ is thing.draws is not source.draws
    for _ in range(3):
        thing.change()
        assert looks(thing) != before
        assert looks(source) == before
        made.restore()
        assert looks(thing) == before
        thing.board[3] = 8
        assert thing.row[0] == 8  # still a view of the board
        made.restore()
        assert thing.counted() == 1  # so is what functions remember
        assert thing.list[-1] == 1
        made.restore()


def test_a_constant_dictionary_is_copied_with_what_it_shows():
    table = {"a": [1]}
    made = Copy([table, types.MappingProxyType(table)])
    made.env[0]["a"].append(2)
    assert made.env[1] == {"a": [1, 2]}
    made.restore()
    assert made.env[1] == table == {"a": [1]}


def test_masks_of_pygame_are_brought_back_and_fonts_are_shared():
    freetype, pygame = pytest.importorskip("pygame.freetype"), pytest.importorskip("pygame")
    freetype.init()
    source = [pygame.Mask((3, 3)), freetype.Font(None)]
    source[0].set_at((1, 1))
    made = Copy(source)
    for _ in range(2):
        made.env[0].set_at((0, 2))
        made.env[0].set_at((1, 1), 0)
        assert made.env[0].count() == 1
        assert digest(made.env) != digest(source)
        made.restore()
        assert digest(made.env) == digest(source)
        assert made.env[0].get_at((1, 1)) == made.env[0].count() == source[0].count() == 1
    assert made.env[1] is source[1]


class Buffers:
    """Arrays that look into other memory than NumPy's."""

    def __init__(self):
        self.numbers = (ctypes.c_int * 4)(3, 1, 2, 0)
        self.part = np.ctypeslib.as_array(self.numbers)[1:3]
        self.table = array.array("i", [1, 2, 3])
        self.column = np.frombuffer(self.table, np.int32)[1:]
        self.fixed = np.frombuffer(b"abcd", np.uint8)
        self.records = np.zeros(3, [("at", int), ("turned", int)])
        self.record, self.later = self.records[1], self.records[1:][1]
        self.recorded = np.rec.array(self.records.copy())
        self.first = self.recorded[0]
        self.alone = np.void(b"abc")
        self.bytes = bytearray(4)
        self.shown = np.frombuffer(self.bytes, np.uint8)[1:]
        self.deep = np.zeros(2, [("own", [("at", int)]), ("cells", int, (2,))])
        self.inner, self.cells = self.deep[1]["own"], self.deep[1]["cells"]


def test_arrays_look_into_what_was_copied_with_them():
    buffers = Buffers()
    made = Copy(buffers)
    for _ in range(2):
        made.env.numbers[1] = 9
        made.env.column[0] = 8
        made.env.record["at"], made.env.later["turned"], made.env.first["at"] = 5, 6, 7
        assert made.env.records.tolist() == [(0, 0), (5, 0), (0, 6)]
        assert made.env.recorded.at[0] == 7
        assert not any(map(any, [*buffers.records.tolist(), *buffers.recorded.tolist()]))
        assert (made.env.part[0], made.env.table[1]) == (9, 8)
        assert (buffers.numbers[1], buffers.part[0], buffers.table[1], buffers.column[0]) == (1, 1, 2, 2)
        assert bytes(made.env.fixed) == b"abcd"
        made.env.shown[0], made.env.inner["at"], made.env.cells[1] = 4, 3, 2
        assert made.env.bytes == bytes([0, 4, 0, 0])
        assert made.env.deep.tolist()[1][0] == (3,)
        assert made.env.deep["cells"].tolist() == [[0, 0], [0, 2]]
        assert not any((*buffers.bytes, *buffers.deep["cells"].flat, buffers.inner["at"]))
        made.restore()
        assert not any((*made.env.bytes, *made.env.cells, made.env.inner["at"]))
        assert made.env.record["at"] == made.env.later["turned"] == made.env.recorded.at[0] == made.env.first["at"] == 0
        assert (made.env.numbers[1], made.env.part[0], made.env.table[1], made.env.column[0]) == (1, 1, 2, 2)


def test_a_copy_of_a_copy_is_apart_from_both():
    first = Copy(Things())
    second = Copy(first.env)
    before = copy.deepcopy(looks(first.env))
    second.env.change()
    assert looks(first.env) == before


class Opaque:
    """Holds what nobody can copy."""

    def __init__(self):
        self.turns = (turn for turn in range(3))


class WithIterator:
    """Holds what only compiled code can look into, in two places."""

    def __init__(self):
        self.turns = iter([1, 2, 3])
        self.same = [self.turns]


def test_what_cannot_be_looked_into_is_deep_copied_each_time():
    source = WithIterator()
    made = Copy(source)
    for _ in range(2):
        assert next(made.env.turns) == 1
        assert next(made.env.same[0]) == 2
        made.restore()
    assert next(source.turns) == 1


def test_what_cannot_be_copied_is_named():
    with pytest.raises(TypeError, match=r"it holds a builtins.generator \("):
        Copy(Opaque())


class _Nameless(type):
    """Makes classes that have no module, as SWIG does."""

    @property
    def __module__(cls):
        raise AttributeError("__module__")


class SwigObject(metaclass=_Nameless):
    """Cannot be copied, like what Box2D's worlds hold."""

    __deepcopy__ = None

    def __reduce_ex__(self, protocol):
        raise TypeError("cannot pickle 'SwigObject' object")


def test_objects_of_swig_are_named():
    env = Walk()
    env.world = SwigObject()
    env.reset(seed=0)
    said = r"Walk cannot be copied: .*it holds a SwigObject \(cannot pickle.*remember\(env\).*clone_state"
    with pytest.raises(TypeError, match=said):
        mcts().act(env)
    with pytest.raises(TypeError, match="no key can be made of a SwigObject"):
        digest(SwigObject())


def test_every_environment_at_hand_is_copied_with_its_chance():
    for env_id in (
        "CartPole-v1",
        "MountainCar-v0",
        "Acrobot-v1",
        "FrozenLake-v1",
        "CliffWalking-v1",
        "Blackjack-v1",
        TAXI,
    ):
        env = playing(env_id, seed=5)
        twin = Copy(env.unwrapped).env
        env.action_space.seed(1)
        for _ in range(30):
            action = int(env.action_space.sample())
            seen, mine = env.unwrapped.step(action), twin.step(action)
            assert np.array_equal(seen[0], mine[0])
            assert seen[1:4] == mine[1:4]
            if seen[2]:
                break


def test_pettingzoo_environments_come_back_as_they_were():
    for module in (tictactoe, connect_four):
        env = module.env()
        env.reset(seed=1)
        for action in (3, 4, 0):
            env.step(action)
        inner = env.unwrapped
        made = Copy(inner)
        observed = inner.observe("player_1" if module is tictactoe else "player_0")["observation"]
        assert digest(made.env) == digest(inner)
        made.env.step(2)
        assert digest(made.env) != digest(inner)
        made.restore()
        assert digest(made.env) == digest(inner)
        assert np.array_equal(made.env.observe(inner.possible_agents[0])["observation"], observed)
        assert made.env.agent_selection == inner.agent_selection


def test_digests_tell_states_apart_and_nothing_else():
    env = playing("FrozenLake-v1", seed=1)
    same = playing("FrozenLake-v1", seed=2, render_mode="ansi")
    assert digest(env.unwrapped) == digest(same.unwrapped)
    env.unwrapped.s = 5
    assert digest(env.unwrapped) != digest(same.unwrapped)
    assert digest(-1) != digest(-2)  # whose hashes are equal
    assert digest({1, "a", (2, 3)}) == digest({(2, 3), "a", 1})
    assert digest(range(2)) != digest(range(3))
    same.unwrapped.s = 5
    step, same_step = env.unwrapped.step, same.unwrapped.step  # as phases are kept
    assert digest(step) == digest(same_step) != digest(env.unwrapped.reset)
    assert digest(Walk) != digest(Things)
    large = np.zeros(10_000)
    assert digest(large) == digest(large.copy()) != digest(large + 1)
    kind = collections.namedtuple("Pair", "at draws")
    assert digest(kind(1, np.random.default_rng(1))) == digest(kind(1, np.random.default_rng(2))) != digest(kind(2, 3))


def test_an_environment_that_was_not_reset_is_told_so():
    class Late(Walk):
        def __init__(self):
            super().__init__()
            del self.at

    with pytest.raises(TypeError, match=r"^Late has no attribute 'at': call reset\(\) first, if it was not; Late"):
        mcts().act(Late())


class Drawn(Walk):
    """Steps by a generator of PyTorch's, deep inside."""

    def __init__(self, generator):
        super().__init__()
        self.inside = {"chance": (generator,)}

    def step(self, action):
        (generator,) = self.inside["chance"]
        self.at += 1
        return int(torch.randint(6, (1,), generator=generator)), 0.0, self.at >= 5, False, {}


@pytest.mark.skipif(torch is None, reason="PyTorch is not installed")
def test_generators_of_pytorch_are_copied_and_seeded_anew():
    env = Drawn(torch.Generator().manual_seed(3))
    env.reset(seed=0)
    before = env.inside["chance"][0].get_state()
    made, other = Copy(env), Copy(env)
    (mine,), (theirs,) = made.env.inside["chance"], other.env.inside["chance"]
    assert mine is not theirs
    assert torch.equal(mine.get_state(), before)
    shown = []
    for seed in (1, 1, 2):
        made.restore()
        made.seed(seed)
        shown.append([made.env.step(0)[0] for _ in range(20)])
    assert shown[0] == shown[1] != shown[2]
    assert torch.equal(theirs.get_state(), before)
    assert any(found is mine for found in drawn_from(made.env))
    assert mcts(20).search(env).copies.means == FAST
    assert torch.equal(env.inside["chance"][0].get_state(), before)


def test_what_compiled_code_makes_is_copied_by_its_own_means():
    env = Walk()
    env.settings = types.SimpleNamespace(chance=np.random.default_rng(0), seen=[1])
    env.reset(seed=0)
    copied = Copy(env)
    assert copied.opaque
    assert copied.env.settings.seen is not env.settings.seen
    assert copied.env.settings.chance in copied.generators


class Labelled:
    """A table that is an array when asked, with labels beside, as those of pandas."""

    def __init__(self, values, labels):
        self.values, self.axes = values, [labels]

    def __array__(self, dtype=None, copy=None):
        return np.array([*(value + 0.0 for value in self.values), "last"], object)  # numbers made anew


def test_tables_of_objects_are_told_apart_by_what_they_hold():
    tables = [Labelled([place / 2], ["me"]) for place in range(50)]
    assert len(set(map(digest, tables))) == 50
    assert [digest(table) for table in tables] == [digest(copy.deepcopy(table)) for table in tables]
    assert digest(Labelled([0.5], ["me"])) != digest(Labelled([0.5], ["you"]))


class Legal(spaces.Discrete):
    """A space that knows what was chosen last."""

    last = -1


class Twice(Walk):
    """Pays for each step, but not where the second action follows itself, which its action space keeps."""

    def __init__(self):
        super().__init__()
        self.action_space = Legal(2)

    def step(self, action):
        again = action == self.action_space.last == 1
        self.action_space.last = action
        shown, _, over, cut, said = super().step(action)
        return shown, float(not again), over, cut, said


def test_what_a_space_of_ones_own_holds_is_brought_back_and_tells_states_apart():
    env = Twice()
    env.reset(seed=0)
    copied = Copy(env)
    before = digest(env)
    assert digest(copied.env) == before
    copied.env.step(1)
    assert digest(copied.env.action_space) != digest(env.action_space)
    copied.restore()
    assert digest(copied.env) == before
    assert env.action_space.last == -1
    assert mcts(60).search(env).values.max() > 4.5


class Dice(random.Random):
    """Chance that counts how often it was asked."""

    def __init__(self, seed, sides):
        super().__init__(seed)
        self.sides, self.rolls = sides, []

    def roll(self):
        self.rolls.append(self.randrange(self.sides))
        return self.rolls[-1]


def test_chance_of_a_class_of_ones_own_keeps_what_it_holds():
    dice = Dice(1, 6)
    dice.roll()
    copied = Copy([dice, dice])
    mine, same = copied.env
    assert mine is same
    assert (mine.sides, mine.rolls) == (6, dice.rolls)
    rolled = [mine.roll() for _ in range(9)]
    copied.restore()
    assert mine.rolls == dice.rolls[:1]
    assert [dice.roll() for _ in range(9)] == rolled
    copied.seed(1)
    first = [mine.roll() for _ in range(9)]
    copied.restore()
    copied.seed(1)
    assert [mine.roll() for _ in range(9)] == first


def test_what_draws_from_generators_of_all_still_does_in_a_copy():
    held = [random.random, np.random.rand]
    copied = Copy([held])
    assert [each.__self__ for each in copied.env[0]] == [each.__self__ for each in held]
    assert copied.generators == drawn_from(copied.env) == []
