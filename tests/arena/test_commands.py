"""The command `mcts-envs`: it runs scripts, tells of environments, agents and the installation, completes words."""

import importlib
import os
import py_compile
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import agents
from agents.arena import parse_agents
from mcts_envs.registry import ENTRIES

ROOT = Path(__file__).resolve().parents[2]
IDS = [id.removeprefix("mcts_envs/") for id in ENTRIES if id.startswith("mcts_envs/")]


@pytest.fixture(autouse=True)
def _scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))


def module(name: str) -> Any:
    return importlib.import_module(name)


def ran(monkeypatch: pytest.MonkeyPatch, capsys: Any, *arguments: str) -> tuple[int, str, str]:
    """Run a command in this process; return its status and what it printed and complained of."""
    monkeypatch.setattr(sys, "argv", ["mcts-envs", *arguments])
    with pytest.raises(SystemExit) as ended:
        module("_commands").main()
    return ended.value.code or 0, *capsys.readouterr()  # type: ignore[return-value]


def command(*arguments: str, folder: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    line = [sys.executable, str(ROOT / "scripts"), *arguments]
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True)


def test_help_names_every_command_and_loads_next_to_nothing() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT / 'scripts')!r}); import _commands; print(_commands.usage());"
        "print({'numpy', 'numba', 'gymnasium', 'typer', 'agents', 'mcts_envs'} & {*sys.modules})"
    )
    *lines, loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.splitlines()
    assert loaded == "set()"
    named = [line.split()[0] for line in lines if line.startswith("  ")]
    scripts = sorted(file.stem.replace("_", "-") for file in (ROOT / "scripts").glob("[!_]*.py"))
    assert named == ["list", "info", "doctor", "completion", *scripts, "warm", "--version"]
    assert all(len(line.split(maxsplit=1)[1]) > 8 for line in lines if line.startswith("  "))
    assert command().stdout == command("--help").stdout == "\n".join(lines) + "\n"


def test_only_training_needs_torch() -> None:
    code = "import sys, agents.arena, agents.watching; print({'torch', 'stable_baselines3'} & {*sys.modules})"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert run.stdout == "set()\n", run.stderr


def test_every_agent_of_ours_has_words_in_the_list() -> None:
    assert [name for name in agents.NAMES if name not in module("_listing").AGENTS] == []


@pytest.mark.parametrize("name", ["list", "info", "doctor", "completion"])
def test_commands_without_options_say_what_they_take_too(capsys: Any, name: str) -> None:
    commands = module("_commands")
    assert commands.run(name, ["--help"]) == commands.run(name, ["-h"]) == 0
    assert capsys.readouterr().out.startswith(f"usage: mcts-envs {name}")


def test_the_words_of_the_list_stand_below_each_other() -> None:
    lines = module("_listing").listing().splitlines()
    named = [line for line in lines if line.startswith("  ")]
    assert len({len(line) - len(line.split(maxsplit=1)[1]) for line in named}) == 1


def test_scripts_are_run_with_what_follows_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    listed = ran(monkeypatch, capsys, "list")
    assert listed == ran(monkeypatch, capsys, "compare", "--list")
    assert listed[0] == 0
    assert "Usage: mcts-envs warm [OPTIONS] " in command("warm", "--help").stdout
    assert command("expert-iteration", "--help").stdout.split()[:2] == ["Usage:", "mcts-envs"]
    line = ["compare", "LaneDefense3x3-v0", "--agents", "random,scripted", "--episodes", "2", "--workers", "1"]
    played = command(*line, folder=tmp_path)
    assert played.returncode == 0, played.stderr
    assert "scripted" in played.stdout
    assert ran(monkeypatch, capsys, *line[:2], "--agents", "mtcs")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cmopare"], "unknown command 'cmopare'; did you mean 'compare'?"),
        (["info", "football"], "did you mean Football1-v0, Football3-v0, "),
        (["info", "mtcs"], "unknown environment or agent 'mtcs'; did you mean 'mcts'?"),
        (["info", "nonsense"], "unknown environment or agent 'nonsense'; known: Bomber-v0, "),
        (["info"], "mcts-envs list names what there is"),
        (["info", "nowhere.py:Game-v0"], "nowhere.py"),
        (["list", "games"], "mcts-envs info NAME"),
        (["compare", "X", "--agents", "random,", "mcts"], "no option takes mcts; write lists without spaces, ra"),
        (["compare", "X", "--set", "a=1", "b=2"], "b=2; write lists without spaces, random,mcts, and --set"),
        (["watch", "X", "--agents", "random", "--agents", "mcts"], "--agents is given twice; give it once: a list has"),
        (["compare", "X", "--simulations=100"], "there is no option --simulations; write --budget simulations=1000"),
        (["compare", "X", "--steps", "9"], "there is no option --steps; write --budget steps=20000"),
        (["compare", "X", "--opponent", "mcts"], "write --against scripted"),
        (["play", "X", "--opponent", "mcts"], "write --seats human,mcts"),
        (["train", "X", "--opponent", "mcts"], "write --set opponent=scripted"),
        (["train", "X", "--env", "Y"], "there is no option --env; write ID alone, as the first word"),
        (["train", "X", "--out", ""], "--out is empty, as by a variable that is not set; fill or omit it"),
        (["train", "X", "--out="], "--out is empty"),
        (["train", ""], "the first word is empty"),
    ],
)
def test_mistakes_are_named_in_a_line(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, arguments: list[str], message: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["mcts-envs", *arguments])
    with pytest.raises(SystemExit, match="2"):
        module("_commands").main()
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert message in told.err


def test_a_number_of_boards_is_refused_before_it_is_said_what_they_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    line = ["compare", "WallSurvival-v0", "--agents", "random,greedy", "--episodes", "-3"]
    code, said, complaint = ran(monkeypatch, capsys, *line)
    assert (code, complaint) == (2, "error: episodes -3 is outside [1, 1000000000]\n")
    assert len(said.splitlines()) == 1  # when and how it was begun


def test_what_is_missing_comes_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setitem(sys.modules, "typer", None)
    for name, extra in (("train", "rl"), ("play", "play"), ("watch", "commands")):
        monkeypatch.setattr(sys, "argv", ["mcts-envs", name, "--help"])
        with pytest.raises(SystemExit, match="2"):
            module("_commands").main()
        said = f'error: {name} needs typer, which is not installed: pip install -e ".[{extra}]"\n'
        assert capsys.readouterr().err == said
    assert module("_requirements").cure("yaml") == 'pip install -e ".[commands]"'
    assert module("_requirements").cure("tensorboard") == 'pip install -e ".[rl]"'
    assert module("_requirements").cure("PIL") == 'pip install -e "."'
    assert module("_requirements").cure("surely_nothing_of_ours") == "install what brings it"


@pytest.mark.parametrize("script", ["compare", "train", "reproduce"])
def test_a_script_that_lacks_a_module_says_what_its_command_says(script: str) -> None:
    file, folder = str(ROOT / "scripts" / f"{script}.py"), str(ROOT / "scripts")
    code = (
        f"import runpy, sys; sys.modules['typer'] = None; sys.argv = [{file!r}]; sys.path[0] = {folder!r};"
        f"runpy.run_path({file!r}, run_name='__main__')"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    said = module("_commands").missing(script.replace("_", "-"), "typer")
    assert (done.returncode, done.stderr) == (2, f"error: {said}\n")


@pytest.mark.parametrize("id", IDS)
def test_info_of_an_environment_has_its_agents_and_its_page(id: str, capsys: Any) -> None:
    assert module("_info").main([id]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"{id}: ")
    for words in (*ENTRIES[f"mcts_envs/{id}"].presets, "## Observation Space", "## Version History"):
        assert words in told


@pytest.mark.parametrize("name", agents.names())
def test_info_of_an_agent_has_its_settings_or_where_they_come_from(name: str, capsys: Any) -> None:
    assert module("_info").main([name]) == 0
    told = capsys.readouterr().out
    assert (name in agents.NAMES) or "\nin " in told
    assert "takes_budget" not in told.partition("\n\nParameters")[0]


def parameters(agent: Any) -> dict[str, Any]:
    """Return the settings of an agent that are its policies'."""
    return getattr(agent, "parameters", {})


@pytest.mark.parametrize("name", agents.NAMES)
def test_info_lists_the_settings_that_an_agent_takes_and_no_other(name: str, capsys: Any) -> None:
    assert module("_info").main([name]) == 0
    listed = capsys.readouterr().out.partition("are by default\n")[2].partition("\n\n")[0]
    (written,) = parse_agents(":".join([name, *listed.split()]))  # as one writes them on the command line
    made, usual = agents.make(name, **written.settings), agents.make(name)
    assert {"seed"} <= written.settings.keys() <= {*agents.settings.settings_of(type(usual)), *parameters(usual)}
    for setting in {*written.settings, "parameters"}:
        assert getattr(made, setting, None) == getattr(usual, setting, None)


def test_info_of_a_name_that_games_bring_says_what_it_is_in_each(capsys: Any) -> None:
    for name, id, what in (
        ("best", "LaneDefense10x10-v0", "  halving:simulations=3000:discount=0.9"),
        ("mcts_aiide", "BomberRadio-v0", ":information=own:model=silent"),
        ("mcts_tutorial", "Football3-v0", "simulations=1735"),
    ):
        assert module("_info").main([name]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert what in lines[lines.index(f"in {id}") + 1]


def test_info_of_a_game_of_ones_own_says_how_to_compare_in_it(capsys: Any) -> None:
    assert module("_info").main([f"{ROOT}/examples/pig.py:Pig-v0"]) == 0
    told = capsys.readouterr().out
    assert f"mcts-envs compare {ROOT}/examples/pig.py:Pig-v0 --agents random,best" in told
    assert "agents of the game" not in told


def test_what_is_installed_has_the_scripts_under_a_name_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    setuptools = pytest.importorskip("setuptools")
    given: dict[str, Any] = {}
    monkeypatch.setattr(setuptools, "setup", lambda **settings: given.update(settings))
    monkeypatch.chdir(ROOT)
    runpy.run_path("setup.py")
    packages = given["packages"]
    assert {"mcts_envs", "agents", "agents.arena", "mcts_envs_scripts", "mcts_envs_scripts.papers"} <= {*packages}
    assert {name.partition(".")[0] for name in packages} == {"mcts_envs", "agents", "mcts_envs_scripts"}
    for name in packages:
        folder = ROOT / name.replace("mcts_envs_scripts", "scripts", 1).replace(".", "/")
        assert folder.is_dir(), name


def test_the_doctor_finds_nothing_wrong_where_tests_run(capsys: Any) -> None:
    assert module("_doctor").main([]) == 0
    told = capsys.readouterr().out
    for words in ("needed by all\n  ok  gymnasium ", "extra rl", "  ok  ", "free", 'render_mode="rgb_array"'):
        assert words in told
    assert " !! " not in told


def test_the_doctor_says_what_is_wrong_and_what_mends_it(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    needed = module("_requirements")
    lines = [needed.Requirement("numba", ">=999.1"), needed.Requirement("no-such-thing", ">=2", "more")]
    doctor = module("_doctor")
    monkeypatch.setattr(doctor, "requirements", lambda: lines)
    assert doctor.main([]) == 1
    told = capsys.readouterr().out
    assert '; >=999.1 is needed\n      pip install "numba>=999.1"\n' in told
    assert '  --  lacks no-such-thing\n      pip install -e ".[more]"\n' in told
    lines[1] = needed.Requirement("no-such-thing", ">=2", "test")
    monkeypatch.setattr(doctor, "CHECKOUT", False)
    assert doctor.main([]) == 1
    assert "no-such-thing" not in capsys.readouterr().out


@pytest.mark.parametrize(("shipped", "what"), [(False, "everything"), (True, "what did not come compiled")])
def test_the_doctor_says_where_compiled_code_cannot_be_kept(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path, shipped: bool, what: str
) -> None:
    (tmp_path / "core" / "compiling").mkdir(parents=True)
    if shipped:
        (tmp_path / "_compiled").mkdir()
    monkeypatch.setattr("mcts_envs.core.compiling.cache.cache_directory", lambda *_: None)
    monkeypatch.setattr("mcts_envs.core.compiling.cache.__file__", str(tmp_path / "core" / "compiling" / "cache.py"))
    assert module("_doctor").main([]) == 1
    told = capsys.readouterr().out
    assert f"  !!  no folder can be written to; {what} is compiled in every process\n" in told


def test_the_doctor_knows_compiled_code_that_may_only_be_read(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path
) -> None:
    (tmp_path / "rng").mkdir()
    (tmp_path / "rng" / "step.kernel").touch()
    monkeypatch.setattr("mcts_envs.core.compiling.cache.cache_directory", lambda *_: None)
    monkeypatch.setattr("mcts_envs.core.compiling.cache.filled_directories", lambda *_: [tmp_path / "rng"])
    module("_doctor").main([])
    told = capsys.readouterr().out
    assert f"  --  {tmp_path}: can only be read; what it lacks is compiled in every process\n" in told
    assert "  ok  football: compiled\n" in told


@pytest.mark.parametrize(
    ("release", "bound", "met"),
    [("2.0.0", ">=2.0", True), ("1.26.4", ">=2.0", False), ("2.13.0+cpu", "==2.13.0", True), ("3.1", ">=2,<3", False)],
)
def test_releases_are_compared_by_their_numbers(
    monkeypatch: pytest.MonkeyPatch, release: str, bound: str, met: bool
) -> None:
    needed = module("_requirements")
    monkeypatch.setattr(needed.metadata, "version", lambda _: release)
    assert needed.Requirement("numpy", bound).met is met


def test_requirements_are_the_same_in_a_checkout_and_as_they_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = module("_requirements")
    here = needed.requirements()
    assert {"", "rl", "plots", "human"} <= {one.extra for one in here}
    installed = ["gymnasium>=1.2.2", 'matplotlib; extra == "plots"', 'mcts-envs[rl]; extra == "test"']
    monkeypatch.setattr(needed, "_PROJECT", ROOT / "nothing")
    monkeypatch.setattr(needed.metadata, "requires", lambda _: installed)
    assert set(needed.requirements()) < set(here)
    assert needed.install("rl") == 'pip install "mcts-envs[rl]"'


@pytest.mark.parametrize(
    ("typed", "some"),
    [
        ([""], ["list", "info", "doctor", "compare", "warm"]),
        (["co"], ["completion", "compare", "compile"]),
        (["compare", "Wall"], ["WallSurvival-v0"]),
        (["info", "mcts_p"], ["mcts_paper"]),
        (["compare", "X", "--agents", "random,mcts_p"], ["random,mcts_paper"]),
        (["compare", "X", "--epi"], ["--episodes", "--episode-limit"]),
        (["warm", "foot"], ["football"]),
        (["reproduce", "l"], ["lane"]),
        (["benchmark", "tr"], ["training"]),
        (["completion", "f"], ["fish"]),
        (["doctor", ""], []),
    ],
)
def test_words_are_completed(typed: list[str], some: list[str]) -> None:
    words = module("_completion").words(typed)
    assert set(some) <= set(words)
    assert all(word.startswith(typed[-1]) for word in words)
    assert words or not some


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_script(shell: str, capsys: Any) -> None:
    assert module("_completion").main([shell]) == 0
    assert "mcts-envs completion words" in capsys.readouterr().out
    assert module("_completion").main(["csh"]) == 2


def test_the_arena_says_which_extra_it_needs() -> None:
    code = "import sys; sys.modules['rich'] = None; import agents.arena"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == 'ImportError: comparisons need rich: pip install "mcts-envs[commands]"'


def test_code_that_a_full_disk_cut_short_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    (tmp_path / "shortened.py").write_text("TEXT = 'a text'\n")
    compiled = Path(py_compile.compile(str(tmp_path / "shortened.py")) or "")
    compiled.write_bytes(compiled.read_bytes()[:-9])
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["compare"])
    with pytest.raises(SystemExit, match="2"):
        module("_line").begin(lambda: module("shortened").TEXT)
    said = capsys.readouterr().err
    assert said.startswith(f"error: {compiled} is cut short, as by a disk that was full")
    assert said.endswith("; delete it\n")


_FAULTY = """
import agents
class Bot:
    moves = 0
    def act(self, env):
        self.moves += 1
        return env.unwrapped.action_masks().argmax() if self.moves < 3 else len(None)
class Asking:
    def act(self, env):
        return agents.make("nobody").act(env)
class Losing:
    def act(self, env):
        return {}["move"]
"""


@pytest.mark.parametrize(
    ("bot", "said"),
    [
        ("Bot", "TypeError: object of type 'NoneType' has no len() ({0}, line 7); {0}:Bot was asked last, for move 3"),
        ("Asking", "unknown agent 'nobody'; known: .*, uniform ({0}, line 10)"),
        ("Losing", "KeyError: 'move' ({0}, line 13)"),
    ],
)
def test_errors_of_ones_own_code_are_told_with_their_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, bot: str, said: str
) -> None:
    file = tmp_path / "faulty.py"
    file.write_text(_FAULTY)
    out = str(tmp_path / "game.html")
    _, _, told = ran(monkeypatch, capsys, "watch", "LaneDefense3x3-v0", "--agents", f"{file}:{bot}", "--out", out)
    expected = re.escape(said.format(file)).replace(r"\.\*", ".*")
    assert re.search(f"error: {expected}$", told.strip()), told


@pytest.mark.skipif(os.name == "nt", reason="links are for administrators there")
def test_lines_of_this_package_are_not_told_behind_a_link_either(tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    linked.symlink_to(ROOT)
    words = [sys.executable, str(linked / "scripts/watch.py"), "LaneDefense3x3-v0", "--agents", "nobody"]
    environment = {**os.environ, "PYTHONPATH": str(linked)}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr.strip().endswith("sb3:PATH, scripted, tactical, uniform"), done.stderr


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
def test_what_nobody_reads_ends_no_command_with_an_error() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""}
    for word in ("list", "--version"):
        line = ["sh", "-c", '{ "$@"; echo $? >&2; } | :', "sh", sys.executable, str(ROOT / "scripts"), word]
        done = subprocess.run(line, env=environment, capture_output=True, text=True, check=False)
        assert done.stderr == "0\n"


@pytest.mark.skipif(os.name == "nt", reason="a folder in which somebody is cannot be deleted there")
@pytest.mark.parametrize("words", [["scripts", "list"], ["scripts/compare.py", "--list"]])
def test_a_folder_that_was_deleted_is_told(tmp_path: Path, words: list[str]) -> None:
    script, *rest = words
    line = [
        "sh",
        "-c",
        'mkdir gone; cd gone; rmdir ../gone; exec "$@"',
        "sh",
        sys.executable,
        str(ROOT / script),
        *rest,
    ]
    done = subprocess.run(
        line, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr == "error: the present folder is not there any more; cd to one that is\n"


def test_the_doctor_says_which_folder_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("MCTS_ENVS_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    module("_doctor").main([])
    assert f"  --  MCTS_ENVS_CACHE_DIR, {tmp_path / 'file'}, is no folder that can" in capsys.readouterr().out
