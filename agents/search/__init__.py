"""The search, written once, compiled and as plain Python.

Read ``search`` first: selection, expansion, simulation, backup. ``tree`` and ``records`` are what it works on,
``rollout`` is the loop of a simulation, ``plan`` what is settled once for a game, ``running`` a search that goes on and
is asked. The ideas that it is put together from are in :mod:`agents.policies`.
"""

from typing import TYPE_CHECKING

from mcts_envs.core import loading

if not TYPE_CHECKING:
    __getattr__ = loading.named_modules(__name__)
