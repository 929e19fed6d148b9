"""Copies of MiniGrid, which see in less time what their originals do."""

import gymnasium as gym
import numpy as np
import pytest

from agents import bridge

pytest.importorskip("minigrid")

from minigrid.envs import EmptyEnv


@pytest.mark.parametrize("size", [3, 7, 9])
@pytest.mark.parametrize("name", ["DoorKey-6x6", "KeyCorridorS3R2", "Fetch-5x5-N2"])
def test_copies_of_grids_see_what_their_originals_do(name, size):
    env = gym.make(f"MiniGrid-{name}-v0", agent_view_size=size)
    rng, carried = np.random.default_rng(size), 0
    for seed in range(6):
        env.reset(seed=seed)
        view = bridge.view(env)
        state = view.state.copy()
        assert type(env.unwrapped) is not type(state.env) is type(state.copy().env)
        for action in rng.integers(6, size=60):
            seen, _, terminated, truncated, _ = env.step(int(action))
            view.game.step(state, [int(action)], [0.0])
            assert seen["image"].tobytes() == state.seen["image"].tobytes()
            assert {**seen, "image": None} == {**state.seen, "image": None}
            assert state.seen["image"].flags.writeable
            carried += env.unwrapped.carrying is not None
            if terminated or truncated:
                break
    assert carried or size < 7


def test_grids_that_show_themselves_in_their_own_way_are_asked():
    class Blind(EmptyEnv):
        def gen_obs(self):
            return {**super().gen_obs(), "direction": 0}

    env = Blind()
    env.reset(seed=1)
    view = bridge.view(env)
    state = view.state.copy()
    view.game.step(state, [1], [0.0])
    assert (type(state.env), state.seen["direction"], state.env.agent_dir) == (Blind, 0, 1)
