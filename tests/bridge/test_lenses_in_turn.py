"""What policies see through wrappers of PettingZoo."""

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.utils.conversions import parallel_to_aec
from pettingzoo.utils.wrappers import BaseWrapper, OrderEnforcingWrapper

import agents


class Two:
    """Two who add 0 or 1 to what both see."""

    possible_agents = ["one", "other"]  # noqa: RUF012
    render_mode = None

    def observation_space(self, agent):
        return Box(0, 6, (1,), np.float32)

    def action_space(self, agent):
        return Discrete(2)


class Count(Two, AECEnv):
    """They do in turn, six times."""

    metadata = {"name": "count_v0", "is_parallelizable": False}  # noqa: RUF012

    def reset(self, seed=None, options=None):
        self.agents, self.sum, self.moves = self.possible_agents[:], 0, 0
        self.rewards, self._cumulative_rewards = dict.fromkeys(self.agents, 0.0), dict.fromkeys(self.agents, 0.0)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.infos, self.agent_selection = {agent: {} for agent in self.agents}, self.agents[0]

    def observe(self, agent):
        return np.array([self.sum], np.float32)

    def step(self, action):
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self.sum, self.moves = self.sum + int(action), self.moves + 1
        self.terminations = dict.fromkeys(self.agents, self.moves == 6)
        self.agent_selection = self.agents[self.moves % 2]


class AtOnce(Two, ParallelEnv):
    """They do at once, three times."""

    metadata = {"name": "at_once_v0", "is_parallelizable": True}  # noqa: RUF012

    def reset(self, seed=None, options=None):
        self.agents, self.sum, self.steps = self.possible_agents[:], 0, 0
        return {agent: np.zeros(1, np.float32) for agent in self.agents}, {agent: {} for agent in self.agents}

    def step(self, actions):
        self.sum, self.steps = self.sum + sum(actions.values()), self.steps + 1
        seen = {agent: np.array([self.sum], np.float32) for agent in self.agents}
        paid, over = dict.fromkeys(self.agents, 0.0), dict.fromkeys(self.agents, self.steps == 3)
        self.agents = self.agents if self.steps < 3 else []
        return seen, paid, over, dict.fromkeys(over, False), {agent: {} for agent in over}


class Signed(BaseWrapper):
    """Shows the negative."""

    def observe(self, agent):
        return -super().observe(agent)


class Rest(BaseWrapper):
    """Shows what is left to 10 too."""

    def observation_space(self, agent):
        return Box(-6, 16, (2,), np.float32)

    def observe(self, agent):
        seen = super().observe(agent)
        return np.array([*seen, 10 + seen[0]], np.float32)


@pytest.mark.parametrize("inside", [Count, lambda: parallel_to_aec(AtOnce())])
@pytest.mark.parametrize("remembered", [False, True])
def test_policies_see_through_wrappers_at_the_root_and_below(inside, remembered):
    env = Rest(OrderEnforcingWrapper(Signed(inside())))
    env = agents.remember(env) if remembered else env
    env.reset(seed=0)
    env.step(1)
    env.step(1)
    asked = []

    def network(observations, masks):
        asked.extend(observations.tolist())
        return masks / masks.sum(1, keepdims=True), np.zeros(len(observations))

    agents.make("puct", policy=network, simulations=30, seed=0).act(env)
    assert asked[0] == env.observe(env.agent_selection).tolist() == [-2.0, 8.0]
    assert {tuple(each) for each in asked} >= {(-2.0, 8.0), (-3.0, 7.0), (-4.0, 6.0)}
    assert all(rest == 10 + seen for seen, rest in asked)
