"""Record positions of connect four with what each move is worth: ``python -m tests.data.record_connect_four``.

``connect_four.json``: games of random moves, in which nobody leaves out a win of one move, nor lets the other have one
where that can be helped, with 10 to 28 stones; kept are positions in which a wrong move costs a win or a draw.
``connect_four_even.json``: games in which UCT with 1,000 simulations meets itself after up to eight random moves, a
position of each, whatever a wrong move costs. By an exact solver, ``tests/games/connect_four/solver.py``; half an hour.
"""

import json
import sys
from pathlib import Path

import numpy as np

import agents
from mcts_envs.core.view import View
from tests.games.connect_four import solver
from tests.games.connect_four.judge import state_after

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

COUNT, FEWEST, MOST = 500, 10, 28
EVEN, OPENINGS = 1000, 8
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


def met(agent, rng):
    """Return a game in which an agent meets itself after up to eight random moves."""
    from connect_four import GAME

    moves = ""
    openings = int(rng.integers(0, OPENINGS + 1))
    while GAME.active(state := state_after(GAME, moves)):
        legal = np.zeros(7, np.int64)
        count, player = GAME.legal(state, GAME.active(state) >> 1, legal), GAME.active(state) >> 1
        moves += str(rng.choice(legal[:count]) if len(moves) < openings else agent.act(View(GAME, state, player)))
    return moves


def critical():
    """Return the positions of random games in which a wrong move costs something."""
    rng, table, found = np.random.default_rng(0), solver.table(), {}
    while len(found) < COUNT:
        moves = played(int(rng.integers(FEWEST, MOST + 1)), rng)
        if moves is None or moves in found:
            continue
        worth = solver.worths(*solver.played(moves), *table).tolist()
        if len({each for each in worth if each > -2}) > 1:
            found[moves] = worth
    return found


def even():
    """Return positions of even games, in which there is a choice."""
    rng, table, found = np.random.default_rng(5), solver.table(), {}
    agent = agents.make("mcts", simulations=1000, seed=5)
    while len(found) < EVEN:
        moves = met(agent, rng)
        if len(moves) < 12:
            continue
        moves = moves[: int(rng.integers(9, len(moves) - 1))]
        worth = solver.worths(*solver.played(moves), *table).tolist()
        if sum(each > -2 for each in worth) > 1:
            found[moves] = worth
    return found


def main():
    """Write the files."""
    for file, found in ((FILE, critical()), (FILE.with_name("connect_four_even.json"), even())):
        lines = (f"{json.dumps(moves)}: {json.dumps(worth)}" for moves, worth in found.items())
        file.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
