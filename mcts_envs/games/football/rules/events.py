"""What is counted during a match. A rush is a square gone for beyond the movement allowance."""

import numpy as np

from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.rules.layout import STATE

NAMES = (
    "turnovers",
    "touchdowns",
    "turns",
    "knock_downs",
    "armour_broken",
    "armour_held",
    "stunned",
    "knocked_out",
    "casualties",
    "ejected",
    "pushed",
    "pushed_into_crowd",
    "follow_ups",
    "blocks",
    "fouls",
    "handoffs",
    "passes_accurate",
    "passes_inaccurate",
    "fumbles",
    "interceptions",
    "interceptions_failed",
    "dodges",
    "dodges_failed",
    "rushes",
    "rushes_failed",
    "pickups",
    "pickups_failed",
    "catches",
    "catches_failed",
    "stand_ups",
    "touchbacks",
    "throw_ins",
    "rerolls",
    "recovered",
    "not_recovered",
)
"""Names of the events; an event's number is its index."""

(
    TURNOVERS,
    TOUCHDOWNS,
    TURNS,
    KNOCK_DOWNS,
    ARMOUR_BROKEN,
    ARMOUR_HELD,
    STUNNED,
    KNOCKED_OUT,
    CASUALTIES,
    EJECTED,
    PUSHED,
    PUSHED_INTO_CROWD,
    FOLLOW_UPS,
    BLOCKS,
    FOULS,
    HANDOFFS,
    PASSES_ACCURATE,
    PASSES_INACCURATE,
    FUMBLES,
    INTERCEPTIONS,
    INTERCEPTIONS_FAILED,
    DODGES,
    DODGES_FAILED,
    RUSHES,
    RUSHES_FAILED,
    PICKUPS,
    PICKUPS_FAILED,
    CATCHES,
    CATCHES_FAILED,
    STAND_UPS,
    TOUCHBACKS,
    THROW_INS,
    REROLLS,
    RECOVERED,
    NOT_RECOVERED,
) = range(len(NAMES))


@kernel()
def count(state, event):
    """Count an event."""
    record(state, STATE).events[event] += np.uint16(1)
