"""What agents of one's own are shown of environments in which all choose at once."""

import random

import numpy as np
from gymnasium.spaces import Discrete
from pettingzoo import ParallelEnv
from pettingzoo.utils.conversions import parallel_to_aec

import agents
from agents.bridge.shown import redrawn


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
    assert len({tuple(copy.unwrapped.cards) for copy in shown}) == 4
    assert all(copy._observations == {"c": own} for copy in shown)
    copy = shown[0]
    copy.step(1 + sum(copy.unwrapped.cards))
    assert copy.rewards["c"] == 1.0
    assert env.agent_selection == "c"
    assert len(env.agents) == 3
