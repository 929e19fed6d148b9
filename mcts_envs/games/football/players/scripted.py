"""The scripted player, as an ``advise`` kernel: it names one action.

In a turn: stand up, block at good odds, blitz the opposing carrier, let the others take their places, then bring the
ball on; what needs dice comes after what needs none. It scores when it can, keeps the carrier away from tackle zones,
and neither fouls nor passes.
"""

import numpy as np

from mcts_envs.core.contract import ADVISE, BYTES, FLOATS, types
from mcts_envs.core.kernel import kernel, lowest, record
from mcts_envs.games.football.players.routes import next_step
from mcts_envs.games.football.players.values import to_go
from mcts_envs.games.football.rules import actions as act
from mcts_envs.games.football.rules import tasks
from mcts_envs.games.football.rules.activation import may_block, moves_left
from mcts_envs.games.football.rules.ball import interceptors
from mcts_envs.games.football.rules.block import offers_other_dice
from mcts_envs.games.football.rules.field import (
    column,
    distance,
    from_own_side,
    is_empty,
    is_outside,
    neighbour,
    on,
    square_at,
    stride,
    team_of,
    zones,
    zones_on,
)
from mcts_envs.games.football.rules.layout import (
    ACTIVATION,
    BLITZ,
    BLOCK,
    BLOCK_DICE,
    BLOCK_REROLL,
    BOTH_DOWN,
    FOLLOW_UP,
    HOME,
    KICK,
    MOVE,
    NOBODY,
    PUSH,
    REROLL,
    SETUP,
    STANDING,
    STATE,
    TOUCHBACK,
    TURN,
)
from mcts_envs.games.football.rules.legal import may_start, waiting_push
from mcts_envs.games.football.rules.match import formation_kind, receivers
from mcts_envs.games.football.rules.odds import block_strength, catch_needs

_FAR = 10_000


@kernel()
def _holder(state):
    """Return the team that has the ball, -1 while nobody has it."""
    carrier = record(state, STATE).carrier
    return -1 if carrier == NOBODY else team_of(carrier)


@kernel(types.int64(BYTES, types.int64))
def _fetcher(state, team):
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
def _goal(state, player):
    """Return where a player wants to be, plus 512 times how near is near enough."""
    s = record(state, STATE)
    team, holder, ball = team_of(player), _holder(state), s.ball
    if ball == 0:
        return np.int64(s.square[player]) + 512 * 99
    if holder == -1:
        return ball if _fetcher(state, team) == player else ball + 512 * 2
    if holder == team:
        forward = -2 if team == HOME else 2
        x = min(max(column(state, ball) + forward * (1 + (player & 15) % 2), 1), s.width)
        y = min(max(ball // stride(state) + (player & 15) % 5 - 2, 1), s.height)
        return square_at(state, x, y) + 512
    return ball + 512


@kernel()
def _reaches(state, player, goal, near):
    """Return whether a player may get near enough to a goal in this activation, with nobody in the way."""
    s = record(state, STATE)
    cost = 3 if s.posture[player] != STANDING else 0
    return distance(state, np.int64(s.square[player]), goal) - near + cost <= moves_left(state, player)


@kernel(types.int64(BYTES, types.int64, types.int64, types.int64))
def _safe_step(state, player, goal, near):
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
def _bold_step(state, player, goal, work):
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


@kernel(types.int64(BYTES, types.int64, FLOATS))
def _next_step(state, player, work):
    """Return the direction in which a player walks towards his goal; -1 to stay.

    Who has the ball, or fetches it, takes the best way, with dice if he must; the others take safe steps only.
    """
    s = record(state, STATE)
    if s.carrier == player:
        return _bold_step(state, player, 0, work)
    goal = _goal(state, player)
    if s.carrier == NOBODY and goal == s.ball:
        return _bold_step(state, player, goal, work)
    return _safe_step(state, player, goal & 511, goal >> 9)


@kernel(types.int64(BYTES, types.int64, types.int64))
def _best_victim(state, player, least):
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
    if s.blitz_used or _holder(state) != 1 - side:
        return NOBODY
    best, least = NOBODY, _FAR
    for player in range(16 * side, 16 * side + np.int64(s.members[side])):
        if may_start(state, player) and _reaches(state, player, s.ball, 0):
            far = distance(state, np.int64(s.square[player]), s.ball) - 20 * np.int64(s.st[player])
            far += 10 * np.int64(zones_on(state, player) > 0)
            if far < least:
                best, least = player, far
    return best


@kernel()
def _start(state, activity, player):
    return act.START + (activity - 1) * record(state, STATE).squad + (player & 15)


@kernel(types.int64(BYTES, types.int64))
def _attack_on_carrier(state, blocker):
    """Return the activation that attacks the opposing carrier: a block by who stands next to him, or a blitz; or 0."""
    s = record(state, STATE)
    attacks = blocker != NOBODY and _holder(state) == 1 - s.side
    if attacks and _best_victim(state, blocker, 2) == s.carrier:
        return _start(state, BLOCK, blocker)
    blitzer = _blitzer(state)
    return _start(state, BLITZ, blitzer) if blitzer != NOBODY else 0


@kernel()
def _ball_player(state):
    """Return who of the side on turn brings the ball on, or fetches it; NOBODY if the others have it."""
    s = record(state, STATE)
    if s.carrier == NOBODY:
        return _fetcher(state, s.side) if s.ball > 0 else NOBODY
    return s.carrier if _holder(state) == s.side else NOBODY


@kernel(types.int64(BYTES, FLOATS))
def _begin(state, work):
    """Choose an activation, or the end of the turn: what is safe first, blocks last."""
    s = record(state, STATE)
    side, ball_player = s.side, _ball_player(state)
    blocker = mover = NOBODY
    for player in range(16 * side, 16 * side + np.int64(s.members[side])):
        if may_start(state, player):
            if s.posture[player] != STANDING:
                if s.ma[player] >= 3 and player != ball_player:
                    return _start(state, MOVE, player)
                continue
            victim = _best_victim(state, player, 2) if s.carrier != player else NOBODY
            if victim != NOBODY and (blocker == NOBODY or victim == s.carrier):
                blocker = player
            if mover == NOBODY and player != ball_player and _next_step(state, player, work) >= 0:
                mover = player
    attack = _attack_on_carrier(state, blocker)
    if attack != 0:
        return attack
    if mover != NOBODY:
        return _start(state, MOVE, mover)
    plays_ball = ball_player != NOBODY and may_start(state, ball_player)
    if plays_ball and (s.posture[ball_player] != STANDING or _next_step(state, ball_player, work) >= 0):
        return _start(state, MOVE, ball_player)
    return _start(state, BLOCK, blocker) if blocker != NOBODY else act.END_TURN


@kernel()
def _step_action(state, player, direction):
    """Return the action of a step in a direction, or the end of the activation for -1."""
    if direction < 0:
        return act.END_ACTIVATION
    square = neighbour(state, np.int64(record(state, STATE).square[player]), direction)
    return act.after(state, act.MOVES) + act.place_of(state, square)


@kernel(types.int64(BYTES, FLOATS))
def _go_on(state, work):
    """Choose what the active player does."""
    s = record(state, STATE)
    player = s.active_player
    if s.posture[player] != STANDING:
        return act.STAND_UP
    if may_block(state, player):
        victim = _best_victim(state, player, 2 if s.activity == BLOCK else 1)
        carrier = s.carrier
        if s.activity == BLITZ and _holder(state) == 1 - team_of(player):
            here = np.int64(s.square[player])
            if distance(state, here, s.ball) == 1:
                victim = carrier
            else:
                return _step_action(state, player, _bold_step(state, player, s.ball, work))
        if victim != NOBODY:
            return act.after(state, act.BLOCKS) + (victim & 15)
    if s.activity == BLOCK:
        return act.END_ACTIVATION
    return _step_action(state, player, _next_step(state, player, work))


@kernel(types.int64(BYTES))
def _choose_face(state):
    """Choose a face of the block dice: the best for the attacker, or the worst if the defender's coach chooses."""
    s = record(state, STATE)
    faces, attacks = s.faces, s.decider == s.side
    if not attacks:
        return act.TAKE_DIE + lowest(faces)
    best = 4
    while faces >> best & 1 == 0:
        best -= 1
    if best <= BOTH_DOWN and offers_other_dice(state):
        return act.USE_REROLL
    return act.TAKE_DIE + best


@kernel(types.int64(BYTES))
def _choose_push(state):
    """Push opponents off the pitch, else back towards where they do not score; team-mates stay on it."""
    s = record(state, STATE)
    pushed = tasks.who(tasks.top(state))
    here = np.int64(s.square[pushed])
    bits = waiting_push(state)
    best, most = 0, -_FAR
    for way in range(8):
        direction = act.direction_of(state, way)
        if bits >> direction & 1:
            square = neighbour(state, here, direction)
            worth = to_go(state, team_of(pushed), square)
            if is_outside(state, square):
                worth = 100 if team_of(pushed) != s.side else -100
            if worth > most:
                best, most = act.PUSH + way, worth
    return best


@kernel(types.int64(BYTES))
def _choose_receiver(state):
    """Give the ball to the free player who is nearest to the end zone."""
    s = record(state, STATE)
    bits, team = receivers(state), s.decider
    best, least = 0, _FAR
    while bits != 0:
        player = 16 * team + lowest(bits)
        far = to_go(state, team, np.int64(s.square[player])) + 20 * zones_on(state, player) - np.int64(s.ma[player])
        if far < least:
            best, least = player, far
        bits &= bits - 1
    return act.after(state, act.SELECTS) + (best & 15)


@kernel(types.int64(BYTES))
def _choose_interceptor(state):
    """Let the best catcher try to intercept."""
    task = tasks.top(state)
    bits = interceptors(state, tasks.who(task), tasks.detail(task))
    team = record(state, STATE).decider
    best, least = 0, _FAR
    while bits != 0:
        needs = catch_needs(state, 16 * team + lowest(bits), -2)
        if needs < least:
            best, least = lowest(bits), needs
        bits &= bits - 1
    return act.after(state, act.SELECTS) + best


@kernel(types.int64(BYTES))
def _choose_other(state):
    """Choose in one of the rarer phases."""
    s = record(state, STATE)
    if s.phase == SETUP:
        return act.FORMATION + np.int64(s.formations[formation_kind(state, s.decider)]) - 1
    if s.phase == KICK:
        width = s.width
        x = width // 4 if s.kicker == HOME else width + 1 - width // 4
        return act.first_ball_to(state) + act.place_of(state, square_at(state, x, (s.height + 1) // 2))
    if s.phase == TOUCHBACK:
        return _choose_receiver(state)
    if s.phase == REROLL:
        return act.USE_REROLL
    if s.phase == BLOCK_REROLL:
        return act.USE_REROLL if lowest(s.faces) <= BOTH_DOWN else act.DECLINE_REROLL
    if s.phase == BLOCK_DICE:
        return _choose_face(state)
    if s.phase == PUSH:
        return _choose_push(state)
    if s.phase == FOLLOW_UP:
        task = tasks.top(state)
        player = tasks.who(task)
        crowded = zones(state, 1 - team_of(player), tasks.detail(task)) > 1 or s.carrier == player
        return act.STAY if crowded else act.FOLLOW_UP
    return _choose_interceptor(state)


@kernel(types.int64(BYTES, FLOATS))
def choose_scripted(state, work):
    """Return the scripted player's action; ``work`` [A] is scratched."""
    s = record(state, STATE)
    if s.phase == TURN:
        return _begin(state, work)
    if s.phase == ACTIVATION:
        return _go_on(state, work)
    return _choose_other(state)


@kernel(ADVISE)
def advise_scripted(state, player, weights):
    """Give all weight to one action."""
    action = choose_scripted(state, weights)
    for other in range(weights.shape[0]):
        weights[other] = 0.0
    weights[action] = 1.0
