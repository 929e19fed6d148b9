"""The policies of the list: trained from several seeds, broken off and gone on with, the best ready with its card."""

import csv
import errno
import json
import os
import re
import shutil
import signal
import zlib
from concurrent.futures import BrokenExecutor, Future
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")
pytest.importorskip("matplotlib")

from stable_baselines3 import DQN

import agents
from agents.learning import baseline_list, baselines, curves
from agents.learning.baselines import train_all
from agents.learning.card import written
from agents.learning.evaluation import evaluate
from agents.learning.jobs import Here
from agents.learning.saved import storage, trust
from agents.learning.saved.lightening import lighten
from agents.learning.saved.shipped import FOLDER
from agents.learning.training import Trained
from agents.locking import only_writer
from tests.learning.quick import quick

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.saved.notices.PolicyWarning")

SHORT = {"n_envs": 8, "n_steps": 16, "batch_size": 64, "n_timesteps": 128}
LIST = """
LaneDefense3x3-v0/ppo:
  changes: {n_envs: 8, n_steps: 16, batch_size: 64, n_timesteps: 512}
WallSurvival-v0,board_size=3/maskable_ppo:
  settings: {seat: all, opponent: {self: 1, greedy: 1}}
  changes:
    {n_envs: 8, n_steps: 16, batch_size: 64, n_timesteps: 512, imitate: {agent: greedy, steps: 1024}, normalize: false,
     policy_kwargs: {net_arch: [8]}}
  against: [greedy, random]
  wanted: 0.99
"""
TAUGHT = """
WallSurvival-v0,board_size=3/expert_iteration:
  changes: {n_envs: 8, policy_kwargs: {net_arch: [8]}}
  expert: {iterations: 3, games: 16, imitate: {agent: greedy}, search: {agent: gumbel, simulations: 4}, match_games: 0}
  against: [random]
"""


def test_the_list_names_what_can_be_trained():
    names = [each.name for each in baseline_list.baselines()]
    assert len(names) == len(set(names)) == 16
    for each in baseline_list.baselines():
        assert 0 < each.minutes <= 120
        assert each.scaled(0.5)["n_timesteps"] > 1000
        agents.learning.saved.shipped.find(each.env_id)
    assert sum(each.minutes for each in baseline_list.baselines()) * 3 / 2 <= 600  # three seeds, two cores, ten hours


@pytest.mark.slow
def test_the_best_of_several_seeds_is_made_ready(tmp_path):
    file = tmp_path / "list.yml"
    file.write_text(LIST)
    chosen = baseline_list.baselines(file)
    lane, wall = train_all(chosen, tmp_path / "out", Here(), seeds=2, games=12)
    rows = list(csv.DictReader((wall / "curves.csv").read_text(encoding="utf-8").splitlines()))
    assert {row["seed"] for row in rows} == {"0", "1"}
    assert int(rows[-1]["steps"]) == 512
    assert (wall / "curves.png").stat().st_size > 5000
    figures = json.loads((wall / "figures.json").read_text(encoding="utf-8"))
    shares = [found["greedy"]["points"] for found in figures["selection"]]
    assert figures["seed"] == int(np.argmax(shares))
    card = (wall / "README.md").read_text(encoding="utf-8")
    assert "Aimed at: 99% of the points against `greedy`; not reached." in card
    assert "| `greedy` | 12 |" in card
    assert "## " not in card
    assert evaluate(lane / "ppo.zip", 12, seed=2).points.mean() == figures_of(lane)["final"][""]["points"]
    assert storage.described(wall / "maskable_ppo.zip")[1]["settings"]["board_size"] == 3
    assert (wall / "maskable_ppo.npz").is_file()
    before = (wall / "maskable_ppo.zip").read_bytes()
    shutil.rmtree(wall)
    _, wall = train_all(chosen, tmp_path / "out", Failing(), seeds=2, games=12)
    assert (wall / "maskable_ppo.zip").read_bytes() == before


@pytest.mark.slow
def test_a_policy_of_the_list_may_learn_from_the_search(tmp_path, monkeypatch):
    file, iterate, seen = tmp_path / "list.yml", baselines.expert_iteration, []
    file.write_text(TAUGHT)

    def stopped(*args, **options):
        seen.append(options["minutes"])
        result = iterate(*args, **{**options, "plan": replace(options["plan"], iterations=len(seen) - 1)})
        return replace(result, interrupted=len(seen) == 2)

    (each,) = chosen = baseline_list.baselines(file)
    assert (each.plan(0.5).games, each.plan(0.5).imitate_games, each.plan(0.5).iterations) == (8, 8, 3)
    monkeypatch.setattr(baselines, "expert_iteration", stopped)
    with pytest.raises(KeyboardInterrupt):
        train_all(chosen, tmp_path / "out", Here(), seeds=1, games=12)
    monkeypatch.setattr(baselines, "expert_iteration", iterate)
    (wall,) = train_all(chosen, tmp_path / "out", Here(), seeds=1, games=12)
    assert seen[0] is None
    assert 50 < seen[1] <= 60
    history = storage.described(wall / "expert_iteration.zip")[1]["expert_iteration"]["history"]
    assert [noted["iteration"] for noted in history] == [0, 1, 2, 3]
    rows = list(csv.DictReader((wall / "curves.csv").read_text(encoding="utf-8").splitlines()))
    assert [int(row["steps"]) for row in rows] == np.cumsum([noted["positions"] for noted in history]).tolist()
    card = (wall / "README.md").read_text(encoding="utf-8")
    assert 'Taught by the search that it guides, by expert iteration with {"iterations": 3,' in card
    assert "games against `random`." in card
    assert "one seed, 0" in card
    assert "| seed | minutes | selection random |" in card
    as_planned = figures_of(wall) | {"baseline": figures_of(wall)["baseline"] | {"expert": {}}}
    assert "Taught by the search that it guides, by expert iteration with {}," in written(
        as_planned, storage.described(wall / "expert_iteration.zip")[1]
    )


def figures_of(folder):
    return json.loads((folder / "figures.json").read_text(encoding="utf-8"))


class Failing(Here):
    """Does only what is done already."""

    def submit(self, function, *args):
        assert (args[2] / f"seed-{args[1]}" / "selection.json").is_file()
        return super().submit(function, *args)


class Elsewhere(Here):
    """Does nothing, and says what another process would: the policy that it has trained."""

    def __init__(self, trained):
        self.trained = trained

    def submit(self, function, *args):
        future = Future()
        future.set_result(self.trained)
        return future


class Later(Here):
    """Tells of errors as processes do, by its futures; of so many calls first that their process was killed."""

    killed = 0

    def submit(self, function, *args):
        future = Future()
        self.killed -= 1
        try:
            if self.killed >= 0:
                raise BrokenExecutor("a process was killed")
            future.set_result(function(*args))
        except (BrokenExecutor, ValueError) as error:
            future.set_exception(error)
        return future


def test_a_game_of_ones_own_may_lie_in_another_folder(tmp_path, monkeypatch):
    names = "examples/connect_four.py:ConnectFour-v0/ppo", "../games/x.py:X-v0,rows=4/dqn", "/games/x.py:X-v0/ppo"
    near, above, whole = map(baselines.Baseline, names)
    assert (near.env_id, near.algorithm, near.board) == ("examples/connect_four.py:ConnectFour-v0", "ppo", {})
    assert (above.env_id, above.board) == ("../games/x.py:X-v0", {"rows": 4})
    assert whole.env_id == "/games/x.py:X-v0"
    assert [each.place.as_posix() for each in (near, above, whole)] == [names[0], names[1][3:], names[2][1:]]
    monkeypatch.chdir(Path(__file__).parents[2])
    file = tmp_path / "list.yml"
    file.write_text(f"{names[0]}: {{}}")
    assert baseline_list.baselines(file) == [near]
    with pytest.raises(ValueError, match=r"have one folder in .*; train them apart"):
        train_all([near, replace(near, name=f"../{near.name}")], tmp_path / "out", Here())


def test_opponents_to_be_measured_against_are_checked_before_anything_is_trained(tmp_path):
    wrong = baselines.Baseline("WallSurvival-v0,board_size=3/ppo", against=("greedy", "nobody"))
    with pytest.raises(ValueError, match="unknown opponent 'nobody'"):
        train_all([wrong], tmp_path / "out", Here())
    assert not (tmp_path / "out").exists()


def test_what_its_own_processes_have_trained_is_no_file_of_a_stranger(tmp_path, monkeypatch, recwarn):
    said = []

    def finish(each, folder, seeds, games):
        trust.warn_of_pickles(folder / "seed-0" / "ppo.zip")
        return folder

    monkeypatch.setattr(baselines, "finish", finish)
    for name, now in (("now", True), ("before", False)):
        there = tmp_path / name / "LaneDefense3x3-v0" / "ppo" / "seed-0" / "ppo.zip"
        crew = Elsewhere(there if now else None)
        train_all([baselines.Baseline("LaneDefense3x3-v0/ppo")], tmp_path / name, crew, seeds=1, report=said.append)
        assert any("holds pickles" in str(each.message) for each in recwarn) == (not now)
    assert said[0] == f"1 training; kept in {tmp_path / 'now'}"


def test_a_training_that_fails_does_not_stop_the_others(tmp_path, monkeypatch):
    chosen = [baselines.Baseline(f"LaneDefense3x3-v0/{name}", changes=SHORT) for name in ("ppo", "maskable_ppo")]
    train, said = baselines.train, []

    def failing(id, algorithm, **options):
        if (algorithm, options["seed"]) == ("ppo", 0):
            raise ValueError("training has diverged")
        return train(id, algorithm, **options)

    monkeypatch.setattr(baselines, "train", failing)
    with (
        pytest.warns(UserWarning, match=r"3-v0/ppo, seed 0: training has diverged; the other trainings go on"),
        pytest.raises(ValueError, match="has diverged") as error,
    ):
        train_all(chosen, tmp_path, Here(), seeds=2, games=8, report=said.append)
    done = [f"{chosen[0].name}, seed 1: done", *(f"{chosen[1].name}, seed {seed}: done" for seed in range(2))]
    assert said == [f"4 trainings; kept in {tmp_path}", *done]
    assert error.value.__notes__ == [f"so {chosen[0].name} is not ready; 1 of 2 policies are, in {tmp_path}"]
    assert (tmp_path / chosen[1].name / "best" / "maskable_ppo.zip").is_file()
    assert (tmp_path / chosen[0].name / "seed-1" / "selection.json").is_file()


@pytest.mark.parametrize(("killed", "ends"), [(2, True), (3, False)])
def test_a_training_whose_process_was_killed_goes_on_a_few_times(tmp_path, killed, ends):
    (each,) = chosen = [baselines.Baseline("LaneDefense3x3-v0/ppo", changes=SHORT)]
    crew = Later()
    crew.killed = killed
    if ends:
        assert train_all(chosen, tmp_path, crew, seeds=1, games=8) == [tmp_path / each.name / "best"]
        return
    with pytest.raises(BrokenExecutor, match="a process was killed"):
        train_all(chosen, tmp_path, crew, seeds=1, games=8)


def test_what_was_broken_off_goes_on_from_its_last_checkpoint(tmp_path, monkeypatch):
    each = baselines.Baseline(
        "LaneDefense3x3-v0/ppo", changes={"n_envs": 8, "n_steps": 16, "batch_size": 64, "n_timesteps": 1280}
    )
    train = baselines.train

    def interrupted(*args, **options):
        options["changes"] = {**options["changes"], "n_timesteps": 640}
        result = train(*args, **options)
        return Trained(result.path, result.timesteps, result.seconds, signal.SIGINT)

    monkeypatch.setattr(baselines, "train", interrupted)
    with pytest.raises(KeyboardInterrupt):
        baselines.train_one(each, 3, tmp_path, 8, 1.0)
    monkeypatch.setattr(baselines, "train", train)
    baselines.train_one(each, 3, tmp_path, 8, 1.0)
    about = storage.described(tmp_path / "seed-3" / "ppo.zip")[1]
    assert (about["timesteps"], about["seed"]) == (1280, 3)
    steps = [point.steps for point in curves.read(tmp_path / "seed-3" / "tensorboard")]
    assert steps == sorted(set(steps))
    assert steps[-1] == 1280
    assert 0 < about["seconds"] < 300


TINY = {"n_envs": 8, "n_steps": 16, "batch_size": 64, "n_timesteps": 512, "policy_kwargs": {"net_arch": [8]}}


def test_a_changed_list_is_not_answered_with_an_old_policy(tmp_path):
    each = baselines.Baseline("LaneDefense3x3-v0/ppo", changes=TINY)
    (best,) = train_all([each], tmp_path, Here(), seeds=1, games=8)
    for changed, words in (
        ({"minutes": 2.0}, r"seed-0 holds a training with minutes 60\.0, not 2\.0; choose another --out"),
        ({"changes": {**TINY, "gamma": 0.5}}, "holds a training with changes"),
    ):
        with pytest.raises(ValueError, match=words):
            train_all([replace(each, **changed)], tmp_path, Here(), seeds=1, games=8)
    before = (tmp_path / each.name / "seed-0" / "ppo.zip").read_bytes()
    train_all([each], tmp_path, Here(), seeds=1, games=12)
    assert [found[""]["games"] for found in figures_of(best)["selection"]] == [12]
    assert (tmp_path / each.name / "seed-0" / "ppo.zip").read_bytes() == before
    for name, damaged in (("selection.json", ""), ("selection.json", "[1, 2]"), ("baseline.json", "[1, 2]")):
        file = tmp_path / each.name / "seed-0" / name
        file.write_text(damaged)
        with pytest.raises(ValueError, match=rf"seed-0.{name} is damaged \(.*; restore it, or delete it"):
            train_all([each], tmp_path, Here(), seeds=1, games=12)
        file.unlink()
        train_all([each], tmp_path, Here(), seeds=1, games=12)
        assert (tmp_path / each.name / "seed-0" / "ppo.zip").read_bytes() == before


def test_a_changed_list_is_refused_by_what_was_interrupted_before_its_first_checkpoint(tmp_path, monkeypatch):
    each, train = baselines.Baseline("LaneDefense3x3-v0/ppo", changes=TINY), baselines.train

    def interrupted(*args, **options):
        train(*args, **{**options, "checkpoint_every": 10**9})
        raise KeyboardInterrupt

    monkeypatch.setattr(baselines, "train", interrupted)
    with pytest.raises(KeyboardInterrupt):
        train_all([each], tmp_path, Here(), seeds=1, games=8)
    kept = tmp_path / each.name / "seed-0" / "baseline.json"
    before = kept.read_bytes()
    with pytest.raises(ValueError, match=r"holds a training with settings \{\}"):
        train_all([replace(each, settings={"reward_kill": 5})], tmp_path, Here(), seeds=1, games=8)
    assert kept.read_bytes() == before


def test_nothing_is_lost_where_it_was_broken_off_nor_time_counted_that_was(tmp_path, monkeypatch):
    each = baselines.Baseline("LaneDefense3x3-v0/ppo", changes={**TINY, "n_timesteps": 1280}, minutes=1.0)
    asked, train = [], baselines.train

    def noted(*args, **options):
        asked.append((options["resume"], options["minutes"]))
        raise KeyboardInterrupt

    monkeypatch.setattr(baselines, "train", noted)
    here = tmp_path / "seed-0"
    train(each.env_id, out=here, timesteps=640, changes=TINY, checkpoint_every=256, progress=False)
    last = here / "checkpoints" / "ppo_512.json"
    for file, seconds in ((here / "ppo.json", 30.0), (last, 15.0)):
        about = json.loads(file.read_text(encoding="utf-8"))
        assert 0 < about["seconds"] < 60
        file.write_text(json.dumps({**about, "seconds": seconds}))
    with pytest.raises(KeyboardInterrupt):
        baselines.train_one(each, 0, tmp_path, 8, 1.0)
    (here / "ppo.json").unlink()  # killed between policy and sidecar
    with pytest.raises(KeyboardInterrupt):
        baselines.train_one(each, 0, tmp_path, 8, 1.0)
    assert asked == [(here / "ppo.zip", 0.5), (last.with_suffix(".zip"), 0.75)]


def test_who_trains_a_policy_is_left_alone_by_another_call(tmp_path):
    each = baselines.Baseline("LaneDefense3x3-v0/ppo", changes=TINY)
    (tmp_path / each.name).mkdir(parents=True)
    with (
        only_writer(tmp_path / each.name, "training"),
        pytest.raises(BlockingIOError, match=r"another training is writing to .*ppo; wait for it"),
    ):
        train_all([each], tmp_path, Here(), seeds=1, games=8)
    assert not (tmp_path / each.name / "seed-0").exists()


def test_a_full_disk_is_named(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(storage, "save", full)
    each = baselines.Baseline("LaneDefense3x3-v0/ppo", changes=TINY, minutes=60.0)
    with pytest.raises(OSError, match=r"No space left on device: '.*seed-0'\nso .* not ready"):
        train_all([each], tmp_path, Here(), seeds=1, games=8)


def test_a_picture_of_curves_that_has_no_room_is_named_and_leaves_the_one_before(tmp_path, monkeypatch):
    file, line = tmp_path / "curves.png", [curves.Point(each, 0.5, 1.0, 9.0) for each in range(2)]
    curves.draw(file, "before", {0: line})
    before = file.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*curves\.png'"):
        curves.draw(file, "now", {0: line, 1: line})
    assert file.read_bytes() == before


def test_dqn_is_trained_saved_and_played(tmp_path):
    small = {"learning_starts": 64, "batch_size": 32, "buffer_size": 1000, "policy_kwargs": {"net_arch": [8]}}
    path = quick(tmp_path, "dqn", timesteps=512, changes=small).path
    assert evaluate(path, 8).points.shape == (8,)
    DQN.load(path)
    agents.export(path)
    assert agents.make("mcts", policy=str(path), evaluate="policy").policy.network.outputs == "action_values"


def test_returns_of_several_steps_go_with_a_saved_dqn(tmp_path, capfd):
    changes = {"learning_starts": 64, "batch_size": 32, "buffer_size": 1000, "n_steps": 3}
    path = quick(tmp_path, "dqn", timesteps=128, changes=changes).path
    capfd.readouterr()
    buffer = DQN.load(path).replay_buffer
    assert (type(buffer).__name__, buffer.n_steps) == ("NStepReplayBuffer", 3)
    assert "is ignored" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("n_steps", [5, 1])
def test_returns_of_more_or_fewer_steps_from_where_a_dqn_goes_on(tmp_path, n_steps):
    small = {"learning_starts": 64, "batch_size": 32, "buffer_size": 1000, "n_steps": 3}
    path = quick(tmp_path / "before", "dqn", timesteps=128, changes=small).path
    path = quick(tmp_path / "after", "dqn", timesteps=256, changes={"n_steps": n_steps}, resume=path).path
    assert getattr(DQN.load(path).replay_buffer, "n_steps", 1) == n_steps


def test_what_is_shipped_is_rounded_and_without_what_was_never_learned(tmp_path):
    policy = storage.load(quick(tmp_path, "ppo", timesteps=128).path).model.policy
    weights = policy.mlp_extractor.policy_net[0].weight
    policy.optimizer.state[weights]["exp_avg_sq"][:, 3] = 0.0
    learned = policy.optimizer.state[weights]["exp_avg_sq"].numpy() > 0
    before = weights.detach().numpy().copy()
    assert before.all()
    assert learned.any()
    lighten(policy)
    after = weights.detach().numpy()
    assert not after[~learned].any()
    np.testing.assert_allclose(after[learned], before[learned], rtol=2.0**-11)
    assert not (after.view(np.int32) & 0x1FFF).any()
    assert len(zlib.compress(after.tobytes())) < 0.75 * len(zlib.compress(before.tobytes()))
    assert not policy.optimizer.state


def test_mistakes(tmp_path):
    file = tmp_path / "list.yml"
    file.write_text("LaneDefense3x3-v0/ppo: {minuts: 3}")
    with pytest.raises(ValueError, match="unknown baseline LaneDefense3x3-v0/ppo key 'minuts'; did you mean 'minutes'"):
        baseline_list.baselines(file)
    file.write_text("LaneDefense3x3-v0/pqo: {}")
    with pytest.raises(ValueError, match="did you mean 'ppo'"):
        baseline_list.baselines(file)
    file.write_text("WallSurvival-v0,board_size=3/expert_iteration: {expert: {game: 3}}")
    with pytest.raises(ValueError, match="expert_iteration key 'game'; did you mean 'games'"):
        baseline_list.baselines(file)
    file.write_text("WallSurvival-v0,board_size=3/expert_iteration: {expert: 3}")
    with pytest.raises(ValueError, match=r"expert 3 of baseline .*/expert_iteration is no mapping; write"):
        baseline_list.baselines(file)
    file.write_text("WallSurvival-v0,board_size=3/maskable_ppo: {expert: {games: 3}}")
    with pytest.raises(ValueError, match=r"maskable_ppo has expert: .'games': 3., which is for expert_iteration"):
        baseline_list.baselines(file)
    file.write_text("WallSurvival-v0,board_size=3/expert_iteration: {changes: {n_timesteps: 9, learning_rate: 0.01}}")
    with pytest.raises(ValueError, match="changes n_timesteps, for which expert_iteration has no use; see expert"):
        baseline_list.baselines(file)
    for text, words in (
        ("- 1", r"holds \[1\], not what policies are trained by; write NAME"),
        ("a: [", "is no YAML"),
        ("A-v0/ppo: {}\nA-v0/ppo: {minutes: 3}", "has A-v0/ppo 2 times, of which the last alone"),
        ("LaneDefense3x3-v0/ppo: {minutes: abc}", "minutes of baseline LaneDefense3x3-v0/ppo 'abc' is str"),
        ("LaneDefense3x3-v0/ppo: {minutes: -5}", r"minutes of baseline .* -5\.0 is outside"),
        ("LaneDefense3x3-v0/ppo: {against: greedy}", "against 'greedy' of baseline LaneDefense3x3-v0/ppo is no list"),
        ("LaneDefense3x3-v0/ppo: {changes: 3}", "changes 3 of baseline LaneDefense3x3-v0/ppo is no mapping"),
    ):
        file.write_text(text)
        with pytest.raises((ValueError, TypeError), match=words):
            baseline_list.baselines(file)
    for there in (tmp_path, tmp_path / "none.yml"):
        with pytest.raises(ValueError, match=r"cannot be read \(.+\); give a file of NAME: {minutes: 10}"):
            baseline_list.baselines(there)
    assert Path(baselines.__file__).parent.joinpath("hyperparams", "baselines.yml").is_file()


def test_the_table_of_what_is_shipped_says_what_the_cards_say():
    """Every figure of the documentation stands in the part of the card that is about that policy."""
    text = (Path(__file__).parents[2] / "docs" / "training.md").read_text(encoding="utf-8")
    rows = text.partition("| environment | name | against |")[2].partition("\n\n")[0].splitlines()[2:]
    where = name = ""
    for row in rows:
        place, policy, *_, result = (part.strip() for part in row.strip("|").split(" | "))
        where = place.replace("`", "").replace(", ", ",") or where
        name = policy.strip("`") or name
        card = (FOLDER / where / "README.md").read_text(encoding="utf-8")
        own = card.partition(f"# `{where}/{name}`")[2].partition("\n# ")[0] or card  # of one without such parts all
        figure, low, high = re.findall(r"[\d.]+", result)[:3]
        assert f"{figure} % [{low}, {high}]" in own, (where, name, result)
    assert len(rows) > 20
