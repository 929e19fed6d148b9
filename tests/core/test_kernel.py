"""The decorator under all kernels: interpreted forms, references, tables and the cache on disk."""

import os
import pickle
import subprocess
import sys
import textwrap
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gymnasium as gym
import numba
import numpy as np
import pytest
from numba import types
from numba.core.errors import NumbaError
from numba.core.serialize import dumps as numba_pickle

from mcts_envs.core import rng, sources
from mcts_envs.core.cache import cache_directory
from mcts_envs.core.contract import ACTIVE, Game, state_dtype
from mcts_envs.core.kernel import (
    count_bits,
    function_table,
    interpreted,
    kernel,
    lowest,
    record,
    reference,
    resolve,
)

ROOT = Path(__file__).parents[2]
SIGNATURE = types.int64(types.int64)
STATE = state_dtype([("board", np.uint64)])


def python(code, **environment):
    """Run a program in a process of its own; return what it printed."""
    kept = {key: os.environ[key] for key in ("PATH", "MCTS_ENVS_CACHE_DIR", "HOME") if key in os.environ}
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)]
    whole = {**kept, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=whole).stdout.strip()


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


class TestCache:
    def test_a_function_without_a_file_is_not_cached(self):
        assert cache_directory(Path("<stdin>")) is None
        code = """
            from numba import types
            from mcts_envs.core.kernel import kernel
            @kernel(types.int64(types.int64))
            def double(value):
                return 2 * value
            print(double(4))
            """
        assert python(code) == "8"

    def test_an_edit_gives_another_directory(self, tmp_path):
        source, helper, other = tmp_path / "game.py", tmp_path / "helper.py", tmp_path / "other.py"
        source.write_text("from helper import (\n    b,  # a number\n)\n")
        helper.write_text("from deeper import c\nb = 1\n")
        first = cache_directory(source)
        other.write_text("import nothing\n")
        assert cache_directory(source) == first
        helper.write_text("from deeper import c\nb = 22\n")
        second = cache_directory(source)
        assert first != second
        (tmp_path / "deeper.py").write_text("c = 1\n")
        assert second != cache_directory(source)

    def test_the_sources_of_a_module_are_those_that_it_imports(self, monkeypatch):
        seen = []
        monkeypatch.setattr(sources, "_digest", lambda files: seen.extend(files) or "")
        sources.closure_digest(ROOT / "mcts_envs" / "games" / "bomber_grid" / "rules" / "kernels.py")
        names = {file.relative_to(ROOT).as_posix() for file in seen}
        assert {
            "mcts_envs/games/bomber_grid/rules/bits.py",
            "mcts_envs/core/rng.py",
            "mcts_envs/core/kernel.py",
        } <= names
        assert not [name for name in names if "draw" in name or "render" in name or "football" in name]

    def test_relative_imports_are_followed(self, tmp_path):
        (tmp_path / "game" / "deep").mkdir(parents=True)
        for name in ("game/__init__.py", "game/deep/__init__.py", "game/tables.py", "game/deep/bits.py"):
            (tmp_path / name).write_text("")
        source = tmp_path / "game" / "deep" / "rules.py"
        source.write_text("from . import bits\nfrom ..tables import SIZE\n")
        for name in ("game/tables.py", "game/deep/bits.py"):
            before = cache_directory(source)
            (tmp_path / name).write_text("SIZE = 3\n")
            assert cache_directory(source) != before

    def test_versions_belong_to_the_key(self, tmp_path, monkeypatch):
        (tmp_path / "game.py").write_text("a = 1\n")
        found = {cache_directory(tmp_path / "game.py")}
        monkeypatch.setattr(np, "__version__", "0.0.1")
        found.add(cache_directory(tmp_path / "game.py"))
        monkeypatch.setattr("numba.__version__", "0.0.1")
        found.add(cache_directory(tmp_path / "game.py"))
        assert len(found) == 3

    def test_odd_files_beside_the_source_do_no_harm(self, tmp_path):
        (tmp_path / "game.py").write_text("a = 1\n")
        (tmp_path / ".#game.py").symlink_to(tmp_path / "nowhere")
        (tmp_path / "folder.py").mkdir()
        assert cache_directory(tmp_path / "game.py") is not None

    @pytest.mark.skipif(os.name == "nt", reason="directories are read-only in another way there")
    def test_a_home_that_cannot_be_written_to(self, tmp_path):
        blocked = tmp_path / "file"
        blocked.write_text("")
        code = """
            from pathlib import Path
            from mcts_envs.core import cache
            print(cache.cache_directory(Path(cache.__file__)))
            """
        found = python(code, MCTS_ENVS_CACHE_DIR=str(blocked / "below"), TMPDIR=str(tmp_path))
        assert Path(found).parent == tmp_path / f"mcts_envs-{os.getuid()}"
        assert Path(found).parent.stat().st_mode & 0o077 == 0

    def test_only_own_directories_that_nobody_uses_are_dropped(self, tmp_path):
        stale, foreign, mixed = (
            tmp_path / "a.b-0123456789abcdef",
            tmp_path / "precious",
            tmp_path / "c-0123456789abcdef",
        )
        for folder in (stale, foreign, mixed):
            folder.mkdir()
        (stale / "step-0123456789abcdef.kernel").touch()
        (foreign / "thesis.txt").write_text("x")
        (mixed / "thesis.txt").write_text("x")
        for folder in (stale, foreign, mixed):
            os.utime(folder, (0, 0))
        code = """
            from pathlib import Path
            from mcts_envs.core import cache
            print(cache.cache_directory(Path(cache.__file__)))
            """
        found = Path(python(code, MCTS_ENVS_CACHE_DIR=str(tmp_path)))
        kept = {entry.name for entry in tmp_path.iterdir() if "mcts_envs" not in entry.name}
        assert kept == {"precious", mixed.name, found.name}
        assert (foreign / "thesis.txt").exists()
        assert (mixed / "thesis.txt").exists()

    def run_small(self, tmp_path, before=""):
        """Run a program with one kernel in a cache of its own; return what it printed and complained of."""
        (tmp_path / "small.py").write_text(
            "from numba import types\nfrom mcts_envs.core.kernel import kernel\n"
            "@kernel(types.int64(types.int64))\ndef double(value):\n    return 2 * value\n"
        )
        environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
        environment |= {"MCTS_ENVS_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-W", "ignore", "-c", f"{before}\nimport small; print(small.double(4))"]
        run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        return run.stdout.strip(), run.stderr

    def kept(self, tmp_path):
        (file,) = (tmp_path / "cache").glob("small-*/double-*.kernel")
        return file

    def test_compiled_once_and_said_once(self, tmp_path):
        first, second = self.run_small(tmp_path), self.run_small(tmp_path)
        assert first == ("8", "mcts_envs: compiling small for this machine, once (10 to 60 seconds).\n")
        assert second == ("8", "")

    def run_file(self, tmp_path, text, code):
        """Write a module with kernels of one's own, and run a program on it in a process and a cache of its own."""
        (tmp_path / "own.py").write_text(
            "import os\nfrom numba import types\nfrom mcts_envs.core.kernel import kernel\n" + textwrap.dedent(text)
        )
        path = f"{ROOT}{os.pathsep}{tmp_path}"
        return python(
            code, PYTHONPATH=path, MCTS_ENVS_CACHE_DIR=str(tmp_path / "cache"), SIZE=os.environ.get("SIZE", "")
        )

    def test_what_was_edited_after_its_import_is_not_kept_as_the_new(self, tmp_path):
        text = """
            @kernel(types.int64(types.int64))
            def plus(value):
                return value + 1000
            """
        edit = """
            import own, pathlib
            file = pathlib.Path(own.__file__)
            file.write_text(file.read_text().replace("1000", "2000"))
            print(own.plus(1))
            """
        assert self.run_file(tmp_path, text, edit) == "1001"
        assert self.run_file(tmp_path, text.replace("1000", "2000"), "import own; print(own.plus(1))") == "2001"

    def test_globals_that_are_no_part_of_the_source_belong_to_the_key(self, tmp_path, monkeypatch):
        text = """
            SIZE = int(os.environ["SIZE"])
            @kernel(types.int64(types.int64))
            def inner(value):
                return value + SIZE
            @kernel(types.int64(types.int64))
            def outer(value):
                return inner(value)
            """
        for size in ("5", "9"):
            monkeypatch.setenv("SIZE", size)
            assert self.run_file(tmp_path, text, "import own; print(own.outer(1))") == str(1 + int(size))

    def test_closures_over_kernels_are_kept(self, tmp_path):
        text = """
            @kernel(types.int64(types.int64))
            def add(value):
                return value + 1
            def times(inner, factor):
                @kernel(types.int64(types.int64))
                def outer(value):
                    return inner(value) * factor
                return outer
            """
        code = "import own; print(own.times(own.add, 3)(1), own.times(own.add, 4)(1))"
        for _ in range(2):
            assert self.run_file(tmp_path, text, code) == "6 8"
            assert len(list((tmp_path / "cache").rglob("*.kernel"))) == 3

    @pytest.mark.parametrize("damage", ["empty", "cut", "changed", "garbage"])
    def test_a_damaged_file_is_compiled_again(self, tmp_path, damage):
        self.run_small(tmp_path)
        file = self.kept(tmp_path)
        whole = file.read_bytes()
        broken = {"empty": b"", "cut": whole[:100], "changed": whole[:-9] + b"x" + whole[-8:], "garbage": b"\x80" * 99}
        file.write_bytes(broken[damage])
        printed, said = self.run_small(tmp_path)
        assert printed == "8"
        assert ("is damaged; it is compiled again" in said) == (damage != "empty")
        assert file.read_bytes() != broken[damage]
        assert self.run_small(tmp_path) == ("8", "")

    @pytest.mark.skipif(os.name == "nt", reason="limits of files are set in another way there")
    def test_a_full_disk_costs_a_compilation_and_no_more(self, tmp_path):
        full = (
            "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
            "resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))"
        )
        printed, said = self.run_small(tmp_path, full)
        assert printed == "8"
        assert said.count("compiled code cannot be kept") == 1
        assert "MCTS_ENVS_CACHE_DIR names another directory" in said
        assert not list((tmp_path / "cache").rglob("*.tmp"))
        assert not list((tmp_path / "cache").rglob("*.kernel"))

    @pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="needs to make a directory of another user")
    def test_a_temporary_directory_of_another_user_is_not_trusted(self, tmp_path):
        trap = tmp_path / f"mcts_envs-{os.getuid()}"
        trap.mkdir()
        os.chown(trap, 12345, 12345)
        trap.chmod(0o777)
        code = """
            from pathlib import Path
            from mcts_envs.core import cache
            print(cache.cache_directory(Path(cache.__file__)))
            """
        assert python(code, MCTS_ENVS_CACHE_DIR="/proc/nowhere", TMPDIR=str(tmp_path)) == "None"

    def test_the_global_setting_of_numba_is_left_alone(self):
        import numba

        before = numba.config.CACHE_DIR

        @kernel(SIGNATURE)
        def same(value):
            return value

        assert before == numba.config.CACHE_DIR
        assert same(np.int64(3)) == 3
