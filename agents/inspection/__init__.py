"""What a search found, for people: its tree, as text, tables, pictures, and the data of a page."""

from typing import TYPE_CHECKING

from mcts_envs.core import loading

if not TYPE_CHECKING:
    __getattr__ = loading.named_modules(__name__)
