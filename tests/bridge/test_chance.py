"""Chance of foreign environments: every generator is found, seeded apart, and none is foreseen."""

import collections
import copy
import math
import os
import random
import secrets
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.random import mtrand  # NumPy's global generator

from agents import bridge
from agents.bridge.copying.chance import Watch, reseed
from agents.bridge.copying.digest import digest
from agents.bridge.means import FAST
from agents.bridge.trial import chance_apart
from tests.bridge.worlds import Walk, mcts, playing

try:
    import torch
except ImportError:
    torch = None


def draws_of(generator):
    return [generator.random() for _ in range(3)]


def test_generators_are_seeded_apart_and_reproducibly():
    def fresh():
        bits = (np.random.PCG64, np.random.Philox, np.random.MT19937)
        made = [np.random.Generator(each(1)) for each in bits] + [np.random.Generator(np.random.PCG64(1))]
        return [*made, random.Random(1), np.random.RandomState(1)]

    def drawn(seed):
        generators = fresh()
        reseed(generators, seed)
        return [draws_of(generator) for generator in generators]

    assert drawn(7) == drawn(7)
    numbers = np.array(drawn(7) + drawn(8)).ravel()
    assert len(np.unique(numbers)) == len(numbers)
    one = np.random.default_rng(0)
    first = []
    for seed in range(2000):
        reseed([one], seed * 0x9E3779B97F4A7C15 % 2**64)
        first.append(one.random())
    assert abs(np.mean(first) - 0.5) < 4 / math.sqrt(12 * 2000)
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 4 / math.sqrt(2000)


def test_slippery_ice_is_not_foreseen():
    env = playing("FrozenLake-v1", seed=3)
    view = bridge.view(env)
    root, work = view.state.copy(), view.game.new_state()
    ends = collections.Counter()
    for seed in range(600):
        work[:] = root
        view.game.determinize(work, 0, seed * 0x9E3779B97F4A7C15 % 2**64)
        view.game.step(work, [2], [0.0])
        ends[work.env.s] += 1
    assert set(ends) == {0, 1, 4}
    assert all(abs(count - 200) < 4 * math.sqrt(600 * 2 / 9) for count in ends.values())
    plain = {copy.deepcopy(env).step(2)[0] for _ in range(20)}
    assert len(plain) == 1  # what copies without new chance would have seen


def test_cards_are_drawn_anew_but_those_on_the_table_are_known():
    env = playing("Blackjack-v1")
    root, drawn, down = bridge.view(env).state.copy(), set(), set()
    for seed in range(40):
        state = root.copy()
        state.game.determinize(state, 0, seed)
        assert state.env.dealer[0] == env.unwrapped.dealer[0]
        assert state.env.player == env.unwrapped.player
        down.add(state.env.dealer[1])
        state.game.step(state, [1], np.zeros(1))
        drawn.add(state.env.player[2])
    assert len(drawn) > 5
    assert len(down) > 5
    full = root.copy()
    full.game.determinize(full, -1, 3)
    assert full.env.dealer == env.unwrapped.dealer


def test_chance_deep_in_an_environment_is_not_foreseen():
    class Deck:
        def __init__(self):
            self.shuffler = random.Random(5)
            self.sampler = {"legacy": np.random.RandomState(5)}

    class Cards(Walk):
        def __init__(self):
            super().__init__()
            self.decks = [Deck()]

        def step(self, action):
            deck = self.decks[0]
            drawn = deck.shuffler.random(), deck.sampler["legacy"].rand(), self.action_space.sample()
            self.at += 1
            return drawn, 0.0, True, False, {}

    env = Cards()
    env.reset(seed=1)
    view = bridge.view(env)
    root, work = view.state.copy(), view.game.new_state()

    def drawn(seed):
        work[:] = root
        view.game.determinize(work, 0, seed)
        view.game.step(work, [0], [0.0])
        return work.seen

    assert drawn(1) == drawn(1)
    seen = [drawn(seed) for seed in range(40)]
    assert len({one[0] for one in seen}) == len({one[1] for one in seen}) == 40
    assert {one[2] for one in seen} == {0, 1}
    assert env.step(0)[0] not in seen


def test_planning_leaves_the_world_alone():
    for env_id in ("FrozenLake-v1", "CartPole-v1", "Blackjack-v1"):
        env, other = playing(env_id, seed=4), playing(env_id, seed=4)
        before = random.getstate(), mtrand.get_state()[1].tolist(), digest(env.unwrapped)
        chance = env.unwrapped.np_random.bit_generator.state
        sampler = env.action_space.np_random.bit_generator.state
        mcts(50, loop="closed").act(env)
        assert before == (random.getstate(), mtrand.get_state()[1].tolist(), digest(env.unwrapped))
        assert env.unwrapped.np_random.bit_generator.state == chance
        assert env.action_space.np_random.bit_generator.state == sampler
        action = int(env.action_space.n) - 1
        assert str(env.step(action)) == str(other.step(action))


@pytest.mark.parametrize(
    ("noise", "named"),
    [
        (lambda: random.random(), "random,"),
        (lambda: mtrand.rand(), r"numpy\.random,"),
        (lambda: mtrand.standard_normal(), r"numpy\.random,"),
        pytest.param(lambda: float(torch.rand(())), "torch,", marks=pytest.mark.skipif(not torch, reason="no PyTorch")),
    ],
)
def test_global_generators_are_found_put_back_and_not_foreseen(noise, named):
    class Noisy(Walk):
        pass

    env = Noisy(noise=noise)
    env.reset(seed=1)
    random.seed(5)
    mtrand.seed(5)
    agent = mcts(60)
    before = random.getstate(), mtrand.get_state()[1:3], torch and torch.get_rng_state().tolist()
    with pytest.warns(UserWarning, match=rf"Noisy.step draws from the global generator of {named}.*np_random"):
        agent.act(env)
    after = random.getstate(), mtrand.get_state()[1:3], torch and torch.get_rng_state().tolist()
    assert before[::2] == after[::2]
    assert before[1][1] == after[1][1]
    assert np.array_equal(before[1][0], after[1][0])
    first = agent.search(env).values  # warned once
    assert not np.array_equal(first, agent.search(env).values)
    same = [mcts(60, seed=2).search(env).values for _ in range(2)]
    assert np.array_equal(*same)
    view = bridge.view(env)
    root, work = view.state.copy(), view.game.new_state()
    seen = set()
    for seed in range(10):
        work[:] = root
        view.game.determinize(work, 0, seed)
        reward = [0.0]
        view.game.step(work, [0], reward)
        seen.add(reward[0])
    assert len(seen) == 10
    assert env.step(0)[1] not in seen


def test_a_late_draw_from_a_global_generator_is_found_too():
    class Late(Walk):
        def step(self, action):
            said = super().step(action)
            self.steps = getattr(self, "steps", 0) + 1
            if LATE["draw"]:
                random.random()
            return said

    LATE = {"draw": False}  # noqa: N806
    env = Late()
    env.reset(seed=1)
    mcts(50).act(env)
    LATE["draw"] = True
    state = random.getstate()
    with pytest.warns(UserWarning, match="Late.step draws from the global generator of random"):
        mcts(50).act(env)
    assert random.getstate() == state


def test_what_a_policy_draws_between_steps_is_its_own():
    watch, drawn = Watch("Quiet"), []
    random.seed(5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        watch.determinize(1)
        for _ in range(100):
            watch.step(lambda action: None, 0)
            drawn.append(random.random())
    random.seed(5)
    assert drawn == [random.random() for _ in range(100)]


def test_who_seeds_the_global_generators_between_steps_keeps_the_seed():
    random.seed(4)
    mtrand.seed(4)
    watch = Watch("Quiet")  # as many words were given out, none, as after another seeding
    random.seed(5)
    mtrand.seed(5)
    watch.step(lambda action: None, 0)
    assert random.random() == random.Random(5).random()
    assert mtrand.random_sample() == mtrand.RandomState(5).random_sample()


@pytest.mark.parametrize("noise", [lambda: 0.0, random.random])
def test_threads_take_turns_at_the_global_generators(noise):
    """What one thread's step draws follows from its seed, though others step meanwhile; and nobody draws by mistake."""
    drawn, watch = collections.defaultdict(list), Watch("Noisy")

    def step(action):
        time.sleep(0.0005)  # another thread goes on
        drawn[action].append(noise())

    def simulate(number):
        watch.determinize(number)
        for _ in range(10):
            watch.step(step, number)

    def all_of(numbers):
        with ThreadPoolExecutor(len(numbers)) as threads:
            for each in [threads.submit(simulate, number) for number in numbers]:
                each.result()

    state, plain = random.getstate(), noise() == noise()
    random.setstate(state)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        all_of([1, 2])
        together = dict(drawn)
        drawn.clear()
        all_of([1])
        all_of([2])
    assert together == dict(drawn)
    assert len(said) == (0 if plain else 1)
    assert random.getstate() == state


def test_what_is_kept_of_a_trial_draws_from_the_system_afterwards():
    with chance_apart(0):
        from os import urandom as kept

        first = kept(8)
    with chance_apart(0):
        assert os.urandom(8) == first
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(os.urandom, 8).result() != first
        assert kept(8) != kept(8)
    assert len({kept(8) for _ in range(3)}) == 3
    assert os.urandom is random._urandom


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_process_forked_in_a_trial_draws_from_the_system():
    with chance_apart(0):
        reader, writer = os.pipe()
        if not (child := os.fork()):
            os.write(writer, os.urandom(8))
            os._exit(0)
        os.waitpid(child, 0)
        drawn = os.read(reader, 8)
        assert os.urandom(8) != drawn
    for end in reader, writer:
        os.close(end)


class InAThread(Walk):
    """Draws what a step pays from the operating system, in a thread of its own."""

    def step(self, action):
        with ThreadPoolExecutor(1) as pool:
            paid = pool.submit(secrets.randbelow, 1000).result()
        shown, _, *rest = super().step(action)
        return shown, float(paid), *rest


def test_chance_of_the_system_in_another_thread_speaks_against_no_copy():
    env = InAThread()
    env.reset(seed=0)
    assert mcts(5, horizon=2).search(env).copies.means == FAST
