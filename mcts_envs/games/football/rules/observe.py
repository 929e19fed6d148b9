"""Observations: planes of the pitch and some numbers, as the observer sees them."""

import numpy as np

from mcts_envs.core.contract import BYTES, OBSERVE, SINGLES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.rules import tasks
from mcts_envs.games.football.rules.layout import (
    FOLLOW_UP,
    HOME,
    INTERCEPTION,
    KNOCKED_OUT,
    NO_TEAM,
    NOBODY,
    OVER,
    PUSH,
    REROLL,
    RESERVES,
    STANDING,
    STATE,
    STUNNED,
)

PLANES = 24
NUMBERS = 53
_OWN, _OTHER = 0, 7
_PER_TEAM = 7
_ROLLS = np.array([tasks.RUSH, tasks.DODGE, tasks.PICK_UP, tasks.CATCH, tasks.PASS, tasks.STAND_UP], np.int64)
"""What may be thrown again, in this order."""


@kernel()
def _place(state, square, mirrored):
    """Return the number of a square of the pitch, as the observer sees it."""
    width = record(state, STATE).width
    y, x = square // (width + 2), square % (width + 2)
    return (y - 1) * width + (width - x if mirrored else x - 1)


@kernel(types.void(BYTES, types.int64, types.boolean, SINGLES))
def _write_players(state, player, mirrored, out):
    """Write where players of both teams stand, lie, are stunned or used; movement left, strength, agility, armour."""
    s = record(state, STATE)
    cells = s.width * s.height
    for side in range(2):
        first = _OWN if side == 0 else _OTHER
        team = player if side == 0 else 1 - player
        for number in range(16 * team, 16 * team + 16):
            if s.square[number] > 0:
                at = _place(state, np.int64(s.square[number]), mirrored)
                posture = np.int64(s.posture[number])
                out[first * cells + at] = 1.0 if posture == STANDING else 0.5
                out[(first + 1) * cells + at] = posture == STUNNED
                out[(first + 2) * cells + at] = s.used[number] != 0
                left = np.int64(s.ma[number]) + 2 - np.int64(s.moved[number])
                out[(first + 3) * cells + at] = np.float32(max(left, 0) / 12)
                out[(first + 4) * cells + at] = np.float32(np.int64(s.st[number]) / 12)
                out[(first + 5) * cells + at] = np.float32(np.int64(s.ag[number]) / 12)
                out[(first + 6) * cells + at] = np.float32(np.int64(s.av[number]) / 12)


@kernel(types.void(BYTES, types.int64, types.boolean, SINGLES, types.int64))
def _write_zones(state, team, mirrored, out, first):
    """Write how many tackle zones of a team cover each square, in eighths."""
    s = record(state, STATE)
    width, height = s.width, s.height
    for number in range(16 * team, 16 * team + 16):
        if s.square[number] > 0 and s.posture[number] == STANDING:
            at = _place(state, np.int64(s.square[number]), mirrored)
            x, y = at % width, at // width
            for row in range(max(y - 1, 0), min(y + 1, height - 1) + 1):
                for column in range(max(x - 1, 0), min(x + 1, width - 1) + 1):
                    out[first + row * width + column] += np.float32(0.125)
            out[first + at] -= np.float32(0.125)


@kernel(types.void(BYTES, types.int64, types.boolean, SINGLES))
def _write_pitch(state, player, mirrored, out):
    """Write tackle zones, the ball, the active player and the defender, and both end zones."""
    s = record(state, STATE)
    width, height = s.width, s.height
    cells, first = width * height, 2 * _PER_TEAM
    _write_zones(state, player, mirrored, out, first * cells)
    _write_zones(state, 1 - player, mirrored, out, (first + 1) * cells)
    left = (player == HOME) != mirrored
    scored_in, defended = (first + 6) * cells, (first + 7) * cells
    for row in range(height):
        out[scored_in + row * width + (0 if left else width - 1)] = 1.0
        out[defended + row * width + (width - 1 if left else 0)] = 1.0
    if s.ball > 0:
        at = _place(state, s.ball, mirrored)
        out[(first + 2) * cells + at] = 1.0
        out[(first + 3) * cells + at] = s.carrier != NOBODY
    for plane, number in ((4, s.active_player), (5, s.defender)):
        if number != NOBODY and s.square[number] > 0:
            out[(first + plane) * cells + _place(state, np.int64(s.square[number]), mirrored)] = 1.0


@kernel()
def _awaited(state):
    """Return the task that waits for this decision if it is about a player: a roll, push or throw; else -1."""
    phase = record(state, STATE).phase
    about = phase in (REROLL, PUSH, FOLLOW_UP, INTERCEPTION)
    return tasks.top(state) if about else np.int64(-1)


@kernel(types.void(BYTES, types.int64, types.boolean, SINGLES))
def _write_awaited(state, first, mirrored, out):
    """Write whom the decision is about, and the square: where he goes, stays or throws, or his pusher stands."""
    s = record(state, STATE)
    task = _awaited(state)
    if task < 0:
        return
    cells = s.width * s.height
    who = np.int64(s.square[tasks.who(task)])
    if who > 0:
        out[first * cells + _place(state, who, mirrored)] = 1.0
    kind = tasks.what(task)
    square = tasks.detail(task) & tasks.SQUARE if kind != tasks.CATCH and kind != tasks.STAND_UP else 0
    if square > 0:
        out[(first + 1) * cells + _place(state, square, mirrored)] = 1.0


@kernel()
def _roll_again(state):
    """Return which of the rolls may be thrown again, by its index; -1 for none."""
    if record(state, STATE).phase == REROLL:
        for index in range(len(_ROLLS)):
            if _ROLLS[index] == tasks.what(tasks.top(state)):
                return index
    return -1


@kernel()
def _will_fall(state):
    """Return whether somebody who is pushed, or was just pushed, will fall."""
    s = record(state, STATE)
    if s.phase == PUSH or s.phase == FOLLOW_UP:
        for i in range(s.waiting):
            task = np.int64(s.tasks[i])
            kind = tasks.what(task)
            pushed = kind == tasks.PUSH or kind == tasks.PUSHED
            if kind == tasks.KNOCK_DOWN or (pushed and tasks.detail(task) & tasks.KNOCKED):
                return True
    return False


@kernel()
def _write_one(out, at, options, chosen):
    """Write a choice among some options as zeros and a one; return the place after it."""
    if 0 <= chosen < options:
        out[at + chosen] = 1.0
    return at + options


@kernel()
def _in_box(state, team, box):
    """Return the part of a squad that is in a box."""
    s = record(state, STATE)
    count = 0
    for player in range(16 * team, 16 * team + np.int64(s.members[team])):
        count += np.int64(s.box[player] == box)
    return np.float32(count / max(np.int64(s.members[team]), 1))


@kernel(types.void(BYTES, types.int64, SINGLES, types.int64))
def _write_numbers(state, player, out, at):
    """Write the numbers: what is to be decided and by whom, clock, score, rerolls, what is spent, who is off."""
    s = record(state, STATE)
    at = _write_one(out, at, OVER + 1, s.phase)
    at = _write_one(out, at, 7, s.activity)
    at = _write_one(out, at, len(_ROLLS), _roll_again(state))
    for face in range(5):
        out[at + face] = s.faces >> face & 1
    at += 5
    out[at] = s.decider == player
    out[at + 1] = s.side == player
    out[at + 2] = s.side != NO_TEAM and s.side != player
    out[at + 3] = np.float32(s.half / s.halves)
    out[at + 4] = s.kicker == player
    out[at + 5], out[at + 6] = s.reroll_used, s.blitz_used
    out[at + 7], out[at + 8], out[at + 9] = s.pass_used, s.handoff_used, s.foul_used
    out[at + 10] = s.blocked
    out[at + 11], out[at + 12] = _will_fall(state), s.fumbled
    at += 13
    for team in (player, 1 - player):
        out[at] = np.float32(np.int64(s.turn[team]) / s.turns_a_half)
        out[at + 1] = np.float32(min(np.int64(s.score[team]), 10) / 10)
        out[at + 2] = np.float32(min(np.int64(s.rerolls[team]), 10) / 10)
        out[at + 3] = _in_box(state, team, RESERVES)
        out[at + 4] = _in_box(state, team, KNOCKED_OUT)
        at += 5


@kernel(OBSERVE)
def observe(state, player, out):
    """Twenty-four planes, then fifty-three numbers."""
    s = record(state, STATE)
    mirrored = s.mirrored != 0 and player == HOME
    cells = s.width * s.height
    for i in range(PLANES * cells + NUMBERS):
        out[i] = 0.0
    _write_players(state, player, mirrored, out)
    _write_pitch(state, player, mirrored, out)
    _write_awaited(state, PLANES - 2, mirrored, out)
    _write_numbers(state, player, out, PLANES * cells)


@kernel(OBSERVE)
def observe_planes(state, player, out):
    """The same as planes, each number spread over a plane."""
    observe(state, player, out)
    s = record(state, STATE)
    cells = s.width * s.height
    for number in range(NUMBERS - 1, -1, -1):
        value = out[PLANES * cells + number]
        for cell in range(cells):
            out[(PLANES + number) * cells + cell] = value
