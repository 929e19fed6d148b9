"""What an unfinished game is worth to each player: exactly 1 or -1 after its end, heuristics before."""

import numpy as np

from mcts_envs.core.contract import EVALUATE
from mcts_envs.core.kernel import count_bits, kernel, record
from mcts_envs.games.bomber_grid.rules.bits import count, pair
from mcts_envs.games.bomber_grid.rules.kernels import has_tied, has_won
from mcts_envs.games.bomber_grid.rules.layout import ONGOING, STATE
from mcts_envs.games.bomber_grid.rules.moves import is_alive
from mcts_envs.games.bomber_grid.rules.sight import in_teams, mate_of

MATE, ENEMY_OF_TEAM, ENEMY_OF_ALL, WOOD, STRENGTH, KICK = 0.1, 0.13, 0.17, 0.1, 0.15, 0.15


@kernel()
def _progress(s, player):
    """Return the weighted features of a player who is in the game."""
    living = s.alive & ~(1 << player)
    value, weight = 0.0, ENEMY_OF_ALL
    if in_teams(s):
        mate = 1 << mate_of(player)
        value, weight = MATE * np.int64(living & mate != 0), ENEMY_OF_TEAM
        living &= ~mate
    value -= weight * count_bits(living)
    wood = count(pair(s.wood))
    value -= WOOD * wood / max(s.n_wood, wood, 1)
    value += STRENGTH * np.int64(s.strength[player]) / s.blast_cap
    return value + KICK * np.int64(s.kicks[player])


@kernel()
def _has_lost(s, player):
    """Return whether a player's own game is lost: in teams, too, the dead are taken for lost until their team wins."""
    if s.end != ONGOING:
        return not (has_won(s, player) or has_tied(s, player))
    return not is_alive(s, player)


@kernel(EVALUATE)
def evaluate_aiide(state, values):
    """Living mates and enemies, wood, strength and kick, weighted as in Perez-Liebana et al. (AIIDE 2019).

    Their heuristic is the change of this value since the root of a search. Wood counts as a part of the wood at the
    start (a position set by hand may have more: then 1), strength as a part of its cap. A tie has no value of its own.
    """
    s = record(state, STATE)
    for player in range(s.players):
        if has_won(s, player):
            values[player] = 1.0
        else:
            values[player] = -1.0 if _has_lost(s, player) else _progress(s, player)


@kernel(EVALUATE)
def evaluate(state, values):
    """The same, but a tie is worth what it pays."""
    s = record(state, STATE)
    evaluate_aiide(state, values)
    for player in range(s.players):
        if has_tied(s, player):
            values[player] = s.reward_tie
