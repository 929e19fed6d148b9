"""Exact worth of connect four's positions: alpha-beta over bitboards, with a transposition table.

Bit 7 * column + row is a cell; ``mine`` are the stones of the player to move, ``stones`` all. Moves that let the other
win at once are left out, and those that make most threats come first (P. Pons, "Solving Connect 4", 2015).
"""

import numba
import numpy as np

U = np.uint64
BOTTOM = U(sum(1 << 7 * column for column in range(7)))
BOARD = BOTTOM * U(63)
ENTRIES = 1 << 23
_NONE = np.uint64(0)


def table():
    """Return an empty transposition table: keys and what is known, (least + 1) * 3 + greatest + 1."""
    return np.zeros(ENTRIES, np.uint64), np.zeros(ENTRIES, np.int8)


@numba.njit
def completing(mine):
    found = mine << U(1) & mine << U(2) & mine << U(3)
    for by in (U(6), U(7), U(8)):
        below, above = mine << by & mine << by * U(2), mine >> by & mine >> by * U(2)
        found |= below & (mine << by * U(3) | mine >> by) | above & (mine >> by * U(3) | mine << by)
    return found & BOARD


@numba.njit
def count(bits):
    n = 0
    while bits:
        bits &= bits - U(1)
        n += 1
    return n


@numba.njit
def search(mine, stones, low, high, keys, known):
    """Return the worth, -1, 0 or 1, for a player who cannot win at once; exact within (low, high)."""
    possible = (stones + BOTTOM) & BOARD
    lost = completing(mine ^ stones) & ~stones
    forced = possible & lost
    if forced:
        if forced & (forced - U(1)):
            return -1
        possible = forced
    possible &= ~(lost >> U(1))
    if not possible:
        return -1 if (stones + BOTTOM) & BOARD else 0
    if count(stones) >= 40:
        return 0
    key = mine + stones + BOTTOM
    place = np.int64((key * U(0x9E3779B97F4A7C15)) >> U(41))
    least, greatest = -1, 1
    if keys[place] == key:
        least, greatest = known[place] // 3 - 1, known[place] % 3 - 1
        if least >= high or least == greatest:
            return least
        if greatest <= low:
            return greatest
    moves, scores, n = np.empty(7, np.uint64), np.empty(7, np.int64), 0
    for column in (3, 2, 4, 1, 5, 0, 6):
        move = possible & (U(63) << U(7 * column))
        if move:
            score = count(completing(mine | move) & ~stones)
            i = n
            while i and scores[i - 1] < score:
                moves[i], scores[i] = moves[i - 1], scores[i - 1]
                i -= 1
            moves[i], scores[i] = move, score
            n += 1
    best, bound = -1, low
    for i in range(n):
        worth = -search(mine ^ stones, stones | moves[i], -high, -bound, keys, known)
        best = max(best, worth)
        bound = max(bound, best)
        if bound >= high:
            break
    if best > low:
        least = max(least, best)
    if best < high:
        greatest = min(greatest, best)
    keys[place], known[place] = key, (least + 1) * 3 + greatest + 1
    return best


@numba.njit
def worths(mine, stones, keys, known):
    """Return what each column is worth to the player to move: 1 wins, 0 draws, -1 loses; -2 is full."""
    found = np.full(7, -2)
    for column in range(7):
        move = (stones + BOTTOM) & BOARD & (U(63) << U(7 * column))
        if not move:
            continue
        other, after = mine ^ stones, stones | move
        if completing(mine) & move:
            found[column] = 1
        elif completing(other) & (after + BOTTOM) & BOARD & ~after:
            found[column] = -1
        elif after == BOARD:
            found[column] = 0
        else:
            found[column] = -search(other, after, -1, 1, keys, known)
    return found


def played(moves):
    """Return the stones of the player to move, and all, after some columns."""
    mine = stones = 0
    for column in map(int, moves):
        mine ^= stones
        stones |= (stones + int(BOTTOM)) & (63 << 7 * column)
    return U(mine), U(stones)
