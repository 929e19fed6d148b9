"""Random players, as ``advise`` kernels: weights over actions, 0 for what is illegal.

Kinds of actions are those of the published engine: the two answers to "follow up?" are one kind, so are the squares of
a push; faces of block dice, formations, using a reroll and declining it are one kind each.
"""

import numpy as np

from mcts_envs.core.contract import ADVISE, BYTES, FLOATS, types
from mcts_envs.core.kernel import count_bits, kernel, lowest, record
from mcts_envs.games.football.rules import actions as act
from mcts_envs.games.football.rules import tasks
from mcts_envs.games.football.rules.activation import may_block, moves_left
from mcts_envs.games.football.rules.ball import interceptors
from mcts_envs.games.football.rules.block import offers_other_dice
from mcts_envs.games.football.rules.field import in_half, is_empty, neighbour, stride, team_of
from mcts_envs.games.football.rules.layout import (
    ACTIVATION,
    BLOCK,
    BLOCK_DICE,
    BLOCK_REROLL,
    FOLLOW_UP,
    FOUL,
    HANDOFF,
    KICK,
    PASS,
    PUSH,
    REROLL,
    SETUP,
    STANDING,
    STATE,
    TOUCHBACK,
    TURN,
)
from mcts_envs.games.football.rules.legal import faces_opponent, may_start, spent, targets, waiting_push
from mcts_envs.games.football.rules.match import formation_kind, receivers
from mcts_envs.games.football.rules.odds import TOO_FAR, pass_range
from mcts_envs.games.football.rules.paths import flood


@kernel(types.void(FLOATS, types.int64, types.int64, types.float64))
def share(weights, bits, first, weight):
    """Share a weight equally among some numbers, given as bits, from a first one on."""
    each = weight / max(count_bits(bits), 1)
    while bits != 0:
        weights[first + lowest(bits)] = each
        bits &= bits - 1


@kernel(types.void(BYTES, FLOATS))
def _weigh_turn(state, weights):
    """Weigh what a team may begin with."""
    s = record(state, STATE)
    squad = s.squad
    able = fights = 0
    for slot in range(squad):
        player = 16 * s.side + slot
        if may_start(state, player):
            able |= 1 << slot
            if s.posture[player] == STANDING and faces_opponent(state, player):
                fights |= 1 << slot
    weights[act.END_TURN] = 1.0
    for activity in range(1, 7):
        if not spent(state, activity):
            share(weights, fights if activity == BLOCK else able, act.START + (activity - 1) * squad, 1.0)


@kernel(types.boolean(BYTES, types.int64, types.int64))
def _ball_may_go(state, here, square):
    """Return whether the ball may be kicked to a square, or passed to it from another."""
    if here == 0:
        return in_half(state, 1 - record(state, STATE).kicker, square)
    return 0 < pass_range(state, here, square) < TOO_FAR


@kernel(types.void(BYTES, FLOATS, types.int64))
def _share_balls(state, weights, here):
    """Share a weight equally among the squares of a kick (``here`` is 0), or of a pass."""
    s = record(state, STATE)
    places, first, count = s.width * s.height, act.first_ball_to(state), 0
    for place in range(places):
        count += np.int64(_ball_may_go(state, here, act.square_of(state, place)))
    for place in range(places):
        if _ball_may_go(state, here, act.square_of(state, place)):
            weights[first + place] = 1.0 / count


@kernel()
def _share_steps(state, weights, here, first):
    """Share a weight equally among the empty squares around a square."""
    free = 0
    for direction in range(8):
        free += np.int64(is_empty(state, neighbour(state, here, direction)))
    for direction in range(8):
        square = neighbour(state, here, direction)
        if is_empty(state, square):
            weights[first + act.place_of(state, square)] = 1.0 / free


@kernel(types.void(BYTES, FLOATS, types.int64, types.int64))
def _share_reachable(state, weights, player, first):
    """Share a weight equally among the squares that a player may reach; the end of the weights is work space."""
    s = record(state, STATE)
    rows, height, here = stride(state), s.height, np.int64(s.square[player])
    work = weights.shape[0] - 2 * (height + 2)
    flood(state, player, moves_left(state, player), weights, work)
    count = -1
    for y in range(1, height + 1):
        count += count_bits(np.int64(weights[work + y]))
    for place in range((rows - 2) * height):
        square = act.square_of(state, place)
        if square != here and np.int64(weights[work + square // rows]) >> square % rows & 1:
            weights[first + place] = 1.0 / count
    for i in range(work, weights.shape[0]):
        weights[i] = 0.0


@kernel(types.void(BYTES, FLOATS))
def _weigh_squares(state, weights):
    """Weigh moves and passes of the active player."""
    s = record(state, STATE)
    player = s.active_player
    here, first = np.int64(s.square[player]), act.after(state, act.MOVES)
    if s.activity != BLOCK and moves_left(state, player) > 0:
        if s.paths:
            _share_reachable(state, weights, player, first)
        else:
            _share_steps(state, weights, here, first)
    if s.activity == PASS and s.carrier == player:
        _share_balls(state, weights, here)


@kernel(types.int64(BYTES, types.int64, FLOATS))
def _targets(state, kind, weights):
    """Return whom the active player may act on, as bits, and leave no weight behind."""
    bits = targets(state, kind, weights)
    for i in range(weights.shape[0] - 2 * (record(state, STATE).height + 2), weights.shape[0]):
        weights[i] = 0.0
    return bits


@kernel(types.void(BYTES, FLOATS))
def _weigh_activation(state, weights):
    """Weigh what the active player may do."""
    s = record(state, STATE)
    player = s.active_player
    team = team_of(player)
    weights[act.END_ACTIVATION] = 1.0
    if s.posture[player] != STANDING:
        weights[act.STAND_UP] = 1.0
        return
    if may_block(state, player):
        share(weights, _targets(state, 1 - team, weights), act.after(state, act.BLOCKS), 1.0)
    if s.activity == FOUL:
        share(weights, _targets(state, 3 - team, weights), act.after(state, act.FOULS), 1.0)
    if s.activity == HANDOFF and s.carrier == player:
        share(weights, _targets(state, team, weights), act.after(state, act.HANDOFFS), 1.0)
    _weigh_squares(state, weights)


@kernel(types.void(BYTES, FLOATS))
def _weigh_others(state, weights):
    """Weigh the options of the rarer phases."""
    s = record(state, STATE)
    if s.phase == SETUP:
        count = np.int64(s.formations[formation_kind(state, s.decider)])
        share(weights, (1 << count) - 1, act.FORMATION, count)
    elif s.phase == KICK:
        _share_balls(state, weights, 0)
    elif s.phase == TOUCHBACK:
        share(weights, receivers(state), act.after(state, act.SELECTS), 1.0)
    elif s.phase == REROLL or s.phase == BLOCK_REROLL:
        weights[act.USE_REROLL] = weights[act.DECLINE_REROLL] = 1.0
    elif s.phase == BLOCK_DICE:
        share(weights, s.faces, act.TAKE_DIE, count_bits(s.faces))
        weights[act.USE_REROLL] = 1.0 if offers_other_dice(state) else 0.0
    elif s.phase == PUSH:
        bits = waiting_push(state)
        for way in range(8):
            if bits >> act.direction_of(state, way) & 1:
                weights[act.PUSH + way] = 1.0 / count_bits(bits)
    elif s.phase == FOLLOW_UP:
        weights[act.FOLLOW_UP] = weights[act.STAY] = 0.5
    else:
        task = tasks.top(state)
        bits = interceptors(state, tasks.who(task), tasks.detail(task))
        share(weights, bits, act.after(state, act.SELECTS), 1.0)
        weights[act.NO_INTERCEPTION] = 1.0


@kernel()
def _no_weight(weights):
    for action in range(weights.shape[0]):
        weights[action] = 0.0


@kernel(ADVISE)
def advise_random_types(state, player, weights):
    """Draw a kind of action, each as likely as another, then one of that kind."""
    _no_weight(weights)
    s = record(state, STATE)
    if s.phase == TURN:
        _weigh_turn(state, weights)
    elif s.phase == ACTIVATION:
        _weigh_activation(state, weights)
    else:
        _weigh_others(state, weights)


@kernel(ADVISE)
def advise_random_active(state, player, weights):
    """The same, but end turns and activations only when nothing else is possible."""
    advise_random_types(state, player, weights)
    for end in (act.END_TURN, act.END_ACTIVATION):
        if weights[end] > 0.0:
            weights[end] = 0.0
            other = 0.0
            for action in range(weights.shape[0]):
                other += weights[action]
            if other == 0.0:
                weights[end] = 1.0
