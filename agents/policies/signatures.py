"""What a search asks of its policies.

``select``
    ``(k, visits[k], sums[k], squares[k], prior[k], c, stream) -> index`` over the k actions that are legal now, with
    their statistics gathered: a policy never sees the tree, so it need not care that legality may change between
    visits. The arrays may be longer than k.
``simulate``
    ``(functions, state, legal[A], weights[A], actions[P], rewards[P], values[P], horizon, discount, stream) -> steps``
    plays a state on for up to ``horizon`` steps, in place, and fills in the discounted return of each player.
``recommend``
    plain Python: ``(visits[A], values[A], legal[k]) -> action``, the move to play after the search.
"""

from numba import types

from mcts_envs.core.contract import BYTES, FLOATS, INTS, TABLE
from mcts_envs.core.kernel import slot

SELECT = types.int64(types.int64, INTS, FLOATS, FLOATS, FLOATS, types.float64, BYTES)
SIMULATE = types.int64(TABLE, BYTES, INTS, FLOATS, INTS, FLOATS, FLOATS, types.int64, types.float64, BYTES)

SIGNATURES = {"select": SELECT, "simulate": SIMULATE}

select_of, simulate_of = (
    slot(index, SIGNATURES[name], __name__, f"{name}_of") for index, name in enumerate(SIGNATURES)
)
