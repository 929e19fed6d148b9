"""The observations read back by their documentation alone, and compared with the position."""

import numpy as np
import pytest

import mcts_envs

SETTINGS = (
    ("Bomber-v0", {"flame_life": 4, "max_steps": 60}),
    ("BomberRadio-v0", {}),
    ("BomberDuel-v0", {"memory": True, "view": 2, "fuse": 5, "flame_life": 3, "collapse": [9]}),
)


def steps_left(flames):
    """Return the life of the youngest flame of each cell."""
    found = {}
    for row, column, life in flames:
        found[row, column] = max(life, found.get((row, column), -1))
    return found


class Reader:
    """What a player sees of one position, and remembers of those before."""

    def __init__(self, kind, settings, seat):
        self.seat, self.radio, self.teams = seat, "Radio" in kind, "Radio" in kind
        self.view = settings.get("view", 4 if self.radio else None)
        self.fuse, self.flame_life = settings.get("fuse", 10), settings.get("flame_life", 2)
        self.collapse = settings.get("collapse", ())
        self.codes, self.flames, self.bombs, self.last = {}, {}, {}, {}

    def look(self, position):
        """Take in what is seen now; what the fog covers grows older."""
        self.position, self.board = position, np.array(position["board"])
        self.n = len(self.board)
        _, row, column, *_ = position["agents"][self.seat]
        radius = self.n if self.view is None else self.view
        cells = [(r, c) for r in range(self.n) for c in range(self.n)]
        self.seen = {(r, c) for r, c in cells if abs(r - row) <= radius and abs(c - column) <= radius}
        self.flames = {cell: life - 1 for cell, life in self.flames.items() if life > 0}
        self.bombs = {cell: (left - 1, *rest) for cell, (left, *rest) in self.bombs.items() if left > 1}
        for ring, step in enumerate(self.collapse):
            for r, c in cells if step == position["step_count"] else ():
                if min(r, c, self.n - 1 - r, self.n - 1 - c) == ring:
                    self.codes[r, c] = 1
                    self.flames.pop((r, c), None), self.bombs.pop((r, c), None)
        self.flames = {cell: life for cell, life in self.flames.items() if cell not in self.seen}
        self.flames |= {cell: life for cell, life in steps_left(position["flames"]).items() if cell in self.seen}
        self.bombs = {cell: bomb for cell, bomb in self.bombs.items() if cell not in self.seen}
        for r, c, owner, left, strength, way in position["bombs"]:
            if (r, c) in self.seen and way == 0:
                self.bombs[r, c] = left, strength, owner == self.seat
        self.codes |= {cell: self.board[cell] for cell in self.seen}
        for player, (alive, r, c, *_) in enumerate(position["agents"]):
            if player not in self.last or (alive and (r, c) in self.seen):
                self.last[player] = r, c, position["step_count"]

    def solid(self, boards, codes, flames):
        """Write rigid, wood, items and flames to seven boards."""
        for cell, code in codes.items():
            if code in (1, 2, 6, 7, 8):
                boards[(1, 2, 6, 7, 8).index(code)][cell] = 1
        for cell, life in flames.items():
            boards[5][cell] = (life + 1) / (self.flame_life + 1)

    def boards(self):
        """Return the seventeen boards."""
        boards = np.zeros((17, self.n, self.n))
        boards[0] = 1
        boards[0][tuple(zip(*self.seen, strict=True))] = 0
        seen = {cell: self.board[cell] for cell in self.seen}
        self.solid(boards[1:], seen, {cell: life for cell, life in self.flames.items() if cell in self.seen})
        for r, c, owner, left, strength, way in self.position["bombs"]:
            if (r, c) in self.seen:
                boards[7:10, r, c] = left / self.fuse, strength / 11, owner == self.seat
                boards[10:14, r, c] = np.arange(1, 5) == way
        for player, (alive, r, c, *_) in enumerate(self.position["agents"]):
            if alive and (r, c) in self.seen:
                boards[14 if player == self.seat else 15 if self.teams and player == self.seat ^ 2 else 16, r, c] = 1
        return boards

    def numbers(self, max_steps):
        """Return the twelve numbers."""
        agents, words = self.position["agents"], self.position.get("words")
        _, row, column, ammo, strength, kick = agents[self.seat]
        alive = [agents[(self.seat + k) % len(agents)][0] if k < len(agents) else 0 for k in range(4)]
        said = [word / 7 for word in words[self.seat ^ 2]] if words else [0, 0]
        here = row / (self.n - 1), column / (self.n - 1)
        return [self.position["step_count"] / max_steps, *here, ammo / 10, strength / 11, kick, *alive, *said]

    def remembered(self):
        """Return the thirteen boards of ``observation="memory"``."""
        boards = np.zeros((13, self.n, self.n))
        boards[0][tuple(zip(*self.codes, strict=True))] = 1
        self.solid(boards[1:], self.codes, self.flames)
        for cell, (left, strength, mine) in self.bombs.items():
            boards[(slice(7, 10), *cell)] = left / self.fuse, strength / 11, mine
        for k in range(1, len(self.position["agents"])):
            r, c, step = self.last[(self.seat + k) % len(self.position["agents"])]
            boards[9 + k, r, c] = 1 / (1 + self.position["step_count"] - step)
        return boards


@pytest.mark.parametrize(("kind", "settings"), SETTINGS, ids=lambda value: str(value))
def test_they_say_what_the_docstring_says(kind, settings):
    remembers = settings.get("memory", False)
    env = mcts_envs.make_parallel(kind, observation="memory" if remembers else "flat", **settings)
    words, rng = 64 if kind == "BomberRadio-v0" else 1, np.random.default_rng(0)
    for seed in range(2):
        observations, _ = env.reset(seed=seed)
        readers = [Reader(kind, settings, seat) for seat in range(len(env.possible_agents))]
        while env.agents:
            position = env.position()
            for agent, observation in observations.items():
                reader = readers[int(agent[-1])]
                reader.look(position)
                boards = [reader.boards().ravel(), reader.numbers(settings.get("max_steps", 800))]
                boards += [reader.remembered().ravel()] if remembers else []
                np.testing.assert_allclose(observation["observation"], np.concatenate(boards), atol=1e-6)
            moves = {agent: rng.choice(6, p=(0.1, 0.2, 0.2, 0.2, 0.2, 0.1)) for agent in env.agents}
            actions = {agent: int(move) * words + int(rng.integers(words)) for agent, move in moves.items()}
            observations, *_ = env.step(actions)
