"""Foreign environments in the search: copies, chance, masks, players, and how well they are played."""

import collections
import copy
import functools
import math
import random
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils import EzPickle
from numpy.random import mtrand  # NumPy's global generator
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.classic.connect_four import connect_four
from pettingzoo.classic.rps import rps
from pettingzoo.classic.tictactoe import tictactoe
from pettingzoo.utils.conversions import parallel_to_aec

import agents
from agents import bridge
from agents.bridge.chance import reseed
from agents.bridge.copying import Copy
from agents.bridge.digest import digest
from mcts_envs.core.contract import TERMINATED, TRUNCATED
from mcts_envs.core.multi import GameAECEnv, GameParallelEnv
from mcts_envs.core.view import View
from tests.toys import TicTacToe, Tron

TAXI = "Taxi-v4" if "Taxi-v4" in gym.registry else "Taxi-v3"


def mcts(simulations=100, **settings):
    return agents.make("mcts", simulations=simulations, **settings)


def playing(env_id, seed=0, **settings):
    env = gym.make(env_id, **settings)
    env.reset(seed=seed)
    return env


def valued(view, evaluate):
    """Return a view of a game in which unfinished states are worth what a function says."""
    return View(replace(view.game, evaluate=evaluate), view.state, view.player, view.episode)


class Walk(gym.Env):
    """Walks on a line: up one action of ``first, first + 1``, ends at 5 steps; every odd step pays 1 for the second."""

    def __init__(self, first=0, mask=None, noise=None):
        self.action_space = spaces.Discrete(2, start=first)
        self.observation_space = spaces.Discrete(6)
        self.first, self.mask, self.noise = first, mask, noise
        self.at = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return self.at, self.said()

    def said(self):
        return {} if self.mask is None else {"action_mask": np.array(self.mask, np.int8)}

    def step(self, action):
        assert self.action_space.contains(action)
        if self.mask is not None:
            assert self.mask[action - self.first], "an illegal action was tried"
        self.at += 1
        reward = float(action == self.first + 1)
        if self.noise is not None:
            reward += self.noise()
        return self.at, reward, self.at >= 5, False, self.said()


# Copies.


class Things:
    """One of everything that a copy has to get right."""

    __slots__ = ("__dict__", "slot", "unset")

    def __init__(self):
        self.board = np.arange(6.0)
        self.row = self.board.reshape(2, 3)[1]
        self.list = [1, [2, 3], {"a": {4}}]
        self.alias = self.list[1]
        self.me = self
        self.slot = [5]
        self.queue = collections.deque([1, 2], maxlen=3)
        self.table = collections.defaultdict(list, {"x": [1]})
        self.ordered = collections.OrderedDict(b=[1], a=[2])
        self.pair = (1, [6])
        self.empty = np.array(3)
        self.objects = np.array([[1], "x", None], object)
        self.memory = memoryview(self.board.data)
        self.draws = np.random.default_rng(3)
        self.draw = self.draws.random
        self.bound = self.push
        self.part = functools.partial(self.push, 9)
        count = 0

        def counted():
            nonlocal count
            count += 1
            self.list.append(count)
            return count

        self.counted = counted

    def push(self, item):
        self.list.append(item)

    def change(self):
        self.board[3] = -1
        self.row[1] = -2
        self.alias.append(99)
        self.list[2]["a"].add(5)
        self.slot.append(1)
        self.unset = 1
        self.queue.extend([3, 4])
        self.table["y"].append(2)
        self.ordered["c"] = 1
        self.ordered.move_to_end("b")
        self.pair[1].clear()
        self.empty[...] = 7
        self.memory[5] = 1.5
        self.objects[0].append(2)
        self.objects[1] = "y"
        self.bound(7)
        self.part()
        self.counted()
        self.new = self.board
        self.board = None


def looks(things):
    return (
        things.row.tolist(),
        repr(things.list),
        things.alias is things.list[1],
        things.me is things,
        things.slot,
        hasattr(things, "unset"),
        list(things.queue),
        dict(things.table),
        list(things.ordered.items()),
        things.pair,
        int(things.empty),
        things.objects.tolist(),
        None if things.board is None else things.board.tolist(),
        hasattr(things, "new"),
    )


def test_a_copy_is_brought_back_whatever_was_done_to_it():
    source = Things()
    before = copy.deepcopy(looks(source))
    made = Copy(source)
    thing = made.env
    assert looks(thing) == before
    assert thing.bound.__self__ is thing
    assert thing.draw.__self__ is thing.draws is not source.draws
    for _ in range(3):
        thing.change()
        assert looks(thing) != before
        assert looks(source) == before
        made.restore()
        assert looks(thing) == before
        thing.board[3] = 8
        assert thing.row[0] == 8  # still a view of the board
        made.restore()
        assert thing.counted() == 1  # so is what functions remember
        assert thing.list[-1] == 1
        made.restore()


def test_a_copy_of_a_copy_is_apart_from_both():
    first = Copy(Things())
    second = Copy(first.env)
    before = copy.deepcopy(looks(first.env))
    second.env.change()
    assert looks(first.env) == before


class Opaque:
    """Holds what nobody can copy."""

    def __init__(self):
        self.turns = (turn for turn in range(3))


class WithIterator:
    """Holds what only compiled code can look into, in two places."""

    def __init__(self):
        self.turns = iter([1, 2, 3])
        self.same = [self.turns]


def test_what_cannot_be_looked_into_is_deep_copied_each_time():
    source = WithIterator()
    made = Copy(source)
    for _ in range(2):
        assert next(made.env.turns) == 1
        assert next(made.env.same[0]) == 2
        made.restore()
    assert next(source.turns) == 1


def test_what_cannot_be_copied_is_named():
    with pytest.raises(TypeError, match=r"Opaque cannot be copied: it holds a builtins.generator .*clone_state"):
        Copy(Opaque())


class _Nameless(type):
    """Makes classes that have no module, as SWIG does."""

    @property
    def __module__(cls):
        raise AttributeError("__module__")


class SwigObject(metaclass=_Nameless):
    """Cannot be copied, like what Box2D's worlds hold."""

    __deepcopy__ = None

    def __reduce_ex__(self, protocol):
        raise TypeError("cannot pickle 'SwigObject' object")


def test_objects_of_swig_are_named():
    env = Walk()
    env.world = SwigObject()
    env.reset(seed=0)
    with pytest.raises(TypeError, match=r"Walk cannot be copied: it holds a SwigObject \(cannot pickle.*clone_state"):
        mcts().act(env)
    with pytest.raises(TypeError, match="no key can be made of a SwigObject"):
        digest(SwigObject())


class Sentences(spaces.Space):
    """Sentences: a space that leaves ``is_np_flattenable`` to its base, which raises; MiniGrid has one."""

    def contains(self, x):
        return isinstance(x, str)

    def sample(self, mask=None, probability=None):
        return "go to the red door"


class Mission(Walk):
    def __init__(self):
        super().__init__()
        self.observation_space = spaces.Dict({"at": spaces.Discrete(6), "mission": Sentences()})

    def reset(self, **given):
        at, info = super().reset(**given)
        return {"at": at, "mission": "walk"}, info

    def step(self, action):
        at, *rest = super().step(action)
        return {"at": at, "mission": "walk"}, *rest


@pytest.mark.parametrize("loop", ["open", "closed", "information_set"])
def test_observations_that_cannot_be_flattened_are_no_hindrance(loop):
    env = bridge.Remember(Mission())
    env.reset(seed=0)
    assert mcts(loop=loop).act(env) == 1  # which pays
    assert bridge.view(env).game.observation_shape == (0,)
    with pytest.raises(TypeError, match="which Mission shows, is not flattened to numbers"):
        bridge.view(env).observe()


def test_planners_are_asked_with_observations_of_parts():
    env = bridge.Remember(Mission())
    seen, _ = env.reset(seed=0)
    planner = mcts().bind(env)
    assert planner.predict(seen)[0] == 1
    assert planner.predict({"at": np.array([0]), "mission": ["walk"]})[0].tolist() == [1]
    with pytest.raises(ValueError, match="2 observations for 1 bound environments"):
        planner.predict({"at": np.array([0, 1]), "mission": ["walk"] * 2})
    env = playing("Blackjack-v1")
    assert mcts().bind(env).predict((20, 10, 0))[0] in range(2)


def test_every_environment_at_hand_is_copied_with_its_chance():
    for env_id in (
        "CartPole-v1",
        "MountainCar-v0",
        "Acrobot-v1",
        "FrozenLake-v1",
        "CliffWalking-v1",
        "Blackjack-v1",
        TAXI,
    ):
        env = playing(env_id, seed=5)
        twin = Copy(env.unwrapped).env
        env.action_space.seed(1)
        for _ in range(30):
            action = int(env.action_space.sample())
            seen, mine = env.unwrapped.step(action), twin.step(action)
            assert np.array_equal(seen[0], mine[0])
            assert seen[1:4] == mine[1:4]
            if seen[2]:
                break


def test_pettingzoo_environments_come_back_as_they_were():
    for module in (tictactoe, connect_four):
        env = module.env()
        env.reset(seed=1)
        for action in (3, 4, 0):
            env.step(action)
        inner = env.unwrapped
        made = Copy(inner)
        observed = inner.observe("player_1" if module is tictactoe else "player_0")["observation"]
        assert digest(made.env) == digest(inner)
        made.env.step(2)
        assert digest(made.env) != digest(inner)
        made.restore()
        assert digest(made.env) == digest(inner)
        assert np.array_equal(made.env.observe(inner.possible_agents[0])["observation"], observed)
        assert made.env.agent_selection == inner.agent_selection


def test_digests_tell_states_apart_and_nothing_else():
    env = playing("FrozenLake-v1", seed=1)
    same = playing("FrozenLake-v1", seed=2, render_mode="ansi")
    assert digest(env.unwrapped) == digest(same.unwrapped)
    env.unwrapped.s = 5
    assert digest(env.unwrapped) != digest(same.unwrapped)
    assert digest(-1) != digest(-2)  # whose hashes are equal
    assert digest({1, "a", (2, 3)}) == digest({(2, 3), "a", 1})


# Chance.


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
    """What README says of Blackjack."""
    env = playing("Blackjack-v1")
    root, drawn = bridge.view(env).state.copy(), set()
    for seed in range(40):
        state = root.copy()
        state.game.determinize(state, 0, seed)
        assert state.env.dealer == env.unwrapped.dealer
        state.game.step(state, [1], np.zeros(1))
        drawn.add(state.env.player[2])
    assert len(drawn) > 5


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
    before = random.getstate(), mtrand.get_state()[1:3]
    with pytest.warns(UserWarning, match=rf"Noisy.step draws from the global generator of {named}.*np_random"):
        agent.act(env)
    after = random.getstate(), mtrand.get_state()[1:3]
    assert before[0] == after[0]
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


def test_the_same_seed_gives_the_same_search():
    for env_id in ("FrozenLake-v1", "CartPole-v1"):
        for loop in ("open", "closed", "information_set"):
            first, second = (mcts(80, seed=9, loop=loop).search(playing(env_id, seed=seed)) for seed in (1, 1))
            assert np.array_equal(first.visits, second.visits)
            assert np.array_equal(first.values, second.values)
            assert first.steps == second.steps
    frozen = [mcts(80, seed=9).search(playing("FrozenLake-v1", seed=seed)).values for seed in (1, 2)]
    assert np.array_equal(*frozen)  # nor does it depend on what chance the environment has in store


# Limits, ends, masks, actions.


def test_simulations_end_with_the_time_limit():
    env = playing("CartPole-v1", max_episode_steps=4)
    result = mcts(40).search(env)
    assert np.nanmax(result.values) == np.nanmin(result.values) == 4.0
    env.step(0)
    assert np.nanmax(mcts(40).search(env).values) == 3.0
    assert bridge.view(env.unwrapped).state.left == 500  # by its spec, where nothing counts
    for _ in range(3):
        env.step(1)
    view = bridge.view(env)
    assert view.over
    assert view.game.status(view.state, 0) == TRUNCATED
    with pytest.raises(ValueError, match="not to choose now"):
        mcts().act(env)


def test_ends_and_missing_resets_are_named():
    env = gym.make("CartPole-v1")
    bridge.view(env)
    with pytest.raises(gym.error.ResetNeeded, match=r"CartPoleEnv was not reset; call reset\(\)"):
        mcts().act(env)
    over = bridge.Remember(gym.make("CartPole-v1"))
    over.reset(seed=0)
    while not over.over:
        over.step(0)
    assert bridge.view(over).over
    with pytest.raises(ValueError, match="not to choose now"):
        mcts().act(over)
    board = tictactoe.env()
    with pytest.raises(gym.error.ResetNeeded, match="call reset"):
        mcts().act(board)
    board.reset(seed=0)
    for action in (0, 3, 1, 4, 2):
        board.step(action)
    with pytest.raises(ValueError, match="not to choose now"):
        mcts().act(board)


def test_a_search_stops_at_the_end():
    env = Walk()
    env.reset(seed=0)
    view = bridge.view(env)
    state, rewards = view.state.copy(), [0.0]
    for step in range(7):
        view.game.step(state, [1], rewards)
        assert rewards == [float(step < 5)]
    assert view.game.status(state, 0) == TERMINATED
    assert view.game.active(state) == 0


@pytest.mark.parametrize("first", [0, 3, -2])
def test_actions_are_those_of_the_space(first):
    env = Walk(first=first)
    env.reset(seed=0)
    agent = mcts(60, discount=0.9)
    assert agent.act(env) == first + 1
    assert agent.last_result.action == 1


def test_masks_of_infos_methods_and_observations_are_kept():
    env = Walk(mask=[1, 0])
    _, info = env.reset(seed=0)
    assert mcts(20).act(bridge.view(env, info=info)) == 0
    kept = bridge.Remember(Walk(mask=[0, 1]))
    kept.reset(seed=0)
    assert bridge.view(kept).legal_actions().tolist() == [1]
    assert mcts(20).act(kept) == 1

    class Masked(Walk):
        def action_masks(self):
            return np.array([self.at % 2 == 0, True])

    masked = Masked()
    masked.reset(seed=0)
    view = bridge.view(masked)
    assert view.action_masks().tolist() == [True, True]
    masked.step(0)
    assert view.action_masks().tolist() == [False, True]
    taxi = playing(TAXI, seed=1)
    assert bridge.view(taxi).action_masks().tolist() == [bool(x) for x in taxi.unwrapped.action_mask(taxi.unwrapped.s)]
    empty = Walk(mask=[0, 0])
    empty.reset(seed=0)
    with pytest.raises(ValueError, match="allows none of 2 actions"):
        mcts().act(bridge.view(empty, info=empty.said()))


def test_what_cannot_be_planned_in_is_refused():
    with pytest.raises(TypeError, match=r"action space is Box.*need Discrete\(n\)"):
        mcts().act(gym.make("Pendulum-v1"))
    with pytest.raises(TypeError, match="int is no environment"):
        mcts().act(3)

    class Turned(gym.ActionWrapper):
        def __init__(self, env):
            super().__init__(env)
            self.action_space = spaces.Discrete(3)

    with pytest.raises(TypeError, match=r"a wrapper of CartPoleEnv turns its actions Discrete\(2\) into Discrete\(3\)"):
        mcts().act(Turned(gym.make("CartPole-v1")))
    with pytest.raises(ValueError, match="has one player"):
        bridge.view(gym.make("CartPole-v1"), "player_0")
    board = tictactoe.env()
    board.reset()
    with pytest.raises(ValueError, match="unknown agent 'player_9'; did you mean 'player_"):
        bridge.view(board, "player_9")
    view = bridge.view(board)
    with pytest.raises(TypeError, match="is reset through its environment"):
        view.game.reset(view.state.copy(), 1)


def test_values_at_the_horizon_are_the_users():
    def steps(state, values):
        values[0] = 100.0 + state.env.at

    env = Walk()
    env.reset(seed=0)
    result = mcts(20, horizon=2).search(valued(bridge.view(env), steps))
    assert 102.0 <= np.nanmin(result.values) <= np.nanmax(result.values) <= 104.0


def test_episodes_are_told_apart_by_the_time_limit():
    env = playing("CartPole-v1")
    first = bridge.view(env).episode
    env.step(0)
    assert bridge.view(env).episode is first is not None
    env.reset()
    assert bridge.view(env).episode is not first
    assert bridge.view(env.unwrapped).episode is None


def test_a_tree_is_used_again_where_the_state_is_found():
    env = playing(TAXI, seed=1)
    agent = mcts(60, loop="closed", reuse=True, horizon=20)
    env.step(agent.act(env))
    result = agent.search(env)
    assert result.visits.sum() > 60
    assert result.simulations == 60
    env.step(int(result.action))
    env.reset(seed=2)
    assert agent.search(env).visits.sum() == 60


# Several agents.


class Dwindling(AECEnv, EzPickle):
    """Three agents in turn; each pays 1 to itself by action 1, and ends for itself by action 2."""

    metadata = {"name": "dwindling_v0", "render_modes": []}  # noqa: RUF012
    render_mode = None

    def __init__(self):
        EzPickle.__init__(self)
        super().__init__()
        self.possible_agents = ["a", "b", "c"]

    def observation_space(self, agent):
        return spaces.Discrete(20)

    def action_space(self, agent):
        return spaces.Discrete(3, start="abc".index(agent))

    def observe(self, agent):
        return self.moves

    def reset(self, seed=None, options=None):
        self.agents = self.possible_agents[:]
        self.moves = 0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = "a"

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0
        self._clear_rewards()
        choice = action - "abc".index(agent)
        self.moves += 1
        self.rewards[agent] = float(choice == 1)
        self.terminations[agent] = choice == 2
        if self.moves >= 12:
            self.truncations = dict.fromkeys(self.agents, True)
        index = self.agents.index(agent)
        live = [other for other in self.agents[index + 1 :] + self.agents[: index + 1] if not self.terminations[other]]
        self.agent_selection = live[0] if live else agent
        self._accumulate_rewards()
        self._deads_step_first()


def test_agents_that_have_ended_are_passed_by():
    env = Dwindling()
    env.reset()
    view = bridge.view(env)
    state, rewards = view.state.copy(), [0.0] * 3
    order = []
    for choice in (2, 1, 0, 1, 2, 1):
        order.append(view.game.active(state))
        view.game.step(state, [choice] * 3, rewards)
        expected = [float(choice == 1 and order[-1] == 1 << player) for player in range(3)]
        assert rewards == expected
    assert order == [1, 2, 4, 2, 4, 2]
    assert state.env.agents == ["b"]
    for _ in range(6):
        view.game.step(state, [0] * 3, rewards)
    assert view.game.active(state) == 0
    assert view.game.status(state, 0) == TRUNCATED
    for agent in ("a", "b", "c"):
        assert env.agent_selection == agent
        action = mcts(300, discount=0.9).act(env)
        assert action == 1 + "abc".index(agent)
        env.step(action)
    env.step(2)
    assert env.agent_selection == "a"  # which has ended and takes its last, empty turn
    with pytest.raises(ValueError, match="not to choose now"):
        mcts().act(env)
    env.step(None)
    assert mcts(100).act(env) in (1, 2, 3)


class Auction(ParallelEnv):
    """Both bid 0 to 2 at once, three times; the higher bid takes 3. The first bids are 0 or 1; ``leaver`` goes then."""

    metadata = {"name": "auction_v0", "render_modes": []}  # noqa: RUF012
    render_mode = None

    def __init__(self, leaver=None):
        self.possible_agents = ["x", "y"]
        self.leaver = leaver

    def observation_space(self, agent):
        return spaces.Dict({"round": spaces.Discrete(4), "action_mask": spaces.Box(0, 1, (3,), np.int8)})

    def action_space(self, agent):
        return spaces.Discrete(3)

    def look(self):
        mask = np.array([1, 1, self.round > 0], np.int8)
        return {agent: {"round": self.round, "action_mask": mask} for agent in self.agents}

    def reset(self, seed=None, options=None):
        self.agents = self.possible_agents[:]
        self.round = 0
        return self.look(), {agent: {} for agent in self.agents}

    def step(self, actions):
        assert set(actions) == set(self.agents)
        assert self.round > 0 or 2 not in actions.values()
        best = max(actions.values())
        takers = [agent for agent in actions if actions[agent] == best]
        rewards = {a: 3.0 * (takers == [a]) - 0.5 * actions[a] for a in self.agents}
        self.round += 1
        over = {agent: self.round >= 3 or agent == self.leaver for agent in self.agents}
        self.agents = [agent for agent in self.agents if not over[agent]]
        return self.look(), rewards, over, dict.fromkeys(over, False), {agent: {} for agent in over}


def test_agents_that_choose_at_once():
    env = Auction()
    seen, _ = env.reset()
    with pytest.raises(ValueError, match=r"2 agents that choose at once.*view\(env, agent\)"):
        mcts().act(env)
    view = bridge.view(env, "y", observation=seen)
    assert view.game.simultaneous
    assert view.legal_actions().tolist() == [0, 1]
    agent = mcts(600, c=1.0)
    assert agent.act(view) == 1
    result = agent.last_result
    assert result.visits[2] == 0
    env.step({"x": 0, "y": 1})
    assert mcts(600).act(bridge.view(env, "x")) == 2


def test_agents_that_left_choose_no_more():
    env = Auction(leaver="x")
    seen, _ = env.reset()
    view = bridge.view(env, "y", observation=seen)
    state, rewards = view.state.copy(), [0.0, 0.0]
    assert view.game.active(state) == 3
    view.game.step(state, [1, 1], rewards)
    assert rewards == [-0.5, -0.5]
    assert view.game.active(state) == 2
    view.game.step(state, [0, 1], rewards)
    assert rewards == [0.0, 2.5]
    env.step({"x": 1, "y": 1})
    assert mcts(200).act(env) == 0  # the only one left
    with pytest.raises(ValueError, match="not to choose now"):
        mcts().act(bridge.view(env, "x"))


def test_conversions_between_turns_and_at_once():
    parallel = rps.parallel_env(max_cycles=3)
    parallel.reset(seed=1)
    view = bridge.view(parallel, "player_1")
    assert view.game.simultaneous
    state, rewards = view.state.copy(), [0.0, 0.0]
    view.game.step(state, [0, 1], rewards)
    assert rewards == [-1.0, 1.0]
    assert mcts(60).act(view) in range(3)
    in_turns = parallel_to_aec(Auction())
    in_turns.reset()
    assert bridge.view(in_turns).player == 0
    in_turns.step(1)
    view = bridge.view(in_turns)
    assert view.player == 1
    assert view.game.simultaneous
    assert view.game.active(view.state) == 3  # what the other chose is not known


# Ours behind the bridge.


def test_ours_are_searched_alike_behind_the_bridge():
    own, foreign = GameAECEnv(TicTacToe), GameAECEnv(TicTacToe)
    for env in (own, foreign):
        env.reset(seed=1)
        env.step(4)
        env.step(0)
    for settings in ({}, {"reuse": True, "loop": "closed"}, {"discount": 0.9, "horizon": 4, "c": 1.0}):
        agent, twin = (agents.make("mcts", simulations=150, seed=3, **settings) for _ in range(2))
        expected, found = agent.search(own), twin.search(bridge.view(foreign))
        assert np.array_equal(expected.visits, found.visits)
        assert np.array_equal(expected.values, found.values, equal_nan=True)
        assert (expected.action, expected.steps) == (found.action, found.steps)
    own, foreign = GameParallelEnv(Tron), GameParallelEnv(Tron)
    own.reset(seed=1)
    seen, infos = foreign.reset(seed=1)
    expected = mcts(150).search(own.view("player_1"))
    found = mcts(150).search(bridge.view(foreign, "player_1", observation=seen, info=infos))
    assert np.array_equal(expected.visits, found.visits)


def test_ours_with_chance_are_valued_alike_behind_the_bridge():
    own = gym.make("mcts_envs/LaneDefense3x3-v0").unwrapped
    foreign = gym.make("mcts_envs/LaneDefense3x3-v0").unwrapped
    for env in (own, foreign):
        env.reset(seed=2)
    expected = agents.make("flat_mc", simulations=20_000).search(own)
    found = agents.make("flat_mc", simulations=700).search(bridge.view(foreign))
    assert np.array_equal(expected.visits > 0, found.visits > 0)
    tried = found.visits > 0
    error = 300.0 / 2 / np.sqrt(found.visits[tried])  # returns lie in a range of 300
    assert (np.abs(expected.values - found.values)[tried] < 4 * error).all()
    assert np.array_equal(own.clone_state().state, foreign.clone_state().state)


# How well they are played.


def lines(cells):
    triples = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
    return [{cells[i] for i in triple} for triple in triples]


@pytest.mark.parametrize(
    ("moves", "best"),
    [([0, 3, 1, 4], {2}), ([0, 3, 8, 4], {5}), ([4, 0, 8, 2], {1}), ([0, 3, 1, 4, 8], {2, 5})],
    ids=["win", "block", "block the edge", "win or block"],
)
def test_tic_tac_toe_wins_are_taken_and_losses_blocked(moves, best):
    env = tictactoe.env()
    env.reset(seed=1)
    for move in moves:
        env.step(move)
    for seed in range(3):
        assert mcts(300, seed=seed).act(env) in best


def against_random(module, games, agent, seed=0):
    """Return the rewards of an agent in games against a random player, with changing first moves."""
    chance, rewards = random.Random(seed), []
    for game in range(games):
        env = module.env()
        env.reset(seed=game)
        mine = env.possible_agents[game % 2]
        total = 0.0
        for name in env.agent_iter():
            seen, reward, terminated, truncated, _ = env.last()
            total += reward if name == mine else 0.0
            if terminated or truncated:
                env.step(None)
                continue
            legal = np.flatnonzero(seen["action_mask"]).tolist()
            env.step(agent.act(env) if name == mine else chance.choice(legal))
        rewards.append(total)
    return rewards


def test_tic_tac_toe_is_not_lost_to_random():
    rewards = against_random(tictactoe, 8, mcts(200))
    assert min(rewards) >= 0
    assert sum(rewards) >= 5


def test_connect_four_is_won_from_random():
    env = connect_four.env()
    env.reset(seed=1)
    for move in (3, 0, 3, 0, 3, 0):
        env.step(move)
    assert mcts(100).act(env) == 3  # four in a column
    env.step(6)
    assert mcts(100).act(env) == 0
    assert against_random(connect_four, 1, mcts(60)) == [1]


@pytest.mark.slow
def test_tic_tac_toe_is_never_lost_to_random_in_many_games():
    rewards = against_random(tictactoe, 100, mcts(600))
    assert min(rewards) >= 0


@pytest.mark.slow
def test_connect_four_is_won_from_random_in_many_games():
    assert sum(against_random(connect_four, 10, mcts(150))) == 10


def play(env, agent, seed):
    """Return the return of an episode."""
    env.reset(seed=seed)
    total, over = 0.0, False
    while not over:
        _, reward, terminated, truncated, _ = env.step(agent.act(env))
        total, over = total + reward, terminated or truncated
    return total


def values_of(env, steps, discount):
    """Return the best return from every state in so many steps: value iteration in the environment's own table."""
    table = env.unwrapped.P
    values = [0.0] * len(table)
    for _ in range(steps):
        values = [
            max(
                sum(p * (r + discount * values[to] * (not end)) for p, to, r, end in outcomes)
                for outcomes in at.values()
            )
            for at in table.values()
        ]
    return values


def crossings(games, simulations):
    """Return how often slippery ice was crossed, and how often the best policy would: one step of chance is planned."""
    env = gym.make("FrozenLake-v1")
    known = values_of(env, 100, 0.99)

    def evaluate(state, values):
        values[0] = known[state.env.s]

    agent = mcts(simulations, loop="closed", horizon=1, discount=0.99, c=1.0)
    crossed = 0.0
    for game in range(games):
        env.reset(seed=game)
        view = valued(bridge.view(env), evaluate)
        over = False
        while not over:
            _, reward, terminated, truncated, _ = env.step(agent.choose(view))
            over = terminated or truncated
        crossed += reward
    return crossed / games, values_of(env, 100, 1.0)[0]


@pytest.mark.parametrize(
    ("games", "simulations"), [(30, 60), pytest.param(100, 300, marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_slippery_ice_is_crossed_as_often_as_can_be_and_no_oftener(games, simulations):
    rate, best = crossings(games, simulations)
    assert abs(rate - best) < 3 * math.sqrt(best * (1 - best) / games)


def test_a_pole_is_balanced():
    env = gym.make("CartPole-v1", max_episode_steps=150)
    assert play(env, mcts(32, horizon=15), 0) == 150


@pytest.mark.slow
def test_a_pole_is_balanced_to_the_end_ten_times():
    env = gym.make("CartPole-v1")
    assert [play(env, mcts(128, horizon=15, seed=seed), seed) for seed in range(10)] == [500.0] * 10


TAXI_SETTINGS = {"loop": "closed", "reuse": True, "discount": 0.97, "rollout_depth": 60, "c": 0.1}


@pytest.mark.slow
def test_taxi_rides_arrive_soon():
    env = gym.make(TAXI)
    returns = [play(env, mcts(3000, seed=seed, **TAXI_SETTINGS), 1000 + seed) for seed in range(6)]
    assert min(returns) > -20  # 20 for the guest, 1 less for every step: about 8 at best on average
    assert np.mean(returns) > 1


def test_evaluate_policy_takes_planners_of_foreign_environments():
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.monitor import Monitor

    for env_id in ("FrozenLake-v1", "CartPole-v1"):
        env = Monitor(gym.make(env_id, max_episode_steps=30))
        agent = mcts(8, horizon=15).bind(env)
        returns, lengths = evaluate_policy(agent, env, n_eval_episodes=2, return_episode_rewards=True)
        assert len(returns) == len(lengths) == 2
        assert max(lengths) <= 30
    shifted = Walk(first=3)
    returns, _ = evaluate_policy(
        mcts(60).bind(shifted), Monitor(shifted), n_eval_episodes=1, return_episode_rewards=True
    )
    assert returns == [5.0]
