"""All games of a batch saved at once, and brought back into another one."""

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from mcts_envs.core.api.mixed import mixed
from tests.core.test_vector import GAMES, N, actions_of, same
from tests.toys import Stakes, StakesVector, Tron

MIXTURE = {"seat": "all", "opponent": {"random": 1, "scripted": 1}, "max_steps": 9}


def batches():
    """Functions that make a batch, by name."""
    made = {name: (lambda cls=cls, s=settings: cls(N, **s)) for name, (_, cls, settings) in GAMES.items()}
    made["next step"] = lambda: StakesVector(N, autoreset_mode=AutoresetMode.NEXT_STEP, goal=4)
    return made | {kind.__name__: (lambda kind=kind: mixed(kind)(N, **MIXTURE)) for kind in (Tron, Stakes)}


@pytest.mark.parametrize("name", batches())
def test_they_come_back_in_another_batch_as_they_would_have_gone_on(name):
    batch, other = batches()[name](), batches()[name]()
    batch.reset(seed=3)
    for _ in range(11):
        batch.step(actions_of(batch, np.random.default_rng(1)))
    saved = batch.clone_games()
    rng, played = np.random.default_rng(2), []
    for _ in range(25):
        actions = actions_of(batch, rng)
        played.append((actions, batch.step(actions)))
    for again in (other, batch):
        again.restore_games(saved)
        assert all(same(again.step(actions), result) for actions, result in played)


def test_a_game_that_was_over_when_it_was_restored_is_still_over():
    one, batch = gymnasium.make("mcts_envs/LaneDefense3x3-v0").unwrapped, GAMES["lane 3x3"][1](N)
    one.reset(seed=0)
    while len(legal := one.legal_actions()):
        one.step(int(legal[-1]))
    batch.reset(seed=0)
    batch.restore_state(1, one.clone_state())
    saved, actions = batch.clone_games(), actions_of(batch, np.random.default_rng(0))
    expected = batch.step(actions)
    batch.restore_games(saved)
    assert same(batch.step(actions), expected)


def test_what_is_not_of_this_batch_is_refused():
    batch = StakesVector(3)
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"clone_games\(\)"):
        batch.clone_games()
    batch.reset(seed=0)
    saved, before = batch.clone_games(), batch.clone_state(0)
    torn = {name: value.copy() for name, value in saved.arrays.items()}
    torn["_states"][0, -1] ^= 1
    for games, other, said in (
        (saved._replace(arrays=torn), batch, "its seal does not fit"),
        (saved, StakesVector(4), r"states uint8\[3, .*, and this one .*states uint8\[4, .* with as many games"),
        (saved, mixed(Stakes)(3), "was made in the same way"),
        (saved, StakesVector(3, goal=4), "the saved batch is of stakes"),
        (saved, StakesVector(3, seat=2), r"is for seats \[0\], and this one for 2"),
    ):
        other.reset(seed=0)
        here = other.clone_games().seal
        with pytest.raises(ValueError, match=said):
            other.restore_games(games)
        assert other.clone_games().seal == here
    for stranger in (None, tuple(saved), batch.clone_state(0)):
        with pytest.raises(TypeError, match=r"cannot restore \w+; pass what clone_games\(\) returned"):
            batch.restore_games(stranger)
    assert batch.clone_state(0) == before
