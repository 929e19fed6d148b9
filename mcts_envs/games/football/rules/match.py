"""The match: halves, kick-offs, turns, touchdowns."""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import count_bits, kernel, lowest, record
from mcts_envs.core.rng import below
from mcts_envs.games.football.rules import events, tasks
from mcts_envs.games.football.rules.ball import land_on
from mcts_envs.games.football.rules.dice import d6, d8, die_of
from mcts_envs.games.football.rules.fall import retire
from mcts_envs.games.football.rules.field import HOME, in_half, neighbour, put, square_at, team_of
from mcts_envs.games.football.rules.layout import (
    KICK,
    KNOCKED_OUT,
    NO_ACTIVITY,
    NO_TEAM,
    NOBODY,
    ON_PITCH,
    OVER,
    PRONE,
    RESERVES,
    SETUP,
    STANDING,
    STATE,
    STUNNED,
    THROWER,
    TOUCHBACK,
)
from mcts_envs.games.football.rules.tasks import drop_all, later


@kernel()
def kicks_first(state, half):
    """Return the team that kicks off a half, 1 the first."""
    opening = record(state, STATE).opening_kicker
    return opening if half % 2 == 1 else 1 - opening


@kernel()
def plan_kickoff(state, kicker):
    """Plan set-ups and kick: the kicking side sets up first."""
    record(state, STATE).kicker = kicker
    later(state, tasks.KICK, kicker, 0)
    later(state, tasks.SETUP, 1 - kicker, 0)
    later(state, tasks.SETUP, kicker, 0)


@kernel()
def begin_half(state, half):
    """Plan a half: knocked-out players recover first, except before the first half."""
    s = record(state, STATE)
    s.half = half
    kicker = kicks_first(state, half)
    plan_kickoff(state, kicker)
    later(state, tasks.START_HALF, 0, 0)
    later(state, tasks.CLEAR_PITCH, 0, 0)
    if half > 1:
        later(state, tasks.RECOVER, kicker, 0)
        later(state, tasks.RECOVER, 1 - kicker, 0)


@kernel(types.void(BYTES, types.int64, types.int64))
def start_half(state, who, unused):
    """Refill the rerolls and count turns from 0."""
    s = record(state, STATE)
    for team in range(2):
        s.rerolls[team], s.turn[team] = s.stock, 0


@kernel(types.void(BYTES, types.int64, types.int64))
def clear_pitch(state, who, unused):
    """Take everybody from the pitch into the reserves, marked as used: others play first in the next drive.

    So too who is in the crowd, unhurt, since a touchdown by who pushed him there ended the turn.
    """
    s = record(state, STATE)
    s.ball, s.carrier = 0, NOBODY
    for team in range(2):
        for player in range(16 * team, 16 * team + np.int64(s.members[team])):
            if s.box[player] == ON_PITCH:
                retire(state, player, RESERVES)
                s.used[player] = 1


@kernel(types.void(BYTES, types.int64, types.int64))
def recover(state, team, unused):
    """Roll for each knocked-out player of a team: with 4 or more he is back."""
    s = record(state, STATE)
    for slot in range(s.squad):
        player = 16 * team + slot
        if s.box[player] == KNOCKED_OUT:
            if d6(state) >= 4:
                events.count(state, events.RECOVERED)
                s.box[player] = RESERVES
            else:
                events.count(state, events.NOT_RECOVERED)


@kernel()
def formation_kind(state, team):
    """Return which formations a team chooses from: 0 for the kicking side, 1 for the receiving."""
    return np.int64(team != record(state, STATE).kicker)


@kernel()
def _fits_better(state, player, other, deep):
    """Return whether a player suits a place better than another: strength first, or a thrower for a deep place."""
    s = record(state, STATE)
    if other == NOBODY:
        return True
    if deep:
        return s.role[player] == THROWER and s.role[other] != THROWER
    mine = 16 * np.int64(s.st[player]) + np.int64(s.av[player])
    return mine > 16 * np.int64(s.st[other]) + np.int64(s.av[other])


@kernel()
def _best_of(state, team, chosen, deep):
    """Return which of some reserves suits a place best; the one with the lowest number among equals."""
    best = NOBODY
    while chosen != 0:
        player = 16 * team + lowest(chosen)
        if _fits_better(state, player, best, deep):
            best = player
        chosen &= chosen - 1
    return best


@kernel()
def _chosen(state, team):
    """Return who is to play, as bits: reserves who sat out the drive before, then others, in the order of the squad."""
    s = record(state, STATE)
    bits = 0
    for played in range(2):
        for slot in range(np.int64(s.members[team])):
            player = 16 * team + slot
            if s.box[player] == RESERVES and s.used[player] == played and count_bits(bits) < s.fielded:
                bits |= 1 << slot
    return bits


@kernel(types.int64(BYTES, types.int64, types.int64, types.int64, types.int64))
def _line_up_at(state, chosen, team, index, place):
    """Put the one of the chosen who suits it best on a place of a formation; return those who are left."""
    s = record(state, STATE)
    kind = formation_kind(state, team)
    player = _best_of(state, team, chosen, place == s.deep[kind, index])
    forward, y = np.int64(s.places[kind, index, place, 0]), np.int64(s.places[kind, index, place, 1])
    s.box[player] = ON_PITCH
    put(state, player, square_at(state, s.width + 1 - forward if team == HOME else forward, y))
    return chosen & ~(1 << (player & 15))


@kernel(types.void(BYTES, types.int64, types.int64))
def line_up(state, team, index):
    """Set a team up in a formation: the thrower deep, then the strongest first; late places may stay empty."""
    s = record(state, STATE)
    chosen = _chosen(state, team)
    able = count_bits(chosen)
    deep = np.int64(s.deep[formation_kind(state, team), index])
    if deep < able:
        chosen = _line_up_at(state, chosen, team, index, deep)
    for place in range(able):
        if place != deep:
            chosen = _line_up_at(state, chosen, team, index, place)
    for player in range(16 * team, 16 * team + 16):
        s.used[player] = 0


@kernel(types.void(BYTES, types.int64, types.int64))
def setup(state, team, unused):
    """Ask for a formation, if there is a choice."""
    s = record(state, STATE)
    if s.skip_forced and s.formations[formation_kind(state, team)] == 1:
        line_up(state, team, 0)
    else:
        later(state, tasks.SETUP, team, 0)
        s.phase, s.decider = SETUP, team


@kernel()
def ask_to_kick(state, team):
    """Ask the kicking coach for a square."""
    s = record(state, STATE)
    later(state, tasks.KICK, team, 0)
    s.phase, s.decider = KICK, team


@kernel(types.void(BYTES, types.int64))
def kick(state, square):
    """Kick the ball to a square: it scatters, and must come down in the receiving half."""
    s = record(state, STATE)
    receiver = 1 - s.kicker
    if s.kick_die > 0:
        direction = d8(state) - 1
        for _ in range(die_of(state, s.kick_die)):
            square = neighbour(state, square, direction)
            if not in_half(state, receiver, square):
                later(state, tasks.TOUCHBACK, 0, 0)
                return
    s.ball = square
    land_on(state, square, tasks.KICKED)


@kernel()
def receivers(state):
    """Return the slots of those who may have the ball after a touchback, who stand, as bits."""
    s = record(state, STATE)
    team = 1 - s.kicker
    bits = 0
    for slot in range(s.squad):
        if s.square[16 * team + slot] > 0 and s.posture[16 * team + slot] == STANDING:
            bits |= 1 << slot
    return bits


@kernel()
def give_to(state, player):
    """Give a player the ball after a touchback."""
    s = record(state, STATE)
    s.ball, s.carrier = s.square[player], player


@kernel()
def drop_in_half(state):
    """Without anybody to receive it, the ball lies on a random square of the receiving half after a touchback."""
    s = record(state, STATE)
    half = s.width // 2
    place = below(state, half * s.height)
    x = place % half + 1 + (half if s.kicker != HOME else 0)
    s.ball = square_at(state, x, place // half + 1)


@kernel(types.void(BYTES, types.int64, types.int64))
def touchback(state, who, unused):
    """Let the receiving coach give the ball to a player, if there is a choice."""
    s = record(state, STATE)
    events.count(state, events.TOUCHBACKS)
    s.ball = 0
    bits = receivers(state)
    if bits == 0:
        drop_in_half(state)
    elif s.skip_forced and count_bits(bits) == 1:
        give_to(state, 16 * (1 - s.kicker) + lowest(bits))
    else:
        s.phase, s.decider = TOUCHBACK, 1 - s.kicker


@kernel(types.void(BYTES, types.int64))
def start_turn(state, team):
    """Begin a turn: those who were stunned turn over, and are not used in it."""
    s = record(state, STATE)
    events.count(state, events.TURNS)
    s.side = team
    s.turn[team] += np.uint8(1)
    for slot in range(s.squad):
        player = 16 * team + slot
        if s.posture[player] == STUNNED:
            s.posture[player], s.used[player] = PRONE, 1


@kernel()
def next_turn(state):
    """Begin the next turn of the half, the next half, or end the game."""
    s = record(state, STATE)
    kicker = kicks_first(state, s.half)
    team = 1 - kicker if s.turn[0] == s.turn[1] else kicker
    if s.turn[team] < s.turns_a_half:
        start_turn(state, team)
    elif s.half < s.halves:
        begin_half(state, s.half + 1)
    else:
        s.phase, s.decider = OVER, NO_TEAM


@kernel(types.void(BYTES))
def end_turn(state):
    """End the turn; whatever was still to happen in it does not."""
    s = record(state, STATE)
    drop_all(state)
    for slot in range(s.squad):
        player = 16 * s.side + slot
        s.used[player], s.moved[player] = 0, 0
    s.side = NO_TEAM
    s.active_player, s.activity, s.blocked = NOBODY, NO_ACTIVITY, 0
    s.blitz_used, s.pass_used, s.handoff_used, s.foul_used, s.reroll_used = 0, 0, 0, 0, 0


@kernel()
def turnover(state):
    """End the turn before its time."""
    events.count(state, events.TURNOVERS)
    end_turn(state)


@kernel(types.void(BYTES, types.int64, types.int64))
def touchdown(state, player, unused):
    """Score, end the turn, and kick off again if the other team has a turn left in this half."""
    s = record(state, STATE)
    events.count(state, events.TOUCHDOWNS)
    team, other = team_of(player), 1 - s.side
    s.score[team] += np.uint8(1)
    end_turn(state)
    if s.turn[other] < s.turns_a_half:
        plan_kickoff(state, team)
        later(state, tasks.RECOVER, 0, 0)
        later(state, tasks.RECOVER, 1, 0)
        later(state, tasks.CLEAR_PITCH, 0, 0)
