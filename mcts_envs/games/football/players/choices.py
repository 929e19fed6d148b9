"""What the scripted players choose in the rarer phases: set-up and kick, dice, pushes, catches."""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, lowest, record
from mcts_envs.games.football.players.values import to_go
from mcts_envs.games.football.rules import actions as act
from mcts_envs.games.football.rules import tasks
from mcts_envs.games.football.rules.ball import interceptors
from mcts_envs.games.football.rules.block import offers_other_dice
from mcts_envs.games.football.rules.field import (
    is_outside,
    neighbour,
    square_at,
    team_of,
    zones,
    zones_on,
)
from mcts_envs.games.football.rules.layout import (
    BLOCK_DICE,
    BLOCK_REROLL,
    BOTH_DOWN,
    FOLLOW_UP,
    HOME,
    KICK,
    PUSH,
    REROLL,
    SETUP,
    STATE,
    TOUCHBACK,
)
from mcts_envs.games.football.rules.legal import waiting_push
from mcts_envs.games.football.rules.match import formation_kind, receivers
from mcts_envs.games.football.rules.odds import catch_needs

_FAR = 10_000


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
def choose_rare(state):
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
