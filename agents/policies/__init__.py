"""The ideas that a search is put together from: one file for each, its source cited.

A policy is passed to :class:`agents.mcts.MCTS` as a function, or by the name under which it stands here.
"""

from agents.policies.least_visited import least_visited
from agents.policies.recommend import max_value, max_visits
from agents.policies.rollout import advised, uniform
from agents.policies.ucb1 import ucb1, ucb1_in_order

SELECTION = {"least_visited": least_visited, "ucb1": ucb1, "ucb1_in_order": ucb1_in_order}
SIMULATION = {"advised": advised, "uniform": uniform}
RECOMMENDATION = {"max_value": max_value, "max_visits": max_visits}
