"""Legal actions, phase by phase, in ascending order."""

import numpy as np

from mcts_envs.core.contract import BYTES, INTS, LEGAL, types
from mcts_envs.core.kernel import kernel, lowest, record
from mcts_envs.games.football.rules import actions as act
from mcts_envs.games.football.rules import tasks
from mcts_envs.games.football.rules.activation import may_block, moves_left
from mcts_envs.games.football.rules.ball import interceptors
from mcts_envs.games.football.rules.block import offers_other_dice, push_directions
from mcts_envs.games.football.rules.field import DX, DY, in_half, is_empty, neighbour, on, stride, team_of
from mcts_envs.games.football.rules.layout import (
    ACTIVATION,
    BLITZ,
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
    STUNNED,
    TOUCHBACK,
    TURN,
)
from mcts_envs.games.football.rules.match import formation_kind, receivers
from mcts_envs.games.football.rules.odds import TOO_FAR, pass_range
from mcts_envs.games.football.rules.paths import flood, list_reachable, near_reachable, spare_moves


@kernel(types.boolean(BYTES, types.int64))
def faces_opponent(state, player):
    """Return whether an opponent stands next to a player."""
    here, other = np.int64(record(state, STATE).square[player]), 1 - team_of(player)
    rows = stride(state)
    for middle in (here - rows, here, here + rows):
        if (
            on(state, middle - 1) >> 4 == other
            or on(state, middle) >> 4 == other
            or on(state, middle + 1) >> 4 == other
        ):
            return True
    return False


@kernel()
def may_start(state, player):
    """Return whether a player may be activated in this turn."""
    s = record(state, STATE)
    return s.square[player] > 0 and s.used[player] == 0 and s.posture[player] != STUNNED


@kernel()
def spent(state, activity):
    """Return whether an activity that is allowed once a turn has been chosen already."""
    s = record(state, STATE)
    if activity == BLITZ:
        return s.blitz_used != 0
    if activity == PASS:
        return s.pass_used != 0
    if activity == HANDOFF:
        return s.handoff_used != 0
    return activity == FOUL and s.foul_used != 0


@kernel(types.int64(BYTES, INTS))
def _list_turn(state, actions):
    """List the end of the turn, and for each activity the players who may begin it."""
    s = record(state, STATE)
    squad, first = s.squad, 16 * s.side
    able = fights = 0
    for slot in range(squad):
        player = first + slot
        if may_start(state, player):
            able |= 1 << slot
            if s.posture[player] == STANDING and faces_opponent(state, player):
                fights |= 1 << slot
    actions[0] = act.END_TURN
    count = 1
    for activity in range(1, 7):
        bits = fights if activity == BLOCK else able
        if spent(state, activity):
            bits = 0
        base = act.START + (activity - 1) * squad
        while bits != 0:
            actions[count] = base + lowest(bits)
            count += 1
            bits &= bits - 1
    return count


@kernel()
def _list_moves(state, here, actions, count):
    """List the empty squares around a square."""
    base = act.after(state, act.MOVES)
    place, width = act.place_of(state, here), record(state, STATE).width
    mirrored = act.is_mirrored(state)
    for way in range(8):
        square = neighbour(state, here, act.MIRRORED[way] if mirrored else way)
        actions[count] = base + place + DY[way] * width + DX[way]
        count += np.int64(is_empty(state, square))
    return count


@kernel(types.int64(BYTES, types.int64))
def slots_around(state, kind):
    """Return the slots of those next to the active player whose byte of the board is of a kind, as bits."""
    s = record(state, STATE)
    here = np.int64(s.square[s.active_player])
    bits = 0
    for direction in range(8):
        byte = on(state, neighbour(state, here, direction))
        if byte >> 4 == kind:
            bits |= 1 << (byte & 15)
    return bits


@kernel()
def targets(state, kind, rows):
    """Return the slots of those of a kind whom the active player may act on, as bits; the end of ``rows`` is scratched.

    That is who is next to him, in path mode who is after a walk.
    """
    s = record(state, STATE)
    player = s.active_player
    bits = slots_around(state, kind)
    if s.paths and s.activity != BLOCK:
        first = rows.shape[0] - 2 * (s.height + 2)
        flood(state, player, spare_moves(state, player, s.activity), rows, first)
        bits |= near_reachable(state, player, kind, rows, first)
    return bits


@kernel()
def _list_bits(bits, base, actions, count):
    """List a number for each bit."""
    while bits != 0:
        actions[count] = base + lowest(bits)
        count += 1
        bits &= bits - 1
    return count


@kernel(types.int64(BYTES, types.int64, INTS, types.int64, types.int64))
def _list_targets(state, kind, actions, base, count):
    """List those of a kind whom the active player may act on."""
    return _list_bits(targets(state, kind, actions), base, actions, count)


@kernel(types.int64(BYTES, types.int64, INTS, types.int64))
def _list_passes(state, here, actions, count):
    """List the squares in range of a pass."""
    s = record(state, STATE)
    base = act.first_ball_to(state)
    for place in range(s.width * s.height):
        square = act.square_of(state, place)
        if 0 < pass_range(state, here, square) < TOO_FAR:
            actions[count] = base + place
            count += 1
    return count


@kernel(types.int64(BYTES, INTS))
def _list_activation(state, actions):
    """List what the active player may do next."""
    s = record(state, STATE)
    player = s.active_player
    here, team = np.int64(s.square[player]), team_of(player)
    actions[0] = act.END_ACTIVATION
    count = 1
    if s.posture[player] != STANDING:
        actions[1] = act.STAND_UP
        return 2
    has_ball = s.carrier == player
    if may_block(state, player):
        count = _list_targets(state, 1 - team, actions, act.after(state, act.BLOCKS), count)
    if s.activity == FOUL:
        count = _list_targets(state, 3 - team, actions, act.after(state, act.FOULS), count)
    if s.activity == HANDOFF and has_ball:
        count = _list_targets(state, team, actions, act.after(state, act.HANDOFFS), count)
    if s.activity != BLOCK and moves_left(state, player) > 0:
        if s.paths:
            count = list_reachable(state, player, actions, count)
        else:
            count = _list_moves(state, here, actions, count)
    if s.activity == PASS and has_ball:
        count = _list_passes(state, here, actions, count)
    return count


@kernel(types.int64(BYTES, INTS))
def _list_kicks(state, actions):
    """List the squares of the receiving half."""
    s = record(state, STATE)
    width, base, count = s.width, act.first_ball_to(state), 0
    for place in range(width * s.height):
        if in_half(state, 1 - s.kicker, act.square_of(state, place)):
            actions[count] = base + place
            count += 1
    return count


@kernel()
def waiting_push(state):
    """Return the directions among which the pending push chooses, as bits."""
    task = tasks.top(state)
    return push_directions(
        state, tasks.detail(task) & tasks.SQUARE, np.int64(record(state, STATE).square[tasks.who(task)])
    )


@kernel()
def _list_pushes(state, actions):
    bits, count = waiting_push(state), 0
    for way in range(8):
        if bits >> act.direction_of(state, way) & 1:
            actions[count] = act.PUSH + way
            count += 1
    return count


@kernel(types.int64(BYTES, INTS))
def _list_others(state, actions):
    """List the options of the rarer phases."""
    s = record(state, STATE)
    if s.phase == SETUP:
        return _list_bits(
            (1 << np.int64(s.formations[formation_kind(state, s.decider)])) - 1, act.FORMATION, actions, 0
        )
    if s.phase == KICK:
        return _list_kicks(state, actions)
    if s.phase == TOUCHBACK:
        return _list_bits(receivers(state), act.after(state, act.SELECTS), actions, 0)
    if s.phase == REROLL or s.phase == BLOCK_REROLL:
        actions[0], actions[1] = act.USE_REROLL, act.DECLINE_REROLL
        return 2
    if s.phase == BLOCK_DICE:
        actions[0] = act.USE_REROLL
        return _list_bits(s.faces, act.TAKE_DIE, actions, np.int64(offers_other_dice(state)))
    if s.phase == PUSH:
        return _list_pushes(state, actions)
    if s.phase == FOLLOW_UP:
        actions[0], actions[1] = act.FOLLOW_UP, act.STAY
        return 2
    task = tasks.top(state)
    actions[0] = act.NO_INTERCEPTION
    return _list_bits(
        interceptors(state, tasks.who(task), tasks.detail(task)), act.after(state, act.SELECTS), actions, 1
    )


@kernel(LEGAL)
def legal(state, player, actions):
    """List what the team to decide may do, in ascending order; what is listed is never empty before the end."""
    s = record(state, STATE)
    if s.phase == TURN:
        return _list_turn(state, actions)
    if s.phase == ACTIVATION:
        return _list_activation(state, actions)
    return _list_others(state, actions)
