"""Batches of several threads: the same games as in one, whatever happens in one of them."""

import os
import pickle
import signal
import threading
import time

import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

import mcts_envs
from mcts_envs.core.api import parts
from tests.toys import StakesVector, TicTacToeVector

GAMES = {
    "next step": lambda **more: mcts_envs.make_vec("LaneDefense5x9-v0", 7, **more),
    "same step, in bytes": lambda **more: mcts_envs.make_vec(
        "LaneDefense3x3-v0", 7, autoreset_mode="SameStep", observation="planes", observation_dtype="uint8", **more
    ),
    "opponents": lambda **more: StakesVector(7, seat=2, opponent=["random", "scripted"], goal=6, **more),
    "a mixture": lambda **more: mcts_envs.make_sb3_vec_env(
        "WallSurvival-v0",
        7,
        0,
        seat="all",
        opponent={"random": 1, "greedy": 1, "agents:uniform": 1},
        board_size=4,
        **more,
    ),
}


def course(batch, steps=120):
    """Return all that a batch shows while legal actions are played, but the time."""
    rng, sb3 = np.random.default_rng(3), hasattr(batch, "env_method")
    found = [batch.reset() if sb3 else batch.reset(seed=0)]
    for _ in range(steps):
        masks = np.array(batch.env_method("action_masks")) if sb3 else batch.action_masks()
        found.append(batch.step((rng.random(masks.shape) * (masks + 1e-3)).argmax(1)))
        for info in found[-1][-1] if sb3 else []:
            info.get("episode", {}).pop("t", None)
    return found


@pytest.mark.parametrize("threads", [2, 3, 50])
@pytest.mark.parametrize("name", GAMES)
def test_the_same_games_whatever_the_threads(name, threads):
    assert data_equivalence(course(GAMES[name]()), course(GAMES[name](threads=threads)), exact=True)


def test_each_part_has_a_thread_of_its_own_and_games_of_its_own(monkeypatch):
    batch = TicTacToeVector(7, opponent="random", threads=3)
    batch.reset(seed=0)
    together, seen = threading.Barrier(3, timeout=20), {}

    def step(*arguments):
        seen[threading.get_ident()] = len(arguments[4])
        together.wait()

    monkeypatch.setattr(batch, "_step", step)
    batch.step(np.zeros(7, np.int64))
    assert sorted(seen.values()) == [2, 2, 3]


def test_one_part_has_nobody_to_wait_for(monkeypatch):
    waited, done = [], []
    monkeypatch.setattr(parts, "wait", waited.append)
    parts.for_each([0], done.append)
    assert (waited, done) == ([], [0])
    parts.for_each([0, 1], done.append)
    assert len(waited) == 1


def test_an_error_in_one_part_is_raised_when_all_are_done():
    done = []

    def work(part):
        if part == 1:
            raise ValueError("part 1")
        done.append(part)

    with pytest.raises(ValueError, match="part 1"):
        parts.for_each([0, 1, 2, 3], work)
    assert sorted(done) == [0, 2, 3]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
def test_an_interrupt_waits_for_all_parts():
    done, left = [], iter([0.02, 0.0])

    def work(part):
        time.sleep(0.15 * part)
        done.append(part)

    def interrupt(*_):
        signal.setitimer(signal.ITIMER_REAL, next(left))  # twice
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(KeyboardInterrupt):
            parts.for_each([0, 1, 2], work)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert sorted(done) == [0, 1, 2]
    assert not [*left]


def test_a_copy_has_as_many_threads():
    batch = TicTacToeVector(7, opponent="random", threads=3)
    batch.reset(seed=0)
    copy = pickle.loads(pickle.dumps(batch))
    assert copy.settings["threads"] == 3
    assert len(copy._parts) == 3
    actions = batch.action_masks().argmax(1)
    assert data_equivalence(batch.step(actions), copy.step(actions), exact=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_has_threads_of_its_own():
    batch = TicTacToeVector(4, opponent="random", threads=2)
    batch.reset(seed=0)
    batch.step(batch.action_masks().argmax(1))
    child = os.fork()
    if child == 0:
        batch.step(batch.action_masks().argmax(1))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("threads", [0, -1, 2000, 1.5, "all", None])
def test_threads_that_cannot_be(threads):
    with pytest.raises((ValueError, TypeError), match="threads"):
        mcts_envs.make_vec("LaneDefense3x3-v0", 4, threads=threads)
