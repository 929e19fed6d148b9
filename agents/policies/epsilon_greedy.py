"""Epsilon-greedy: the best mean so far, but a random action in a fixed share of the choices.

R. Sutton, A. Barto, "Reinforcement Learning: An Introduction" (2018), section 2.2. With ``tree_depth=1`` it is a
bandit over the actions of the root, and all else is rollout (flat Monte Carlo).
"""

import math

from agents.policies.parameters import Parameter, parameter_record
from agents.policies.signatures import SELECT, Candidates, nth, policy
from agents.policies.ucb1 import untried
from agents.search.records import Store
from mcts_envs.core.kernel import row
from mcts_envs.core.rng import below, uniform
from mcts_envs.core.typing import Bytes

PARAMETERS = {"random_share": Parameter(0.1, 0.0, 1.0, "Share of choices that are drawn uniformly.")}
GIVEN = parameter_record(PARAMETERS)


@policy(SELECT, parameters=PARAMETERS)
def epsilon_greedy(candidates: Candidates, store: Store, stream: Bytes) -> int:
    """Try untried actions first, in random order; then draw one in ``random_share`` of the choices, else the best."""
    first = untried(candidates, math.nan, stream)
    if first >= 0:
        return first
    if uniform(stream) < row(store.parameters, 0, GIVEN).random_share:
        return int(below(stream, candidates.k))
    best, greatest = 0, -math.inf
    for i in range(candidates.k):
        mean = nth(candidates, i).sums / nth(candidates, i).visits
        if mean > greatest:
            best, greatest = i, mean
    return best
