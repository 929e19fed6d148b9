"""Games that people sit in: a session, its server for a browser, and the same in a terminal."""

from typing import TYPE_CHECKING

from mcts_envs.core import loading

if not TYPE_CHECKING:
    __getattr__ = loading.named_modules(__name__)
