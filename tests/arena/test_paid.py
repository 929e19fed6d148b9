"""Environments of others for several players: who has won, who is ahead of whom, and what is legal."""

from pathlib import Path

import numpy as np
import pytest
from gymnasium.spaces import Discrete, MultiBinary
from pettingzoo import AECEnv, ParallelEnv

from agents.arena import Plan, compare, parse_agents

HERE = f"{__name__}"


class Race(ParallelEnv):
    """Three run 6 fields, as many a step as they say; who arrives is paid, the earlier the more, and leaves."""

    metadata = {"name": "race_v0", "is_parallelizable": True}  # noqa: RUF012
    possible_agents = [1, ("runner", 2), "läufer 3"]  # noqa: RUF012
    render_mode = None

    def observation_space(self, agent):
        return Discrete(20)

    def action_space(self, agent):
        return Discrete(3, start=1)

    def reset(self, seed=None, options=None):
        self.agents, self.at, self.prizes = self.possible_agents[:], dict.fromkeys(self.possible_agents, 0), [5, 3, 1]
        return self.at, {agent: {} for agent in self.agents}

    def step(self, actions):
        for agent in self.agents:
            self.at[agent] += int(actions[agent])
        over = {agent: self.at[agent] >= 6 for agent in self.agents}
        paid = {agent: float(self.prizes[0]) if over[agent] else 0.0 for agent in self.agents}
        self.prizes = self.prizes[any(over.values()) :]
        seen, infos = {agent: self.at[agent] for agent in over}, {agent: {} for agent in over}
        self.agents = [agent for agent in self.agents if not over[agent]]
        return seen, paid, over, dict.fromkeys(over, False), infos


class Purse(ParallelEnv):
    """One is paid first and then pays three times; with the other it is the other way round."""

    metadata = {"name": "purse_v0", "is_parallelizable": True}  # noqa: RUF012
    possible_agents = ["first", "second"]  # noqa: RUF012
    render_mode = None

    def observation_space(self, agent):
        return Discrete(5)

    def action_space(self, agent):
        return Discrete(2)

    def reset(self, seed=None, options=None):
        self.agents, self.t = self.possible_agents[:], 0
        return dict.fromkeys(self.agents, 0), {agent: {} for agent in self.agents}

    def step(self, actions):
        rewards = 1.0, -0.1, -0.1, -0.1
        paid = {"first": rewards[self.t], "second": rewards[3 - self.t]}
        self.t += 1
        over, infos = dict.fromkeys(self.agents, self.t == 4), {agent: {} for agent in self.agents}
        self.agents = self.agents if self.t < 4 else []
        return dict.fromkeys(over, self.t), paid, over, dict.fromkeys(over, False), infos


class Curt(Purse):
    """Says nothing beside what is observed."""

    def reset(self, seed=None, options=None):
        return super().reset(seed, options)[0], {}

    def step(self, actions):
        return *super().step(actions)[:4], {}


class Strict(Purse):
    """Says in its infos which one action is legal."""

    def _masks(self):
        return {agent: {"action_mask": np.eye(2, dtype=np.int8)[self.t % 2]} for agent in self.possible_agents}

    def reset(self, seed=None, options=None):
        return super().reset(seed, options)[0], self._masks()

    def step(self, actions):
        assert set(actions.values()) == {self.t % 2}, "illegal"
        return *super().step(actions)[:4], self._masks()


def race():
    return Race()


def strict():
    return Strict()


def curt():
    return Curt()


def purse():
    return Purse()


def one(env):
    return 1


def two(env):
    return 2


def three(env):
    return np.array([3])


def test_who_was_paid_more_ranks_before_who_stayed_longer(tmp_path: Path) -> None:
    agents = parse_agents(f"slow={HERE}:one,fast={HERE}:three,middle={HERE}:two")
    report = compare(Plan(f"{HERE}:race", agents), 2, folder=tmp_path)
    assert {side.name: side.rank.value for side in report.standings} == {"fast": 1.0, "middle": 2.0, "slow": 3.0}
    elo = {rating.agent: rating.elo.value for rating in report.ratings}
    assert elo["fast"] > elo["middle"] > elo["slow"]
    assert "then by rewards, then by the end of one" in " ".join(str(report).split())


def test_who_was_paid_as_much_in_another_order_has_won_as_much(tmp_path: Path) -> None:
    report = compare(Plan(f"{HERE}:purse", parse_agents("random,uniform")), 2, folder=tmp_path)
    assert [summary.ties for summary in report.summaries] == [4, 4]
    assert report.summaries[0].win_rate.value == pytest.approx(0.5)


def informed(env):
    """Look at what is said, as an agent of one's own may."""
    assert env.last()[-1] == {}
    return 0


@pytest.mark.filterwarnings("ignore:The `infos` dictionary returned by `env.reset` was empty")
def test_an_environment_need_not_say_anything_in_its_infos(tmp_path: Path) -> None:
    agents = parse_agents(f"random,informed={HERE}:informed,mcts:simulations=5")
    report = compare(Plan(f"{HERE}:curt", agents), 1, folder=tmp_path)
    assert [(summary.games, summary.forfeits) for summary in report.summaries] == [(4, {})] * 3


def test_what_is_legal_where_all_choose_at_once_is_read_in_its_infos(tmp_path: Path) -> None:
    report = compare(Plan(f"{HERE}:strict", parse_agents("random,mcts:simulations=5")), 1, folder=tmp_path)
    assert [(summary.games, summary.forfeits) for summary in report.summaries] == [(2, {})] * 2


class Squares(AECEnv):
    """One takes a free square of four, the other says whether it is in the upper row; three times."""

    metadata = {"name": "squares_v0", "is_parallelizable": False}  # noqa: RUF012
    possible_agents = ["takes", "says"]  # noqa: RUF012
    render_mode = None

    def observation_space(self, agent):
        return MultiBinary((2, 2))

    def action_space(self, agent):
        return Discrete(4) if agent == "takes" else Discrete(2, start=1)

    def reset(self, seed=None, options=None):
        self.agents, self.free, self.last = self.possible_agents[:], np.ones((2, 2), np.int8), 0
        self.rewards, self._cumulative_rewards = dict.fromkeys(self.agents, 0.0), dict.fromkeys(self.agents, 0.0)
        self.terminations, self.truncations = dict.fromkeys(self.agents, False), dict.fromkeys(self.agents, False)
        self.infos = {"takes": {"action_mask": self.free}, "says": {}}
        self.agent_selection = "takes"

    def observe(self, agent):
        return self.free

    def step(self, action):
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[self.agent_selection] = 0.0
        self._clear_rewards()
        if self.agent_selection == "takes":
            assert self.free[divmod(int(action), 2)]
            self.free[divmod(int(action), 2)], self.last = 0, int(action)
        else:
            assert action in (1, 2)
            self.rewards["says"] = float(action == 1 + self.last // 2)
            self.terminations = dict.fromkeys(self.agents, self.free.sum() == 1)
        self.agent_selection = "says" if self.agent_selection == "takes" else "takes"
        self._accumulate_rewards()


def squares():
    return Squares()


class Last:
    """Takes the last that is legal of the actions of its own."""

    def predict(self, observation, action_masks):
        return np.flatnonzero(action_masks)[-1] + (len(action_masks) == 2)


def test_a_mask_has_the_shape_of_the_board_and_a_policy_that_of_its_own_actions(tmp_path: Path) -> None:
    agents = parse_agents(f"last={HERE}:Last,mcts", {"simulations": 20})
    report = compare(Plan(f"{HERE}:squares", agents), 2, folder=tmp_path)
    assert [(summary.games, summary.forfeits) for summary in report.summaries] == [(4, {}), (4, {})]
    paid = {seat.agent: seat.episode_return for row in report.rows.values() for seat in row.seats[1:]}
    assert paid["last"] < paid["mcts"]
