"""The stack of what is still to happen: last in, first out.

A task is one number: what, for whom (a player, or a team), and a detail (a square, flags). Its name and its number:
"""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.rules.layout import MAX_TASKS, STATE

NAMES = (
    "end_activation",
    "turnover",
    "touchdown",
    "possession",
    "bounce",
    "catch",
    "scatter",
    "throw_in",
    "knock_down",
    "armour",
    "injury",
    "eject",
    "pick_up",
    "rush",
    "dodge",
    "arrive",
    "stand_up",
    "block",
    "push",
    "pushed",
    "follow_up",
    "interception",
    "intercept",
    "pass",
    "foul",
    "recover",
    "clear_pitch",
    "start_half",
    "setup",
    "kick",
    "touchback",
    "walk",
    "strike",
)
"""Names of the tasks; a task's number is its index."""

(
    END_ACTIVATION,
    TURNOVER,
    TOUCHDOWN,
    POSSESSION,
    BOUNCE,
    CATCH,
    SCATTER,
    THROW_IN,
    KNOCK_DOWN,
    ARMOUR,
    INJURY,
    EJECT,
    PICK_UP,
    RUSH,
    DODGE,
    ARRIVE,
    STAND_UP,
    BLOCK,
    PUSH,
    PUSHED,
    FOLLOW_UP,
    INTERCEPTION,
    INTERCEPT,
    PASS,
    FOUL,
    RECOVER,
    CLEAR_PITCH,
    START_HALF,
    SETUP,
    KICK,
    TOUCHBACK,
    WALK,
    STRIKE,
) = range(len(NAMES))

BONUS, KICKED = 1, 2
"""Flags of CATCH, and KICKED of BOUNCE: the +1 of an accurate throw; a kick that has not touched anybody."""

TURNS_OVER, IN_CROWD, FOULED = 1, 2, 4
"""Flags of KNOCK_DOWN and INJURY: it costs the turn; it is off the pitch; doubles send the fouler off."""

SQUARE, KNOCKED, CHAINED = 511, 512, 1024
"""Parts of the detail of PUSH and PUSHED: a square; he will fall; he is pushed by another who is pushed."""


@kernel()
def who(task):
    """Return whom a packed task is about."""
    return task >> 8 & 255


@kernel()
def detail(task):
    """Return the detail of a packed task."""
    return task >> 16


@kernel(types.void(BYTES, types.int64, types.int64, types.int64))
def later(state, task, who, detail):
    """Put a task on the stack.

    No chain of events fills it: the longest is a chain of pushes, of one task for each player on the pitch.
    """
    s = record(state, STATE)
    if s.waiting < MAX_TASKS:
        s.tasks[s.waiting] = np.uint32(task | who << 8 | detail << 16)
        s.waiting += 1


@kernel()
def top(state):
    """Return the task on top of the stack, packed."""
    s = record(state, STATE)
    return np.int64(s.tasks[s.waiting - 1])


@kernel()
def take(state):
    """Remove the task on top and return it, packed. Places above the stack are always 0."""
    s = record(state, STATE)
    s.waiting -= 1
    task = np.int64(s.tasks[s.waiting])
    s.tasks[s.waiting] = 0
    return task


@kernel()
def drop_all(state):
    """Empty the stack."""
    s = record(state, STATE)
    for i in range(s.waiting):
        s.tasks[i] = 0
    s.waiting = 0


@kernel()
def what(task):
    """Return what a packed task is."""
    return task & 255
