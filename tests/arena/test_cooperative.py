"""Games whose players are paid together: each agent plays all seats, and what they are paid is compared."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gymnasium.spaces import Discrete
from pettingzoo import ParallelEnv
from pettingzoo.utils.conversions import parallel_to_aec

import mcts_envs
from agents.arena import Plan, Sprt, compare, parse_agent, parse_agents
from agents.arena.merging import plan_of
from agents.arena.page import page
from agents.arena.parameters import parse_parameter
from agents.arena.report.table import remarks
from agents.arena.tuning import Tuning, tune

HERE = f"{__name__}:meet"


class Meet(ParallelEnv):
    """Ten rounds in which both see a number from 0 to 2, and are paid if both say it; the second player 1 less."""

    metadata = {"name": "meet_v0", "is_parallelizable": True}  # noqa: RUF012
    possible_agents = ["first", "second"]  # noqa: RUF012
    render_mode = None

    def __init__(self, less=0.0):
        self.less = less

    def observation_space(self, agent):
        return Discrete(3)

    def action_space(self, agent):
        return Discrete(3)

    def reset(self, seed=None, options=None):
        self.chance = np.random.default_rng(seed)
        self.agents, self.left = self.possible_agents[:], 10
        self.number = int(self.chance.integers(3))
        return dict.fromkeys(self.agents, self.number), {agent: {} for agent in self.agents}

    def step(self, actions):
        paid = float(actions["first"] == actions["second"] == self.number)
        self.number, self.left = int(self.chance.integers(3)), self.left - 1
        seen, over = dict.fromkeys(self.agents, self.number), dict.fromkeys(self.agents, self.left == 0)
        never, infos = dict.fromkeys(self.agents, False), {agent: {} for agent in self.agents}
        self.agents = self.agents if self.left else []
        return seen, {"first": paid, "second": paid - self.less}, over, never, infos


def meet(less=0.0):
    return parallel_to_aec(Meet(less))


class Reader:
    """Says what it is shown, if it is the only player whom it was ever asked for."""

    def __init__(self):
        self.asked = set()

    def act(self, env):
        self.asked.add(env.agent_selection)
        return env.observe(env.agent_selection) if len(self.asked) == 1 else 0


def leaves(env):
    if env.agent_selection == "second":
        raise OSError("gone home")
    return 0


def plan(agents, cooperative=True, **settings):
    return Plan(HERE, parse_agents(agents, {}), settings, cooperative=cooperative)


def test_each_agent_plays_all_seats_by_objects_of_its_own(tmp_path):
    report = compare(plan(f"random,reader={__name__}:Reader"), 8, folder=tmp_path)
    chance, reader = report.summaries
    assert (reader.games, reader.mean_return.value, reader.length) == (8, 10.0, 20.0)
    paid = [[seat.episode_return for seat in row.seats] for row in report.rows.values() if row.agents[0] == "random"]
    assert len(paid) == 8
    assert chance.mean_return.value == pytest.approx(np.mean(paid))
    assert all(seat.outcome is None for row in report.rows.values() for seat in row.seats)
    assert report.differences[0].mean_return.value == pytest.approx(10.0 - chance.mean_return.value)
    assert "an agent in all 2 seats" in str(report)
    again, episodes = plan_of([tmp_path], report.plan.limits)
    assert (again.cooperative, episodes, again.configuration()) == (True, 8, report.plan.configuration())


def test_the_return_is_that_of_a_player_in_the_mean(tmp_path):
    report = compare(plan(f"{__name__}:Reader", less=0.5), 3, folder=tmp_path)
    assert report.summaries[0].mean_return.value == 7.5
    assert "<td>7.5</td>" in re.sub(r"<td [^>]*>", "<td>", str(page(report)))


def test_all_seats_are_lost_by_who_fails_in_one(tmp_path):
    report = compare(plan(f"random,{__name__}:leaves"), 4, folder=tmp_path)
    away = report.summaries[1]
    assert (away.games, away.forfeits) == (0, {"crash": 4})
    assert any("leaves, episode 0, player 1 to move: crash: OSError: gone home" in each for each in remarks(report))


def test_two_agents_are_tested_by_what_they_are_paid(tmp_path):
    sprt = Sprt(elo0=0.0, elo1=100.0)
    report = compare(plan(f"reader={__name__}:Reader,random"), 100, sprt=sprt, folder=tmp_path)
    assert report.trial.verdict == "H1"
    assert len(report.rows) < 200


@pytest.mark.slow
def test_an_agent_is_tuned_in_all_seats(tmp_path):
    agent = parse_agent("mcts", {"simulations": 9})
    tuning = Tuning(HERE, agent, (parse_parameter("horizon=1:2"),), 3, budget={"simulations": 9}, cooperative=True)
    tuned = tune(tuning, 2, folder=tmp_path, confirm=3)
    assert all(trial.found.value > 1.0 for trial in tuned.trials)
    assert tuning.described()["cooperative"] is True


def test_games_of_ours_for_one_team_are_won_together(tmp_path):
    import pig

    mcts_envs.register("PigTogether-v0", lambda: replace(pig.pig(), teams=((0, 1),)))
    agents = parse_agents("random,uniform", {})
    report = compare(Plan("PigTogether-v0", agents, cooperative=True, replays=True), 4, folder=tmp_path)
    assert [each.games for each in report.summaries] == [4, 4]
    assert report.plan.scored
    for each in report.summaries:
        rows = [row for row in report.rows.values() if row.agents[0] == each.agent]
        assert each.win_rate.value == pytest.approx(np.mean([[seat.outcome for seat in row.seats] for row in rows]))
    assert len(list((tmp_path / "replays").glob("*.json"))) == 8
    with pytest.raises(ValueError, match="are one team, and meet nobody; compare agents that play all of them, --coop"):
        Plan("PigTogether-v0", agents).check()


@pytest.mark.parametrize(
    ("environment", "against", "why"),
    [
        ("CartPole-v1", None, "CartPole-v1 has one player, as it is set up here; leave cooperative out"),
        (
            "WallSurvival-v0",
            None,
            "mcts_envs/WallSurvival-v0 are 2 teams, which meet; leave cooperative out",
        ),
        (HERE, "random", "against 'random': agents meet no other"),
    ],
)
def test_what_is_not_played_together_is_refused(environment, against, why):
    with pytest.raises(ValueError, match=why):
        Plan(environment, parse_agents("random,uniform", {}), against=against, cooperative=True).check()


def test_who_compares_points_of_such_a_game_is_told(tmp_path: Path):
    agents = f"random,reader={__name__}:Reader"
    report = compare(plan(agents, cooperative=False), 2, folder=tmp_path / "alike")
    assert report.doubts[0].startswith("all players were paid the same in every game")
    report = compare(plan(agents, cooperative=False, less=0.5), 2, folder=tmp_path / "apart")
    assert not any("paid the same" in doubt for doubt in report.doubts)


def test_environments_of_others_are_begun_with_seeds_that_compiled_ones_take():
    alone = Plan("CartPole-v1", parse_agents("random"))
    assert max(alone.blank_row(match).seed for match in alone.jobs(50)) < 2**31
    ours = Plan("LaneDefense3x3-v0", parse_agents("random"))
    assert max(ours.blank_row(match).seed for match in ours.jobs(50)) >= 2**31
