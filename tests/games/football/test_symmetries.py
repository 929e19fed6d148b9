"""A pitch mirrored along its length is the same game."""

import numpy as np
import pytest

from mcts_envs.core.sampling import legal_actions, seen
from tests.games.football.moves import played

_PUSHES = {way: 13 + at for at, way in enumerate(("nw", "n", "ne", "w", "e", "sw", "s", "se"))}


def mirrored(here, height):
    """Return a position mirrored: every square has its row counted from the other side."""
    if isinstance(here, dict):
        squares = {k: v for k, v in here.items() if k in ("at", "square", "from", "to") and isinstance(v, list)}
        return {k: mirrored(v, height) for k, v in here.items()} | {
            k: [x, height + 1 - y] for k, (x, y) in squares.items()
        }
    return [mirrored(each, height) for each in here] if isinstance(here, list) else here


def action_there(action, width, height, actions):
    """Return what an action is on the mirrored pitch."""
    cells = width * height
    if 13 <= action <= 20:
        way = next(way for way, number in _PUSHES.items() if number == action)
        return _PUSHES[way.translate(str.maketrans("ns", "sn"))]
    for first in (actions - 2 * cells, actions - cells):
        if first <= action < first + cells:
            y, x = divmod(action - first, width)
            return first + (height - 1 - y) * width + x
    return action


@pytest.mark.parametrize(
    ("size", "width", "height", "settings"),
    [(1, 4, 3, {}), (3, 12, 5, {"orientation": "absolute"}), (5, 16, 9, {}), (7, 20, 9, {"movement": "path"})],
)
def test_a_mirrored_pitch_looks_like_the_pitch_mirrored(size, width, height, settings):
    for seed in range(3):
        game, states = played(size, 150, seed, **settings)
        to = np.array([action_there(action, width, height, game.actions) for action in range(game.actions)])
        there = game.new_state()
        for here in states[:: 1 if size < 5 else 3]:
            game.restart(there, 0)
            game.place(there, mirrored(game.position(here), height))
            decider = int(game.active(here)) >> 1
            legal = legal_actions(game, here, decider)
            assert sorted(to[legal]) == sorted(legal_actions(game, there, decider))
            for view in (game, game.variant("planes")):
                ((order, actions),) = view.symmetries
                assert np.array_equal(actions, to)
                for player in range(2):
                    assert np.array_equal(seen(view, here, player).ravel()[order], seen(view, there, player).ravel())
