"""Compiled code that comes with a wheel: what is loaded from it, and when it is left alone."""

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import numba
import numpy as np
import pytest

from mcts_envs.core.compiling import cache

ROOT = Path(__file__).parents[2]
SOURCE = """
from numba import types
from mcts_envs.core.kernel import kernel
FACTOR = 2
@kernel(types.int64(types.int64))
def times(value):
    return FACTOR * value
"""


def run(code, *paths, **environment):
    """Run a program with some folders to import from; return what it printed and complained of."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), **environment}
    environment["PYTHONDONTWRITEBYTECODE"] = "1"  # which Python would take for that of a file edited within a second
    command = [sys.executable, "-P", "-W", "ignore", "-c", code]  # -P: not from the current folder
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.strip(), done.stderr


def ship(folder, **processor):
    """Write a module of one kernel, and compile it into the folder that is to be the shipped one."""
    (folder / "own.py").write_text(SOURCE)
    code = "import own; print(own.times(2))"
    assert run(code, ROOT, folder, MCTS_ENVS_CACHE_DIR=str(folder / "shipped"), **processor)[0] == "4"
    for file in (folder / "shipped").rglob("*.inner"):  # a wheel takes along what runs, and not what it was made of
        file.unlink()


@pytest.fixture(scope="module")
def once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("once")
    ship(folder, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    return folder


@pytest.fixture
def shipped(once, tmp_path):
    """A copy, elsewhere, of a module and what was compiled of it for every processor."""
    return Path(shutil.copytree(once, tmp_path, dirs_exist_ok=True))


def play(folder, before=""):
    """Call the kernel with 4 and an empty cache; return what it gave, and whether something was compiled."""
    code = f"""
from pathlib import Path
from mcts_envs.core.compiling import cache
cache._SHIPPED = Path({str(folder / "shipped")!r})
{before}
import own
print(own.times(4))
"""
    printed, said = run(code, ROOT, folder, MCTS_ENVS_CACHE_DIR=str(folder / "cache"))
    return int(printed), "compiling own" in said


def test_it_is_loaded_and_nothing_is_written(shipped):
    assert play(shipped) == (8, False)
    assert not (shipped / "cache").exists()


def test_an_edited_source_is_compiled(shipped):
    (shipped / "own.py").write_text(SOURCE.replace("FACTOR = 2", "FACTOR = 3"))
    assert play(shipped) == (12, True)


@pytest.mark.parametrize(
    ("before", "gives"),
    [
        ("import own; own.FACTOR = 5", 20),
        ("import numba; numba.__version__ = '0.0.1'", 8),
        pytest.param("import numpy; numpy.__version__ = '0.0.1'", 8, marks=pytest.mark.slow),
        pytest.param("import sys; sys.implementation.cache_tag = 'cpython-399'", 8, marks=pytest.mark.slow),
    ],
    ids=["another constant", "another Numba", "another NumPy", "another Python"],
)
def test_what_it_was_not_compiled_with_is_compiled(shipped, before, gives):
    assert play(shipped, before) == (gives, True)


@pytest.mark.slow
def test_code_for_one_processor_is_not_for_all(tmp_path):
    ship(tmp_path)
    assert play(tmp_path) == (8, True)


@pytest.mark.slow
def test_a_damaged_file_is_compiled_again(shipped):
    (file,) = (shipped / "shipped").rglob("*.kernel")
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    assert play(shipped) == (8, True)


def test_a_checkout_has_none_and_a_wheel_takes_it_along():
    assert not cache._SHIPPED.exists()
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["mcts_envs"]
    assert f"{cache._SHIPPED.name}/*/*.kernel" in packed


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("make") is None, reason="the wheel is built by make")
def test_what_is_installed_from_the_wheel_compiles_nothing(tmp_path):
    """Build it, unpack it, and play every environment from it with an empty cache."""
    copy, installed = tmp_path / "copy", tmp_path / "installed"
    kept = shutil.ignore_patterns(".*", "build", "dist", "results", "runs", "__pycache__")
    shutil.copytree(ROOT, copy, ignore=kept)
    command = ["make", "wheel", "RL=", f"BIN={Path(sys.executable).parent}"]
    said = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=True).stdout
    assert f"numba=={numba.__version__} numpy=={np.__version__}" in said
    (wheel,) = (copy / "dist").iterdir()
    zipfile.ZipFile(wheel).extractall(installed)
    code = """
import gymnasium as gym, mcts_envs, agents
from mcts_envs.registry import ENTRIES
for id in ENTRIES:
    env = gym.make(id)
    env.reset(seed=1)
    env.step(agents.make("best", simulations=50).act(env))
    print(id)
print(mcts_envs.__file__)
"""
    printed, said = run(code, installed, MCTS_ENVS_CACHE_DIR=str(tmp_path / "cache"))
    assert printed.splitlines()[-1] == str(installed / "mcts_envs" / "__init__.py")
    assert "compiling" not in said
    assert not (tmp_path / "cache").exists()
