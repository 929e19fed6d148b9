"""What an environment holds without owning it, or lets go: weak references, threads, and what it closes at its end."""

import gc
from typing import ClassVar

import agents
from tests.bridge.worlds import Walk, mcts


class Client(Walk):
    """Is a client of an engine until it goes."""

    connected: ClassVar = set()

    def reset(self, *, seed=None, options=None):
        self.number = 1
        self.connected.add(self.number)
        return super().reset(seed=seed)

    def step(self, action):
        assert self.number in self.connected, "the engine knows no such client"
        return super().step(action)

    def __del__(self):
        self.connected.discard(self.number)


def test_a_copy_that_goes_closes_nothing():
    env = Client()
    env.reset(seed=0)
    report = agents.check_planning(env)
    assert report, report
    for _ in range(3):
        gc.collect()
        assert not env.step(mcts().act(env))[2]
    del env
    gc.collect()
    assert not Client.connected
