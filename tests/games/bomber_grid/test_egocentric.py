"""The observation around the player, against plain Python."""

from collections import deque

import numpy as np
import pytest

import mcts_envs
from mcts_envs.core.kernel import record
from mcts_envs.games.bomber_grid.position import cells_of
from mcts_envs.games.bomber_grid.rules import egocentric
from mcts_envs.games.bomber_grid.rules.egocentric import NUMBERS, PLANES, RADIUS, SIDE
from mcts_envs.games.bomber_grid.rules.layout import STATE, WIDTH
from mcts_envs.games.bomber_grid.rules.sight import window
from mcts_envs.games.bomber_grid.spec import bomber_grid
from tests.games.bomber_grid.situations import disguise, moves_of, some_states

SETTINGS = ({}, {"view": 4}, {"mode": "team", "view": 3}, {"mode": "duel", "board_size": 8, "n_rigid": 12, "n_wood": 16,
            "n_items": 8}, {"mode": "radio", "view": 5})  # fmt: skip
WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}


def observed(game, state, player):
    """Return planes by name, [9, 9] each, and numbers by name."""
    variant = game.variant("egocentric")
    out = np.full(variant.observation_shape, np.nan, np.float32)
    before = state.copy()
    variant.observe(state, player, out)
    assert (state == before).all()
    assert ((out >= 0) & (out <= 1)).all()
    planes = out[: len(PLANES) * SIDE * SIDE].reshape(len(PLANES), SIDE, SIDE)
    return dict(zip(PLANES, planes, strict=True)), dict(zip(NUMBERS, out[planes.size :], strict=True))


def on_window(cells, here):
    """Return a plane of ones in some cells of the board."""
    plane = np.zeros((SIDE, SIDE))
    for row, column in cells:
        if abs(row - here[0]) <= RADIUS and abs(column - here[1]) <= RADIUS:
            plane[row - here[0] + RADIUS, column - here[1] + RADIUS] = 1
    return plane


def steps_from(goals, walk):
    """Return the steps from each cell to the nearest goal, over cells in ``walk``."""
    steps, queue = dict.fromkeys(goals, 0), deque(goals)
    while queue:
        cell = queue.popleft()
        for way in WAYS.values():
            target = cell[0] + way[0], cell[1] + way[1]
            if target in walk and target not in steps:
                steps[target] = steps[cell] + 1
                queue.append(target)
    return steps


def beside(cells):
    return {(row + way[0], column + way[1]) for row, column in cells for way in WAYS.values()}


class Known:
    """What a player sees of a state, as sets of cells."""

    def __init__(self, state, player):
        s = record(state, STATE)
        self.here = divmod(int(s.stands[player]), WIDTH)
        self.seen = cells_of(window(state, player))
        self.rigid, self.wood = cells_of(s.rigid) & self.seen, cells_of(s.wood) & self.seen
        self.bombs = {divmod(int(cell), WIDTH) for cell in s.bomb_cell[: s.n_bombs]} & self.seen
        self.items = set().union(*map(cells_of, s.items)) & self.seen - cells_of(s.wood) - cells_of(s.fire)
        self.walk = self.seen - self.rigid - self.wood - self.bombs
        team = player ^ 2 if s.mode in (2, 3) else None
        alive = {other for other in range(s.players) if s.alive >> other & 1 and other != player}
        stands = {other: divmod(int(s.stands[other]), WIDTH) for other in alive}
        self.stands = {other: cell for other, cell in stands.items() if cell in self.seen}
        self.mate = {cell for other, cell in self.stands.items() if other == team}
        self.enemies = set(self.stands.values()) - self.mate


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_it_shows_what_lies_around_the_player(settings):
    game = bomber_grid(**settings)
    for state in some_states(game, 12, seed=1):
        for player in range(game.players):
            known, (planes, numbers) = Known(state, player), observed(game, state, player)
            size = int(record(state, STATE).board_size)
            board = {(row, column) for row in range(size) for column in range(size)}
            around = {(r, c) for r in range(-RADIUS, WIDTH + RADIUS) for c in range(-RADIUS, WIDTH + RADIUS)}
            expected = {
                "fog": board - known.seen,
                "closed": known.rigid | (around - board),
                "wood": known.wood,
                "item": known.items,
                "bomb": known.bombs,
                "mate": known.mate,
                "enemy": known.enemies,
            }
            for name, cells in expected.items():
                np.testing.assert_array_equal(planes[name], on_window(cells, known.here), name)
            assert numbers["on_bomb"] == (known.here in known.bombs)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_ways_are_shortest_walks(settings):
    game = bomber_grid(**settings)
    met = 0
    for state in some_states(game, 12, seed=2):
        for player in range(game.players):
            known, (planes, numbers) = Known(state, player), observed(game, state, player)
            near = {cell for cell in known.walk if max(abs(np.subtract(cell, known.here))) <= RADIUS}
            steps = steps_from([known.here], near)
            walk = np.zeros((SIDE, SIDE), np.float32)
            for (row, column), far in steps.items():
                walk[row - known.here[0] + RADIUS, column - known.here[1] + RADIUS] = 1 / (1 + far)
            np.testing.assert_array_equal(planes["walk"], walk)
            goals = {
                "enemy": beside(known.enemies) & known.walk,
                "item": known.items,
                "wood": beside(known.wood) & known.walk,
            }
            for name, cells in goals.items():
                there = steps_from(cells, known.walk)
                next_to = {
                    way: there[cell]
                    for way, by in WAYS.items()
                    if (cell := (known.here[0] + by[0], known.here[1] + by[1])) in known.walk and cell in there
                }
                nearest = min(next_to.values(), default=None)
                if known.here in cells:
                    assert [numbers[f"{name}_{what}"] for what in ("near", *WAYS)] == [1, 0, 0, 0, 0]
                elif nearest is None or nearest >= egocentric._FAR:
                    assert numbers[f"{name}_near"] == 0
                else:
                    met += 1
                    assert numbers[f"{name}_near"] == np.float32(1 / (2 + nearest))
                    for way in WAYS:
                        assert numbers[f"{name}_{way}"] == (next_to.get(way) == nearest), (name, way)
    assert met > 15


def test_fire_is_what_comes_of_the_bombs_that_lie_there():
    game = bomber_grid(max_steps=2000)
    met = 0
    for state in some_states(game, 60, seed=3):
        s = record(state, STATE)
        if s.n_bombs == 0 or s.bomb_way[: s.n_bombs].any():
            continue
        lasts = int(s.fuse) + int(s.flame_life)
        for player in range(game.players):
            here = divmod(int(s.stands[player]), WIDTH)
            planes, _ = observed(game, state, player)
            burns = np.zeros((SIDE, SIDE), np.float32)
            later = state.copy()
            after = record(later, STATE)
            for steps in range(1, lasts + 1):
                game.step(later, np.zeros(game.players, np.int64), np.zeros(game.players))
                if not game.active(later):
                    break
                fresh = on_window(cells_of(after.fire), here) * np.float32((lasts + 1 - steps) / lasts)
                burns = np.maximum(burns, fresh.astype(np.float32))
            else:
                met += 1
                np.testing.assert_array_equal(planes["fire"], burns)
    assert met > 20


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_it_shows_nothing_that_is_hidden(settings):
    game, rng = bomber_grid(**settings), np.random.default_rng(4)
    for state in some_states(game, 25, seed=4):
        for player in range(game.players):
            known = observed(game, state, player)
            other = observed(game, disguise(state, player, rng), player)
            np.testing.assert_equal(known, other)


def test_safe_moves_are_those_of_the_mask():
    game = bomber_grid(mask="safe", view=4)
    for state in some_states(game, 20, seed=5):
        for player in range(game.players):
            if not game.active(state) >> player & 1:
                continue
            _, numbers = observed(game, state, player)
            safe = [move for move in range(6) if numbers[NUMBERS[egocentric._SAFE + move]]]
            assert not safe or safe == sorted(moves_of(game, state, player))


def test_a_batch_shows_it():
    env = mcts_envs.make_sb3_vec_env("BomberTeam-v0", 4, 0, observation="egocentric", mask="safe", seat="all")
    observations = env.reset()
    assert observations.shape == (4, len(PLANES) * SIDE * SIDE + len(NUMBERS))
    assert env.observation_space.contains(observations[0])
