"""What an environment hides is not planned with: it is drawn anew, by adapters or by replay, or a warning says so."""

import functools
import math
import pickle
import time
import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.classic.rps import rps
from pettingzoo.classic.tictactoe import tictactoe

import agents
from agents import bridge
from agents.bridge import live
from agents.bridge.hidden import ADAPTER, AS_IT_IS, NOTHING, SAMPLED, SINCE, UNTOLD
from agents.bridge.pool import PARTICLES
from agents.bridge.suspicion import hidden_from
from tests.bridge.worlds import TAXI, mcts, same_whatever_is_hidden

# What is chosen at the same time.


def test_the_first_choice_changes_no_search_of_the_second():
    env = rps.env()
    env.reset(seed=1)
    env.step(0)

    def chosen(action):
        env.unwrapped.state["player_0"] = action

    result = same_whatever_is_hidden(env, [functools.partial(chosen, action) for action in range(3)])
    assert result.copies.hidden == ADAPTER


def test_agents_of_a_cycle_choose_at_the_same_time():
    env = rps.env(max_cycles=2)
    env.reset(seed=1)
    view = bridge.view(env)
    assert view.game.simultaneous
    assert view.game.active(view.state) == 3
    state, rewards = view.state.copy(), [0.0, 0.0]
    view.game.step(state, [0, 1], rewards)
    assert rewards == [-1.0, 1.0]
    assert view.game.active(state) == 3
    view.game.step(state, [2, 1], rewards)
    assert rewards == [1.0, -1.0]
    assert view.game.active(state) == 0
    env.step(0)
    assert bridge.view(env).player == 1
    assert view.game.active(bridge.view(env).state) == 2
    second = mcts(300, seed=2).search(env)
    assert abs(second.values[second.action]) < 0.5  # though stone was chosen


@pytest.mark.parametrize("seat", [0, 1])
def test_rock_paper_scissors_is_level_from_both_seats(seat):
    rng, paid = np.random.default_rng(seat), []
    for game in range(4):
        env, agent = rps.env(max_cycles=15), mcts(40, seed=game)
        env.reset(seed=game)
        while env.agents:
            name = env.agent_selection
            if env.terminations[name] or env.truncations[name]:
                env.step(None)
                continue
            env.step(agent.act(env) if name == f"player_{seat}" else int(rng.integers(3)))
            if name == "player_1":
                paid.append(env.rewards[f"player_{seat}"])
    assert len(paid) == 60
    assert abs(sum(paid)) < 4 * math.sqrt(60 * 2 / 3)


# Poker.


def test_leduc_deals_what_is_not_seen_anew():
    pytest.importorskip("rlcard")
    from pettingzoo.classic.rlcard_envs import leduc_holdem

    env = leduc_holdem.env()
    env.reset(seed=3)
    game = env.unwrapped.env.game
    mine = game.players[env.unwrapped.possible_agents.index(env.agent_selection)]
    other = game.players[1 - mine.player_id]

    def turned():
        game.dealer.deck.append(other.hand)
        other.hand = game.dealer.deck.pop(0)

    result = same_whatever_is_hidden(env, [turned] * 5, lambda: mcts(40, seed=1))
    assert result.copies.hidden == ADAPTER
    view = bridge.view(env)
    root, hands, next_cards = view.state.copy(), set(), set()
    for seed in range(60):
        state = root.copy()
        view.game.determinize(state, view.player, seed * 0x9E3779B97F4A7C15 % 2**64)
        dealt = state.env.env.game
        cards = [card.get_index() for card in [*dealt.dealer.deck, *(player.hand for player in dealt.players)]]
        assert sorted(cards) == ["HJ", "HK", "HQ", "SJ", "SK", "SQ"]
        assert dealt.players[mine.player_id].hand.get_index() == mine.hand.get_index()
        hands.add(dealt.players[other.player_id].hand.get_index())
        next_cards.add(dealt.dealer.deck[-1].get_index())
    assert len(hands) == len(next_cards) == 5


# Without an adapter: replay.


class Cups(gym.Env):
    """A ball under one of three cups: 0 to 2 guess; 3 lifts a cup at random, and says whether the ball is there."""

    def __init__(self):
        self.action_space = spaces.Discrete(4)
        self.observation_space = spaces.Tuple([spaces.Discrete(4), spaces.Discrete(2)])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.ball = int(self.np_random.integers(3))
        return (3, 0), {}

    def step(self, action):
        if action < 3:
            return (action, int(action == self.ball)), float(action == self.ball), True, False, {}
        lifted = int(self.np_random.integers(3))
        return (lifted, int(lifted == self.ball)), -0.01, False, False, {}


def test_what_is_hidden_is_found_and_a_warning_says_the_cure():
    class Bare(Cups):
        pass

    env = Bare()
    env.reset(seed=1)
    said = r"Bare hides something from its player, in ball, .*agents\.remember\(env\).*determinize.*information='full'"
    with pytest.warns(UserWarning, match=said):
        result = mcts(60).search(env)
    assert result.copies.hidden == AS_IT_IS
    mcts(60).search(env)  # said once
    other = type("Bare2", (Cups,), {})()
    other.reset(seed=1)
    assert mcts(200, information="full").search(other).action == other.ball  # asked for by name


class Combination(Cups):
    """Whether the ball matters depends on two actions: one line of random play in sixteen shows it."""

    last = 0

    def step(self, action):
        found, self.last = (self.last, action, self.ball) == (2, 1, 0), action
        return (3, int(found)), float(found), found, False, {}


def test_what_seldom_matters_is_found_too():
    env = Combination()
    env.reset(seed=1)
    assert hidden_from(bridge.view(env).game, env, None) == ("ball",)


def test_what_is_hidden_is_drawn_by_replay():
    env = agents.remember(Cups())
    env.reset(seed=1)

    def put(ball):
        env.unwrapped.ball = ball

    changes = [functools.partial(put, ball) for ball in range(3)]
    result = same_whatever_is_hidden(env, changes, lambda: mcts(300, seed=2, loop="information_set", tree_depth=1))
    assert result.copies.hidden == SAMPLED
    assert result.copies.particles == PARTICLES
    assert result.copies.acceptance == 1.0
    assert np.nanmax(result.values[:3]) < 0.6


def test_courses_go_on_with_what_is_seen():
    env = agents.remember(Cups())
    for seed in range(3):
        env.reset(seed=seed)
        known = {0, 1, 2}
        mcts(10).search(env)
        for _ in range(6):
            (cup, there), *_ = env.step(3)
            known = {cup} if there else known - {cup}
            result = mcts(40, seed=seed).search(env)
            pool = env.history.pools[None]
            assert {course.env.ball for course in pool.particles} == known
            assert result.copies.acceptance <= 1.0
            if len(known) == 1:
                break
        assert mcts(300, seed=seed).act(env) == env.unwrapped.ball or len(known) > 1


class ToldInInfo(Cups):
    """The mask tells whether the ball is under the first cup, and nothing else does."""

    def mask(self):
        return np.array([self.ball == 0, True, True, True], np.int8)

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0], {"action_mask": self.mask()}

    def step(self, action):
        said = (3, 0), float(action == self.ball), action < 3, False
        return *said, {"action_mask": self.mask()}


class ToldWhenAsked(ToldInInfo):
    def action_masks(self):
        return self.mask()

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0], {}

    def step(self, action):
        return *super().step(action)[:4], {}


class ToldAtOnce(ParallelEnv):
    """The same for two who choose at once, each of whom is told in its info."""

    metadata, possible_agents = {"name": "told_v0"}, ["a", "b"]

    def observation_space(self, agent):
        return spaces.Discrete(1)

    def action_space(self, agent):
        return spaces.Discrete(4)

    def infos(self):
        return {agent: {"action_mask": np.array([self.ball == 0, 1, 1, 1], np.int8)} for agent in self.agents}

    def reset(self, seed=None, options=None):
        self.agents, self.ball = ["a", "b"], int(np.random.default_rng(seed).integers(3))
        return dict.fromkeys(self.agents, 0), self.infos()

    def step(self, actions):
        paid = {agent: float(action == self.ball) for agent, action in actions.items()}
        ended = dict.fromkeys(self.agents, min(actions.values()) < 3)
        infos = self.infos()
        self.agents = [agent for agent in self.agents if not ended[agent]]
        return dict.fromkeys(ended, 0), paid, ended, dict.fromkeys(ended, False), infos


class ToldInTurn(AECEnv):
    """The same for one who may look on, in an environment in which agents choose in turn."""

    metadata, possible_agents = {"name": "told_v0"}, ["a"]
    observation_space, action_space = ToldAtOnce.observation_space, ToldAtOnce.action_space
    observe = dict.fromkeys(possible_agents, 0).get

    def reset(self, seed=None, options=None):
        self.agents, self.agent_selection = ["a"], "a"
        self.ball = int(np.random.default_rng(seed).integers(3))
        self.rewards, self._cumulative_rewards = {"a": 0.0}, {"a": 0.0}
        self.terminations, self.truncations = {"a": False}, {"a": False}
        self.infos = {"a": {"action_mask": np.array([self.ball == 0, 1, 1, 1], np.int8)}}

    def step(self, action):
        if action is None:
            self._was_dead_step(action)
        else:
            self.rewards, self.terminations = {"a": float(action == self.ball)}, {"a": action < 3}
            self._cumulative_rewards = dict(self.rewards)


@pytest.mark.parametrize("kind", [ToldInInfo, ToldWhenAsked, ToldAtOnce, ToldInTurn])
def test_a_mask_is_shown_too(kind):
    env = agents.remember(kind())
    agent = None if kind in (ToldInInfo, ToldWhenAsked) else "a"
    balls = set()
    for seed in (0, 1, 11):
        env.reset(seed=seed)
        for _ in range(2):
            view = bridge.view(env, agent)
            result = mcts(60, seed=seed).search(view)
            first = env.unwrapped.ball == 0
            assert result.copies.hidden == SAMPLED
            held = {course.env.unwrapped.ball for course in env.history.pools[agent].particles}
            assert held == ({0} if first else {1, 2})
            assert result.action == 0 or not first
            env.step({"a": 3, "b": 3} if kind is ToldAtOnce else 3)
        balls.add(env.unwrapped.ball)
    assert balls == {0, 1, 2}
    again = agents.remember(kind())
    again.reset(seed=0)
    assert pickle.loads(pickle.dumps(again)).history.shown == again.history.shown


@pytest.mark.parametrize("kind", [ToldInInfo, ToldAtOnce, ToldInTurn])
def test_what_is_shown_is_kept_without_a_look_at_the_environment(monkeypatch, kind):
    looks = []
    for name in ("LiveSingle", "LiveParallel", "LiveAEC"):
        monkeypatch.setattr(live, name, lambda *given: looks.append(given))
    env = agents.remember(kind())
    for seed in range(2):
        env.reset(seed=seed)
        env.step({"a": 3, "b": 3} if kind is ToldAtOnce else 3)
    assert not looks


class Terse(Cups):
    """Its info is no mapping."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0], None


def test_an_info_that_is_no_mapping_is_kept():
    env = agents.remember(Terse())
    env.reset(seed=0)
    assert len(env.history.shown) == 1


@pytest.mark.filterwarnings("ignore:Slow. . simulations took")  # as none of few courses may fit
def test_courses_are_looked_for_in_a_part_of_the_time():
    class Slow(Cups):
        def reset(self, *, seed=None, options=None):
            time.sleep(0.002)
            return super().reset(seed=seed, options=options)

        def step(self, action):
            time.sleep(0.002)
            return super().step(action)

    env = agents.remember(Slow())
    env.reset(seed=1)
    agent = agents.make("mcts", time_limit=0.06, horizon=3)
    agent.search(env)  # which finds out what is hidden
    for _ in range(3):
        env.step(3)
        result = agent.search(env)
        assert result.copies.hidden == SAMPLED
        assert 0 < result.copies.particles < PARTICLES  # which take 0.4 s and more
        assert result.simulations >= 4  # each action of four was tried
    env.reset(seed=2)
    assert agents.make("mcts", simulations=8, horizon=3).search(env).copies.particles == PARTICLES


def test_where_no_course_fits_later_ones_begin_there():
    class Rare(Cups):
        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            self.ball, self.mark = int(self.np_random.integers(3)), int(self.np_random.integers(10**9))
            return (3, 0), {}

        def step(self, action):
            if action < 3:
                return super().step(action)
            self.mark, shown = 0, (self.mark, 0)
            return shown, 0.0, False, False, {}

    env = agents.remember(Rare())
    env.observation_space = env.unwrapped.observation_space = spaces.Tuple([spaces.Discrete(10**9), spaces.Discrete(2)])
    env.reset(seed=1)
    assert mcts(8, horizon=3).search(env).copies.hidden == SAMPLED
    env.step(3)
    with pytest.warns(UserWarning, match="none of 2000 other courses of the game fits"):
        assert mcts(8, horizon=3).search(env).copies.hidden == AS_IT_IS
    env.step(3)
    assert mcts(8, horizon=3).search(env).copies.hidden == SINCE


@pytest.mark.filterwarnings("ignore:Dear. . simulations took")
def test_a_course_is_not_looked_for_for_ever():
    class Dear(Cups):
        def reset(self, *, seed=None, options=None):
            time.sleep(0.002)
            super().reset(seed=seed)
            self.mark = int(self.np_random.integers(10**9))
            return (3, 0), {}

        def step(self, action):
            (cup, there), *rest = super().step(action)
            self.mark, cup = 0, self.mark or cup
            return (cup, there), *rest

    env = agents.remember(Dear())
    env.reset(seed=1)
    agent = agents.make("mcts", time_limit=0.02, horizon=3)
    agent.search(env)  # which finds out what is hidden
    env.step(3)
    began = time.perf_counter()
    with pytest.warns(UserWarning, match=r"none of \d+ other courses of the game fits what was seen; register an"):
        assert agent.search(env).copies.hidden == AS_IT_IS
    assert time.perf_counter() - began < 2.0  # 2,000 courses take 4 s


def test_what_takes_longer_than_its_time_is_told_once():
    class Sleepy(gym.Env):
        action_space, observation_space = spaces.Discrete(2), spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            super().reset(seed=seed)
            return 0, {}

        def step(self, action):
            time.sleep(0.03)
            return 0, 0.0, False, False, {}

    env = Sleepy()
    env.reset(seed=1)
    agent = agents.make("graph", time_limit=0.002)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.search(env)
        env.step(0)
        agent.search(env)
    late = r"Sleepy: .* simulations? took 0\.\d+ s, more than the time limit of 0.002 s.*, or a shorter horizon"
    with pytest.warns(UserWarning, match=late):
        agent.search(env)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agent.search(env)


class Coins(rps.raw_env):
    """Rock, paper, scissors that no adapter knows."""


def test_choices_of_others_are_drawn_by_replay(monkeypatch):
    monkeypatch.setattr("agents.bridge.adapters.SHIPPED", {})
    from agents.bridge.adapters import adapter_of

    adapter_of.cache_clear()
    env = agents.remember(Coins())
    env.reset(seed=1)
    for first in range(3):
        env.step(first)
        result = mcts(90, seed=3).search(env)
        assert result.copies.hidden == SAMPLED
        pool = env.history.pools["player_1"]
        assert {course.env.state["player_0"] for course in pool.particles} == {0, 1, 2}
        env.step(1)
    adapter_of.cache_clear()


@pytest.mark.parametrize(
    "make", [pytest.param(lambda: gym.make("Blackjack-v1"), id="adapter"), pytest.param(Cups, id="replay")]
)
def test_threads_draw_apart_and_reproducibly(make):
    found = []
    for _ in range(3):
        env = agents.remember(make())
        env.reset(seed=1)
        found.append(mcts(120, threads=2, seed=5).search(env).values)
    assert np.array_equal(found[0], found[1], equal_nan=True)
    assert np.array_equal(found[0], found[2], equal_nan=True)


def test_where_nothing_is_hidden_nothing_is_drawn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for env_id, found in (
            ("FrozenLake-v1", NOTHING),
            ("CliffWalking-v1", NOTHING),
            (TAXI, NOTHING),
            ("CartPole-v1", UNTOLD),
        ):
            env = agents.remember(gym.make(env_id))
            env.reset(seed=1)
            assert mcts(5, horizon=5).search(env).copies.hidden == found


class Hands(tictactoe.raw_env):
    """Shows everybody a great number that is its own, and never the same."""

    def reset(self, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.number = np.random.default_rng(seed).integers(2**40)

    def observe(self, agent):
        return {**super().observe(agent), "observation": np.array([self.number])}


def test_what_cannot_be_told_is_said():
    env = Hands()
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="nobody can tell whether .* hides something from player_1: no two games"):
        assert mcts(5).search(env).copies.hidden == UNTOLD


def test_trees_of_their_own_draw_it_anew_too():
    balls, visits = set(), set()
    for seed in range(12):
        env = agents.remember(Cups())
        env.reset(seed=seed)
        result = agents.make("determinized", simulations=90, samples=6, seed=1).search(env)
        assert result.copies.hidden == SAMPLED
        balls.add(env.unwrapped.ball)
        visits.add(str(result.visits))
    assert len(balls) > 1
    assert len(visits) == 1
