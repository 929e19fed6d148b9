"""Record positions of connect four with what each move is worth: ``python -m tests.data.record_connect_four``.

Games of random moves, in which nobody leaves out a win of one move, nor lets the other have one where that can be
helped, with 10 to 28 stones; kept are positions in which a wrong move costs a win or a draw. By an exact solver,
``tests/games/connect_four/solver.py``; some minutes.
"""

import json
from pathlib import Path

import numpy as np

from tests.games.connect_four import solver

COUNT, FEWEST, MOST = 500, 10, 28
FILE = Path(__file__).with_name("connect_four.json")


def played(stones, rng):
    """Return a random game of so many stones; None where it ends before."""
    moves = ""
    for _ in range(stones):
        mine, taken = solver.played(moves)
        free = (taken + solver.BOTTOM) & solver.BOARD
        other = solver.completing(mine ^ taken) & ~taken
        if solver.completing(mine) & free:
            return None
        sound = free & other or free & ~(other >> np.uint64(1)) or free
        moves += str(rng.choice([column for column in range(7) if int(sound) >> 7 * column & 63]))
    mine, taken = solver.played(moves)
    return None if solver.completing(mine) & (taken + solver.BOTTOM) & solver.BOARD else moves


def main():
    """Write the file."""
    rng, table, found = np.random.default_rng(0), solver.table(), {}
    while len(found) < COUNT:
        moves = played(int(rng.integers(FEWEST, MOST + 1)), rng)
        if moves is None or moves in found:
            continue
        worth = solver.worths(*solver.played(moves), *table).tolist()
        if len({each for each in worth if each > -2}) > 1:
            found[moves] = worth
    FILE.write_text(json.dumps(found, indent=0) + "\n")


if __name__ == "__main__":
    main()
