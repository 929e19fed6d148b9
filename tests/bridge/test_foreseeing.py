"""Environments that nothing remembers: what the state shows after a move, and of which episode it is."""

import gc
import weakref

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.classic.tictactoe import tictactoe

import agents
from agents import bridge
from agents.bridge.means import NATIVE
from tests.bridge.worlds import total


class Hall(gym.Env):
    """A hall with a door at one of 20 places, drawn at the reset: both are shown, and nothing counts steps."""

    observation_space, action_space = spaces.MultiDiscrete([20, 20]), spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.door = 0, int(self.np_random.integers(1, 20))
        return np.array([self.at, self.door]), self._info()

    def step(self, action):
        self.at = (self.at + (-1, 0, 1)[action]) % 20
        return np.array([self.at, self.door]), -1.0, self.at == self.door, False, self._info()

    def _info(self):
        return {}


class Offering(Hall):
    """Says that to stand still is not offered."""

    def _info(self):
        return {"action_mask": np.array([1, 0, 1], np.int8)}


def seen(env):
    return bridge.view(env).state.seen


def test_what_the_state_shows_is_known_after_a_move_of_the_planner():
    env = gym.make("FrozenLake-v1")
    env.reset(seed=1)
    agent = agents.make("graph", simulations=50, seed=1)
    assert seen(env) is None
    known = 0
    for _ in range(8):
        shown, *_, over, cut, _ = env.step(agent.act(env))
        if over or cut:
            break
        assert seen(env) in (shown, None)  # an outcome of the three may have been missed
        known += seen(env) is not None
    assert known > 0


def test_a_graph_is_kept_where_nothing_counts_steps():
    env, agent = Hall(), agents.make("graph", max_steps=12, seed=1)
    env.reset(seed=1)
    places = [agent.search(env).places, (found := agent.search(env)).places]  # in the same state twice
    for _ in range(3):
        env.step(found.action)
        places.append((found := agent.search(env)).places)
    assert places == sorted(places)
    assert places[-1] > places[0] + 3


def test_what_is_found_behind_wrappers_that_pay_is_kept_for_them_alone():
    env, agent = Hall(), agents.make("graph", max_steps=12, seed=1)
    env.reset(seed=1)
    paid = gym.wrappers.TransformReward(env, lambda reward: -reward)
    action = agent.search(paid).action
    first = bridge.view(paid).episode
    assert bridge.view(env).episode is not first  # or what is paid here would be taken for what is paid there
    agent.search(paid)
    paid.step(action)
    assert bridge.view(paid).episode is first


def test_another_episode_is_another_however_alike_it_begins():
    env, agent = Hall(), agents.make("graph", simulations=60, seed=1)
    env.reset(seed=1)
    agent.search(env)
    first = bridge.view(env).episode
    assert bridge.view(env).episode is first
    env.reset(seed=2)
    assert bridge.view(env).episode is not first
    assert seen(env) is None
    env.reset(seed=1)
    assert bridge.view(env).episode is first  # in the very state that was searched everything is the same


def test_a_move_that_was_not_foreseen_is_not_known():
    env, agent = Hall(), agents.make("graph", simulations=60, seed=1)
    env.reset(seed=1)
    chosen = agent.search(env).action
    env.step(2 - chosen)
    assert seen(env) is None


def test_legal_actions_that_infos_tell_are_known_after_a_move():
    env, agent = Offering(), agents.make("graph", simulations=60, seed=1)
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="nothing keeps the last"):
        env.step(agent.search(env).action)
    assert list(bridge.view(env).legal_actions()) == [0, 2]


def test_a_reset_with_a_seed_begins_another_episode_however_many_steps_it_has_taken():
    env = gym.make("FrozenLake-v1")
    env.reset(seed=1)
    first = bridge.view(env).episode
    env.reset(seed=1)
    env.step(1)
    assert bridge.view(env).episode is not first


@pytest.mark.parametrize("loop", ["closed", "information_set"])
def test_a_tree_is_found_again(loop):
    env, agent = Hall(), agents.make("mcts", simulations=100, loop=loop, reuse=True, horizon=8, seed=1)
    env.reset(seed=1)
    env.step(agent.search(env).action)
    assert agent.search(env).visits.sum() > 100


def test_plain_ice_is_walked_as_that_which_is_remembered():
    env = gym.make("FrozenLake-v1", is_slippery=False)
    assert total(env, agents.make("graph", simulations=100, seed=1), 1) == 1.0


class Dark(gym.Env):
    """A walk along nine places in the dark: the last pays."""

    observation_space, action_space = spaces.Discrete(1), spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 4
        return 0, {}

    def step(self, action):
        self.at = min(max(self.at + 2 * action - 1, 0), 8)
        return 0, float(self.at == 8), self.at == 8, False, {}


class Lamp(gym.ObservationWrapper):
    """Shows where one is."""

    def __init__(self, env):
        super().__init__(env)
        self.observation_space = spaces.Discrete(9)

    def observation(self, observation):
        return self.unwrapped.at


@pytest.mark.parametrize(
    "wrap",
    [Lamp, lambda env: agents.remember(Lamp(env)), lambda env: Lamp(agents.remember(env))],
    ids=["plain", "remembered", "inside"],
)
def test_states_are_told_apart_by_what_a_wrapper_shows_that_looks_itself(wrap):
    env = wrap(Dark())
    env.reset(seed=1)
    agent = agents.make("graph", simulations=40, seed=1)
    for _ in range(2):
        result = agent.search(env)
        env.step(result.action)
    assert result.places == (9 if wrap is Lamp else 8)  # the end is none; before its first move a state is not known
    assert result.line == [1, 1, 1]


def test_wrappers_that_only_change_what_they_are_shown_are_not_looked_through():
    env = gym.wrappers.FlattenObservation(gym.make("FrozenLake-v1"))
    env.reset(seed=1)
    assert not any(bridge.view(env).state.looks)


@pytest.mark.parametrize("loop", ["closed", "information_set"])
def test_of_a_remembered_game_of_several_trees_and_first_moves_are_known(loop):
    env = agents.remember(tictactoe.env())
    env.reset(seed=1)
    agent = agents.make("mcts", simulations=300, first_move={"simulations": 400}, loop=loop, reuse=True, seed=1)
    first = agent.search(env)
    for action in (first.action, 8 if first.action != 8 else 0):
        env.step(action)
    second = agent.search(env)
    assert (first.simulations, second.simulations) == (400, 300)
    assert second.visits.sum() > 300


class Fickle(Hall):
    """Offers two actions of three that are drawn anew at each step, and kept by nothing."""

    def _info(self):
        mask = np.ones(3, np.int8)
        mask[self.np_random.integers(3)] = 0
        return {"action_mask": mask}


def test_what_is_drawn_anew_at_each_step_is_not_foreseen():
    env, agent = Fickle(), agents.make("graph", simulations=60, seed=1)
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="nothing keeps the last"):
        shown, *_ = env.step(agent.search(env).action)
    state = bridge.view(env).state
    assert np.array_equal(state.seen, shown)
    assert state.infos is None


class Saved(Hall):
    """Saves where one is; where the door is stays as it is until the reset."""

    def get_state(self):
        return self.at

    def set_state(self, at):
        self.at = at


def test_snapshots_that_leave_out_what_a_reset_changes_do_not_tell_the_episode():
    env, agent = Saved(), agents.make("graph", simulations=60, seed=1)
    env.reset(seed=1)
    result = agent.search(env)
    first, door = bridge.view(env).episode, env.door
    assert result.copies.means == NATIVE
    assert bridge.view(env).episode is first
    env.step(result.action)
    assert seen(env) is not None
    env.reset(seed=2)
    assert env.door != door
    assert bridge.view(env).episode is not first


def test_what_is_told_with_one_view_is_not_taken_for_what_wrappers_are_shown():
    env = gym.wrappers.TransformObservation(Dark(), lambda seen: np.eye(9)[seen], spaces.Box(0, 1, (9,)))
    shown, _ = env.reset(seed=1)
    agents.make("mcts", simulations=20, reuse=True, seed=1).search(bridge.view(env, observation=shown))
    assert seen(env) is None


@pytest.mark.parametrize("make", [Hall, lambda: gym.make("FrozenLake-v1")])
@pytest.mark.parametrize("name", ["graph", "mcts"])
def test_environments_that_were_searched_are_let_go(make, name):
    agent = agents.make(name, simulations=20, seed=1, **({"reuse": True} if name == "mcts" else {}))
    for seed in range(3):
        env = make()
        env.reset(seed=seed)
        env.step(agent.act(env))
    held = weakref.ref(env.unwrapped)
    agent.last_result = env = None
    gc.collect()
    assert held() is None
