"""A board whose lanes stand in the other order is the same game."""

import numpy as np
import pytest

from mcts_envs.core.sampling import legal_actions, seen
from mcts_envs.games.lane_defense.spec.classic import lane_defense
from mcts_envs.games.lane_defense.spec.roster import roster_defense

GAMES = lane_defense(), lane_defense(4, 7), roster_defense(mowers=True), roster_defense(4, 6)


def mirrored(here, rows):
    """Return a position of either game with its lanes in the other order."""
    if "board" in here:
        return {**here, "board": np.array(here["board"]).reshape(rows, -1)[::-1].tolist()}
    lanes = {kind: [{**each, "lane": rows - 1 - each["lane"]} for each in here[kind]] for kind in ("plants", "zombies")}
    return {**here, **lanes, "mowers": sorted(rows - 1 - lane for lane in here["mowers"])}


@pytest.mark.parametrize("game", GAMES, ids=repr)
def test_a_mirrored_board_looks_like_the_board_mirrored(game):
    rows, columns = game.variant("planes").observation_shape[1:]
    to = np.arange(game.actions)
    to[:-1] = to[:-1].reshape(-1, rows, columns)[:, ::-1].ravel()
    dice, here, there, rewards = np.random.default_rng(0), game.new_state(), game.new_state(), np.zeros(1)
    met = 0
    for seed in range(30):
        game.restart(here, seed), game.restart(there, seed)
        while game.active(here) and met < 1000:
            met += 1
            game.place(there, mirrored(game.position(here), rows))
            legal = legal_actions(game, here, 0)
            assert sorted(to[legal]) == sorted(legal_actions(game, there, 0))
            for view in (game, game.variant("planes")):
                ((order, actions),) = view.symmetries
                assert np.array_equal(actions, to)
                assert np.array_equal(seen(view, here, 0).ravel()[order], seen(view, there, 0).ravel())
            game.step(here, np.array([dice.choice(legal)]), rewards)
    assert met > 50
