"""The search in foreign environments: observations, ends, masks, values, refusals, and trees used again."""

import pickle
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.wrappers import FilterObservation
from pettingzoo.classic.tictactoe import tictactoe

import agents
from agents import bridge
from mcts_envs.core.contract import TERMINATED, TRUNCATED
from tests.bridge.worlds import TAXI, Walk, mcts, playing, valued


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
    with pytest.raises(TypeError, match=r"which Mission shows, is not flattened to numbers .*; wrap it in"):
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


class Shown(Walk):
    """Shows what is legal; takes nothing else."""

    def __init__(self):
        super().__init__(mask=[1, 0])
        self.observation_space = spaces.Dict(at=spaces.Discrete(6), action_mask=spaces.MultiBinary(2))

    def reset(self, *, seed=None, options=None):
        self.mask = [1, 0]
        at, info = super().reset(seed=seed)
        return {"at": at, **info}, {}

    def step(self, action):
        at, *rest, _ = super().step(action)
        self.mask.reverse()
        return {"at": at, **self.said()}, *rest, {}


def test_a_mask_may_be_among_what_is_observed():
    env = agents.remember(Shown())
    seen, _ = env.reset(seed=0)
    for first in (0, 1, 0):
        assert bridge.view(env).legal_actions().tolist() == [first]
        assert bridge.view(env.unwrapped, observation=seen).legal_actions().tolist() == [first]
        assert mcts(50).act(env) == first
        seen = env.step(first)[0]
    assert agents.check_planning(env)["masks"].evidence.startswith("1 to 1 of 2 actions were legal")


def test_a_mask_may_be_no_method():
    class Held(Walk):
        action_masks = np.array([False, True])

    env = agents.remember(Held())
    env.reset(seed=0)
    assert bridge.view(env).legal_actions().tolist() == [1]
    assert mcts(50).act(env) == 1


def test_a_mask_may_have_the_shape_of_the_board():
    env = bridge.Remember(Walk(mask=np.array([[0], [1]])))
    env.reset(seed=0)
    assert bridge.view(env).legal_actions().tolist() == [1]
    assert mcts(20).act(env) == 1


@pytest.mark.parametrize("mask", [[1], [1, 0, 0], [0, 1, 1]])
def test_masks_of_other_actions_are_refused(mask):
    env = bridge.Remember(Walk(mask=mask))
    env.reset(seed=0)
    with pytest.raises(ValueError, match=f"mask of Walk has {len(mask)} numbers for 2 actions"):
        mcts(5).act(env)


def test_masks_that_nothing_keeps_are_missed_once():
    class Lenient(Walk):
        """Says what is legal, and takes what is not."""

        def said(self):
            return {"action_mask": np.array([0, 1], np.int8)}

    env = Lenient()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match=r"what is legal in Lenient stands in its infos.*agents\.remember\(env\)"):
        mcts(5).act(env)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mcts(5).act(env)
        assert mcts(5).act(bridge.view(env, info=env.said())) == 1


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("valid_actions", [1]),
        ("legal_moves", {1}),
        ("mask", np.array([False, True])),
        ("available_action_mask", (0, 1)),
    ],
)
def test_what_is_legal_by_another_name_is_missed_once(name, told):
    env = type("Lenient", (Walk,), {"said": lambda self: {name: told}})()
    env.reset(seed=0)
    with pytest.warns(UserWarning, match=rf"Lenient says in info\['{name}'\] what is legal.*try all 2 actions.*mask"):
        mcts(5).act(env)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mcts(5).act(env)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("said", [{"is_legal": True}, {"invalid_moves": 3}, {"available": [1]}, {"valid_moves": [7]}])
def test_other_words_are_no_masks(said):
    env = type("Chatty", (Walk,), {"said": lambda self: said})()
    env.reset(seed=0)
    mcts(5).act(env)


def test_a_mask_that_a_wrapper_takes_out_is_missed():
    class Lenient(Walk):
        """Shows what is legal, and takes what is not."""

        def __init__(self):
            super().__init__()
            self.observation_space = spaces.Dict(at=spaces.Discrete(6), action_mask=spaces.MultiBinary(2))

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return self.shown(), {}

        def shown(self):
            return {"at": self.at, "action_mask": np.array([0, 1], np.int8)}

        def step(self, action):
            return self.shown(), *super().step(action)[1:]

    env = bridge.Remember(FilterObservation(Lenient(), ["at"]))
    env.reset(seed=0)
    with pytest.warns(
        UserWarning, match=r"stands in its observations.*remember\(env\), inside of wrappers that change"
    ):
        mcts(5).act(env)
    env = FilterObservation(bridge.Remember(Lenient()), ["at"])
    env.reset(seed=0)
    assert mcts(5).act(env) == 1


def test_what_cannot_be_planned_in_is_refused():
    with pytest.raises(TypeError, match=r"action space is Box.*need Discrete\(n\)"):
        mcts().act(gym.make("Pendulum-v1"))
    with pytest.raises(TypeError, match=r"int is no environment.*, not an observation"):
        mcts().act(3)

    class Turned(gym.Wrapper):
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


def test_episodes_of_as_many_steps_are_told_apart_by_what_is_shown():
    env, found = gym.make("CartPole-v1"), []
    for seed in (1, 2):
        seen, _ = env.reset(seed=seed)
        found += [bridge.view(env, observation=seen).episode for _ in range(2)]
        found += [bridge.view(env).episode, bridge.view(env, observation=seen.copy()).episode]
    assert [found.index(each) for each in found] == [0] * 4 + [4] * 4


def test_episodes_are_told_apart_by_the_time_limit():
    env = playing("CartPole-v1")
    first = bridge.view(env).episode
    env.step(0)
    assert bridge.view(env).episode is first is not None
    env.reset()
    assert bridge.view(env).episode is not first
    assert bridge.view(env.unwrapped).episode is not bridge.view(env.unwrapped).episode  # nothing counts its steps


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


class Metronome(gym.Env):
    """Shows the time; action 0 pays at even times and 1 at odd ones."""

    observation_space, action_space = spaces.Discrete(10), spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        return self.t, {}

    def step(self, action):
        paid = float(action == self.t % 2)
        self.t += 1
        return self.t, paid, self.t == 9, False, {}


def test_a_tree_is_not_used_again_for_a_state_that_nobody_knows():
    env = gym.wrappers.TimeLimit(Metronome(), 20)  # counts steps, so that it is known which episode this is
    env.reset(seed=0)
    agent = mcts(20, reuse=True, horizon=1)
    for t in range(6):
        result = agent.search(env)
        assert (result.action, result.visits.sum()) == (t % 2, 20)
        env.step(1 - result.action)  # which no planner chose


def test_rollouts_that_come_to_no_end_are_cut():
    env = playing("CliffWalking-v1")
    first = agents.make("mcts", simulations=100, seed=0).search(env)
    assert first.steps < 100 * 100
    assert np.nanmax(first.values) > -1000
    again = agents.make("mcts", simulations=100, seed=0).search(env)
    assert np.array_equal(first.values, again.values, equal_nan=True)
    told = agents.make("mcts", simulations=2, seed=0, rollout_depth=1500).search(env)
    assert told.steps > 2 * 500


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CartPole-v1", TAXI])
def test_rollouts_that_end_are_left_as_they_are(name):
    env = playing(name)
    patient, other = (agents.make("mcts", simulations=60, seed=1, **s).search(env) for s in ({}, {"horizon": 9_999}))
    assert np.array_equal(patient.values, other.values, equal_nan=True)
    assert patient.steps == other.steps


def test_options_reach_far_there_too():
    class Corridor(gym.Env):
        """Pays 1 at its end, thirty steps to the right."""

        action_space, observation_space = spaces.Discrete(2), spaces.Discrete(31)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.at = 0
            return self.at, {}

        def step(self, action):
            self.at = self.at + 1 if action else max(0, self.at - 1)
            return self.at, float(self.at == 30), self.at == 30, False, {}

    env = Corridor()
    env.reset(seed=0)
    settings = {"horizon": 40, "discount": 0.99, "seed": 1}
    found = agents.make("mcts", option="repeat", simulations=80, **settings).search(env)
    assert found.action == 1
    assert found.principal_variation[:3] == [1, 1, 1]
    assert agents.make("mcts", simulations=400, **settings).search(env).values.max() == 0.0


@pytest.mark.parametrize("name", ["mcts", "rhea"])
def test_a_result_that_cannot_be_pickled_says_what_can(name):
    env = gym.make("FrozenLake-v1")
    env.reset(seed=0)
    result = agents.make(name, simulations=20).search(env)
    with pytest.raises(TypeError, match=r"FrozenLake.*cannot be pickled; keep .* result\.action"):
        pickle.dumps(result)


class _Talk:
    """A game of words in an API of its own."""

    def reset(self):
        return "You are in a room."

    def step(self, command):
        return "Taken.", 0, False, {}


_OLD = type("Env", (), {"__module__": "gym.core"})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: "CartPole-v1", r"'CartPole-v1' is a name; give the environment, gymnasium\.make\('CartPole-v1'\)"),
        (lambda: Walk, r"Walk is a class; give an environment of it, Walk\(\)$"),
        (lambda: gym.make_vec("CartPole-v1", 2), r"CartPoleVectorEnv holds 2 environments, .* by gymnasium\.make"),
        (lambda: gym.make_vec("FrozenLake-v1", 2, "sync"), r"SyncVectorEnv holds 2 environments, .* its envs\[i\]"),
        (
            lambda: type("Old", (_OLD,), {})(),
            r"Old is no environment .*OpenAI's gym; give shimmy\.GymV21Compat.*\(env=env\)",
        ),
        (lambda: _Talk(), r"_Talk is no environment .*; derive a class from gymnasium\.Env .* that holds the _Talk,"),
        (lambda: np.zeros(4), "ndarray is no environment that planners can look at: .* not an observation of it"),
    ],
)
def test_what_is_no_environment_is_told_what_to_give(given, message):
    for what in (mcts().act, agents.remember):
        with pytest.raises(TypeError, match=message):
            what(given())
