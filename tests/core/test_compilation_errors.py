"""What does not compile says why, where, and what to write in its place."""

import traceback

import numba
import numpy as np
import pytest
from numba.core.errors import NumbaError

from mcts_envs.core.contract import ACTIVE, STEP, state_dtype
from mcts_envs.core.kernel import kernel, record

STATE = state_dtype([("board", "u1", 9)])
CLOCK = state_dtype([("t", "i8")])


def allocates(state):
    return int(np.zeros(3)[0]) + state.size


def misnames(state):
    return record(state, STATE).bord


def returns_nothing(state):  # noqa: RET503
    for _ in range(3):
        if state.size > 3:
            return 1


def returns_an_array(state):
    return state


@kernel()
def itself(count):
    return 0 if count == 0 else itself(count - 1)


def calls_what_calls_itself(state):
    return itself(state.size)


def no_kernel(state):
    return state.size


class NoKernel:
    pass


def calls_no_kernel(state):
    return no_kernel(state)


def makes_an_object(state):
    return NoKernel().size


LISTED, NAMED = [1, 2], {0: 1}


def reads_a_list(state):
    return LISTED[state.size]


def reads_a_dict(state):
    return NAMED[state.size]


def sums(state):
    return sum(byte for byte in state)


def writes_a_global(state):
    global COUNT
    COUNT = state.size
    return 0


def stores_an_exception(state):
    try:
        return state.size
    except ValueError as error:
        return error is None


@pytest.mark.parametrize(
    ("function", "message", "line"),
    [
        (allocates, "a kernel allocates nothing", "return int(np.zeros(3)[0]) + state.size"),
        (misnames, "unknown field 'bord'; did you mean 'board'?", "return record(state, STATE).bord"),
        (returns_nothing, "it ends without a return, or returns None, in some cases", ""),
        (returns_an_array, "it returns array(uint8, 1d, C), and is to return a number (int64)", "return state"),
        (
            calls_what_calls_itself,
            "itself calls itself, and is compiled into its callers; write a loop",
            "itself(state",
        ),
        (calls_no_kernel, "decorate no_kernel with @kernel()", "return no_kernel(state)"),
        (makes_an_object, "a kernel makes no objects", "return NoKernel().size"),
        (reads_a_list, "make it a tuple or an array of NumPy", "return LISTED[state.size]"),
        (reads_a_dict, "make it a tuple or an array of NumPy", "return NAMED[state.size]"),
        (sums, "write a loop", "return sum(byte for byte in state)"),
        (writes_a_global, "what changes in a game is a field of its state", "COUNT = state.size"),
        (stores_an_exception, "Exception object cannot be stored", "except ValueError as error:"),
        (stores_an_exception, "test for it before, in place of try", ""),
        (lambda state: state.shade, "Unknown attribute 'shade'", '(lambda state: state.shade, "Unknown'),
    ],
)
def test_what_does_not_compile_says_why_in_a_few_lines(function, message, line):
    with pytest.raises(NumbaError) as caught:
        kernel(ACTIVE)(function).ready()
    text = "".join(traceback.format_exception(caught.value))
    assert message in text
    assert f"kernel {function.__name__} does not compile" in text
    assert line in text
    assert "NUMBA_FULL_TRACEBACKS=1" in text
    assert len(text.splitlines()) < 15


@kernel()
def t(state):
    return record(state, CLOCK).t


def test_a_helper_may_read_a_field_of_its_own_name():
    state = np.zeros(CLOCK.itemsize, np.uint8)
    assert kernel(ACTIVE)(lambda state: t(state)).ready().call(state) == 0


def test_a_kernel_that_returns_what_it_should_write():
    with pytest.raises(NumbaError, match=r"it returns array.*and is to return nothing: it writes into the arrays"):
        kernel(STEP)(lambda state, actions, rewards: rewards).ready()


def test_all_that_numba_says_can_be_asked_for(monkeypatch):
    monkeypatch.setattr(numba.config, "FULL_TRACEBACKS", 1)
    with pytest.raises(NumbaError, match="ol_np_zeros"):
        kernel(ACTIVE)(allocates).ready()


def test_a_decorator_without_brackets_names_its_cure():
    with pytest.raises(TypeError, match=r"@kernel stands without brackets above allocates; write @kernel\(STEP\)"):
        kernel(allocates)
