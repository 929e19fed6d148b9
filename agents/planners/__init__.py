"""Agents other than the tree search: one file for each."""

from typing import TYPE_CHECKING

from mcts_envs.core import loading

if not TYPE_CHECKING:
    __getattr__ = loading.named_modules(__name__)
