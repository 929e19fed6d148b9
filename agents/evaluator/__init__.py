"""Networks as evaluators of a search: what they advise, and what states are worth to them, in compiled code."""

from typing import TYPE_CHECKING

from mcts_envs.core import loading

if not TYPE_CHECKING:
    __getattr__ = loading.named_modules(__name__)
