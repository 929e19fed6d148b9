"""Memory of large observations: used again, but never while somebody holds an array or a part of it."""

import copy
import pickle
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mcts_envs
from mcts_envs.core.api.pool import LARGE, Pool

SHAPE = (4, LARGE // 16)


def address(array):
    return array.__array_interface__["data"][0]


@pytest.mark.parametrize(
    "part", [lambda a: a, lambda a: a[1], lambda a: a.reshape(2, -1)[1:, ::3], memoryview, lambda a: a[2].data]
)
def test_memory_that_is_held_is_not_lent_again(part):
    pool, held = Pool(SHAPE), []
    for number in range(6):
        array = pool.take()
        assert array.shape == SHAPE
        assert array.dtype == np.float32
        assert array.flags.writeable
        array[:] = number
        held.append(part(array))
        del array
    assert [set(np.asarray(each).ravel().tolist()) for each in held] == [{number} for number in range(6)]


def test_memory_that_nobody_holds_is_lent_again():
    pool, seen = Pool(SHAPE), set()
    array = pool.take()
    for _ in range(20):
        array = pool.take()  # the one before is held until here
        seen.add(address(array))
    assert len(seen) == 2
    small = Pool((2, 3))
    assert small.take().base is None
    assert pickle.loads(pickle.dumps(pool)).take().shape == copy.deepcopy(pool).take().shape == SHAPE


def test_threads_are_lent_different_memory():
    pool = Pool(SHAPE)
    memory = pool.take().reshape(-1).data
    pool._lent[0] = memory, lambda: time.sleep(0.1)  # the time in which another thread finds it free as well
    with ThreadPoolExecutor(2) as threads:
        one, other = (taken.result() for taken in [threads.submit(pool.take) for _ in range(2)])
    assert not np.shares_memory(one, other)


def test_large_batches_give_away_what_they_do_not_change():
    batch = mcts_envs.make_vec("Football3-v0", 256)
    held = [batch.reset(seed=0)[0]]
    assert held[0].nbytes > LARGE
    copies = [held[0].copy()]
    rng, seen = np.random.default_rng(0), set()
    for step in range(30):
        observations = batch.step(rng.integers(batch.single_action_space.n, size=256))[0]
        seen.add(address(observations))
        if step % 5 == 0:
            held.append(observations)
            copies.append(observations.copy())
    assert all(np.array_equal(one, other) for one, other in zip(held, copies, strict=True))
    assert len(seen) < 30
