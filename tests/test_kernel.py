"""The decorator under all kernels: interpreted forms, references, tables and the cache on disk."""

import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from numba import types

from mcts_envs.core import rng
from mcts_envs.core.cache import cache_directory
from mcts_envs.core.kernel import (
    count_bits,
    function_table,
    interpreted,
    kernel,
    lowest,
    reference,
    resolve,
)

ROOT = Path(__file__).parents[1]
SIGNATURE = types.int64(types.int64)


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


def test_a_table_refuses_another_signature():
    @kernel(types.int64(types.int64, types.int64))
    def two(a, b):
        return a

    with pytest.raises(TypeError, match=r"step has .*decorate it with @kernel\(STEP\)"):
        function_table({"step": two}, {"step": SIGNATURE})


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
        source = tmp_path / "game.py"
        source.write_text("a = 1\n")
        first = cache_directory(source)
        (tmp_path / "helper.py").write_text("b = 1\n")
        second = cache_directory(source)
        assert first != second
        assert cache_directory(source) == second

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
        stale, foreign = tmp_path / "0123456789abcdef", tmp_path / "precious"
        for folder in (stale, foreign):
            folder.mkdir()
        (stale / "mcts_envs.core.rng.compiled").touch()
        (foreign / "thesis.txt").write_text("x")
        for folder in (stale, foreign):
            os.utime(folder, (0, 0))
        code = """
            from pathlib import Path
            from mcts_envs.core import cache
            print(cache.cache_directory(Path(cache.__file__)))
            """
        found = Path(python(code, MCTS_ENVS_CACHE_DIR=str(tmp_path)))
        assert {entry.name for entry in tmp_path.iterdir()} == {"precious", found.name}
        assert (foreign / "thesis.txt").exists()

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
