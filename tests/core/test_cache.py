"""The cache of compiled kernels on disk: what it is keyed by, and many processes at once."""

import importlib
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from numba import types

from mcts_envs.core.compiling import sources
from mcts_envs.core.compiling.cache import cache_directory
from mcts_envs.core.compiling.compiled import machine_of, machine_parts
from mcts_envs.core.compiling.meaning import meaning
from mcts_envs.core.kernel import kernel
from tests.core.processes import python

ROOT = Path(__file__).parents[2]
SIGNATURE = types.int64(types.int64)


class TestCache:
    @pytest.mark.slow
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
        assert python(f"__name__ = None\n{textwrap.dedent(code)}") == "8"  # as in a doctest

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
        names = {Path(file).relative_to(ROOT).as_posix() for file in seen}
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

    @pytest.mark.parametrize("name", ["game/rules.py", "game/deep/rules.py", "rules.py"])
    def test_imports_are_followed_without_a_package(self, tmp_path, name):
        source, constants = tmp_path / name, tmp_path / "game" / "tables.py"
        (tmp_path / "game" / "deep").mkdir(parents=True)
        source.write_text('"""Not from .......... import this."""\nfrom game.tables import SIZE\n')
        constants.write_text("SIZE = 3\n")
        before = cache_directory(source)
        constants.write_text("SIZE = 44\n")
        assert cache_directory(source) != before

    def test_where_the_package_is_installed_is_no_part_of_the_key(self, tmp_path, monkeypatch):
        found = set()
        for ours, theirs in (("a", "b"), ("b", "a")):
            own, folder = tmp_path / ours / "mcts_envs", tmp_path / theirs
            own.mkdir(parents=True)
            folder.mkdir(exist_ok=True)
            (own / "kernel.py").write_text("")
            (folder / "helper.py").write_text("")
            (folder / "game.py").write_text("import helper\nimport mcts_envs.kernel\n")
            monkeypatch.setattr(sources, "_OWN", own)
            found.add(sources.closure_digest(folder / "game.py"))
        assert len(found) == 1

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
            from mcts_envs.core.compiling import cache
            print(cache.cache_directory(Path(cache.__file__)))
            """
        found = python(code, MCTS_ENVS_CACHE_DIR=str(blocked / "below"), TMPDIR=str(tmp_path))
        assert Path(found).parent == tmp_path / f"mcts_envs-{os.getuid()}"
        assert Path(found).parent.stat().st_mode & 0o077 == 0

    @pytest.mark.parametrize("named", [False, True])
    def test_where_no_temporary_folder_can_be_written_to(self, tmp_path, named):
        (tmp_path / "file").write_text("")
        code = """
            import tempfile
            from pathlib import Path
            from mcts_envs.core.compiling import cache

            def refuse():
                raise FileNotFoundError("No usable temporary directory found")

            tempfile.gettempdir = refuse
            source = Path(cache.__file__)
            print(cache.cache_directory(source), cache.filled_directories(source))
            """
        root = tmp_path / ("cache" if named else "file/below")
        found = python(code, MCTS_ENVS_CACHE_DIR=str(root))
        assert found.startswith(str(root) if named else "None")
        assert found.endswith(" []")

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
            from mcts_envs.core.compiling import cache
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
        assert first == ("8", "mcts_envs: compiling small for this machine, once (about 2 seconds).\n")
        assert second == ("8", "")

    @pytest.mark.slow
    def test_a_script_that_is_run_is_named_by_its_file(self, tmp_path):
        self.run_small(tmp_path)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "MCTS_ENVS_CACHE_DIR": str(tmp_path / "cache")}
        script = tmp_path / "small" / "small.py"
        script.parent.mkdir()
        script.write_text(f"{(tmp_path / 'small.py').read_text()}print(double(4))\n")
        (script.parent / "other.py").write_text("@kernel()\n" * 99)  # beside the script, and no part of it
        (script.parent / "no_file.py").mkdir()
        run = subprocess.run([sys.executable, "-W", "ignore", script], capture_output=True, text=True, env=environment)
        assert (run.stdout, run.stderr) == (
            "8\n",
            "mcts_envs: compiling small for this machine, once (about 2 seconds).\n",
        )

    def run_file(self, tmp_path, text, code):
        """Write a module with kernels of one's own, and run a program on it in a process and a cache of its own."""
        (tmp_path / "own.py").write_text(
            "import os\nfrom numba import types\nfrom mcts_envs.core.kernel import kernel\n" + textwrap.dedent(text)
        )
        return python(
            code,
            PYTHONPATH=f"{ROOT}{os.pathsep}{tmp_path}",
            PYTHONDONTWRITEBYTECODE="1",  # which Python would take for that of a file edited within a second
            MCTS_ENVS_CACHE_DIR=str(tmp_path / "cache"),
            SIZE=os.environ.get("SIZE", ""),
        )

    @pytest.mark.slow
    def test_who_waits_anew_is_told_again(self, tmp_path):
        text = "".join(f"@kernel(types.int64())\ndef {name}():\n    return 1\n" for name in ("a", "b", "c"))
        code = """
            import sys
            sys.stderr = sys.stdout
            import own
            from mcts_envs.core.compiling import cache
            own.a(), own.b()
            cache._compiled["own"] -= 9.0  # as after a while, or an interrupt
            own.c()
            """
        assert self.run_file(tmp_path, text, code).splitlines() == [
            "mcts_envs: compiling own for this machine, once (about 2 seconds).",
            "mcts_envs: compiling more of own for this machine, once.",
        ]

    @pytest.mark.slow
    def test_who_waits_for_machine_code_alone_is_told(self, tmp_path):
        told = self.run_small(tmp_path)
        self.kept(tmp_path).unlink()
        assert self.run_small(tmp_path) == told

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

    @pytest.mark.parametrize(
        ("constants", "used", "edit"),
        [
            ("import enum\nclass Cell(enum.IntEnum):\n    WALL = 5", "constants.Cell.WALL", ("= 5", "= 9")),
            pytest.param(
                "from collections import namedtuple\nCell = namedtuple('Cell', 'x y')",
                "constants.Cell(5, 9).x",
                ("x y", "y x"),
                marks=pytest.mark.slow,
            ),
            pytest.param("import nested.deeper", "constants.nested.deeper.WALL", None, marks=pytest.mark.slow),
            pytest.param("LINES = 1, (2, 3)", "(4 * len(constants.LINES) - 3)", ("3)", "), 3"), marks=pytest.mark.slow),
        ],
    )
    def test_what_classes_and_modules_of_anywhere_hold_belongs_to_the_key(self, tmp_path, constants, used, edit):
        text = f"""
            import sys
            sys.path.append({str(tmp_path / "elsewhere")!r})
            import constants
            @kernel(types.int64(types.int64))
            def outer(value):
                return value + {used}
            """
        (tmp_path / "elsewhere" / "nested").mkdir(parents=True)
        deeper, beside = tmp_path / "elsewhere" / "nested" / "deeper.py", tmp_path / "elsewhere" / "constants.py"
        beside.write_text(constants)
        deeper.write_text("WALL = 5")
        assert self.run_file(tmp_path, text, "import own; print(own.outer(1))") == "6"
        beside.write_text(constants.replace(*edit or ("", "")))
        deeper.write_text("WALL = 9")
        assert self.run_file(tmp_path, text, "import own; print(own.outer(1))") == "10"

    def test_a_submodule_belongs_to_the_key_where_it_is_read_whoever_imported_it(self, tmp_path, monkeypatch):
        (tmp_path / "grounds").mkdir()
        (tmp_path / "grounds" / "__init__.py").write_text("WALL = 5")
        (tmp_path / "grounds" / "late.py").write_text("HEIGHT = 3")
        monkeypatch.syspath_prepend(tmp_path)
        grounds = importlib.import_module("grounds")

        def key(expression):
            return meaning(eval(f"lambda s: {expression}", {"grounds": grounds}))

        wall = key("s.late + grounds.WALL")
        late = importlib.import_module("grounds.late")
        assert key("s.late + grounds.WALL") == wall
        height = key("s.late + grounds.late.HEIGHT")
        late.HEIGHT = 4
        assert key("s.late + grounds.late.HEIGHT") != height
        assert key("s.late + grounds.WALL") == wall

    @pytest.mark.slow
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
            # ``add`` is called by kernels alone, and has no machine code of its own.
            assert len(list((tmp_path / "cache").rglob("*.kernel"))) == 2
            assert len(list((tmp_path / "cache").rglob("*.inner"))) == 3

    @pytest.fixture(scope="class")
    @classmethod
    def small(cls, tmp_path_factory):
        """Return a folder in which the program has been compiled."""
        folder = tmp_path_factory.mktemp("small")
        cls().run_small(folder)
        return folder

    @pytest.mark.parametrize(
        "damage", ["cut", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("empty", "changed", "garbage"))]
    )
    def test_a_damaged_file_is_compiled_again(self, small, damage):
        file = self.kept(small)
        whole = file.read_bytes()
        broken = {"empty": b"", "cut": whole[:100], "changed": whole[:-9] + b"x" + whole[-8:], "garbage": b"\x80" * 99}
        file.write_bytes(broken[damage])
        printed, said = self.run_small(small)
        assert printed == "8"
        assert ("is damaged; it is compiled again" in said) == (damage != "empty")
        assert file.read_bytes() != broken[damage]
        assert self.run_small(small) == ("8", "")

    @pytest.mark.slow
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

    def test_what_another_process_keeps_and_somebody_reads_is_kept(self, tmp_path):
        kept_by_another = """
            import pathlib
            def replace(self, target):
                target.write_bytes(self.read_bytes())
                raise PermissionError(13, "Access is denied")  # as Windows refuses it
            pathlib.Path.replace = replace
            """
        printed, said = self.run_small(tmp_path, textwrap.dedent(kept_by_another))
        assert (printed, "cannot be kept" in said) == ("8", False)
        assert self.run_small(tmp_path) == ("8", "")

    @pytest.mark.skipif(os.name == "nt" or os.getuid() != 0, reason="needs to make a directory of another user")
    def test_a_temporary_directory_of_another_user_is_not_trusted(self, tmp_path):
        trap = tmp_path / f"mcts_envs-{os.getuid()}"
        trap.mkdir()
        os.chown(trap, 12345, 12345)
        trap.chmod(0o777)
        code = """
            from pathlib import Path
            from mcts_envs.core.compiling import cache
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

    def test_numba_is_prepared_to_compile_only_where_code_calls_what_it_knows_then(self, tmp_path, monkeypatch):
        monkeypatch.setenv("MCTS_ENVS_CACHE_DIR", str(tmp_path))  # what is kept has no parts to take

        @kernel(SIGNATURE)
        def same(value):
            return value

        context, (*parts, outside) = same.targetctx, machine_parts(same.ready())
        asked = []
        monkeypatch.setattr(type(context), "refresh", lambda self: asked.append(self))
        for more in ([], ["no_such_name"]):
            assert machine_of(context, (*parts, outside + more)).call(np.int64(3)) == 3
            assert asked == [context] * len(more)

    def run_both(self, tmp_path, text, codes, **environment):
        """Write a module, and run programs on it at the same time; return what each printed, and complained of."""
        (tmp_path / "own.py").write_text(
            "from numba import types\nfrom mcts_envs.core.kernel import kernel\n" + textwrap.dedent(text)
        )
        path = f"{ROOT}{os.pathsep}{tmp_path}"
        settings = {**os.environ, "PYTHONPATH": path, "MCTS_ENVS_CACHE_DIR": str(tmp_path / "cache"), **environment}
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "env": settings}
        runs = [subprocess.Popen([sys.executable, "-W", "ignore", "-c", code], **pipes) for code in codes]
        return [run.communicate(timeout=120) for run in runs]

    FACTORY = """
        def times(factor):
            @kernel(types.int64(types.int64))
            def outer(value):
                return value * factor
            return outer
        """

    @pytest.mark.slow
    def test_functions_of_one_name_from_two_processes_stay_two(self, tmp_path):
        for factor in (3, 4):
            assert (
                self.run_both(tmp_path, self.FACTORY, [f"import own; print(own.times({factor})(1))"])[0][0]
                == f"{factor}\n"
            )
        both = "import own; print(own.times(3)(1), own.times(4)(1))"
        assert self.run_both(tmp_path, self.FACTORY, [both]) == [("3 4\n", "")]

    @pytest.mark.skipif(os.name == "nt", reason="there are no locks")
    def test_processes_that_start_together_compile_once(self, tmp_path):
        code = """
import own, sys
from mcts_envs.core.compiling import compiled, dispatcher
made = []
dispatcher.translate = lambda result, nogil: made.append(result) or compiled.translate(result, nogil)
print(own.times(3)(1), len(made))
"""
        runs = self.run_both(tmp_path, self.FACTORY, [code] * 3)
        assert sorted(printed for printed, _ in runs) == ["3 0\n", "3 0\n", "3 1\n"]

    @pytest.mark.slow
    @pytest.mark.skipif(os.name == "nt", reason="there are no locks")
    def test_a_lock_ends_with_its_holder(self, tmp_path):
        hold = """
import fcntl, os, pathlib, signal
from mcts_envs.core.compiling.cache import cache_directory
file = (cache_directory(pathlib.Path("own.py"), "own") / "lock").open("a")
fcntl.flock(file, fcntl.LOCK_EX)
os.kill(os.getpid(), signal.SIGKILL)
"""
        ((printed, said),) = self.run_both(tmp_path, self.FACTORY, [f"import os; os.chdir({str(tmp_path)!r})\n{hold}"])
        assert (printed, said) == ("", "")
        ((printed, said),) = self.run_both(tmp_path, self.FACTORY, ["import own; print(own.times(3)(1))"])
        assert printed == "3\n"
        assert "waiting" not in said

    @pytest.mark.slow
    @pytest.mark.skipif(os.name == "nt", reason="directories are read-only in another way there")
    @pytest.mark.parametrize("closed", [pytest.param("cache", marks=pytest.mark.slow), "."])
    def test_a_filled_cache_that_may_only_be_read_is_read(self, tmp_path, closed):
        code = "import own; print(own.times(3)(1))"
        self.run_both(tmp_path, self.FACTORY, [code])
        # The administrator may write everywhere, so that is said here by a stand-in for ``os.access``.
        told = f"import os; os.access = lambda path, mode: {str(tmp_path / closed)!r} not in str(path)\n"
        assert self.run_both(tmp_path, self.FACTORY, [told + code], TMPDIR=str(tmp_path)) == [("3\n", "")]
        if closed == ".":
            other = told + code.replace("3", "4")
            ((printed, said),) = self.run_both(tmp_path, self.FACTORY, [other], TMPDIR=str(tmp_path))
            assert printed == "4\n"
            assert said.count("compiled code cannot be kept anywhere") == 1
