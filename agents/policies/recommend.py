"""Which move to play after a search.

The names of the first two are those of G. Chaslot et al., "Progressive Strategies for Monte-Carlo Tree Search" (2008):
the *robust* child has the most visits, the *max* child the greatest value.
"""

from typing import TYPE_CHECKING

import numpy as np

from mcts_envs.core.rng import below, choose_among
from mcts_envs.core.typing import Bytes, Floats, Ints

if TYPE_CHECKING:
    from agents.search.running import Search


def max_visits(visits: Ints, values: Floats, legal: Ints, stream: Bytes) -> int:
    """Play the most visited action; among equals the one with the greater mean return, then the first.

    Where all were tried as often, give or take one, and nothing was paid, one is drawn: the first may be the one that
    does nothing, for ever.
    """
    tried, means = visits[legal], np.nan_to_num(values[legal], nan=-np.inf)
    if tried.min() > 0 and tried.max() - tried.min() <= 1 and not means.any():
        return int(legal[below(stream, len(legal))])
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


def secure(visits: Ints, values: Floats, legal: Ints, stream: Bytes, search: "Search") -> int:
    """Play the *secure* child, with the greatest ``mean - 2 / sqrt(n)``, 2 being in ranges of the returns seen.

    G. Chaslot et al. (2008) have 4 where games count from -1 to 1.
    """
    low, high = search.returns()
    tried = legal[visits[legal] > 0]
    return int(tried[np.argmax(values[tried] - 2.0 * max(high - low, 0.0) / np.sqrt(visits[tried]))])


def lcb(visits: Ints, values: Floats, legal: Ints, stream: Bytes, search: "Search") -> int:
    """Play the greatest lower confidence bound, mean - 5 standard errors, of actions with enough visits.

    So do programs of Go; as in KataGo, actions count that have at least 15 % of the visits of the most visited. The
    variance of returns in [low, high] with mean m is taken for the greatest that it can be, (high - m) (m - low), which
    it is where games are won or lost (R. Bhatia, C. Davis 2000, "A Better Bound on the Variance").
    """
    low, high = search.returns()
    tried = legal[visits[legal] >= max(1.0, 0.15 * visits[legal].max())]
    means = values[tried]
    spread = np.sqrt(np.maximum((high - means) * (means - low), 0.0) / visits[tried])
    return int(tried[np.argmax(means - 5.0 * spread)])


def proved(visits: Ints, values: Floats, legal: Ints, stream: Bytes, search: "Search") -> int:
    """Play what is proved to win, and nothing that is proved to lose, or to be worse than what else is proved.

    By ``select="mcts_solver"`` or ``"puct_solver"``. Between others the most visited action; where all is lost, so too.

    Raises
    ------
    ValueError
        If the search proves nothing.
    """
    from agents.policies.mcts_solver import proofs

    win, returns = proofs(search)
    if len(winning := legal[returns[legal] >= win]):
        return int(winning[0])
    rest = legal[~(returns[legal] <= -win)]
    rest = rest if len(rest) else legal
    best = np.fmax.reduce(returns[rest])  # NaN where nothing is proved
    return max_visits(visits, values, rest[~(returns[rest] < best)], stream)
