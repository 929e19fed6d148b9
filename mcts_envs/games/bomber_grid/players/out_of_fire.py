"""A player that moves at random and only looks one step ahead: it does not walk into a cell that burns."""

import numpy as np

from mcts_envs.core.contract import ADVISE
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.bomber_grid.players.random_safe import weigh
from mcts_envs.games.bomber_grid.players.rule_based import WALKS, walks_within
from mcts_envs.games.bomber_grid.rules.bits import EVERY_HIGH, EVERY_LOW, common, pair, without
from mcts_envs.games.bomber_grid.rules.layout import LAY, STATE, STOP
from mcts_envs.games.bomber_grid.rules.sight import window


@kernel(ADVISE)
def advise_out_of_fire(state, player, weights):
    """Any move but into fire or off the board, as in the rollouts of Perez-Liebana et al. (AIIDE 2019)."""
    s = record(state, STATE)
    fire = common(pair(s.fire), window(state, player))
    cells = without((EVERY_LOW, EVERY_HIGH), fire)
    weigh(state, 1 << LAY | 1 << STOP | walks_within(np.int64(s.stands[player]), cells, WALKS), weights)
