"""What holds for all tests."""

import os

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # more threads than cores wait for each other; PyTorch reads it once


@pytest.fixture(scope="session", autouse=True)
def _logs_of_learning(tmp_path_factory):
    """Stable-Baselines3 leaves a folder in the temporary one for each model that learns, unless it is told where."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SB3_LOGDIR", str(tmp_path_factory.mktemp("sb3")))
        yield
