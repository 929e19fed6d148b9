"""Comparisons in games for one: agents and budgets as text, mistakes in a plan, pairing, and what is measured."""

import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from agents.arena import (
    AgentSpec,
    Plan,
    compare,
    parse_agent,
    parse_agents,
    parse_budget,
    parse_meeting,
    parse_settings,
)
from agents.arena.rows import seeds
from agents.arena.running.runner import Crew
from mcts_envs.core.players import BuiltIn
from tests.arena.reports import figures
from tests.arena.single import TWO, fakes

ID = "LaneDefense3x3-v0"


# What people write


def test_agents_are_read() -> None:
    assert parse_agent("mcts").settings == {}
    text = "mcts:simulations=500:c=1.4:reuse=true:model=worst_case:horizon=None"
    spec = parse_agent(text)
    assert (spec.name, spec.label) == ("mcts", text)
    expected = {"simulations": 500, "c": 1.4, "reuse": True, "model": "worst_case", "horizon": None}
    assert spec.settings == expected
    assert parse_agent("sb3:C:/runs/a.zip:deterministic=False") == AgentSpec(
        "sb3:C:/runs/a.zip:deterministic=False", "sb3:C:/runs/a.zip", {"deterministic": False}
    )
    assert parse_agent("bold=mcts:c=2") == AgentSpec("bold", "mcts", {"c": 2})
    assert parse_agent("my-1.5=sb3:C:/a=b/a.zip") == AgentSpec("my-1.5", "sb3:C:/a=b/a.zip", {})
    assert parse_agent("sb3:lr=0.1/a.zip:c=2") == AgentSpec("sb3:lr=0.1/a.zip:c=2", "sb3:lr=0.1/a.zip", {"c": 2})
    (bold, shy), against = parse_meeting("bold=mcts:c=2,shy=mcts:c=0.1", "bold")
    assert (bold.settings, shy.label, against) == ({"c": 2}, "shy", "bold")
    two = parse_agents("random, mcts:weights=[1,2]:c=2")
    assert [spec.label for spec in two] == ["random", "mcts:weights=[1,2]:c=2"]
    assert two[1].settings == {"weights": [1, 2], "c": 2}
    spaced = parse_agent("mcts : c = 2 : select = my.py:bold")
    assert (spaced.name, spaced.settings) == ("mcts", {"c": 2, "select": "my.py:bold"})
    assert parse_settings(["board_size = 4"]) == {"board_size": 4}


def test_budgets_are_given_to_those_who_take_one() -> None:
    limits = parse_budget("simulations=1000,time=0.1")
    assert limits == {"simulations": 1000, "time_limit": 0.1}
    assert parse_budget("steps=20000") == {"max_steps": 20000}
    assert parse_budget(None) == {}
    assert parse_agent("mcts:c=2", limits).settings == {"c": 2, **limits}
    assert parse_agent("mcts:max_steps=7", limits).settings == {"max_steps": 7}
    assert parse_agent("random", limits).settings == {}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: parse_agents(""), "no agent"),
        (lambda: parse_agents("random,mcts,random"), "'random' is there twice"),
        (lambda: parse_agent("c=1"), "no name"),
        (lambda: parse_agent("c="), "no name"),
        (lambda: parse_agent("a=b=mcts"), "no name"),
        (lambda: parse_agent(" my bot =mcts:c=2"), r"and - alone; write my_bot=mcts:c=2$"),
        (lambda: parse_agents("a=random,a=mcts"), "'a' is there twice"),
        (lambda: parse_budget("sims=3"), "did you mean 'simulations'"),
        (lambda: parse_budget("simulations=0"), r"simulations 0 is outside \[1"),
        (lambda: parse_budget("time=-1"), "budget time in seconds -1.0 is outside"),
        (lambda: parse_budget("0.1"), r"budget '0.1' does not say of what; write .* time=0.1 \(seconds\)"),
        (lambda: parse_agents(["random", "mcts"]), "are list, not text such as 'random,mcts"),  # type: ignore[arg-type]
        (lambda: parse_settings(["night"]), "key=value"),
        (lambda: parse_settings(["night=3", "night=4"]), "twice"),
    ],
)
def test_mistakes_are_named(call: object, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan(ID, parse_agents("mtcs")), "did you mean 'mcts'"),
        (Plan(ID, parse_agents("mcts:cc=3")), "unknown setting or parameter 'cc'; did you mean 'c'"),
        (Plan(ID, parse_agents("sb3:nothing_here")), "nothing_here"),
        (Plan("LaneDefense33-v0", parse_agents("random")), "did you mean 'mcts_envs/LaneDefense3x3-v0'"),
        (Plan(ID, parse_agents("random"), {"nigt": 3}), "did you mean 'night'"),
        (Plan("Pendulum-v1", parse_agents("random")), r"planners need Discrete\(n\)"),
        (Plan(ID, parse_agents("random"), seed=-1), "seed -1 is outside"),
        (Plan(ID, ()), "no agent to compare"),
        (Plan("WallSurvival-v0", (BuiltIn("random"),)), "is BuiltIn, .*parse_agents"),  # type: ignore[arg-type]
        (Plan(ID, parse_agents("random"), "night=3"), r"settings 'night=3' is str; give a dictionary"),  # type: ignore[arg-type]
        (Plan(ID, parse_agents("mcts"), limits={"simulations": 9}), r"is dict; give Limits"),  # type: ignore[arg-type]
        (Plan(ID, parse_agents("mcts"), budget={"simulations": 9}), r"for the record, .*parse_agents\('mcts', {'simul"),
        (Plan(ID, 2 * parse_agents("random")), "'random' is there twice"),
        (Plan(ID, parse_agents("mcts:model=nowhere")), "'mcts:model=nowhere': .*nowhere"),
        (
            Plan("LaneDefense5x9-v0", parse_agents("mcts_paper")),
            "no preset 'mcts_paper', which is one of LaneDefense3x3-v0, Lane",
        ),
        (Plan("LaneDefense10x10-v0", parse_agents("maskable_ppo")), "no maskable_ppo policy is shipped"),
        (
            Plan(ID, (AgentSpec("random", "random", {"model": {3}}),), make=lambda spec: BuiltIn("random")),
            "is set, which",
        ),
        (Plan(ID, parse_agents("x"), make=lambda spec: json.loads("{")), "agent 'x': Expecting"),
    ],
)
def test_mistakes_in_a_plan_are_found_before_anything_is_played(plan: Plan, message: str, tmp_path: Path) -> None:
    with pytest.raises((ValueError, TypeError, OSError), match=message):
        compare(plan, 5, folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_settings_may_be_scalars_of_numpy(tmp_path: Path) -> None:
    plain, numpy = (fakes("a:base=random", settings={"night": number(5)}, seed=number(3)) for number in (int, np.int64))
    assert plain.configuration() == numpy.configuration()
    assert figures(compare(plain, 3, folder=tmp_path)) == figures(compare(numpy, 3, folder=tmp_path))


# Playing


def test_pairs_have_the_same_randomness() -> None:
    plan = fakes("a:base=random", "b:base=random", "c:base=scripted")
    played = {(p.row.agents[0], p.row.episode): p.row for p in Crew(plan).play(plan.jobs(20))}
    for episode in range(20):
        a, b, c = (played[next(s.label for s in plan.agents if s.name == name), episode] for name in "abc")
        assert a.seed == c.seed
        (a,), (b,), (c,) = (row.seats for row in (a, b, c))
        assert a.agent_seed == c.agent_seed
        assert (a.outcome, a.episode_return, a.length) == (b.outcome, b.episode_return, b.length)
    assert len({row.seed for row in played.values()}) == 20
    assert seeds(0, 1) != seeds(1, 0)


def test_an_episode_can_be_played_again_by_hand() -> None:
    plan = fakes(*TWO, seed=7)
    row = next(iter(Crew(plan).play(plan.jobs(1)))).row
    env, player = gymnasium.make(f"mcts_envs/{ID}"), BuiltIn("random")
    _, info = env.reset(seed=row.seed)
    (seat,) = row.seats
    player.reseed(seat.agent_seed)
    total, discounted, length, decisions, over = 0.0, 0.0, 0, 0, False
    while not over:
        decisions += info["action_mask"].sum() > 1
        _, reward, terminated, truncated, info = env.step(player.act(env))
        total, discounted, length = total + reward, discounted + 0.95**length * reward, length + 1
        over = terminated or truncated
    assert (seat.episode_return, seat.length, seat.decisions) == (total, length, decisions)
    assert seat.discounted_return == pytest.approx(discounted)
    assert (seat.outcome, seat.is_success) == (info["outcome"], info["is_success"])


def test_a_search_is_measured_where_there_was_a_choice() -> None:
    plan = Plan(ID, parse_agents("mcts", {"simulations": 30}))
    (seat,) = next(iter(Crew(plan).play(plan.jobs(1)))).row.seats
    assert seat.simulations == 30 * seat.decisions
    assert seat.model_steps >= seat.simulations - seat.decisions
    assert seat.seconds > 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"part": (0, 2)}, r"part\[0\] 0 is outside \[1, 2\]"),
        ({"part": (3, 2)}, "part"),
        ({"part": (1, 2, 3)}, r"\(2, 4\) is the second of four"),
        ({"fresh": "no"}, "fresh 'no'"),
        ({"sprt": "elo0=0,elo1=20"}, r"give Sprt\(elo0=0"),
        ({"merge": "two"}, r"merge=\['two'\]"),
        ({"plan": ID}, r"give Plan\(ID"),
    ],
)
def test_what_is_no_argument_of_a_comparison_is_refused(given: dict[str, Any], message: str, tmp_path: Path) -> None:
    """A part that there is not played nothing, and any text as ``fresh`` threw away what was there."""
    options = {"plan": Plan(ID, parse_agents("random")), "folder": tmp_path / "out", **given}
    with pytest.raises((TypeError, ValueError), match=message):
        compare(options.pop("plan"), 1, **options)
    assert not (tmp_path / "out").exists()
