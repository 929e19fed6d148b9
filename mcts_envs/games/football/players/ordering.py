"""How promising actions look at first sight, as an ``advise`` kernel for searches that look at the best ones first."""

import numpy as np

from mcts_envs.core.contract import ADVISE, BYTES, FLOATS, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.players.scripted import choose_scripted
from mcts_envs.games.football.players.values import to_go
from mcts_envs.games.football.rules import actions as act
from mcts_envs.games.football.rules.activation import may_block
from mcts_envs.games.football.rules.field import distance, is_empty, neighbour, on, team_of, zones_on
from mcts_envs.games.football.rules.layout import ACTIVATION, STATE
from mcts_envs.games.football.rules.odds import block_strength, dodge_needs

FIRST, GOOD, PLAIN, LAST = 1.0, 0.4, 0.1, 0.01


@kernel(types.void(BYTES, types.int64, FLOATS))
def _rate_steps(state, player, weights):
    """Rate steps: nearer to the end zone with the ball, or to the ball, is better; what takes a roll, by its odds."""
    s = record(state, STATE)
    here, ball, team = np.int64(s.square[player]), s.ball, team_of(player)
    leaves_zone, rushes = zones_on(state, player) > 0, s.moved[player] >= s.ma[player]
    first = act.after(state, act.MOVES)
    for direction in range(8):
        square = neighbour(state, here, direction)
        if is_empty(state, square):
            nearer = 0
            if s.carrier == player:
                nearer = to_go(state, team, here) - to_go(state, team, square)
            elif ball > 0:
                nearer = distance(state, here, ball) - distance(state, square, ball)
            weight = GOOD * (2 + nearer) / 3
            if leaves_zone:
                weight *= (7 - dodge_needs(state, player, square)) / 6
            if rushes:
                weight *= 5 / 6
            weights[first + act.place_of(state, square)] = weight


@kernel(types.void(BYTES, types.int64, FLOATS))
def _rate_blocks(state, player, weights):
    """Rate blocks: with two dice or three of the own choice good, with one plain, with the other's choice last."""
    here, team = np.int64(record(state, STATE).square[player]), team_of(player)
    for direction in range(8):
        byte = on(state, neighbour(state, here, direction))
        if byte >> 4 == 1 - team:
            dice = block_strength(state, player, byte)
            weight = GOOD if dice > 1 else (PLAIN if dice == 1 else LAST)
            weights[act.after(state, act.BLOCKS) + (byte & 15)] = weight


@kernel(ADVISE)
def advise_ordered(state, player, weights):
    """Rate the scripted player's action first, then steps and blocks by what they promise; to end something last."""
    s = record(state, STATE)
    chosen = choose_scripted(state, weights)
    for action in range(weights.shape[0]):
        weights[action] = PLAIN
    weights[act.END_TURN] = weights[act.END_ACTIVATION] = LAST
    if s.phase == ACTIVATION:
        active = s.active_player
        _rate_steps(state, active, weights)
        if may_block(state, active):
            _rate_blocks(state, active, weights)
    weights[chosen] = FIRST
