"""Turned and mirrored boards are the same game."""

import numpy as np
import pytest

from mcts_envs.core.sampling import legal_actions
from mcts_envs.games.wall_survival.position import place, position
from mcts_envs.games.wall_survival.spec import wall_survival


def turn(cell, side, size, mirrored, quarters):
    """Return where a cell and its side come to in a mirror, and then after quarters of a turn to the right."""
    row, column = divmod(cell, size)
    if mirrored:
        column, side = size - 1 - column, -side % 4
    for _ in range(quarters):
        row, column, side = column, size - 1 - row, (side + 1) % 4
    return size * row + column, side


def turned(here, size, *how):
    """Return a position turned."""
    walls = [0] * size**2
    for cell, digit in enumerate(here["walls"]):
        for side in range(4):
            to, there = turn(cell, side, size, *how)
            walls[to] |= (int(digit, 16) >> side & 1) << there
    stands = {name: divmod(turn(size * here[name][0] + here[name][1], 0, size, *how)[0], size) for name in ("p0", "p1")}
    return {"turn": here["turn"], **stands, "walls": "".join(f"{digit:x}" for digit in walls)}


def seen(game, state, player):
    """Return what a player sees, flattened."""
    out = np.zeros(np.prod(game.observation_shape), np.float32)
    game.observe(state, player, out)
    return out


@pytest.mark.parametrize("number", range(1, 8))
@pytest.mark.parametrize(("size", "optional_wall"), [(3, False), (5, True), (9, False)])
def test_a_turned_game_is_the_game_turned(size, optional_wall, number):
    game, how = wall_survival(board_size=size, optional_wall=optional_wall), divmod(number, 4)
    views, cells = (game, game.variant("planes"), game.variant("distances")), range(size**2)
    to = [4 * at + there for cell in cells for side in range(4) for at, there in [turn(cell, side, size, *how)]]
    to = np.array(to + [4 * size**2 + turn(cell, 0, size, *how)[0] for cell in cells] * optional_wall)
    orders = [next(order for order, actions in view.symmetries if np.array_equal(actions, to)) for view in views]
    dice, here, there, rewards = np.random.default_rng(0), game.new_state(), game.new_state(), np.zeros((2, 2))
    game.restart(here, number), game.restart(there, number)
    place(there, turned(position(here), size, *how))
    while bits := game.active(here):
        legal = legal_actions(game, here, bits >> 1)
        assert sorted(to[legal]) == [*legal_actions(game, there, bits >> 1)]
        for view, order in zip(views, orders, strict=True):
            for player in range(2):
                assert np.array_equal(seen(view, here, player)[order], seen(view, there, player))
        action = dice.choice(legal)
        game.step(here, np.full(2, action), rewards[0]), game.step(there, np.full(2, to[action]), rewards[1])
        assert np.array_equal(*rewards)
