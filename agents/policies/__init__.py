"""The ideas that a search is put together from: one file for each, its source cited.

A policy is passed to :class:`agents.mcts.MCTS` as a function, or by the name under which it stands here: then its
module is loaded when an agent asks for it.
"""

import importlib
from typing import Any

SELECTION = {
    "least_visited": "least_visited",
    "progressive_bias": "progressive_bias",
    "progressive_history": "progressive_history",
    "progressive_widening": "progressive_widening",
    "puct": "puct",
    "rave": "rave",
    "ucb1": "ucb1",
    "ucb1_in_order": "ucb1_forms",
    "ucb1_lecture": "ucb1_forms",
    "ucb1_log10": "ucb1_forms",
    "ucb1_sqrt2": "ucb1_forms",
    "ucb1_tutorial": "ucb1_forms",
    "ucb_linear": "ucb1_forms",
    "virtual_child": "virtual_child",
}
SIMULATION = {"advised": "rollout", "advised_own": "rollout", "mast": "mast", "uniform": "rollout"}
NOISE = dict.fromkeys(("no_noise", "uniform_noise"), "noise")
BACKUP = {"mean": "mean"}
RECOMMENDATION = dict.fromkeys(("max_value", "max_value_drawn", "max_visits", "mixed"), "recommend")
"""Modules of this package by the name of the policy in it."""


def load(module: str, name: str) -> Any:
    """Return a policy of a module of this package."""
    return getattr(importlib.import_module(f"agents.policies.{module}"), name)
