"""Falls: armour, injuries, fouls, and who leaves the pitch."""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.rules import events, tasks
from mcts_envs.games.football.rules.dice import d6
from mcts_envs.games.football.rules.field import lift, set_posture
from mcts_envs.games.football.rules.layout import (
    CASUALTIES,
    EJECTED,
    KNOCKED_OUT,
    NOBODY,
    PRONE,
    RESERVES,
    STANDING,
    STATE,
    STUNNED,
)
from mcts_envs.games.football.rules.odds import foul_modifier
from mcts_envs.games.football.rules.tasks import later


@kernel()
def retire(state, player, box):
    """Put a player into one of the boxes beside the pitch, fresh."""
    s = record(state, STATE)
    if s.square[player] > 0:
        lift(state, player)
    s.box[player], s.posture[player], s.used[player], s.moved[player] = box, STANDING, 0, 0


@kernel(types.void(BYTES, types.int64, types.int64))
def knock_down(state, player, flags):
    """Let a player fall: armour or injury are rolled next, then the ball bounces if it was his, then the turn ends."""
    s = record(state, STATE)
    events.count(state, events.KNOCK_DOWNS)
    if flags & tasks.TURNS_OVER:
        later(state, tasks.TURNOVER, 0, 0)
    if flags & tasks.IN_CROWD:
        later(state, tasks.INJURY, player, tasks.IN_CROWD)
        return
    set_posture(state, player, PRONE)
    if s.ball == s.square[player]:
        s.carrier = NOBODY
        later(state, tasks.BOUNCE, 0, 0)
    later(state, tasks.ARMOUR, player, 0)


@kernel(types.void(BYTES, types.int64, types.int64))
def armour(state, player, unused):
    """Roll against a fallen player's armour."""
    if d6(state) + d6(state) > np.int64(record(state, STATE).av[player]):
        events.count(state, events.ARMOUR_BROKEN)
        later(state, tasks.INJURY, player, 0)
    else:
        events.count(state, events.ARMOUR_HELD)


@kernel(types.void(BYTES, types.int64, types.int64))
def injury(state, player, flags):
    """Roll for an injury; after a foul, doubles send the fouler off."""
    s = record(state, STATE)
    first, second = d6(state), d6(state)
    if flags & tasks.FOULED and first == second:
        later(state, tasks.EJECT, s.active_player, 0)
    if first + second >= 10:
        events.count(state, events.CASUALTIES)
        retire(state, player, CASUALTIES)
    elif first + second >= 8:
        events.count(state, events.KNOCKED_OUT)
        retire(state, player, KNOCKED_OUT)
    else:
        events.count(state, events.STUNNED)
        if flags & tasks.IN_CROWD:
            retire(state, player, RESERVES)
        else:
            set_posture(state, player, STUNNED)


@kernel(types.void(BYTES, types.int64, types.int64))
def foul(state, victim, unused):
    """Foul: an armour roll with assists; doubles send the fouler off, after the injury."""
    s = record(state, STATE)
    fouler = s.active_player
    events.count(state, events.FOULS)
    first, second = d6(state), d6(state)
    if first == second:
        later(state, tasks.EJECT, fouler, 0)
    if first + second + foul_modifier(state, fouler, victim) > np.int64(s.av[victim]):
        events.count(state, events.ARMOUR_BROKEN)
        later(state, tasks.INJURY, victim, tasks.FOULED if first != second else 0)
    else:
        events.count(state, events.ARMOUR_HELD)


@kernel(types.void(BYTES, types.int64, types.int64))
def eject(state, player, unused):
    """Send a player off: the turn ends, and the ball bounces if he had it."""
    s = record(state, STATE)
    events.count(state, events.EJECTED)
    later(state, tasks.TURNOVER, 0, 0)
    if s.carrier == player:
        s.carrier = NOBODY
        later(state, tasks.BOUNCE, 0, 0)
    retire(state, player, EJECTED)
