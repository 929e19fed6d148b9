"""What agents of one's own, and planners, are shown of environments in which all choose at once."""

import random

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiBinary
from pettingzoo import ParallelEnv
from pettingzoo.utils.conversions import parallel_to_aec

import agents
from agents.bridge.shown import COURSES, redrawn


class Cards(ParallelEnv):
    """Each of three sees a card of its own, and says a number; who says the sum of all cards is paid."""

    metadata = {"name": "cards_v0", "is_parallelizable": True}  # noqa: RUF012
    possible_agents = ["a", "b", "c"]  # noqa: RUF012
    render_mode = None

    def observation_space(self, agent):
        return Discrete(2)

    def action_space(self, agent):
        return Discrete(4, start=1)

    def reset(self, seed=None, options=None):
        self.agents, self.cards = self.possible_agents[:], np.random.default_rng(seed).integers(2, size=3).tolist()
        return self._seen(), {agent: {} for agent in self.agents}

    def step(self, actions):
        paid = {agent: float(actions[agent] == 1 + sum(self.cards)) for agent in self.agents}
        over, infos = dict.fromkeys(self.agents, True), {agent: {} for agent in self.agents}
        seen, self.agents = self._seen(), []
        return seen, paid, over, dict.fromkeys(over, False), infos

    def _seen(self):
        return dict(zip(self.possible_agents, self.cards, strict=True))


def test_who_comes_later_is_shown_turns_and_neither_cards_nor_choices_of_others():
    env = agents.remember(parallel_to_aec(Cards()))
    env.reset(seed=5)
    env.step(4)
    env.step(4)
    shown = [redrawn(env, random.Random(number)) for number in range(60)]
    own = env.unwrapped.cards[2]
    assert {(copy.agent_selection, copy.observe("c"), copy.unwrapped.cards[2]) for copy in shown} == {("c", own, own)}
    assert {(copy._actions["a"], copy._actions["b"]) for copy in shown} > {(1, 1), (4, 4)}
    assert env.history.pools["c"].kept == COURSES
    assert len({tuple(copy.unwrapped.cards) for copy in shown}) == 4
    assert all(copy._observations == copy.unwrapped._seen() for copy in shown)
    copy = shown[0]
    copy.step(1 + sum(copy.unwrapped.cards))
    assert copy.rewards["c"] == 1.0
    assert env.agent_selection == "c"
    assert len(env.agents) == 3


class Auction(ParallelEnv):
    """Two bid twice for what is worth something else to each, 1 to 3, the second time up to 3; the one does not matter
    to the other but by what it bids. What is legal is shown."""

    metadata = {"name": "auction_v0", "is_parallelizable": True}  # noqa: RUF012
    possible_agents = ["one", "other"]  # noqa: RUF012
    render_mode = None

    def observation_space(self, agent):
        return Dict({"observation": Box(0, 3, (2,), np.int64), "action_mask": MultiBinary(3)})

    def action_space(self, agent):
        return Discrete(3, start=1)

    def reset(self, seed=None, options=None):
        self.agents, self.t, self.high = self.possible_agents[:], 0, 0
        self.worth = dict(zip(self.agents, np.random.default_rng(seed).integers(1, 4, 2).tolist(), strict=True))
        return self.seen(), self.said()

    def seen(self):
        legal = np.array([1, 1, self.t == 1], np.int8)
        return {a: {"observation": np.array([self.worth[a], self.high]), "action_mask": legal} for a in self.worth}

    def said(self):
        return {agent: {"worth": self.worth[agent]} for agent in self.worth}

    def step(self, actions):
        assert all(bid <= 2 + self.t for bid in actions.values()), "an illegal bid"
        self.t, self.high = self.t + 1, max(actions.values())
        paid = {a: float(self.worth[a] - bid) * (bid == self.high) for a, bid in actions.items()}
        over, never = dict.fromkeys(self.agents, self.t == 2), dict.fromkeys(self.agents, False)
        self.agents = self.agents if self.t < 2 else []
        return self.seen(), paid, over, never, self.said()


def test_what_others_alone_are_paid_for_is_drawn_anew_and_stays_legal():
    env = agents.remember(parallel_to_aec(Auction()))
    env.reset(seed=5)
    found = agents.make("mcts", simulations=100, seed=0).search(env)
    assert (found.copies.hidden, found.visits[2]) == ("drawn by replay", 0)
    env.step(2)
    assert agents.make("mcts", simulations=100, seed=0).search(env).copies.hidden == "drawn by replay"
    shown = [redrawn(env, random.Random(number)) for number in range(40)]
    assert {copy.unwrapped.worth["one"] for copy in shown} == {1, 2, 3}
    assert {copy._actions["one"] for copy in shown} == {1, 2}
    for copy in shown:
        assert copy.infos == copy.unwrapped.said()
        assert copy.observe("one")["observation"][0] == copy.unwrapped.worth["one"]
        assert copy.unwrapped.worth["other"] == env.unwrapped.worth["other"]
