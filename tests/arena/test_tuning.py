"""Tuning: what is tried, that it goes on to the same end, and what is refused."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
import tune as command
import typer
from typer.testing import CliRunner

import agents.arena.tuning as arena_tuning
from agents.arena import parse_agent
from agents.arena.formats.lineup import OTHERS
from agents.arena.parameters import Parameter, parse_parameter
from agents.arena.running import runner
from agents.arena.statistics.sprt import Sprt
from agents.arena.tuning import SHIPPED, TUNED, Tuning, tune
from agents.locking import only_writer


@pytest.mark.parametrize(
    ("text", "parameter"),
    [
        ("c=0.1:2", Parameter("c", 0.1, 2.0)),
        ("c=0.1:2:log", Parameter("c", 0.1, 2.0, True)),
        ("horizon=10:100", Parameter("horizon", 10, 100)),
        ("select=ucb1,puct", Parameter("select", choices=("ucb1", "puct"))),
        ("horizon=10,20,None", Parameter("horizon", choices=(10, 20, None))),
    ],
)
def test_parameters(text, parameter):
    found = parse_parameter(text)
    assert found == parameter
    assert [type(end) for end in (found.low, found.high)] == [type(end) for end in (parameter.low, parameter.high)]
    assert parse_parameter(str(found)) == found


@pytest.mark.parametrize(
    "text", ["", "c", "c=", "=1:2", "c=1", "c=a:b", "c=2:1", "c=0:1:log", "c=1:1", "c=a,a", "c=1:2:lin"]
)
def test_what_is_no_parameter(text):
    with pytest.raises(ValueError, match=r"param "):
        parse_parameter(text)


def tuning(environment="WallSurvival-v0", agent="mcts:simulations=20", params=("c=0.05:3:log",), **more):
    settings = {"board_size": 4} if environment.startswith("Wall") else {}
    found = tuple(map(parse_parameter, params))
    return Tuning(environment, parse_agent(agent), found, **{"boards": 4, "settings": settings, **more})


LATE = """
import time

class Bot:
    def __init__(self, level=2):
        if level == 5:
            time.sleep(0.5)
            raise ValueError("level 5 is too much")

    def act(self, env):
        return int(env.unwrapped.action_masks().argmax())
"""


class TestWhoMeets:
    def test_alone(self):
        of = tuning("LaneDefense3x3-v0")
        assert [spec.label for spec in of.plan({"c": 1.0}).agents] == [TUNED]
        assert [spec.label for spec in of.test({"c": 1.0}).agents] == [TUNED, SHIPPED]

    def test_for_two(self):
        of = tuning()
        assert of.plan({"c": 1.0}).against == SHIPPED
        assert of.test({"c": 1.0}).against is None
        of = tuning(against=parse_agent("greedy"))
        assert of.plan({"c": 1.0}).against == of.test({"c": 1.0}).against == "greedy"
        assert [spec.label for spec in of.test({"c": 1.0}).agents] == [TUNED, SHIPPED, "greedy"]

    def test_for_four(self):
        of = tuning("Bomber-v0", "mcts:simulations=2")
        assert of.plan({"c": 1.0}).against == of.test({"c": 1.0}).against == OTHERS
        of.check()

    def test_only_what_is_tried_differs(self):
        of = tuning(agent="mcts:simulations=20:discount=0.9")
        tuned, shipped = of.test({"c": 1.5}).agents
        assert tuned.settings == {**shipped.settings, "c": 1.5}
        assert of.plan({"c": 1.5}).seed != of.test({"c": 1.5}).seed


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"params": ()}, "nothing is to be tuned"),
        ({"params": ("c=1:2", "c=2:3")}, "'c' is given twice"),
        ({"agent": "mcts:c=1", "params": ("c=1:2",)}, "set to 1"),
        ({"boards": 0}, "boards"),
        ({"params": ("c=-5:2",)}, r"c -5 is outside|c -5\.0 is outside"),
        ({"params": ("select=ucb1,nobody",)}, "nobody"),
        (
            {"environment": "LaneDefense3x3-v0", "settings": {}, "against": parse_agent("random")},
            r"against random: nobody is met in mcts_envs/LaneDefense3x3-v0, as it is played; leave it out",
        ),
        ({"environment": "Nowhere-v0"}, "Nowhere"),
    ],
)
def test_mistakes_before_anything_is_played(more, said, tmp_path):
    with pytest.raises(ValueError, match=said):
        tune(tuning(**more), 2, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(find_spec("optuna") is None, reason="needs Optuna")
class TestTune:
    def test_it_goes_on_to_the_same_end(self, tmp_path, monkeypatch):
        whole = tune(tuning(), 5, folder=tmp_path / "whole")
        assert [tried.number for tried in whole.trials] == [*range(5)]
        assert all(0.05 <= tried.values["c"] <= 3.0 for tried in whole.trials)
        assert len({tried.values["c"] for tried in whole.trials}) == 5
        seen = []
        compare = arena_tuning.compare

        def interrupted(*given, **settings):
            seen.append(given)
            if len(seen) == 7:
                raise KeyboardInterrupt
            return compare(*given, **settings)

        monkeypatch.setattr(arena_tuning, "compare", interrupted)
        with pytest.raises(KeyboardInterrupt):
            tune(tuning(), 5, folder=tmp_path / "parts")
        assert 0 < len(json.loads((tmp_path / "parts" / "tuning.json").read_text())["trials"]) < 5
        assert tune(tuning(), 5, folder=tmp_path / "parts").trials == whole.trials
        games = {file: file.read_bytes() for file in tmp_path.rglob("episodes.jsonl")}
        assert tune(tuning(), 5, folder=tmp_path / "parts").trials == whole.trials
        assert {file: file.read_bytes() for file in tmp_path.rglob("episodes.jsonl")} == games

    def test_trials_of_an_agent_that_was_edited_since_are_not_mixed_with_others(self, tmp_path):
        bot, out = tmp_path / "bot.py", tmp_path / "out"
        bot.write_text(LATE)
        of = tuning(agent=f"{bot}:Bot", params=("level=1:4",), boards=1)
        tune(of, 1, folder=out)
        bot.write_text(LATE.replace("argmax", "nonzero()[0].max"))
        with pytest.raises(ValueError, match=r"trial-000 holds results of another configuration: files .*bot\.py"):
            tune(of, 2, folder=out)
        assert len(tune(of, 2, folder=out, fresh=True).trials) == 2

    def test_who_keeps_the_record_alone_goes_on(self, tmp_path):
        first = tune(tuning(), 2, folder=tmp_path).trials
        shutil.rmtree(tmp_path / "trial-001")
        assert tune(tuning(), 3, folder=tmp_path).trials[:2] == first
        assert not (tmp_path / "trial-001").exists()

    def test_nobody_else_writes_to_the_folder_meanwhile(self, tmp_path):
        tune(tuning(), 1, folder=tmp_path)
        before = sorted(tmp_path.rglob("*"))
        with only_writer(tmp_path, "tuning"), pytest.raises(BlockingIOError, match="another tuning is writing to"):
            tune(tuning(), 1, folder=tmp_path, fresh=True)
        assert sorted(tmp_path.rglob("*")) == before

    def test_the_best_is_tested_on_fresh_boards(self, tmp_path):
        tuned = tune(tuning(), 2, sprt=Sprt(0, 100), confirm=3, folder=tmp_path)
        assert tuned.best.found.value == max(tried.found.value for tried in tuned.trials)
        assert (tuned.test.trial.agent, tuned.test.trial.reference) == (TUNED, SHIPPED)
        assert tuned.test.trial.boards == 3
        assert tuned.test.plan.agents[0].settings["c"] == tuned.best.values["c"]

    @pytest.mark.slow
    def test_the_same_process_plays_all_trials_and_the_test(self, tmp_path, monkeypatch):
        begun, worker = [], runner.Worker
        monkeypatch.setattr(runner, "Worker", lambda plan: begun.append(plan) or worker(plan))
        found = [
            tune(tuning(), 3, sprt=Sprt(0, 100), confirm=2, workers=workers, folder=tmp_path / str(workers))
            for workers in (1, None)
        ]
        assert len(begun) == 1
        assert found[0].trials == found[1].trials
        assert found[0].test.trial == found[1].test.trial

    @pytest.mark.slow
    def test_what_is_wrong_with_a_later_trial_is_said_of_its_agent(self, tmp_path):
        (tmp_path / "bot.py").write_text(LATE)
        of = tuning(agent=f"{tmp_path / 'bot.py'}:Bot", params=("level=1:9",))
        first, later = (of.plan({"level": level}) for level in (1, 5))
        with runner.Crew(first, 2) as crew:
            crew.check()
            assert len([*crew.play(first.jobs(8))]) == 16
            crew.turn_to(later)
            with pytest.raises(ValueError, match=f"agent '{TUNED}': level 5 is too much"):
                crew.check()

    @pytest.mark.slow
    def test_hopeless_ones_are_given_up(self, tmp_path):
        of = tuning(agent="mcts", params=("simulations=1,200",), boards=16, against=parse_agent("mcts:simulations=30"))
        trials = tune(of, 10, folder=tmp_path).trials
        given_up = [tried for tried in trials if tried.given_up]
        assert given_up
        assert {tried.values["simulations"] for tried in given_up} == {1}
        assert all(tried.boards < 16 and len(tried.looks) < 4 for tried in given_up)

    def test_another_folder_for_something_else(self, tmp_path):
        tune(tuning(), 1, folder=tmp_path)
        with pytest.raises(ValueError, match=r"something else \(boards differ\)"):
            tune(tuning(boards=5), 1, folder=tmp_path)
        assert len(tune(tuning(boards=5), 1, folder=tmp_path, fresh=True).trials) == 1
        record = json.loads((tmp_path / "tuning.json").read_text())
        record["tuning"]["cooperative"] = True
        (tmp_path / "tuning.json").write_text(json.dumps(record))
        with pytest.raises(ValueError, match=r"something else \(cooperative differ\)"):
            tune(tuning(boards=5), 1, folder=tmp_path)

    def test_what_is_begun_anew_throws_away_its_own_games_alone(self, tmp_path):
        tune(tuning(), 1, folder=tmp_path)
        for name in ("trial-of-mine", "test-data", "trial-004"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "notes.txt").write_text("mine")
        (tmp_path / "test-001").write_text("a file")
        tune(tuning(boards=5), 1, folder=tmp_path, fresh=True)
        kept = {file.parent.name for file in tmp_path.glob("*/notes.txt")}
        assert kept == {"trial-of-mine", "test-data", "trial-004"}
        assert len((tmp_path / "trial-000" / "episodes.jsonl").read_text().splitlines()) == 1 + 2 * 5

    @pytest.mark.slow
    def test_a_damaged_record_is_written_anew_from_the_games(self, tmp_path):
        first, file = tune(tuning(), 2, folder=tmp_path), tmp_path / "tuning.json"
        games = {played: played.read_bytes() for played in tmp_path.glob("trial-*/episodes.jsonl")}
        file.write_text("{")
        with pytest.raises(ValueError, match=r"tuning\.json is damaged \(.*\); delete it: it is then written anew"):
            tune(tuning(), 2, folder=tmp_path)
        file.unlink()
        assert tune(tuning(), 2, folder=tmp_path) == first
        assert {played: played.read_bytes() for played in tmp_path.glob("trial-*/episodes.jsonl")} == games

    @pytest.mark.parametrize("record", ["[]", '{"trials": [], "tuning": []}', None])
    def test_a_record_that_is_none_is_told_with_its_cure(self, tmp_path, record):
        file = tmp_path / "tuning.json"
        file.mkdir() if record is None else file.write_text(record)
        with pytest.raises(ValueError, match=r"tuning\.json is damaged \(.*\); delete it: it is then written anew"):
            tune(tuning(), 1, folder=tmp_path)

    @pytest.mark.slow
    def test_environments_without_points_count_returns(self, tmp_path):
        of = tuning("CartPole-v1", "mcts:simulations=5", boards=2)
        (tried,) = tune(of, 1, folder=tmp_path).trials
        assert tried.found.value > 1.0

    def test_games_of_others_for_two_count_points(self, tmp_path):
        game = Path(__file__).with_name("test_strangers.py")
        (tried,) = tune(tuning(f"{game}:duel", "mcts:simulations=5", boards=1), 1, folder=tmp_path).trials
        assert tried.found.value == 0.5


class TestCommand:
    def run(self, *given):
        app = typer.Typer()
        app.command()(command.main)
        return CliRunner().invoke(app, [*given])

    @pytest.mark.slow
    def test_it_says_what_is_best(self, tmp_path):
        pytest.importorskip("optuna")
        found = self.run(
            "WallSurvival-v0",
            *("--agent", "mcts", "--param", "c=0.1:2", "--budget", "simulations=20", "--set", "board_size=4"),
            *("--trials", "2", "--boards", "4", "--confirm", "2", "--workers", "1", "--out", str(tmp_path)),
        )
        assert found.exit_code == 0, found.output
        page = (tmp_path / "tuning.md").read_text()
        assert "as an agent: mcts:c=" in page
        assert "keep what is shipped" in page
        assert page.count("\n| ") == 1 + 1 + 2

    def test_files_of_a_folder_name_one_folder(self, tmp_path, monkeypatch):
        asked = []
        monkeypatch.setattr("agents.arena.tuning.tune", lambda *_, folder, **__: asked.append(folder) or exit(3))
        (tmp_path / "bots.py").write_text("def play(env, depth=1):\n    return 0\n")
        self.run("a/games.py:Mine-v0", "--agent", f"{tmp_path}/bots.py:play", "--param", "depth=1:4")
        assert [folder.as_posix() for folder in asked] == ["results/tune/games.py-Mine-v0-bots.py-play"]

    def test_a_page_that_cannot_be_written_is_told_before_anything_is_played(self, tmp_path):
        (tmp_path / "tuning.md").mkdir()
        found = self.run("WallSurvival-v0", "--agent", "mcts", "--param", "c=1:2", "--out", str(tmp_path))
        assert found.exit_code == 2
        assert "tuning.md is a folder; give a file of yours" in found.output
        assert [path.name for path in tmp_path.iterdir()] == ["tuning.md"]

    def test_mistakes_are_told_in_a_line(self, tmp_path):
        found = self.run("WallSurvival-v0", "--agent", "mcts", "--param", "c", "--out", str(tmp_path))
        assert found.exit_code == 2
        assert found.output.startswith("error: param 'c' is none")
