"""Whether one action is legal, without listing them all.

In path mode a square to which there is no way passes here: such a move ends the activation, as does an illegal action.
"""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.rules import actions as act
from mcts_envs.games.football.rules import activation, block, tasks
from mcts_envs.games.football.rules.ball import interceptors
from mcts_envs.games.football.rules.field import distance, in_half, is_empty
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
from mcts_envs.games.football.rules.legal import faces_opponent, may_start, spent, waiting_push
from mcts_envs.games.football.rules.match import formation_kind, receivers
from mcts_envs.games.football.rules.odds import TOO_FAR, pass_range
from mcts_envs.games.football.rules.paths import spare_moves


@kernel()
def kind_of(state, action):
    """Return which squad of numbers an action is in; MOVES for all squares."""
    squad = record(state, STATE).squad
    return (action - act.START) // squad if action < act.START + act.MOVES * squad else act.MOVES


@kernel()
def slot_of(state, action):
    """Return the slot that an action names."""
    return (action - act.START) % record(state, STATE).squad


@kernel(types.boolean(BYTES, types.int64))
def _is_start(state, action):
    """Return whether an action of a turn is legal."""
    s = record(state, STATE)
    if action == act.END_TURN:
        return True
    if action < act.START or action >= act.after(state, 6):
        return False
    activity = kind_of(state, action) + 1
    player = 16 * s.side + slot_of(state, action)
    if not may_start(state, player) or spent(state, activity):
        return False
    return activity != BLOCK or (s.posture[player] == STANDING and faces_opponent(state, player))


@kernel()
def is_next_to(state, player):
    """Return whether a player is next to the active one."""
    s = record(state, STATE)
    here, there = np.int64(s.square[s.active_player]), np.int64(s.square[player])
    return there > 0 and distance(state, here, there) == 1


@kernel()
def _in_reach(state, player):
    """Return whether the active player may act on another: next to him, or in path mode not too far away."""
    s = record(state, STATE)
    active, there = s.active_player, np.int64(s.square[player])
    if s.paths == 0 or s.activity == BLOCK:
        return is_next_to(state, player)
    moves = 1 + spare_moves(state, active, s.activity)
    return there > 0 and player != active and distance(state, np.int64(s.square[active]), there) <= max(moves, 1)


@kernel(types.boolean(BYTES, types.int64))
def _is_deed(state, action):
    """Return whether an action of an activation is legal."""
    s = record(state, STATE)
    player = s.active_player
    if action == act.END_ACTIVATION:
        return True
    if s.posture[player] != STANDING:
        return action == act.STAND_UP
    if action < act.after(state, act.BLOCKS):
        return False
    here, team, has_ball = np.int64(s.square[player]), s.side, s.carrier == player
    kind, slot = kind_of(state, action), slot_of(state, action)
    other = 16 * (1 - team) + slot
    if kind == act.BLOCKS:
        return activation.may_block(state, player) and s.posture[other] == STANDING and _in_reach(state, other)
    if kind == act.FOULS:
        return s.activity == FOUL and s.posture[other] != STANDING and _in_reach(state, other)
    if kind == act.HANDOFFS:
        mate = 16 * team + slot
        return s.activity == HANDOFF and has_ball and s.posture[mate] == STANDING and _in_reach(state, mate)
    if kind == act.SELECTS:
        return False
    if action < act.first_ball_to(state):
        square = act.square_of(state, action - act.after(state, act.MOVES))
        walks = s.activity != BLOCK and activation.moves_left(state, player) > 0
        reach = activation.moves_left(state, player) if s.paths else 1
        return walks and is_empty(state, square) and distance(state, here, square) <= reach
    reach = pass_range(state, here, act.square_of(state, action - act.first_ball_to(state)))
    return s.activity == PASS and has_ball and 0 < reach < TOO_FAR


@kernel()
def _names(state, bits, action, first):
    """Return whether an action is one of some numbers, given as bits, from a first one on."""
    return first <= action < first + 16 and bits >> (action - first) & 1 != 0


@kernel(types.boolean(BYTES, types.int64))
def _is_answer(state, action):
    """Return whether an action is legal in one of the rarer phases."""
    s = record(state, STATE)
    if s.phase == SETUP:
        kinds = np.int64(s.formations[formation_kind(state, s.decider)])
        return act.FORMATION <= action < act.FORMATION + kinds
    if s.phase == KICK:
        place = action - act.first_ball_to(state)
        return place >= 0 and in_half(state, 1 - s.kicker, act.square_of(state, place))
    if s.phase == TOUCHBACK:
        return _names(state, receivers(state), action, act.after(state, act.SELECTS))
    if s.phase == REROLL or s.phase == BLOCK_REROLL:
        return action == act.USE_REROLL or action == act.DECLINE_REROLL
    if s.phase == BLOCK_DICE:
        if action == act.USE_REROLL:
            return block.offers_other_dice(state)
        return _names(state, s.faces, action, act.TAKE_DIE)
    if s.phase == PUSH:
        if action < act.PUSH or action >= act.FORMATION:
            return False
        return waiting_push(state) >> act.direction_of(state, action - act.PUSH) & 1 != 0
    if s.phase == FOLLOW_UP:
        return action == act.FOLLOW_UP or action == act.STAY
    task = tasks.top(state)
    bits = interceptors(state, tasks.who(task), tasks.detail(task))
    return action == act.NO_INTERCEPTION or _names(state, bits, action, act.after(state, act.SELECTS))


@kernel(types.boolean(BYTES, types.int64))
def is_legal(state, action):
    """Return whether the team to decide may take an action."""
    s = record(state, STATE)
    if s.phase == TURN:
        return _is_start(state, action)
    if s.phase == ACTIVATION:
        return _is_deed(state, action)
    return _is_answer(state, action)
