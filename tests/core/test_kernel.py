"""The decorator under all kernels: interpreted forms, references, tables, and what does not compile."""

import os
import pickle
import traceback
from concurrent.futures import ThreadPoolExecutor

import gymnasium as gym
import numba
import numpy as np
import pytest
from numba import types
from numba.core.errors import NumbaError
from numba.core.serialize import dumps as numba_pickle

from mcts_envs.core import rng
from mcts_envs.core.contract import ACTIVE, Game, state_dtype
from mcts_envs.core.kernel import count_bits, function_table, interpreted, kernel, lowest, record, reference, resolve
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


class TestWhenNeeded:
    """Kernels are compiled, or loaded, when they are first needed."""

    def test_called(self):
        @kernel(SIGNATURE)
        def double(value):
            return 2 * value

        assert not double.overloads
        assert double(np.uint8(200)) == 400
        assert [result.signature for result in double.overloads.values()] == [SIGNATURE]
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
        assert [result.signature for result in inner.overloads.values()] == [SIGNATURE]

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


def allocates(state):
    return int(np.zeros(3)[0]) + state.size


def misnames(state):
    return record(state, STATE).bord


def stores_an_exception(state):
    try:
        return state.size
    except ValueError as error:
        return error is None


@pytest.mark.parametrize(
    ("function", "message", "line"),
    [
        (allocates, "a kernel allocates nothing", "return int(np.zeros(3)[0]) + state.size"),
        (misnames, "its record has no field 'bord'", ""),
        (stores_an_exception, "Exception object cannot be stored", "except ValueError as error:"),
        (lambda state: state.shade, "Unknown attribute 'shade'", '(lambda state: state.shade, "Unknown'),
    ],
)
def test_what_does_not_compile_says_why_in_a_few_lines(function, message, line):
    with pytest.raises(NumbaError) as caught:
        kernel(ACTIVE)(function).ready()
    text = "".join(traceback.format_exception(caught.value))
    assert message in text
    assert f"kernel {function.__name__} does not compile" in text
    assert line in text
    assert "NUMBA_FULL_TRACEBACKS=1" in text
    assert len(text.splitlines()) < 15


def test_all_that_numba_says_can_be_asked_for(monkeypatch):
    monkeypatch.setattr(numba.config, "FULL_TRACEBACKS", 1)
    with pytest.raises(NumbaError, match="ol_np_zeros"):
        kernel(ACTIVE)(allocates).ready()


def test_a_decorator_without_brackets_names_its_cure():
    with pytest.raises(TypeError, match=r"@kernel stands without brackets above allocates; write @kernel\(STEP\)"):
        kernel(allocates)


@pytest.mark.parametrize("template", [np.zeros(1, STATE), np.zeros((), STATE), STATE, STATE.itemsize, None])
def test_a_template_without_blank_names_its_cure(template):
    with pytest.raises(TypeError, match=r"the template of one is .*; make it with blank\(STATE\)"):
        Game("one", 1, 1, template, *5 * [None])


@pytest.mark.parametrize("name", ["LaneDefense3x3", "LaneDefense5x9", "WallSurvival", "BomberTeam", "Football1"])
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
        from mcts_envs.core.env import GameEnv
        game, env, agent = pickle.load(open({str(tmp_path / "pickle")!r}, "rb"))
        again = GameEnv(game=game)
        again.reset(seed=3)
        print(agent.search(env).visits.tolist(), again.clone_state()[:2] == env.clone_state()[:2])
        """
    )
    assert printed == f"{expected} True"
