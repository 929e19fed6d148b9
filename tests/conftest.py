"""What holds for all tests."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def _logs_of_learning(tmp_path_factory):
    """Stable-Baselines3 leaves a folder in the temporary one for each model that learns, unless it is told where."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SB3_LOGDIR", str(tmp_path_factory.mktemp("sb3")))
        yield
