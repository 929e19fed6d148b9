"""Foreign environments of several players: in turns, at once, with agents that leave."""

import warnings

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils import EzPickle
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.classic.rps import rps
from pettingzoo.classic.tictactoe import tictactoe
from pettingzoo.utils.conversions import parallel_to_aec
from pettingzoo.utils.wrappers import BaseParallelWrapper, BaseWrapper

import agents
import mcts_envs
from agents import bridge, wrappers
from agents.bridge import hidden
from agents.bridge.hidden import AS_IT_IS, SINCE
from agents.bridge.live import foreign_view
from agents.bridge.means import REPLAY
from agents.bridge.pool import Pool
from mcts_envs.core.api.multi import GameAECEnv, GameParallelEnv
from mcts_envs.core.contract import TRUNCATED
from tests.bridge.worlds import Handle, mcts
from tests.toys import TicTacToe, Tron


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


def test_who_has_left_is_not_evaluated():
    """To go on is worth 100; who leaves has nothing more to come."""

    def worth(state, values):
        values[:] = [100.0] * 3

    env = Dwindling()
    env.reset()
    found = mcts(60, evaluate=worth, rollout_depth=0, horizon=2).search(env)
    assert found.values.tolist() == [100.0, 101.0, 0.0]


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
    seen, *_ = env.step({"x": 0, "y": 1})
    assert mcts(600).act(bridge.view(env, "x", observation=seen)) == 2


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
    seen, *_ = env.step({"x": 1, "y": 1})
    assert mcts(200).act(bridge.view(env, observation=seen)) == 0  # the only one left
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


class Told(ParallelEnv):
    """Both choose at once for three turns; the first action is never legal, as their observation says."""

    metadata = {"name": "told_v0", "render_modes": []}  # noqa: RUF012
    render_mode = None
    possible_agents = ["a", "b"]  # noqa: RUF012

    def observation_space(self, agent):
        return spaces.Dict(observation=spaces.Discrete(4), action_mask=spaces.MultiBinary(3))

    def action_space(self, agent):
        return spaces.Discrete(3)

    def said(self):
        seen = {"observation": self.turn, "action_mask": np.array([0, 1, 1], np.int8)}
        return dict.fromkeys(self.possible_agents, seen)

    def reset(self, seed=None, options=None):
        self.agents, self.turn = self.possible_agents[:], 0
        return self.said(), {agent: {} for agent in self.agents}

    def step(self, actions):
        self.turn += 1
        over = dict.fromkeys(self.agents, self.turn == 3)
        rewards = {agent: 3.0 - action for agent, action in actions.items()}
        self.agents = [] if self.turn == 3 else self.agents
        return self.said(), rewards, over, dict.fromkeys(over, False), {agent: {} for agent in over}


def test_masks_in_observations_of_all_at_once_are_kept_or_missed():
    env = Told()
    env.reset()
    assert bridge.view(env, "a", observation=env.said()).legal_actions().tolist() == [1, 2]
    with pytest.warns(UserWarning, match=r"what is legal in told_v0 stands in its observations.*remember\(env\)"):
        mcts(40).act(bridge.view(env, "a"))
    kept, in_turns = agents.remember(Told()), parallel_to_aec(Told())
    for each in (kept, in_turns):
        each.reset(seed=0)
        view = bridge.view(each, "a" if each is kept else None)
        assert view.legal_actions().tolist() == [1, 2]
        assert mcts(40).act(view) == 1


# Ours behind the bridge.


def test_ours_are_searched_alike_behind_the_bridge():
    own, foreign = GameAECEnv(TicTacToe), GameAECEnv(TicTacToe)
    for env in (own, foreign):
        env.reset(seed=1)
        env.step(4)
        env.step(0)
    for settings in ({}, {"reuse": True, "loop": "closed"}, {"discount": 0.9, "horizon": 4, "c": 1.0}):
        agent, twin = (agents.make("mcts", simulations=150, seed=3, **settings) for _ in range(2))
        expected, found = agent.search(own), twin.search(foreign_view(foreign))
        assert np.array_equal(expected.visits, found.visits)
        assert np.array_equal(expected.values, found.values, equal_nan=True)
        assert (expected.action, expected.steps) == (found.action, found.steps)
    own, foreign = GameParallelEnv(Tron), GameParallelEnv(Tron)
    own.reset(seed=1)
    seen, infos = foreign.reset(seed=1)
    expected = mcts(150).search(own.view("player_1"))
    found = mcts(150).search(foreign_view(foreign, "player_1", observation=seen, info=infos))
    assert np.array_equal(expected.visits, found.visits)


@pytest.mark.parametrize("make", [mcts_envs.make_aec, mcts_envs.make_parallel])
@pytest.mark.parametrize("env_id", ["Football1-v0", "BomberTeam-v0"])
def test_ours_are_looked_at_as_they_say_themselves(make, env_id):
    env = make(env_id)
    env.reset(seed=1)
    view = bridge.view(env, "player_1")
    assert (view.game, view.player) == (env.unwrapped.game, 1)
    with pytest.raises(ValueError, match="unknown agent 'bob'"):
        bridge.view(env, "bob")
    first = bridge.view(env)
    assert first.player == mcts(5).search(env).view.player
    assert mcts(20).act(first) in first.legal_actions()


def test_who_chooses_in_a_conversion_of_ours_is_asked_of_it():
    env = parallel_to_aec(GameParallelEnv(Tron))
    env.reset(seed=1)
    for player in (0, 1, 0):
        assert bridge.view(env).player == mcts(5).search(env).view.player == player
        env.step(0)


def test_alpha_beta_plays_there_too():
    env = tictactoe.env()
    env.reset()
    for cell in (0, 1, 3):
        env.step(cell)
    assert agents.make("alpha_beta", max_steps=4000).search(env).action == 6  # or else three in a row


class Crowd(Auction):
    """Twelve who bid."""

    def __init__(self):
        super().__init__()
        self.possible_agents = [f"player_{i}" for i in range(12)]


def test_among_many_it_is_looked_for_few_what_is_hidden(monkeypatch):
    asked = []
    monkeypatch.setattr(hidden, "hidden_from", lambda game, env, agent, _: asked.append(agent) or ())
    env = agents.remember(Crowd())
    env.reset(seed=0)
    assert mcts(5).search(bridge.view(env, "player_7")).copies.hidden == hidden.NOTHING
    assert asked == ["player_7", "player_0", "player_1", "player_2"]


def test_ours_with_chance_are_valued_alike_behind_the_bridge():
    own = gym.make("mcts_envs/LaneDefense3x3-v0").unwrapped
    foreign = gym.make("mcts_envs/LaneDefense3x3-v0").unwrapped
    for env in (own, foreign):
        env.reset(seed=2)
    expected = agents.make("flat_mc", simulations=20_000).search(own)
    found = agents.make("flat_mc", simulations=700).search(foreign_view(foreign))
    assert np.array_equal(expected.visits > 0, found.visits > 0)
    tried = found.visits > 0
    error = 300.0 / 2 / np.sqrt(found.visits[tried])  # returns lie in a range of 300
    assert (np.abs(expected.values - found.values)[tried] < 4 * error).all()
    assert np.array_equal(own.clone_state().state, foreign.clone_state().state)


class Fewer(BaseWrapper):
    """Leaves two of the three actions, and counts them from 0."""

    def action_space(self, agent):
        return spaces.Discrete(2)

    def step(self, action):
        super().step(None if action is None else 2 - action + "abc".index(self.agent_selection))


def test_wrappers_that_change_actions_are_refused():
    env = Fewer(Dwindling())
    env.reset()
    with pytest.raises(TypeError, match="turns its actions Discrete"):
        mcts(10).act(env)


class Doubled(BaseWrapper):
    """Makes every second choice again."""

    def step(self, action):
        super().step(action)


class DoubledAtOnce(BaseParallelWrapper):
    """The same where all choose at once."""

    def step(self, actions):
        return super().step(actions)


WORN = {
    "turns": lambda: Doubled(GameAECEnv(TicTacToe)),
    "at once": lambda: DoubledAtOnce(GameParallelEnv(Tron)),
    "converted": lambda: parallel_to_aec(DoubledAtOnce(GameParallelEnv(Tron))),
}


@pytest.mark.parametrize("worn", WORN.values(), ids=WORN)
def test_steps_of_wrappers_around_ours_are_named(worn):
    wrappers._warn.cache_clear()
    env = worn()
    env.reset(seed=0)
    agent = None if hasattr(env, "agent_selection") else env.agents[0]
    with pytest.warns(UserWarning, match=r"Doubled\w* has a step of its own around Game\w+; the search plans those of"):
        bridge.view(env, agent)


class Marked(rps.raw_env):
    """Shows a fraction that no two games have in common."""

    def reset(self, seed=None, options=None):
        super().reset(seed=seed, options=options)
        self.mark = np.random.default_rng(seed).random()

    def observe(self, agent):
        return np.array([self.mark, super().observe(agent)])


def test_what_others_have_chosen_already_is_found_where_all_else_shows(monkeypatch):
    monkeypatch.setattr("agents.bridge.adapters.SHIPPED", {})
    env = Marked()
    env.reset(seed=1)
    env.step(0)
    with pytest.warns(UserWarning, match="hides something from player_1, in state, and planning foresees"):
        mcts(20).search(env)


def test_what_others_have_chosen_already_is_drawn_anew_from_the_second_search_on(monkeypatch):
    monkeypatch.setattr("agents.bridge.adapters.SHIPPED", {})
    tries = []
    monkeypatch.setattr(Pool, "_begun", lambda self, now: tries.append(now))  # no other reset shows the fraction
    env = agents.remember(type("Once", (Marked,), {})())
    env.reset(seed=1)
    for hidden_as in (AS_IT_IS, SINCE, SINCE):
        env.step(0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = mcts(90, seed=3).search(env)
        assert result.copies.hidden == hidden_as
        env.step(1)
    assert {course.env.state["player_0"] for course in env.history.pools["player_1"].particles} == {0, 1, 2}
    assert not tries


def test_an_episode_that_is_over_is_named():
    env = Auction()
    env.reset(seed=1)
    env.agents = []
    with pytest.raises(ValueError, match=r"nobody is to choose in .*: the episode is over; call reset\(\)"):
        mcts(5).search(env)


class Together(ParallelEnv):
    """One agent, which is told what is legal by another name."""

    possible_agents, agents = ("a",), ()

    def observation_space(self, agent):
        return spaces.Discrete(2)

    action_space = observation_space

    def reset(self, seed=None, options=None):
        self.agents = ["a"]
        return {"a": 0}, {"a": {"legal_moves": [0]}}

    def step(self, actions):
        if actions["a"]:
            raise ValueError("illegal")
        return {"a": 0}, {"a": 0.0}, {"a": False}, {"a": False}, {"a": {"legal_moves": [0]}}


def test_masks_of_several_by_other_names_are_told_the_right_one():
    env = Together()
    env.reset(seed=0)
    with pytest.raises(TypeError, match=r"illegal.*; if info\['legal_moves'\] tells what is legal, say it as"):
        mcts().act(env)


class Engines(ParallelEnv, EzPickle):
    """Two who choose at once, in an engine that cannot be copied."""

    metadata = {"is_parallelizable": True, "name": "engines"}  # noqa: RUF012

    def __init__(self):
        EzPickle.__init__(self)
        self.possible_agents, self.engine, self.render_mode = ["a", "b"], Handle(), None

    def observation_space(self, agent):
        return spaces.Discrete(9)

    action_space = observation_space

    def said(self):
        return dict.fromkeys(self.agents, self.t), {agent: {} for agent in self.agents}

    def reset(self, seed=None, options=None):
        self.agents, self.t = ["a", "b"], 0
        return self.said()

    def step(self, actions):
        self.t += 1
        paid, over = {agent: float(actions[agent]) for agent in self.agents}, dict.fromkeys(self.agents, False)
        seen, infos = self.said()
        return seen, paid, over, over, infos


def test_who_chooses_at_once_is_replayed_in_turns_too():
    env = agents.remember(parallel_to_aec(Engines()))
    env.reset(seed=1)
    for agent in "abab":
        assert env.agent_selection == agent
        found = mcts(40, horizon=2).search(env)
        assert found.copies.means == REPLAY
        assert found.values[8] == max(found.values)
        env.step(found.action)
    assert env.unwrapped.t == 2
