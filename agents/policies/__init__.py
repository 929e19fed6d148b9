"""The ideas that a search is put together from: one file for each, its source cited.

A policy is passed to :class:`agents.mcts.MCTS` as a function, or by the name under which it stands here.
"""

from agents.policies.least_visited import least_visited
from agents.policies.mast import mast
from agents.policies.mean import mean
from agents.policies.puct import puct
from agents.policies.rave import rave
from agents.policies.recommend import max_value, max_visits, mixed
from agents.policies.rollout import advised, uniform
from agents.policies.ucb1 import ucb1, ucb1_in_order, ucb1_lecture, ucb1_log10, ucb1_sqrt2, ucb1_tutorial, ucb_linear

_SELECTION = (
    *(least_visited, puct, rave, ucb1, ucb1_in_order, ucb1_lecture, ucb1_log10, ucb1_sqrt2, ucb1_tutorial),
    ucb_linear,
)
SELECTION = {policy.__name__: policy for policy in _SELECTION}
SIMULATION = {policy.__name__: policy for policy in (advised, mast, uniform)}
BACKUP = {policy.__name__: policy for policy in (mean,)}
RECOMMENDATION = {policy.__name__: policy for policy in (max_value, max_visits, mixed)}
