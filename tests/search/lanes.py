"""Lane games in their first state."""

import gymnasium as gym


def lane(size=3, seed=0, **settings):
    env = gym.make(f"mcts_envs/LaneDefense{size}x{size}-v0", **settings)
    env.reset(seed=seed)
    return env
