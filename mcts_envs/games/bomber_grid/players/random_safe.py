"""A player that moves at random but not into fire."""

from mcts_envs.core.contract import ADVISE
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.bomber_grid.rules.danger import foresee, forget, safe_moves
from mcts_envs.games.bomber_grid.rules.kernels import scale_of
from mcts_envs.games.bomber_grid.rules.layout import MOVES, STATE
from mcts_envs.games.bomber_grid.rules.sight import window


@kernel()
def weigh(state, moves, weights):
    """Give weight 1 to some moves, given as bits, without words; to all moves if there is none."""
    scale = scale_of(record(state, STATE))
    for action in range(weights.shape[0]):
        weights[action] = 0.0
    for move in range(MOVES):
        if moves == 0 or moves >> move & 1:
            weights[move * scale] = 1.0


@kernel(ADVISE)
def advise_random_safe(state, player, weights):
    """Any move from which a way leads out of all fire in sight, walls and bombs not run against."""
    seen = window(state, player)
    foresee(state, seen)
    weigh(state, safe_moves(state, player, seen), weights)
    forget(record(state, STATE))
