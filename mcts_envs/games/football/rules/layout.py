"""The bytes of a state of football-lite, and what its numbers mean.

A state is the record :data:`STATE` (chance header, settings, what changes during play), then the board: one byte for
every square of the pitch and of the strip of crowd around it, row by row. Square (x, y) has the index
``y * (width + 2) + x``; on the pitch x runs from 1 to ``width`` and y from 1 to ``height``. Home, team 0, scores on
x = 1; away, team 1, on x = ``width``.

Players have numbers: slot i of team t is number ``16 * t + i``. A byte of the board is

=============  ====================================================================================
0 to 31        that player, standing
32 to 63       player number less 32, prone or stunned
EMPTY          nobody
OUTSIDE        crowd
=============  ====================================================================================

so ``byte >> 4`` tells teams and postures apart at one glance: 0 and 1 standing players of home and away, 2 and 3 those
who lie on the ground.

What is still to happen lies on a stack of tasks (:mod:`mcts_envs.games.football.rules.tasks`); while a decision is
pending, the task on top is the one that waits for it.
"""

from mcts_envs.core.contract import state_dtype

MAX_SQUAD, PLAYERS = 16, 32
MAX_SQUARES = 512
MAX_FIELDED, MAX_FORMATIONS = 11, 4
MAX_TASKS, MAX_ROLLS = 48, 16

HOME, AWAY, NO_TEAM = 0, 1, 2
NOBODY = 255
DOWN, EMPTY, OUTSIDE = 32, 64, 80

ON_PITCH, RESERVES, KNOCKED_OUT, CASUALTIES, EJECTED = range(5)
"""Values of ``box``: where a player is."""

STANDING, PRONE, STUNNED = range(3)
"""Values of ``posture``."""

BLITZER, THROWER, CATCHER, LINEMAN = range(4)
"""Values of ``role``: they decide who lines up where, and nothing else."""

(SETUP, KICK, TOUCHBACK, TURN, ACTIVATION, REROLL, BLOCK_DICE, BLOCK_REROLL, PUSH, FOLLOW_UP, INTERCEPTION, OVER) = (
    range(12)
)
"""Values of ``phase``: what is to be decided."""

RUNNING = 255
"""Value of ``phase`` while tasks are being worked off; never between two steps."""

NO_ACTIVITY, MOVE, BLOCK, BLITZ, PASS, HANDOFF, FOUL = range(7)
"""Values of ``activity``: what the active player was chosen for."""

ATTACKER_DOWN, BOTH_DOWN, PUSHED, STUMBLE, DEFENDER_DOWN = range(5)
"""Faces of a block die."""

D3, D6, D8, BLOCK_DIE = range(4)
"""Kinds of dice in ``rolls``, which holds ``16 * kind + result`` for each die of the last step."""

EVENTS = 35
"""How many kinds of events are counted (:mod:`mcts_envs.games.football.rules.events`)."""

FIELDS = [
    # Settings.
    ("reward_touchdown", "f8"),
    ("max_steps", "u4"),
    ("width", "u1"),
    ("height", "u1"),
    ("squad", "u1"),
    ("members", "u1", 2),
    ("fielded", "u1"),
    ("halves", "u1"),
    ("turns_a_half", "u1"),
    ("stock", "u1"),
    ("kick_die", "u1"),
    ("throw_dice", "u1"),
    ("throw_die", "u1"),
    ("first_kicker", "u1"),
    ("paths", "u1"),
    ("mirrored", "u1"),
    ("skip_forced", "u1"),
    ("formations", "u1", 2),
    ("deep", "u1", (2, MAX_FORMATIONS)),
    ("places", "u1", (2, MAX_FORMATIONS, MAX_FIELDED, 2)),
    ("enlisted", "u1", (5, PLAYERS)),
    # The match.
    ("ma", "u1", PLAYERS),
    ("st", "u1", PLAYERS),
    ("ag", "u1", PLAYERS),
    ("av", "u1", PLAYERS),
    ("role", "u1", PLAYERS),
    ("t", "u4"),
    ("truncated", "u1"),
    ("phase", "u1"),
    ("decider", "u1"),
    ("side", "u1"),
    ("half", "u1"),
    ("opening_kicker", "u1"),
    ("kicker", "u1"),
    ("turn", "u1", 2),
    ("score", "u1", 2),
    ("rerolls", "u1", 2),
    ("reroll_used", "u1"),
    ("blitz_used", "u1"),
    ("pass_used", "u1"),
    ("handoff_used", "u1"),
    ("foul_used", "u1"),
    ("active_player", "u1"),
    ("activity", "u1"),
    ("blocked", "u1"),
    ("carrier", "u1"),
    ("defender", "u1"),
    ("block_dice", "u1"),
    ("faces", "u1"),
    ("fumbled", "u1"),
    ("waiting", "u1"),
    ("ball", "u2"),
    ("square", "u2", PLAYERS),
    ("box", "u1", PLAYERS),
    ("posture", "u1", PLAYERS),
    ("used", "u1", PLAYERS),
    ("moved", "u1", PLAYERS),
    ("tasks", "u4", MAX_TASKS),
    # A record of what happened, which no rule looks at.
    ("rolled", "u1"),
    ("rolls", "u1", MAX_ROLLS),
    ("events", "u2", EVENTS),
]
"""The fields of a state.

Settings: ``squad`` is R of the action space, ``members`` the players of each team; ``kick_die`` and ``throw_die`` are
numbers of sides, ``throw_dice`` how many of them; ``first_kicker`` NO_TEAM lets the seed choose. ``places[k]`` holds
the formations of the kicking (k = 0) and the receiving (k = 1) side as (column counted from the own end zone, row), and
``deep`` the index of the place for a thrower, NOBODY where there is none. ``enlisted`` are the squads, ``ma`` to
``role`` in this order: every match begins with them, and a position may say otherwise.

``side`` is the team whose turn it is, NO_TEAM between turns; ``decider`` the team to decide; ``waiting`` the number of
tasks. ``ball`` is 0 while the ball is not on the pitch. ``faces`` has a bit for each face that the block dice show.
``t`` counts decisions only where ``max_steps`` limits them. Of players in the reserves, ``used`` marks those who were
on the pitch when it was last cleared.
"""

STATE = state_dtype(FIELDS)

BOARD = STATE.itemsize
"""Index of the board's first byte."""
