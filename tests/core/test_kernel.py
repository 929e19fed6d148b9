"""The decorator under all kernels: interpreted forms, references and tables."""

import os
import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import gymnasium as gym
import numpy as np
import pytest
from numba import types
from numba.core.errors import NumbaError
from numba.core.serialize import dumps as numba_pickle

from mcts_envs.core import rng
from mcts_envs.core.contract import Game, blank, state_dtype
from mcts_envs.core.kernel import (
    count_bits,
    function_table,
    interpreted,
    kernel,
    lowest,
    record,
    record_dtype,
    reference,
    resolve,
    row,
)
from tests.core.processes import python

SIGNATURE = types.int64(types.int64)
STATE = state_dtype([("board", np.uint64)])


@pytest.mark.parametrize("bits", [0, 1, 2, 12, 2**62, -1, -(2**63), 0x5555])
def test_bit_primitives_compiled_and_interpreted(bits):
    @kernel(types.UniTuple(types.int64, 2)(types.int64))
    def both(value):
        return lowest(value), count_bits(value)

    expected = f"{bits & 0xFFFFFFFFFFFFFFFF:064b}"
    trailing = len(expected) - len(expected.rstrip("0"))
    assert both(bits) == (trailing, expected.count("1"))
    assert interpreted(both)(bits) == both(bits)


def test_interpreted_reaches_closures_and_modules():
    @kernel(SIGNATURE)
    def inner(value):
        return value + 1

    @kernel()
    def outer(value, stream):
        return inner(value) + rng.below(stream, 1000)

    plain = interpreted(outer)
    assert plain(1, rng.new_stream(4)) == outer(1, rng.new_stream(4))
    assert not hasattr(plain.__closure__[0].cell_contents, "py_func")
    assert not hasattr(plain.__globals__["rng"].below, "py_func")
    assert hasattr(rng.below, "py_func")
    assert interpreted(len) is len


def test_references_name_kernels_and_nothing_else():
    assert resolve(reference(rng.below)) is rng.below
    assert isinstance(reference(rng.below), str)
    assert reference(len) is len
    assert resolve("ucb1") == "ucb1"


KINDS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8")
SCALARS = record_dtype([*((kind, kind) for kind in KINDS), ("u8", "u8"), ("f4", "f4"), ("cells", "u1", 3)])
RAW = types.uint8[::1]


def extreme(end):
    """Return a record in bytes whose integers are the least, or the greatest, that fit, and its view."""
    raw = np.zeros(SCALARS.itemsize, np.uint8)
    view = record(raw, SCALARS)
    for kind in (*KINDS, "u8"):
        setattr(view, kind, getattr(np.iinfo(kind), end))
    view.f4, view.cells[:] = 0.5, 200
    return raw, view


class TestRecords:
    """Integer fields are stored as narrow as they say, and read as 64 bits."""

    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("end", ["min", "max"])
    def test_reading_gives_64_bits(self, kind, end):
        @kernel()
        def read(raw):
            return record(raw, SCALARS)[kind]

        @kernel()
        def read_row(raw):
            return row(raw, 0, SCALARS)[kind]

        raw, _ = extreme(end)
        for function in (read, read_row):
            assert function(raw) == interpreted(function)(raw) == getattr(np.iinfo(kind), end)
            assert isinstance(interpreted(function)(raw), np.int64)
            assert [result.signature.return_type for result in function.overloads.values()] == [types.int64]

    def test_other_fields_keep_their_type(self):
        @kernel()
        def read(raw):
            s = record(raw, SCALARS)
            return s.u8, s.f4, s.cells[1]

        raw, view = extreme("max")
        assert read(raw) == (2**64 - 1, 0.5, 200)
        (result,) = read.overloads.values()
        assert tuple(result.signature.return_type) == (types.uint64, types.float32, types.uint8)
        assert [type(part) for part in interpreted(read)(raw)] == [np.uint64, np.float32, np.uint8]
        assert np.shares_memory(view.cells, raw)

    def test_sums_and_differences_do_not_overflow(self):
        @kernel(types.UniTuple(types.int64, 4)(RAW))
        def compute(raw):
            s = record(raw, SCALARS)
            return s.u1 + s.u1, 1 - s.u1, s.u2 * s.u4, (s.u1 - s.u2) // 2

        raw, _ = extreme("max")
        assert compute(raw) == interpreted(compute)(raw) == (510, -254, 65_535 * (2**32 - 1), -32_640)

    @pytest.mark.parametrize("end", ["min", "max"])
    def test_writing_stores_as_many_bytes_as_the_field_has(self, end):
        @kernel(types.void(RAW))
        def write(raw):
            s = record(raw, SCALARS)
            s.u1 += 1
            s.u2 -= 1
            s.u4 = s.u2 - 1
            s.cells[0] = s.u1 + 7

        compiled, plain = extreme(end)[0], extreme(end)[0]
        write(compiled)
        interpreted(write)(plain)
        assert compiled.tolist() == plain.tolist()
        least = end == "min"
        view = record(compiled, SCALARS)
        assert (view.u1, view.u2) == ((1, 65_535) if least else (0, 65_534))  # bytes begin anew
        assert (view.i1, view.i2) == ((-128, -32_768) if least else (127, 32_767))  # what lies beside them stays
        assert (view.u4, view.cells[0]) == ((65_534, 8) if least else (65_533, 7))

    def test_records_are_handed_to_other_kernels(self):
        @kernel()
        def half(s):
            return s.u1 / 2

        @kernel(types.float64(RAW))
        def halved(raw):
            return half(record(raw, SCALARS))

        raw, _ = extreme("max")
        assert halved(raw) == interpreted(halved)(raw) == 127.5

    def test_the_type_lays_out_as_plain_numpy_does_and_is_pickled(self):
        plain = np.dtype([(kind, kind) for kind in KINDS], align=True)
        made = record_dtype((kind, kind) for kind in KINDS)
        assert {**made.fields} == {**plain.fields}
        assert pickle.loads(pickle.dumps(made)).type is made.type

    def test_a_mistaken_name_is_an_error(self):
        _, view = extreme("max")
        with pytest.raises(AttributeError, match="no attribute 'turn'"):
            view.turn  # noqa: B018
        with pytest.raises(ValueError, match="no field of name turn"):
            view.turn = 3


class TestWhenNeeded:
    """Kernels are compiled, or loaded, when they are first needed."""

    def test_called(self):
        @kernel(SIGNATURE)
        def double(value):
            return 2 * value

        assert not double.overloads
        assert double(np.uint8(200)) == 400
        assert {result.signature for result in double.overloads.values()} <= {SIGNATURE}  # none if it was kept
        with pytest.raises(TypeError):
            double("four")

    def test_called_by_another(self):
        @kernel(SIGNATURE)
        def inner(value):
            return value + 1

        @kernel(SIGNATURE)
        def outer(value):
            return inner(np.uint8(value))

        assert outer(300) == 45
        assert {result.signature for result in inner.overloads.values()} <= {SIGNATURE}

    def test_calling_itself(self):
        @kernel(SIGNATURE)
        def factorial(value):
            return value * factorial(value - 1) if value > 1 else 1

        assert factorial(5) == 120

    def test_from_several_threads(self):
        @kernel(SIGNATURE)
        def double(value):
            return 2 * value

        with ThreadPoolExecutor(4) as threads:
            assert list(threads.map(double, range(20))) == list(range(0, 40, 2))

    def test_a_mistake_is_told_at_every_use(self):
        @kernel(SIGNATURE)
        def wrong(value):
            return value.nothing

        for _ in range(2):
            with pytest.raises(NumbaError, match="nothing"):
                wrong(3)

    def test_interrupted_while_numba_loads(self):
        code = """
            import signal
            from numba import types
            from numba.core import pythonapi
            from mcts_envs.core.kernel import kernel
            class Interrupted(dict):
                def __setitem__(self, kind, function):
                    super().__setitem__(kind, function)
                    if kind is types.UnicodeType:
                        signal.raise_signal(signal.SIGINT)
            pythonapi._boxers.functions = Interrupted(pythonapi._boxers.functions)
            @kernel(types.int64(types.int64))
            def double(value):
                return 2 * value
            try:
                double(4)
            except KeyboardInterrupt:
                print(double(4))
            """
        assert python(code) == "8"

    @pytest.mark.skipif(os.name == "nt", reason="timers interrupt in another way there")
    def test_interrupted_at_any_time(self):
        code = """
            import signal
            from numba import types
            from mcts_envs.core.kernel import kernel
            @kernel(types.int64(types.int64))
            def squares(value):
                total = 0
                for i in range(value):
                    total += i * i
                return total
            @kernel(types.int64(types.int64))
            def both(value):
                return squares(value) + squares(value + 1)
            def interrupt(*_):
                raise KeyboardInterrupt
            signal.signal(signal.SIGALRM, interrupt)
            found = None
            for hundredths in range(1, 200):
                try:
                    signal.setitimer(signal.ITIMER_REAL, hundredths / 100)
                    found = both(4)
                    signal.setitimer(signal.ITIMER_REAL, 0)
                    break
                except KeyboardInterrupt:
                    continue
            print(found, both(4))
            """
        assert python(code) == "44 44"

    @pytest.mark.slow
    def test_interrupted_wherever_llvm_is(self):
        # Between two lines of llvmlite code may have two owners; it would be freed twice.
        code = """
            import signal, sys
            from numba import types
            from mcts_envs.core.kernel import kernel
            lines = interrupted = 0
            def line(frame, event, argument):
                global lines
                lines += event == "line"
                if lines == place:
                    lines += 1
                    signal.raise_signal(signal.SIGINT)
                return line
            def call(frame, event, argument):
                return line if frame.f_globals["__name__"].startswith("llvmlite.binding") else None
            for place in range(1, 3000, 61):
                @kernel(types.int64(types.int64))
                def double(value):
                    return 2 * value
                lines = 0
                sys.settrace(call)
                try:
                    double(4)
                except KeyboardInterrupt:
                    interrupted += 1
                sys.settrace(None)
                assert double(4) == 8
            print(interrupted > 20)
            """
        assert python(code) == "True"

    def test_interrupted_between_two_kernels(self):
        code = """
            import signal
            from numba import types
            from mcts_envs.core.compiling import dispatcher
            from mcts_envs.core.kernel import kernel
            made, made_before = [], dispatcher.Compiled.add_overload
            def add_overload(self, result):
                made_before(self, result)
                made.append(self.__name__)
                if len(made) == 1:
                    signal.raise_signal(signal.SIGINT)
            dispatcher.Compiled.add_overload = add_overload
            @kernel(types.int64(types.int64))
            def one(value):
                return value + 1
            @kernel(types.int64(types.int64))
            def two(value):
                return one(one(value))
            @kernel(types.int64(types.int64))
            def three(value):
                return one(value) + two(value)
            try:
                three(4)
            except KeyboardInterrupt:
                print(made)
            print(three(4), made)
            """
        assert python(code) == "['one']\n11 ['one', 'two', 'three']"

    def test_copies_before_it_is_compiled(self):
        @kernel(SIGNATURE)
        def double(value):
            return 2 * value

        again = pickle.loads(numba_pickle(double))
        assert again(4) == 8

    def test_an_environment_needs_no_kernel_of_a_player(self):
        printed = python(
            """
            import gymnasium as gym, mcts_envs
            gym.make("mcts_envs/Football1-v0").reset(seed=1)
            from mcts_envs.games.football.players import scripted, values
            print(len(scripted.choose_scripted.overloads), len(values.evaluate_tutorial.overloads))
            """
        )
        assert printed == "0 0"


def test_a_table_refuses_another_signature():
    @kernel(types.int64(types.int64, types.int64))
    def two(a, b):
        return a

    with pytest.raises(TypeError, match=r"step has .*decorate it with @kernel\(STEP\)"):
        function_table({"step": two}, {"step": SIGNATURE})


@pytest.mark.parametrize("template", [np.zeros(1, STATE), np.zeros((), STATE), STATE, STATE.itemsize, None])
def test_a_template_without_blank_names_its_cure(template):
    with pytest.raises(TypeError, match=r"the template of one is .*; make it with blank\(STATE\)"):
        Game("one", 1, 1, template, *5 * [None])


@pytest.mark.parametrize("layout", [np.dtype([("cells", "u1", 42)]), [("cells", "u1", 42)], np.dtype("u1")])
def test_a_state_without_a_chance_header_names_its_cure(layout):
    with pytest.raises(TypeError, match=r"of what state_dtype\(\[...\]\) gives, not of "):
        blank(layout)


@pytest.mark.parametrize(
    "name",
    [
        "LaneDefense5x9",
        "Football1",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("LaneDefense3x3", "WallSurvival", "BomberTeam")),
    ],
)
def test_games_environments_and_planners_travel_to_other_processes(name, tmp_path):
    env = gym.make(f"mcts_envs/{name}-v0").unwrapped
    env.reset(seed=3)
    import agents

    agent = agents.make("mcts", simulations=40, seed=5)
    expected = agent.search(env).visits.tolist()
    agent.reseed(5)
    (tmp_path / "pickle").write_bytes(pickle.dumps((env.game, env, agent)))
    printed = python(
        f"""
        import pickle
        from mcts_envs.core.api.env import GameEnv
        game, env, agent = pickle.load(open({str(tmp_path / "pickle")!r}, "rb"))
        again = GameEnv(game=game)
        again.reset(seed=3)
        print(agent.search(env).visits.tolist(), again.clone_state()[:2] == env.clone_state()[:2])
        """
    )
    assert printed == f"{expected} True"


def test_longer_records_are_taken_by_inlined_kernels_where_warnings_are_errors():
    """Numba can take one record for another that begins alike, and warns where it does: no fault of the caller's."""

    @kernel()
    def doubled(s):
        return s.a + s.a

    @kernel()
    def read(s):
        return doubled(s)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for fields in ([("a", "u8")], [("a", "u8"), ("b", "u8")]):
            dtype = record_dtype(fields)
            assert read(record(np.zeros(dtype.itemsize, np.uint8), dtype)) == 0
