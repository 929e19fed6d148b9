"""Which move to play after a search.

The names of the first two are those of G. Chaslot et al., "Progressive Strategies for Monte-Carlo Tree Search" (2008):
the *robust* child has the most visits, the *max* child the greatest value.
"""

import numpy as np

from mcts_envs.core.rng import below, choose_among
from mcts_envs.core.typing import Bytes, Floats, Ints


def max_visits(visits: Ints, values: Floats, legal: Ints, stream: Bytes) -> int:
    """Play the most visited action; among equals the one with the greater mean return, then the first."""
    means = np.nan_to_num(values[legal], nan=-np.inf)
    return int(legal[np.lexsort((-np.arange(len(legal)), means, visits[legal]))[-1]])


def max_value(visits: Ints, values: Floats, legal: Ints, stream: Bytes) -> int:
    """Play the action with the greatest mean return, the first of equals."""
    return int(legal[np.argmax(np.nan_to_num(values[legal], nan=-np.inf))])


def max_value_drawn(visits: Ints, values: Floats, legal: Ints, stream: Bytes) -> int:
    """Play the action with the greatest mean return, drawn among equals."""
    means = np.nan_to_num(values[legal], nan=-np.inf)
    equals = legal[means == means.max()]
    return int(equals[below(stream, len(equals))])


def mixed(visits: Ints, values: Floats, legal: Ints, stream: Bytes) -> int:
    """Draw an action in proportion to the visits.

    The mixed strategy of a decoupled search where players choose at once, and varied games for training.
    """
    return int(choose_among(stream, visits.astype(np.float64), legal, len(legal)))
