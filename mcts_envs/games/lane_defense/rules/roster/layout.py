"""The bytes of a state of the roster game.

A state is the record :data:`STATE` (chance header, settings, tables, then what changes during play), followed
by four byte planes of ``rows * columns`` cells each. Cell (lane, column) has the index ``lane * columns + column``;
column 0 is next to the house and zombies enter at the last column. With ``cells = rows * columns``, plane ``p`` of a
cell is ``state[CELLS + p * cells + index]``:

========  =============================================================================================
PLANT     kind of the plant + 1, or 0. A cell never holds a plant and a zombie at once
ZOMBIE    kind of the zombie + 1, or 0
HP        hit points left of whichever stands there
MARK      of a plant: 1 if it is armed; of a zombie: leaps that it has left
========  =============================================================================================
"""

from mcts_envs.core.contract import state_dtype

MAX_ROWS, MAX_COLUMNS = 8, 16
MAX_PLANTS = MAX_ZOMBIES = MAX_WAVES = 6

ONGOING, WON, LOST, OUT_OF_TIME = range(4)
"""Values of the field ``end``."""

PLANT, ZOMBIE, HP, MARK = 0, 1, 2, 3
"""The planes of a cell."""

STATE = state_dtype(
    [
        # Rewards.
        ("reward_kill", "f8"),
        ("reward_eaten", "f8"),
        ("reward_win", "f8"),
        ("reward_loss", "f8"),
        # Probabilities a step.
        ("sky_sun", "f4"),
        ("plant_sun", "f4", MAX_PLANTS),
        ("plant_arms", "f4", MAX_PLANTS),
        ("zombie_move", "f4", MAX_ZOMBIES),
        ("wave_new", "f4", MAX_WAVES),
        # Steps: waves begin at first_wave, and wave w is over at wave_end[w].
        ("wave_end", "u2", MAX_WAVES),
        ("first_wave", "u2"),
        ("max_steps", "u2"),
        # Tables. zombie_hurt_by holds one bit a plant; wave_mix holds weights of the kinds of zombies.
        ("wave_flag", "u1", MAX_WAVES),
        ("wave_mix", "u1", (MAX_WAVES, MAX_ZOMBIES)),
        ("plant_cost", "u1", MAX_PLANTS),
        ("plant_hp", "u1", MAX_PLANTS),
        ("plant_recharge", "u1", MAX_PLANTS),
        ("plant_damage", "u1", MAX_PLANTS),
        ("plant_splash", "u1", MAX_PLANTS),
        ("plant_blast", "u1", MAX_PLANTS),
        ("zombie_hp", "u1", MAX_ZOMBIES),
        ("zombie_leaps", "u1", MAX_ZOMBIES),
        ("zombie_hurt_by", "u1", MAX_ZOMBIES),
        # Counts.
        ("rows", "u1"),
        ("columns", "u1"),
        ("plants", "u1"),
        ("zombies", "u1"),
        ("waves", "u1"),
        ("start_sun", "u1"),
        ("sun_cap", "u1"),
        ("with_mowers", "u1"),
        ("cells", "u1"),
        # Divisors of the observation.
        ("top_plant_hp", "u1"),
        ("top_zombie_hp", "u1"),
        ("top_leaps", "u1"),
        ("top_recharge", "u1"),
        # What changes during play. mowers holds 1 for each lane that still has its mower.
        ("t", "u2"),
        ("end", "u1"),
        ("sun", "u1"),
        ("recharge", "u1", MAX_PLANTS),
        ("mowers", "u1", MAX_ROWS),
    ]
)
CELLS = STATE.itemsize
PLANES = 4
