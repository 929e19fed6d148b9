"""Blocks: dice and who chooses among them, pushes and their chains, following up."""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import count_bits, kernel, lowest, record
from mcts_envs.games.football.rules import events, tasks
from mcts_envs.games.football.rules.ball import can_reroll
from mcts_envs.games.football.rules.dice import block_die
from mcts_envs.games.football.rules.field import (
    CLOCKWISE,
    DX,
    DY,
    TURN_OF,
    is_empty,
    is_outside,
    lift,
    move_to,
    neighbour,
    on,
    scores,
    stride,
    team_of,
)
from mcts_envs.games.football.rules.layout import (
    ATTACKER_DOWN,
    BLOCK_DICE,
    BLOCK_REROLL,
    BOTH_DOWN,
    DOWN,
    FOLLOW_UP,
    NOBODY,
    PUSH,
    PUSHED,
    RUNNING,
    STATE,
)
from mcts_envs.games.football.rules.odds import block_strength
from mcts_envs.games.football.rules.tasks import later


@kernel()
def offers_other_dice(state):
    """Return whether the attacker, who chooses the face, may throw the dice again instead."""
    s = record(state, STATE)
    return s.decider == s.side and can_reroll(state)


@kernel(types.void(BYTES, types.int64))
def take_face(state, face):
    """Apply a face of the block dice."""
    s = record(state, STATE)
    attacker, defender = s.active_player, s.defender
    s.defender, s.faces, s.block_dice = NOBODY, 0, 0
    if face <= BOTH_DOWN:
        later(state, tasks.KNOCK_DOWN, attacker, tasks.TURNS_OVER)
        if face != ATTACKER_DOWN:
            later(state, tasks.KNOCK_DOWN, defender, 0)
    else:
        pusher = np.int64(s.square[attacker])
        later(state, tasks.PUSH, defender, pusher + (tasks.KNOCKED if face > PUSHED else 0))


@kernel()
def _skip_choice(state):
    """Take the face of the block dice at once if there is no other."""
    s = record(state, STATE)
    faces = s.faces
    if s.skip_forced and count_bits(faces) == 1 and not offers_other_dice(state):
        s.phase = RUNNING
        take_face(state, lowest(faces))


@kernel()
def let_defender_choose(state):
    """Let the defender's coach choose the face: the attacker declined to throw again."""
    s = record(state, STATE)
    s.phase, s.decider = BLOCK_DICE, team_of(s.defender)
    _skip_choice(state)


@kernel(types.void(BYTES, types.int64, types.int64))
def roll_block(state, defender, unused):
    """Throw the block dice, and ask for a face or for a reroll."""
    s = record(state, STATE)
    attacker = s.active_player
    strength = block_strength(state, attacker, defender)
    events.count(state, events.BLOCKS)
    faces = 0
    for _ in range(abs(strength)):
        faces |= 1 << block_die(state)
    s.defender, s.faces, s.block_dice = defender, faces, abs(strength)
    s.phase, s.decider = BLOCK_DICE, s.side
    if strength < 0:
        if can_reroll(state):
            s.phase = BLOCK_REROLL
        else:
            s.decider = team_of(defender)
    if s.phase == BLOCK_DICE:
        _skip_choice(state)


@kernel(types.void(BYTES, types.int64, types.int64))
def pushed(state, player, how):
    """Move a pushed player; then the attacker may follow up, then he falls, then the ball does what it must."""
    s = record(state, STATE)
    here, square = np.int64(s.square[player]), how & tasks.SQUARE
    if is_outside(state, square):
        lift(state, player)
        if s.carrier == player:
            s.carrier, s.ball = NOBODY, 0
            later(state, tasks.THROW_IN, 0, here)
        later(state, tasks.KNOCK_DOWN, player, tasks.IN_CROWD)
    else:
        loose = s.carrier == NOBODY and s.ball == square
        move_to(state, player, square)
        if how & tasks.KNOCKED:
            later(state, tasks.KNOCK_DOWN, player, 0)
        elif scores(state, player):
            later(state, tasks.TOUCHDOWN, player, 0)
        elif loose:
            later(state, tasks.BOUNCE, 0, 0)
    if how & tasks.CHAINED == 0:
        later(state, tasks.FOLLOW_UP, s.active_player, here)


@kernel(types.int64(BYTES, types.int64, types.int64))
def push_directions(state, pusher, pushed):
    """Return the directions into which a push may go, as bits: squares of the pusher and the pushed player.

    Of the three squares opposite the pusher, those that are free; if none is, those off the pitch; if none is, all.
    """
    rows = stride(state)
    dy, dx = pushed // rows - pusher // rows, pushed % rows - pusher % rows
    free = off = taken = 0
    for direction in range(8):
        if DX[direction] == dx and DY[direction] == dy:
            turn = TURN_OF[direction]
            for side in range(-1, 2):
                way = CLOCKWISE[(turn + side) & 7]
                square = neighbour(state, pushed, way)
                if is_empty(state, square):
                    free |= 1 << way
                elif is_outside(state, square):
                    off |= 1 << way
                else:
                    taken |= 1 << way
    if free != 0:
        return free
    return off if off != 0 else taken


@kernel(types.void(BYTES, types.int64, types.int64, types.int64))
def push_to(state, player, how, direction):
    """Push a player in a direction, after whoever stands there has been pushed away."""
    here = np.int64(record(state, STATE).square[player])
    square = neighbour(state, here, direction)
    later(state, tasks.PUSHED, player, square | (how & (tasks.KNOCKED | tasks.CHAINED)))
    byte = on(state, square)
    events.count(state, events.PUSHED_INTO_CROWD if is_outside(state, square) else events.PUSHED)
    if byte < 2 * DOWN:
        later(state, tasks.PUSH, byte & (DOWN - 1), here | tasks.CHAINED)


@kernel(types.void(BYTES, types.int64, types.int64))
def push(state, player, how):
    """Ask where a player is pushed to, if there is a choice."""
    s = record(state, STATE)
    bits = push_directions(state, how & tasks.SQUARE, np.int64(s.square[player]))
    if s.skip_forced and count_bits(bits) == 1:
        push_to(state, player, how, lowest(bits))
    else:
        later(state, tasks.PUSH, player, how)
        s.phase, s.decider = PUSH, s.side


@kernel()
def ask_to_follow(state, player, square):
    """Ask whether the attacker follows up."""
    s = record(state, STATE)
    later(state, tasks.FOLLOW_UP, player, square)
    s.phase, s.decider = FOLLOW_UP, s.side


@kernel(types.void(BYTES, types.int64, types.int64))
def follow_up(state, player, square):
    """Move the attacker into the square that was left: no dodge, and perhaps a touchdown."""
    events.count(state, events.FOLLOW_UPS)
    move_to(state, player, square)
    if scores(state, player):
        later(state, tasks.TOUCHDOWN, player, 0)
