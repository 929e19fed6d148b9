"""Wrappers that planners follow, and those that they do not look through: these are refused, or named."""

import random
import time
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.classic_control import CartPoleEnv
from gymnasium.wrappers import (
    AtariPreprocessing,
    DiscretizeAction,
    FlattenObservation,
    MaxAndSkipObservation,
    NormalizeReward,
    RecordEpisodeStatistics,
    RepeatAction,
    StickyAction,
    TimeLimit,
    TransformAction,
    TransformReward,
    vector,
)
from numpy.random import mtrand
from pettingzoo.classic.tictactoe import tictactoe
from pettingzoo.utils import BaseWrapper
from sb3_contrib.common.wrappers import ActionMasker
from stable_baselines3.common.atari_wrappers import MaxAndSkipEnv
from stable_baselines3.common.monitor import Monitor

import agents
from agents import bridge, wrappers
from mcts_envs.games.lane_defense.spec.classic import LaneDefense

CARTS, LANES = "CartPole-v1", "mcts_envs/LaneDefense3x3-v0"


def wrapped(env_id, *around):
    env = gym.make(env_id)
    for wrap in around:
        env = wrap(env)
    env.reset(seed=0)
    return env


def turned(env):
    n = env.action_space.n
    return TransformAction(env, lambda action: n - 1 - action, spaces.Discrete(n))


def halved(env):
    return TransformReward(env, lambda reward: reward / 2)


def test_wrappers_of_actions_around_a_game_of_ours_are_refused():
    env, agent = wrapped(LANES, turned, RecordEpisodeStatistics), agents.make("mcts", simulations=20)
    said = "TransformAction changes actions on their way to LaneDefense.*plan in that one"
    for ask in (agent.act, agent.search, bridge.view, agents.make("random").act):
        with pytest.raises(TypeError, match=said):
            ask(env)
    assert agent.act(env.env.env) in range(env.action_space.n)


def found(env, **settings):
    return agents.make("mcts", **{"simulations": 40, "seed": 3, **settings}).search(env)


def test_actions_are_followed_through_their_wrappers():
    turned_once, plain = found(wrapped(CARTS, turned)), found(wrapped(CARTS))
    assert turned_once.action in (0, 1)
    np.testing.assert_array_equal(found(wrapped(CARTS, turned, RecordEpisodeStatistics, turned)).values, plain.values)
    env = wrapped(CARTS, turned)
    for _ in range(5):
        env.step(1)  # it leans to the right now, and 0 pushes to the right
    assert found(env, simulations=200).action == 0


def test_what_is_legal_is_asked_of_the_action_inside():
    env = wrapped("Taxi-v4", turned)
    inside = np.flatnonzero(env.unwrapped.action_mask(env.unwrapped.s))
    assert 0 < len(inside) < 6
    result = found(env)
    assert set(np.flatnonzero(result.visits)) == {5 - action for action in inside}


@pytest.mark.parametrize("remembered", [False, True])
def test_continuous_actions_are_made_discrete_by_gymnasium(remembered):
    env = gym.make("Pendulum-v1")
    env = DiscretizeAction(agents.remember(env) if remembered else env, 5)
    env.reset(seed=0)
    result = found(env, horizon=20)
    assert len(result.visits) == 5
    assert [row.split()[-4] for row in result.table(5).splitlines()[1:]] != ["0", "1", "2", "3", "4"]
    for name in ("-1.6", "-0.8", "0", "0.8", "1.6"):
        assert f" {name} " in result.table(5)
    assert agents.make("auto", time_limit=0.01).act(env) in range(5)
    assert bool(agents.check_planning(env))
    with pytest.raises(TypeError, match=r"planners need Discrete\(n\): wrap it in gymnasium.wrappers.DiscretizeAction"):
        found(env.env)


def test_what_is_hidden_is_drawn_behind_wrappers():
    env = agents.remember(turned(gym.make("Blackjack-v1")))
    env.reset(seed=1)
    assert found(env).copies.hidden == "drawn by the adapter"


class Late(gym.ActionWrapper):
    """Makes the action before."""

    last = 0

    def action(self, action):
        self.last, action = action, self.last
        return action


def test_wrappers_that_keep_something_are_refused():
    env = wrapped(CARTS, Late)
    with pytest.raises(TypeError, match=r"Late keeps something from step to step.*write it into CartPoleEnv"):
        found(env)
    assert env.last == 0
    before = wrapped(CARTS).unwrapped.np_random.bit_generator.state
    env = wrapped(CARTS, lambda env: StickyAction(env, 0.5))
    with pytest.raises(TypeError, match="StickyAction changes actions"):
        found(env)
    assert env.unwrapped.np_random.bit_generator.state == before


@pytest.mark.parametrize("known", [False, True])
def test_a_wrapper_that_looks_at_the_environment_sees_the_copy(known):
    class Away(gym.ActionWrapper):
        """1 pushes to where the pole leans."""

        def __init__(self, env):
            super().__init__(env)
            self.inside = env.unwrapped if known else None

        def action(self, action):
            inside = self.inside if known else self.env.unwrapped
            return action if inside.state[2] > 0 else 1 - action

    env = wrapped(CARTS, Away)
    for _ in range(20):
        action = found(env, simulations=60).action
        *_, terminated, _, _ = env.step(action)
        assert not terminated
    env.reset(seed=0)
    state = bridge.view(env).state.copy()
    pushes = []
    for _ in range(12):
        pushes.append(int(state.env.state[2] > 0))
        state.game.step(state, [1], [0.0])
    itself = wrapped(CARTS).unwrapped
    for push in pushes:
        itself.step(push)
    np.testing.assert_array_equal(itself.state, state.env.state)
    assert len(set(pushes)) == 2


class Shaky(gym.ActionWrapper):
    """Makes another action at times."""

    def __init__(self, env, chance):
        super().__init__(env)
        self.own, self.draw = np.random.default_rng(0), chance

    def action(self, action):
        return self.draw(self) if self.own.random() < 0.2 else action


CHANCES = {
    "its own": lambda wrapper: int(wrapper.own.integers(2)),
    "its space": lambda wrapper: int(wrapper.action_space.sample()),
    "random": lambda wrapper: random.randrange(2),
    "numpy.random": lambda wrapper: int(mtrand.randint(2)),
}


@pytest.mark.filterwarnings("ignore:.*global generator")
@pytest.mark.parametrize("chance", CHANCES.values(), ids=CHANCES)
def test_a_search_draws_nothing_of_wrappers(chance):
    env = wrapped(CARTS, lambda env: Shaky(env, chance))
    env.action_space.seed(0)

    def chances():
        of_env = env.own.bit_generator.state, env.action_space.np_random.bit_generator.state
        return repr((of_env, random.getstate(), mtrand.get_state()))

    before = chances()
    _, first, again = (found(env) for _ in range(3))  # by the first it is known where chance lies
    assert chances() == before
    np.testing.assert_array_equal(first.values, again.values)


def test_actions_that_are_left_to_chance_are_not_named():
    class Arrows(CartPoleEnv):
        def get_action_meanings(self):
            return ["left", "right"]

    def named(wrap):
        env = wrap(Arrows())
        env.reset(seed=0)
        return [bridge.view(env).game.action_name(action) for action in range(2)]

    assert named(turned) == ["right", "left"]
    assert named(lambda env: Shaky(env, CHANCES["numpy.random"])) != named(turned)
    assert named(lambda env: TransformAction(env, lambda a: int(mtrand.randint(2)), spaces.Discrete(2))) == [
        "0",
        "1",
    ]


def test_very_many_actions_take_no_time_to_name():
    env = wrapped("Pendulum-v1", lambda env: DiscretizeAction(env, 200_000))
    began = time.perf_counter()
    game = bridge.view(env).game
    assert time.perf_counter() - began < 1.0
    assert game.action_name(3) == "3"


class Shaping(gym.RewardWrapper):
    """Pays how much less the pole leans than before."""

    def __init__(self, env):
        super().__init__(env)
        self.before = {"leans": [0.0]}

    def reward(self, reward):
        (before,), now = self.before["leans"], abs(float(self.unwrapped.state[2]))
        self.before["leans"][0] = now
        return reward + before - now


def test_a_wrapper_of_rewards_that_keeps_something_is_refused():
    env = wrapped(CARTS, Shaping)
    for _ in range(2):
        with pytest.raises(TypeError, match=r"Shaping keeps something from step to step.*write it into CartPoleEnv"):
            found(env)
    assert env.before == {"leans": [0.0]}
    assert "Shaping keeps something" in agents.check_planning(env)["copies"].evidence


class Slotted(gym.ActionWrapper):
    __slots__ = ("shift",)

    def __init__(self, env):
        super().__init__(env)
        self.shift = 1

    def action(self, action):
        return (action + self.shift) % 2


class Locked(gym.ActionWrapper):
    """Holds what cannot be copied."""

    def __init__(self, env):
        super().__init__(env)
        self.log, self.shift = (line for line in ()), [1]

    def action(self, action):
        return (action + self.shift[0]) % 2


@pytest.mark.parametrize("wrap", [Slotted, Locked])
def test_wrappers_are_copied_with_all_they_hold(wrap):
    np.testing.assert_array_equal(found(wrapped(CARTS, wrap)).values, found(wrapped(CARTS, turned)).values)


class Raising(gym.ActionWrapper):
    def action(self, action):
        return {0: 0}[action]


def test_what_a_wrapper_raises_is_said_with_its_name():
    with pytest.raises(TypeError, match=r"CartPoleEnv in Raising cannot be copied: fast copy, .*: KeyError: 1;"):
        found(wrapped(CARTS, Raising))


def test_an_agent_tells_numbers_of_actions_apart():
    agent = agents.make("mcts", simulations=40, horizon=10)
    for bins in (5, 3, 7):
        assert (
            len(agent.search(wrapped("Pendulum-v1", lambda env, bins=bins: DiscretizeAction(env, bins))).visits) == bins
        )
    for start in (0, 3):
        env = wrapped(
            CARTS, lambda env, start=start: TransformAction(env, lambda a: a % 3, spaces.Discrete(2, start=start))
        )
        assert agent.act(env) in (start, start + 1)


@pytest.mark.parametrize("remembered", [False, True])
def test_what_is_kept_of_an_episode_is_kept_for_its_wrappers(remembered):
    env = wrapped(CARTS, agents.remember) if remembered else wrapped(CARTS)
    agent = agents.make("mcts", simulations=40, reuse=True)
    around = halved(env)
    agent.search(around)
    assert agent.search(around).visits.sum() > 40
    worse = agent.search(TransformReward(env, lambda reward: -reward))
    assert worse.visits.sum() <= 40
    assert np.nanmax(worse.values) < 0


def test_rewards_are_followed_through_their_wrappers():
    plain = found(wrapped(CARTS), discount=1.0, normalize=True)
    half = found(wrapped(CARTS, halved, Monitor), discount=1.0, normalize=True)
    np.testing.assert_allclose(half.values, plain.values / 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        worse = found(wrapped(CARTS, lambda env: TransformReward(env, lambda reward: -reward)))
    assert worse.action != plain.action


@pytest.mark.parametrize(
    ("env_id", "wrap", "name"),
    [(LANES, halved, "TransformReward"), (CARTS, NormalizeReward, "NormalizeReward"), (LANES, NormalizeReward, "Norm")],
)
def test_other_wrappers_of_rewards_are_named_once(env_id, wrap, name):
    wrappers._warn.cache_clear()
    env, agent = wrapped(env_id, wrap), agents.make("mcts", simulations=20, seed=3)
    with pytest.warns(UserWarning, match=rf"{name}\w* changes the rewards of .*the environment inside"):
        result = agent.search(env)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.act(env)
    plain = agents.make("mcts", simulations=20, seed=3).search(wrapped(env_id))
    np.testing.assert_array_equal(result.values, plain.values)


@pytest.mark.parametrize(
    "wrap", [MaxAndSkipObservation, MaxAndSkipEnv, lambda env: RepeatAction(env, 4)], ids=["Gymnasium", "SB3", "Repeat"]
)
def test_actions_are_repeated_as_their_wrappers_do(wrap):
    env = wrapped(CARTS, wrap)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = found(env, horizon=3, discount=1.0)
    assert np.nanmax(result.values) == pytest.approx(12, abs=0.5)  # three steps of four
    limited = wrapped(CARTS, lambda env: TimeLimit(env, 10), wrap)
    assert agents.bridge.view(limited).state.left == 3
    wrappers._warn.cache_clear()
    with pytest.warns(UserWarning, match=r"\w+ repeats actions in LaneDefense.*plans single steps"):
        found(wrapped(LANES, wrap))


def test_a_wrapper_that_is_told_to_repeat_none_is_fine():
    class Shrunk(AtariPreprocessing):
        def __init__(self, env):
            gym.Wrapper.__init__(self, env)
            self.frame_skip = 1

        def reset(self, **given):
            return self.env.reset(**given)

    assert agents.make("mcts", simulations=20).act(wrapped(CARTS, Shrunk)) in (0, 1)


class RepeatAction5(gym.Wrapper):
    """One that does not say how often as Gymnasium's does."""

    def step(self, action):
        return [self.env.step(action) for _ in range(5)][-1]


RepeatAction5.__name__ = "RepeatAction"


class Choosing(RecordEpisodeStatistics):
    """Allows by what it counts from step to step."""

    def action_masks(self):
        return np.array([True, self.episode_count > 0])


class Lives(AtariPreprocessing):
    def __init__(self, env):
        gym.Wrapper.__init__(self, env)
        self.frame_skip, self.terminal_on_life_loss = 4, True

    def reset(self, **given):
        return self.env.reset(**given)


class Shaped(gym.Wrapper):
    """Pays something else, as who does not know of RewardWrapper writes it."""

    def step(self, action):
        seen, reward, *rest = self.env.step(action)
        return seen, -reward, *rest


def masked(env):
    return ActionMasker(env, lambda env: np.array([False, True]))


class Listed(gym.Wrapper):
    action_masks = (True, *[False] * 9)


@pytest.mark.parametrize(
    ("env_id", "wrap", "said"),
    [
        (CARTS, Shaped, "Shaped has a step of its own around CartPoleEnv; the search plans those of the environment"),
        (LANES, Shaped, "Shaped has a step of its own around LaneDefense"),
        (CARTS, RepeatAction5, "RepeatAction has a step of its own around CartPoleEnv"),
        (CARTS, Choosing, "Choosing says what is legal in CartPoleEnv; the search plans all actions of"),
        (LANES, lambda env: ActionMasker(env, lambda _: np.arange(10) < 1), "ActionMasker forbids what is legal in"),
        (LANES, Listed, "Listed forbids what is legal in LaneDefense; the search plans all actions of the environment"),
        (CARTS, Lives, "Lives ends episodes of CartPoleEnv; the search plans whole ones of the environment inside it"),
    ],
)
def test_wrappers_of_steps_and_of_what_is_legal_are_named(env_id, wrap, said):
    wrappers._warn.cache_clear()
    with pytest.warns(UserWarning, match=said):
        agents.make("mcts", simulations=20).act(wrapped(env_id, wrap))


def test_masks_that_want_arguments_are_let_be():
    class OfSeats(gym.Wrapper):
        def action_masks(self, seat):
            return [seat]

    assert agents.make("mcts", simulations=20).act(wrapped(LANES, OfSeats)) in range(10)


class Sticky(BaseWrapper):
    """Makes the first action always."""

    def step(self, action):
        super().step(None if action is None else 0)


def test_wrappers_of_steps_in_turns_are_named():
    wrappers._warn.cache_clear()
    env = Sticky(tictactoe.env())
    env.reset(seed=0)
    with pytest.warns(UserWarning, match="Sticky has a step of its own around raw_env; the search plans those of"):
        agents.make("mcts", simulations=20).act(env)


class Tenfold(LaneDefense):
    """Pays ten times as much."""

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, 10 * reward, *rest


class Named(LaneDefense):
    """Has another name."""


@pytest.mark.parametrize(("kind", "said"), [(Tenfold, 1), (Named, 0)])
def test_a_step_in_a_class_derived_from_ours_is_named(kind, said):
    wrappers._warn.cache_clear()
    env = kind()
    env.reset(seed=0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        agents.make("mcts", simulations=20).act(env)
    assert [str(each.message).split(";")[0] for each in told] == ["Tenfold has a step of its own"] * said


def test_a_wrapper_that_says_the_same_of_what_is_legal_is_fine():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agents.make("mcts", simulations=20).act(wrapped(LANES, masked, Monitor))


def batch_in(wrap):
    return wrap(gym.make_vec(LANES, num_envs=2))


def test_wrappers_around_a_batch_are_refused_or_named_as_well():
    agent = agents.make("mcts", simulations=20)
    with pytest.raises(TypeError, match="TransformAction changes actions on their way to LaneDefenseVector"):
        agent.bind(batch_in(lambda batch: vector.TransformAction(batch, lambda actions: 9 - actions)))
    for wrap in (vector.NormalizeReward, lambda batch: vector.ClipReward(batch, -1, 1)):
        wrappers._warn.cache_clear()
        with pytest.warns(UserWarning, match="changes the rewards of LaneDefenseVector"):
            agent.bind(batch_in(wrap))
    with pytest.warns(UserWarning, match="changes the rewards of FrozenLakeEnv"):
        agent.bind(vector.NormalizeReward(gym.make_vec("FrozenLake-v1", 2, "sync")))
    batch = batch_in(vector.NormalizeObservation)
    observations, _ = batch.reset(seed=0)
    assert agent.bind(batch).predict(observations)[0].shape == (2,)


@pytest.mark.parametrize("env_id", [CARTS, LANES])
def test_other_wrappers_are_fine(env_id):
    def limited(env):
        return TimeLimit(env, 50)

    env = wrapped(env_id, limited, FlattenObservation, RecordEpisodeStatistics)
    assert agents.make("mcts", simulations=20).act(env) in range(env.action_space.n)
