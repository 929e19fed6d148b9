"""Numbers needed on the dice.

Every roll of a d6 fails on a natural 1 and succeeds on a natural 6; else the die plus modifiers must reach a target, 6
less one for each point of agility above 1.
"""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.football.rules.field import (
    neighbour,
    on,
    stride,
    team_of,
    zones,
    zones_on,
)
from mcts_envs.games.football.rules.layout import STATE

TOO_FAR = 5
_RANGES = np.array(
    [
        [0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4],
        [1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4],
        [1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5],
        [1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5],
        [2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5],
        [2, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5],
        [2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 5, 5],
        [3, 3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 5, 5, 5],
        [3, 3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5],
        [3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5],
        [3, 3, 3, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5],
        [4, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5],
        [4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5],
        [4, 4, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5],
    ],
    np.int64,
)
"""Range of a pass by rows and columns: 1 quick, 2 short, 3 long, 4 bomb, 5 too far."""


@kernel()
def target(state, player):
    """Return the target of a player's agility rolls."""
    return 7 - min(np.int64(record(state, STATE).ag[player]), 6)


@kernel()
def needed(state, player, modifier):
    """Return the natural result that an agility roll needs, 2 to 6."""
    return min(max(target(state, player) - modifier, 2), 6)


@kernel()
def dodge_needs(state, player, square):
    """Return what a player needs to dodge into a square."""
    return needed(state, player, 1 - zones(state, 1 - team_of(player), square))


@kernel()
def pick_up_needs(state, player, square):
    """Return what a player needs to pick the ball up from a square."""
    return needed(state, player, 1 - zones(state, 1 - team_of(player), square))


@kernel()
def catch_needs(state, player, bonus):
    """Return what a player needs to catch: ``bonus`` is 1 for an accurate pass or hand-off, -2 to intercept."""
    return needed(state, player, bonus - zones_on(state, player))


@kernel()
def pass_range(state, first, second):
    """Return the range of a pass between two squares, 1 to 5; 0 for the same square."""
    rows = stride(state)
    dy, dx = abs(first // rows - second // rows), abs(first % rows - second % rows)
    return TOO_FAR if dy > 13 or dx > 13 else _RANGES[dy, dx]


@kernel()
def pass_modifier(state, player, square):
    """Return the modifier of a pass to a square."""
    here = np.int64(record(state, STATE).square[player])
    return 2 - pass_range(state, here, square) - zones_on(state, player)


@kernel(types.int64(BYTES, types.int64, types.int64))
def assists(state, helped, against):
    """Return how many team-mates help a player against another.

    A helper stands next to the other, and in no opposing tackle zone but the other's (who has none if he is down).
    """
    team = team_of(helped)
    there = np.int64(record(state, STATE).square[against])
    own_zone = np.int64(on(state, there) >> 4 == 1 - team)
    count = 0
    for direction in range(8):
        square = neighbour(state, there, direction)
        byte = on(state, square)
        if byte >> 4 == team and byte != helped:
            count += np.int64(zones(state, 1 - team, square) == own_zone)
    return count


@kernel(types.int64(BYTES, types.int64, types.int64))
def block_strength(state, attacker, defender):
    """Return how many block dice are thrown, negative if the defender's coach chooses among them."""
    s = record(state, STATE)
    own = np.int64(s.st[attacker]) + assists(state, attacker, defender)
    other = np.int64(s.st[defender]) + assists(state, defender, attacker)
    if own == other:
        return 1
    if own > other:
        return 3 if own > 2 * other else 2
    return -3 if other > 2 * own else -2


@kernel()
def foul_modifier(state, fouler, victim):
    """Return the modifier of a foul's armour roll: own assists less those against."""
    return assists(state, fouler, victim) - assists(state, victim, fouler)
