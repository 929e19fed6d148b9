"""What the scripted players have in common: who goes for the ball, who stands where, and whom to block."""

import numpy as np

from mcts_envs.core.contract import BYTES, FLOATS, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.players.routes import next_step
from mcts_envs.games.football.players.values import to_go
from mcts_envs.games.football.rules import actions as act
from mcts_envs.games.football.rules.activation import moves_left
from mcts_envs.games.football.rules.field import (
    column,
    distance,
    from_own_side,
    is_empty,
    neighbour,
    on,
    square_at,
    stride,
    team_of,
    zones_on,
)
from mcts_envs.games.football.rules.layout import (
    BLITZ,
    BLOCK,
    HOME,
    NOBODY,
    STANDING,
    STATE,
)
from mcts_envs.games.football.rules.legal import may_start
from mcts_envs.games.football.rules.odds import block_strength

_FAR = 10_000


@kernel()
def team_with_ball(state):
    """Return the team that has the ball, -1 while nobody has it."""
    carrier = record(state, STATE).carrier
    return -1 if carrier == NOBODY else team_of(carrier)


@kernel(types.int64(BYTES, types.int64))
def fetcher(state, team):
    """Return who of a team goes for a loose ball: whoever can still act and is nearest, by moves he has to spare."""
    s = record(state, STATE)
    best, least = NOBODY, _FAR
    for player in range(16 * team, 16 * team + np.int64(s.members[team])):
        if may_start(state, player):
            down = 3 if s.posture[player] != STANDING else 0
            far = 2 * distance(state, np.int64(s.square[player]), s.ball) + down - moves_left(state, player)
            if far < least:
                best, least = player, far
    return best


@kernel(types.int64(BYTES, types.int64))
def place_for(state, player):
    """Return where a player wants to be, plus 512 times how near is near enough."""
    s = record(state, STATE)
    team, holder, ball = team_of(player), team_with_ball(state), s.ball
    if ball == 0:
        return np.int64(s.square[player]) + 512 * 99
    if holder == -1:
        return ball if fetcher(state, team) == player else ball + 512 * 2
    if holder == team:
        forward = -2 if team == HOME else 2
        x = min(max(column(state, ball) + forward * (1 + (player & 15) % 2), 1), s.width)
        y = min(max(ball // stride(state) + (player & 15) % 5 - 2, 1), s.height)
        return square_at(state, x, y) + 512
    return ball + 512


@kernel()
def reaches(state, player, goal, near):
    """Return whether a player may get near enough to a goal in this activation, with nobody in the way."""
    s = record(state, STATE)
    cost = 3 if s.posture[player] != STANDING else 0
    return distance(state, np.int64(s.square[player]), goal) - near + cost <= moves_left(state, player)


@kernel(types.int64(BYTES, types.int64, types.int64, types.int64))
def safe_step(state, player, goal, near):
    """Return the direction of the safe step that leads nearest to a goal; -1 to stay."""
    s = record(state, STATE)
    here = np.int64(s.square[player])
    away = distance(state, here, goal)
    if away <= near or s.moved[player] >= s.ma[player] or zones_on(state, player) > 0:
        return -1
    rows = stride(state)
    best, least = -1, 20 * away + abs(here // rows - goal // rows) + abs(here % rows - goal % rows)
    for way in range(8):
        direction = from_own_side(team_of(player), way)
        square = neighbour(state, here, direction)
        if is_empty(state, square):
            aside = abs(square // rows - goal // rows) + abs(square % rows - goal % rows)
            cost = 20 * distance(state, square, goal) + aside
            if cost < least:
                best, least = direction, cost
    return best


@kernel(types.int64(BYTES, types.int64, types.int64, FLOATS))
def bold_step(state, player, goal, work):
    """Return the direction of the best way to a goal (0: the end zone), which may need dice; -1 to stay.

    Beyond the movement allowance he goes only if he arrives.
    """
    s = record(state, STATE)
    left = moves_left(state, player)
    if left <= 0:
        return -1
    here = np.int64(s.square[player])
    if s.moved[player] >= s.ma[player]:
        away = distance(state, here, goal) if goal > 0 else to_go(state, team_of(player), here)
        if away > left:
            return -1
    return next_step(state, player, goal, work, act.after(state, act.MOVES))


@kernel(types.int64(BYTES, types.int64, types.int64))
def best_victim(state, player, least):
    """Return the opponent next to a player whom he blocks with most dice, at least so many; a carrier counts one more.

    NOBODY if there is none.
    """
    s = record(state, STATE)
    here, other = np.int64(s.square[player]), 1 - team_of(player)
    best, most = NOBODY, least - 1
    for way in range(8):
        byte = on(state, neighbour(state, here, from_own_side(1 - other, way)))
        if byte >> 4 == other:
            dice = block_strength(state, player, byte) + np.int64(s.carrier == byte)
            if dice > most:
                best, most = byte, dice
    return best


@kernel(types.int64(BYTES))
def _blitzer(state):
    """Return who blitzes the opposing carrier: the strongest who reaches him, the nearest among equals; or NOBODY."""
    s = record(state, STATE)
    side = s.side
    if s.blitz_used or team_with_ball(state) != 1 - side:
        return NOBODY
    best, least = NOBODY, _FAR
    for player in range(16 * side, 16 * side + np.int64(s.members[side])):
        if may_start(state, player) and reaches(state, player, s.ball, 0):
            far = distance(state, np.int64(s.square[player]), s.ball) - 20 * np.int64(s.st[player])
            far += 10 * np.int64(zones_on(state, player) > 0)
            if far < least:
                best, least = player, far
    return best


@kernel()
def start_of(state, activity, player):
    """Return the action that activates a player."""
    return act.START + (activity - 1) * record(state, STATE).squad + (player & 15)


@kernel(types.int64(BYTES, types.int64))
def attack_on_carrier(state, blocker):
    """Return the activation that attacks the opposing carrier: a block by who stands next to him, or a blitz; or 0."""
    s = record(state, STATE)
    attacks = blocker != NOBODY and team_with_ball(state) == 1 - s.side
    if attacks and best_victim(state, blocker, 2) == s.carrier:
        return start_of(state, BLOCK, blocker)
    blitzer = _blitzer(state)
    return start_of(state, BLITZ, blitzer) if blitzer != NOBODY else 0


@kernel()
def player_of_ball(state):
    """Return who of the side on turn brings the ball on, or fetches it; NOBODY if the others have it."""
    s = record(state, STATE)
    if s.carrier == NOBODY:
        return fetcher(state, s.side) if s.ball > 0 else NOBODY
    return s.carrier if team_with_ball(state) == s.side else NOBODY


@kernel()
def step_action(state, player, direction):
    """Return the action of a step in a direction, or the end of the activation for -1."""
    if direction < 0:
        return act.END_ACTIVATION
    square = neighbour(state, np.int64(record(state, STATE).square[player]), direction)
    return act.after(state, act.MOVES) + act.place_of(state, square)
