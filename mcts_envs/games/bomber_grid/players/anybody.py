"""A guess at a player of whom nothing is known: rule-based or careful, one as likely as the other, now and then odd.

Shortly before a ring of the board falls it is careful, for rules that do not see that coming would be no guess.
"""

from mcts_envs.core.contract import ADVISE
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.bomber_grid.players.careful import decide
from mcts_envs.games.bomber_grid.players.falls import falls_soon
from mcts_envs.games.bomber_grid.players.rule_based import advise_rule_based, share
from mcts_envs.games.bomber_grid.rules.danger import foresee, forget, safe_moves
from mcts_envs.games.bomber_grid.rules.kernels import scale_of
from mcts_envs.games.bomber_grid.rules.layout import STATE
from mcts_envs.games.bomber_grid.rules.sight import window

RULE_BASED, CAREFUL, SAFE = 0.45, 0.45, 0.1
"""How often it does as these players do; what is not safe it does only as the first of them."""


@kernel(ADVISE)
def advise_anybody(state, player, weights):
    """Mix the advice of the rule-based player, the careful one, and the one that makes any safe move."""
    s = record(state, STATE)
    advise_rule_based(state, player, weights)
    careful = RULE_BASED + CAREFUL if falls_soon(s) else CAREFUL
    for action in range(weights.shape[0]):
        weights[action] *= RULE_BASED + CAREFUL - careful
    seen = window(state, player)
    burnt = foresee(state, seen)
    safe = safe_moves(state, player, seen)
    share(weights, scale_of(s), decide(state, player, seen, burnt, safe), careful)
    share(weights, scale_of(s), safe, SAFE)
    forget(s)
