"""Expert iterations that end while they are at work: nobody waits for games that are lost, nothing lies elsewhere."""

import os
import signal
import sys
import threading
import time

import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from agents.learning import expert, playing
from agents.learning.expert import expert_iteration
from agents.learning.expert_plan import Plan
from agents.learning.jobs import Processes, give_up, local, play_all
from agents.learning.playing import Job, described

ENDLESS = described({"agent": "mcts", "simulations": 10**8})


def test_processes_stop_what_they_are_at_and_new_ones_go_on(tmp_path):
    long, short = (
        Job("LaneDefense3x3-v0", {}, (player,), 0, 1) for player in (ENDLESS, described({"agent": "uniform"}))
    )
    with local(2) as crew:
        crew.submit(abs, 1).result()
        begun = time.monotonic()
        assert not play_all(crew, {tmp_path / "long.npz": long}, lambda: time.monotonic() - begun > 2)
        assert play_all(crew, {tmp_path / "short.npz": short}, lambda: False)
    assert [file.name for file in tmp_path.iterdir()] == ["short.npz"]


def interrupted(seconds, futures):
    with Processes(2) as crew:
        futures += [crew.submit(time.sleep, 100) for _ in range(8)]
        time.sleep(seconds)
        give_up(crew, futures)
        raise KeyboardInterrupt


@pytest.mark.filterwarnings("error")  # of the thread of the pool, too
@pytest.mark.parametrize("seconds", [0.0, 0.4])
def test_processes_that_have_only_begun_are_stopped(seconds):
    begun, futures = time.monotonic(), []
    with pytest.raises(KeyboardInterrupt):
        interrupted(seconds, futures)
    assert all(future.done() for future in futures)
    assert time.monotonic() - begun < 50


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_signal_ends_a_job_in_this_process(tmp_path, monkeypatch):
    def slow(job):
        threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGTERM]).start()
        time.sleep(600)

    monkeypatch.setattr(playing, "play", slow)
    plan = Plan(iterations=1, games=8, imitate={"agent": "uniform"})
    ended = expert_iteration("LaneDefense3x3-v0", "ppo", out=tmp_path, plan=plan, workers=1)
    assert (ended.signal, ended.path, ended.interrupted) == (signal.SIGTERM, None, True)


@pytest.mark.parametrize("moment", ["playing", "learning"])
def test_a_folder_that_is_moved_is_not_made_anew(tmp_path, monkeypatch, moment):
    out, moved, learn = tmp_path / "out", tmp_path / "moved", expert.distil
    plan = Plan(iterations=1, games=16, imitate={"agent": "uniform"}, match_games=0)

    def move(text):
        if text.startswith("iteration 0: 8 of 16") and moment == "playing":
            out.rename(moved)

    def learning(*given, **options):
        if out.is_dir() and moment == "learning":
            out.rename(moved)
        return learn(*given, **options)

    monkeypatch.setattr(expert, "distil", learning)
    with pytest.raises(FileNotFoundError, match=r"out was moved or deleted while .* give as out where"):
        expert_iteration("LaneDefense3x3-v0", "ppo", out=out, plan=plan, workers=1, report=move)
    assert not out.exists()
    assert len(expert_iteration("LaneDefense3x3-v0", "ppo", out=moved, plan=plan, workers=1).history) == 2
