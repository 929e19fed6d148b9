"""Agents of many people in one comparison: none is played by another's files, nor spoilt by what another sets."""

import os
import warnings
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import agents
from agents.arena import Plan, compare, parse_agents
from agents.arena.report.table import remarks
from agents.arena.running.runner import Crew
from mcts_envs.core.compiling.sources import closure_digest
from mcts_envs.core.loading import load


@pytest.mark.parametrize(
    "text",
    [
        "import math, helper{}\n",
        "import core_of_{1}\n",
        "def act(env):\n    import helper{}\n",
    ],
    ids=["in a list", "by what it imports", "later"],
)
def test_whose_helpers_have_the_same_name_is_refused_however_they_are_imported(text: str, tmp_path: Path) -> None:
    case = len(text)  # modules stay
    for name in (f"ann{case}", f"bob{case}"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"helper{case}.py").write_text(f"WHO = {name!r}\n")
        (tmp_path / name / f"core_of_{name}.py").write_text(f"import helper{case}\n")
        (tmp_path / name / f"{name}.py").write_text(text.format(case, name))
    load(f"{tmp_path}/ann{case}/ann{case}.py")
    with pytest.raises(ValueError, match=rf"import helper{case} there are two, .*bob.* and .*ann.*; rename one"):
        load(f"{tmp_path}/bob{case}/bob{case}.py")


def test_a_module_of_a_package_may_be_called_as_one_of_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package_of_class"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "types.py").write_text("def pick(env): return 0\n")
    (package / "bot_of_class.py").write_text("from package_of_class.types import pick\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert load(str(package / "bot_of_class.py")).pick(None) == 0


def test_a_file_beside_an_init_is_known_by_what_it_imports_by_name(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "my_agent.py").write_text("from my_help import pick\n")
    (tmp_path / "my_help.py").write_text("def pick(env): return 0\n")
    before = closure_digest(tmp_path / "my_agent.py")
    (tmp_path / "my_help.py").write_text("def pick(env): return 10\n")
    assert closure_digest(tmp_path / "my_agent.py") != before


EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "my_bot.py"
GUILTY = """
import os, random, signal, warnings
import numpy as np

def ring(*_): raise TimeoutError("my time is over")
def alarm():
    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.02)

DEEDS = {
    "none": lambda: None,
    "folder": lambda: os.chdir("/"),
    "errors": lambda: np.seterr(all="raise"),
    "warnings": lambda: warnings.simplefilter("error"),
    "seeds": lambda: (random.seed(42), np.random.seed(42)),
    "alarm": alarm,
}

class Guilty:
    def __init__(self, deed, made=False):
        self.deed = DEEDS[deed]
        if made:
            self.deed()
    def act(self, env):
        self.deed()
        return int(env.unwrapped.legal_actions()[0])
"""

INNOCENT = """
import random, time, warnings
import numpy as np

class Good:
    def reset(self):
        self.weights = np.loadtxt("weights.txt")
    def act(self, env):
        assert np.loadtxt("weights.txt").shape == (3,)
        np.array([1.0]) / 0
        warnings.warn("careful")
        time.sleep(0.03)
        legal = env.unwrapped.legal_actions().tolist()
        return legal[(random.randrange(1000) + np.random.randint(1000)) % len(legal)]
"""

AT_IMPORT = """
import os, warnings
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(HERE)
np.seterr(all="raise")
warnings.simplefilter("error")

def act(env):
    assert os.getcwd() == HERE
    try:
        np.array([1.0]) / 0
    except FloatingPointError:
        return int(env.unwrapped.legal_actions()[0])
"""


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("guilty_of_class", GUILTY), ("good_of_class", INNOCENT), ("inside/set_in_class", AT_IMPORT)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text(text)
    (tmp_path / "weights.txt").write_text("1 2 3")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ends(other: str) -> list[tuple[object, ...]]:
    specs = parse_agents(f"other={other},good=good_of_class.py:Good")
    plan = Plan("WallSurvival-v0", specs, {"board_size": 5})
    rows = [played.row for played in Crew(plan).play(plan.jobs(2))]
    return [(row.key, [(s.outcome, s.length) for s in row.seats], row.fault) for row in rows]


@pytest.mark.filterwarnings("ignore:careful", "ignore:divide")
@pytest.mark.skipif(os.name != "posix", reason="needs a timer")
def test_what_an_agent_sets_for_the_whole_process_changes_no_game_of_others(room: Path) -> None:
    alone = ends("guilty_of_class.py:Guilty:deed=none")
    assert all(fault is None for *_, fault in alone)
    before = room, np.geterr(), list(warnings.filters)
    for deed in ("folder", "errors", "warnings", "seeds", "seeds:made=true", "alarm"):
        assert ends(f"guilty_of_class.py:Guilty:deed={deed}") == alone, deed
        assert (Path.cwd(), np.geterr(), list(warnings.filters)) == before, deed


@pytest.mark.filterwarnings("ignore:careful", "ignore:divide")
def test_what_a_file_sets_as_it_is_imported_holds_for_its_agents_alone(room: Path) -> None:
    assert all(fault is None for *_, fault in ends("inside/set_in_class.py:act"))
    env = gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(seed=1)
    assert agents.make("inside/set_in_class.py:act").act(env) == env.unwrapped.legal_actions()[0]
    assert Path.cwd() == room


IN_PLAY = """
import os
import numpy as np

class Settler:
    def reset(self):
        self.moves = 0
        np.seterr(all="raise")
    def act(self, env):
        if self.moves == 0:
            os.chdir("/")
        assert (os.getcwd(), np.geterr()["divide"]) == ("/", "raise")
        self.moves += 1
        return int(env.unwrapped.legal_actions()[0])
"""


@pytest.mark.filterwarnings("ignore:careful", "ignore:divide")
def test_what_an_agent_sets_as_it_plays_holds_at_its_next_move(room: Path) -> None:
    (room / "settles_in_class.py").write_text(IN_PLAY)
    assert all(fault is None for *_, fault in ends("settles_in_class.py:Settler"))
    assert room == Path.cwd()


FIRST_MOVES = """
def nothing(env):
    return None

def ahead(env):
    env.step(10**6)
"""


def test_what_is_wrong_in_a_first_move_stops_nobody_but_its_agent(tmp_path: Path) -> None:
    file = tmp_path / "first_moves.py"
    file.write_text(FIRST_MOVES)
    report = compare(
        Plan("LaneDefense3x3-v0", parse_agents(f"random,{file}:nothing,{file}:ahead")), 1, folder=tmp_path / "out"
    )
    told = dict(sorted((row.forfeit["reason"], row.forfeit["message"]) for row in report.forfeited if row.forfeit))
    assert report.finished
    assert list(told) == ["crash", "illegal"]
    assert "nothing returned None, which is no action" in told["illegal"]
    said = "\n".join(remarks(report))
    assert "2 episodes were lost by forfeit and count as lost; the first of each agent:\n- " in said
    assert said.count("\n- ") == 2
    assert "nothing, episode 0: illegal: NoActionError: nothing returned None" in said
    assert "ahead, episode 0: crash: " in said


def test_of_many_files_those_that_were_edited_are_named_alone(tmp_path: Path) -> None:
    file, out = tmp_path / "edited_of_class.py", tmp_path / "out"
    for text, error in (("", None), ("# better now", "another configuration")):
        file.write_text(f"def act(env):\n    return 0 {text}\n")
        plan = Plan("LaneDefense3x3-v0", parse_agents(f"random,same={EXAMPLE}:Bot,edited={file}:act"))
        if error is None:
            compare(plan, 1, folder=out)
            continue
        with pytest.raises(ValueError, match=error) as refused:
            compare(plan, 1, folder=out)
    told = str(refused.value)
    assert "edited_of_class.py" in told
    assert "my_bot.py" not in told


def test_many_who_took_every_point_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "first_losers.py"
    file.write_text(FIRST_MOVES)
    agents = parse_agents(",".join(["random", *(f"n{number}={file}:nothing" for number in range(4))]))
    report = compare(Plan("WallSurvival-v0", agents, {"board_size": 4}), 1, folder=tmp_path / "out")
    every = [doubt for doubt in report.doubts if "took every point" in doubt]
    assert every == ["in 4 pairs one took every point, which tells only that it is stronger; give it nearer rivals"]
