"""The planner that looks at the environment and picks one."""

import math
import pickle
import time
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.classic_control import CartPoleEnv
from gymnasium.wrappers import FrameStackObservation, TimeAwareObservation, TimeLimit
from pettingzoo.classic.tictactoe import tictactoe

import agents
from agents import bridge
from agents.budget import Budget
from agents.planners import auto
from mcts_envs.core.view import View
from mcts_envs.registry import ENTRIES, Entry
from tests.bridge.worlds import TAXI, Machine, playing, total
from tests.toys import tic_tac_toe


@pytest.mark.parametrize(
    ("name", "env_id"), [("graph", "FrozenLake-v1"), ("runs", "MountainCar-v0"), ("policy_search", "CartPole-v1")]
)
def test_a_budget_of_steps_ends_at_the_same_simulation_on_any_machine(monkeypatch, name, env_id):
    env = agents.remember(gym.make(env_id))
    found = []
    for seconds in (1e-9, 10.0):  # slices of one simulation, and of as many as there are
        monkeypatch.setattr("agents.budget.SLICE_SECONDS", seconds)
        env.reset(seed=1)
        agent = agents.make(name, max_steps=700, seed=1)
        found.append([(r := agent.search(env)).action, r.simulations, r.steps])
    assert found[0] == found[1]


@pytest.mark.slow
def test_runs_get_out_of_the_valley():
    env = agents.remember(gym.make("MountainCar-v0"))
    agent = agents.make("runs", max_steps=1500, seed=1)
    assert total(env, agent, 1) > -170  # others do not get out
    result = agent.last_result
    assert result.action == result.line[0]
    assert result.copies.means == "fast copy"
    assert "steps ahead=" in repr(result)
    assert result.table().startswith("  action")
    again = agents.make("runs", simulations=5, seed=2)
    env.reset(seed=1)
    first = again.search(env)
    env.step(first.action)
    assert again.search(env).value >= first.value  # the same line, a step longer, or a better one


def test_runs_respect_what_is_legal_and_are_for_one_player():
    env = gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(seed=1)
    result = agents.make("runs", simulations=20, horizon=10).search(env)
    assert result.action in env.unwrapped.view().legal_actions()
    assert result.copies is None
    several = tictactoe.env()
    several.reset(seed=1)
    with pytest.raises(ValueError, match="runs plays games of one player; tictactoe_v3 has 2: use mcts"):
        agents.make("runs").act(several)


@pytest.mark.parametrize("longest", [1, 2, 3, 5, 32, 33])
def test_runs_are_as_long_as_they_may_be(longest):
    agent = agents.make("runs", longest=longest)
    assert {len(agent.run(2)) for _ in range(3000)} == set(range(1, longest + 1))


def test_policies_keep_a_pole_up_and_in_the_middle():
    env = agents.remember(gym.make("CartPole-v1"))
    agent = agents.make("policy_search", simulations=5, horizon=100, seed=1)
    assert total(env, agent, 1, most=250) == 250  # a short look ahead does not see that the cart drifts to the edge
    result = agent.last_result
    assert result.action == result.line[0]
    assert result.copies.means == "fast copy"


@pytest.mark.parametrize(
    "past", [TimeAwareObservation, lambda env: FrameStackObservation(env, 3)], ids=["time", "frames"]
)
def test_policies_act_under_wrappers_that_keep_something_of_the_past(past):
    within, around = past(agents.remember(gym.make("CartPole-v1"))), agents.remember(past(gym.make("CartPole-v1")))
    for env in (within, around):
        assert total(env, agents.make("policy_search", simulations=5, horizon=50, seed=1), 1, most=20) == 20
        (agent := agents.make("auto", simulations=5, seed=1)).act(env)
        assert "policy_search" in agent.picked
    assert agents.bridge.view(within).observe().shape == (4,)
    with pytest.raises(ValueError, match=r"wrap it in agents\.bridge\.Remember, inside of what stacks frames"):
        agents.bridge.view(around).observe()


@pytest.mark.parametrize(
    ("more", "picked"), [(spaces.Box(-1.0, 1.0, (2,)), "policy_search"), (spaces.Discrete(3), "mcts")]
)
def test_numbers_may_be_observed_in_parts(more, picked):
    nothing = more.sample() * 0

    class Parts(CartPoleEnv):
        def __init__(self):
            super().__init__()
            self.observation_space = spaces.Dict({"cart": self.observation_space, "more": more})

        def reset(self, **given):
            return {"cart": super().reset(**given)[0], "more": nothing}, {}

        def step(self, action):
            seen, *said = super().step(action)
            return {"cart": seen, "more": nothing}, *said

    env = agents.remember(TimeLimit(Parts(), 200))
    agent = agents.make("auto", simulations=5, seed=1)
    assert total(env, agent, 1, most=20) == 20
    assert picked in agent.picked


def test_what_is_found_by_policies_depends_on_the_seed_alone():
    env = agents.remember(gym.make("CartPole-v1"))
    paid = [total(env, agents.make("policy_search", simulations=15, seed=3), 1, most=20) for _ in range(2)]
    assert paid == [20, 20]
    lines = []
    for _ in range(2):
        env.reset(seed=1)
        lines.append(agents.make("policy_search", simulations=30, seed=3).search(env).line)
    assert lines[0] == lines[1]


def test_policies_act_where_what_was_observed_is_not_said_again():
    env = gym.make("CartPole-v1")
    assert total(env, agents.make("policy_search", simulations=10, horizon=100, seed=1), 1, most=100) == 100


def test_policies_serve_in_games_of_ours_and_are_for_one_player():
    env = gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(seed=1)
    result = agents.make("policy_search", simulations=40, horizon=10).search(env)
    assert result.action in env.unwrapped.view().legal_actions()
    several = tictactoe.env()
    several.reset(seed=1)
    with pytest.raises(ValueError, match="policy_search plays games of one player; tictactoe_v3 has 2: use mcts"):
        agents.make("policy_search").act(several)


def test_the_time_of_a_look_is_not_that_of_the_first_search():
    class Dear(Machine):
        def step(self, action):
            time.sleep(0.002)
            return super().step(action)

    env = agents.remember(Dear())
    env.reset(seed=1)
    agent = agents.make("auto", time_limit=0.3, seed=1)
    agent.act(env)
    assert agent.last_result.seconds < 0.6  # the look took longer
    assert agent.last_result.simulations > 2


class Halting(gym.Env):
    """Every other step has one legal action; what others pay depends on the time."""

    observation_space, action_space = gym.spaces.Box(0.0, 99.0, (1,)), gym.spaces.Discrete(3)

    def reset(self, *, seed=None, options=None):
        self.t = 0
        return np.zeros(1, np.float32), {}

    def action_masks(self):
        return [True, self.t % 2 == 0, self.t % 2 == 0]

    def step(self, action):
        self.t += 1
        return np.full(1, self.t, np.float32), float((action * self.t) % 5), False, False, {}


@pytest.mark.parametrize("name", ["runs", "policy_search"])
def test_plans_move_on_where_there_is_no_choice(name):
    env = gym.wrappers.TimeLimit(Halting(), 30)
    env.reset()
    agent, lines = agents.make(name, horizon=20, simulations=40), []
    for searched in (True, False, True):
        env.step(agent.act(env))
        assert (agent.last_result is not None) == searched
        lines += [agent.last_result.line] if searched else []
        agent.budget = Budget(simulations=1)  # the plan of before is tried again
    assert lines[1][:18] == lines[0][2:]


@pytest.mark.parametrize("name", ["runs", "policy_search"])
def test_plans_do_not_move_on_where_a_state_is_searched_again(name):
    env = gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(seed=1)
    agent = agents.make(name, horizon=20, simulations=30)
    action = [agent.act(env) for _ in range(3)][-1]
    memory = agent.memory(env.unwrapped.view())
    assert agent.moved(env.unwrapped.view(), memory) == 0
    env.step(action)
    assert agent.moved(env.unwrapped.view(), memory) == 1


@pytest.mark.parametrize(
    ("env_id", "picked"),
    [
        ("CliffWalking-v1", "graph(simulations=20): one player"),
        ("FrozenLake-v1", "graph(simulations=20): one player"),
        (TAXI, "graph(simulations=20): one player"),
        (
            "CartPole-v1",
            "policy_search(simulations=20, horizon=150): numbers are observed, and chance has a share of 0%",
        ),
        ("Blackjack-v1", "mcts(simulations=20, loop='information_set', c=1.0, discount=0.98): random games end"),
        ("MountainCar-v0", "runs(simulations=20, horizon=300): random games of 200 steps do not end"),
        ("mcts_envs/LaneDefense3x3-v0", "halving("),
    ],
)
def test_auto_says_what_it_picks(env_id, picked):
    env, agent = playing(env_id, seed=1), agents.make("auto", simulations=20)
    assert env.action_space.contains(agent.act(env))
    assert agent.picked.startswith(picked), agent.picked
    assert agent.picked in repr(agent)
    assert agent.last_result is not None
    again = pickle.loads(pickle.dumps(agents.make("auto", simulations=20)))
    assert again.act(env) == agent_again(env)


@pytest.mark.parametrize(("milliseconds", "depth"), [(0.01, 60), (1, 25), (9, 15)])
def test_auto_looks_as_far_ahead_in_games_of_several_as_a_move_has_time_for(monkeypatch, milliseconds, depth):
    env = tictactoe.env()
    env.reset(seed=1)
    look = auto.Look(200.0, 0.0, 1.0, math.nan, 200, milliseconds / 1000, 1.0)  # random games that do not end
    monkeypatch.setattr(auto, "_look", lambda *given: look)
    agent = agents.make("auto", time_limit=0.1)
    agent.act(env)
    assert agent.picked.startswith(f"mcts(time_limit=0.1, rollout_depth={depth}): random games of 200 steps")


class Ledger(gym.Env):
    """What was chosen pays a step later, as an asset that is held; the day alone is observed."""

    def __init__(self, actions=2):
        self.action_space, self.observation_space = spaces.Discrete(actions), spaces.Discrete(31)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.day = self.held = 0
        return self.day, {}

    def step(self, action):
        paid = self.held * (-1.0) ** (self.day // 3)
        self.day, self.held = self.day + 1, int(action)
        return self.day, paid, self.day == 30, False, {}


def test_auto_searches_no_graph_of_what_does_not_tell_what_the_player_has_done():
    env, agent = agents.remember(Ledger()), agents.make("auto", simulations=100, seed=0)
    assert total(env, agent, 1) > 10.0
    assert agent.picked.startswith("mcts")


@pytest.mark.parametrize(("actions", "horizon"), [(2, 60), (8, 31), (100, 15)])
def test_the_more_actions_the_shorter_auto_looks_ahead_where_each_is_to_be_tried(monkeypatch, actions, horizon):
    env = Ledger(actions)
    env.reset(seed=1)
    look = auto.Look(200.0, 0.0, 1.0, math.nan, 200, 1e-4, 1.0)
    monkeypatch.setattr(auto, "_look", lambda *given: look)
    agent = agents.make("auto", time_limit=0.1)
    agent.act(env)
    assert f"horizon={horizon})" in agent.picked


def test_auto_says_what_it_picked_for_the_game_at_hand():
    agent, said = agents.make("auto", simulations=5), []
    envs = [playing("FrozenLake-v1"), playing("Blackjack-v1")]
    for env in envs * 2:
        agent.search(env)
        said.append(agent.picked)
    assert said[0].startswith("graph")
    assert said[1].startswith("mcts")
    assert said[2:] == said[:2]


def agent_again(env):
    return agents.make("auto", simulations=20).act(env)


@pytest.mark.parametrize("best", ["scripted", "one_step"])
def test_auto_searches_where_the_best_player_takes_no_budget(best):
    game = replace(tic_tac_toe(), presets={"best": {"agent": best}})
    state = game.new_state()
    game.reset(state, np.uint64(0))
    agent = agents.make("auto")
    agent.act(View(game, state, 0))
    assert agent.last_result.simulations == 1000
    assert agent.picked == f"mcts(simulations=1000): a game of ours, whose best, {best}, takes no budget"


def test_auto_plays_the_best_that_a_game_calls_by_another_of_its_names(monkeypatch):
    presets = {"best": {"agent": "toe_deep"}, "toe_deep": {"agent": "mcts", "select": "rave"}}
    game = replace(tic_tac_toe(), name="named", presets=presets)
    entry = Entry("NamedToe-v0", "mcts_envs.core.api.env:GameEnv", {"game": game}, 2, presets)
    monkeypatch.setitem(ENTRIES, "NamedToe-v0", entry)
    state = game.new_state()
    game.reset(state, np.uint64(0))
    agent = agents.make("auto", simulations=20)
    agent.act(View(game, state, 0))
    assert agent.picked == "mcts(simulations=20, select='rave'): a game of ours"


def test_auto_plays_for_several_and_by_replay():
    env = tictactoe.env()
    env.reset(seed=1)
    agent = agents.make("auto", simulations=30)
    assert agent.act(env) in range(9)
    assert agent.picked.startswith("mcts(simulations=30): random games end")
    machine = agents.remember(Machine())
    machine.reset(seed=1)
    assert agents.make("auto", simulations=200).act(machine) == 1


@pytest.mark.parametrize("hides", [True, False])
def test_information_sets_are_for_games_that_hide_something(hides):
    class Dealt(tictactoe.raw_env):
        """One of a class of games, some of which hide something."""

    class Told(bridge.Adapter):
        def determinize(self, env, agent, chance):
            pass

        def hides(self, env):
            return hides

    bridge.register(Dealt, Told())
    env = Dealt()
    env.reset(seed=1)
    agent = agents.make("auto", simulations=20)
    agent.act(env)
    assert ("information_set" in agent.picked) == hides


def test_where_steps_are_dear_the_look_is_short_and_so_is_the_horizon():
    class Dear(Machine):
        def step(self, action):
            time.sleep(0.02)
            return 0, 0.0, False, False, {}

    env = agents.remember(Dear())
    env.reset(seed=1)
    agent, started = agents.make("auto", time_limit=0.05, seed=1), time.perf_counter()
    agent.act(env)
    assert time.perf_counter() - started < 12  # a look of 1,000 steps took 20
    assert "do not end" in agent.picked or "graph" in agent.picked


def test_what_an_environment_of_several_cuts_off_has_ended():
    pytest.importorskip("pyspiel")
    env = agents.remember(pytest.importorskip("shimmy").OpenSpielCompatibilityV0(game_name="goofspiel"))
    env.reset(seed=0)
    agent = agents.make("auto", simulations=20, seed=0)
    agent.act(env)
    assert "random games end" in agent.picked


class Cliffs(gym.Env):
    """Two of three actions, drawn anew and shown at each step, end it with -1; 20 steps with 0. No state recurs."""

    def __init__(self):
        self.action_space, self.observation_space = gym.spaces.Discrete(3), gym.spaces.Box(0, 1e6, (2,), np.float64)

    def _shown(self):
        self.safe = int(self.np_random.integers(3))
        return np.array([self.safe, self.np_random.random()])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self._shown(), {}

    def step(self, action):
        self.steps += 1
        fell = action != self.safe
        return self._shown(), -float(fell), fell or self.steps == 20, False, {}


def test_a_loss_now_is_worse_than_one_later():
    agent = agents.make("auto", simulations=12, seed=1)
    assert total(agents.remember(Cliffs()), agent, 1) == 0.0
    assert agent.picked.startswith("mcts(simulations=12, discount=0.98): random games end"), agent.picked


class Doors(gym.Env):
    """One of six doors leads on, three times, the last time to 10; the others end it with a little."""

    observation_space, action_space = gym.spaces.Discrete(3), gym.spaces.Discrete(6)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return self.at, {}

    def step(self, action):
        if action != (4, 0, 5)[self.at]:
            return self.at, 0.01 * self.at, True, False, {}
        self.at += 1
        return self.at % 3, 10.0 * (self.at == 3), self.at == 3, False, {}


def test_states_that_few_random_games_reach_are_told_to_recur():
    env = Doors()
    env.reset(seed=1)
    for seed in range(8):
        (agent := agents.make("auto", simulations=30, seed=seed)).act(env)
        assert agent.picked.startswith("graph"), agent.picked


class Stones(gym.Env):
    """Stones on a ring, whom chance moves: on even places actions 0 and 1 are legal, on odd ones 2 and 3."""

    observation_space, action_space = gym.spaces.Discrete(6), gym.spaces.Discrete(4)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.t = 0, 0
        return self.at, {}

    def action_masks(self):
        return np.array([self.at % 2 == 0, self.at % 2 == 0, self.at % 2, self.at % 2], bool)

    def step(self, action):
        if not self.action_masks()[action]:
            raise ValueError(f"action {action} is illegal on place {self.at}")
        self.at, self.t = (self.at + int(self.np_random.integers(1, 3))) % 6, self.t + 1
        return self.at, float(self.at == 3), self.t >= 50, False, {}


def test_the_look_does_what_is_legal_after_other_chance():
    env = Stones()
    env.reset(seed=0)
    assert agents.make("auto", simulations=20).act(env) in (0, 1)


class Corridor(gym.Env):
    """A corridor of 61 places, in whose middle one begins; one end, drawn at the reset, pays: a sign near by tells."""

    observation_space, action_space = spaces.MultiDiscrete([61, 61]), spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at, self.end = 30, 60 * int(self.np_random.integers(2))
        return self.shown(), {}

    def shown(self):
        return np.array([self.at, self.end if self.at == 32 else 30])

    def step(self, action):
        self.at = min(max(self.at + 2 * action - 1, 0), 60)
        return self.shown(), float(self.at == self.end), self.at == self.end, False, {}


def test_a_graph_is_searched_where_something_is_hidden_and_random_games_lead_nowhere():
    env, agent = agents.remember(Corridor()), agents.make("auto", simulations=40)
    env.reset(seed=1)
    assert "replay" in agent.search(env).copies.hidden
    assert agent.picked.startswith("graph")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*than the time limit:UserWarning")  # of a busy machine
def test_auto_is_good_by_default():
    lake = agents.remember(gym.make("FrozenLake-v1"))
    crossed = [total(lake, agents.make("auto", time_limit=0.02, seed=seed), seed, 100) for seed in range(40)]
    assert np.mean(crossed) > 0.5  # of 0.74; UCT has 0.1
    taxi = agents.remember(gym.make(TAXI))
    assert np.mean([total(taxi, agents.make("auto", time_limit=0.1, seed=seed), seed) for seed in range(5)]) > 5
    pole = agents.remember(gym.make("CartPole-v1"))
    paid = [total(pole, agents.make("auto", time_limit=0.02, seed=seed), seed, 500) for seed in range(3)]
    assert np.mean(paid) > 450


def test_random_games_end_where_some_are_cut_off_sooner_than_others():
    class Cut(CartPoleEnv):
        def step(self, action):
            seen, paid, fallen, _, info = super().step(action)
            return seen, paid, False, fallen, info

    env = Cut()
    env.reset(seed=1)
    agent = agents.make("auto", simulations=5, seed=1)
    agent.act(env)
    assert agent.picked.startswith("policy_search"), agent.picked
