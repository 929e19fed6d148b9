"""Programs that run for days: what is kept of environments that are gone, and of long episodes."""

import gc
import weakref

import gymnasium as gym
import numpy as np
from gymnasium import spaces

import agents
import agents.bridge.games
import agents.planners.places
from agents.bridge import view
from agents.bridge.copying.classes import KINDS
from agents.bridge.copying.copies import Copy
from agents.bridge.states import ForeignGame
from agents.evaluator import bound
from tests.bridge.worlds import Walk


class World(Walk):
    """Is made for a map."""

    def __init__(self, drawn=""):
        super().__init__()
        self.drawn = drawn


def test_of_environments_made_otherwise_each_time_only_the_latest_are_known(monkeypatch):
    monkeypatch.setattr(agents.bridge.games, "_MOST", 8, raising=False)
    monkeypatch.setattr(agents.bridge.games, "_GAMES", {})
    monkeypatch.setitem(gym.registry, "World-v0", gym.envs.registration.EnvSpec("World-v0", entry_point=World))
    agent, first = agents.make("auto", simulations=4), gym.make("World-v0", drawn="first")
    first.reset(seed=0)
    game = view(first).game
    for k in range(20):
        env = gym.make("World-v0", drawn=str(k))
        env.reset(seed=0)
        agent.act(env)
        assert view(first).game is game  # which is looked at meanwhile
    gc.collect()
    drawn = [each for each in gc.get_objects() if type(each) is ForeignGame and each.name == "World-v0"]
    assert len(drawn) <= 8


class Line(gym.Env):
    """An endless line, with the time in what is observed, so that no state comes again."""

    def __init__(self):
        self.observation_space, self.action_space = spaces.Box(-(2**31), 2**31, (2,), np.int64), spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = self.t = 0
        return np.array([self.at, self.t]), {}

    def step(self, action):
        self.at, self.t = self.at + 2 * action - 1, self.t + 1
        return np.array([self.at, self.t]), float(self.at % 5 == 0), False, False, {}


def test_places_that_cannot_be_reached_any_more_are_forgotten_in_long_episodes(monkeypatch):
    monkeypatch.setattr(agents.planners.places, "_MANY", 20, raising=False)
    env = agents.remember(Line())
    env.reset(seed=0)
    agent = agents.make("graph", simulations=8, horizon=8, seed=0)
    known, paid = [], 0.0
    for _ in range(200):
        action = agent.act(env)
        known.append(agent.last_result.places)
        paid += env.step(action)[1]
    assert max(known) < 8 * 9 * 4  # states ahead are 8 * 9 / 2 or fewer
    assert paid == 100  # back at 0 in every second step


class Remade(Walk):
    """Makes a class in each reset."""

    def reset(self, *, seed=None, options=None):
        class Piece:
            owner = self

        self.piece = Piece()
        return super().reset(seed=seed)


def test_classes_that_resets_make_go_with_them():
    agent, kept = agents.make("mcts", simulations=4), []
    for seed in range(KINDS + 20):
        env = Remade()
        env.reset(seed=seed)
        (agent.act if seed < 4 else Copy)(env)
        kept.append(weakref.ref(env))
    gc.collect()
    assert sum(each() is not None for each in kept) <= KINDS + 4


def test_jumps_of_agents_that_are_gone_serve_the_next_ones(monkeypatch):
    made, jump = [], bound._jump
    monkeypatch.setattr(bound, "_FREE", {})
    monkeypatch.setattr(bound, "_jump", lambda *given: made.append(given) or jump(*given))
    env = gym.make("mcts_envs/LaneDefense3x3-v0")
    env.reset(seed=1)

    def visits(policy):
        gc.collect()
        return agents.make("puct", policy=policy, simulations=100, seed=3).search(env).visits.tolist()

    def prefers(action):
        return lambda observations, masks: (np.eye(10)[[action] * len(observations)], np.zeros(len(observations)))

    first = visits("shipped")
    assert len(made) == 2
    assert all(visits("shipped") == first for _ in range(3))
    assert len(made) == 2
    one, other = (agents.make("puct", policy=prefers(action), simulations=100) for action in (0, 5))
    assert [agent.search(env).visits.argmax() for agent in (one, other, one)] == [0, 5, 0]
