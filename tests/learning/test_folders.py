"""Folders of trainings: one writer at a time, lost and damaged files, mistakes that leave nothing in the way."""

import contextlib
import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import expert_iteration as iterating
import filelock
import pytest
import train as training
import typer
import watch as watching

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter

from agents.arena import Plan as Comparison
from agents.arena import parse_agents
from agents.learning import curves, expert, jobs, positions
from agents.learning.expert import expert_iteration
from agents.learning.expert_folder import checkpoints
from agents.learning.expert_plan import Plan
from agents.learning.jobs import Here, local
from agents.learning.saved import storage
from agents.locking import only_writer
from agents.watching import watch
from mcts_envs.core.writing import write_whole
from tests.learning.quick import SMALL, quick

pytestmark = pytest.mark.filterwarnings("ignore::agents.learning.saved.notices.PolicyWarning")

LANE = "LaneDefense3x3-v0"


def learned(out, **more):
    options = {"iterations": 1, "games": 16, "search": {"agent": "gumbel", "simulations": 4}, "match_games": 0}
    options |= {"imitate": {"agent": "scripted"}, "batch": 64}
    plan = Plan(**{**options, **{name: more.pop(name) for name in [*more] if name in Plan.__dataclass_fields__}})
    changes = {"n_envs": 4, **SMALL}
    return expert_iteration(LANE, "ppo", out=out, plan=plan, changes=changes, executor=Here(), **more)


@pytest.mark.parametrize("played", [2, 6, 9])
def test_jobs_that_another_release_began_keep_their_games(tmp_path, monkeypatch, played):
    class Ending(Here):
        left = played

        def submit(self, *job):
            self.left -= 1
            if self.left < 0:
                raise KeyboardInterrupt
            return super().submit(*job)

    with monkeypatch.context() as before:
        before.setattr("agents.learning.playing._FEWEST", 5)
        before.setattr("tests.learning.test_folders.Here", Ending)
        assert learned(tmp_path, iterations=2).signal == signal.SIGINT
    kept = {path: path.read_bytes() for path in tmp_path.glob("games/*/*.npz")}
    assert len(kept) == played
    assert [noted["games"] for noted in learned(tmp_path, iterations=2).history] == [16, 16, 16]
    assert all(path.read_bytes() == content for path, content in kept.items())
    sizes = [len(positions.read(path).lengths) for path in sorted(tmp_path.glob("games/*/*.npz"))]
    before, after = [5, 5, 5, 1], [8, 8]
    assert sizes == before + {2: after + after, 6: before + after, 9: before + before}[played]


def test_an_edited_game_is_told_as_often_as_its_folder_goes_on(tmp_path, monkeypatch):
    for digest, told in (("as it was", 0), ("as it was", 0), ("edited", 1), ("edited", 1)):
        monkeypatch.setattr("agents.learning.expert_folder.digests_of", lambda id, digest=digest: {"mine": digest})
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            learned(tmp_path, iterations=0)
        assert sum("mine was edited since" in str(each.message) for each in found) == told


def test_one_training_at_a_time_writes_to_a_folder(tmp_path):
    with only_writer(tmp_path, "training"):
        for begin in (quick, learned):
            with pytest.raises(BlockingIOError, match=r"another training is writing to .*; wait for it"):
                begin(tmp_path)
    assert not [*tmp_path.glob("*.*z*")]
    assert quick(tmp_path).timesteps == 1024


def test_of_two_that_begin_at_once_in_a_folder_one_goes_on(tmp_path, monkeypatch):
    out = tmp_path / "out"
    with contextlib.ExitStack() as other:

        def begun(loop):
            out.mkdir()
            other.enter_context(only_writer(out, "training"))

        monkeypatch.setattr(expert._Loop, "check", begun)
        with pytest.raises(BlockingIOError, match="another training is writing to"):
            learned(out)


def test_games_that_were_lost_are_not_silently_done_without(tmp_path):
    first = learned(tmp_path)
    games = tmp_path / "games" / "0000" / "0001.npz"
    whole = games.read_bytes()
    for lose in (games.unlink, lambda: games.write_bytes(whole[:100])):
        lose()
        with pytest.raises(ValueError, match=r"games of iteration 0, from which iteration 2 is to learn, are lost"):
            learned(tmp_path, iterations=2)
    assert learned(tmp_path).path == first.path  # nothing is learned from them any more
    games.write_bytes(whole)
    now = tmp_path / "games" / "0002" / "0000.npz"
    now.parent.mkdir()
    now.write_bytes(whole[:100])
    with pytest.raises(ValueError, match=r"0000\.npz is damaged .*; delete it, and its games are played again"):
        learned(tmp_path, iterations=2)
    now.unlink()
    assert len(learned(tmp_path, iterations=2).history) == 3


def test_a_damaged_checkpoint_is_deleted_and_learned_again_from_its_games(tmp_path):
    first, last = learned(tmp_path).history, tmp_path / "checkpoints" / "ppo_0001.zip"
    for file in (last, last.with_suffix(".json")):
        file.write_bytes(file.read_bytes()[:100])
        with pytest.raises(ValueError, match=r"ppo_0001\.\w+ is .*; delete .*ppo_0001\.zip and its \.json, and iter"):
            learned(tmp_path)
        last.unlink()
        assert learned(tmp_path).history[1]["policy_loss"] == first[1]["policy_loss"]


def test_a_plan_by_which_nothing_was_played_is_in_nobodys_way(tmp_path):
    with pytest.raises(ValueError, match="alpha_beta plays games in which 2 players take turns"):
        learned(tmp_path, imitate={"agent": "alpha_beta"})
    assert len(learned(tmp_path).history) == 2
    (tmp_path / "plan.json").write_text("{")
    with pytest.raises(ValueError, match=r"plan\.json is damaged .* choose another out"):
        learned(tmp_path)


def test_an_expert_iteration_is_not_trained_over(tmp_path):
    path = learned(tmp_path / "expert").path
    with pytest.raises(FileExistsError, match="expert holds an expert iteration, which would be lost"):
        quick(path.parent, resume=path, timesteps=2048)
    assert quick(tmp_path / "on", resume=path, timesteps=2048).timesteps >= 2048
    assert len(learned(tmp_path / "expert", iterations=2).history) == 3


def test_an_expert_iteration_is_no_training_of_another_algorithm(tmp_path):
    quick(tmp_path / "trained", "maskable_ppo")
    with pytest.raises(FileExistsError, match=r"maskable_ppo\.zip .* exists; train into another folder"):
        learned(tmp_path / "trained")
    with pytest.raises(ValueError, match="unknown algorithm to learn from a search with 'dqn'; known: maskable"):
        expert_iteration(LANE, "dqn", out=tmp_path / "none")
    search = {"agent": "mcts", "simulations": 4}
    with pytest.raises(ValueError, match=r"^policy=.*none/ppo\.zip is consulted by nothing; take select='puct'"):
        expert_iteration(LANE, "ppo", out=tmp_path / "none", plan=Plan(search=search))
    assert not (tmp_path / "none").exists()


def test_an_expert_iteration_that_begins_with_a_policy_is_of_its_algorithm_and_knows_it_elsewhere(tmp_path, capsys):
    start, out = quick(tmp_path / "first").path, tmp_path / "out"
    options = {"iterations": 0, "games": 8, "match_games": 0, "search": "gumbel:simulations=4", "workers": 1}
    iterating.main(LANE, start=start, out=out, **options)
    assert (out / "ppo.zip").is_file()
    (tmp_path / "first").rename(tmp_path / "moved")
    iterating.main(LANE, start=tmp_path / "moved" / "ppo.zip", out=out, **options)
    other = quick(tmp_path / "other", seed=1).path
    with pytest.raises(typer.Exit):
        iterating.main(LANE, start=other, out=out, **options)
    assert "holds an expert iteration with start 'a policy of 1024 steps" in capsys.readouterr().err


def test_a_search_that_brings_a_policy_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"search has policy 'x\.zip', and it consults the one that learns"):
        Plan(search={"agent": "gumbel", "policy": "x.zip"})
    with pytest.raises(ValueError, match=r"workers 0 is outside \[1, 100000\]"):
        learned(tmp_path / "none", workers=0)
    assert not (tmp_path / "none").exists()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc")
def test_processes_end_with_whom_they_work_for(tmp_path):
    script = tmp_path / "crew.py"
    script.write_text(
        "import multiprocessing, time\n"
        "from agents.learning.jobs import local\n"
        "if __name__ == '__main__':\n"
        "    crew = local(2)\n"
        "    crew.submit(time.sleep, 0).result()\n"
        "    print(*[child.pid for child in multiprocessing.active_children()], flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        children = [int(text) for text in parent.stdout.readline().split()]
        parent.kill()
    assert children
    deadline = time.monotonic() + 20
    while any(map(_alive, children)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(_alive, children))


def _alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_teacher_is_looked_at_before_anything_is_written(tmp_path):
    for imitate, words in (
        ({"agent": "nobody", "steps": 8}, "nobody"),
        ({"agent": "scripted", "steps": 0}, "imitate steps 0 is outside"),
        ({"agent": "scripted", "steps": 8, "learning_rate": -1}, r"imitate learning_rate -1\.0 is outside"),
    ):
        with pytest.raises(ValueError, match=words):
            quick(tmp_path, changes={"imitate": imitate})
    with pytest.raises(ValueError, match="imitate is for policies with probabilities and no memory, not for DQN"):
        quick(tmp_path, "dqn", changes={"imitate": {"agent": "scripted", "steps": 8}})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("action", [10**6, -1])
def test_a_teacher_whose_action_is_none_is_named_before_a_rule_takes_it(tmp_path, action):
    (tmp_path / "far.py").write_text(f"def far(env):\n    return {action}\n")
    with pytest.raises(ValueError, match=rf"action {action} is outside Discrete\(10\); legal now"):
        learned(tmp_path / "out", imitate={"agent": f"{tmp_path / 'far.py'}:far"})


@pytest.mark.parametrize("role", ["opponent", "seldom", "teacher"])
def test_who_cannot_play_here_is_refused_before_anything_is_written(tmp_path, role):
    lanes = f"sb3:{quick(tmp_path / 'lanes').path}"
    walls = {"opponent": {"opponent": lanes, "seldom": {"random": 1, lanes: 1e-6}, "teacher": "random"}[role]}
    changes = {"imitate": {"agent": lanes, "steps": 1000}} if role == "teacher" else {}
    with pytest.raises(ValueError, match=r"was trained for lane_defense with \d+ actions; this is wall_survival"):
        quick(tmp_path / "walls", env_id="WallSurvival-v0", settings={"board_size": 3, **walls}, changes=changes)
    assert not (tmp_path / "walls").exists()


@pytest.mark.parametrize("fits", [0, 1])
def test_a_full_disk_is_told_with_what_to_do(tmp_path, monkeypatch, capsys, fits):
    save, saved = storage.save, []

    def full(model, path, *more):
        saved.append(path)
        if len(saved) > fits:
            raise OSError(errno.ENOSPC, "No space left on device")
        return save(model, path, *more)

    monkeypatch.setattr(storage, "save", full)
    changes = ["n_envs=4", "n_steps=16", "batch_size=32", "n_epochs=1"]
    with pytest.raises(typer.Exit):
        training.main(LANE, "ppo", timesteps=1024, out=tmp_path, parameters=changes, checkpoint_every=256)
    last = tmp_path / "checkpoints" / "ppo_256.zip"
    cure = f"resume with --resume {last}" if fits else "begin anew"
    assert f"No space left on device: '{tmp_path}'; make room, then {cure}" in capsys.readouterr().err
    monkeypatch.setattr(storage, "save", save)
    training.main(LANE, out=tmp_path, resume=last if fits else None, parameters=changes, timesteps=1024, games=0)
    assert "1,024 steps" in capsys.readouterr().out


def test_a_full_disk_names_the_policy_where_that_is_last(tmp_path, monkeypatch, capsys):
    path = quick(tmp_path, checkpoint_every=256).path

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(storage, "save", full)
    with pytest.raises(typer.Exit):
        training.main(LANE, resume=path, timesteps=1536)
    assert f"; make room, then resume with --resume {path}" in capsys.readouterr().err


def test_a_log_that_cannot_be_written_does_not_end_a_training(tmp_path, monkeypatch):
    written, write = [], RecordWriter.write

    def full(writer, data):
        written.append(data)
        if len(written) > 9:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(writer, data)

    monkeypatch.setattr(RecordWriter, "write", full)
    with pytest.warns(UserWarning, match=r"ppo_1 cannot be written \(No space left on device\): the training goes on"):
        result = quick(tmp_path, tensorboard=True, evaluate_every=256)
    assert result.timesteps == 1024
    assert result.path.is_file()
    monkeypatch.undo()
    assert quick(tmp_path, tensorboard=True, evaluate_every=256, timesteps=2048, resume=result.path).timesteps == 2048
    assert [point.steps for point in curves.read(tmp_path / "tensorboard")][-1] == 2048


@pytest.mark.parametrize("names", [("1000000002.a.7.1", "1000000001.a.7.2"), ("1000000001.a.7.10", "1000000001.a.7.9")])
def test_a_curve_is_whole_where_its_logs_were_copied_the_last_first(tmp_path, names):
    for copied, (begun, steps) in enumerate(zip(names, [(30, 40), (10, 20, 30)], strict=True)):
        file = tmp_path / f"events.out.tfevents.{begun}"
        with file.open("wb") as stream:
            for each in steps:
                values = [Summary.Value(tag=tag, simple_value=1.0) for tag in curves._MEASURES]
                RecordWriter(stream).write(Event(step=each, summary=Summary(value=values)).SerializeToString())
        os.utime(file, (copied, copied))
    assert [point.steps for point in curves.read(tmp_path)] == [10, 20, 30, 40]


def test_a_folder_that_is_moved_while_it_is_written_to_is_named(tmp_path, monkeypatch):
    out, moved, save = tmp_path / "out", tmp_path / "moved", storage.save

    def move(*given):
        save(*given)
        out.rename(moved)

    monkeypatch.setattr(storage, "save", move)
    with pytest.raises(FileNotFoundError, match="out was moved or deleted while a training"):
        quick(out, checkpoint_every=256, tensorboard=True)
    monkeypatch.setattr(storage, "save", save)
    assert quick(moved, resume=moved / "checkpoints" / "ppo_256.zip").timesteps == 1024


def test_a_folder_that_no_file_system_takes_is_refused_in_a_line(tmp_path, capsys):
    with pytest.raises(typer.Exit):
        training.main(LANE, timesteps=1024, out=tmp_path / ("x" * 300))
    assert capsys.readouterr().err.startswith("error: ")


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
def test_a_full_disk_is_named_where_a_file_appears_whole(tmp_path):
    code = (
        "import resource; from pathlib import Path; from mcts_envs.core.writing import write_whole\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (9, 9))\n"
        "write_whole(Path('0000.npz'), bytes(10))"
    )
    said = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert said.stderr.endswith("OSError: [Errno 27] File too large: '0000.npz'\n")
    assert not list(tmp_path.iterdir())


def test_no_room_for_what_processes_share_is_named(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(jobs, "ProcessPoolExecutor", full)
    with pytest.raises(OSError, match="No space left on device: '/dev/shm'"):
        local(2)


def test_checkpoints_are_in_the_order_of_their_iterations(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    for number in ("0002", "10000", "9999"):
        for suffix in (".zip", ".json"):
            (tmp_path / "checkpoints" / f"ppo_{number}{suffix}").touch()
    assert [path.name for path in checkpoints(tmp_path, "ppo")] == ["ppo_0002.zip", "ppo_9999.zip", "ppo_10000.zip"]


@pytest.mark.parametrize("error", [NotImplementedError("no flock"), OSError(errno.ENOLCK, "No locks available")])
def test_a_file_system_without_locks_is_warned_of(tmp_path, monkeypatch, error):
    def refuses(*_, **__):
        raise error

    monkeypatch.setattr(filelock.FileLock, "acquire", refuses)
    told = pytest.warns(UserWarning, match="cannot be locked .*; see that no other training writes there")
    with told, only_writer(tmp_path, "training"):
        pass
    monkeypatch.setattr(error, "errno", errno.EACCES, raising=False)
    if isinstance(error, OSError):
        with pytest.raises(OSError, match="No locks"), only_writer(tmp_path, "training"):
            pass


def test_a_plan_that_played_nothing_does_not_give_a_policy_away(tmp_path):
    quick(tmp_path)
    for part in tmp_path.glob("checkpoints"):
        part.rename(tmp_path / "elsewhere")
    (tmp_path / "plan.json").write_text("{}")
    with pytest.raises(FileExistsError):
        learned(tmp_path)


def looped(file):
    """Do a job until it is interrupted, which it notes."""
    file.write_text("begun")
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            time.sleep(0.05)
    file.write_text("stopped")


@pytest.mark.slow
def test_jobs_under_way_are_told_to_stop_where_a_signal_would_end_their_process(tmp_path, monkeypatch):
    monkeypatch.setattr(jobs, "sys", SimpleNamespace(platform="win32"))
    file = tmp_path / "job"
    with contextlib.suppress(KeyboardInterrupt), local(2) as crew:
        crew.submit(looped, file)
        while not file.exists():
            time.sleep(0.05)
        raise KeyboardInterrupt
    assert file.read_text() == "stopped"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_a_job_that_waits_for_something_is_told_to_stop_at_once(monkeypatch):
    monkeypatch.setattr(jobs._Told, "working", True)
    monkeypatch.setattr(jobs._Told, "stop", False)
    before, began = signal.signal(signal.SIGTERM, jobs._stop), time.monotonic()
    try:
        threading.Timer(0.2, jobs._end).start()
        with pytest.raises(KeyboardInterrupt):
            time.sleep(8)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert time.monotonic() - began < 4


def worked(file):
    """Do a job until it is interrupted, which it notes."""
    file.write_text("begun")
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        file.write_text("stopped")
        raise


@pytest.mark.slow
def test_ctrl_c_ends_the_jobs_under_way_and_begins_no_more(tmp_path):
    files = [tmp_path / str(number) for number in range(4)]
    with contextlib.suppress(KeyboardInterrupt), local(2) as crew:
        futures = [crew.submit(worked, file) for file in files]  # two are begun, and one more is given out
        while not (files[0].exists() and files[1].exists()):
            time.sleep(0.05)
        futures[3].cancel()
        raise KeyboardInterrupt
    assert [file.read_text() for file in files if file.exists()] == ["stopped", "stopped"]


def test_a_full_disk_leaves_a_policy_with_its_own_sidecar(tmp_path, trained, monkeypatch):
    path = storage.save((policy := storage.load(trained["ppo"])).model, tmp_path / "ppo", policy.about)
    before, sync, synced = {file: file.read_bytes() for file in tmp_path.iterdir()}, os.fsync, []

    def full(file):
        synced.append(file)
        if len(synced) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(file)

    policy.model.num_timesteps += 64
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*ppo\.json'"):
        storage.save(policy.model, path, {**policy.about, "timesteps": policy.model.num_timesteps})
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_weights_beside_the_sidecar_of_before_are_noticed(tmp_path, trained):
    path = storage.save((policy := storage.load(trained["ppo"])).model, tmp_path / "ppo", policy.about)
    policy.model.num_timesteps += 64
    policy.model.save(path)
    said = r"VecNormalize after 1,024 steps, ppo\.zip the weights after 1,088: of two saves; restore the file, or"
    with pytest.raises(ValueError, match=said):
        storage.load(path)
    with pytest.raises(ValueError, match=said):
        quick(tmp_path, resume=path, timesteps=2048)
    path.with_suffix(".json").write_text(json.dumps({**policy.about, "normalization": None}))
    assert storage.load(path).model.num_timesteps == 1088  # as of somebody who goes on in a script of their own


def test_what_else_lies_among_the_checkpoints_of_an_expert_iteration_is_none(tmp_path):
    learned(tmp_path / "out")
    (tmp_path / "out" / "checkpoints" / "ppo_final.json").write_text("{}")
    assert [path.name for path in checkpoints(tmp_path / "out", "ppo")] == ["ppo_0000.zip", "ppo_0001.zip"]
    assert not learned(tmp_path / "out", iterations=2).interrupted


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="POSIX")
def test_what_is_no_file_keeps_its_place(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, b"game")
    assert (os.read(reader, 9), pipe.is_fifo()) == (b"game", True)
    os.close(reader)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_leaves_the_page_of_a_game_that_was_there(tmp_path, monkeypatch):
    (page := tmp_path / "watch.html").write_text("of before")
    monkeypatch.setattr(os, "fsync", lambda file: os.write(os.open("/dev/full", os.O_WRONLY), b"x"))
    plan = Comparison(LANE, parse_agents("random"))
    with pytest.raises(OSError, match=r"No space left on device: .*watch\.html"):
        watching.write(watch(plan, 0), lambda document: None, page, None, 4.0)
    assert [file.read_text() for file in tmp_path.iterdir()] == ["of before"]
