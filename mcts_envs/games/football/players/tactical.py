"""A stronger scripted player, as an ``advise`` kernel: it names one action.

In a turn: stand up, score where that takes no dodge, attack the opposing carrier, block at good odds, blitz anybody at
good odds, let the others take their places, then bring the ball on. Nobody dodges who needs more than a 3, but to
score; and the ball is kicked short. What is not said here is done as the scripted player does it.
"""

import numpy as np

from mcts_envs.core.contract import ADVISE, BYTES, FLOATS, LEGAL, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.players.choices import choose_rare
from mcts_envs.games.football.players.plays import (
    attack_on_carrier,
    best_victim,
    bold_step,
    place_for,
    player_of_ball,
    safe_step,
    start_of,
    step_action,
    team_with_ball,
)
from mcts_envs.games.football.players.values import to_go
from mcts_envs.games.football.rules import actions as act
from mcts_envs.games.football.rules.activation import may_block, moves_left
from mcts_envs.games.football.rules.field import distance, neighbour, square_at, team_of, zones_on
from mcts_envs.games.football.rules.layout import (
    ACTIVATION,
    BLITZ,
    BLOCK,
    HOME,
    KICK,
    MOVE,
    NOBODY,
    PASS,
    STANDING,
    STATE,
    TURN,
)
from mcts_envs.games.football.rules.legal import legal, may_start
from mcts_envs.games.football.rules.odds import assists, block_strength, dodge_needs

_DODGES_AT = 3
_MARKS_THE_BALL, _DIE, _STEP = 30, 10, 2
"""What a victim of a blitz is worth: next to the ball, for each die, and less for each step to him."""


@kernel()
def _near_end(state, player):
    """Return whether a player has moves enough to the end zone where he scores."""
    return to_go(state, team_of(player), np.int64(record(state, STATE).square[player])) <= moves_left(state, player)


@kernel(types.int64(BYTES, types.int64, types.int64, FLOATS))
def _way(state, player, goal, work):
    """Return the direction of the best way to a goal (0: the end zone); -1 to stay, as where a dodge is too hard."""
    direction = bold_step(state, player, goal, work)
    if direction >= 0 and zones_on(state, player) > 0 and (goal > 0 or not _near_end(state, player)):
        square = neighbour(state, np.int64(record(state, STATE).square[player]), direction)
        if dodge_needs(state, player, square) > _DODGES_AT:
            return -1
    return direction


@kernel(types.int64(BYTES, types.int64, FLOATS))
def _next_step(state, player, work):
    """Return the direction in which a player walks; -1 to stay."""
    s = record(state, STATE)
    if s.carrier == player:
        return _way(state, player, 0, work)
    goal = place_for(state, player)
    if s.carrier == NOBODY and goal == s.ball:
        return _way(state, player, goal, work)
    return safe_step(state, player, goal & 511, goal >> 9)


@kernel()
def _dice(state, player, victim, far):
    """Return the dice of a block after so many steps; then nobody is taken to help the victim."""
    if far == 0:
        return block_strength(state, player, victim)
    s = record(state, STATE)
    return 1 + np.int64(np.int64(s.st[player]) + assists(state, player, victim) > np.int64(s.st[victim]))


@kernel(types.int64(BYTES, types.int64))
def _victim(state, player):
    """Return whom a player blitzes at good odds without a rush, plus 256 times what it is worth; 0 if nobody."""
    s = record(state, STATE)
    other, here = 1 - team_of(player), np.int64(s.square[player])
    left = np.int64(s.ma[player]) - np.int64(s.moved[player])
    best = 0
    for victim in range(16 * other, 16 * other + np.int64(s.members[other])):
        square = np.int64(s.square[victim])
        far = distance(state, here, square) - 1
        if square > 0 and s.posture[victim] == STANDING and far < left:
            dice = _dice(state, player, victim, far)
            if dice > 1:
                near = _MARKS_THE_BALL * np.int64(s.ball > 0 and distance(state, square, s.ball) <= 1)
                best = max(best, 256 * (100 + _DIE * dice - _STEP * far + near) + victim)
    return best


@kernel(types.int64(BYTES, types.int64))
def _blitzer(state, ball_player):
    """Return who blitzes somebody at good odds, but for who plays the ball: from where he need not dodge; or NOBODY."""
    s = record(state, STATE)
    best, most = NOBODY, 0
    if s.blitz_used == 0:
        for player in range(16 * s.side, 16 * s.side + np.int64(s.members[s.side])):
            able = may_start(state, player) and s.posture[player] == STANDING and player != ball_player
            if able and zones_on(state, player) == 0:
                worth = _victim(state, player) >> 8
                if worth > most:
                    best, most = player, worth
    return best


@kernel()
def _may_score(state, player, work):
    """Return whether a player who may act brings the ball to the end zone without a dodge, as far as can be seen."""
    s = record(state, STATE)
    if s.carrier != player or s.posture[player] != STANDING or zones_on(state, player) > 0:
        return False
    return _near_end(state, player) and bold_step(state, player, 0, work) >= 0


@kernel(types.int64(BYTES, FLOATS))
def _begin(state, work):
    """Choose an activation, or the end of the turn."""
    s = record(state, STATE)
    ball_player = player_of_ball(state)
    blocker = mover = NOBODY
    for player in range(16 * s.side, 16 * s.side + np.int64(s.members[s.side])):
        if may_start(state, player):
            if s.posture[player] != STANDING:
                if s.ma[player] >= 3 and player != ball_player:
                    return start_of(state, MOVE, player)
                continue
            victim = best_victim(state, player, 2) if s.carrier != player else NOBODY
            if victim != NOBODY and (blocker == NOBODY or victim == s.carrier):
                blocker = player
            if mover == NOBODY and player != ball_player and _next_step(state, player, work) >= 0:
                mover = player
    plays_ball = ball_player != NOBODY and may_start(state, ball_player)
    if plays_ball and _may_score(state, ball_player, work):
        return start_of(state, MOVE, ball_player)
    attack = attack_on_carrier(state, blocker)
    if attack != 0:
        return attack
    if blocker != NOBODY:
        return start_of(state, BLOCK, blocker)
    blitzer = _blitzer(state, ball_player)
    if blitzer != NOBODY:
        return start_of(state, BLITZ, blitzer)
    if mover != NOBODY:
        return start_of(state, MOVE, mover)
    if plays_ball and (s.posture[ball_player] != STANDING or _next_step(state, ball_player, work) >= 0):
        return start_of(state, MOVE, ball_player)
    return act.END_TURN


@kernel()
def _blitz(state, player, victim, work):
    """Block somebody in a blitz, or go up to him."""
    square = np.int64(record(state, STATE).square[victim])
    if distance(state, np.int64(record(state, STATE).square[player]), square) > 1:
        return step_action(state, player, bold_step(state, player, square, work))
    return act.after(state, act.BLOCKS) + (victim & 15)


@kernel(types.int64(BYTES, FLOATS))
def _go_on(state, work):
    """Choose what the active player does."""
    s = record(state, STATE)
    player = s.active_player
    if s.posture[player] != STANDING:
        return act.STAND_UP
    if may_block(state, player) and s.activity == BLITZ:
        if team_with_ball(state) == 1 - team_of(player):
            return _blitz(state, player, s.carrier, work)
        found = _victim(state, player)
        return _blitz(state, player, found & 255, work) if found > 0 else act.END_ACTIVATION
    if s.activity == BLOCK:
        victim = best_victim(state, player, 2)
        return act.after(state, act.BLOCKS) + (victim & 15) if victim != NOBODY else act.END_ACTIVATION
    return step_action(state, player, _next_step(state, player, work))


@kernel(LEGAL)
def legal_tactical(state, player, actions):
    """List the legal actions but for the beginnings of passes, hand-offs and fouls, of which nothing would come."""
    count = legal(state, player, actions)
    if record(state, STATE).phase != TURN:
        return count
    first, kept = start_of(state, PASS, 0), 0
    while kept < count and actions[kept] < first:
        kept += 1
    return kept


@kernel(types.int64(BYTES))
def _kick(state):
    """Kick short: to the middle of the column next to the line but one."""
    s = record(state, STATE)
    half = s.width // 2
    x = half - 1 if s.kicker == HOME else s.width + 2 - half
    return act.first_ball_to(state) + act.place_of(state, square_at(state, x, (s.height + 1) // 2))


@kernel(ADVISE)
def advise_tactical(state, player, weights):
    """Give all weight to one action."""
    s = record(state, STATE)
    if s.phase == TURN:
        action = _begin(state, weights)
    elif s.phase == ACTIVATION:
        action = _go_on(state, weights)
    else:
        action = _kick(state) if s.phase == KICK else choose_rare(state)
    for other in range(weights.shape[0]):
        weights[other] = 0.0
    weights[action] = 1.0
