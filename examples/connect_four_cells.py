"""Connect four as a network wants to see it: cells instead of bits. ``ConnectFourCells-v0``.

    python scripts/expert_iteration.py examples/connect_four_cells.py:ConnectFourCells-v0 --imitate mcts --openings 8

Four times 42 cells, as the player who looks sees them: its own stones and the other's, and the empty cells in which a
stone would make four for it, or for the other. With ``observation="planes"`` these are four planes, for convolutions;
with ``observation="lines"`` two more tell in how many lines of four an empty cell lies of which one side has two cells
and the other none. ``opening=4`` begins with so many random stones: players without chance would play the same game
again and again.
"""

from dataclasses import replace

import numpy as np
from connect_four import BOARD, BOTTOM, COLUMN, DIRECTIONS, GAME, ONE, OVER, STATE, reset

import mcts_envs
from mcts_envs.core.contract import OBSERVE, RESET, blank, state_dtype
from mcts_envs.core.errors import integer
from mcts_envs.core.kernel import count_bits, kernel, record
from mcts_envs.core.rng import below

OPENED = state_dtype([("mine", "u8"), ("landing", "u8"), ("opening", "u8")])
"""The state of connect four, and how many stones lie there at the start."""


@kernel()
def completing(stones):
    """Return the cells, taken or not, that make four of some stones: three on one side, or one and two on both."""
    found = stones & np.uint64(0)
    for by in DIRECTIONS:
        two, three = by + by, by + by + by
        below, above = stones << by & stones << two, stones >> by & stones >> two
        found |= below & (stones << three | stones >> by) | above & (stones >> three | stones << by)
    return found


@kernel()
def count_lines(stones, free):
    """Return in how many lines of four, two of them stones and two free, each free cell lies.

    The count of cell ``i`` has its digits in bit ``i`` of four numbers, the lowest digit first.
    """
    ones = twos = fours = eights = stones & np.uint64(0)
    for by in DIRECTIONS:
        odd = two = stones & np.uint64(0)
        usable = stones | free
        for k in range(4):
            at = stones >> np.uint64(k) * by
            two, odd = two ^ (odd & at), odd ^ at
            usable &= (stones | free) >> np.uint64(k) * by
        first = usable & two & ~odd  # two stones: not 0, 1, 3 or 4
        for k in range(4):
            carry = first << np.uint64(k) * by & free
            ones, carry = ones ^ carry, ones & carry
            twos, carry = twos ^ carry, twos & carry
            fours, carry = fours ^ carry, fours & carry
            eights |= carry
    return ones, twos, fours, eights


@kernel()
def sides(state, player):
    """Return the stones of a player, those of the other, and the free cells."""
    s = record(state, STATE)
    stones = (s.landing & ~OVER) - BOTTOM
    own = s.mine if count_bits(stones) & 1 == player else s.mine ^ stones
    return own, own ^ stones, BOARD & ~stones


@kernel(OBSERVE)
def observe(state, player, out):
    """Show stones and threats, the player's own first."""
    own, other, free = sides(state, player)
    mine, its = completing(own) & free, completing(other) & free
    for i in range(42):
        cell = np.uint64(i // 6 * 7 + i % 6)
        out[i] = np.float32(own >> cell & ONE)
        out[42 + i] = np.float32(other >> cell & ONE)
        out[84 + i] = np.float32(mine >> cell & ONE)
        out[126 + i] = np.float32(its >> cell & ONE)


@kernel(OBSERVE)
def observe_lines(state, player, out):
    """Show these, and the lines of four that either side has half."""
    observe(state, player, out)
    own, other, free = sides(state, player)
    for first, stones in ((168, own), (210, other)):
        ones, twos, fours, eights = count_lines(stones, free)
        for i in range(42):
            cell = np.uint64(i // 6 * 7 + i % 6)
            count = (ones >> cell & ONE) + 2 * (twos >> cell & ONE) + 4 * (fours >> cell & ONE)
            out[first + i] = np.float32(count + 8 * (eights >> cell & ONE))


@kernel(RESET)
def reset_opened(state, seed):
    """Empty the board, and drop the stones of the opening: too few for four in a row, or to fill a column."""
    reset(state, seed)
    s = record(state, OPENED)
    for _ in range(s.opening):
        stones, stone = s.landing - BOTTOM, s.landing & (COLUMN << np.uint64(7 * below(state, 7)))
        s.mine ^= stones
        s.landing += stone


def mirrored(planes):
    """Return the symmetry of so many planes: the board from behind."""
    return np.arange(42 * planes).reshape(planes, 7, 6)[:, ::-1].ravel().tolist(), range(6, -1, -1)


def cells(opening=0):
    """Return the game that begins with so many random stones, 0 to 6."""
    state = blank(OPENED)
    record(state, OPENED).opening = integer("opening", opening, 0, 6)
    shown = {"observe": observe, "observation_shape": (168,), "symmetries": (mirrored(4),)}
    lines = {"observe": observe_lines, "observation_shape": (6, 7, 6), "observation_high": 13.0}
    lines["symmetries"] = (mirrored(6),)
    variants = {"planes": {**shown, "observation_shape": (4, 7, 6)}, "lines": lines}
    return replace(GAME, template=state, reset=reset_opened, variants=variants, **shown)


CELLS = cells()
mcts_envs.register("ConnectFourCells-v0", cells)
