"""The first position: random walls and starting cells, both symmetric under half a turn of the board."""

from mcts_envs.core.contract import BYTES, types
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.rng import below
from mcts_envs.games.wall_survival.rules.bits import holds
from mcts_envs.games.wall_survival.rules.board import clear, open_sides, part, put_wall, stands
from mcts_envs.games.wall_survival.rules.layout import STATE


@kernel(types.boolean(BYTES))
def connected(state):
    """Return whether one player could walk to the other, given the time."""
    first, second = stands(state, 0), stands(state, 1)
    return holds(part(state, first, second), second)


@kernel()
def wall_pairs(state):
    """Return how many pairs of walls the generator puts up."""
    s = record(state, STATE)
    size = s.board_size
    return size // 2 - 1 if s.generator == 2023 else (size + 1) // 2


@kernel(types.void(BYTES))
def build(state):
    """Draw one board and the players' cells, in the order of the reference.

    A wall is a row, a column and a side, drawn until that side is free. The first player's cell is a row and a column,
    drawn until the players are apart, and with the generator of 2023 until they are connected; with that of 2022 they
    may come out separated.
    """
    s = record(state, STATE)
    size = s.board_size
    last = size * size - 1
    clear(state)
    for _ in range(wall_pairs(state)):
        cell, side = 0, 0
        while not open_sides(state, cell) >> side & 1:  # never open at first: cell 0, up
            row = below(state, size)
            cell = row * size + below(state, size)
            side = below(state, 4)
        put_wall(state, cell, side)
        put_wall(state, last - cell, (side + 2) % 4)
    while True:
        row = below(state, size)
        cell = row * size + below(state, size)
        s.stands[0], s.stands[1] = cell, last - cell
        if cell != last - cell and (s.generator != 2023 or connected(state)):
            break
