"""Training with Stable-Baselines3 and sb3-contrib, and the policies that come of it."""

from typing import TYPE_CHECKING

from mcts_envs.core import loading

if not TYPE_CHECKING:
    __getattr__ = loading.named_modules(__name__)
