"""The state of the bomber grid as one record, and what its numbers mean."""

from mcts_envs.core.contract import state_dtype

WIDTH = 11
CELLS = WIDTH * WIDTH
MIN_SIZE, MAX_SIZE = 7, WIDTH
SEATS = 4
MAX_BOMBS = 64
MAX_FUSE = 16
MAX_FLAME_LIFE = 7
MAX_RINGS = 4
AMMO_CAP = 10
MOVES, WORDS = 6, 8

FFA, TEAM, RADIO, DUEL = 1, 2, 3, 4
"""Modes, numbered as the original's game types."""

PASSAGE, RIGID, WOOD, BOMB, FLAME, FOG, EXTRA_BOMB, RANGE, KICK, NOBODY, AGENT = range(11)
"""Codes of cells; player i is AGENT + i. The items are ``EXTRA_BOMB + k`` for k = 0, 1, 2."""

STOP, UP, DOWN, LEFT, RIGHT, LAY = range(6)
"""Actions, and directions of bombs (STOP: at rest)."""

ONGOING, WON, TIE = range(3)
FULL_VIEW = 255
NOT_KICKED = 255
TRAIL = 6

STATE = state_dtype(
    [
        ("reward_tie", "f8"),
        ("max_steps", "i4"),
        ("collapse", "i4", MAX_RINGS),
        ("n_rings", "u1"),
        ("board_size", "u1"),
        ("players", "u1"),
        ("mode", "u1"),
        ("radius", "u1"),
        ("n_rigid", "u1"),
        ("n_wood", "u1"),
        ("n_items", "u1"),
        ("blast_cap", "u1"),
        ("fuse", "u1"),
        ("flame_life", "u1"),
        ("pays_always", "u1"),
        ("only_safe", "u1"),
        ("homes", "u1", SEATS),
        ("outside", "u8", 2),
        ("corridor", "u8", 2),
        ("pairs", "u8", 2),
        ("t", "i4"),
        ("died", "i4", SEATS),
        ("end", "u1"),
        ("alive", "u1"),
        ("stands", "u1", SEATS),
        ("ammo", "u1", SEATS),
        ("strength", "u1", SEATS),
        ("kicks", "u1", SEATS),
        ("words", "u1", (SEATS, 2)),
        ("trail", "u8", SEATS),
        ("rigid", "u8", 2),
        ("wood", "u8", 2),
        ("fire", "u8", 2),
        ("items", "u8", (3, 2)),
        ("flames", "u8", (MAX_FLAME_LIFE + 1, 2)),
        ("n_bombs", "u1"),
        ("bomb_cell", "u1", MAX_BOMBS),
        ("bomb_owner", "u1", MAX_BOMBS),
        ("bomb_life", "u1", MAX_BOMBS),
        ("bomb_strength", "u1", MAX_BOMBS),
        ("bomb_way", "u1", MAX_BOMBS),
        ("aim", "u1", SEATS),
        ("counts", "u8", (4, 2)),
        ("bomb_aim", "u1", MAX_BOMBS),
        ("bomb_kicker", "u1", MAX_BOMBS),
    ]
)
"""The state. The fields up to ``pairs`` are settings; the last four of them follow from the size and the mode:

- ``homes``: where players start.
- ``outside``: cells of the grid that do not belong to the board.
- ``corridor``: cells that are wood at the start of every game.
- ``pairs``: cells above the diagonal that chance makes rigid, wood or free, each together with its mirror image.

Every board lies in the upper left of a grid of 11 x 11: the cell (row, column) has the index ``11 * row + column``,
which is also its bit in the boards of bits; cells outside a smaller board are rigid. ``radius`` is that of the view, or
FULL_VIEW.

- ``items``: by kind, seen or not. An item is in sight where there is neither wood nor fire.
- ``flames``: by life, 0 to ``flame_life``; a cell may burn with several. ``fire`` is their union.
- ``died``: the step in which a player died, 0 for the living. A dead player stands where it died.
- ``trail``: where a player stood in the last six steps, a byte each, the latest lowest: its cell + 1. No rule asks for
  it, but players remember their way.
- Bombs: ``bomb_way`` is the direction in which a bomb rolls. Entries from ``n_bombs`` on are 0.

The last four fields are for work within a step and 0 between steps; but for ``aim`` in what a player imagines who has a
radio (:mod:`~mcts_envs.games.bomber_grid.rules.radio`).
"""
