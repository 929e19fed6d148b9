"""A naive second implementation of wall survival, and its recorded games."""

import gzip
import hashlib
import json
from pathlib import Path

import numpy as np

from mcts_envs.core.kernel import record
from mcts_envs.games.wall_survival.position import place
from mcts_envs.games.wall_survival.rules import board
from mcts_envs.games.wall_survival.rules.layout import SEPARATED, STATE

DATA = Path(__file__).parent / "data"
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))


def records(name):
    with gzip.open(DATA / f"{name}.jsonl.gz", "rt") as file:
        return [json.loads(line) for line in file]


# The naive implementation: sets and queues, no bits, nothing kept from one question to the next.


class Naive:
    """A position in plain Python; ``walls`` is a list of rows of sets of sides."""

    def __init__(self, given, reach=None):
        size = self.size = given["M"]
        self.reach = given["K"] if reach is None else reach
        digits = [int(digit, 16) for digit in given["walls"]]
        sides = [{side for side in range(4) if digit >> side & 1} for digit in digits]
        self.walls = [sides[row * size : (row + 1) * size] for row in range(size)]
        self.players = [tuple(given["p0"]), tuple(given["p1"])]
        self.turn = given.get("turn", 0)

    def flood(self, start, steps, blocked=None):
        reached = {start: 0}
        queue = [start]
        for row, column in queue:
            if reached[row, column] == steps:
                continue
            for side, (down, right) in enumerate(MOVES):
                cell = row + down, column + right
                if side not in self.walls[row][column] and cell != blocked and cell not in reached:
                    reached[cell] = reached[row, column] + 1
                    queue.append(cell)
        return reached

    def legal(self, player, optional_wall=False):
        cells = sorted(self.flood(self.players[player], self.reach, self.players[1 - player]))
        actions = [(r, c, d) for r, c in cells for d in range(4) if d not in self.walls[r][c]]
        return actions + [(r, c, None) for r, c in cells if optional_wall]

    def end(self):
        parts = [self.flood(player, 10**6) for player in self.players]
        return [self.players[1] not in parts[0], len(parts[0]), len(parts[1])]

    def play(self, row, column, side):
        self.players[self.turn] = row, column
        self.turn = 1 - self.turn
        if side is not None:
            self.walls[row][column].add(side)
            self.walls[row + MOVES[side][0]][column + MOVES[side][1]].add((side + 2) % 4)

    def undo(self, side, before):
        self.turn = 1 - self.turn
        row, column = self.players[self.turn]
        self.walls[row][column].remove(side)
        self.walls[row + MOVES[side][0]][column + MOVES[side][1]].remove((side + 2) % 4)
        self.players[self.turn] = before

    def text(self):
        return "".join(f"{sum(1 << side for side in sides):x}" for row in self.walls for sides in row)

    def voronoi(self):
        mine, yours = (self.flood(player, 10**6) for player in self.players)
        return sum(mine[cell] < yours[cell] for cell in mine), sum(yours[cell] < mine[cell] for cell in mine)

    def perft(self, depth):
        actions = self.legal(self.turn)
        if depth == 1:
            return len(actions)
        total = 0
        for row, column, side in actions:
            before = self.players[self.turn]
            self.play(row, column, side)
            total += 0 if self.end()[0] else self.perft(depth - 1)
            self.undo(side, before)
        return total


# The same of the game's own states.


def legal_of_state(game, state, player):
    """Return legal actions as (row, column, side); side None: no wall."""
    size = int(record(state, STATE).board_size)
    actions = np.full(game.actions, -1)
    listed = actions[: game.legal(state, player, actions)].tolist()
    assert listed == sorted(listed)
    return [triple(action, size) for action in listed]


def triple(action, size):
    if action < 4 * size * size:
        return action // 4 // size, action // 4 % size, action % 4
    return *divmod(action - 4 * size * size, size), None


def number(action, size):
    row, column, side = action
    return 4 * size * size + row * size + column if side is None else 4 * (row * size + column) + side


def digest(actions):
    return hashlib.sha256(";".join(f"{r},{c},{d}" for r, c, d in actions).encode()).hexdigest()[:12]


def state_hash(found):
    text = "{M}|{turn}|{p0[0]},{p0[1]}|{p1[0]},{p1[1]}|{walls}".format(**found)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def end_of(state):
    """Return [over, s0, s1] as the recordings have it."""
    s = record(state, STATE)
    parts = [sum(int(word).bit_count() for word in board.part(state, int(cell), -1)) for cell in s.stands]
    over = s.end == SEPARATED
    assert s.area.tolist() == (parts if over else [0, 0])
    return [bool(over), *parts]


def at(game, given):
    """Return a state set up from a position that may be over."""
    state = game.new_state()
    game.reset(state, np.uint64(0))
    place(state, {key: given[key] for key in ("M", "K", "p0", "p1", "walls")} | {"turn": given.get("turn", 0)})
    return state


def perft_file():
    return json.loads((DATA / "perft.json").read_text())
