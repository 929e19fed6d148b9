"""The ball: bounces, scatters, throw-ins; rolls that may be thrown again; picking up, passing, catching."""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.rules import events, tasks
from mcts_envs.games.football.rules.dice import d3, d6, d8, die_of
from mcts_envs.games.football.rules.field import (
    in_half,
    is_outside,
    neighbour,
    on,
    scores,
    stander,
    stride,
    team_of,
)
from mcts_envs.games.football.rules.layout import (
    DOWN,
    INTERCEPTION,
    NO_TEAM,
    NOBODY,
    REROLL,
    STATE,
)
from mcts_envs.games.football.rules.odds import catch_needs, needed, pass_modifier, pick_up_needs
from mcts_envs.games.football.rules.tasks import later


@kernel()
def can_reroll(state):
    """Return whether the team on turn may throw dice again."""
    s = record(state, STATE)
    return s.side != NO_TEAM and s.reroll_used == 0 and s.rerolls[s.side] > 0


@kernel(types.boolean(BYTES, types.int64, types.int64, types.int64))
def offers_reroll(state, task, player, detail):
    """Offer to throw a failed roll again, if that is possible: the roll then waits on the stack."""
    s = record(state, STATE)
    if team_of(player) != s.side or not can_reroll(state):
        return False
    later(state, task, player, detail)
    s.phase, s.decider = REROLL, s.side
    return True


@kernel()
def land_on(state, square, flags):
    """Let the ball come down: whoever stands there may catch it, else it bounces."""
    catcher = stander(state, square)
    if catcher != NOBODY:
        later(state, tasks.CATCH, catcher, flags)
    else:
        later(state, tasks.BOUNCE, 0, flags & tasks.KICKED)


@kernel(types.void(BYTES, types.int64, types.int64))
def bounce(state, who, flags):
    """Bounce the ball by one square: it may be caught, hit somebody on the ground, or leave the pitch."""
    s = record(state, STATE)
    s.carrier = NOBODY
    here = s.ball
    square = neighbour(state, here, d8(state) - 1)
    if flags & tasks.KICKED and not in_half(state, 1 - s.kicker, square):
        later(state, tasks.TOUCHBACK, 0, 0)
    elif is_outside(state, square):
        later(state, tasks.THROW_IN, 0, here)
    else:
        s.ball = square
        byte = on(state, square)
        if byte < DOWN:
            later(state, tasks.CATCH, byte, 0)
        elif byte < 2 * DOWN:
            events.count(state, events.CATCHES_FAILED)
            later(state, tasks.BOUNCE, 0, 0)


@kernel(types.void(BYTES, types.int64, types.int64))
def scatter(state, who, square):
    """Scatter an inaccurate pass three times from where it was aimed."""
    s = record(state, STATE)
    first, second, third = d8(state) - 1, d8(state) - 1, d8(state) - 1
    for direction in (first, second, third):
        there = neighbour(state, square, direction)
        if is_outside(state, there):
            s.ball = square
            later(state, tasks.THROW_IN, 0, square)
            return
        square = there
    s.ball = square
    land_on(state, square, 0)


@kernel()
def _inwards(state, square, die):
    """Return the direction of a throw-in from the border as (dx, dy); ``die`` is 1 to 3."""
    s = record(state, STATE)
    width, height = s.width, s.height
    x, y = square % (width + 2), square // (width + 2)
    dx = np.int64(x == 1) - np.int64(x == width)
    dy = np.int64(y == 1) - np.int64(y == height)
    if dx != 0 and dy != 0:
        along_y_first = dx == dy
        if die == 1:
            return (dx, 0) if along_y_first else (0, dy)
        if die == 3:
            return (0, dy) if along_y_first else (dx, 0)
        return dx, dy
    if dy != 0:
        return dy * (2 - die), dy
    return dx, dx * (die - 2)


@kernel(types.void(BYTES, types.int64, types.int64))
def throw_in(state, who, square):
    """Throw the ball in from the last square on the pitch: it may fly out again, else comes down."""
    s = record(state, STATE)
    s.carrier = NOBODY
    dx, dy = _inwards(state, square, d3(state))
    length = 0
    for _ in range(s.throw_dice):
        length += die_of(state, s.throw_die)
    for _ in range(length):
        there = square + dy * stride(state) + dx
        if is_outside(state, there):
            later(state, tasks.THROW_IN, 0, square)
            break
        square = there
        length -= 1
    s.ball = square
    if length == 0:
        events.count(state, events.THROW_INS)
        land_on(state, square, 0)


@kernel()
def catch_fails(state, player, flags):
    """Drop the ball."""
    later(state, tasks.BOUNCE, 0, flags & tasks.KICKED)


@kernel(types.void(BYTES, types.int64, types.int64))
def catch(state, player, flags):
    """Roll to catch the ball that comes down on a standing player."""
    s = record(state, STATE)
    if d6(state) >= catch_needs(state, player, flags & tasks.BONUS):
        events.count(state, events.CATCHES)
        s.carrier = player
        if scores(state, player):
            later(state, tasks.TOUCHDOWN, player, 0)
        return
    events.count(state, events.CATCHES_FAILED)
    if not offers_reroll(state, tasks.CATCH, player, flags):
        catch_fails(state, player, flags)


@kernel()
def pick_up_fails(state):
    """Lose the ball and the turn, whoever may catch it."""
    later(state, tasks.TURNOVER, 0, 0)
    later(state, tasks.BOUNCE, 0, 0)


@kernel(types.void(BYTES, types.int64, types.int64))
def pick_up(state, player, square):
    """Roll to pick the ball up."""
    s = record(state, STATE)
    if d6(state) >= pick_up_needs(state, player, square):
        events.count(state, events.PICKUPS)
        s.carrier = player
        if scores(state, player):
            later(state, tasks.TOUCHDOWN, player, 0)
        return
    events.count(state, events.PICKUPS_FAILED)
    if not offers_reroll(state, tasks.PICK_UP, player, square):
        pick_up_fails(state)


@kernel(types.boolean(BYTES, types.int64, types.int64, types.int64))
def may_intercept(state, player, start, end):
    """Return whether an opponent of the passer may try to intercept a pass between two squares.

    He stands on or next to the line between them, within their rectangle, and not on them. The line is Bresenham's,
    drawn from left to right, or from top to bottom where it is steep; so where it passes exactly between two squares,
    a pass and its mirror image may differ in a candidate.
    """
    here = np.int64(record(state, STATE).square[player])
    rows = stride(state)
    x, y = here % rows, here // rows
    x1, y1, x2, y2 = start % rows, start // rows, end % rows, end // rows
    if here in (start, end) or not (min(x1, x2) <= x <= max(x1, x2) and min(y1, y2) <= y <= max(y1, y2)):
        return False
    if abs(y2 - y1) > abs(x2 - x1):
        x, y, x1, y1, x2, y2 = y, x, y1, x1, y2, x2
    if x1 > x2:
        x1, y1, x2, y2 = x2, y2, x1, y1
    rise, run = abs(y2 - y1), x2 - x1
    error, row = run // 2, y1
    for place in range(x1, x2 + 1):
        if abs(place - x) <= 1 and abs(row - y) <= 1:
            return True
        error -= rise
        if error < 0:
            row += 1 if y1 < y2 else -1
            error += run
    return False


@kernel(types.int64(BYTES, types.int64, types.int64))
def interceptors(state, passer, square):
    """Return the slots of those who may try to intercept a pass, as bits."""
    s = record(state, STATE)
    start, team = np.int64(s.square[passer]), 1 - team_of(passer)
    bits = 0
    for slot in range(s.squad):
        player = 16 * team + slot
        stands = s.square[player] > 0 and s.posture[player] == 0
        if stands and may_intercept(state, player, start, square):
            bits |= 1 << slot
    return bits


@kernel(types.void(BYTES, types.int64, types.int64))
def interception(state, passer, square):
    """Ask the opposing coach who tries to intercept, if anybody can."""
    s = record(state, STATE)
    if interceptors(state, passer, square) != 0:
        later(state, tasks.INTERCEPTION, passer, square)
        s.phase, s.decider = INTERCEPTION, 1 - team_of(passer)


@kernel(types.void(BYTES, types.int64, types.int64))
def intercept(state, player, unused):
    """Roll to intercept."""
    s = record(state, STATE)
    if d6(state) < catch_needs(state, player, -2):
        events.count(state, events.INTERCEPTIONS_FAILED)
        return
    events.count(state, events.INTERCEPTIONS)
    s.carrier, s.ball = player, s.square[player]
    if scores(state, player):
        later(state, tasks.TOUCHDOWN, player, 0)
    else:
        later(state, tasks.TURNOVER, 0, 0)


@kernel()
def throw_fails(state, square):
    """Let a fumbled ball bounce from the passer, and a pass that goes wide scatter."""
    s = record(state, STATE)
    if s.fumbled:
        later(state, tasks.TURNOVER, 0, 0)
        later(state, tasks.BOUNCE, 0, 0)
    else:
        later(state, tasks.POSSESSION, 0, 0)
        later(state, tasks.SCATTER, 0, square)
    s.fumbled = 0


@kernel(types.void(BYTES, types.int64, types.int64))
def throw(state, passer, square):
    """Roll for a pass: accurate, inaccurate, or fumbled."""
    s = record(state, STATE)
    modifier = pass_modifier(state, passer, square)
    die = d6(state)
    if die >= needed(state, passer, modifier):
        events.count(state, events.PASSES_ACCURATE)
        s.ball = square
        later(state, tasks.POSSESSION, 0, 0)
        land_on(state, square, tasks.BONUS)
        return
    s.fumbled = die == 1 or die + modifier <= 1
    events.count(state, events.FUMBLES if s.fumbled else events.PASSES_INACCURATE)
    if not offers_reroll(state, tasks.PASS, passer, square):
        throw_fails(state, square)


@kernel(types.void(BYTES, types.int64, types.int64))
def possession(state, who, unused):
    """End the turn if the ball did not come down with the team on turn."""
    s = record(state, STATE)
    byte = on(state, s.ball)
    if byte >= 2 * DOWN or team_of(byte & (DOWN - 1)) != s.side:
        later(state, tasks.TURNOVER, 0, 0)
