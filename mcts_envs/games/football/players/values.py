"""What an unfinished match is worth to each team."""

import math

import numpy as np

from mcts_envs.core.contract import EVALUATE
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.rules.field import column, team_of, zones_on
from mcts_envs.games.football.rules.layout import (
    AWAY,
    CASUALTIES,
    EJECTED,
    HOME,
    KNOCKED_OUT,
    NOBODY,
    OVER,
    PRONE,
    STATE,
    STUNNED,
)


@kernel()
def _lead(state):
    s = record(state, STATE)
    return np.int64(s.score[0]) - np.int64(s.score[1])


@kernel()
def _at_the_end(state, values):
    """Value a match that is over by its result, 1 or -1; return whether it is."""
    if record(state, STATE).phase != OVER:
        return False
    lead = _lead(state)
    values[0] = np.int64(lead > 0) - np.int64(lead < 0)
    values[1] = -values[0]
    return True


@kernel()
def _losses(state, team, out, knocked_out, stunned, down):
    """Add up what a team's players off their feet cost: each casualty or ejection, knock-out, and so on."""
    s = record(state, STATE)
    cost = 0.0
    for player in range(16 * team, 16 * team + np.int64(s.members[team])):
        box, posture = s.box[player], s.posture[player]
        if box in (CASUALTIES, EJECTED):
            cost += out
        elif box == KNOCKED_OUT:
            cost += knocked_out
        elif posture == STUNNED:
            cost += stunned
        elif posture == PRONE:
            cost += down
    return cost


@kernel()
def to_go(state, team, square):
    """Return how many columns a square is away from where a team scores."""
    x = column(state, square)
    return x - 1 if team == HOME else record(state, STATE).width - x


@kernel()
def _turns_left(state, team):
    """Return the turns that a team has left in this half, with the one that it is in."""
    s = record(state, STATE)
    return s.turns_a_half - np.int64(s.turn[team]) + np.int64(s.side == team)


@kernel()
def _ball_worth(state, loose, held, progress, late, zone):
    """Value the ball for home, less for away: ``loose`` at an end zone, else ``held`` and ``progress`` made with it.

    Of these ``late`` is left where the carrier cannot score in this half; each of up to three tackle zones costs.
    """
    s = record(state, STATE)
    if s.carrier == NOBODY:
        if s.ball == 0:
            return 0.0
        middle = (s.width + 1) / 2
        return loose * (middle - column(state, s.ball)) / middle
    carrier = s.carrier
    team, here = team_of(carrier), np.int64(s.square[carrier])
    away, left = to_go(state, team, here), _turns_left(state, team)
    reach = np.int64(s.ma[carrier]) + 2
    worth = held + progress * (1.0 - away / s.width)
    if left * reach < away:
        worth *= late
    worth -= zone * min(zones_on(state, carrier), 3)
    return worth if team == HOME else -worth


@kernel(EVALUATE)
def evaluate(state, values):
    """Value the lead, possession and progress of the ball, and players on their feet; -1 to 1, exact at the end.

    Every further touchdown counts, but less and less; the ball before the end zone is worth less than a touchdown.
    """
    if _at_the_end(state, values):
        return
    own = 0.3 * _lead(state) + 0.35 * _ball_worth(state, 0.05, 0.15, 0.35, 0.3, 0.04)
    own -= _losses(state, 0, 0.04, 0.03, 0.02, 0.01) - _losses(state, 1, 0.04, 0.03, 0.02, 0.01)
    values[0] = own / math.sqrt(1.0 + own * own)
    values[1] = -values[0]


@kernel()
def _turns_of_match(state):
    """Return the turns that a team has left in the match, the mean of both."""
    s = record(state, STATE)
    halves = np.int64(s.halves) - np.int64(s.half)
    return halves * s.turns_a_half + 0.5 * (_turns_left(state, 0) + _turns_left(state, 1))


@kernel(EVALUATE)
def evaluate_fitted(state, values):
    """Value a match by who wins from there, -1 to 1: a logistic regression, exact at the end.

    It was fitted to 16,003 states of 346 games with eleven a side between ``tactical`` and itself or ``scripted``. The
    lead, the ball and the turn count the more the fewer turns are left, as 1 / sqrt(turns + 1), players who are out the
    less.
    """
    if _at_the_end(state, values):
        return
    s = record(state, STATE)
    turns = _turns_of_match(state)
    ball = _ball_worth(state, 1.52, -1.84, 5.48, 0.11, 0.3)
    now = 4.77 * _lead(state) + ball + 0.14 * (np.int64(s.side == HOME) - np.int64(s.side == AWAY))
    lost = _losses(state, 1, 0.43, 0.18, 0.0, 0.0) - _losses(state, 0, 0.43, 0.18, 0.0, 0.0)
    later = lost * (turns / (s.halves * s.turns_a_half)) ** 0.59
    values[0] = math.tanh(0.5 * (0.26 * _lead(state) + now / math.sqrt(turns + 1.0) + later))
    values[1] = -values[0]


@kernel()
def _tutorial_sum(state, team):
    s = record(state, STATE)
    ball = np.int64(s.carrier != NOBODY and team_of(s.carrier) == team)
    return np.int64(s.score[team]) / 10 + ball / 20 - _losses(state, team, 1 / 30, 1 / 50, 1 / 100, 1 / 200)


@kernel(EVALUATE)
def evaluate_tutorial(state, values):
    """Value as the tutorial of the published engine does: 0.5 + own - other; at the end 1, 0.5 or -1.

    Each team adds up score / 10 + 1 / 20 with the ball - 1 / 30 for each casualty and ejected player, 1 / 50 for each
    knocked out, 1 / 100 for each stunned and 1 / 200 for each prone one.
    """
    s = record(state, STATE)
    for team in range(2):
        if s.phase == OVER:
            lead = _lead(state) if team == HOME else -_lead(state)
            values[team] = 1.0 if lead > 0 else (0.5 if lead == 0 else -1.0)
        else:
            values[team] = 0.5 + _tutorial_sum(state, team) - _tutorial_sum(state, 1 - team)
