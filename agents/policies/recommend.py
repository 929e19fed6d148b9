"""Which move to play after a search.

The names are those of G. Chaslot et al., "Progressive Strategies for Monte-Carlo Tree Search" (2008): the *robust*
child has the most visits, the *max* child the greatest value.
"""

import numpy as np

from mcts_envs.core.typing import Floats, Ints


def max_visits(visits: Ints, values: Floats, legal: Ints) -> int:
    """Play the most visited action; among equals the one with the greater mean return, then the first."""
    means = np.nan_to_num(values[legal], nan=-np.inf)
    return int(legal[np.lexsort((-np.arange(len(legal)), means, visits[legal]))[-1]])


def max_value(visits: Ints, values: Floats, legal: Ints) -> int:
    """Play the action with the greatest mean return, the first of equals."""
    return int(legal[np.argmax(np.nan_to_num(values[legal], nan=-np.inf))])
