"""The observation of those who remember: what they see, then what they remember."""

import numpy as np

from mcts_envs.core.contract import OBSERVE
from mcts_envs.core.kernel import kernel, record
from mcts_envs.games.bomber_grid.rules.bits import any_of, first, has, pair, rest
from mcts_envs.games.bomber_grid.rules.layout import MAX_SIZE, STATE
from mcts_envs.games.bomber_grid.rules.memory import memory_of
from mcts_envs.games.bomber_grid.rules.observe import NUMBERS, PLANES, mark, observe, place_of

MEMORY_PLANES = (
    "known", "rigid", "wood", "extra_bomb", "range", "kick", "flame", "bomb_life", "bomb_strength", "bomb_mine",
    "last_1", "last_2", "last_3",
)  # fmt: skip
"""Planes of what a player remembers, after the numbers of what it sees.

``last_k`` is where it saw the k-th player from itself on last, and 1 / (1 + steps since then).
"""

_KNOWN, _RIGID, _WOOD, _ITEMS, _FLAME, _LIFE, _STRENGTH, _MINE, _LAST = 0, 1, 2, 3, 6, 7, 8, 9, 10


@kernel(OBSERVE)
def observe_remembered(state, player, out):
    """What a player sees, planes and numbers, then the planes of what it remembers."""
    s, m, one = record(state, STATE), memory_of(state, player), np.float32(1.0)
    cells = s.board_size * s.board_size
    observe(state, player, out)
    shown = out[len(PLANES) * cells + len(NUMBERS) :]
    for i in range(len(MEMORY_PLANES) * cells):
        shown[i] = 0.0
    mark(s, shown, _KNOWN, pair(m.known), one)
    mark(s, shown, _RIGID, pair(m.rigid), one)
    mark(s, shown, _WOOD, pair(m.wood), one)
    for kind in range(3):
        mark(s, shown, _ITEMS + kind, pair(m.items[kind]), one)
    for life in range(s.flame_life + 1):
        mark(s, shown, _FLAME, pair(m.flames[life]), np.float32((life + 1) / (s.flame_life + 1)))
    bombs = pair(m.bombs)
    while any_of(bombs):
        cell = first(bombs)
        bombs = rest(bombs)
        shown[_LIFE * cells + place_of(s, cell)] = np.int64(m.life[cell]) / s.fuse
        shown[_STRENGTH * cells + place_of(s, cell)] = np.int64(m.strength[cell]) / MAX_SIZE
        shown[_MINE * cells + place_of(s, cell)] = np.float32(has(m.mine, cell))
    for k in range(1, s.players):
        other = (player + k) % s.players
        place, since = place_of(s, np.int64(m.last_cell[other])), s.t - np.int64(m.last_step[other])
        shown[(_LAST + k - 1) * cells + place] = np.float32(1.0 / (1 + since))
