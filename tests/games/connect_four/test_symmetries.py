"""Connect four in a mirror, and which symmetries a game may name."""

from dataclasses import replace

import connect_four  # examples/connect_four.py
import numpy as np
import pytest
from connect_four import GAME

from mcts_envs.core.api.adapter import configured
from mcts_envs.core.sampling import legal_actions


@pytest.mark.parametrize("observation", ["flat", "lines"])
def test_a_mirrored_game_is_the_game_in_a_mirror(observation):
    from connect_four_cells import CELLS, cells

    game = configured(cells, {}, observation)
    (order, turned), dice = game.symmetries[0], np.random.default_rng(0)
    here, there, rewards = CELLS.new_state(), CELLS.new_state(), np.zeros((2, 2))
    shown, mirrored = np.zeros((2, np.prod(game.observation_shape)), np.float32)
    for seed in range(20):
        CELLS.restart(here, seed), CELLS.restart(there, seed)
        while bits := CELLS.active(here):
            legal = legal_actions(CELLS, here, bits >> 1)
            assert {turned[action] for action in legal} == {*legal_actions(CELLS, there, bits >> 1)}
            for player in range(2):
                game.observe(here, player, shown), game.observe(there, player, mirrored)
                assert np.array_equal(shown[order], mirrored)
            action = dice.choice(legal)
            CELLS.step(here, np.full(2, action), rewards[0])
            CELLS.step(there, np.full(2, turned[action]), rewards[1])
            assert np.array_equal(*rewards)


def test_half_lines_are_counted():
    from connect_four_cells import CELLS

    columns, rows = np.indices((7, 6)).reshape(2, 42)
    lines = []
    for step in ((1, 0), (0, 1), (1, 1), (1, -1)):
        ends = columns + 3 * step[0], rows + 3 * step[1]
        inside = np.flatnonzero((ends[0] < 7) & (ends[1] < 6) & (ends[1] >= 0))
        lines += [[cell + k * (6 * step[0] + step[1]) for k in range(4)] for cell in inside]
    assert len(lines) == 69
    game, dice, rewards = CELLS.variant("lines"), np.random.default_rng(0), np.zeros(2)
    state, shown = game.new_state(), np.zeros(252, np.float32)
    for seed in range(20):
        game.restart(state, seed)
        while bits := game.active(state):
            game.observe(state, bits >> 1, shown)
            own, other, *_, mine, its = shown.reshape(6, 42)
            for stones, against, counts in (own, other, mine), (other, own, its):
                half = [line for line in lines if stones[line].sum() == 2 and not against[line].any()]
                assert counts.tolist() == [
                    sum(cell in line for line in half) * (not stones[cell]) for cell in range(42)
                ]
            game.step(state, np.full(2, dice.choice(legal_actions(game, state, bits >> 1))), rewards)


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
