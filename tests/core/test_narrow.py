"""check_game tells of numbers for which a field of the state has no room; compiled code keeps a part of them."""

from dataclasses import replace

import numpy as np
import pig
import pytest

import mcts_envs
from mcts_envs.core.contract import STEP, state_dtype
from mcts_envs.core.kernel import kernel, record
from mcts_envs.core.narrow import TELLING, NoRoomError
from mcts_envs.core.sampling import LawError

STATE = state_dtype([("small", "i1"), ("cells", "u1", (2, 3)), ("bits", "u8"), ("share", "f8"), ("half", "u2", 2)])


@kernel(STEP)
def _points(state, actions, rewards):
    """Count 90 more for each step, which a byte bears twice."""
    pig.step(state, actions, rewards)
    s = record(state, pig.STATE)
    s.points[0] += np.int64(90)


@kernel(STEP)
def _pot(state, actions, rewards):
    pig.step(state, actions, rewards)
    s = record(state, pig.STATE)
    s.pot -= s.turn + 1


@kernel(STEP)
def _third(state, actions, rewards):
    pig.step(state, actions, rewards)
    s = record(state, pig.STATE)
    s.pot = s.pot / 3


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (_points, r"\d+ is assigned to 'points', of uint8, and compiled code keeps \d+; make the field wider"),
        (_pot, r"-\d is assigned to 'pot', of uint8, and compiled code keeps 25\d; make the field wider"),
        (_third, r"\d\.\d+ is assigned to 'pot', of uint8, and loses its fraction; make the field a float"),
    ],
)
def test_a_number_without_room_is_told_with_its_line(step, told):
    with pytest.raises(LawError, match=rf"numbers fit: test_narrow.py:\d+: {told}"):
        mcts_envs.check_game(replace(pig.pig(goal=200), step=step), episodes=1, faces=False)


def telling():
    return TELLING[record](np.zeros(STATE.itemsize, np.uint8), STATE)


def test_numbers_with_room_are_assigned():
    s = telling()
    s.small, s.bits, s.share = np.int64(-128), np.uint64(2**64 - 1), 0.1
    s.cells[0] = np.int64(255)
    s.cells[1, 1:] = np.array([7, 8])
    s.cells[1][0] = True
    s.half[np.int64(1)] += 65535
    s.half[0] = 2.0
    assert (s.small, s.bits, s.share) == (-128, 2**64 - 1, 0.1)
    assert s.cells.tolist() == [[255, 255, 255], [1, 7, 8]]
    assert s.half.tolist() == [2, 65535]


@pytest.mark.parametrize("number", [np.int64(-1), np.int64(256), np.uint64(2**64 - 1), np.array([1, 2, 300])])
def test_numbers_without_room_are_refused(number):
    s = telling()
    with pytest.raises(NoRoomError, match="is assigned to 'cells', of uint8"):
        s.cells[1] = number


def test_a_scalar_without_room_is_refused():
    with pytest.raises(NoRoomError, match="128 is assigned to 'small', of int8, and compiled code keeps -128"):
        telling().small = 128


@pytest.mark.parametrize("number", [0.5, np.float32(-1.5), np.array([1.0, 2.0, 2.5])])
def test_fractions_are_refused(number):
    s = telling()
    with pytest.raises(NoRoomError, match="is assigned to 'cells', of uint8, and loses its fraction"):
        s.cells[1] = number
    with pytest.raises(NoRoomError, match=r"0\.5 is assigned to 'bits', of uint64, and loses its fraction"):
        s.bits = 0.5
