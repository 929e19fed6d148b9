"""The pitch: squares and directions, who stands where, tackle zones."""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.rules.layout import BOARD, DOWN, EMPTY, HOME, NOBODY, OUTSIDE, STANDING, STATE

DX = np.array([-1, 0, 1, -1, 1, -1, 0, 1], np.int64)
DY = np.array([-1, -1, -1, 0, 0, 1, 1, 1], np.int64)
MIRRORED = np.array([2, 1, 0, 4, 3, 7, 6, 5], np.int64)
"""The mirror image of each direction."""
"""Directions 0 to 7: row by row, as the results 1 to 8 of a d8 count them."""

CLOCKWISE = np.array([0, 1, 2, 4, 7, 6, 5, 3], np.int64)
"""The directions in a circle."""

TURN_OF = np.array([0, 1, 2, 7, 3, 6, 5, 4], np.int64)
"""Place of each direction in that circle."""


@kernel()
def stride(state):
    """Return how many bytes a row of the board has."""
    return record(state, STATE).width + 2


@kernel()
def square_at(state, x, y):
    """Return the index of a square."""
    return y * stride(state) + x


@kernel()
def column(state, square):
    """Return x of a square."""
    return square % stride(state)


@kernel()
def neighbour(state, square, direction):
    """Return the square next to a square."""
    return square + DY[direction] * stride(state) + DX[direction]


@kernel()
def from_own_side(team, way):
    """Turn a direction as a team sees it that attacks to the right into one of the pitch: equals are chosen alike."""
    return MIRRORED[way] if team == HOME else way


@kernel()
def on(state, square):
    """Return the byte of the board for a square."""
    return np.int64(state[BOARD + square])


@kernel()
def is_empty(state, square):
    """Return whether a square of the pitch is free of players."""
    return state[BOARD + square] == EMPTY


@kernel()
def is_outside(state, square):
    """Return whether a square is crowd."""
    return state[BOARD + square] == OUTSIDE


@kernel()
def team_of(player):
    """Return the team of a player."""
    return player >> 4


@kernel()
def stander(state, square):
    """Return the number of the player who stands on a square; NOBODY if none does."""
    byte = on(state, square)
    return byte if byte < DOWN else NOBODY


@kernel(types.int64(BYTES, types.int64, types.int64))
def zones(state, team, square):
    """Return how many tackle zones of a team cover a square."""
    rows = stride(state)
    count = 0
    for middle in (square - rows, square, square + rows):
        count += np.int64(on(state, middle - 1) >> 4 == team)
        count += np.int64(on(state, middle) >> 4 == team)
        count += np.int64(on(state, middle + 1) >> 4 == team)
    return count - np.int64(on(state, square) >> 4 == team)


@kernel()
def zones_on(state, player):
    """Return how many opposing tackle zones a player is in."""
    return zones(state, 1 - team_of(player), np.int64(record(state, STATE).square[player]))


@kernel()
def put(state, player, square):
    """Put a player who is not on the board on an empty square."""
    s = record(state, STATE)
    s.square[player] = square
    state[BOARD + square] = player + (DOWN if s.posture[player] != STANDING else 0)


@kernel()
def lift(state, player):
    """Take a player from the board."""
    s = record(state, STATE)
    state[BOARD + np.int64(s.square[player])] = EMPTY
    s.square[player] = 0


@kernel()
def move_to(state, player, square):
    """Move a player, and the ball with him if he carries it."""
    s = record(state, STATE)
    lift(state, player)
    put(state, player, square)
    if s.carrier == player:
        s.ball = square


@kernel()
def set_posture(state, player, posture):
    """Let a player on the board stand, or lie."""
    s = record(state, STATE)
    s.posture[player] = posture
    state[BOARD + np.int64(s.square[player])] = player + (DOWN if posture != STANDING else 0)


@kernel()
def ball_lies_on(state, square):
    """Return whether the ball lies loose on a square."""
    s = record(state, STATE)
    return s.carrier == NOBODY and s.ball == square


@kernel()
def in_end_zone(state, player):
    """Return whether a player is where his team scores."""
    s = record(state, STATE)
    x = column(state, np.int64(s.square[player]))
    return x == 1 if team_of(player) == HOME else x == s.width


@kernel()
def scores(state, player):
    """Return whether a player carries the ball in the end zone, standing."""
    return record(state, STATE).carrier == player and in_end_zone(state, player)


@kernel()
def in_half(state, team, square):
    """Return whether a square of the pitch is in a team's own half."""
    if is_outside(state, square):
        return False
    right = 2 * column(state, square) > record(state, STATE).width
    return right == (team == HOME)


@kernel()
def distance(state, first, second):
    """Return the distance of two squares in moves."""
    rows = stride(state)
    return max(abs(first // rows - second // rows), abs(first % rows - second % rows))


@kernel(types.void(BYTES))
def build_board(state):
    """Write the board from the list of players."""
    s = record(state, STATE)
    width, height = s.width, s.height
    for square in range((width + 2) * (height + 2)):
        x, y = square % (width + 2), square // (width + 2)
        inside = 1 <= x <= width and 1 <= y <= height
        state[BOARD + square] = EMPTY if inside else OUTSIDE
    for player in range(32):
        if s.square[player] > 0:
            put(state, player, np.int64(s.square[player]))
