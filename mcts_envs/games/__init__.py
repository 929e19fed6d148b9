"""The games: one folder each, with the same rooms.

``rules`` is what happens, ``players`` who plays (scripted players, models of the world, values, orderings of
actions), ``spec`` the settings and the environment class, ``position`` the readable form of a state, ``presets`` the
named agents as plain data, ``draw`` pictures and texts. Rules know the core alone, and no game knows another:
``pyproject.toml`` holds it.
"""

from typing import TYPE_CHECKING

from mcts_envs.core import loading

if not TYPE_CHECKING:
    __getattr__ = loading.named_modules(__name__)
