"""Environments of others, with what is hard to play in them, and agents that are asked there."""

import random
import threading

import gymnasium as gym
import numpy as np
from pettingzoo import AECEnv, ParallelEnv

from tests.agents.test_watching_others import Path


class Keyed(Path):
    """A path with keys, on which one cannot go on twice in a row; the last place pays, and nothing is legal twice."""

    tired = False

    def get_keys_to_action(self):
        return {"a": 3, (ord("d"),): 4, ("w", "d"): 4, "x": 9}

    def action_masks(self):
        return np.array([True, not self.tired])

    def step(self, action):
        self.tired = action == 4
        return super().step(action)


class Worn(Path):
    """A path with chance that no seed decides."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = random.SystemRandom().choice([1, 2, 3]) + 0.001 * random.SystemRandom().random()
        return self.place, {}

    def step(self, action):
        self.place += random.SystemRandom().random() / 9
        return self.place, 1.0, False, False, {}


class Fragile(Path):
    """A path whose steps, or pictures, break now and then."""

    broken = ()

    def step(self, action):
        self.place += 1
        if "step" in Fragile.broken:
            raise ZeroDivisionError("path")
        return self.place, 0.0, False, False, {}

    def render(self):
        if "pencil" in Fragile.broken:
            raise ZeroDivisionError("pencil")
        return None if "paper" in Fragile.broken else super().render()


class Endless(Path):
    """A path on which the way back takes until it is told that it may end, and the way on ends the program."""

    begun, go = threading.Event(), threading.Event()

    def step(self, action):
        if action == 4:
            raise SystemExit(3)
        Endless.begun.set()
        assert Endless.go.wait(60)
        return super().step(action)


class Leaving(AECEnv):
    """Three in turn stay or leave: who leaves has a reward for each turn that was taken, and the last one nothing."""

    metadata = {"name": "leaving", "render_modes": ["ansi"]}  # noqa: RUF012
    possible_agents = ("a", "b", "c")

    def __init__(self, render_mode=None):
        self.render_mode = render_mode

    def observation_space(self, agent):
        return gym.spaces.Discrete(99)

    def action_space(self, agent):
        return gym.spaces.Discrete(2)

    def observe(self, agent):
        return self.turns

    def reset(self, seed=None, options=None):
        self.agents, self.turns = list(self.possible_agents), 0
        self.rewards, self._cumulative_rewards = (dict.fromkeys(self.agents, 0.0) for _ in range(2))
        self.terminations, self.truncations = (dict.fromkeys(self.agents, False) for _ in range(2))
        self.infos = {agent: {} for agent in self.agents}
        self.agent_selection = "a"

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self.turns += 1
        self._clear_rewards()
        self._cumulative_rewards[agent] = 0.0
        if action == 1:
            self.rewards[agent], self.terminations[agent] = float(self.turns), True
        left = [each for each in self.agents if not self.terminations[each]]
        if len(left) == 1:
            self.terminations[left[0]] = True
        order = self.agents[self.agents.index(agent) + 1 :] + self.agents
        self.agent_selection = next((each for each in order if not self.terminations[each]), agent)
        self._accumulate_rewards()
        self._deads_step_first()

    def render(self):
        return f"{self.turns} turns"


class Pennies(ParallelEnv):
    """Three times both show a penny at once: the first wants two of a kind, the second does not."""

    metadata = {"name": "pennies", "render_modes": []}  # noqa: RUF012
    possible_agents = ("odd", "even")
    render_mode = None

    def observation_space(self, agent):
        return gym.spaces.Discrete(9)

    def action_space(self, agent):
        return gym.spaces.Discrete(2)

    def reset(self, seed=None, options=None):
        self.agents, self.shown = list(self.possible_agents), 0
        return dict.fromkeys(self.agents, 0), {agent: {} for agent in self.agents}

    def step(self, actions):
        self.shown += 1
        won = 1.0 if actions["odd"] == actions["even"] else -1.0
        said = (dict.fromkeys(self.agents, each) for each in (self.shown, self.shown == 3, False))
        seen, ended, cut = said
        rewards, infos = {"odd": won, "even": -won}, {agent: {} for agent in self.agents}
        self.agents = [] if self.shown == 3 else self.agents
        return seen, rewards, ended, cut, infos

    def render(self):
        raise NotImplementedError


class Dealt(Pennies):
    """The same, where each is shown a number of its own at first."""

    metadata = {"name": "dealt", "render_modes": []}  # noqa: RUF012

    def reset(self, seed=None, options=None):
        return {"odd": 3, "even": 7}, super().reset()[1]


class Bound(Path):
    """A path that is drawn by one thread alone, as what draws on a graphics card is."""

    thread = None

    def render(self):
        self.thread = self.thread or threading.get_ident()
        assert self.thread == threading.get_ident()
        return super().render()


class Slow:
    """Thinks until it is told that it may choose the first action, and then tells where the environment stands."""

    def __init__(self):
        self.begun, self.go, self.saw = threading.Event(), threading.Event(), None

    def reseed(self, seed):
        pass

    def act(self, env):
        self.begun.set()
        assert self.go.wait(60)
        self.saw = env.unwrapped.place
        return 3


class First:
    """Plays the first action, whatever it is shown."""

    asked = []  # noqa: RUF012

    def predict(self, observation):
        First.asked.append(observation)
        return 0


def path(**settings):
    return Path(**settings)


def window():
    return Path("human")


def numbered():
    env = gym.wrappers.TransformAction(Path("ansi"), lambda action: action, gym.spaces.Discrete(2, start=3))
    env.unwrapped.actions = None
    return env


def ours():
    return gym.make("mcts_envs/LaneDefense3x3-v0")
