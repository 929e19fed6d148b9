"""The APIs over a game: Gymnasium's (``env``), PettingZoo's (``multi``), batches (``vector``), and their opponents."""

from typing import TYPE_CHECKING

from mcts_envs.core import loading

if not TYPE_CHECKING:
    __getattr__ = loading.named_modules(__name__)
