"""Comparisons of one's own: agents, games, and environments that are not of this package."""

import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from rich.console import Console

import agents
import mcts_envs
from agents.arena import Plan, compare, parse_agent, parse_agents
from agents.arena.report.plot import plot
from agents.arena.report.table import render
from agents.arena.rows import seeds
from agents.arena.running.runner import Crew
from agents.arena.storage import default_folder
from mcts_envs.core.loading import load

ROOT = Path(__file__).resolve().parents[2]
ID = "LaneDefense3x3-v0"
FOUR = f"{ROOT}/examples/connect_four.py:ConnectFour-v0"
CELLS = f"{ROOT}/examples/connect_four_cells.py:ConnectFourCells-v0"

BOT = """
import random
from beside import first

class Bot:
    def __init__(self, last=False):
        self.last = last
    def act(self, env):
        legal = env.unwrapped.view().legal_actions()
        return int(legal[-1]) if self.last else first(legal)

class Chancy:
    games = 0
    def __init__(self):
        Chancy.games += 1
    def act(self, env):
        return random.choice(env.unwrapped.view().legal_actions().tolist())

class Seeded:
    def __init__(self, seed=0):
        self.dice = random.Random(seed)
    def act(self, env):
        return self.dice.choice(env.unwrapped.view().legal_actions().tolist())

class Pole:
    def act(self, env):
        return int(env.unwrapped.state[2] > 0)

class Vague:
    def act(self, env):
        return "left"

class Mute:
    pass

mute = type("Asked", (), {"predict": print})()

class Wanting(Pole):
    def __init__(self, weights, size=3):
        self.weights = weights
"""


@pytest.fixture
def bots(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A folder with a file of agents, of a name that nobody else has."""
    folder = tmp_path / "bots"
    folder.mkdir()
    beside = f"beside_{abs(hash(request.node.name))}"
    (folder / f"{beside}.py").write_text("def first(legal):\n    return int(legal[0])\n")
    (folder / "my_bot.py").write_text(BOT.replace("from beside", f"from {beside}"))
    return folder / "my_bot.py"


def rows(plan: Plan, episodes: int = 3, workers: int | None = None) -> list[tuple[object, ...]]:
    with Crew(plan, workers) as crew:
        found = sorted((played.row for played in crew.play(plan.jobs(episodes))), key=lambda row: str(row.key))
    seats = [(row, row.seats[0]) for row in found]
    return [(row.key, seat.outcome, seat.episode_return, seat.length, row.error) for row, seat in seats]


# Agents


def test_agents_of_ones_own_are_compared_in_this_process_and_in_others(bots: Path, tmp_path: Path) -> None:
    texts = [f"{bots}:Bot", f"{bots}:Bot:last=true", f"{bots}:Chancy", f"{bots}:Seeded"]
    plan = Plan(ID, parse_agents(",".join(texts)))
    here, there = rows(plan), rows(plan, workers=2)
    assert here == there
    assert all(error is None for *_, error in here)
    assert rows(plan, 2) == [row for row in here if row[0][1] < 2]  # type: ignore[index]
    result = compare(plan, 2, folder=tmp_path / "out")
    assert [s.agent for s in result.summaries] == texts


def test_what_an_agent_draws_by_torch_comes_from_its_seed(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    file = tmp_path / "net_bot.py"
    file.write_text(
        "import torch\n\n\nclass Net(torch.nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.net = torch.nn.Linear(38, 10)\n"
        "    def predict(self, observation):\n"
        "        return torch.distributions.Categorical(logits=self.net(torch.as_tensor(observation))).sample()\n"
    )
    plan = Plan(ID, parse_agents(f"{file}:Net"))
    assert rows(plan) == rows(plan)


def test_an_agent_of_a_module_is_found_and_plays_inside_an_environment(
    bots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bots.parent)
    agent = agents.make("my_bot.py:Bot", last=True)
    assert "file=" not in repr(agent)
    env = gymnasium.make(f"mcts_envs/{ID}")
    env.reset(seed=0)
    assert agent.act(env) == env.unwrapped.legal_actions()[-1]  # type: ignore[attr-defined]
    assert agent.bind(env).predict(env.unwrapped.view().observe())[0] == agent.act(env)  # type: ignore[attr-defined]
    wall = gymnasium.make("mcts_envs/WallSurvival-v0", board_size=3, opponent=f"agents:{bots}:Bot")
    wall.reset(seed=0)
    wall.step(0)
    assert isinstance(agents.make("agents.mcts:MCTS", simulations=10), agents.mcts.MCTS)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nobody.py:Bot", "there is no file nobody.py in"),
        ("/nobody.py:Bot", r"there is no file /nobody\.py$"),
        ("nobody_at_all:Bot", r"nobody_at_all cannot be imported .* give its file, path/to/nobody_at_all\.py"),
        ("my_bot.py:Bott", "unknown class or function 'Bott'; did you mean 'Bot'"),
        (
            "empty.py:Bot",
            r"empty\.py has no class or function 'Bot', and none that plays; write a class with act\(env\)",
        ),
        ("my_bot.py:Mute", r"is no class with a method act\(env\)"),
        ("my_bot.py:mute", r"is an object with predict\(observation\), and no class; write one, whose predict"),
        ("os:abort", r"is no class with a method act\(env\)"),
        ("my_bot.py:Bot:lats=1", "unknown setting 'lats'; did you mean 'last'"),
        ("my_bot.py:Wanting", "Wanting needs the setting 'weights'; give it, as in Wanting:weights=VALUE"),
        ("my_bot.py:Pole:last=1", "unknown setting 'last'; known: none"),
        ("broken.py:Bot", r"broken.py cannot be imported \(SystemExit: 3\)"),
        ("fast/dotted.py:Bot", r"it is of a package: give its module, fast\.dotted, in the folder /.*"),
    ],
)
def test_mistakes_name_the_file_or_the_class(
    bots: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(bots.parent)
    Path("empty.py").touch()
    Path("broken.py").write_text("import sys\nsys.exit(3)\n")
    Path("fast").mkdir()
    Path("fast/dotted.py").write_text("from .base import Bot\n")
    with pytest.raises((ValueError, TypeError), match=message):
        compare(Plan(ID, parse_agents(name)), 2, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("method", ["act", "predict"])
def test_an_array_of_one_is_an_action(method: str, tmp_path: Path) -> None:
    path = tmp_path / "array_bot.py"
    path.write_text(f"import numpy as np\nclass Bot:\n    def {method}(self, seen):\n        return np.array([3])\n")
    env = gymnasium.make(f"mcts_envs/{ID}")
    env.reset(seed=0)
    assert agents.make(f"{path}:Bot").act(env) == 3


def test_what_is_no_action_loses(bots: Path) -> None:
    plan = Plan(ID, parse_agents(f"{bots}:Vague"))
    (played,) = Crew(plan).play(plan.jobs(1))
    assert played.row.forfeit is not None
    assert played.row.forfeit["reason"] == "illegal"
    assert "Vague.act returned 'left'" in played.row.forfeit["message"]


def test_an_edited_agent_is_another_configuration(bots: Path) -> None:
    plan = Plan(ID, parse_agents(f"{bots}:Bot"))
    found = [plan.configuration()]
    for file in sorted(bots.parent.glob("*.py")):  # what it imports counts too
        file.write_text(file.read_text() + "# edited\n")
        found.append(plan.configuration())
    assert len({default_folder(configuration) for configuration in found}) == 3


def test_an_edited_agent_is_read_again(bots: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a notebook: or else the old one plays, and its games are kept as those of the new one."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    env = gymnasium.make(f"mcts_envs/{ID}")
    env.reset(seed=0)
    legal = env.unwrapped.legal_actions().tolist()
    played = [agents.make(f"{bots}:Bot").act(env)]
    (beside,) = bots.parent.glob("beside_*.py")
    beside.write_text(beside.read_text().replace("legal[0]", "legal[1]"))
    played.append(agents.make(f"{bots}:Bot").act(env))
    bots.write_text(bots.read_text().replace("first(legal)", "first(legal[1:])"))
    played.append(agents.make(f"{bots}:Bot").act(env))
    bots.write_text(bots.read_text().replace("legal[1:]", "legal[2:]"))  # as long, and maybe in the same second
    played.append(agents.make(f"{bots}:Bot").act(env))
    assert played == legal[:4]
    assert type(agents.make(f"{bots}:Bot")) is type(agents.make(f"{bots}:Bot"))


WORLD = """
import gymnasium

class World(gymnasium.Env):
    observation_space = action_space = gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}
    def step(self, action):
        return 0, 1.0, True, False, {}

def last(visits, values, legal, stream):
    return int(legal[-1])
"""


def test_edited_environments_and_policies_are_read_again(tmp_path: Path) -> None:
    file = tmp_path / "edited_world.py"
    file.write_text(WORLD)
    plan = Plan(f"{file}:World", parse_agents("random"))
    agent = agents.make("mcts", recommend=f"{file}:last")
    assert compare(plan, 1, folder=tmp_path / "one").summaries[0].mean_return.value == 1.0
    file.write_text(WORLD.replace("1.0, True", "22.0, True").replace("last(", "final("))
    assert compare(plan, 1, folder=tmp_path / "two").summaries[0].mean_return.value == 22.0
    file.write_text(WORLD.replace("legal[-1]", "legal[0] "))
    again = agents.make("mcts", recommend=f"{file}:last")
    assert [each.recommend(None, None, [3, 4], None) for each in (agent, again)] == [4, 3]


def test_results_are_of_agents_in_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a class of a notebook nobody can tell whether it was edited since."""
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
    monkeypatch.setattr(sys.modules["__main__"], "Bot", Still, raising=False)
    with pytest.raises(ValueError, match=r"'__main__:Bot' is in no file.*writefile"):
        Plan(ID, parse_agents("__main__:Bot")).configuration()


class Still:
    """Plays the first action."""

    def act(self, env):  # type: ignore[no-untyped-def]
        return 0


POLICIES = """
from agents.policies.parameters import Parameter, parameter_record
from agents.policies.signatures import SELECT, nth, policy
from mcts_envs.core.kernel import row

P = {"boldness": Parameter(1.0, 0.0, 10.0, "how bold")}
R = parameter_record(P)

@policy(SELECT, parameters=P)
def bold(candidates, store, stream):
    "The last action of the few that were tried less than boldness says."
    best = 0
    for i in range(candidates.k):
        if nth(candidates, i).visits <= row(store.parameters, 0, R).boldness:
            best = i
    return best

def lowest(visits, values, legal, stream):
    return int(legal[0])
"""


def test_policies_of_ones_own_go_by_file_and_name(tmp_path: Path) -> None:
    file = tmp_path / "bold_policies.py"
    file.write_text(POLICIES)
    spec = parse_agent(f"mcts:select={file}:bold:boldness=3:recommend={file}:lowest:simulations=20")
    assert spec.name == "mcts"
    assert spec.settings == {
        "select": f"{file}:bold", "boldness": 3, "recommend": f"{file}:lowest", "simulations": 20
    }  # fmt: skip
    agent = agents.make(spec.name, **spec.settings)
    env = gymnasium.make(f"mcts_envs/{ID}")
    env.reset(seed=1)
    result = agent.search(env)
    assert result.action == min(env.unwrapped.view().legal_actions())
    assert result.visits.max() == 4  # boldness and one
    plan = Plan(ID, (spec,))
    assert all(row[-1] is None for row in rows(plan, 2))
    before = plan.configuration()
    file.write_text(POLICIES + "# edited\n")
    assert default_folder(plan.configuration()) != default_folder(before)


def test_policies_of_ones_own_go_by_module_and_name_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "module_of_policies.py").write_text(POLICIES)
    monkeypatch.syspath_prepend(str(tmp_path))
    spec = parse_agent("mine=mcts:select=module_of_policies:bold:boldness=3")
    assert (spec.label, spec.name) == ("mine", "mcts")
    assert spec.settings == {"select": "module_of_policies:bold", "boldness": 3}
    assert spec.policies()["select"].name == "module_of_policies.py"
    assert agents.make(spec.name, **spec.settings).select.__name__ == "bold"


def test_a_policy_that_is_not_there_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "bolder_policies.py"
    file.write_text(POLICIES)
    with pytest.raises(ValueError, match="unknown select policy 'blod'; did you mean 'bold'"):
        agents.make("mcts", select=f"{file}:blod")
    with pytest.raises(ValueError, match="there is no file"):
        agents.make("mcts", select=f"{tmp_path}/none.py:bold")
    with pytest.raises(TypeError, match="not compiled"):
        agents.make("mcts", select=f"{file}:lowest")


def test_two_files_of_one_name_are_two_agents_and_share_nothing_unsaid(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "same_bot.py").write_text(f"class Bot:\n    number = {number}\n")
        (tmp_path / str(number) / "same_help.py").write_text("")
        (tmp_path / str(number) / "other_bot.py").write_text("import same_help\n")
    assert [load(f"{tmp_path}/{number}/same_bot.py").Bot.number for number in (1, 2)] == [1, 2]
    assert load(f"{tmp_path}/1/same_bot.py") is load(f"{tmp_path}/1/same_bot.py")
    load(f"{tmp_path}/1/other_bot.py")
    with pytest.raises(ValueError, match="import same_help there are two"):
        load(f"{tmp_path}/2/other_bot.py")


def test_the_seed_of_an_agent_is_a_stream_of_its_own(bots: Path) -> None:
    plan = Plan(ID, parse_agents(f"uniform,uniform:seed=5,uniform:seed=6,{bots}:Seeded,{bots}:Seeded:seed=5"))
    found = [played.row for played in Crew(plan).play(plan.jobs(6))]
    assert all(row.error is None for row in found)
    by_agent = {spec.label: [r.seats[0].agent_seed for r in found if r.agents == (spec.label,)] for spec in plan.agents}
    assert by_agent["uniform"] == [seeds(0, episode)[1] for episode in range(6)]
    assert len({tuple(given) for given in by_agent.values()}) == 3  # none, 5 and 6
    lengths = {label: [row.seats[0].length for row in found if row.agents == (label,)] for label in by_agent}
    assert lengths["uniform:seed=5"] != lengths["uniform:seed=6"]


READER = """
class Reader:
    def __init__(self, path):
        self.path = path
    def act(self, env):
        return int(env.unwrapped.legal_actions()[0])
"""


def test_files_that_settings_name_belong_to_the_results(bots: Path, tmp_path: Path) -> None:
    reader, weights, net = tmp_path / "reader.py", tmp_path / "weights.zip", tmp_path / "net.npz"
    reader.write_text(READER)
    weights.write_text("1")
    shutil.copy(ROOT / "examples" / "connect_four.npz", net)
    by_name = f"{reader}:Reader:path={weights.with_suffix('')}"
    plans = [
        Plan(ID, parse_agents(by_name)),
        Plan(CELLS, parse_agents("random"), {"opponent": f"sb3:{net}"}),
        Plan(CELLS, parse_agents("random"), {"opponent": [f"agents:{bots}:Bot"]}),
        Plan(CELLS, parse_agents("random"), {"opponent": f"agents:mcts:simulations=2:select=puct:policy={net}"}),
    ]
    for number, plan in enumerate(plans):
        assert compare(plan, 1, folder=tmp_path / str(number)).finished
    weights.write_text("2")
    np.savez(net, **dict(np.load(net)))  # type: ignore[arg-type]
    bots.write_text(f"{bots.read_text()}\n# edited")
    for number, plan in enumerate(plans):
        with pytest.raises(ValueError, match=r"holds results of another configuration: files .*Choose another folder"):
            compare(plan, 1, folder=tmp_path / str(number))


WRITER = """
class Writer:
    def __init__(self, log):
        self.log = log
    def act(self, env):
        with open(self.log, "a") as file:
            print("moved", file=file)
        return int(env.unwrapped.legal_actions()[0])
"""


@pytest.mark.parametrize("there", [True, False])
def test_what_an_agent_writes_itself_does_not(there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("writer.py").write_text(WRITER)
    if there:
        Path("moves.log").write_text("before\n")
    plan = Plan(ID, parse_agents("writer.py:Writer:log=moves.log"))
    assert [compare(plan, episodes).reused for episodes in (1, 2, 3)] == [0, 1, 2]
    assert len(list(Path("results").iterdir())) == 1


# Games


def test_a_game_of_ones_own_is_imported_with_its_id(tmp_path: Path) -> None:
    plan = Plan(FOUR, parse_agents("random,uniform"))
    assert plan.id == "ConnectFour-v0"
    assert list(plan.configuration()["files"]) == [FOUR]
    result = compare(plan, 2, workers=1, folder=tmp_path)
    assert [(s.games, s.errors) for s in result.summaries] == [(4, 0), (4, 0)]


def test_every_door_takes_a_module_with_an_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "examples")
    for id in ("connect_four:ConnectFour-v0", "connect_four.py:ConnectFour-v0", FOUR):
        assert mcts_envs.make_vec(id, 2).num_envs == 2
        assert mcts_envs.make_aec(id).possible_agents == mcts_envs.make_parallel(id).possible_agents
        assert mcts_envs.make_sb3_vec_env(id, 2).num_envs == 2
    for id, message in [
        ("connect_five:X-v0", "connect_five cannot be imported"),
        ("connect_four.py", r"write connect_four\.py:ID-v0"),
        ("connect_four:ConnectFive-v0", "did you mean 'ConnectFour-v0'"),
    ]:
        with pytest.raises(ValueError, match=message):
            mcts_envs.make_vec(id)
        with pytest.raises(ValueError, match=message):
            Plan(id, parse_agents("random")).make_env()


@pytest.mark.slow
def test_a_game_of_ones_own_is_trained_on(tmp_path: Path) -> None:
    line = [sys.executable, str(ROOT / "scripts/train.py"), FOUR, "--timesteps", "64", "--n-envs", "2", "--games", "2"]
    line += ["--param", "n_steps=32", "--param", "batch_size=32"]
    done = subprocess.run(
        line, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "runs/ConnectFour-v0/ppo-0/ppo.zip").exists()


# Other environments


def test_any_environment_with_discrete_actions_is_compared_by_returns(bots: Path, tmp_path: Path) -> None:
    plan = Plan("CartPole-v1", parse_agents(f"{bots}:Pole,uniform,one_step"))
    result = compare(plan, 16, folder=tmp_path)
    pole, uniform, _ = result.summaries
    assert [(s.games, s.errors) for s in result.summaries] == [(16, 0)] * 3
    assert pole.mean_return.low > uniform.mean_return.high
    assert result.differences[0].mean_return.high < 0
    console = Console(width=120)
    with console.capture() as said:
        console.print(render(result))
    assert "win rate" not in said.get()
    assert "discounted by 1" in said.get()
    plot(result, tmp_path / "returns.png")
    assert compare(plan, 4, workers=1, folder=tmp_path).reused == 12


def test_all_agents_meet_the_same_episodes() -> None:
    plan = Plan("FrozenLake-v1", parse_agents("uniform,random"), {"map_name": "8x8"})
    assert plan.discount is None
    assert len({row[1:] for row in rows(plan, 4)}) < 8
    found = rows(plan, 4)
    assert [row[1:] for row in found[:4]] == [row[1:] for row in found[4:]]


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan("Pendulum-v1", parse_agents("random")), "planners need Discrete"),
        (Plan("CartPole-v1", parse_agents("random"), record=True), r"no position\(\) to record"),
        (Plan(FOUR, parse_agents("random,uniform"), record=True), r"no position\(\) to record"),
        (Plan("classic/tictactoe-v3", parse_agents("random")), "in a game for 2; give another agent to play against$"),
        (Plan("json.decoder", parse_agents("random")), "json.decoder has no function env, as those of PettingZoo"),
        (Plan("fractions:Fraction", parse_agents("random")), r"makes Fraction\(0, 1\), which is no environment"),
        (Plan("CartPole-v1", parse_agents("random,uniform"), against="random"), "meet no other"),
    ],
)
def test_what_cannot_be_compared_is_refused(plan: Plan, message: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        compare(plan, 2, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_label_with_a_path_is_one_agent() -> None:
    spec = parse_agent("some/where/my_bot.py:Bot:depth=3")
    assert (spec.name, spec.settings) == ("some/where/my_bot.py:Bot", {"depth": 3})


def test_workers_find_the_modules_of_python_before_files_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("signal", "socket", "random", "types"):
        (tmp_path / f"{name}.py").write_text("")
    (tmp_path / "safe.py").write_text(
        "import os\n"
        "class Bot:\n"
        "    def act(self, env):\n"
        "        assert 'PYTHONSAFEPATH' not in os.environ, 'programs of its own look where they lie'\n"
        "        return int(env.unwrapped.view().legal_actions()[0])\n"
    )
    monkeypatch.chdir(tmp_path)
    assert compare(Plan(ID, parse_agents("random,safe.py:Bot")), 1, workers=1, folder=tmp_path / "out").finished
    assert "PYTHONSAFEPATH" not in os.environ
