"""Agents of anyone: functions, policies, objects that are reset; and what they are shown of a game."""

import os
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import (
    FilterObservation,
    FrameStackObservation,
    NormalizeObservation,
    TimeAwareObservation,
    TransformObservation,
)
from pettingzoo import AECEnv

import agents
import mcts_envs
from agents.apart import Streams
from agents.arena import Plan, compare, environments, parse_agents
from agents.arena.report.conclusion import conclusion
from agents.arena.running.guarded import Guarded
from agents.arena.running.runner import Crew
from agents.own import OwnAgent

ID = "LaneDefense3x3-v0"
BOTS = """
import os
import random
import tempfile
import time
import numpy as np

def first(env, skip=0):
    return env.unwrapped.legal_actions()[skip]

def dice(env):
    return random.choice(env.unwrapped.legal_actions().tolist())

def illegal(env):
    legal = set(env.unwrapped.legal_actions().tolist())
    return next((a for a in range(env.action_space.n) if a not in legal), 0)

class Policy:
    def predict(self, observation, state=None, episode_start=None, deterministic=True):
        state = 0 if episode_start[0] else state + 1
        return np.array([state % 3]), state

class Masked:
    def predict(self, observation, action_masks=None):
        return np.flatnonzero(action_masks)[-1]

class Blind:
    def predict(self, observation):
        return 4

class Counted:
    made = 0
    def __init__(self):
        Counted.made += 1
        self.games = 0
    def reset(self, seed=None):
        self.games += 1
        self.dice = random.Random(seed)
    def act(self, env):
        return self.dice.choice(env.unwrapped.legal_actions().tolist())

class Meddler:
    def act(self, env):
        inner = env.unwrapped
        inner._state[40:] = 0
        inner._live.stream[:] = 1
        return 0

class Spends:
    def __init__(self, simulations):
        self.last_result = type("Spent", (), {"simulations": simulations, "steps": 7.0})

    def act(self, env):
        return int(env.unwrapped.legal_actions()[0])

class Leaves:
    def act(self, env):
        os.chdir("/")
        return int(env.unwrapped.legal_actions()[0])

class Burns(Leaves):
    def act(self, env):
        folder = tempfile.mkdtemp()
        os.chdir(folder)
        os.rmdir(folder)
        return int(env.unwrapped.legal_actions()[0])

class Pole:
    def act(self, env):
        env.unwrapped.state = (0.0, 0.0, 0.0, 0.0)
        return 0

class Lookahead:
    def act(self, env):
        inner = env.unwrapped
        start, found = inner.clone_state(), []
        for action in inner.legal_actions().tolist():
            total, over, choice = 0.0, False, action
            while not over:
                _, reward, terminated, truncated, info = env.step(choice)
                total, over, choice = total + reward, terminated or truncated, int(np.argmax(info["action_mask"]))
            inner.restore_state(start)
            found.append((total, action))
        return max(found)[1]
"""


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    file = tmp_path / "strangers_of_test.py"
    file.write_text(BOTS)
    return file


def played(texts: str, episodes: int = 3, id: str = ID, **more: Any) -> list[tuple[Any, ...]]:
    plan = Plan(id, parse_agents(texts), **more)
    rows = [each.row for each in Crew(plan).play(plan.jobs(episodes))]
    assert all(row.error is None for row in rows)
    return [(row.key, row.forfeit and row.forfeit["reason"], row.seats[0].discounted_return) for row in rows]


def test_functions_policies_and_objects_that_are_reset_play(bots: Path) -> None:
    labels = ["first", "first:skip=-1", "dice", "Policy", "Masked", "Counted"]
    texts = ",".join(f"{name}={bots}:{name}" for name in ("first", "dice", "Policy", "Masked", "Counted"))
    found = played(f"{texts},second={bots}:first:skip=-1")
    assert len(found) == 3 * len(labels)
    assert all(reason is None for _, reason, _ in found)
    assert sorted(played(texts, 2)) == sorted(row for row in found if row[0][1] < 2 and row[0][0] != ("second",))
    agent = agents.make(f"{bots}:Counted")
    kind: Any = agent._class  # type: ignore[attr-defined]
    kind.made = 0
    agent.reseed(1)
    assert kind.made == 0


def test_a_function_takes_its_settings_and_no_others(bots: Path) -> None:
    with pytest.raises(TypeError, match="unknown setting 'skp'; did you mean 'skip'"):
        agents.make(f"{bots}:first", skp=1)
    with pytest.raises(TypeError, match="unknown setting 'env'"):
        agents.make(f"{bots}:first", env=1)


def test_whoever_is_told_what_is_legal_is_held_to_it(bots: Path) -> None:
    names = ("illegal", "Blind", "Masked")
    texts = ",".join(f"{name}={bots}:{name}" for name in names)
    found = {key[0][0]: reason for key, reason, _ in played(texts, 1)}
    assert found == {"illegal": "illegal", "Blind": None, "Masked": None}
    found = {key[0][0]: reason for key, reason, _ in played(texts, 1, settings={"illegal": "raise"})}
    assert found == {"illegal": "illegal", "Blind": "illegal", "Masked": None}


@pytest.mark.parametrize("name", ["Leaves", "Burns"])
def test_an_agent_that_leaves_the_folder_keeps_nobody_from_being_found(name: str, bots: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(bots.parent)  # where this test leads back to at its end
    plan = Plan("WallSurvival-v0", parse_agents(f"a={bots.name}:{name},b={bots.name}:dice"), {"board_size": 4})
    for workers in (None, 1):
        os.chdir(bots.parent)
        with Crew(plan, workers) as crew:
            crew.check()
            os.chdir(bots.parent)
            assert [each.row.fault for each in crew.play(plan.jobs(1))] == [None, None]


def test_what_an_agent_says_of_itself_damages_no_results(bots: Path, tmp_path: Path) -> None:
    texts = ",".join(
        f"{name}={bots}:Spends:simulations={spent}" for name, spent in (("a", -1), ("b", 10**30), ("c", 3))
    )
    for _ in range(2):
        report = compare(Plan(ID, parse_agents(texts)), 2, folder=tmp_path / "kept")
    told = {row.agents[0]: row.forfeit["message"] for row in report.forfeited if row.forfeit}
    assert told == {
        "a": "simulations of last_result -1 is outside [0, 1000000000000]",
        "b": f"simulations of last_result {10**30} is outside [0, 1000000000000]",
    }
    assert (report.reused, report.summaries[2].agent) == (6, "c")


def test_what_an_agent_does_with_what_it_is_shown_changes_no_game(bots: Path) -> None:
    meddler, waiting = played(f"m={bots}:Meddler,w={bots}:Meddler", 1)
    assert meddler[1:] == waiting[1:]
    rows = played(f"pole={bots}:Pole", 2, "CartPole-v1")
    assert [length for *_, length in rows] == [9.0, 9.0] or all(length < 15 for *_, length in rows)


def test_nobody_sees_the_dice(bots: Path) -> None:
    one, two = (gymnasium.make(f"mcts_envs/{ID}") for _ in range(2))
    for env in (one, two):
        env.reset(seed=3)
    two.unwrapped.redraw(5)  # type: ignore[attr-defined]
    shown = [_shown(bots, env) for env in (one, two)]
    assert shown[0] == shown[1]
    assert one.unwrapped.position() == shown[0][1]  # type: ignore[attr-defined]


def test_nobody_sees_what_others_choose_at_the_same_time(bots: Path) -> None:
    env = mcts_envs.make_aec("Bomber-v0")
    env.reset(seed=1)
    guard, seen = Guarded(agents.make(f"{bots}:first"), lambda: mcts_envs.make_aec("Bomber-v0"), "", Streams()), []
    for choice in (0, 1, 2):
        env.reset(seed=1)
        env.step(choice)
        guard.reseed(7)
        twin = guard.look(env)
        assert twin.agent_selection == env.agent_selection == "player_1"
        seen.append(twin._chosen.tolist())
    assert seen[0] == seen[1] == seen[2]


def test_looking_ahead_in_what_is_shown_foresees_nothing(bots: Path) -> None:
    env = gymnasium.make(f"mcts_envs/{ID}")
    env.reset(seed=0)
    guard = Guarded(agents.make(f"{bots}:Lookahead"), lambda: gymnasium.make(f"mcts_envs/{ID}"), "", Streams())
    before = env.unwrapped.clone_state()  # type: ignore[attr-defined]
    guard.reseed(1)
    guard.act(env)
    assert env.unwrapped.clone_state() == before  # type: ignore[attr-defined]


def test_a_planner_of_ones_own_keeps_its_tree_and_plays_as_ours_does(tmp_path: Path) -> None:
    plan = Plan(ID, parse_agents("mcts:simulations=50,own=agents.mcts:MCTS:simulations=50"))
    result = compare(plan, 3, folder=tmp_path)
    ours, own = result.summaries
    assert ours.win_rate == own.win_rate
    assert ours.length == own.length


def _shown(bots: Path, env: Any) -> tuple[bytes, Any]:
    guard = Guarded(agents.make(f"{bots}:first"), lambda: gymnasium.make(f"mcts_envs/{ID}"), "", Streams())
    guard.reseed(7)
    twin = guard.look(env).unwrapped
    return np.asarray(twin._state).tobytes(), twin.position()


# Environments

TICTACTOE = "pettingzoo.classic.tictactoe_v3"
HERE = str(Path(__file__).resolve())


class Duel(AECEnv):  # type: ignore[misc]
    """Two agents name a number in turn, three times; the larger sum wins, and the second hides a card of its own."""

    metadata = {"name": "duel_v0"}  # noqa: RUF012

    def __init__(self, most: int = 3) -> None:
        self.possible_agents = ["a", "b"]
        self._most = most

    def observation_space(self, agent: str) -> Any:
        return gymnasium.spaces.Discrete(7)

    def action_space(self, agent: str) -> Any:
        return gymnasium.spaces.Discrete(self._most, start=1)

    def observe(self, agent: str) -> int:
        return self.t

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        self.t, self.agents = 0, list(self.possible_agents)
        self.rewards = self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: Any = {agent: {} for agent in self.agents}
        self.agent_selection = "a"

    def step(self, action: Any) -> None:
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        self.t += 1
        self.rewards = {agent: float(action) if agent == self.agent_selection else 0.0 for agent in self.agents}
        self.agent_selection = "ab"[self.t % 2]
        if self.t == 6:
            self.terminations = dict.fromkeys(self.agents, True)


def duel(most: int = 3) -> Duel:
    return Duel(most)


@pytest.mark.parametrize("workers", [pytest.param(None, marks=pytest.mark.slow), 1])
def test_a_function_that_makes_an_environment_names_it(tmp_path: Path, workers: int | None, bots: Path) -> None:
    bots.write_text(
        "def low(env):\n    return 1\n\ndef high(env):\n    return env.action_space(env.agent_selection).n\n"
    )
    plan = Plan(f"{HERE}:duel", parse_agents(f"low={bots}:low,high={bots}:high"), {"most": 4})
    low, high = compare(plan, 2, workers=workers, folder=tmp_path).summaries
    assert (low.losses, high.wins, high.length) == (4, 4, 3.0)
    plan = Plan(f"{HERE}:duel", parse_agents(f"low={bots}:low,high={bots}:high"), {"most": 1})
    low, high = compare(plan, 1, folder=tmp_path / "tied").summaries
    assert (low.ties, high.ties) == (2, 2)


def test_what_two_lead_by_against_others_is_said_in_points(tmp_path: Path, bots: Path) -> None:
    bots.write_text(
        "def low(env):\n    return 1\n\ndef high(env):\n    return env.action_space(env.agent_selection).n\n"
    )
    named = parse_agents(f"low={bots}:low,high={bots}:high,mid={bots}:low")
    report = compare(Plan(f"{HERE}:duel", named, against="mid"), 3, folder=tmp_path)
    assert "low against high: -50.0 [-89.4,+29.4] points of a hundred" in conclusion(report)


def shifted(**settings) -> gymnasium.Env:
    return gymnasium.wrappers.TransformObservation(gymnasium.make(f"mcts_envs/{ID}", **settings), lambda o: o + 1, None)


def against_random() -> gymnasium.Env:
    return gymnasium.make("mcts_envs/WallSurvival-v0", board_size=3, opponent="random")


def test_wrappers_that_no_agent_would_notice_are_refused() -> None:
    with pytest.raises(ValueError, match=r"TransformObservation around a game of ours.*predict"):
        environments.make(f"{HERE}:shifted", {})


def test_a_function_may_say_who_plays_the_other_seats() -> None:
    assert not hasattr(environments.make(f"{HERE}:against_random", {}), "possible_agents")


class Keeps:
    """Chooses 0, and keeps what it was given."""

    seen: Any = None

    def predict(self, observation: Any) -> int:
        Keeps.seen = observation
        return 0


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda env: agents.remember(FrameStackObservation(env, 3)),
        lambda env: agents.remember(TimeAwareObservation(env)),
        lambda env: TransformObservation(agents.remember(TimeAwareObservation(env)), np.negative, None),
        lambda env: NormalizeObservation(agents.remember(env)),
    ],
)
def test_a_policy_is_given_what_was_observed_through_all_wrappers(wrapped: Any) -> None:
    env, agent = wrapped(gymnasium.make("MountainCar-v0")), OwnAgent(Keeps, {})
    env.reset(seed=0)
    for _ in range(3):
        observation, *_ = env.step(agent.act(env))
        agent.act(env)
        np.testing.assert_allclose(Keeps.seen, observation, atol=1e-6)


class Shut(gymnasium.Env[Any, Any]):
    """Says by a method, or in what it shows, that the first action is not legal."""

    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self, says: str) -> None:
        mask = np.array([0, 1], np.int8)
        self.shows: Any = {"at": np.zeros(1, np.float32)}
        parts: dict[str, Any] = {"at": gymnasium.spaces.Box(0, 1, (1,))}
        if says == "method":
            self.action_masks = lambda: mask
        else:
            self.shows["action_mask"], parts["action_mask"] = mask, gymnasium.spaces.MultiBinary(2)
        self.observation_space = gymnasium.spaces.Dict(parts)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return self.shows, {}

    def step(self, action: Any) -> Any:
        return self.shows, 1.0, False, False, {}


class Steps(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Shows besides that it counts steps, of which planners know nothing."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.observation_space = gymnasium.spaces.Dict(t=gymnasium.spaces.Discrete(9), **env.observation_space.spaces)

    def reset(self, **given: Any) -> Any:
        seen, info = self.env.reset(**given)
        return {"t": 0, **seen}, info


class Masked:
    """Chooses the last of what is legal, of which the first is not."""

    def predict(self, observation: Any, action_masks: Any) -> int:
        assert action_masks.tolist() == [False, True]
        return int(action_masks.argmax())


@pytest.mark.parametrize(
    ("says", "wrapped"),
    [
        ("method", agents.remember),
        ("shown", agents.remember),
        ("shown", lambda env: FilterObservation(agents.remember(env), ["at"])),
        ("shown", lambda env: agents.remember(Steps(env))),
    ],
)
def test_a_policy_is_told_what_is_legal_however_it_is_said(says: str, wrapped: Any) -> None:
    env = wrapped(Shut(says))
    env.reset(seed=0)
    assert OwnAgent(Masked, {}).act(env) == 1


def test_a_policy_is_not_given_what_nothing_remembers() -> None:
    env = FrameStackObservation(agents.remember(gymnasium.make("MountainCar-v0")), 3)
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"nothing remembers what MountainCar-v0 showed last; .*agents\.remember"):
        OwnAgent(Keeps, {}).act(env)


def test_games_of_pettingzoo_are_played_with_seats(tmp_path: Path, bots: Path) -> None:
    pytest.importorskip("pygame")
    bots.write_text(
        "import numpy as np\n"
        "def taken(env):\n    return int(np.argmin(env.observe(env.agent_selection)['action_mask']))\n"
        "def first(env):\n    return int(np.argmax(env.observe(env.agent_selection)['action_mask']))\n"
        "class Policy:\n    def predict(self, observation, action_masks):\n"
        "        return np.flatnonzero(action_masks)[-1]\n"
    )
    texts = f"mcts:simulations=60,uniform,taken={bots}:taken,first={bots}:first,policy={bots}:Policy"
    result = compare(Plan(TICTACTOE, parse_agents(texts)), 2, folder=tmp_path)
    assert not result.failed
    mcts, uniform, taken, first, policy = result.summaries
    assert mcts.win_rate.value > 0.8 > 0.5 > taken.win_rate.value
    assert [s.forfeits for s in (mcts, uniform, first, policy)] == [{}] * 4
    assert taken.forfeits == {"illegal": 16 - taken.forfeits.get("crash", 0)} or taken.losses == 16
    assert Plan("classic/tictactoe-v3", parse_agents("random,uniform")).seats == 2
    assert result.plan.id == TICTACTOE


def test_the_example_of_the_page_plays(tmp_path: Path) -> None:
    example = Path(__file__).resolve().parents[2] / "examples/my_bot.py"
    bot, uniform = compare(Plan(ID, parse_agents(f"{example}:Bot,uniform")), 30, folder=tmp_path).summaries
    assert (bot.games, bot.forfeits, bot.errors) == (30, {}, 0)
    assert bot.win_rate.value >= uniform.win_rate.value


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("connect_four_v3", "classic/connect_four-v3"),
        ("tictactoe", "classic/tictactoe-v3"),
        ("CartPole-v2", "CartPole-v1"),
        ("FrozenLake", "FrozenLake-v1"),
        ("Football33-v0", "mcts_envs/Football3-v0"),
        ("mcts_envs/Football33-v0", "mcts_envs/Football3-v0"),
    ],
)
def test_a_name_that_is_nearly_right_is_told_the_right_one(name, meant):
    with pytest.raises(ValueError, match=f"unknown environment '{name}'; did you mean {meant}"):
        environments.make(name, {})


@pytest.mark.parametrize("name", ["Kalah-v0", "Mancala/Kalah-v5"])
def test_a_name_that_nobody_registered_is_told_where_it_may_be(name):
    with pytest.raises(ValueError, match=rf"FILE\.py:{name} or PACKAGE:{name}"):
        environments.make(name, {})


def test_a_game_of_pettingzoo_without_its_library_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pettingzoo.classic.connect_four.connect_four", None)
    with pytest.raises(ImportError, match=r"pip install 'pettingzoo\[classic\]'"):
        environments.make("pettingzoo.classic.connect_four_v3", {})


def averaged():
    """CartPole by running averages of what is shown, and of what is paid."""
    return gymnasium.wrappers.NormalizeReward(NormalizeObservation(gymnasium.make("CartPole-v1")))


@pytest.mark.filterwarnings("ignore:.*NormalizeReward:UserWarning")
def test_statistics_of_wrappers_are_those_of_the_episode():
    id = f"{HERE}:averaged"
    assert played("first=uniform:seed=1,random", id=id)[1::2] == played("random", id=id)
