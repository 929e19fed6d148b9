"""Connect four in a mirror, and which symmetries a game may name."""

from dataclasses import replace

import connect_four  # examples/connect_four.py
import numpy as np
import pytest
from connect_four import GAME

from mcts_envs.core.api.adapter import configured
from mcts_envs.core.sampling import legal_actions


def test_a_mirrored_game_is_the_game_in_a_mirror():
    from connect_four_cells import CELLS

    (order, turned), dice = CELLS.symmetries[0], np.random.default_rng(0)
    here, there = CELLS.new_state(), CELLS.new_state()
    shown, mirrored, rewards = np.zeros(168, np.float32), np.zeros(168, np.float32), np.zeros((2, 2))
    for seed in range(20):
        CELLS.restart(here, seed), CELLS.restart(there, seed)
        while bits := CELLS.active(here):
            legal = legal_actions(CELLS, here, bits >> 1)
            assert {turned[action] for action in legal} == {*legal_actions(CELLS, there, bits >> 1)}
            for player in range(2):
                CELLS.observe(here, player, shown), CELLS.observe(there, player, mirrored)
                assert np.array_equal(shown[order], mirrored)
            action = dice.choice(legal)
            CELLS.step(here, np.full(2, action), rewards[0])
            CELLS.step(there, np.full(2, turned[action]), rewards[1])
            assert np.array_equal(*rewards)


def test_a_symmetry_is_two_orders():
    with pytest.raises(ValueError, match="numbers 0 to 6 once for its actions; it has 7 numbers, of which 6 differ"):
        replace(connect_four.GAME, symmetries=((range(GAME.observation_shape[0]), [0, 1, 2, 3, 4, 5, 5]),))
    with pytest.raises(ValueError, match=r"symmetries\[0\] of connect_four has 1 parts; give two orders"):
        replace(connect_four.GAME, symmetries=((range(GAME.observation_shape[0]),),))


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (3, "symmetries 3 of connect_four is no list; give pairs"),
        ([None], r"symmetries\[0\] of connect_four is None; give two orders"),
        ([(0, 0)], "numbers 0 to .* once for its observation; it has 1 numbers"),
    ],
)
def test_symmetries_are_pairs(given, text):
    with pytest.raises((TypeError, ValueError), match=text):
        replace(connect_four.GAME, symmetries=given)


def test_another_observation_has_symmetries_of_its_own():
    from connect_four_cells import CELLS, cells

    more = {"observe": CELLS.observe, "observation_shape": (170,)}
    assert replace(CELLS, variants={"more": more}).variant("more").symmetries == ()
    assert CELLS.variant("planes").symmetries == CELLS.symmetries
    assert configured(cells, {}, "planes").variant("flat").symmetries == CELLS.symmetries
    assert replace(CELLS, variants={"other": {"evaluate": CELLS.evaluate}}).variant("other").symmetries
