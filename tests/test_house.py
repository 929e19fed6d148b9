"""The house: what README and guides promise, what imports cost, and that names are found or refused."""

import ast
import doctest
import inspect
import os
import re
import subprocess
import sys
import types
from collections import Counter
from pathlib import Path

import gymnasium as gym
import pytest
from _completion import words

import agents
import mcts_envs
from mcts_envs.core import contract, errors
from mcts_envs.core.defaults import default_determinize
from mcts_envs.core.players import player
from mcts_envs.registry import ENTRIES

ROOT = Path(__file__).parents[1]


GUIDES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]
PAGES = [
    *GUIDES,
    "CONTRIBUTING.md",
    *sorted(f"docs/results/{path.name}" for path in (ROOT / "docs/results").glob("*.md")),
]


QUOTED = r"<!-- quoted from (\S+\.py) -->\n```python\n(.*?)```"
"""Code of a page that stands in a file."""


@pytest.mark.parametrize("page", GUIDES)
def test_the_examples_run(page, tmp_path, monkeypatch):
    pytest.importorskip("stable_baselines3")
    monkeypatch.chdir(tmp_path)  # where they write
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = "\n".join(block.split("```")[0] for block in text.split("```pycon")[1:])
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(parser.get_doctest(blocks, {}, page, page, 0))
    assert (runner.failures, runner.tries) == (0, len(re.findall("^>>> ", blocks, re.MULTILINE)))
    assert "```" not in re.sub("```pycon.*?```|" + QUOTED, "", text, flags=re.DOTALL)  # a block that nothing runs
    for file, code in re.findall(QUOTED, text, flags=re.DOTALL):
        assert code in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize("page", GUIDES)
def test_the_commands_have_the_options_that_are_told(page):
    for script, line in re.findall(r"scripts/(\w+)\.py([^`#\n]*)", (ROOT / page).read_text(encoding="utf-8")):
        told = set(re.findall(r"--[a-z-]+", line))
        assert told <= set(words([script.replace("_", "-"), "--"])), script


def test_the_contract_is_what_a_game_needs_and_no_more():
    files = [*(ROOT / "examples").glob("*.py"), *(ROOT / "mcts_envs/games").rglob("*.py")]
    nodes = [node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))]
    origins = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == contract.__name__]
    assert {alias.name for origin in origins for alias in origin.names} <= set(contract.__all__)
    here = [value for value in vars(contract).values() if getattr(value, "__module__", "") == contract.__name__]
    assert not [value for value in here if hasattr(value, "py_func") or value.__name__.endswith("_of")]


def headings(page):
    """The anchors of a page."""
    titles = re.findall("^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", (ROOT / page).read_text(encoding="utf-8")):
        if not target.startswith("http"):
            path, _, anchor = target.partition("#")
            file = (ROOT / page).parent / path if path else ROOT / page
            assert file.exists(), target
            assert not anchor or anchor in headings(file), target


def test_the_readme_is_short_and_quotes_what_the_results_say():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 160
    quotes = [(i, line.split()[-2]) for i, line in enumerate(lines) if line.startswith("<!-- quoted from ")]
    assert quotes
    for i, page in quotes:
        quoted = lines[i + 1 : lines.index("", i)]
        assert len(quoted) > 2
        assert "\n".join(quoted) in (ROOT / page).read_text(encoding="utf-8")


def test_the_citation_is_of_this_release():
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {mcts_envs.__version__}" in lines
    assert {"cff-version: 1.2.0", "type: software", "license: MIT"} <= {*lines}


@pytest.mark.slow
def test_what_windows_lacks_is_guarded():
    pytest.importorskip("mypy")
    line = [sys.executable, "-m", "mypy", "--platform", "win32", "--no-incremental"]
    checked = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
    wrong = [complaint for complaint in checked.stdout.splitlines() if ": error:" in complaint]
    assert [complaint for complaint in wrong if "cache.py" not in complaint or '"getuid"' not in complaint] == []


def test_every_agent_has_its_words():
    text = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    assert [name for name in agents.names() if f"`{name}`" not in text] == []


def test_importing_compiles_and_loads_nothing_heavy():
    code = (
        "import sys, mcts_envs, agents;"
        "heavy = {'numba', 'torch', 'stable_baselines3', 'PIL', 'scipy', 'matplotlib'} & set(sys.modules);"
        "games = [m for m in sys.modules if m.startswith('mcts_envs.games')];"
        "print(sorted(heavy), games)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("[] []\n", "")


SECTIONS = (
    "Description",
    "Action Space",
    "Observation Space",
    "Rewards",
    "Starting State",
    "Episode End",
    "Information",
    "Arguments",
    "Position",
    "References",
    "Version History",
)


@pytest.mark.parametrize("id", [id for id in ENTRIES if id.startswith("mcts_envs/")])
def test_every_environment_is_registered_and_documented(id):
    env = gym.make(id)
    page = type(env.unwrapped).__doc__
    sections = re.findall(r"^ *## (.+)$", page, re.MULTILINE)
    hides = env.unwrapped.game.determinize is not default_determinize
    assert ("Hidden information" in sections) == hides
    assert tuple(section for section in sections if section != "Hidden information") == SECTIONS
    table = page.split("## Arguments")[1].split("##")[0]
    documented = {
        name for names in re.findall(r"^ *\| (`.+?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", names)
    }
    assert documented == set(inspect.signature(type(env.unwrapped).make_game).parameters)
    assert set(ENTRIES[id].presets) == set(env.unwrapped.game.presets)


@pytest.mark.parametrize(
    "game", sorted(path.parent.name for path in (ROOT / "mcts_envs" / "games").glob("*/__init__.py"))
)
def test_every_game_has_the_same_rooms(game):
    folder = ROOT / "mcts_envs" / "games" / game
    for room in ("rules", "players", "spec", "position", "presets", "draw"):
        assert (folder / f"{room}.py").is_file() or (folder / room / "__init__.py").is_file(), room


def test_every_test_has_its_room_and_no_file_is_long():
    files = list((ROOT / "tests").glob("**/test_*.py"))
    games = {path.parent.name for path in (ROOT / "mcts_envs" / "games").glob("*/__init__.py")}
    rooms = {f"games/{game}" for game in games | {"connect_four"}}  # the example in examples/
    rooms |= {"core", "search", "agents", "bridge", "arena", "learning", "pages"}
    assert {file.parent.relative_to(ROOT / "tests").as_posix() for file in files} == rooms | {"."}
    assert [file.name for file in files if file.parent == ROOT / "tests"] == ["test_house.py"]
    lengths = {str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    assert {file: length for file, length in lengths.items() if length > 500} == {}


def test_worker_processes_need_only_the_prefix():
    code = "import gymnasium as gym; print(gym.make('mcts_envs:mcts_envs/LaneDefense3x3-v0').spec.id)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "mcts_envs/LaneDefense3x3-v0"


def bindings(source):
    """Yield the constants, functions and classes of a module, and a function's other signatures not."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if "overload" not in map(ast.unparse, node.decorator_list):
                yield node.name
        elif isinstance(node, ast.Assign):
            names = [name for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            yield from (name.id for name in names if isinstance(name.ctx, ast.Store))
        elif isinstance(node, ast.AnnAssign):
            yield ast.unparse(node.target)


def test_no_module_binds_a_name_twice():
    """Ruff sees this of functions and imports, not of constants."""
    folders = ("agents", "mcts_envs", "scripts", "examples", "tests")
    sources = [file for folder in folders for file in ROOT.glob(f"{folder}/**/*.py")]
    twice = {}
    for source in sources:
        counted = Counter(bindings(source.read_text(encoding="utf-8")))
        twice |= {f"{source.relative_to(ROOT)}: {name}": n for name, n in counted.items() if n > 1 and name != "_"}
    assert not twice
    assert {source.relative_to(ROOT).parts[0] for source in sources} == set(folders)


def test_unknown_ids():
    with pytest.raises(ValueError, match="did you mean 'mcts_envs/LaneDefense3x3-v0'"):
        mcts_envs.make_vec("LaneDefence3x3-v0")
    with pytest.raises(ValueError, match="is a game for one player"):
        mcts_envs.make_aec("LaneDefense3x3-v0")


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("gready", ["random", "scripted", "module:name"], None),
        ("gready", ["random", "greedy"], "greedy"),
        ("sims", ["simulations", "time", "steps"], "simulations"),
        ("mtcs", ["mcts", "rhea"], "mcts"),
        ("", ["mcts", "rhea"], None),
    ],
)
def test_the_name_that_was_meant_is_near(name, known, meant):
    text = errors.unknown("agent", name, known)
    assert (f"did you mean {meant!r}? Known: " in text) if meant else (f"unknown agent {name!r}; known: " in text)


def test_what_cannot_be_written_is_said_before(tmp_path):
    file = tmp_path / "there"
    file.write_text("")
    link = tmp_path / "link"
    link.symlink_to("disk")
    errors.writable("out", tmp_path / "new" / "folder", folder=True)
    errors.writable("out", tmp_path, folder=True)
    errors.writable("picture", tmp_path / "new" / "picture.png")
    errors.writable("picture", file)
    errors.writable("picture", link)
    for path, folder, wrong in [
        (file, True, "there is a file; give a folder"),
        (file / "below", True, "there is a file; give a folder"),
        (file / "below", False, "there is a file; give a file"),
        (tmp_path, False, "is a folder; give a file"),
        (link, True, "link is a link to disk, which is not there"),
        (link / "below", True, "link is a link to disk, which is not there"),
    ]:
        with pytest.raises(OSError, match=f"out .* cannot be written: .*{wrong}"):
            errors.writable("out", path, folder)


def test_every_named_agent_can_be_made():
    for name in agents.names():
        assert isinstance(agents.make(name, seed=3), agents.base.Agent)


def test_another_package_called_agents_is_recognized(monkeypatch, tmp_path):
    impostor = types.ModuleType("agents")
    impostor.__file__ = str(tmp_path / "agents" / "__init__.py")
    with pytest.raises(ImportError, match="openai-agents is imported by the same name"):
        errors.require_own_agents(impostor)
    monkeypatch.setitem(sys.modules, "agents", impostor)
    with pytest.raises(ImportError, match="virtual environment of its own"):
        player("agents:mcts")
    errors.require_own_agents(agents)


def test_the_commands_say_when_another_package_is_called_agents(tmp_path):
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    scripts = sorted((ROOT / "scripts").glob("[!_]*.py"))
    names = "benchmark compare compile environments expert_iteration play reproduce solve train train_all tune watch"
    assert [script.stem for script in scripts] == names.split()
    first = {}
    for script in scripts:
        nodes = [
            node
            for node in ast.parse(script.read_text(encoding="utf-8")).body
            if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        names = [node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in nodes]
        first[script.stem] = next(name for name in names if name.partition(".")[0] not in sys.stdlib_module_names)
    # It is `_own` that says it: one script that begins with it is run, and the one that begins with another module.
    assert {name for name in first if first[name] != "_own"} == {"compare"}
    for name in ("compare", "train"):
        line = [sys.executable, ROOT / "scripts" / f"{name}.py"]
        done = subprocess.run(line, env=environment, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2, done.stderr
        assert done.stderr.startswith(f"error: {tmp_path / 'agents'} is not, or not only, the package 'agents'")
        assert done.stderr.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each name is looked up in a process of its own")
def test_modules_that_the_pages_name_are_there_when_they_are_named():
    named = """
        agents.bridge.view agents.arena.tuning.tune agents.mcts.MCTS agents.policies.rave.rave mcts_envs.page.show
        agents.search.running agents.inspection.showing agents.playing.session agents.planners.halving
        agents.learning.training agents.evaluator mcts_envs.core.contract mcts_envs.core.api.env
        mcts_envs.core.compiling.cache mcts_envs.games.bomber_grid
    """
    code = "import os, sys, numba, mcts_envs, agents\n"  # Numba first, for all processes
    code += "for name in sys.argv[1:]:\n    if not os.fork():\n        eval(name)\n"
    code += "        os._exit(hasattr(agents, 'nothing'))\n    assert os.wait()[1] == 0, name"
    subprocess.run([sys.executable, "-c", code, *named.split()], check=True)
