"""Environments that show something else once they have been played often: replays make another one."""

import numpy as np

import agents
from agents.bridge import means
from tests.bridge.worlds import Machine, mcts


class Worn(Machine):
    """Shows something else from its fourth reset on, as worlds do that keep an order of what touched."""

    resets = 0

    def reset(self, *, seed=None, options=None):
        at, info = super().reset(seed=seed)
        self.resets += 1
        return at + (self.resets > 3), info


def test_what_replays_wear_out_is_made_anew():
    results = []
    for made in (Worn(), Machine()):
        env = agents.remember(made)
        env.reset(seed=11)
        results.append(mcts(30).search(env))
        assert results[-1].copies.means == means.REPLAY
    np.testing.assert_array_equal(*(result.values for result in results))
