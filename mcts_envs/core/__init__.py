"""The ground on which all games and agents stand; :mod:`mcts_envs.core.contract` first."""

from typing import TYPE_CHECKING

from mcts_envs.core import loading

if not TYPE_CHECKING:
    __getattr__ = loading.named_modules(__name__)
