"""What is behind ``@kernel``: when kernels are compiled, what their compiled code is kept under, and how it travels."""

from typing import TYPE_CHECKING

from mcts_envs.core import loading

if not TYPE_CHECKING:
    __getattr__ = loading.named_modules(__name__)
