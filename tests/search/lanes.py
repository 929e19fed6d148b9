"""Lane games in their first state."""

import gymnasium as gym

from agents import policies
from agents.policies.signatures import needs_of
from tests.toys import TicTacToe


def lane(size=3, seed=0, **settings):
    env = gym.make(f"mcts_envs/LaneDefense{size}x{size}-v0", **settings)
    env.reset(seed=seed)
    return env


def home_of(select):
    """Return a game for a selection, in its first state: one without chance for those that prove."""
    if not needs_of(policies.load("select", select)).certain:
        return lane(3, seed=3).unwrapped
    env = TicTacToe()
    env.reset(seed=3)
    return env
