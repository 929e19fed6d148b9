"""Numbers of actions: see the environment's page.

In the mirrored orientation, squares and directions are those that the team to decide sees when it attacks to the right.
"""

from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.rules.field import MIRRORED
from mcts_envs.games.football.rules.layout import HOME, STATE

END_TURN, END_ACTIVATION, STAND_UP, USE_REROLL, DECLINE_REROLL = range(5)
TAKE_DIE = 5
NO_INTERCEPTION, FOLLOW_UP, STAY = 10, 11, 12
PUSH = 13
FORMATION = 21
START = 25
"""Numbers, and firsts of numbers, that are the same on all sizes."""

BLOCKS, FOULS, HANDOFFS, SELECTS, MOVES = 6, 7, 8, 9, 10
"""After ``START``: how many squads of numbers come before those of a kind."""


@kernel()
def after(state, kind):
    """Return the first number of a kind."""
    return START + kind * record(state, STATE).squad


@kernel()
def first_ball_to(state):
    """Return the first number of BALL_TO."""
    s = record(state, STATE)
    return after(state, MOVES) + s.width * s.height


@kernel()
def is_mirrored(state):
    """Return whether the team to decide sees the pitch mirrored."""
    s = record(state, STATE)
    return s.mirrored != 0 and s.decider == HOME


@kernel()
def place_of(state, square):
    """Return the number of a square as the team to decide sees it, from 0, row by row."""
    width = record(state, STATE).width
    y, x = square // (width + 2), square % (width + 2)
    return (y - 1) * width + (width - x if is_mirrored(state) else x - 1)


@kernel()
def square_of(state, place):
    """Return the square with a number."""
    width = record(state, STATE).width
    y, x = place // width + 1, place % width + 1
    return y * (width + 2) + (width + 1 - x if is_mirrored(state) else x)


@kernel()
def direction_of(state, way):
    """Turn a direction as the team to decide sees it into one of the pitch, and back."""
    return MIRRORED[way] if is_mirrored(state) else way
