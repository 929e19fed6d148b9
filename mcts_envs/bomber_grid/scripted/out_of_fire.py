"""A player that moves at random and only looks one step ahead: it does not walk into a cell that burns."""

from mcts_envs.bomber_grid.bits import common, has, pair
from mcts_envs.bomber_grid.layout import LAY, STATE, STOP
from mcts_envs.bomber_grid.moves import next_cell
from mcts_envs.bomber_grid.scripted.random_safe import weigh
from mcts_envs.bomber_grid.sight import window
from mcts_envs.core.contract import ADVISE
from mcts_envs.core.kernel import kernel, record


@kernel(ADVISE)
def advise_out_of_fire(state, player, weights):
    """Any move but into fire or off the board, as in the rollouts of Perez-Liebana et al. (AIIDE 2019)."""
    s = record(state, STATE)
    fire = common(pair(s.fire), window(state, player))
    here = int(s.stands[player])
    moves = 1 << LAY | 1 << STOP
    for move in range(1, 5):
        target = next_cell(here, move)
        if target >= 0 and not has(fire, target):
            moves |= 1 << move
    weigh(state, moves, weights)
