"""The first position: walls mirrored at the diagonal, items under the wood, players in the corners."""

import numpy as np

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import below
from mcts_envs.games.bomber_grid.rules.bits import (
    EVERY_HIGH,
    EVERY_LOW,
    add,
    any_of,
    both,
    common,
    count,
    first,
    flood,
    pair,
    put,
    rest,
    single,
    without,
)
from mcts_envs.games.bomber_grid.rules.layout import STATE, WIDTH

MOST_UNREACHABLE = 4
MOST_DRAWS = 1000
"""Among so many boards there must be one that counts: settings for which there is none are refused."""


@kernel()
def mirrored(cell):
    """Return the mirror image of a cell at the diagonal."""
    return cell % WIDTH * WIDTH + cell // WIDTH


@kernel(types.void(BYTES))
def _draw_walls(state):
    """Make pairs of cells rigid or wood: a uniform draw without replacement, in one pass."""
    s = record(state, STATE)
    pairs = pair(s.pairs)
    left = count(pairs)
    rigid = s.n_rigid // 2
    wood = (s.n_wood - count(pair(s.corridor))) // 2
    put(s.rigid, pair(s.outside))
    put(s.wood, pair(s.corridor))
    while any_of(pairs):
        cell = first(pairs)
        pairs = rest(pairs)
        drawn = below(state, left)
        left -= 1
        if drawn < rigid:
            rigid -= 1
            add(s.rigid, cell)
            add(s.rigid, mirrored(cell))
        elif drawn < rigid + wood:
            wood -= 1
            add(s.wood, cell)
            add(s.wood, mirrored(cell))


@kernel(types.int64(BYTES))
def unreachable(state):
    """Return how many passages a player in the corner opposite to player 0's could not reach through the wood."""
    s = record(state, STATE)
    open_cells = without((EVERY_LOW, EVERY_HIGH), pair(s.rigid))
    size = s.board_size
    reached = flood(single(WIDTH * (size - 2) + size - 2), open_cells)
    return count(without(without(open_cells, pair(s.wood)), reached))


@kernel(types.boolean(BYTES))
def can_be_drawn(state):
    """Return whether a board with at most four passages out of reach is drawn soon."""
    for _ in range(MOST_DRAWS):
        _draw_walls(state)
        if unreachable(state) <= MOST_UNREACHABLE:
            return True
    return False


@kernel(types.void(BYTES))
def _hide_items(state):
    """Put items under distinct cells of wood, each of a uniform kind."""
    s = record(state, STATE)
    cells = pair(s.wood)
    left, items = count(cells), s.n_items
    for kind in range(3):
        s.items[kind, 0] = s.items[kind, 1] = 0
    while items > 0:
        cell = first(cells)
        cells = rest(cells)
        if below(state, left) < items:
            items -= 1
            add(s.items[below(state, 3)], cell)
        left -= 1


@kernel(types.void(BYTES))
def build(state):
    """Draw boards until at most four passages are out of reach, then the items."""
    _draw_walls(state)
    while unreachable(state) > MOST_UNREACHABLE:
        _draw_walls(state)
    _hide_items(state)


@kernel()
def in_sight(s):
    """Return the cells whose item, if they have one, is to be seen: neither wood nor fire."""
    return without((EVERY_LOW, EVERY_HIGH), both(pair(s.wood), pair(s.fire)))


@kernel()
def seen_items(s):
    """Return the cells with an item that is to be seen."""
    a, b, c = pair(s.items[0]), pair(s.items[1]), pair(s.items[2])
    return common(in_sight(s), both(a, both(b, c)))


@kernel()
def bombs_of(s):
    """Return the cells with a bomb."""
    low, high = np.uint64(0), np.uint64(0)
    for bomb in range(s.n_bombs):
        here = single(np.int64(s.bomb_cell[bomb]))
        low |= here[0]
        high |= here[1]
    return low, high
