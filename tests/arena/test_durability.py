"""Results of comparisons on disk: processes, accidents, interruptions, torn rows, and what is refused."""

import errno
import importlib
import json
import os
import pickle
import shutil
import signal
import sys
import types
from pathlib import Path

import gymnasium
import pytest

from agents.arena import AgentSpec, Plan, compare, parse_agent, parse_agents
from agents.arena import plan as plans
from agents.arena.interrupt import Interrupted
from agents.arena.report.report import Report
from agents.arena.rows import seeds
from agents.arena.running.runner import Crew
from agents.arena.storage import EPISODES, TRANSITIONS, Results, default_folder, read_transitions, written
from agents.learning.saved import shipped
from mcts_envs.core.players import BuiltIn
from tests.arena.reports import figures, rows_of
from tests.arena.single import TWO, fakes

ID = "LaneDefense3x3-v0"


def test_one_process_or_two_give_the_same(tmp_path: Path) -> None:
    plan = fakes(*TWO, record=True)
    one = compare(plan, 60, folder=tmp_path / "one")
    two = compare(plan, 60, workers=2, folder=tmp_path / "two")
    for name in ("one", "two"):
        check_offsets(tmp_path / name)
    assert one.finished
    assert two.finished
    assert figures(one) == figures(two)
    assert [s.games for s in one.summaries] == [60, 60]
    assert one.differences[0].pairs == 60
    assert one.differences[0].win_rate.low > 0


# Accidents


def test_an_exception_is_recorded_and_loses(tmp_path: Path) -> None:
    plan = fakes("good:base=random", "bad:base=random:accident=raise", record=True)
    result = compare(plan, 20, folder=tmp_path)
    good, bad = result.summaries
    unlucky = [episode for episode in range(20) if seeds(0, episode)[1] % 5 == 0]
    assert result.finished
    assert bad.forfeits == {"crash": len(unlucky)}
    assert unlucky
    assert (good.games, bad.games, bad.errors) == (20, 20, 0)
    assert result.differences[0].pairs == bad.games
    assert result.differences[0].win_rate.value <= 0.0
    assert result.differences[0].mean_return.value == 0.0  # of the others, which are equal
    assert [row.episode for row in result.forfeited] == unlucky
    forfeit = result.forfeited[0].forfeit
    assert forfeit is not None
    assert (forfeit["type"], forfeit["message"]) == ("RuntimeError", "the agent broke")
    assert "raise RuntimeError" in forfeit["traceback"]
    again = compare(plan, 20, folder=tmp_path)
    assert figures(again) == figures(result)
    assert len(rows_of(tmp_path)) == 40


def test_an_exception_in_the_first_move_is_recorded_too(tmp_path: Path) -> None:
    result = compare(fakes("good:base=random", "bad:base=random:accident=confuse"), 3, folder=tmp_path)
    assert [(s.games, s.forfeits) for s in result.summaries] == [(3, {}), (3, {"crash": 3})]
    assert {row.forfeit["message"] for row in result.forfeited if row.forfeit} == {"the agent is confused"}


def test_a_dying_worker_is_survived(tmp_path: Path) -> None:
    deadly, harmless, seed = "x:base=random:accident=die", "y:base=random", 6
    result = compare(fakes(deadly, harmless, seed=seed), 2, workers=2, folder=tmp_path)
    assert [episode for episode in range(2) if seeds(seed, episode)[1] % 5 == 0] == [1]
    assert [row.key for row in result.forfeited] == [((deadly,), 1)]
    forfeit = result.forfeited[0].forfeit
    assert forfeit is not None
    assert forfeit["type"] == "ProcessDied"
    assert [(s.games, s.forfeits) for s in result.summaries] == [(2, {"crash": 1}), (2, {})]


def test_workers_that_cannot_start_say_why() -> None:
    plan = Plan(ID, (parse_agent("x"), parse_agent("y")), make=_unimportable())
    with (
        pytest.raises((RuntimeError, AttributeError, pickle.PicklingError), match=r"import|pickle|local"),
        Crew(plan, 2) as crew,
    ):
        list(crew.play(plan.jobs(3)))


def _unimportable() -> object:
    def make(spec: AgentSpec) -> BuiltIn:
        return BuiltIn("random")

    return make


# Results on disk


def test_an_interrupted_comparison_goes_on(tmp_path: Path) -> None:
    plan = fakes(*TWO, record=True)
    whole = compare(plan, 30, folder=tmp_path / "whole")
    interrupted = compare(plan, 30, folder=tmp_path / "cut", watch=interrupt)
    assert not interrupted.finished
    rows_before = rows_of(tmp_path / "cut")
    assert 0 < len(rows_before) < 60
    left = f"{60 - len(rows_before)} of 60 episodes have not been played; the figures are of the others"
    assert left in str(interrupted)
    resumed = compare(plan, 30, folder=tmp_path / "cut")
    assert resumed.finished
    assert "have not been played" not in str(resumed)
    assert resumed.reused == len(rows_before)
    assert figures(resumed) == figures(whole)
    texts = [(tmp_path / name / TRANSITIONS).read_text() for name in ("whole", "cut")]
    assert texts[0] == texts[1]


def interrupt(found: Report) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_ends_the_next_comparison_too_however_soon_it_comes(tmp_path: Path) -> None:
    """As in a notebook or a loop, where another one begins as soon as the first has ended."""
    for name in ("one", "two"):
        result = compare(fakes(*TWO), 60, folder=tmp_path / name, watch=lambda _: signal.raise_signal(signal.SIGINT))
        assert not result.finished
        assert result.signal == signal.SIGINT


def test_a_folder_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games of hours would be written to a file that nobody finds."""
    monkeypatch.chdir(tmp_path)
    configuration = fakes(*TWO).configuration()
    kept, results = Results(Path("kept"), configuration), Results(Path("gone"), configuration)
    shutil.rmtree(results.folder)
    monkeypatch.chdir(tmp_path.parent)
    kept.close()
    with pytest.raises(FileNotFoundError, match=f"{EPISODES} cannot be written; leave its folder there, and"):
        results.close()


@pytest.mark.parametrize(
    ("number", "cure"),
    [
        (errno.EACCES, "give leave to write there"),
        (errno.EROFS, "give leave to write there"),
        (errno.ENOSPC, "make room"),
    ],
)
def test_why_a_file_cannot_be_written_decides_what_to_do(number: int, cure: str) -> None:
    with pytest.raises(OSError, match=f"{EPISODES} cannot be written; {cure}, and"), written(Path(EPISODES)):
        raise OSError(number, os.strerror(number))


def test_a_file_that_another_has_replaced_is_told(tmp_path: Path) -> None:
    """As an editor or a restored copy does: what is written since is in no folder."""
    results = Results(tmp_path, fakes(*TWO).configuration())
    shutil.copy(tmp_path / EPISODES, tmp_path / "copy")
    (tmp_path / "copy").replace(tmp_path / EPISODES)
    with pytest.raises(FileNotFoundError, match=f"another file is in its place: .*{EPISODES} cannot be written; leave"):
        results.close()


def test_torn_lines_are_dropped(tmp_path: Path) -> None:
    plan = fakes(*TWO, record=True)
    whole = compare(plan, 10, folder=tmp_path)
    transitions = (tmp_path / TRANSITIONS).read_text()
    for name in (EPISODES, TRANSITIONS):
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content[:-40])
    assert figures(compare(plan, 10, folder=tmp_path)) == figures(whole)
    assert (tmp_path / TRANSITIONS).read_text() == transitions
    (tmp_path / EPISODES).write_bytes((tmp_path / EPISODES).read_bytes()[:30])
    assert figures(compare(plan, 10, folder=tmp_path)) == figures(whole)


def test_lost_transitions_are_played_again(tmp_path: Path) -> None:
    plan = fakes(*TWO, record=True)
    compare(plan, 10, folder=tmp_path)
    transitions = (tmp_path / TRANSITIONS).read_bytes()
    (tmp_path / TRANSITIONS).write_bytes(transitions[: len(transitions) // 2])
    compare(plan, 10, folder=tmp_path)
    assert (tmp_path / TRANSITIONS).read_bytes() == transitions
    assert list(read_transitions(tmp_path, 10)) == [json.loads(line) for line in transitions.splitlines()]


def test_transitions_of_fewer_episodes_are_read_once(tmp_path: Path) -> None:
    plan = fakes(*TWO, record=True)
    compare(plan, 5, folder=tmp_path)
    rows = (tmp_path / EPISODES).read_bytes().splitlines(keepends=True)
    (tmp_path / EPISODES).write_bytes(b"".join(rows + rows[1:3]))
    moves = [json.loads(line) for line in (tmp_path / TRANSITIONS).read_text().splitlines()]
    assert list(read_transitions(tmp_path, 3)) == [move for move in moves if move["episode"] < 3]


def test_a_folder_has_one_writer(tmp_path: Path) -> None:
    plan = fakes(*TWO)
    compare(plan, 2, folder=tmp_path)
    before = (tmp_path / EPISODES).read_bytes()
    first = Results(tmp_path, plan.configuration())
    with first, pytest.raises(BlockingIOError, match=r"another comparison is writing to .* --out"):
        compare(plan, 4, folder=tmp_path, fresh=True)
    assert (tmp_path / EPISODES).read_bytes() == before
    assert compare(plan, 4, folder=tmp_path).reused == 4


def test_another_configuration_is_refused(tmp_path: Path) -> None:
    compare(fakes(*TWO), 3, folder=tmp_path)
    before = (tmp_path / EPISODES).read_bytes()
    with pytest.raises(
        ValueError, match=r"seed 0, now 1\. Choose another folder with --out, .* --fresh; in Python folder and fresh"
    ):
        compare(fakes(*TWO, seed=1), 3, folder=tmp_path)
    with pytest.raises(ValueError, match=r"settings \{\}, now \{\"night\": 3\}"):
        compare(fakes(*TWO, settings={"night": 3}), 3, folder=tmp_path)
    assert (tmp_path / EPISODES).read_bytes() == before
    assert compare(fakes(*TWO, seed=1), 3, folder=tmp_path, fresh=True).finished
    lines = (tmp_path / EPISODES).read_text().splitlines()
    lines[2] = lines[2][:20]
    (tmp_path / EPISODES).write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match="line 3, is not what a comparison writes"):
        compare(fakes(*TWO, seed=1), 3, folder=tmp_path)
    (tmp_path / EPISODES).write_text("\n".join([f"{{{lines[0]}", lines[1]]) + "\n")
    with pytest.raises(ValueError, match=r"line 1, which says what is compared, is damaged .* from a copy"):
        compare(fakes(*TWO, seed=1), 3, folder=tmp_path)


def test_episodes_can_be_added_and_fewer_shown(tmp_path: Path) -> None:
    plan = fakes(*TWO)
    few = compare(plan, 5, folder=tmp_path)
    first = (tmp_path / EPISODES).read_bytes()
    assert compare(plan, 12, folder=tmp_path).summaries[0].games == 12
    assert (tmp_path / EPISODES).read_bytes().startswith(first)
    assert figures(compare(plan, 5, folder=tmp_path)) == figures(few)


@pytest.mark.parametrize("agent", ["sb3:{}", "mcts:policy={}:select=puct", "gumbel:policy={}.zip"])
def test_a_retrained_policy_is_another_configuration(agent: str, tmp_path: Path) -> None:
    policy, sidecar = tmp_path / "policy.zip", tmp_path / "policy.json"
    policy.write_bytes(b"one")
    plan = Plan(ID, (parse_agent(agent.format(f"{tmp_path}/policy")),))
    found = [plan.configuration()]
    for file in (policy, sidecar):
        file.write_bytes(b"two")
        found.append(plan.configuration())
    assert len({default_folder(configuration) for configuration in found}) == 3
    assert default_folder(found[0]).parent == Path("results")


def test_what_is_replaced_while_games_are_played_is_warned_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bot = tmp_path / "bot.py"
    bot.write_text("class Bot:\n    def act(self, env):\n        return 0\n")
    plan = Plan(ID, parse_agents("random,bot.py:Bot"))
    compare(plan, 2, folder=tmp_path / "out")

    def edited(done: int, all_of_them: int) -> None:
        bot.write_text(bot.read_text() + f"# {done}\n")

    with pytest.warns(UserWarning, match=r"^bot\.py: changed while games were played, .* with --fresh"):
        assert compare(plan, 4, folder=tmp_path / "out", tell=edited).finished
    with pytest.raises(ValueError, match="holds results of another configuration: files"):
        compare(plan, 4, folder=tmp_path / "out")


def test_a_shipped_policy_belongs_to_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(shipped.FOLDER, tmp_path / "policies")
    monkeypatch.setattr(shipped, "FOLDER", folder)
    plan = Plan(ID, parse_agents("random,ppo,gumbel:policy=ppo"))
    before = plan.configuration()["files"]
    found = {label: [*files] for label, files in before.items()}
    assert found == {label: ["ppo.zip", "ppo.json"] for label in ("ppo", "gumbel:policy=ppo")}
    shutil.copy(folder / ID / "maskable_ppo.zip", folder / ID / "ppo.zip")
    after = plan.configuration()["files"]
    assert before["ppo"]["ppo.zip"] != after["ppo"]["ppo.zip"]


WORLD = """
import gymnasium
from gymnasium.spaces import Discrete

class World(gymnasium.Env):
    observation_space = action_space = Discrete(2)

    def reset(self, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 1, 1.0, True, False, {}
"""


def test_an_environment_is_known_by_the_file_that_it_is_registered_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is none of those that the named module imports, as in the template of Gymnasium."""
    package, id = tmp_path / "lakes", "lakes/World-v0"
    (package / "envs").mkdir(parents=True)
    register = f"import gymnasium\ngymnasium.register('{id}', 'lakes.envs:World')\n"
    (package / "__init__.py").write_text(register)
    (package / "envs" / "__init__.py").write_text("from lakes.envs.world import World\n")
    (package / "envs" / "world.py").write_text(WORLD)
    monkeypatch.syspath_prepend(tmp_path)
    plan = Plan(f"lakes:{id}", parse_agents("random"))
    assert compare(plan, 1, folder=tmp_path / "one").summaries[0].mean_return.value == 1.0
    (package / "envs" / "world.py").write_text(WORLD.replace("1.0,", "22.0,"))
    assert compare(plan, 1, folder=tmp_path / "two").summaries[0].mean_return.value == 22.0
    for name in (f"lakes:{id}", id):
        with pytest.raises(ValueError, match=r"holds results of another configuration: files"):
            compare(Plan(name, parse_agents("random")), 1, folder=tmp_path / "one")
    gymnasium.registry.pop(id)


def test_an_environment_that_is_imported_again_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, id = tmp_path / "ponds.py", "Pond-v0"
    file.write_text(WORLD)
    monkeypatch.syspath_prepend(tmp_path)
    found = []
    for text in (WORLD, WORLD.replace("1.0,", "22.0,")):
        file.write_text(text)
        if found:
            found.append(Plan(id, parse_agents("random")).configuration()["files"])
        gymnasium.registry.pop(id, None)
        sys.modules.pop("ponds", None)
        gymnasium.register(id, importlib.import_module("ponds").World)
        found.append(Plan(id, parse_agents("random")).configuration()["files"])
    assert found[0] == found[1] != found[2]  # an edit alone leaves what was imported as it is
    gymnasium.registry.pop(id)


def test_results_are_of_environments_in_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a class of a notebook nobody can tell whether it was edited since."""
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
    exec(WORLD, sys.modules["__main__"].__dict__)
    gymnasium.register("Pool-v0", sys.modules["__main__"].World)
    with pytest.raises(ValueError, match=r"'Pool-v0' is in no file.*writefile"):
        Plan("Pool-v0", parse_agents("random")).configuration()
    gymnasium.registry.pop("Pool-v0")


def test_results_of_other_code_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = fakes(*TWO)
    folder = default_folder(plan.configuration())
    compare(plan, 3, folder=tmp_path)
    monkeypatch.setattr(plans, "source_digest", lambda package: 64 * "0")
    assert default_folder(plan.configuration()) == folder
    with pytest.raises(ValueError, match=r"the code of mcts_envs or agents has changed since\. Choose .* --fresh"):
        compare(plan, 3, folder=tmp_path)
    assert compare(plan, 3, folder=tmp_path, fresh=True).finished


def test_recorded_transitions_replay(tmp_path: Path) -> None:
    compare(fakes(*TWO, record=True), 6, folder=tmp_path)
    moves = [json.loads(line) for line in (tmp_path / TRANSITIONS).read_text().splitlines()]
    env = gymnasium.make(f"mcts_envs/{ID}")
    for move, following in zip(moves, [*moves[1:], None], strict=True):
        env.reset(seed=0, options={"position": move["state"]})
        assert env.unwrapped.position() == move["state"]
        assert env.unwrapped.action_masks()[move["action"]]
        if not move["terminated"]:
            assert following is not None
            assert following["state"] == move["next_state"]
    check_offsets(tmp_path)


def check_offsets(folder: Path) -> None:
    """Check that each row says where its transitions are."""
    content = (folder / TRANSITIONS).read_bytes()
    for row in rows_of(folder):
        offset, size = row["transitions"]  # type: ignore[misc]
        mine = [json.loads(line) for line in content[offset : offset + size].splitlines()]
        (seat,) = row["seats"]  # type: ignore[misc]
        assert {(move["agent"], move["episode"]) for move in mine} == {(seat["agent"], row["episode"])}
        assert [move["step"] for move in mine] == list(range(seat["length"]))
        assert sum(move["reward"] for move in mine) == pytest.approx(seat["episode_return"])


def test_an_interrupt_names_its_signal() -> None:
    assert str(Interrupted(signal.SIGTERM)) == "SIGTERM"
