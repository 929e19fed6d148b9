"""Turned and mirrored boards are the same game."""

from dataclasses import replace

import numpy as np
import pytest

from mcts_envs.core.sampling import legal_actions, seen
from mcts_envs.games.bomber_grid.spec import bomber_grid
from mcts_envs.games.bomber_grid.symmetries import TURNS
from tests.games.bomber_grid.situations import some_states

WAYS = (0, 0), (-1, 0), (1, 0), (0, -1), (0, 1), (0, 0)


class Turned:
    """A board of n x n cells, turned by a matrix."""

    def __init__(self, size, turn):
        self.size, self.matrix = size, np.reshape(turn, (2, 2))

    def cell(self, row, column):
        centre = (self.size - 1) / 2
        return [round(x + centre) for x in self.matrix @ (row - centre, column - centre)]

    def way(self, move):
        return move if move in (0, 5) else WAYS.index(tuple(self.matrix @ WAYS[move]))

    def board(self, codes):
        turned = np.zeros_like(codes)
        for (row, column), code in np.ndenumerate(codes):
            turned[*self.cell(row, column)] = code
        return turned.tolist()

    def cells(self, rows):
        return sorted([*self.cell(row, column), *rest] for row, column, *rest in rows)

    def bombs(self, bombs):
        return [[*self.cell(row, column), *rest, self.way(way)] for row, column, *rest, way in bombs]

    def position(self, here):
        """Return a position turned, with the same players where their cells come to."""
        there = {
            **here,
            "board": self.board(here["board"]),
            "items": self.cells(here["items"]),
            "agents": [[alive, *self.cell(row, column), *kit] for alive, row, column, *kit in here["agents"]],
            "bombs": self.bombs(here["bombs"]),
            "flames": self.cells(here["flames"]),
            "trail": [[cell if cell is None else self.cell(*cell) for cell in cells] for cells in here["trail"]],
        }
        if "memory" in here:
            there["memory"] = [
                {
                    "board": self.board(each["board"]),
                    "bombs": self.cells(each["bombs"]),
                    "flames": self.cells(each["flames"]),
                    "last": [[*self.cell(row, column), step] for row, column, step in each["last"]],
                }
                for each in here["memory"]
            ]
        return there


@pytest.mark.parametrize("number", range(7))
@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"mode": "duel", "board_size": 8, "n_rigid": 12, "n_wood": 16, "n_items": 8}, ("planes", "egocentric")),
        ({"mode": "team", "view": 3, "memory": True}, ("memory", "egocentric")),
        ({"mask": "safe"}, ("egocentric",)),
    ],
)
def test_a_turned_board_looks_like_the_board_turned(settings, names, number):
    game = bomber_grid(**settings)
    size = game.variant("planes").observation_shape[1]
    turned, there = Turned(size, TURNS[number]), game.new_state()
    to = np.array([turned.way(move) for move in range(6)])
    for here in some_states(game, 12, number):
        game.restart(there, 0)
        game.place(there, turned.position(game.position(here)))
        for player in range(game.players):
            if game.active(here) >> player & 1:
                legal = legal_actions(game, here, player)
                assert sorted(to[legal]) == sorted(legal_actions(game, there, player))
            for view in (game, *map(game.variant, names)):
                looks, actions = view.symmetries[number]
                assert np.array_equal(actions, to)
                shown = seen(view, here, player).reshape(1, -1)
                np.testing.assert_allclose(looks(shown)[0], seen(view, there, player).ravel(), atol=1e-6)


def test_with_a_radio_none_is_named():
    game = bomber_grid(mode="radio")
    assert not any(view.symmetries for view in (game, game.variant("egocentric"), game.variant("planes")))


def test_a_function_that_turns_must_keep_the_shape():
    game = bomber_grid()
    with pytest.raises(ValueError, match=r"symmetries\[0\] of bomber_grid turns observations .* into shape \(1, 3\)"):
        replace(game, symmetries=((lambda shown: shown[:, :3], range(6)),))
