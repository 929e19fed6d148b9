"""Programs that run for days: what is kept of environments that are gone, and of long episodes."""

import gc

import gymnasium as gym

import agents
import agents.bridge.games
from agents.bridge import view
from agents.bridge.states import ForeignGame
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
