"""Activations: what a player does in his turn, square by square."""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.rules import events, tasks
from mcts_envs.games.football.rules.ball import offers_reroll
from mcts_envs.games.football.rules.dice import d6
from mcts_envs.games.football.rules.field import (
    ball_lies_on,
    is_empty,
    move_to,
    neighbour,
    on,
    scores,
    set_posture,
    team_of,
    zones_on,
)
from mcts_envs.games.football.rules.layout import (
    ACTIVATION,
    BLITZ,
    BLOCK,
    EMPTY,
    FOUL,
    HANDOFF,
    NO_ACTIVITY,
    NOBODY,
    PASS,
    STANDING,
    STATE,
)
from mcts_envs.games.football.rules.odds import dodge_needs
from mcts_envs.games.football.rules.tasks import later

RUSHES = 2
"""Squares that a player may go for beyond his movement allowance."""


@kernel()
def start(state, player, activity):
    """Begin an activation; what a team may do once a turn is spent."""
    s = record(state, STATE)
    s.active_player, s.activity, s.blocked = player, activity, 0
    if activity == BLITZ:
        s.blitz_used = 1
    elif activity == PASS:
        s.pass_used = 1
    elif activity == HANDOFF:
        s.handoff_used = 1
    elif activity == FOUL:
        s.foul_used = 1


@kernel(types.void(BYTES, types.int64, types.int64))
def end_activation(state, player, unused):
    """End a player's activation for this turn."""
    s = record(state, STATE)
    s.used[player], s.moved[player] = 1, 0
    s.active_player, s.activity, s.blocked = NOBODY, NO_ACTIVITY, 0


@kernel()
def moves_left(state, player):
    """Return how many squares a player may still go, with rushes."""
    s = record(state, STATE)
    return np.int64(s.ma[player]) + RUSHES - np.int64(s.moved[player])


@kernel()
def may_block(state, player):
    """Return whether the active player may block now, if an opponent stands next to him."""
    s = record(state, STATE)
    if s.activity == BLITZ:
        return s.blocked == 0 and moves_left(state, player) > 0
    return s.activity == BLOCK


@kernel(types.boolean(BYTES))
def has_options(state):
    """Return whether the active player can do more than end his activation."""
    s = record(state, STATE)
    player = s.active_player
    if s.posture[player] != STANDING:
        return True
    if s.activity == PASS and s.carrier == player:
        return True
    team = team_of(player)
    walks = s.activity != BLOCK and moves_left(state, player) > 0
    here = np.int64(s.square[player])
    blocks, fouls = may_block(state, player), s.activity == FOUL
    hands = s.activity == HANDOFF and s.carrier == player
    for direction in range(8):
        byte = on(state, neighbour(state, here, direction))
        kind = byte >> 4
        if (
            (walks and byte == EMPTY)
            or (blocks and kind == 1 - team)
            or (fouls and kind == 3 - team)
            or (hands and kind == team)
        ):
            return True
    return False


@kernel()
def next_option(state):
    """Ask what the active player does; if nothing is left, his activation ends by itself."""
    s = record(state, STATE)
    if has_options(state):
        s.phase, s.decider = ACTIVATION, s.side
    else:
        end_activation(state, s.active_player, 0)


@kernel(types.void(BYTES, types.int64, types.int64))
def arrive(state, player, square):
    """Arrive on a square: with the ball it may be a touchdown, a loose ball must be picked up."""
    loose = ball_lies_on(state, square)
    move_to(state, player, square)
    if loose:
        later(state, tasks.PICK_UP, player, square)
    elif scores(state, player):
        later(state, tasks.TOUCHDOWN, player, 0)


@kernel(types.void(BYTES, types.int64))
def step_to(state, square):
    """Move the active player to the next square: a rush first, then a dodge, if he must."""
    s = record(state, STATE)
    player = s.active_player
    rushes = s.moved[player] >= s.ma[player]
    dodges = zones_on(state, player) > 0
    s.moved[player] += np.uint8(1)
    if not rushes and not dodges:
        arrive(state, player, square)
        return
    later(state, tasks.ARRIVE, player, square)
    if dodges:
        later(state, tasks.DODGE, player, square)
    if rushes:
        later(state, tasks.RUSH, player, square)


@kernel(types.void(BYTES, types.int64, types.int64))
def trip(state, player, square):
    """Fall in the square that was to be reached."""
    if is_empty(state, square):
        move_to(state, player, square)
    later(state, tasks.KNOCK_DOWN, player, tasks.TURNS_OVER)


@kernel(types.void(BYTES, types.int64, types.int64))
def rush(state, player, square):
    """Roll for a square beyond the movement allowance."""
    if d6(state) >= 2:
        events.count(state, events.RUSHES)
        return
    events.count(state, events.RUSHES_FAILED)
    if not offers_reroll(state, tasks.RUSH, player, square):
        trip(state, player, square)


@kernel(types.void(BYTES, types.int64, types.int64))
def dodge(state, player, square):
    """Roll to leave a tackle zone."""
    if d6(state) >= dodge_needs(state, player, square):
        events.count(state, events.DODGES)
        return
    events.count(state, events.DODGES_FAILED)
    if not offers_reroll(state, tasks.DODGE, player, square):
        trip(state, player, square)


@kernel(types.void(BYTES, types.int64, types.int64))
def stand_up(state, player, unused):
    """Stand up; a player with a movement allowance below 3 rolls for it."""
    s = record(state, STATE)
    if s.ma[player] < 3 and d6(state) < 4:
        if not offers_reroll(state, tasks.STAND_UP, player, 0):
            later(state, tasks.END_ACTIVATION, player, 0)
        return
    events.count(state, events.STAND_UPS)
    set_posture(state, player, STANDING)


@kernel()
def try_to_stand_up(state):
    """Spend the movement for standing up, 3 or all there is, and try."""
    s = record(state, STATE)
    player = s.active_player
    s.moved[player] += np.uint8(min(np.int64(s.ma[player]), 3))
    later(state, tasks.STAND_UP, player, 0)


@kernel()
def block_somebody(state, defender):
    """Block; in a blitz it costs a square, perhaps a rush, and the player may go on."""
    s = record(state, STATE)
    player = s.active_player
    if s.activity == BLOCK:
        later(state, tasks.END_ACTIVATION, player, 0)
        later(state, tasks.BLOCK, defender, 0)
        return
    rushes = s.moved[player] >= s.ma[player]
    s.moved[player] += np.uint8(1)
    s.blocked = 1
    later(state, tasks.BLOCK, defender, 0)
    if rushes:
        later(state, tasks.RUSH, player, np.int64(s.square[player]))


@kernel()
def pass_to(state, square):
    """Throw the ball; the activation is over after it."""
    s = record(state, STATE)
    player = s.active_player
    s.carrier = NOBODY
    later(state, tasks.END_ACTIVATION, player, 0)
    later(state, tasks.PASS, player, square)
    later(state, tasks.INTERCEPTION, player, square)


@kernel()
def hand_to(state, catcher):
    """Hand the ball over to a team-mate."""
    s = record(state, STATE)
    events.count(state, events.HANDOFFS)
    later(state, tasks.END_ACTIVATION, s.active_player, 0)
    later(state, tasks.POSSESSION, 0, 0)
    later(state, tasks.CATCH, catcher, tasks.BONUS)
    s.carrier, s.ball = NOBODY, s.square[catcher]


@kernel()
def foul_somebody(state, victim):
    """Foul an opponent on the ground; the activation is over after it."""
    later(state, tasks.END_ACTIVATION, record(state, STATE).active_player, 0)
    later(state, tasks.FOUL, victim, 0)


@kernel(types.void(BYTES, types.int64))
def strike(state, other):
    """Do to a player next to him what the active player was chosen for: block, foul, or hand the ball over."""
    s = record(state, STATE)
    if s.activity == FOUL:
        foul_somebody(state, other)
    elif s.activity == HANDOFF:
        hand_to(state, other)
    else:
        block_somebody(state, other)


@kernel(types.void(BYTES, types.int64, types.int64))
def arrive_and_strike(state, other, unused):
    """Strike at the end of a walk, unless a touchdown, a fall or a lost ball came between."""
    s = record(state, STATE)
    if s.activity != HANDOFF or s.carrier == s.active_player:
        strike(state, other)
