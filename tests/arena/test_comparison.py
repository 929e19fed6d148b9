"""Comparisons: statistics, pairing, durability, accidents, and the command."""

import importlib
import io
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import typer
import typer.testing
from rich.console import Console

import agents.arena.comparison
from agents import names
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
from agents.arena import plan as plans
from agents.arena.cells import short_names
from agents.arena.episode import Episode, seeds
from agents.arena.plot import drawing, plot, require_drawable
from agents.arena.report import Report, overruns, report
from agents.arena.runner import Crew, run
from agents.arena.statistics import bootstrap_mean, paired_difference, paired_rates, wilson
from agents.arena.storage import EPISODES, LOCK, TRANSITIONS, Results, default_folder, read_transitions
from agents.arena.table import remarks, render
from agents.learning import shipped
from mcts_envs.core.players import BuiltIn
from mcts_envs.registry import ENTRIES

ROOT = Path(__file__).resolve().parents[2]
ID = "LaneDefense3x3-v0"


class Fake(BuiltIn):
    """A player with an accident in episodes whose agent seed is divisible by 5."""

    def __init__(self, base: str = "random", accident: str = "", pause: float = 0.0) -> None:
        super().__init__(base)
        self.accident, self.pause, self.moves, self.unlucky = accident, pause, 0, False

    def reseed(self, seed: int) -> None:
        super().reseed(seed)
        self.moves, self.unlucky = 0, seed > 0 and seed % 5 == 0

    def act(self, env: object) -> int:
        self.moves += 1
        time.sleep(self.pause)
        if self.unlucky and self.moves == 2:
            if self.accident == "raise":
                raise RuntimeError("the agent broke")
            if self.accident == "die":
                os._exit(3)
        if self.accident == "confuse":
            raise ValueError("the agent is confused")
        return super().act(env)


def make_fake(spec: AgentSpec) -> Fake:
    return Fake(**spec.settings)


def fakes(*texts: str, **more: object) -> Plan:
    specs = tuple(parse_agent(text) for text in texts)
    return Plan(ID, specs, make=make_fake, **more)  # type: ignore[arg-type]


TWO = ("random:base=random", "scripted:base=scripted")


def figures(result: Report) -> list[object]:
    """Everything in a report that does not depend on the clock."""
    found = [(s.agent, s.games, s.errors, s.win_rate, s.mean_return, s.length) for s in result.summaries]
    return [*found, *result.differences]


def rows_of(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / EPISODES).read_text().splitlines()[1:]]


# Statistics


@pytest.mark.parametrize(
    ("wins", "games", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_gives_newcombes_published_intervals(wins: int, games: int, low: float, high: float) -> None:
    """R. G. Newcombe (1998), Statistics in Medicine 17, table I, method 3."""
    estimate = wilson(wins, games)
    assert estimate == pytest.approx((wins / games, low, high), abs=5e-5)


def test_wilson_agrees_with_scipy_and_takes_ties() -> None:
    from scipy import stats  # Here and below: late, because worker processes import this file.

    for wins, games, level in [(0, 1, 0.95), (1, 1, 0.95), (7, 10, 0.9), (333, 1000, 0.99)]:
        expected = stats.binomtest(wins, games).proportion_ci(level, method="wilson")
        assert wilson(wins, games, level)[1:] == pytest.approx((expected.low, expected.high))
    assert wilson(2, 10).low < wilson(2.5, 10).low < wilson(3, 10).low
    assert all(math.isnan(part) for part in wilson(0, 0))


@pytest.mark.parametrize("call", [lambda: wilson(3, 2), lambda: wilson(-1, 2), lambda: wilson(1, 2, 95)])
def test_wilson_refuses_nonsense(call: object) -> None:
    with pytest.raises(ValueError, match=r"outside|between"):
        call()  # type: ignore[operator]


def test_bootstrap_mean_is_near_the_t_interval_and_repeatable() -> None:
    from scipy import stats

    sample = np.random.default_rng(1).normal(10.0, 3.0, 400)
    expected = stats.t.interval(0.95, 399, sample.mean(), stats.sem(sample))
    estimate = bootstrap_mean(sample)
    assert estimate.value == pytest.approx(sample.mean())
    assert estimate[1:] == pytest.approx(expected, abs=0.05)
    assert estimate == bootstrap_mean(sample)
    assert bootstrap_mean([2.0, 2.0, 2.0]) == (2.0, 2.0, 2.0)
    assert bootstrap_mean([2.0]).value == 2.0
    assert math.isnan(bootstrap_mean([2.0]).low)
    assert math.isnan(bootstrap_mean([]).value)


def test_paired_differences_use_the_pairs() -> None:
    common = np.random.default_rng(2).normal(0.0, 100.0, 200)
    estimate = paired_difference(common + 1.0, common)
    assert estimate == pytest.approx((1.0, 1.0, 1.0))
    with pytest.raises(ValueError, match="pairs"):
        paired_difference([1.0], [1.0, 2.0])


def test_paired_rates_are_bonett_and_prices() -> None:
    """By hand: 40 pairs, 12 won by the first alone, 3 by the second alone."""
    a, b = np.zeros(40), np.zeros(40)
    a[:12], b[12:15] = 1.0, 1.0
    first, second = 13 / 42, 4 / 42
    half = 1.959964 * math.sqrt((first + second - (first - second) ** 2) / 42)
    assert paired_rates(a, b) == pytest.approx((9 / 40, first - second - half, first - second + half))
    assert paired_rates(np.ones(5), np.zeros(5)).low < 0.5


def test_paired_rates_cover() -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(600):
        luck = rng.random(30)
        a, b = (luck < 0.7).astype(float), (np.where(rng.random(30) < 0.5, luck, rng.random(30)) < 0.4).astype(float)
        estimate = paired_rates(a, b)
        covered += estimate.low <= 0.3 <= estimate.high
    assert covered / 600 > 0.92


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
    (bold, shy), against = parse_meeting("bold=mcts:c=2,shy=mcts:c=0.1", "bold")
    assert (bold.settings, shy.label, against) == ({"c": 2}, "shy", "bold")
    two = parse_agents("random, mcts:weights=[1,2]:c=2")
    assert [spec.label for spec in two] == ["random", "mcts:weights=[1,2]:c=2"]
    assert two[1].settings == {"weights": [1, 2], "c": 2}


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
        (lambda: parse_agents("a=random,a=mcts"), "'a' is there twice"),
        (lambda: parse_budget("sims=3"), "did you mean 'simulations'"),
        (lambda: parse_budget("simulations=0"), r"simulations 0 is outside \[1"),
        (lambda: parse_budget("time=-1"), "time -1.0 is outside"),
        (lambda: parse_settings(["night"]), "key=value"),
        (lambda: parse_settings(["night=3", "night=4"]), "twice"),
    ],
)
def test_mistakes_are_named(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (Plan(ID, parse_agents("mtcs")), "did you mean 'mcts'"),
        (Plan(ID, parse_agents("mcts:cc=3")), "'mcts' has no setting 'cc'"),
        (Plan(ID, parse_agents("sb3:nothing_here")), "nothing_here"),
        (Plan("LaneDefense33-v0", parse_agents("random")), "did you mean 'mcts_envs/LaneDefense3x3-v0'"),
        (Plan(ID, parse_agents("random"), {"nigt": 3}), "did you mean 'night'"),
        (Plan("Pendulum-v1", parse_agents("random")), r"planners need Discrete\(n\)"),
        (Plan(ID, parse_agents("random"), seed=-1), "seed -1 is outside"),
        (Plan(ID, ()), "no agent to compare"),
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
    played = {(p.row.agent, p.row.episode): p.row for p in run(plan, plan.jobs(20))}
    for episode in range(20):
        a, b, c = (played[next(s.label for s in plan.agents if s.name == name), episode] for name in "abc")
        assert (a.seed, a.agent_seed) == (c.seed, c.agent_seed)
        assert (a.outcome, a.episode_return, a.length) == (b.outcome, b.episode_return, b.length)
    assert len({row.seed for row in played.values()}) == 20
    assert seeds(0, 1) != seeds(1, 0)


def test_an_episode_can_be_played_again_by_hand() -> None:
    plan = fakes(*TWO, seed=7)
    row = next(iter(run(plan, plan.jobs(1)))).row
    env, player = gymnasium.make(f"mcts_envs/{ID}"), BuiltIn("random")
    _, info = env.reset(seed=row.seed)
    player.reseed(row.agent_seed)
    total, discounted, length, decisions, over = 0.0, 0.0, 0, 0, False
    while not over:
        decisions += info["action_mask"].sum() > 1
        _, reward, terminated, truncated, info = env.step(player.act(env))
        total, discounted, length = total + reward, discounted + 0.95**length * reward, length + 1
        over = terminated or truncated
    assert (row.episode_return, row.length, row.decisions) == (total, length, decisions)
    assert row.discounted_return == pytest.approx(discounted)
    assert (row.outcome, row.is_success) == (info["outcome"], info["is_success"])


def test_a_search_is_measured_where_there_was_a_choice() -> None:
    plan = Plan(ID, parse_agents("mcts", {"simulations": 30}))
    row = next(iter(run(plan, plan.jobs(1)))).row
    assert row.simulations == 30 * row.decisions
    assert row.model_steps >= row.simulations - row.decisions
    assert row.seconds > 0


def test_one_process_or_two_give_the_same(tmp_path: Path) -> None:
    plan = fakes(*TWO, record=True)
    one = compare(plan, 60, folder=tmp_path / "one")
    two = compare(plan, 60, workers=2, folder=tmp_path / "two")
    for name in ("one", "two"):
        check_offsets(tmp_path / name)
    assert one.finished
    assert two.finished
    assert figures(one) == figures(two)
    assert [s.games for s in one.summaries] == [60, 60]
    assert one.differences[0].pairs == 60
    assert one.differences[0].win_rate.low > 0


# Accidents


def test_an_exception_is_recorded_and_left_out(tmp_path: Path) -> None:
    plan = fakes("good:base=random", "bad:base=random:accident=raise", record=True)
    result = compare(plan, 20, folder=tmp_path)
    good, bad = result.summaries
    unlucky = [episode for episode in range(20) if seeds(0, episode)[1] % 5 == 0]
    assert result.finished
    assert len(unlucky) == bad.errors > 0
    assert (good.games, bad.games) == (20, 20 - len(unlucky))
    assert result.differences[0].pairs == bad.games
    assert result.differences[0].win_rate.value == 0.0
    assert [row.episode for row in result.failed] == unlucky
    error = result.failed[0].error
    assert error is not None
    assert (error["type"], error["message"]) == ("RuntimeError", "the agent broke")
    assert "raise RuntimeError" in error["traceback"]
    again = compare(plan, 20, folder=tmp_path)
    assert figures(again) == figures(result)
    assert len(rows_of(tmp_path)) == 40 + len(unlucky)


def test_an_exception_in_the_first_move_is_recorded_too(tmp_path: Path) -> None:
    result = compare(fakes("good:base=random", "bad:base=random:accident=confuse"), 3, folder=tmp_path)
    assert [(s.games, s.errors) for s in result.summaries] == [(3, 0), (0, 3)]
    assert {row.error["message"] for row in result.failed if row.error} == {"the agent is confused"}


def test_a_dying_worker_is_survived(tmp_path: Path) -> None:
    deadly, harmless, seed = "x:base=random:accident=die", "y:base=random", 6
    result = compare(fakes(deadly, harmless, seed=seed), 2, workers=2, folder=tmp_path)
    assert [episode for episode in range(2) if seeds(seed, episode)[1] % 5 == 0] == [1]
    assert [(row.agent, row.episode) for row in result.failed] == [(deadly, 1)]
    error = result.failed[0].error
    assert error is not None
    assert error["type"] == "ProcessDied"
    assert [(s.games, s.errors) for s in result.summaries] == [(1, 1), (2, 0)]


def test_workers_that_cannot_start_say_why() -> None:
    plan = Plan(ID, (parse_agent("x"), parse_agent("y")), make=_unimportable())
    with pytest.raises((RuntimeError, AttributeError), match=r"import|pickle|local"):
        list(run(plan, plan.jobs(3), workers=2))


def _unimportable() -> object:
    def make(spec: AgentSpec) -> BuiltIn:
        return BuiltIn("random")

    return make


# Results on disk


def test_an_interrupted_comparison_goes_on(tmp_path: Path) -> None:
    plan = fakes(*TWO, record=True)
    whole = compare(plan, 30, folder=tmp_path / "whole")
    interrupted = compare(plan, 30, folder=tmp_path / "cut", watch=interrupt)
    assert not interrupted.finished
    rows_before = rows_of(tmp_path / "cut")
    assert 0 < len(rows_before) < 60
    resumed = compare(plan, 30, folder=tmp_path / "cut")
    assert resumed.finished
    assert resumed.reused == len(rows_before)
    assert figures(resumed) == figures(whole)
    texts = [(tmp_path / name / TRANSITIONS).read_text() for name in ("whole", "cut")]
    assert texts[0] == texts[1]


def interrupt(found: Report) -> None:
    raise KeyboardInterrupt


def test_torn_lines_are_dropped(tmp_path: Path) -> None:
    plan = fakes(*TWO, record=True)
    whole = compare(plan, 10, folder=tmp_path)
    transitions = (tmp_path / TRANSITIONS).read_text()
    for name in (EPISODES, TRANSITIONS):
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).write_bytes(content[:-40])
    assert figures(compare(plan, 10, folder=tmp_path)) == figures(whole)
    assert (tmp_path / TRANSITIONS).read_text() == transitions
    (tmp_path / EPISODES).write_bytes((tmp_path / EPISODES).read_bytes()[:30])
    assert figures(compare(plan, 10, folder=tmp_path)) == figures(whole)


def test_lost_transitions_are_played_again(tmp_path: Path) -> None:
    plan = fakes(*TWO, record=True)
    compare(plan, 10, folder=tmp_path)
    transitions = (tmp_path / TRANSITIONS).read_text()
    (tmp_path / TRANSITIONS).write_text(transitions[: len(transitions) // 2])
    compare(plan, 10, folder=tmp_path)
    assert (tmp_path / TRANSITIONS).read_text() == transitions
    assert list(read_transitions(tmp_path, 10)) == [json.loads(line) for line in transitions.splitlines()]


def test_transitions_of_fewer_episodes_are_read_once(tmp_path: Path) -> None:
    plan = fakes(*TWO, record=True)
    compare(plan, 5, folder=tmp_path)
    rows = (tmp_path / EPISODES).read_bytes().splitlines(keepends=True)
    (tmp_path / EPISODES).write_bytes(b"".join(rows + rows[1:3]))
    moves = [json.loads(line) for line in (tmp_path / TRANSITIONS).read_text().splitlines()]
    assert list(read_transitions(tmp_path, 3)) == [move for move in moves if move["episode"] < 3]


def test_a_folder_has_one_writer(tmp_path: Path) -> None:
    plan = fakes(*TWO)
    compare(plan, 2, folder=tmp_path)
    before = (tmp_path / EPISODES).read_bytes()
    first = Results(tmp_path, plan.configuration())
    with first, pytest.raises(BlockingIOError, match=r"another comparison is writing to .* --out"):
        compare(plan, 4, folder=tmp_path, fresh=True)
    assert (tmp_path / EPISODES).read_bytes() == before
    assert compare(plan, 4, folder=tmp_path).reused == 4


def test_another_configuration_is_refused(tmp_path: Path) -> None:
    compare(fakes(*TWO), 3, folder=tmp_path)
    before = (tmp_path / EPISODES).read_bytes()
    with pytest.raises(ValueError, match=r"seed 0, now 1\. Choose another folder with --out, .* --fresh"):
        compare(fakes(*TWO, seed=1), 3, folder=tmp_path)
    with pytest.raises(ValueError, match=r"settings \{\}, now \{\"night\": 3\}"):
        compare(fakes(*TWO, settings={"night": 3}), 3, folder=tmp_path)
    assert (tmp_path / EPISODES).read_bytes() == before
    assert compare(fakes(*TWO, seed=1), 3, folder=tmp_path, fresh=True).finished
    lines = (tmp_path / EPISODES).read_text().splitlines()
    lines[2] = lines[2][:20]
    (tmp_path / EPISODES).write_text("\n".join(lines) + "\n")
    with pytest.raises(ValueError, match="line 3, is not what a comparison writes"):
        compare(fakes(*TWO, seed=1), 3, folder=tmp_path)


def test_episodes_can_be_added_and_fewer_shown(tmp_path: Path) -> None:
    plan = fakes(*TWO)
    few = compare(plan, 5, folder=tmp_path)
    first = (tmp_path / EPISODES).read_bytes()
    assert compare(plan, 12, folder=tmp_path).summaries[0].games == 12
    assert (tmp_path / EPISODES).read_bytes().startswith(first)
    assert figures(compare(plan, 5, folder=tmp_path)) == figures(few)


def test_a_retrained_policy_is_another_configuration(tmp_path: Path) -> None:
    policy, sidecar = tmp_path / "policy.zip", tmp_path / "policy.json"
    policy.write_bytes(b"one")
    plan = Plan(ID, (parse_agent(f"sb3:{tmp_path}/policy"),))
    found = [plan.configuration()]
    for file in (policy, sidecar):
        file.write_bytes(b"two")
        found.append(plan.configuration())
    assert len({default_folder(configuration) for configuration in found}) == 3
    assert default_folder(found[0]).parent == Path("results")


def test_a_shipped_policy_belongs_to_the_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shutil.copytree(shipped.FOLDER, tmp_path / "policies")
    monkeypatch.setattr(shipped, "FOLDER", folder)
    plan = Plan(ID, parse_agents("random,ppo"))
    before = plan.configuration()["files"]
    assert {label: list(files) for label, files in before.items()} == {"ppo": ["ppo.zip", "ppo.json"]}
    (folder / ID / "ppo.json").write_text("{}")
    after = plan.configuration()["files"]
    assert before["ppo"]["ppo.zip"] == after["ppo"]["ppo.zip"]
    assert before["ppo"]["ppo.json"] != after["ppo"]["ppo.json"]


def test_results_of_other_code_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = fakes(*TWO)
    folder = default_folder(plan.configuration())
    compare(plan, 3, folder=tmp_path)
    monkeypatch.setattr(plans, "source_digest", lambda package: 64 * "0")
    assert default_folder(plan.configuration()) == folder
    with pytest.raises(ValueError, match=r"the code of mcts_envs or agents has changed since\. Choose .* --fresh"):
        compare(plan, 3, folder=tmp_path)
    assert compare(plan, 3, folder=tmp_path, fresh=True).finished


def test_recorded_transitions_replay(tmp_path: Path) -> None:
    compare(fakes(*TWO, record=True), 6, folder=tmp_path)
    moves = [json.loads(line) for line in (tmp_path / TRANSITIONS).read_text().splitlines()]
    env = gymnasium.make(f"mcts_envs/{ID}")
    for move, following in zip(moves, [*moves[1:], None], strict=True):
        env.reset(seed=0, options={"position": move["state"]})
        assert env.unwrapped.position() == move["state"]
        assert env.unwrapped.action_masks()[move["action"]]
        if not move["terminated"]:
            assert following is not None
            assert following["state"] == move["next_state"]
    check_offsets(tmp_path)


def check_offsets(folder: Path) -> None:
    """Check that each row says where its transitions are."""
    content = (folder / TRANSITIONS).read_bytes()
    for row in rows_of(folder):
        offset, size = row["transitions"]  # type: ignore[misc]
        mine = [json.loads(line) for line in content[offset : offset + size].splitlines()]
        assert {(move["agent"], move["episode"]) for move in mine} == {(row["agent"], row["episode"])}
        assert [move["step"] for move in mine] == list(range(row["length"]))  # type: ignore[call-overload]
        assert sum(move["reward"] for move in mine) == pytest.approx(row["episode_return"])


# Reports


def test_the_budget_is_shown_for_those_who_take_it(tmp_path: Path) -> None:
    for text, expected in [
        ("random,mcts,mcts:simulations=7,flat_mc:c=2", "budget simulations=100 for mcts, flat_mc:c=2;"),
        ("random,mcts:simulations=7", "no agent here takes the budget simulations=100;"),
    ]:
        limits = parse_budget("simulations=100")
        plan = Plan(ID, parse_agents(text, limits), budget=limits)
        assert expected in remarks(report(plan, tmp_path, {}, 1, 1, 1.0))[0]
    assert "each agent's own budget;" in remarks(report(fakes(*TWO), tmp_path, {}, 1, 1, 1.0))[0]


def test_views_take_little_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, views = 0.0, 0

    def clock() -> float:
        return now

    def watch(found: Report) -> None:
        nonlocal now, views
        now, views = now + 2.0, views + 1

    def playing(crew: Crew, jobs: object) -> Iterator[object]:
        nonlocal now
        for played in play(crew, jobs):  # type: ignore[arg-type]
            now += 1.0
            yield played

    monkeypatch.setattr(agents.arena.comparison, "monotonic", clock)
    play = Crew.play
    monkeypatch.setattr(Crew, "play", playing)
    compare(fakes(*TWO), 50, folder=tmp_path, watch=watch)
    assert 4 <= views <= 6


def test_the_best_agent_is_compared_with_all(tmp_path: Path) -> None:
    rows = {}
    for label, points in (("a", 0.0), ("b", 1.0), ("c", 0.5)):
        for episode in range(4):
            rows[label, episode] = Episode(label, episode, 0, 0, outcome=points, discounted_return=10 * points)
    plan = fakes("a", "b", "c")
    found = report(plan, tmp_path, rows, 4, 1, 1.0)
    assert [s.win_rate.value for s in found.summaries] == [0.0, 1.0, 0.5]
    assert [(d.agent, d.reference, d.win_rate.value) for d in found.differences] == [
        ("b", "a", 1.0),
        ("c", "a", 0.5),
        ("c", "b", -0.5),
    ]
    empty = report(plan, tmp_path, {}, 4, 1, 1.0)
    assert not empty.finished
    assert math.isnan(empty.summaries[0].win_rate.value)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_a_table_fits_the_terminal(tmp_path: Path, width: int) -> None:
    found = compare(fakes("random:base=random", "scripted_with_a_long_name:base=scripted"), 10, folder=tmp_path)
    console = Console(width=width, file=io.StringIO())
    console.print(render(found))
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    text = " ".join(map(str.strip, lines))
    for part in ("random", "scripted", "discounted by 0.95", "minus", "episodes of seed 0"):
        assert part in text


def test_long_names_are_short_and_stay_apart() -> None:
    labels = ["mcts", "sb3:some/folder/far/away/a.zip", "mcts:simulations=100:c=0.5", "mcts:simulations=900:c=0.5"]
    assert list(short_names(labels[:3]).values()) == ["mcts", "sb3:away/a.zip", "mcts:sim…0:c=0.5"]
    assert list(short_names(["/home/me/bots/b.py:Bot"]).values()) == ["bots/b.py:Bot"]
    assert list(short_names(labels).values())[2:] == labels[2:]


def test_an_overrun_budget_is_marked(tmp_path: Path) -> None:
    limits = {"time_limit": 0.05}
    plan = Plan(ID, parse_agents("random,mcts,flat_mc", limits), budget=limits)
    seconds = {"random": 0.3, "mcts": 0.059, "flat_mc": 0.0723}
    rows = {(name, 0): Episode(name, 0, 0, 0, decisions=1, seconds=taken) for name, taken in seconds.items()}
    found = report(plan, tmp_path, rows, 1, 1, 1.0)
    assert overruns(found) == {"flat_mc": (pytest.approx(72.3), 50.0)}
    console = Console(width=200, file=io.StringIO())
    console.print(render(found))
    text = console.file.getvalue()
    assert " 72.3! " in text
    assert " 59.0 " in text
    assert "! flat_mc took 72.3 ms a move, 45% over its limit of 50" in text


def test_the_picture_says_who_played_whom_and_holds_all_its_words(tmp_path: Path) -> None:
    limits = parse_budget("time=0.1,simulations=1000")
    plan = Plan(
        ID, parse_agents("random,sb3:some/very/long/folder/of/mine/policy.zip,mcts:c=0.5", limits), budget=limits
    )
    rows = {
        (spec.label, 0): Episode(spec.label, 0, 0, 0, outcome=1.0, decisions=1, seconds=0.01) for spec in plan.agents
    }
    figure = drawing(report(plan, tmp_path, rows, 1, 1, 1.0))
    figure.draw_without_rendering()
    width, height = figure.bbox.size
    (axes,) = figure.axes
    texts = [*figure.texts, *axes.texts, *axes.get_yticklabels()]
    for text in texts:
        box = text.get_window_extent()
        assert -1 <= box.x0 <= box.x1 <= width + 1, text.get_text()
        assert -1 <= box.y0 <= box.y1 <= height + 1, text.get_text()
    words = " ".join(" ".join(text.get_text().split()) for text in texts)
    for part in ("time_limit=0.1 simulations=1000 for mcts:c=0.5", "mcts:c=0.5 10.0 ms a move", "at least 1 episodes"):
        assert part in words


def test_a_plot_is_drawn_or_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = compare(fakes(*TWO), 4, folder=tmp_path)
    plot(found, tmp_path / "pictures" / "win.png")
    assert (tmp_path / "pictures" / "win.png").read_bytes().startswith(b"\x89PNG")
    require_drawable(tmp_path / "new" / "folder" / "win.svg")
    assert not (tmp_path / "new").exists()
    for file, message in [
        (tmp_path / "win.pgn", "unknown format '.pgn'; did you mean '.png'"),
        (tmp_path / "win", "unknown format ''"),
        (tmp_path / EPISODES / "win.png", "cannot be written"),
    ]:
        with pytest.raises((ValueError, OSError), match=message):
            require_drawable(file)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for call in (lambda: plot(found, tmp_path / "win.png"), lambda: require_drawable(tmp_path / "win.png")):
        with pytest.raises(ImportError, match="pip install"):
            call()


# The command


@contextmanager
def command(folder: Path, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    line = [sys.executable, str(ROOT / "scripts" / "compare.py"), *arguments]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    # A process that ignores Ctrl-C, as all that a shell starts in the background do, hands that down.
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(line, cwd=folder, env=environment, start_new_session=True, **streams) as process:  # type: ignore[call-overload]
        signal.signal(signal.SIGINT, previous)
        try:
            yield process
        finally:
            process.kill()


def test_the_command_compares(tmp_path: Path) -> None:
    line = [ID, "--agents", "random,scripted", "--episodes", "12", "--set", "night=5", "--record", "--plot", "win.png"]
    with command(tmp_path, *line, "--workers", "2") as process:
        output, complaints = process.communicate(timeout=300)
    assert process.returncode == 0, complaints
    (folder,) = (tmp_path / "results").iterdir()
    for text in ("random", "scripted", "win rate", "night=5", "12 episodes of seed 0", "2 processes", folder.name):
        assert text in output
    assert {file.name for file in folder.iterdir()} == {EPISODES, TRANSITIONS, "report.md", LOCK}
    assert (tmp_path / "win.png").exists()
    plan = Plan(ID, parse_agents("random,scripted"), {"night": 5}, record=True)
    assert default_folder(plan.configuration()).name == folder.name
    assert compare(plan, 12, folder=folder).reused == 24


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--agents", "random,mtcs"], "did you mean 'mcts'"),
        (["--agents", "random,mcts:reuse=true:loop=open"], "reuse=true needs loop=closed or 'information_set'"),
        (["--agents", "random", "--plot", "win.pgn"], "did you mean '.png'"),
        (["--agents", "random", "--plot", "results/"], "unknown format"),
        (["--agents", "random", "--plot", f"{__file__}/win.png"], "cannot be written"),
        (["--agents", "random", "--out", __file__], "is a file; give a folder"),
        (["--agents", "random", "--out", f"{__file__}/below"], "is a file; give a folder"),
    ],
)
def test_the_command_names_mistakes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    app = typer.Typer()
    app.command()(importlib.import_module("compare").main)
    result = typer.testing.CliRunner().invoke(app, [ID, *arguments])
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_cures_are_what_one_writes_on_a_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    said = importlib.import_module("_words").said
    assert said(ValueError("take loop='closed' or 'open'")) == "take loop=closed or 'open'"
    assert said(ValueError("leave out deterministic=False, give c=1.5")) == "leave out deterministic=false, give c=1.5"
    cure = ValueError("name its algorithm, as in algorithm='ppo'")
    assert said(cure) == "name its algorithm, as in algorithm=ppo"
    assert said(cure, {"algorithm": "--algo"}) == "name its algorithm, as in --algo ppo"


def test_without_a_terminal_a_line_now_and_then_says_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    module = importlib.import_module("_progress")
    monkeypatch.setattr(module, "SECONDS_BETWEEN_LINES", 0.02)
    progress = module.Progress()
    with progress.shown(Console(file=io.StringIO())):
        compare(fakes("random:base=random:pause=0.01"), 20, folder=tmp_path, tell=progress.tell)
    assert re.search(r"^\d+ of 20 games, 0:00:0\d left$", capsys.readouterr().err, re.MULTILINE)
    assert progress.line() == "20 of 20 games"


def test_in_a_terminal_a_bar_stands_over_the_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    progress = importlib.import_module("_progress").Progress()
    compare(fakes(*TWO), 2, folder=tmp_path, watch=progress.watch, tell=progress.tell)
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    console.print(progress.view())
    with progress.shown(console):
        pass
    first, *others = console.file.getvalue().splitlines()
    assert "4 of 4 games" in first
    assert any("win rate %" in line for line in others)


@pytest.mark.parametrize("script", ["compare", "reproduce", "benchmark"])
def test_help_loads_no_game_and_no_compiler(script: str) -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'scripts')!r}); import {script}; print('numba' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert run.stdout.strip() == "False"


def test_the_list_has_every_environment_and_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    app = typer.Typer()
    app.command()(importlib.import_module("compare").main)
    result = typer.testing.CliRunner().invoke(app, ["--list"])
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    for name in [*names(), *(id.removeprefix("mcts_envs/") for id in ENTRIES if id.startswith("mcts_envs/"))]:
        assert re.search(rf"^ *{name} ", result.stdout, re.MULTILINE), name
    listed = importlib.import_module("_listing").GAMES
    env = gymnasium.make("mcts_envs/LaneDefense10x10-v0")
    assert listed["LaneDefense10x10-v0"][0] == env.action_space.n


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_the_command_can_be_ended_and_goes_on(tmp_path: Path, number: int, status: int) -> None:
    line = [ID, "--agents", "scripted,flat_mc:simulations=3000", "--out", "out"]
    file = tmp_path / "out" / EPISODES
    with command(tmp_path, *line, "--episodes", "5000", "--workers", "2") as process:
        deadline = time.monotonic() + 300
        while not file.exists() or file.read_bytes().count(b"\n") < 4:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        workers = _children(process.pid)
        assert len(workers) >= 2
        os.kill(process.pid, number)
        output, complaints = process.communicate(timeout=20)
        assert process.returncode == status, complaints
    _wait_until_gone(workers)
    if number != signal.SIGKILL:
        assert f"interrupted ({number.name}); the same command goes on from here" in output
        assert "Traceback" not in complaints
    kept = file.read_bytes()
    kept = kept[: kept.rfind(b"\n") + 1]
    assert compare(Plan(ID, parse_agents(line[2])), 3, folder=tmp_path / "out").finished
    assert file.read_bytes().startswith(kept)


def _children(parent: int) -> list[int]:
    """Return the processes that a process has started."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    return [int(pid) for pid, above in map(str.split, listed.splitlines()) if int(above) == parent]


def _wait_until_gone(processes: list[int]) -> None:
    """Wait for processes to end."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        listed = subprocess.run(["ps", "-eo", "pid=,stat="], capture_output=True, text=True, check=True).stdout
        left = {int(pid) for pid, state in map(str.split, listed.splitlines()) if not state.startswith("Z")}
        if left.isdisjoint(processes):
            return
        time.sleep(0.05)
    raise AssertionError("workers outlive the command")
