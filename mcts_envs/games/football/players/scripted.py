"""The scripted player, as an ``advise`` kernel: it names one action.

In a turn: stand up, block at good odds, blitz the opposing carrier, let the others take their places, then bring the
ball on; what needs dice comes after what needs none. It scores when it can, keeps the carrier away from tackle zones,
and neither fouls nor passes.
"""

import numpy as np

from mcts_envs.core.contract import ADVISE, BYTES, FLOATS, types
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
from mcts_envs.games.football.rules import actions as act
from mcts_envs.games.football.rules.activation import may_block
from mcts_envs.games.football.rules.field import (
    distance,
    team_of,
)
from mcts_envs.games.football.rules.layout import (
    ACTIVATION,
    BLITZ,
    BLOCK,
    MOVE,
    NOBODY,
    STANDING,
    STATE,
    TURN,
)
from mcts_envs.games.football.rules.legal import may_start


@kernel(types.int64(BYTES, types.int64, FLOATS))
def _next_step(state, player, work):
    """Return the direction in which a player walks towards his goal; -1 to stay.

    Who has the ball, or fetches it, takes the best way, with dice if he must; the others take safe steps only.
    """
    s = record(state, STATE)
    if s.carrier == player:
        return bold_step(state, player, 0, work)
    goal = place_for(state, player)
    if s.carrier == NOBODY and goal == s.ball:
        return bold_step(state, player, goal, work)
    return safe_step(state, player, goal & 511, goal >> 9)


@kernel(types.int64(BYTES, FLOATS))
def _begin(state, work):
    """Choose an activation, or the end of the turn: what is safe first, blocks last."""
    s = record(state, STATE)
    side, ball_player = s.side, player_of_ball(state)
    blocker = mover = NOBODY
    for player in range(16 * side, 16 * side + np.int64(s.members[side])):
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
    attack = attack_on_carrier(state, blocker)
    if attack != 0:
        return attack
    if mover != NOBODY:
        return start_of(state, MOVE, mover)
    plays_ball = ball_player != NOBODY and may_start(state, ball_player)
    if plays_ball and (s.posture[ball_player] != STANDING or _next_step(state, ball_player, work) >= 0):
        return start_of(state, MOVE, ball_player)
    return start_of(state, BLOCK, blocker) if blocker != NOBODY else act.END_TURN


@kernel(types.int64(BYTES, FLOATS))
def _go_on(state, work):
    """Choose what the active player does."""
    s = record(state, STATE)
    player = s.active_player
    if s.posture[player] != STANDING:
        return act.STAND_UP
    if may_block(state, player):
        victim = best_victim(state, player, 2 if s.activity == BLOCK else 1)
        carrier = s.carrier
        if s.activity == BLITZ and team_with_ball(state) == 1 - team_of(player):
            here = np.int64(s.square[player])
            if distance(state, here, s.ball) == 1:
                victim = carrier
            else:
                return step_action(state, player, bold_step(state, player, s.ball, work))
        if victim != NOBODY:
            return act.after(state, act.BLOCKS) + (victim & 15)
    if s.activity == BLOCK:
        return act.END_ACTIVATION
    return step_action(state, player, _next_step(state, player, work))


@kernel(types.int64(BYTES, FLOATS))
def choose_scripted(state, work):
    """Return the scripted player's action; ``work`` [A] is scratched."""
    s = record(state, STATE)
    if s.phase == TURN:
        return _begin(state, work)
    if s.phase == ACTIVATION:
        return _go_on(state, work)
    return choose_rare(state)


@kernel(ADVISE)
def advise_scripted(state, player, weights):
    """Give all weight to one action."""
    action = choose_scripted(state, weights)
    for other in range(weights.shape[0]):
        weights[other] = 0.0
    weights[action] = 1.0
