"""What holds for all tests."""

import os
import signal

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # more threads than cores wait for each other; PyTorch reads it once

# A shell lets what it starts in the background ignore Ctrl-C, nohup the end of the terminal, and both are handed down.
for _name, _handler in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
    if signal.getsignal(_number := getattr(signal, _name, signal.SIGTERM)) is signal.SIG_IGN:
        signal.signal(_number, _handler)


@pytest.fixture(scope="session", autouse=True)
def _logs_of_learning(tmp_path_factory):
    """Stable-Baselines3 leaves a folder in the temporary one for each model that learns, unless it is told where."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SB3_LOGDIR", str(tmp_path_factory.mktemp("sb3")))
        yield
